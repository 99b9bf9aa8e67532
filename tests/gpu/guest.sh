#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# guest.sh [udmabuf] [vgem]: the matrix on real dma-bufs of those drivers, between two programs of a machine that QEMU
# emulates, with Debian 13's kernel (Debian 12's has no udmabuf) and this machine's own files, which it can read only.
# Fetches the kernel once per build folder; nothing is installed.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${UROCE_BUILD:-$top/build}" && pwd)
D=${UROCE_GUEST_DIR:-$top/build/guest}/dmabuf
mkdir -p "$D"

fetch() { # the kernel, and in modules what a program of the guest loads
	local new=$D/new apt kv m lib
	rm -rf "$new"
	mkdir -p "$new"/{lists/partial,cache/archives/partial,modules}
	"$top/tests/apt_sources.sh" trixie >"$new/sources.list"
	apt=(-o "Dir::Etc::sourcelist=$new/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o "Dir::State::lists=$new/lists" -o "Dir::Cache=$new/cache" -o APT::Sandbox::User=root)
	apt-get "${apt[@]}" -qq update
	kv=$(apt-cache "${apt[@]}" depends linux-image-amd64 | sed -n 's/.*Depends: linux-image-//p' | head -1)
	(cd "$new" && apt-get "${apt[@]}" -qq download "linux-image-$kv" && dpkg -x linux-image-*.deb kernel)
	lib=$new/kernel
	[ -d "$lib/lib/modules" ] || lib=$new/kernel/usr
	kv=$(ls "$lib/lib/modules")
	depmod -b "$lib" "$kv"
	for m in virtio_pci 9pnet_virtio 9p vgem; do
		modprobe -d "$lib" -S "$kv" --show-depends $m | sed -n 's/^insmod //p' | while read -r file; do
			file=${file%% *} name=$(basename "${file%% *}" .xz)
			[ -e "$new/modules/$name" ] && continue
			case $file in *.xz) xz -dc "$file" ;; *) cat "$file" ;; esac >"$new/modules/$name"
			echo "$name" >>"$new/modules/order.$m"
		done
	done
	cp "$new"/kernel/boot/vmlinuz-* "$new/vmlinuz"
	rm -rf "$new"/{kernel,lists,cache} "$new"/*.deb
	rm -rf "$D/kernel"
	mv "$new" "$D/kernel"
}

exec 9>"$D/lock"
flock 9
[ -e "$D/kernel/vmlinuz" ] || fetch
exec 9>&-
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/root"/{bin,dev,proc,sys,new}
cp /usr/bin/busybox "$work/root/bin/" 2>/dev/null || cp /bin/busybox "$work/root/bin/"
cp -r "$D/kernel/modules" "$work/root/"
cat >"$work/root/init" <<'I'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs d /dev; $b mount -t proc p /proc; $b mount -t sysfs s /sys
for m in virtio_pci 9pnet_virtio 9p vgem; do
	[ -e /modules/order.$m ] && while read -r f; do $b insmod /modules/$f; done </modules/order.$m
done
$b mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 root /new || $b poweroff -f
$b mount -t tmpfs t /new/run
for d in dev proc sys; do $b mount --move /$d /new/$d; done
$b mkdir -p /new/dev/shm && $b mount -t tmpfs t /new/dev/shm
read -r line </new/proc/cmdline
for w in $line; do case $w in test.*) export "${w#test.}" ;; esac; done
$b chroot /new /bin/bash "$script" $($b echo $args | $b tr , ' ') 2>&1
echo "status $?"
$b poweroff -f
I
chmod +x "$work/root/init"
(cd "$work/root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$work/initramfs"
args=$build
for driver in "${@:-udmabuf}"; do args+=,$driver; done
timeout 280 qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 -nodefaults -no-user-config \
	-display none -no-reboot -serial "file:$work/console" -kernel "$D/kernel/vmlinuz" -initrd "$work/initramfs" \
	-append "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr no_timer_check test.script=$top/tests/gpu/inside.sh test.args=$args" \
	-device virtio-rng-pci -virtfs local,path=/,mount_tag=root,security_model=none,multidevs=remap,readonly=on </dev/null || true
cat "$work/console"
grep -q '^status 0' "$work/console"

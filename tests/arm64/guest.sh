#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# guest.sh ROOT BUILD RESULT.xml: boot Debian's kernel for arm64 in an emulated
# machine (TCG) and run there what guest-init.sh says. ROOT is a folder with
# Debian's packages unpacked, made when missing: no program in it runs until it
# boots, so no emulation is needed to make it. BUILD is a build for arm64.
# The whole root is the initramfs: no disk, no network, nothing shared.
set -u
cd "$(dirname "$0")/../.." || exit 1
guest=$(realpath -m "$1") build=$(realpath "$2") out=$(realpath -m "$3")
dir=$(mktemp -d /var/tmp/uroce-guest.XXXXXX) || exit 1
child=
clean() {
	[ -n "$child" ] && kill "$child" 2>/dev/null
	rm -rf --one-file-system "$dir" "$guest.new"
}
trap clean EXIT
trap 'exit 130' INT TERM

packages=linux-image-cloud-arm64,bash,dash,coreutils,grep,sed,mount,util-linux,iproute2,kmod,procps,busybox-static
packages+=,ibverbs-utils,ibverbs-providers,rdmacm-utils,perftest
packages+=,libisal2,libjson-c5,libsystemd0,libseccomp2,libnl-route-3-200
if [ ! -d "$guest" ]; then
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*debian*.sources 2>/dev/null |
		mmdebstrap --mode=root --variant=extract --components=main \
			--architectures=arm64 --skip=check/qemu \
			--aptopt='Acquire::Check-Valid-Until "false"' \
			--aptopt='APT::Install-Recommends "false"' \
			--include="$packages" bookworm "$guest.new" - || exit 1
	depmod -b "$guest.new" "$(ls "$guest.new/lib/modules")" || exit 1
	rm -rf "$guest.new"/usr/share/{doc,man,locale} "$guest.new"/var/{lib/apt,cache/apt}
	mv "$guest.new" "$guest"
fi
mkdir -p "$dir"/more/uroce/{bin,lib} "$dir"/more/{proc,sys,run,dev,tmp,root,etc}
echo "root:x:0:0:root:/root:/bin/bash" >"$dir/more/etc/passwd"
echo "root:x:0:" >"$dir/more/etc/group"
cp "$build"/bin/uroce{,d} "$dir/more/uroce/bin/"
cp -a "$build"/lib/*.so* "$dir/more/uroce/lib/"
install -m 755 tests/arm64/guest-init.sh "$dir/more/init"
(cd "$guest" && find . -path ./boot -prune -o -print | busybox cpio -o -H newc) >"$dir/initramfs" 2>/dev/null
(cd "$dir/more" && find . | busybox cpio -o -H newc) >>"$dir/initramfs" 2>/dev/null

qemu-system-aarch64 -machine virt -cpu max,pauth-impdef=on -accel tcg,thread=multi \
	-smp 2 -m 2048 -nodefaults -no-user-config -display none -no-reboot \
	-serial "file:$dir/console" -kernel "$guest"/boot/vmlinuz-* -initrd "$dir/initramfs" \
	-append "console=ttyAMA0 quiet loglevel=4 panic=-1 rdinit=/init" </dev/null &
child=$!
wait $child
child=
tr -d '\r' <"$dir/console" | tee "${out%.xml}.console"
rows=$(tr -d '\r' <"$dir/console" | sed -n "s/^pass \(.*\)/<testcase classname='arm64.guest' name='\1'\/>/p
	s/^FAIL \(.*\)/<testcase classname='arm64.guest' name='\1'><failure message='see the log'\/><\/testcase>/p")
grep -q '^done' "$dir/console" ||
	rows+="<testcase classname='arm64.guest' name='end'><failure message='it did not end'/></testcase>"
echo "<testsuites><testsuite name='guest'>$rows</testsuite></testsuites>" >"$out"
[[ $rows != *failure* ]]

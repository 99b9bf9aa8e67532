#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# guest.sh ROOT PACKAGES RESULT.xml [KERNEL]: boot Debian's kernel for arm64 in an
# emulated machine (TCG) and run there what guest-init.sh says. ROOT is made by
# root.sh; PACKAGES is a folder with uroce's packages for arm64, unpacked into it;
# KERNEL is the root that the kernel is from, by default ROOT. The whole root is the
# initramfs: no disk, no network, nothing shared. UROCE_GUEST_DOES says what it does:
# pairs (of stock programs), pyverbs=MODULE,... (of rdma-core's suite), by default
# both, the suite with the modules that have a test of every operation.
set -u
cd "$(dirname "$0")/../.." || exit 1
guest=$(realpath "$1") debs=$(realpath "$2") out=$(realpath -m "$3")
kernel=$(realpath "${4:-$1}")
dir=$(mktemp -d /var/tmp/uroce-guest.XXXXXX) || exit 1
child=
clean() {
	[ -n "$child" ] && kill "$child" 2>/dev/null
	rm -rf --one-file-system "$dir"
}
trap clean EXIT
trap 'exit 130' INT TERM

version=$(ls "$kernel/lib/modules")
more=$dir/more
mkdir -p "$more"/{proc,sys,run,dev,tmp,root,etc,uroce/bin} "$more/lib/modules/$version"
for deb in "$debs"/*_arm64.deb; do
	[[ $deb == *-dbgsym_* ]] || dpkg-deb -x "$deb" "$more" || exit 1
done
# Where a build tree has them.
ln -s /usr/bin/uroce /usr/sbin/uroced "$more/uroce/bin/"
cp -r pyverbs-tests "$more/uroce/"
# Of its modules the one that is needed, and those that it needs.
(cd "$kernel/lib/modules/$version" && cp modules.builtin* modules.order "$more/lib/modules/$version/" &&
	find . -name 'veth.ko*' -exec cp --parents {} "$more/lib/modules/$version/" \;)
depmod -b "$more" "$version" || exit 1
echo "root:x:0:0:root:/root:/bin/bash" >"$more/etc/passwd"
echo "root:x:0:" >"$more/etc/group"
install -m 755 tests/arm64/guest-init.sh "$more/init"
{
	(cd "$guest" && find . \( -path ./boot -o -path ./lib/modules -o -path ./usr/share/doc/linux-image\* \) \
		-prune -o -print | busybox cpio -o -H newc)
	(cd "$more" && find . | busybox cpio -o -H newc)
} >"$dir/initramfs" 2>/dev/null

qemu-system-aarch64 -machine virt -cpu max,pauth-impdef=on -accel tcg,thread=multi \
	-smp 2 -m 3072 -nodefaults -no-user-config -display none -no-reboot \
	-serial "file:$dir/console" -kernel "$kernel"/boot/vmlinuz-* -initrd "$dir/initramfs" \
	-append "console=ttyAMA0 quiet loglevel=4 panic=-1 rdinit=/init ${UROCE_GUEST_DOES:-pairs pyverbs=test_atomic,test_qpex}" </dev/null &
child=$!
wait $child
child=
tr -d '\r' <"$dir/console" | tee "${out%.xml}.console"
rows=$(tr -d '\r' <"$dir/console" | sed -n "s/^pass \(.*\)/<testcase classname='arm64.guest.$version' name='\1'\/>/p
	s/^skip \(.*\)/<testcase classname='arm64.guest.$version' name='\1'><skipped message='as expected'\/><\/testcase>/p
	s/^FAIL \(.*\)/<testcase classname='arm64.guest.$version' name='\1'><failure message='see the log'\/><\/testcase>/p")
grep -q '^done' "$dir/console" ||
	rows+="<testcase classname='arm64.guest.$version' name='end'><failure message='it did not end'/></testcase>"
echo "<testsuites><testsuite name='guest'>$rows</testsuite></testsuites>" >"$out"
[[ $rows != *failure* ]]

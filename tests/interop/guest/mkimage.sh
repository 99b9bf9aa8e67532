#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Build vmlinux (decompressed stock kernel), initramfs.cpio and rootfs.img
# from kernel/ (unpacked linux-image deb) and rootfs/ (mmdebstrap tree).
set -e
HERE=$(cd "$(dirname "$0")" && pwd)
D=${UROCE_GUEST_DIR:-$PWD/build/guest}; mkdir -p "$D"; cd "$D"
KV=$(ls kernel/lib/modules); MOD=kernel/lib/modules/$KV

# modules for the root image (no gpu/sound/wireless/ethernet drivers)
D=rootfs/lib/modules/$KV; rm -rf $D; mkdir -p $D
tar -C $MOD -cf - --exclude=drivers/gpu --exclude=drivers/media --exclude=sound \
  --exclude=drivers/net/wireless --exclude=drivers/net/ethernet --exclude=drivers/staging \
  --exclude=drivers/iio --exclude=drivers/hid --exclude=drivers/input --exclude=drivers/usb \
  --exclude=build --exclude=source . | tar -C $D -xf -
chroot rootfs depmod "$KV"

# kernel: unpack the bzImage's xz payload here, it saves seconds of emulated unpacking (booted through PVH)
off=$(LC_ALL=C grep -obUaP -m1 '\xFD7zXZ\x00' kernel/boot/vmlinuz-$KV | head -1 | cut -d: -f1)
tail -c +$((off+1)) kernel/boot/vmlinuz-$KV | xz -dc --single-stream > vmlinux 2>/dev/null || true
file vmlinux | grep -q 'ELF 64' || cp kernel/boot/vmlinuz-$KV vmlinux

# initramfs: busybox + the modules needed to mount the root image
T=$(mktemp -d); mkdir -p $T/{bin,dev,proc,sys,mod,ro,rw,new}
cp /bin/busybox $T/bin/ 2>/dev/null || cp /usr/bin/busybox $T/bin/
for m in crc32c_generic virtio_pci virtio_blk ext4 overlay; do
  chroot rootfs modprobe -S "$KV" --show-depends $m
done | awk '$1=="insmod" && !s[$2]++ {print $2}' | while read -r f; do
  cp "rootfs$f" $T/mod/; echo "${f##*/}"; done > $T/mod/order
cat > $T/init <<'I'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs d /dev; $b mount -t proc p /proc; $b mount -t sysfs s /sys
while read -r m; do $b insmod /mod/$m; done < /mod/order
$b mount -t ext4 -o ro /dev/vda /ro || exec $b sh
$b mount -t tmpfs -o size=75% t /rw; $b mkdir /rw/u /rw/w
$b mount -t overlay -o lowerdir=/ro,upperdir=/rw/u,workdir=/rw/w o /new
$b mount --move /dev /new/dev; $b mount --move /proc /new/proc; $b mount --move /sys /new/sys
exec $b switch_root /new /sbin/vm-init
I
chmod +x $T/init
(cd $T && find . | busybox cpio -o -H newc 2>/dev/null) > initramfs.cpio; rm -rf $T

# root image
install -m755 "$HERE/vm-init" rootfs/sbin/vm-init
mkdir -p rootfs/{ctl,host}
: > rootfs/etc/machine-id; echo guest > rootfs/etc/hostname
printf '127.0.0.1 localhost\n10.77.0.1 peer\n10.77.0.2 g2\n10.77.0.3 g3\n' > rootfs/etc/hosts
rm -f rootfs.img
mke2fs -q -t ext4 -O ^has_journal,^metadata_csum -m 0 -d rootfs rootfs.img $(( $(du -sm rootfs | cut -f1) * 12 / 10 + 40 ))M
ls -la vmlinux initramfs.cpio rootfs.img

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Download and unpack Debian's stock kernel and its headers into kernel/ (nothing is installed on the host).
set -e
# The guest lives in $UROCE_GUEST_DIR (default build/guest).
D=${UROCE_GUEST_DIR:-$PWD/build/guest}; mkdir -p "$D"; cd "$D"
mkdir -p debs kernel share run
KV=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: linux-image-//p' | head -1)
(cd debs; apt-get download linux-image-$KV linux-headers-$KV linux-headers-${KV%-amd64}-common linux-kbuild-${KV%%.*}."$(cut -d. -f2 <<<"$KV")" linux-compiler-gcc-12-x86)
for d in debs/*.deb; do dpkg -x $d kernel; done
# the headers' Makefile names /usr/src; make it work from here
sed -i "s|include .*/usr/src/|include $PWD/kernel/usr/src/|" kernel/usr/src/linux-headers-$KV/Makefile

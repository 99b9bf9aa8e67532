#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Build rootfs/ (Debian bookworm userland for the guest) with mmdebstrap: packages are
# unpacked and none is configured, which takes a third of the time; what a program here
# needs of that is done below.
# Extend: add packages to PKGS and rerun, or just drop files into rootfs/, then run mkimage.sh.
set -e
sources=$("$(dirname "$0")/../../apt_sources.sh" bookworm)
D=${UROCE_GUEST_DIR:-$PWD/build/guest}; mkdir -p "$D"; cd "$D"
PKGS=base-files,base-passwd,bash,coreutils,dash,findutils,grep,gzip,hostname,libc-bin,mount,sed,tar
PKGS+=,iproute2,iputils-ping,ethtool,tcpdump,kmod,procps,busybox-static,util-linux
PKGS+=,rdma-core,ibverbs-utils,ibverbs-providers,rdmacm-utils,perftest,infiniband-diags
PKGS+=,libdw1,libisal2,libjson-c5,libseccomp2,libsystemd0
PKGS+=,open-iscsi,e2fsprogs
[ -n "${UROCE_FULL:-}" ] && PKGS+=,bpftrace
PKGS+=,python3,python3-pyverbs,libc6,libibverbs1,librdmacm1,libibumad3,libnl-3-200,libnl-route-3-200,libpci3
rm -rf rootfs
mmdebstrap --mode=root --variant=extract --components=main \
  --aptopt='Acquire::Check-Valid-Until "false"' \
  --include="$PKGS" \
  bookworm rootfs - <<<"$sources"
rm -rf rootfs/var/cache/apt/archives/*.deb rootfs/var/lib/apt/lists/* rootfs/usr/share/{man,locale}
mkdir -p rootfs/{host,opt/tests}
for f in passwd group; do cp rootfs/usr/share/base-passwd/$f.master rootfs/etc/$f; done
ldconfig -r rootfs
# By this processor, once: an emulated one would compile all it imports.
chroot rootfs python3 -m compileall -q /usr/lib/python3* || true
cp -a rootfs/usr/share/doc/rdma-core/tests/. rootfs/opt/tests/ 2>/dev/null || cp -a /usr/share/doc/rdma-core/tests/. rootfs/opt/tests/
gunzip -rf rootfs/opt/tests
du -sh rootfs

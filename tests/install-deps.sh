#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Install what building and testing need on Debian 12 (root; nothing is asked).
#   install-deps.sh [build|demo|all]      default all
set -e
build="gcc g++ cmake ninja-build pkg-config git libibverbs-dev librdmacm-dev
  libnl-3-dev libnl-route-3-dev libisal-dev libjson-c-dev libsystemd-dev"
demo="iproute2 ethtool ibverbs-utils ibverbs-providers rdmacm-utils perftest
  nftables tcpdump tshark"
all="infiniband-diags libibumad-dev python3 python3-pyverbs
  python3-pytest python3-scapy iperf3 iperf sockperf qperf
  ucx-utils libfabric-bin openmpi-bin python3-mpi4py fio
  dapl2-utils tgt libiscsi-bin
  dwarves binutils clang-14 llvm-14 libclang-rt-14-dev valgrind
  qemu-system-x86 mmdebstrap busybox-static e2fsprogs cpio xz-utils kmod
  procps strace debhelper dpkg-dev lintian rpm rpmlint man-db file curl"
case ${1:-all} in
build) want="$build" ;;
demo) want="$build $demo" ;;
all) want="$build $demo $all" ;;
*) echo "usage: $0 [build|demo|all]" >&2; exit 2 ;;
esac
missing=
for p in $want; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null |
		grep -q '^install ok installed' || missing+=" $p"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ]; then
	echo "These Debian packages are missing; as root: apt-get install$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo "installing:$missing"
apt-get -q update >/dev/null
apt-get -q install -y --no-install-recommends $missing >/tmp/uroce-apt.$$ 2>&1 || {
	tail -20 /tmp/uroce-apt.$$ >&2
	exit 1
}
rm -f /tmp/uroce-apt.$$

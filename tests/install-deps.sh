#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Install what building and testing need on Debian 12 or 13 (root; nothing is
# asked). What has another name on 13, or is not there, stands in `renamed`.
#   install-deps.sh [--list] [KIND...]     default all
# A kind is one of those below: a stage of tests/all.sh, `demo`, `deb`, or a way to
# build. Each includes `build`, but for `cross`, to build for arm64, whose
# packages cannot be beside those, and `kernel`, to build a kernel there; they are
# for a root of their own. --list prints the packages' names instead of installing
# them.
set -e
hosts="python3 python3-pytest iproute2 ethtool procps nftables ibverbs-utils
  ibverbs-providers rdmacm-utils perftest tcpdump tshark"
basic="ccache python3 python3-yaml iproute2 procps musl-tools"
quick="$basic clang-format shellcheck codespell reuse python3-debian"
deb="ccache python3 python3-pytest debhelper dpkg-dev man-db mmdebstrap iproute2
  file systemd"
declare -A kinds=(
	[build]="build-essential cmake ninja-build pkg-config git
	  libibverbs-dev librdmacm-dev libnl-3-dev libnl-route-3-dev
	  libisal-dev libjson-c-dev libseccomp-dev libsystemd-dev libdw-dev
	  systemtap-sdt-dev"
	[demo]="$hosts"
	[basic]="$basic"
	[quick]="$quick"
	[fast]="$quick spin"
	[asan]="$quick"
	[tsan]="$quick $hosts python3-pyverbs"
	[fuzz]="clang llvm libclang-rt-dev"
	[arm64]="$hosts python3-pyverbs mmdebstrap
	  qemu-system-arm busybox-static kmod lintian dpkg-dev"
	[cross]="build-essential crossbuild-essential-arm64 cmake ninja-build pkg-config git
	  ccache python3 procps iproute2 debhelper dpkg-dev qemu-user-static
	  libc6-dev:arm64 pkgconf:arm64 libibverbs-dev:arm64
	  librdmacm-dev:arm64 libnl-3-dev:arm64 libnl-route-3-dev:arm64
	  libisal-dev:arm64 libjson-c-dev:arm64 libseccomp-dev:arm64
	  libsystemd-dev:arm64
	  libdw-dev:arm64 systemtap-sdt-dev:arm64"
	[kernel]="linux-source bc flex bison xz-utils"
	[witness]="python3 tshark python3-scapy"
	[bench]="python3 iproute2 valgrind perftest rdmacm-utils iperf3"
	[conformance]="$hosts python3-pyverbs"
	[judges]="python3 python3-pytest iproute2 procps"
	[e2e]="$hosts python3-pyverbs infiniband-diags libibumad-dev ibacm python3-scapy iperf3
	  iperf sockperf qperf ucx-utils libfabric-bin libfabric-dev
	  libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0 openmpi-bin valgrind gdb faketime
	  python3-mpi4py fio dapl2-utils tgt libiscsi-bin qemu-system-x86
	  strace kmod file prometheus prometheus-node-exporter binutils"
	[interop]="$hosts python3-pyverbs python3-scapy qemu-system-x86 mmdebstrap iperf3
	  busybox-static e2fsprogs cpio xz-utils kmod curl tgt"
	[gpu]="$hosts qemu-system-x86 busybox-static cpio xz-utils kmod"
	[apps]="$hosts mpich libmpich-dev openmpi-bin libopenmpi-dev
	  libfabric-bin libfabric-dev libgloo-dev librpma-dev
	  default-jdk-headless golang-go
	  ceph-mon ceph-osd ceph-common"
	[deb]="$deb"
	[package]="$deb lintian rpm rpmlint systemd-container mandoc"
	[action]="ccache python3 python3-pytest python3-yaml mmdebstrap iproute2 debhelper dpkg-dev"
	[container]="python3 python3-pytest python3-yaml mmdebstrap iproute2
	  podman uidmap crun runc slirp4netns netavark aardvark-dns
	  catatonit iptables fuse-overlayfs"
	[fresh]="mmdebstrap"
	[debian13]="mmdebstrap"
)
# A browser is much to fetch for one page.
[ -n "${UROCE_FULL:-}" ] && kinds[e2e]+=" chromium-headless-shell" && kinds[package]+=" piuparts"
# What names a package of 13 has for one of 12; none: its tests are skipped.
declare -A renamed=(
	[libtcmalloc-minimal4]=libtcmalloc-minimal4t64
	[dapl2-utils]="" [libmimalloc2.0]=""
)
debian=$(. /etc/os-release 2>/dev/null && echo "${VERSION_ID:-}")
list=
[ "${1:-}" = --list ] && list=1 && shift
words=${kinds[build]}
[[ $* == cross || $* == kernel ]] && words=
for kind in "${@:-all}"; do
	case $kind in
	all) # for this machine
		for each in "${!kinds[@]}"; do
			[[ $each == cross || $each == kernel ]] || words+=" ${kinds[$each]}"
		done
		;;
	*)
		if [ -z "${kinds[$kind]:-}" ]; then
			printf '%s: no kind %s; there are: all' "$0" "$kind"
			printf ' %s' "${!kinds[@]}"
			echo
			exit 2
		fi >&2
		words+=" ${kinds[$kind]}"
		;;
	esac
done
# shellcheck disable=SC2086  # names of packages, to be split
mapfile -t want < <(for p in $words; do
	[ "$debian" = 12 ] || p=${renamed[$p]-$p}
	[ -z "$p" ] || echo "$p"
done | awk '!seen[$0]++')
if [ -n "$list" ]; then
	echo "${want[*]}"
	exit 0
fi
missing=()
for p in "${want[@]}"; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null |
		grep -q '^install ok installed' || missing+=("$p")
done
[ ${#missing[@]} = 0 ] && exit 0
if [ "$(id -u)" != 0 ]; then
	echo "These Debian packages are missing; as root:" \
		"apt-get install ${missing[*]}" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo "installing: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
[[ ${missing[*]} == *:arm64* ]] && dpkg --add-architecture arm64
apt() { apt-get -q -o DPkg::Lock::Timeout=600 "$@" >>"$log" 2>&1; }
if ! { apt update && apt install -y --no-install-recommends "${missing[@]}"; }; then
	tail -20 "$log" >&2
	exit 1
fi

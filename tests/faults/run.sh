#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# run.sh BUILD start|verbs|cm|traffic|kinds: one test of faults, in a network
# namespace of its own with two netdevs for the devices.
set -u
build=$(cd "$1" && pwd) name=$2
if [ -z "${UROCE_TEST_NS:-}" ]; then
	[ "$(id -u)" = 0 ] && user= || user=-r
	unshare $user -n true 2>/dev/null ||
		{ echo "skipped: network namespaces are not allowed here"; exit 77; }
	UROCE_TEST_NS=1 exec unshare $user -n bash "$0" "$@"
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/uroce-faults-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
ip link set lo up
ip link add eth1 type veth peer name eth2 || exit 1
for n in 1 2; do
	ip link set "eth$n" addrgenmode none
	ip addr add "10.79.0.$n/24" dev "eth$n" && ip link set "eth$n" up || exit 1
done
export UROCE_RUN_DIR=$dir/run
export ASAN_OPTIONS=verify_asan_link_order=0
mkdir "$UROCE_RUN_DIR"
# Calls of uroced are to fail, and none of the program's.
export UROCE_ENGINE=apart

LD_PRELOAD=$build/lib/liburoce-preload.so timeout -k 5 "${SECONDS_MAX:-250}" \
	"$build/bin/faults" "$build/bin/uroced_faults" "$name"

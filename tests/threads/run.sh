#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# run.sh BUILD apart|together NAME: one test of threads_apart, with the engine in an
# engine process, or of threads_together, with the engine in the program. With a
# uroced of two devices in a network namespace of its own, so that there are packets
# too.
# A race found by TSan anywhere is a failure.
set -u
build=$(cd "$1" && pwd) kind=$2 name=$3
if [ -z "${UROCE_TEST_NS:-}" ]; then
	[ "$(id -u)" = 0 ] && user= || user=-r
	unshare $user -n true 2>/dev/null ||
		{ echo "skipped: network namespaces are not allowed here"; exit 77; }
	UROCE_TEST_NS=1 exec unshare $user -n bash "$0" "$@"
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/uroce-threads-XXXXXX")
daemon=
stop() {
	rc=$?
	[ -n "$daemon" ] && kill "$daemon" 2>/dev/null && wait "$daemon"
	for log in "$dir"/tsan.*; do
		[ -f "$log" ] || continue
		cat "$log"
		rc=1
	done
	[ $rc = 0 ] || [ $rc = 77 ] || tail -n 50 "$dir/uroced.log" 2>/dev/null
	rm -rf "$dir"
	exit $rc
}
trap stop EXIT
trap 'exit 1' INT TERM
ip link set lo up
ip link add eth1 type veth peer name eth2 || exit 1
for n in 1 2; do
	ip addr add "10.79.0.$n/24" dev "eth$n" && ip link set "eth$n" up || exit 1
done
# A report is one more reason to fail, not one to end at once.
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}log_path=$dir/tsan:exitcode=0"
export ASAN_OPTIONS=verify_asan_link_order=0
export UROCE_RUN_DIR=$dir/run
mkdir "$UROCE_RUN_DIR"
mkfifo "$dir/ready"
"$build/bin/uroced" --run-dir "$UROCE_RUN_DIR" --netdev eth1 --netdev eth2 \
	>"$dir/ready" 2>"$dir/uroced.log" &
daemon=$!
read -r line <"$dir/ready" && [ "$line" = ready ] ||
	{ echo "uroced did not start"; exit 1; }
[ "$kind" = apart ] && place=apart || place=process
export UROCE_ENGINE=$place
export LD_PRELOAD=$build/lib/liburoce-preload.so
timeout -k 5 "${SECONDS_MAX:-100}" "$build/bin/threads_$kind" "$name"

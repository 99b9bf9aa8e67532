#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Prints the tables of doc/measurements/congestion.md.
#   tests/bench/congestion.sh [PART...]      default: all, half an hour, root
# A part is virtual (simulated switches), capture (packets that are marked), queues
# (Linux's queues in a guest) or links (100 Mbit/s and 1 Gbit/s, alone and beside TCP).
# UROCE_BUILD: the build, whose place is build/.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${UROCE_BUILD:-$top/build}
py=/usr/bin/python3

virtual() {
	local scene
	for scene in marks deaf beside cake path tail; do
		echo "## sim_net $scene"
		"$build/bin/sim_net" "$scene"
	done
}
capture() {
	"$py" "$top/tests/bench/marks.py" --build "$build"
}
queues() {
	UROCE_BUILD=$build "$py" "$top/tests/interop/queues.py"
}
links() {
	"$py" "$top/tests/bench/bench.py" --build "$build" --rounds 2 --only bit/s
}

[ $# -gt 0 ] || set -- virtual capture queues links
for part; do
	case $part in
	virtual | capture | queues | links) "$part" ;;
	*)
		echo "$0: no part $part; there are: virtual capture queues links" >&2
		exit 2
		;;
	esac
done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1500, full 2400 seconds for this stage
# $1 is the JUnit file to write. In parts of equal length, each with guests of its own,
# for each start of one takes as long as twenty tests. One whole where a table of all of
# it is wanted.
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d) status=0
# shellcheck source=tests/beside.sh
. tests/beside.sh
trap 'rm -rf "$tmp"' EXIT
trap stop INT TERM
if [ -n "${UROCE_INTEROP_TABLE:-}" ]; then
	part all tests/interop
else
	# The last takes the guest's device away for a while.
	traffic=(tests/interop/test_{rdma,verbs,umad,ping,doctor_fabric,reboot,check}.py)
	for name in rdma verbs umad ping doctor_fabric reboot check inside queues; do
		rest+=("--ignore=tests/interop/test_$name.py")
	done
	part traffic "${traffic[@]}"
	part rest tests/interop "${rest[@]}"
	# Two guests, each with a device and programs that give a silent peer half a
	# second, and what is compared with TCP: alone.
	finish 0
	part inside tests/interop/test_inside.py tests/interop/test_queues.py
fi
result "$1"
exit $status

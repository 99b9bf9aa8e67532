#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1500, full 2400 seconds for this stage
# $1 is the JUnit file to write. In parts, each with guests of its own: the longest
# first. One whole where a table of all of it is wanted.
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d) status=0
# shellcheck source=tests/beside.sh
. tests/beside.sh
trap 'rm -rf "$tmp"' EXIT
trap stop INT TERM
if [ -n "${UROCE_INTEROP_TABLE:-}" ]; then
	part all tests/interop
else
	for name in verbs corners reboot inside; do
		part $name tests/interop/test_$name.py
		rest+=("--ignore=tests/interop/test_$name.py")
	done
	part rest tests/interop "${rest[@]}"
fi
result "$1"
exit $status

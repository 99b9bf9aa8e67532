#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 600
# ci.sh RESULT.xml: what TSan has to say, with build/tsan. A race is a failure
# whoever has it: a test, a program or the device beside it.
cd "$(dirname "$0")/../.." || exit 1
top=$PWD tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
export TSAN_OPTIONS=log_path=$tmp/race
status=0
# Of the rest, simulations have one thread, and so has scenario.blind, which tries
# some hundred thousand packets; unit.uroce starts programs that cannot be given
# TSan. (Labels in full: habits are no abi.)
ctest --test-dir build/tsan --no-tests=error --output-on-failure --timeout 300 \
	-j2 ${1:+--output-junit "$1"} \
	-L '^(unit|scenario|fuzz|abi|device|threads)$' \
	-E '^(unit.uroce|scenario.blind)$' || status=1
if [ "$(id -u)" = 0 ]; then
	UROCE_BUILD=$top/build/tsan /usr/bin/python3 -m pytest -q -p no:cacheprovider \
		${1:+--junitxml "${1%.xml}-verbs.xml"} \
		tests/e2e/test_verbs.py || status=1
	# Python cannot be given TSan either; the device can.
	mkdir "$tmp/bin"
	ln -s "$top"/build/bin/* "$tmp/bin"
	ln -sf "$top/build/tsan/bin/uroced" "$tmp/bin/uroced"
	UROCE_BUILD=$tmp /usr/bin/python3 pyverbs-tests/suite.py \
		${1:+--xml "${1%.xml}-suite.xml"} || status=1
fi
for log in "$tmp"/race.*; do
	[ -f "$log" ] || continue
	head -n 200 "$log"
	status=1
done
exit $status

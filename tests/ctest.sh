#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# ctest.sh BUILD RESULT.xml ARGUMENT...: ctest with these arguments; then what
# failed, once more and one at a time. What passes that time counts as passed, and
# RESULT.xml says that it is flaky (once_more.py).
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
build=$1 out=$2
shift 2
again=$(mktemp) || exit 1
trap 'rm -f "$again"' EXIT
run() { # run RESULT.xml ARGUMENT...
	ctest --test-dir "$build" --no-tests=error --output-on-failure --timeout 300 \
		--output-junit "$@"
}
run "$out" "$@" && exit
rc=$?
"$top/tests/once_more.py" --worth "$out" || exit $rc
echo "==== once more, what failed"
# By name: --rerun-failed goes by numbers, and without the same -E they are others'.
# shellcheck disable=SC2016  # nothing is expanded
names=$(sed 's/^[0-9]*://; s/[].[+*?^$(){}|\\]/\\&/g' "$build/Testing/Temporary/LastTestsFailed.log" |
	paste -sd '|')
run "$again" -R "^($names)$"
"$top/tests/once_more.py" "$out" "$again"

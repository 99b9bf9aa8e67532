#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# pytest.sh RESULT.xml ARGUMENT...: pytest with these arguments; then what failed,
# once more by itself. What passes that time counts as passed, and RESULT.xml says
# that it is flaky (once_more.py). Of each test it has the processor's seconds, too
# (spent.py). Its temporary folders are its own: those of pytests side by side have
# one parent, from which each that begins takes the rights of other users.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
out=$1
shift
cache=$(mktemp -d) || exit 1
child=
trap 'rm -rf "$cache"' EXIT
# A stage that is told to end tells its pytest, which cleans up.
trap '[ -z "$child" ] || { kill -TERM $child 2>/dev/null; wait $child; }; exit 130' INT TERM
run() {
	/usr/bin/python3 -c 'import sys, pytest
sys.path.append(sys.argv[1])
sys.exit(pytest.main(sys.argv[2:]))' "$top/tests" -q -p spent -o cache_dir="$cache/cache" --basetemp "$cache/tmp" "$@" &
	child=$!
	wait $child
	local rc=$?
	child=
	return $rc
}
run --junitxml "$out" "$@"
rc=$?
# 1: tests have failed; all else is no test's fault.
[ $rc = 1 ] && "$top/tests/once_more.py" --worth "$out" || exit $rc
echo "==== once more, what failed"
run --junitxml "$cache/again.xml" --last-failed --last-failed-no-failures none "$@"
[ $? -le 1 ] && "$top/tests/once_more.py" "$out" "$cache/again.xml"

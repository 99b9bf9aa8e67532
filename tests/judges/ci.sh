#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 14400
# ci.sh RESULT.xml: the runner's own tests, a second; and the suites that are at hand
# (README.md), into RESULT-suites.xml: an hour or more each. Elsewhere they are skipped.
cd "$(dirname "$0")/../.." || exit 1
tests/install-deps.sh judges || exit 1
out=${1:?the file to write} rc=0
tests/pytest.sh "$out" -o junit_family=xunit1 tests/judges || rc=1
/usr/bin/python3 tests/judges/judge.py --xml "${out%.xml}-suites.xml" || rc=1
exit $rc

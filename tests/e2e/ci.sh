#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1800, full 2700
# End-to-end tests; $1 is the JUnit file to write. Long matrices are thinned
# (tests/representative.py) unless UROCE_FULL is set. In parts, the longest first.
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d) status=0 named=()
# shellcheck source=tests/beside.sh
. tests/beside.sh
trap 'rm -rf "$tmp"' EXIT
trap stop INT TERM
files() { # files NAME...: sets `files`, and notes that they had their turn
	files=("${@/%/.py}")
	files=("${files[@]/#/tests/e2e/test_}")
	named+=("${files[@]/#/--ignore=}")
}
e2e() { # e2e PART NAME...
	files "${@:2}"
	part "$1" "${files[@]}"
}
e2e perftest perftest
e2e rdmacm rdmacm
# Whatever the daemon calls, its filter knows: these have one that ends at what the
# filter does not know. With UROCE_FULL they have the ordinary one as well, and
# connections of every program the strict one.
files link v1 verbs devices raw
UROCE_DAEMON=uroced_strict part strict "${files[@]}" \
	${UROCE_FULL:+tests/e2e/test_rdmacm.py}
[ -n "${UROCE_FULL:-}" ] && part ordinary "${files[@]}"
e2e faults faults rdmacm_faults
# The engine without what makes it fast.
UROCE_ENGINE_OPT=hold=0,shared=0,gso=0,gro=0,loop=0,coalesce=0,credits=0,trains=0 \
	part plain tests/e2e/test_pingpong.py tests/e2e/test_faults.py
# Where there is a build with sanitizers: death, loss and raw frames once more with it.
[ -x build/asan/bin/uroced ] &&
	part asan --build build/asan tests/e2e/test_faults.py tests/e2e/test_raw.py
e2e doctor doctor
e2e middleware middleware migration
e2e attacks attacks forged isolation confine
part rest tests/e2e "${named[@]}"
result "$1"
exit $status

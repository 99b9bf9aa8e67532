#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1800, full 2700
# End-to-end tests; $1 is the JUnit file to write. Long matrices are thinned
# (tests/representative.py) unless UROCE_FULL is set.
cd "$(dirname "$0")/../.." || exit 1
e2e() { # e2e XML ARGUMENT...
	/usr/bin/python3 -m pytest -q -p no:cacheprovider \
		${1:+--junitxml "$1"} "${@:2}"
}
status=0
e2e "$1" tests/e2e || status=1
# The engine without what makes it fast.
UROCE_ENGINE_OPT=hold=0,shared=0,gso=0,gro=0,loop=0,coalesce=0,credits=0,trains=0 \
	e2e "${1:+${1%.xml}-plain.xml}" tests/e2e/test_pingpong.py \
	tests/e2e/test_faults.py || status=1
# Whatever the daemon calls, its filter knows. Connections: with UROCE_FULL
# those of every program, else those that devices and links are tried with.
UROCE_DAEMON=uroced_strict \
	e2e "${1:+${1%.xml}-strict.xml}" tests/e2e/test_link.py \
	tests/e2e/test_v1.py tests/e2e/test_verbs.py tests/e2e/test_devices.py \
	${UROCE_FULL:+tests/e2e/test_rdmacm.py} || status=1
# Where there is a build with sanitizers: death and loss once more with it.
if [ -x build/asan/bin/uroced ]; then
	e2e "${1:+${1%.xml}-asan.xml}" --build build/asan \
		tests/e2e/test_faults.py || status=1
fi
exit $status

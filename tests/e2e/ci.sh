#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# limit: 900
# End-to-end tests; $1 is the JUnit file to write.
cd "$(dirname "$0")/../.." || exit 1
exec /usr/bin/python3 -m pytest -q -p no:cacheprovider \
	${1:+--junitxml "$1"} tests/e2e

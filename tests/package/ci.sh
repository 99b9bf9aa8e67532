#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 900 seconds for this stage
exec /usr/bin/python3 -m pytest -q -p no:cacheprovider --junitxml "$1" "$(dirname "$0")" \
	${UROCE_PACKAGE_TESTS:+-k "$UROCE_PACKAGE_TESTS"}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 900 seconds for this stage
exec "$(dirname "$0")/../pytest.sh" "$1" "$(dirname "$0")" \
	${UROCE_PACKAGE_TESTS:+-k "$UROCE_PACKAGE_TESTS"}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1200
# Applications of Debian's, beside the same over TCP; $1 is the JUnit file to
# write. UROCE_FULL=1: each of them everywhere (12 minutes on a quiet machine
# of two processors), else what is most unlike the rest (5 minutes).
cd "$(dirname "$0")/../.." || exit 1
tests/install-deps.sh apps || exit 1
exec tests/pytest.sh "${1:-/dev/null}" -o junit_family=xunit1 tests/apps

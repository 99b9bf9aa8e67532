#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1500, full 2400 seconds for this stage
exec /usr/bin/python3 -m pytest -q -p no:cacheprovider --junitxml "$1" "$(dirname "$0")"

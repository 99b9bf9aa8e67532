#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The first useful answer after an edit: build what changed, and run the tests
# that take well under a minute together (unit, scenario, fuzz corpus, abi,
# arch, habits). No root, no network, nothing installed.
#   tests/quick.sh [CTEST ARGUMENT...]     e.g. tests/quick.sh -R retry
cd "$(dirname "$0")/.." || exit 1
[ -f build/build.ninja ] || cmake -S . -B build -G Ninja -DUROCE_WERROR=ON || exit 1
cmake --build build || exit 1
[ $# = 0 ] && set -- -L 'unit|scenario|fuzz|abi|arch|habits|whole'
exec ctest --test-dir build --no-tests=error --output-on-failure --timeout 300 \
	-j"$(nproc)" "$@"

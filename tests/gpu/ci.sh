#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 600, full 900
# ci.sh RESULT.xml: memory of GPUs over the stand-in for CUDA's library, dma-bufs over theirs, and dma-bufs of udmabuf and
# vgem in a guest. The same matrix with ASan. A program with TSan gets no engine (providers/uroce/allowed.c), so TSan looks at
# the copies and registrations of unit.gpu.
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d) status=0
# shellcheck source=tests/beside.sh
. tests/beside.sh
trap 'rm -rf "$tmp"' EXIT
trap stop INT TERM
drivers=(udmabuf)
[ -n "${UROCE_FULL:-}" ] && drivers+=(vgem)
UROCE_GPU_DRIVERS="${drivers[*]}" part plain tests/gpu/test_guest.py tests/e2e/test_gpu.py -k "not test_script"
matrix=test_two_hosts
[ -n "${UROCE_FULL:-}" ] && matrix="not test_script"
part asan --build build/asan tests/e2e/test_gpu.py -k "$matrix"
part script tests/e2e/test_gpu.py -k test_script
parts+=(tsan)
finish 1
begin tsan "$tmp/tsan.log" tests/ctest.sh build/tsan "$tmp/tsan.xml" -R '^unit.gpu$'
result "$1"
exit $status

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 600, full 900
# ci.sh RESULT.xml: memory of GPUs over the stand-in for CUDA's library, dma-bufs over theirs, the same with ASan, and
# dma-bufs of udmabuf and vgem in a guest. With TSan unit.gpu is in the stage tsan.
cd "$(dirname "$0")/../.." || exit 1
tmp=$(mktemp -d) status=0
# shellcheck source=tests/beside.sh
. tests/beside.sh
trap 'rm -rf "$tmp"' EXIT
trap stop INT TERM
drivers=(udmabuf)
[ -n "${UROCE_FULL:-}" ] && drivers+=(vgem)
UROCE_GPU_DRIVERS="${drivers[*]}" part plain tests/gpu/test_guest.py tests/e2e/test_gpu.py
[ -x build/asan/bin/uroced ] && part asan --build build/asan tests/e2e/test_gpu.py
result "$1"
exit $status

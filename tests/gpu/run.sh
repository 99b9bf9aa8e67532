#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Memory of a real GPU: the matrix of verbs between two programs of this host, and NCCL's all_reduce between two ranks
# where there is a PyTorch with CUDA. Skipped, with one line, where there is no GPU.
#   tests/gpu/run.sh [BUILD]
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$top/build}" && pwd)
skip() {
	echo "SKIP: $1"
	exit 77
}
[ -e /dev/nvidiactl ] || skip "no GPU of NVIDIA"
cuda=$(ldconfig -p | awk '$1 == "libcuda.so.1" { print $NF; exit }')
[ -n "$cuda" ] || skip "no libcuda.so.1"
work=$(mktemp -d)
export UROCE_RUN_DIR=$work/run UROCE_ENGINE=process
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cc -O1 -D_GNU_SOURCE -I"$top" -o "$work/matrix" \
	"$top"/tests/gpu/{matrix,troubles,order,contexts,hostile,speed,memory,cuda_memory,dmabuf_memory,pair}.c "$top/tests/e2e/guest/rounds.c" \
	"$cuda" -libverbs
cc -O1 -D_GNU_SOURCE -I"$top" -o "$work/probes" "$top"/tests/gpu/probes.c "$top/tests/e2e/guest/rounds.c" \
	-Wl,--no-as-needed "$cuda" -libverbs
mkdir "$work/run"
"$build/bin/uroced" --run-dir "$work/run" --netdev lo --engine-opt guests=1 >"$work/log" &
until grep -q ready "$work/log"; do sleep 0.1; done
run() { "$build/bin/uroce" run --run-dir "$work/run" -- "$@"; }
run "$work/probes" yes
UROCE_GPU=off run "$work/probes" no
gid=0000:0000:0000:0000:0000:ffff:7f00:0001
run "$work/matrix" all 0 "$gid" 20777 &
server=$!
until ss -Htln sport = 20777 | grep -q .; do kill -0 $server && sleep 0.1; done
run "$work/matrix" all 0 "$gid" 20777 127.0.0.1
wait $server
python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null ||
	{ echo "SKIP: all_reduce: no PyTorch with CUDA" && exit 0; }
for rank in 0 1; do
	NCCL_GIN_TYPE=2 NCCL_HOSTID=host$rank NCCL_DEBUG=INFO NCCL_NET_GDR_LEVEL=SYS NCCL_NET_GDR_READ=1 \
		run python3 "$top/tests/gpu/all_reduce.py" $rank >"$work/rank$rank" 2>&1 &
	ranks[rank]=$!
done
if ! { wait "${ranks[0]}" && wait "${ranks[1]}"; }; then
	tail -50 "$work"/rank?
	exit 1
fi
grep bytes "$work/rank0"
grep -q 'GDR 1' "$work/rank0" || { echo "failed: NCCL does not say GDR 1"; exit 1; }

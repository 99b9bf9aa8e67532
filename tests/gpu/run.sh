#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Memory of a real GPU: the matrix of verbs between two programs of this host, its speed beside that of the host's memory,
# and, where there is a PyTorch with CUDA, NCCL's all_reduce between two ranks: with the GPU's memory, through the host's,
# and by sockets. Skipped, with one line, where there is no GPU.
#   tests/gpu/run.sh [BUILD]      UROCE_CUDA: another library than the host's, as the stand-in
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$top/build}" && pwd)
skip() {
	echo "SKIP: $1"
	exit 77
}
[ -n "${UROCE_CUDA:-}" ] || [ -e /dev/nvidiactl ] || skip "no GPU of NVIDIA"
cuda=${UROCE_CUDA:-$(ldconfig -p | awk '$1 == "libcuda.so.1" { print $NF; exit }')}
[ -n "$cuda" ] || skip "no libcuda.so.1"
work=$(mktemp -d)
export UROCE_RUN_DIR=$work/run UROCE_ENGINE=process
# The device removes its own files in there.
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
compile() { # compile PROGRAM FILE...: with the library, also where it names no function of it
	cc -O1 -D_GNU_SOURCE -I"$top" -o "$work/$1" "${@:2}" "$top/tests/e2e/guest/rounds.c" \
		-Wl,--no-as-needed "$cuda" "-Wl,-rpath,$(dirname "$cuda")" -libverbs
}
compile matrix "$top"/tests/gpu/{matrix,troubles,order,contexts,hostile,services,speed,memory,cuda_memory,dmabuf_memory,pair}.c
compile probes "$top/tests/gpu/probes.c"
mkdir "$work/run"
"$build/bin/uroced" --run-dir "$work/run" --netdev lo --engine-opt guests=1 >"$work/log" &
until grep -q ready "$work/log"; do sleep 0.1; done
run() { # run PROGRAM ARGUMENT...
	"$build/bin/uroce" run --run-dir "$work/run" -- "$@" || { echo "failed with $?: $*" && return 1; }
}
run "$work/probes" yes
UROCE_GPU=off run "$work/probes" no
gid=0000:0000:0000:0000:0000:ffff:7f00:0001 port=20777
for mode in all speed; do
	run "$work/matrix" $mode 0 "$gid" $port &
	server=$!
	until ss -Htln sport = $port | grep -q .; do kill -0 $server && sleep 0.1; done
	run "$work/matrix" $mode 0 "$gid" $port 127.0.0.1
	wait $server
	port=$((port + 1))
done
python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null ||
	{ echo "SKIP: all_reduce: no PyTorch with CUDA" && exit 0; }
reduce() { # reduce NAME SETTING...: two ranks on one GPU, with NCCL_GIN_TYPE for 2.28 (doc/recipes.md)
	local ranks=() rank
	for rank in 0 1; do
		run env NCCL_GIN_TYPE=2 NCCL_HOSTID=host$rank NCCL_DEBUG=INFO NCCL_NET_GDR_LEVEL=SYS NCCL_NET_GDR_READ=1 \
			"${@:2}" python3 "$top/tests/gpu/all_reduce.py" $rank >"$work/$1.$rank" 2>&1 &
		ranks[rank]=$!
	done
	if ! { wait "${ranks[0]}" && wait "${ranks[1]}"; }; then
		tail -50 "$work/$1".?
		exit 1
	fi
	sed -n "s/^.* bytes: /$1: &/p" "$work/$1.0"
}
reduce GPU UROCE_GPU=on
grep -q 'GDR 1' "$work/GPU.0" || { echo "failed: NCCL does not say GDR 1"; exit 1; }
echo "NCCL says GDR 1"
reduce host UROCE_GPU=off
! grep -q 'GDR 1' "$work/host.0" || { echo "failed: NCCL says GDR 1 with UROCE_GPU=off"; exit 1; }
reduce sockets NCCL_IB_DISABLE=1

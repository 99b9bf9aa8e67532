#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One of two ranks of NCCL's all_reduce, 1 KiB to 128 MiB, whose every sum is looked at: all_reduce.py RANK."""
import sys
import time

import torch
import torch.distributed as dist

rank = int(sys.argv[1])
torch.cuda.set_device(0)
dist.init_process_group("nccl", init_method="tcp://127.0.0.1:20790", rank=rank, world_size=2)
for power in range(10, 28):
    data = torch.arange(2 ** power // 4, device="cuda", dtype=torch.int32)
    want = data * 2 + 3
    for _ in range(3):
        sums = data + rank * 3
        torch.cuda.synchronize()
        began = time.monotonic()
        dist.all_reduce(sums)
        torch.cuda.synchronize()
        spent = time.monotonic() - began
        assert torch.equal(sums, want), power
    if not rank:
        print(f"{2 ** power} bytes: {2 ** power / spent / 1e9:.3f} GB/s")
dist.destroy_process_group()

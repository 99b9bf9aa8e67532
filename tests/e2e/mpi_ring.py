#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""An MPI program that looks at every byte: neighbours, all to all, windows."""
from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size


def of(rank):
    return (RANK + rank) % SIZE


def pattern(size, rank):
    return (bytes((i * 7 + rank) & 255 for i in range(251)) *
            (size // 251 + 1))[:size]


for size in 1, 7, 4096, 70001, 1 << 20, 5000003:
    got = bytearray(size)
    COMM.Sendrecv(bytearray(pattern(size, RANK)), dest=of(1), recvbuf=got,
                  source=of(-1))
    assert got == pattern(size, of(-1)), size
assert COMM.allreduce(RANK) == SIZE * (SIZE - 1) // 2
mine = bytearray(bytes([RANK]) * 1000 * SIZE)
got = bytearray(1000 * SIZE)
COMM.Alltoall(mine, got)
assert got == b"".join(bytes([k]) * 1000 for k in range(SIZE))
for size in 8, 65536, 300001:
    window = MPI.Win.Allocate(size, 1, MPI.INFO_NULL, COMM)
    mine, got = bytearray(pattern(size, RANK)), bytearray(size)
    window.Fence()
    window.Put(mine, of(1))
    window.Fence()
    assert bytes(window.tomemory()) == pattern(size, of(-1)), size
    window.Get(got, of(2))
    window.Fence()
    assert got == pattern(size, of(1)), size
    window.Free()
ranks = COMM.gather(RANK)
if RANK == 0:
    print("good", ranks, flush=True)

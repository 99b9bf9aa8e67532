#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""mpi_rounds.py FILE: an MPI program that looks at every byte, in rounds, until there is that
file: neighbours, all to all, and a window, for which memory is registered and queue pairs may be
made. Rank 0 says how many rounds there were so far, and the longest one in seconds."""
import os
import sys
import time

from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size
SIZES = 7, 70001, 1 << 20


def pattern(size, rank, number):
    return (bytes((i * 7 + rank + number) & 255 for i in range(251)) * (size // 251 + 1))[:size]


def make_round(number):
    after, before = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    size = SIZES[number % len(SIZES)]
    mine, want = bytearray(pattern(size, RANK, number)), pattern(size, before, number)
    got = bytearray(size)
    COMM.Sendrecv(mine, dest=after, recvbuf=got, source=before)
    assert got == want, (number, size)
    got = bytearray(1000 * SIZE)
    COMM.Alltoall(bytearray(mine[:1] * 1000 * SIZE), got)
    assert got == b"".join(pattern(1, k, number) * 1000 for k in range(SIZE)), number
    window = MPI.Win.Allocate(size, 1, MPI.INFO_NULL, COMM)
    window.Fence()
    window.Put(mine, after)
    window.Fence()
    assert bytes(window.tomemory()) == want, (number, size)
    window.Free()


number, longest, goes_on = 0, 0, True
while goes_on:
    begin = time.monotonic()
    make_round(number)
    longest = max(longest, time.monotonic() - begin)
    number += 1
    if RANK == 0:
        print("rounds", number, f"longest {longest:.3f}", flush=True)
    goes_on = COMM.bcast(not os.path.exists(sys.argv[1]), 0)
if RANK == 0:
    print("good", SIZE, flush=True)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Linux's queues that mark, in front of a line of 100 Mbit/s: they mark what we send
and drop nothing, and we use the line as TCP with ECN does. The table of
doc/measurements/congestion.md has what a busy machine cannot assert."""
import os

import pytest

import router
from queues import Road

SECONDS = 3
SOME = ("fq_codel",)
MBIT = 100
# Of 8 connections. PIE waits for 15 ms before it marks, and our queue is shorter.
MARKED = {"fq_codel", "codel", "RED", "cake"}
PART = 0.8  # of TCP; 0.95 to 1 on a machine that has processors


@pytest.fixture(scope="module")
def road():
    why = router.missing()
    if why:
        pytest.skip(why)
    with Road() as r:
        yield r


@pytest.mark.parametrize("kind", router.KINDS if os.environ.get("UROCE_FULL") else SOME)
def test_marks_and_no_drops(road, kind):
    road.queue(kind, MBIT)
    connections = (1, 8, 32) if os.environ.get("UROCE_FULL") else (8,)
    for n in connections:
        for last in (False, True):
            tcp, _ = road.around(road.tcp_mbit, n, SECONDS)
            ours, (dropped, marked, _) = road.around(road.write_mbit, n, SECONDS)
            print(f"{kind}, {n} connections: {ours:.1f} Mbit/s, TCP {tcp:.1f}, {marked} marked")
            assert dropped == 0
            if ours >= PART * tcp and (marked or n != 8 or kind not in MARKED):
                break
            # Each of the two had the machine at another time.
            assert not last, f"{ours:.1f} Mbit/s, TCP {tcp:.1f}; {marked} marked"

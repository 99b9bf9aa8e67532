# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""librpma: another's memory, written, flushed, read, by pmem.c; the same
blocks through a socket beside it."""
import re

from cells import LOSS, LOSS6, ONE, TWO, TWO6, runs
from cm import run_cm_pair

MOVED = 32 << 20


def rate(out):
    found = re.search(r"^good, ([\d.]+) MB/s", out, re.M)
    assert found, out
    return float(found.group(1))


@runs(("write and flush", [LOSS], [ONE, TWO, TWO6, LOSS6]))
def test_rpma(place, variant, compiled, compare):
    program = compiled("pmem.c", "pmem", "cc", "-lrpma", "-libverbs")

    def ours():
        port = place.lab.next_port()
        cmd = [program, place.addr, port]
        with place.carrying(MOVED):
            return rate(run_cm_pair(place.server, place.client,
                                    [*cmd, "serve"], [*cmd, "write"],
                                    port)[1])

    def tcp():
        cmd = [program, "tcp", "PEER", "PORT"]
        with place.over_tcp():
            return rate(place.pair([*cmd, "serve"], [*cmd, "write"], False))
    compare("librpma", variant, place, ours, tcp)

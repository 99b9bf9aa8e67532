# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Gloo's allreduces over its ibverbs transport, by allreduce.cc: four
ranks."""
import re
import shutil

from cells import LOSS, ONE, TWO, TWO6, runs

RANKS, ROUNDS = 4, 5
MOVED = 30 << 20


def rates(place, program, folder, device):
    """MB/s of each algorithm."""
    # Of the round before there may be files by which ranks meet.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    ranks = []
    for rank in range(RANKS):
        host = place.hosts[rank * len(place.hosts) // RANKS]
        where = (["ibverbs", place.gid(host)] if device else
                 ["tcp", place.address(host)])
        ranks.append((host.start if device else host.bare)(
            program, *where, str(rank), str(RANKS), str(folder), str(ROUNDS)))
    got = [p.wait() for p in ranks]
    assert got == [0] * RANKS, "\n".join(p.report() for p in ranks)
    out = ranks[0].text()
    found = re.search(r"^good 4 ranks, ring ([\d.]+) chunked ([\d.]+) "
                      r"doubling ([\d.]+) MB/s", out, re.M)
    assert found, out
    return dict(zip(("ring", "ring in chunks", "halving and doubling"),
                    map(float, found.groups())))


@runs(("allreduce", [TWO, LOSS], [ONE, TWO6]))
def test_gloo(place, variant, compiled, compare, tmp_path):
    """The slowest of the three, which is the plain ring, is told."""
    program = compiled("allreduce.cc", "allreduce", "c++", "-lgloo",
                       "-libverbs")

    def ours():
        with place.carrying(MOVED):
            return min(rates(place, program, tmp_path / "ours",
                             True).values())

    def tcp():
        with place.over_tcp():
            return min(rates(place, program, tmp_path / "tcp",
                             False).values())
    compare("gloo", variant, place, ours, tcp)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""MPICH over UCX."""
from cells import LOSS, LOSS6, ONE, TWO, TWO6, runs
from mpi import MOVED, ROUNDS, rate, rate_tcp, ucx, ucx_tcp
from ranks import Ranks


@runs(("rc", [TWO, LOSS], [ONE, TWO6, LOSS6]),
      ("ud", [TWO], [ONE, LOSS, TWO6]),
      ("rc, put", [], [ONE, TWO, LOSS]),
      ("rc, get", [], [ONE, TWO, LOSS]),
      ("rc, ODP", [TWO], [ONE, LOSS]))
def test_mpich(place, variant, compiled, compare, tmp_path):
    program = compiled("mpi_world.c", "world.mpich", "mpicc.mpich")
    ranks = Ranks(place.lab, tmp_path, place.hosts, 4 // place.cell.hosts)
    # UCX 1.13 gives the region of all memory back in a way that crashes
    # (uct_ib_md_close() takes its handle for the parameters of the call).
    words = [program, ROUNDS, *(["leave"] if "ODP" in variant else [])]
    # Not through memory that the ranks of a host share.
    local = {"MPIR_CVAR_NOLOCAL": "1"}

    def ours():
        with place.carrying(MOVED):
            return rate(ranks.mpich({**ucx(variant, place), **local}, *words))

    def tcp():
        with place.over_tcp():
            return rate_tcp(ranks.mpich({**ucx_tcp(place), **local}, *words,
                                    device=False))
    compare("MPICH over UCX", variant, place, ours, tcp)

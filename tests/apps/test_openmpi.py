# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Open MPI over UCX and over libfabric."""
from cells import LOSS, LOSS6, ONE, TWO, TWO6, runs
from mpi import MOVED, ROUNDS, rate, rate_tcp, ucx, ucx_tcp
from ranks import Ranks


@runs(("rc", [ONE, LOSS], [TWO, TWO6, LOSS6]),
      ("ud", [], [ONE, TWO, LOSS, TWO6]),
      ("rc, put", [TWO], [ONE, LOSS]),
      ("rc, get", [], [ONE, TWO, LOSS]))
def test_openmpi_ucx(place, variant, compiled, compare, tmp_path):
    program = compiled("mpi_world.c", "world.openmpi", "mpicc.openmpi")
    ranks = Ranks(place.lab, tmp_path, place.hosts, 4 // place.cell.hosts)
    options = {"pml": "ucx", "osc": "ucx", "btl": "self",
               "mpi_yield_when_idle": "1"}

    def ours():
        with place.carrying(MOVED):
            return rate(ranks.openmpi(options, ucx(variant, place), program,
                                      ROUNDS))

    def tcp():
        with place.over_tcp():
            return rate_tcp(ranks.openmpi(
                {**options, "pml_ucx_tls": "any", "pml_ucx_devices": "any"},
                ucx_tcp(place), program, ROUNDS, device=False))
    compare("Open MPI over UCX", variant, place, ours, tcp)


@runs(("verbs;ofi_rxm", [TWO], [ONE, LOSS]))
def test_openmpi_libfabric(place, variant, compiled, compare, tmp_path):
    """Windows by messages (osc pt2pt): the other component wants a transport
    of its own."""
    program = compiled("mpi_world.c", "world.openmpi", "mpicc.openmpi")
    ranks = Ranks(place.lab, tmp_path, place.hosts, 4 // place.cell.hosts)

    def options(provider):
        return {"pml": "cm", "mtl": "ofi", "osc": "pt2pt", "btl": "self",
                "mpi_yield_when_idle": "1",
                "mtl_ofi_provider_include": provider}

    def ours():
        with place.carrying(MOVED):
            return rate(ranks.openmpi(options(variant), {}, program, ROUNDS))

    def tcp():
        with place.over_tcp():
            return rate_tcp(ranks.openmpi(options("tcp;ofi_rxm"), {}, program,
                                          ROUNDS, device=False))
    compare("Open MPI over libfabric", variant, place, ours, tcp)

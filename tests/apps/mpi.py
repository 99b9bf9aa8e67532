# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the tests of MPICH and Open MPI share: four ranks of mpi_world.c, which
looks at every byte that they exchange, and UCX."""
import re

from hosts import wait_for

# What mpi_world moves at least between ranks, measured rounds left out.
MOVED = 50 << 20
ROUNDS = "10"

# UCX: what carries, and how large messages go. A registration method that
# does not work has no other beside it to stand in.
UCX = {"rc": {"UCX_TLS": "rc_v,self"},
       "ud": {"UCX_TLS": "ud_v,self"},
       "rc, put": {"UCX_TLS": "rc_v,self", "UCX_RNDV_SCHEME": "put_zcopy"},
       "rc, get": {"UCX_TLS": "rc_v,self", "UCX_RNDV_SCHEME": "get_zcopy"},
       "rc, ODP": {"UCX_TLS": "rc_v,self", "UCX_IB_REG_METHODS": "odp"}}
UCX_TCP = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}


def ucx(variant, place):
    env = {**UCX[variant], "UCX_NET_DEVICES": "uroce0:1"}
    if place.cell.family == 6:
        env["UCX_IB_GID_INDEX"] = place.gid(place.server)
        assert env["UCX_IB_GID_INDEX"] == place.gid(place.client)
    return env


def ucx_tcp(place):
    return {**UCX_TCP, **({"UCX_TCP_AF_PRIO": "inet6"}
                          if place.cell.family == 6 else {})}


def good(program):
    return re.search(r"^good 4 ranks, ([\d.]+) MB/s", program.text(), re.M)


def rate(program):
    got = program.wait(150)
    assert got == 0 and good(program), program.report()
    return float(good(program).group(1))


def rate_tcp(program):
    """How it ends over TCP is not judged: UCX's may wait for what was lost."""
    wait_for("the ranks", lambda: good(program) or not program.running(), 150)
    assert good(program), program.report()
    program.kill()
    return float(good(program).group(1))

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Stock programs under `uroce run --check`: named is only what doc/check.md lists of
them, and they do what they do without."""
import os
import re

import pytest

from pairs import run_pair

FULL = bool(os.environ.get("UROCE_FULL"))

# Of each program, what is its own mistake: doc/check.md, "Mistakes of stock programs".
OWN = {"ib_send_bw": {"UR-LEAK-01"}, "ib_atomic_lat": {"UR-LEAK-01"},
       # It counts all its queue pairs together, and ends with sends under way.
       "ibv_srq_pingpong": {"UR-QP-01"}, "rping": {"UR-CM-02", "UR-CM-03"}}
SOME = [["ibv_rc_pingpong", "-c", "-n", "100"], ["ibv_rc_pingpong", "-e", "-n", "100"],
        ["ibv_rc_pingpong", "-N", "-t", "-n", "100"],
        ["ibv_uc_pingpong", "-n", "100"], ["ibv_ud_pingpong", "-n", "100"],
        ["ibv_srq_pingpong", "-n", "100"]]
PERFTEST = [["ib_write_bw"], ["ib_send_bw"], ["ib_send_lat"], ["ib_atomic_lat"]]
MORE = [["ibv_xsrq_pingpong"], ["ibv_srq_pingpong", "-e"], ["ibv_ud_pingpong", "-e"]]
MORE_PERFTEST = [["ib_write_lat"], ["ib_read_bw"], ["ib_read_lat"], ["ib_atomic_bw"],
                 ["ib_send_bw", "-e"], ["ib_send_bw", "-c", "UD"], ["ib_send_bw", "-q", "16"],
                 ["ib_write_bw", "-b", "-q", "3"], ["ib_send_bw", "--use-srq"]]


@pytest.fixture
def checked(labs):
    lab = labs(1500)
    pair = lab.a, lab.b
    for host in pair:
        host.run_options = ["--check"]
    yield pair
    for host in pair:
        host.run_options = []


def named(text):
    return set(re.findall("uroce check: (UR-[A-Z]+-[0-9]+)", text))


def own(program, text):
    found = named(text)
    assert found <= OWN.get(program, set()), text


@pytest.mark.parametrize("cmd", SOME + (MORE if FULL else []), ids=" ".join)
def test_pingpong(checked, cmd):
    for out in run_pair(*checked, cmd):
        own(cmd[0], out)


@pytest.mark.parametrize("cmd", PERFTEST + (MORE_PERFTEST if FULL else []), ids=" ".join)
def test_perftest(checked, cmd):
    for out in run_pair(*checked, [*cmd, "-F", "-n", "100"], flag="-x"):
        own(cmd[0], out)


def test_mistake(checked):
    """Not for nothing: the server of rping destroys an id that has a queue pair."""
    server, client = checked
    s = server.start("rping", "-s", "-a", server.addr4, "-C", "5")
    client.run("rping", "-c", "-a", server.addr4, "-C", "5")
    assert s.wait(20) == 0, s.report()
    assert "UR-CM-02" in named(s.text()), s.text()
    own("rping", s.text())

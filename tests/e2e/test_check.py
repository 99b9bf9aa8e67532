# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Stock programs under `uroce run --check`: named is only what doc/check.md lists of
them, and they do what they do without."""
import json
import os
import re
import subprocess

import pytest

from cm import run_cm_pair
from hosts import TOP
from pairs import run_pair

FULL = bool(os.environ.get("UROCE_FULL"))

# Of each program, what is its own mistake: doc/check.md, "Mistakes of stock programs".
OWN = {"ib_send_bw": {"UR-LEAK-01"}, "ib_atomic_lat": {"UR-LEAK-01"},
       # It counts all its queue pairs together, and ends with sends under way.
       "ibv_srq_pingpong": {"UR-QP-01"},
       # One thread wakes the other, which destroys the id, before it acknowledges the event: who is first?
       "rping": {"UR-CM-01", "UR-CM-02", "UR-CM-03"},
       "cmtime": {"UR-LEAK-01"}, "rdma_xclient": {"UR-LEAK-01"},
       "rdma_xserver": {"UR-LEAK-01"}, "qperf": {"UR-QP-02", "UR-LEAK-01"},
       # Its tests of errors, and the order in which its objects are closed.
       "pyverbs": {"UR-SQ-03", "UR-SQ-05", "UR-SQ-07", "UR-SQ-08", "UR-MR-01", "UR-MR-03",
                   "UR-MR-04", "UR-MR-05", "UR-QP-01", "UR-LEAK-01"}}
# Modules of pyverbs' suite that take seconds.
MODULES = ["test_cq", "test_qp", "test_atomic", "test_rdmacm"]
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
    return set(re.findall("rdma-check: (UR-[A-Z]+-[0-9]+)", text))


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


CM = {"rping": (["rping", "-s", "-a", "{a}", "-C", "20", "-p", "{p}"],
                ["rping", "-c", "-a", "{a}", "-C", "20", "-p", "{p}"]),
      "ucmatose": (["ucmatose", "-b", "{a}", "-p", "{p}"], ["ucmatose", "-s", "{a}", "-p", "{p}"]),
      # It moves its ids to another channel.
      "ucmatose -m": (["ucmatose", "-m", "-c", "4", "-b", "{a}", "-p", "{p}"],
                      ["ucmatose", "-m", "-c", "4", "-s", "{a}", "-p", "{p}"]),
      "udaddy": (["udaddy", "-b", "{a}"], ["udaddy", "-s", "{a}"]),
      "rstream": (["rstream", "-b", "{a}", "-p", "{p}", "-S", "4096", "-I", "20"],
                  ["rstream", "-s", "{a}", "-p", "{p}", "-S", "4096", "-I", "20"])}
MORE_CM = {"cmtime": (["cmtime", "-c", "20", "-p", "{p}"],
                      ["cmtime", "-s", "{a}", "-c", "20", "-p", "{p}"])}


@pytest.mark.parametrize("name", [*CM, *(MORE_CM if FULL else [])])
def test_rdma_cm(checked, name):
    server, client = checked
    # Of udaddy -p is the port space; its port is 7174.
    port = 7174 if name == "udaddy" else server.lab.next_port()
    both = [[word.format(a=server.addr4, p=port) for word in cmd]
            for cmd in {**CM, **MORE_CM}[name]]
    for out in run_cm_pair(server, client, *both, port, persistent=name == "cmtime"):
        own(name.split()[0], out)


def test_pyverbs(build, tmp_path):
    """Outcomes are those without --check; with UROCE_FULL those of all modules."""
    found = tmp_path / "found.json"
    suite = os.path.join(TOP, "pyverbs-tests", "suite.py")
    p = subprocess.run(["/usr/bin/python3", suite, *([] if FULL else MODULES)],
                       env={**os.environ, "UROCE_BUILD": build, "UROCE_TEST_CHECK": str(found)},
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if "No module named" in p.stdout:
        pytest.skip("pyverbs is not installed")
    assert p.returncode == 0, p.stdout
    ids = {json.loads(line)["id"] for line in open(found)}
    assert ids and ids <= OWN["pyverbs"], ids


def test_mistake(checked):
    """Not for nothing: the server of rping destroys an id that has a queue pair."""
    server, client = checked
    s = server.start("rping", "-s", "-a", server.addr4, "-C", "5")
    client.run("rping", "-c", "-a", server.addr4, "-C", "5")
    assert s.wait(20) == 0, s.report()
    assert "UR-CM-02" in named(s.text()), s.text()
    own("rping", s.text())

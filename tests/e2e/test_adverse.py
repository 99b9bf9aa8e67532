# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce run --adverse: stock programs get by with a hostile card, and what it
says where there is none."""
import os
import re

import pytest

from cm import run_cm_pair
from pairs import run_pair
from ranks import Ranks
from test_middleware import tcp_pair

HERE = os.path.dirname(__file__)
SEEDS = range(1, 21) if os.environ.get("UROCE_FULL") == "1" else (1, 2)
# Of what perftest takes without asking: doc/adverse.md.
PERFTEST = ["-F", "-n", "100", "-t", "16", "-I", "0"]


@pytest.fixture
def adverse(labs, monkeypatch):
    """Gives all programs that start from now on a hostile card."""
    lab = labs(1500)

    def begin(value):
        p = lab.a.bare(lab.bin("uroce"), "run", "--run-dir", lab.a.run_dir,
                       f"--adverse={value}", "--", "printenv",
                       "UROCE_ADVERSE")
        assert p.wait(20) == 0, p.report()
        monkeypatch.setenv("UROCE_ADVERSE", p.text().strip())
        return lab
    return begin


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("op", ["send", "write", "read", "atomic"])
@pytest.mark.parametrize("kind", ["bw", "lat"])
def test_perftest(adverse, op, kind, seed):
    lab = adverse(f"{seed}")
    cmd = [f"ib_{op}_{kind}", *PERFTEST]
    if op == "send":
        cmd += ["-r", "16"]
    if op in ("read", "atomic"):
        cmd += ["-o", "1"]
        cmd.remove("-I")
        cmd.remove("0")
    if kind == "lat" and "-t" in cmd:
        at = cmd.index("-t")
        del cmd[at:at + 2]
    # Where both are on one device the messages are packets all the same.
    run_pair(lab.a if seed % 2 else lab.b, lab.a, cmd, flag="-x")


@pytest.mark.parametrize("seed", SEEDS)
def test_pingpong(adverse, seed):
    """The data is looked at (-c)."""
    lab = adverse(f"{seed}")
    run_pair(lab.b, lab.a, ["ibv_rc_pingpong", "-c", "-r", "16", "-n", "300",
                            *(["-e"] if seed % 2 else [])])


@pytest.mark.parametrize("seed", SEEDS)
def test_rping(adverse, seed):
    """Its connections have an RNR timer of 655 ms, and one SEND in eight has
    to wait for that."""
    lab = adverse(f"{seed}")
    port = str(lab.next_port())
    run_cm_pair(lab.a, lab.b,
                ["rping", "-s", "-a", lab.a.addr4, "-p", port, "-V", "-C",
                 "10"],
                ["rping", "-c", "-a", lab.a.addr4, "-p", port, "-V", "-C",
                 "10"], port)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tls,test", [("rc", "tag_bw"), ("ud", "tag_lat")])
def test_ucx(labs, adverse, tls, test, seed):
    adverse(f"{seed}:-limits")
    cmd = f"ucx_perftest -t {test} -n 200 -s 16384 -p PORT"
    out = tcp_pair(labs, cmd, cmd + " ADDR",
                   {"UCX_TLS": tls, "UCX_NET_DEVICES": "uroce0:1"})
    assert re.search(r"Final: +200 ", out), out


# Nothing that UCX can be told helps: doc/adverse.md.
ASKS = {"rc": "max_send_sge > 1' failed", "ud": "tx queue is too short"}
SMALL = {"TX_QUEUE_LEN": 16, "RX_QUEUE_LEN": 16, "TX_MIN_SGE": 1,
         "TX_MIN_INLINE": 0, "TX_INLINE_RESP": 0, "RX_INLINE": 0,
         "TX_MAX_BATCH": 4, "RX_QUEUE_LEN_INIT": 8}


@pytest.mark.parametrize("tls", ASKS)
def test_ucx_has_limits_of_its_own(adverse, tls):
    lab = adverse("1:limits")
    p = lab.a.start("ucx_perftest", "-t", "tag_lat", "-l", env={
        **os.environ, "UCX_TLS": tls, "UCX_NET_DEVICES": "uroce0:1",
        **{f"UCX_{tls.upper()}_VERBS_{k}": str(v) for k, v in SMALL.items()}})
    assert p.wait(60) and ASKS[tls] in p.report(), p.report()


@pytest.mark.parametrize("seed", SEEDS)
def test_mpi(adverse, tmp_path, seed):
    lab = adverse(f"{seed}:-limits")
    p = Ranks(lab, tmp_path, (lab.a, lab.b), 1).openmpi(
        {"pml": "ucx", "osc": "ucx", "btl": "self"},
        {"UCX_TLS": "rc,self", "UCX_NET_DEVICES": "uroce0:1",
         "UROCE_ADVERSE": os.environ["UROCE_ADVERSE"]},
        "/usr/bin/python3", os.path.join(HERE, "mpi_ring.py"))
    assert p.wait() == 0, p.report()
    assert "good [0, 1]" in p.text(), p.text()


@pytest.mark.parametrize("value,why", [
    ("", "a seed"), ("-1", "a seed"), ("4294967296", "a seed"),
    ("1:poisson", "'poisson' is none of"), ("1:", "is none of"),
    ("1:poison,", "is none of"), ("x", "a seed")])
def test_said(labs, value, why):
    a = labs(1500).a
    p = a.bare(a.lab.bin("uroce"), "run", "--run-dir", a.run_dir,
               f"--adverse={value}", "--", "true")
    assert p.wait(20) == 125 and why in p.report(), p.report()


@pytest.mark.parametrize("value", ["x", "1", "1:", "1:400", "1:zz",
                                   "99999999999:1"])
def test_nonsense_in_the_environment(labs, monkeypatch, value):
    """No ordinary card in place of what was meant."""
    monkeypatch.setenv("UROCE_ADVERSE", value)
    a = labs(1500).a
    p = a.start("ibv_devinfo")
    assert p.wait(20) and "Invalid argument" in p.report() or \
        "Failed to open device" in p.report(), p.report()


def test_others_keep_theirs(labs, adverse, monkeypatch):
    """A program beside the hostile card's has the limits of an ordinary one."""
    lab = adverse("1")
    assert re.search(r"max_qp_wr:\s+16\n", lab.a.run("ibv_devinfo", "-v"))
    monkeypatch.delenv("UROCE_ADVERSE")
    assert re.search(r"max_qp_wr:\s+65536\n", lab.a.run("ibv_devinfo", "-v"))

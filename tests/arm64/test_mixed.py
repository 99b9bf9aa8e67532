# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Between a host of this machine's architecture, x86-64, and one of arm64:
every operation in both directions, and what a capture shows of them against
the golden captures. Byte order and layout of structures would show here."""
import json
import os
import subprocess

import pytest

from cm import run_cm_pair
from conftest import ROOT, TOP
from hosts import wait_for
from packets import (ACK, ATOMIC_ACK, CMP_SWAP, FETCH_ADD, READ_ANSWERS,
                     READ_REQUEST, UD_SEND, WRITE_FIRST, WRITE_ONLY,
                     WRITE_ONLY_IMM, packets)
from pairs import run_pair
from test_v1 import Capture
from test_wire import PEER, once

# What peer.py does, and the capture of the same between two Soft-RoCE.
GOLDEN = {"golden_send": "rc_sizes_send", "golden_write": "rc_sizes_write",
          "golden_read": "rc_sizes_read", "imm": "rc_imm", "atomics": "rc_atomics"}
RETH = WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM, READ_REQUEST
DIRECTIONS = {"arm64-asks": "ba", "arm64-answers": "ab"}


@pytest.fixture(params=DIRECTIONS)
def ends(request, mixed):
    """(who asks, who answers)"""
    return [getattr(mixed, letter) for letter in DIRECTIONS[request.param]]


def golden(name):
    data = open(f"{TOP}/tests/golden/{name}.pcap", "rb").read()
    at, frames = 24, []
    while at < len(data):
        size = int.from_bytes(data[at + 8:at + 12], "little")
        frames.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return packets(frames)


def fields(p, first):
    """BTH, headers and payload, without what is another each time: queue pair,
    first PSN, address, key, credits."""
    raw = bytearray(p.raw)
    raw[5:8] = bytes(3)
    raw[9:12] = (p.psn - first & 0xffffff).to_bytes(3, "big")
    if p.opcode in RETH + (CMP_SWAP, FETCH_ADD):
        raw[12:24] = bytes(12)
    if p.opcode in (ACK, ATOMIC_ACK, *READ_ANSWERS) and p.opcode != 0x0e:
        raw[12] &= 0xe0  # an ACK, an RNR NAK, a NAK
    return p.tos, p.ttl, bytes(raw)


def conversation(found):
    """(requests, answers), each once."""
    requests = once([p for p in found if not p.answer])
    answers = {(p.opcode, p.psn): p for p in found if p.answer}
    first = requests[0].psn
    return ([fields(p, first) for p in requests],
            [fields(p, first) for p in answers.values()])


def talk(client, server, scenario):
    """What each of them said."""
    py = "/usr/bin/python3", PEER
    gid = {h: h.gid(h.addr4) for h in (client, server)}
    s = server.start(*py, "server", scenario, "uroce0", gid[server])
    wait_for("the server", lambda: s.listens(7777) or not s.running())
    c = client.start(*py, "client", scenario, "uroce0", gid[client], server.addr4)
    assert c.wait(120) == 0 and s.wait(120) == 0, c.report() + s.report()
    return [[json.loads(line) for line in p.text().splitlines() if line[:1] == "{"]
            for p in (c, s)]


@pytest.mark.parametrize("scenario", GOLDEN)
def test_golden(mixed, ends, scenario):
    with Capture(mixed.a) as cap:
        said = talk(*ends, scenario)
    want = conversation(golden(GOLDEN[scenario]))
    got = conversation(packets(cap.frames))
    for which, (g, w) in enumerate(zip(got, want)):
        assert len(g) == len(w), (which, g, w)
        for i, (x, y) in enumerate(zip(g, w)):
            assert x == y, (which, i, x[:2], x[2].hex(), y[:2], y[2].hex())
    assert all(w["status"] == 0 for side in said for w in side if "status" in w), said


# ---- stock programs, with verified data ----

PAIRS = [
    ["ibv_rc_pingpong", "-c", "-n", "20"], ["ibv_uc_pingpong", "-c", "-n", "20"],
    ["ibv_ud_pingpong", "-c", "-n", "20", "-s", "1024"],
    ["ibv_srq_pingpong", "-c", "-n", "20", "-q", "2"],
]


@pytest.mark.parametrize("cmd", PAIRS, ids=[p[0] for p in PAIRS])
def test_pingpong(ends, cmd):
    client, server = ends
    run_pair(server, client, cmd)


def mads(found):
    """Of the connection manager's MADs each once: who sent it, its kind, and
    the fields that are not of this connection."""
    result = {}
    for p in found:
        if p.opcode == UD_SEND and p.dqpn == 1:
            mad = bytearray(p.raw[20:])
            tid, kind = bytes(mad[8:16]), int.from_bytes(mad[16:18], "big")
            result.setdefault((kind, tid), (str(p.src), kind, bytes(mad[:8]), mad))
    return list(result.values())


REQ, REP, RTU, DREQ, DREP = 0x10, 0x13, 0x14, 0x15, 0x16


def test_connect(mixed, ends):
    """rdma_cm and rping: packets of the same kinds in the same order as
    between two Soft-RoCE, of each queue pair."""
    client, server = ends
    with Capture(mixed.a) as cap:
        run_cm_pair(server, client, ["rping", "-s", "-a", server.addr4, "-C", 3, "-V"],
                    ["rping", "-c", "-a", server.addr4, "-C", 3, "-V"], 7174, limit=120)
    want, got = golden("rping"), packets(cap.frames)
    assert [m[1] for m in mads(got)] == [m[1] for m in mads(want)] == [
        REQ, REP, RTU, DREQ, DREP]
    assert [m[2] for m in mads(got)] == [m[2] for m in mads(want)]

    def rc(found, source):
        """Kind and length, not of acknowledgements, which may be fewer."""
        return [(p.opcode, p.bytes) for p in once([p for p in found if p.opcode < 0x20])
                if str(p.src) == source and p.opcode != ACK]
    assert rc(got, client.addr4) == rc(want, "10.77.0.3")
    assert rc(got, server.addr4) == rc(want, "10.77.0.2")


# ---- rdma-core's suite, one player here and one there ----

# SEND with invalidate and bound windows; what else no scenario above has.
SOME = ["test_mr.MWTest.test_mw_type2_invalidate_remote",
        "test_qpex.QpExTestCase.test_qp_ex_rc_atomic_write",
        "test_qpex.QpExTestCase.test_qp_ex_xrc_send_imm"]


# Of rdma-core 56 on both hosts; 44 has no FLUSH.
FLUSH = "test_qpex.QpExTestCase.test_qp_ex_rc_flush"
SUITES = {
    "some": (["--mode", "arm64", *SOME], []),
    "atomic": (["--mode", "arm64", "test_atomic"], pytest.mark.long),
    "flush": (["--mode", "arm64", FLUSH], pytest.mark.newer),
    "refused": (["--mode", "arm64", FLUSH + "_type_violate"],
                [pytest.mark.newer, pytest.mark.long]),
    # Both players on the host of arm64.
    "one-some": (["--mode", "one-arm64", "--some"], []),
    "one": (["--mode", "one-arm64"], pytest.mark.long),
}


@pytest.mark.parametrize("args", [pytest.param(args, marks=marks, id=name)
                                  for name, (args, marks) in SUITES.items()])
def test_pyverbs(build, args):
    """pyverbs-tests/suite.py says what each of its tests does."""
    if not ROOT:
        pytest.skip("tests/arm64/mixed.sh runs these")
    r = subprocess.run(["/usr/bin/python3", f"{TOP}/pyverbs-tests/suite.py", *args],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       env={**os.environ, "UROCE_MODULE_SECONDS": "1500"})
    print(r.stdout)
    assert r.returncode == 0, r.stdout


# ---- the same input on both ----

def both(program, *args):
    """What a program of the build tree says, here and there."""
    return [subprocess.run([*start, f"{TOP}/build/bin/{program}", *args], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
            for start in ([], ["chroot", ROOT])]


def test_same_packets(mixed, tmp_path):
    """Packets of every opcode and family are the same, byte by byte."""
    files = [str(tmp_path / f"{i}.pcap") for i in range(2)]
    one = both("emit", files[0])[0]
    assert both("emit", files[1]) == [one, one]
    here, there = (open(f, "rb").read() for f in files)
    assert here == there and len(here) > 100000


@pytest.mark.parametrize("seed", range(1, 9))
def test_same_simulation(mixed, seed):
    """The whole transport, every operation, faults: the same trace."""
    here, there = both("sim", "--seed", str(seed), "--trace")
    assert here == there and here.count("\n") > 100

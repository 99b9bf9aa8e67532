# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""RoCE switched off and on, the packets that congestion control sends, counters
by priority, and what trace says of packets: doc/card.md has the lines."""
import json
import re

import pytest

import hosts
from hosts import wait_for
from packets import CNP, Packet, packets
from pairs import run_pair, start_pair
from parts import raw_ethernet
from test_cli import uroce, watching
from test_doctor import doctor
from test_faults import wait_traffic
from test_raw import MACS, pair as raw_pair
from test_v1 import Capture
from test_wire import counters

ENABLE = "/sys/class/infiniband/uroce0/device/roce_enable"
TC = "/sys/class/infiniband/uroce0/tc/1/traffic_class"
NP = "/sys/class/net/eth0/ecn/roce_np"


@pytest.fixture(scope="module")
def card(build):
    lab = hosts.Lab(build)
    try:
        for host, mac in zip((lab.a, lab.b), MACS):
            host.ip("link", "set", "eth0", "address", mac)
            host.serve("--netdev", "eth0", *raw_ethernet(build), "--engine-opt",
                       "gso=0,gro=0")
        yield lab
    finally:
        lab.close()


def sh(host, line, status=0):
    return host.run("sh", "-c", line, status=status)


BIND = """
import socket
for family, any_address in (socket.AF_INET, ""), (socket.AF_INET6, "::"):
    socket.socket(family, socket.SOCK_DGRAM).bind((any_address, 4791))
"""

# How far a queue pair of that type gets.
BRING_UP = """
import errno, sys
import pyverbs.enums as e
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
ctx = Context(name="uroce0")
pd, cq = PD(ctx), CQ(ctx, 8)
cap = QPCap(8, 8, 1, 1)
qp = QP(pd, QPInitAttr(qp_type=getattr(e, sys.argv[1]), scq=cq, rcq=cq, cap=cap))
try:
    qp.to_init(QPAttr(port_num=1))
    print("up")
except PyverbsError as err:
    print(err.error_code == errno.EOPNOTSUPP and "EOPNOTSUPP" or err)
"""


def bring_up(host, kind):
    return host.run("/usr/bin/python3", "-c", BRING_UP, kind).strip()


def takes_port(host):
    """Whether another program can have UDP port 4791."""
    p = host.bare("/usr/bin/python3", "-c", BIND)
    return p.wait() == 0


@pytest.mark.part("RAW_PACKET")
def test_roce_enable(card):
    """Off: GIDs and port are gone, new queue pairs get mlx5's error, a live one
    fails, raw Ethernet goes on. On: as before, with the same indices."""
    a, b = card.a, card.b
    before = a.gids()
    assert sh(a, f"cat {ENABLE}") == "1\n" and not takes_port(a)
    s, c = start_pair(b, a, ["ib_write_bw", "-D", "30", "-s", "256", "-F"], flag="-x")
    try:
        wait_traffic(card)
        assert sh(a, f"echo 0 > {ENABLE}; cat {ENABLE}") == "0\n"
        assert a.gids() == {} and takes_port(a)
        assert c.wait(60), c.report()
        assert "n_gids_found=0" in sh(a, "show_gids")
        assert bring_up(a, "IBV_QPT_RC") == bring_up(a, "IBV_QPT_UD") == "EOPNOTSUPP"
        assert bring_up(a, "IBV_QPT_RAW_PACKET") == "up"
        raw_pair(card, "raw_ethernet_bw", "-n", "400", "-r", "512", "-t", "64")
        assert "cannot be 'x'" in uroce(a, "link", "set", "uroce0", "roce_enable", "x", status=1)
    finally:
        c.kill()
        s.kill()
        uroce(a, "link", "set", "uroce0", "roce_enable", "on")
    assert before.items() <= a.gids().items() and not takes_port(a)
    assert bring_up(a, "IBV_QPT_RC") == "up"
    run_pair(b, a, ["ibv_rc_pingpong", "-n", "3"])


def test_roce_enable_in_config(build, tmp_path):
    """In uroce.conf, and whose business it is."""
    lab = hosts.Lab(build)
    try:
        conf = tmp_path / "uroce.conf"
        conf.write_text("netdev = eth0\nset = eth0 roce_enable off\n")
        lab.a.serve("--config", str(conf))
        assert lab.a.gids() == {} and takes_port(lab.a)
        assert doctor(lab, lab.a)["device"] == "RoCE of uroce0 is switched off"
        p = lab.a.start("setpriv", "--reuid", "65534", "--clear-groups", "sh", "-c",
                        f"echo 1 > {ENABLE}")
        assert p.wait() and "ermission denied" in p.text(), p.report()
        # A change of addresses does not switch it on.
        lab.a.ip("addr", "add", "10.77.0.9/24", "dev", "eth0")
        sh(lab.a, f"echo 1 > {ENABLE}")
        wait_for("both addresses", lambda: {"10.77.0.1", "10.77.0.9"} <= {
            str(g) for g, kind in lab.a.gids().values()})
    finally:
        lab.close()


@pytest.fixture
def marked(card):
    """All that leaves a is marked."""
    card.a.nft("table netdev marks { chain out { type filter hook egress device eth0 "
               "priority 0; udp dport 4791 ip ecn set ce; }; }")
    yield
    card.a.nft("delete table netdev marks")


def cnps(card):
    with Capture(card.a) as cap:
        run_pair(card.b, card.a, ["ibv_rc_pingpong", "-n", "20"])
    got = [p for p in packets(cap.frames)
           if p.opcode == CNP and str(p.src) == card.b.addr4]
    assert got
    return got


def test_cnp_class(card, marked):
    """CNPs have a DSCP and a priority of their own, mlx5's at first."""
    b = card.b
    assert sh(b, f"cat {NP}/cnp_dscp {NP}/cnp_802p_prio") == "48\n6\n"
    sh(b, f"echo 0 > {NP}/min_time_between_cnps")
    before = counters(b)
    got = cnps(card)
    assert {p.tos for p in got} == {48 << 2 | 2}  # ECT(0), as captured from a ConnectX-4 Lx
    after = counters(b)
    assert after["tx_prio6_packets"] - before["tx_prio6_packets"] == len(got)
    assert sh(b, f"echo 26 > {NP}/cnp_dscp; echo 3 > {NP}/cnp_802p_prio; "
              f"cat {NP}/cnp_dscp {NP}/cnp_802p_prio") == "26\n3\n"
    before = counters(b)
    got = cnps(card)
    assert {p.tos for p in got} == {26 << 2 | 2}
    after = counters(b)
    assert after["tx_prio3_packets"] - before["tx_prio3_packets"] == len(got)
    # The connection's own class does not change that, nor does its hop limit
    # hide from them.
    sh(b, f"echo 104 > {TC}; echo 9 > /sys/class/infiniband/uroce0/ttl/1/ttl")
    assert {(p.tos, p.ttl) for p in cnps(card)} == {(26 << 2 | 2, 9)}
    sh(b, f"echo tclass=-1 > {TC}; echo 0 > /sys/class/infiniband/uroce0/ttl/1/ttl")
    for name, wrong in ("cnp_dscp", 64), ("cnp_802p_prio", 8):
        assert "cannot be" in uroce(b, "link", "set", "uroce0", name, str(wrong), status=1)
    sh(b, f"echo 48 > {NP}/cnp_dscp; echo 6 > {NP}/cnp_802p_prio")


SEND_FRAME = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
s.send(bytes.fromhex(sys.argv[1]))
"""


def test_trace_priority(card):
    """That of a VLAN tag, which the kernel takes off before it shows a packet. A
    VLAN interface in front of the device is in tests/interop."""
    with Capture(card.b) as cap:
        run_pair(card.b, card.a, ["ibv_rc_pingpong", "-n", "3"])
    frame = [f for f, p in zip(cap.frames, map(Packet, cap.frames)) if p.roce and
             str(p.src) == card.a.addr4][0]
    text, rows = (watching(card.b, "trace", "--netdev", "eth0", *more)
                  for more in ((), ("--json",)))
    for tag in b"", b"\x81\x00\xa0\x05":
        p = card.a.bare("/usr/bin/python3", "-c", SEND_FRAME,
                        (frame[:12] + tag + frame[12:]).hex())
        assert p.wait() == 0, p.report()
    packet = rf"{card.a.addr4} > {card.b.addr4} sport"
    wait_for("both", lambda: re.search(rf"<- {packet}", text.text()) and
             re.search(rf"<- prio 5 {packet}", text.text()))
    wait_for("both as JSON", lambda: {r.get("priority") for r in map(
        json.loads, rows.text().splitlines()[:2])} == {None, 5})
    text.kill()
    rows.kill()


def by_priority(seen):
    """{(priority, what): n} of packets: by DSCP, as the wire shows it."""
    count = {}
    for p in seen:
        for what, n in ("packets", 1), ("bytes", p.bytes):
            key = f"prio{p.tos >> 5}_{what}"
            count[key] = count.get(key, 0) + n
    return count


def moved(before, after, way):
    return {k[3:]: after[k] - before[k] for k in after
            if k.startswith(way + "_prio") and after[k] != before[k]}


@pytest.mark.parametrize("fast", [False, True])
def test_priorities(card, fast):
    """Both sides count what a capture shows, whichever way packets go."""
    a, b = card.a, card.b
    sh(a, f"echo 106 > {TC}")
    before = counters(a), counters(b)
    with Capture(b) as cap:
        run_pair(b, a, ["ibv_rc_pingpong", "-n", "5", "-s", "20000" if fast else "64"])
        run_pair(b, a, ["ibv_ud_pingpong", "-n", "5"])
    sent = [p for p in packets(cap.frames) if str(p.src) == a.addr4]
    got = [p for p in packets(cap.frames) if str(p.src) == b.addr4]
    want = by_priority(sent)
    assert want["prio3_packets"] and want["prio0_packets"]
    after = counters(a), counters(b)
    assert moved(before[0], after[0], "tx") == want == moved(before[1], after[1], "rx")
    assert moved(before[0], after[0], "rx") == by_priority(got) == moved(
        before[1], after[1], "tx")
    sh(a, f"echo tclass=-1 > {TC}")
    # The same for people.
    shown = dict(re.findall(r"(\w+_prio3_\w+)\s+(\d+)", uroce(a, "stat")))
    tool = dict(re.findall(r"(\w+_prio3_\w+): (\d+)", sh(a, "show_counters uroce0")))
    assert shown == tool and int(tool["tx_prio3_packets"]) == after[0]["tx_prio3_packets"]


def test_service_level_is_the_priority(card):
    a = card.a
    before = counters(a)
    run_pair(card.b, a, ["ibv_rc_pingpong", "-n", "5", "-l", "4"])
    got = moved(before, counters(a), "tx")
    assert got["prio4_packets"] and "prio0_packets" not in got


def test_trace_words(card):
    """DSCP, ECN, TTL, and the connection manager's messages by their names."""
    a, b = card.a, card.b
    sh(a, f"echo 106 > {TC}; echo 7 > /sys/class/infiniband/uroce0/ttl/1/ttl")
    p = watching(b, "trace", "--netdev", "eth0")
    s = b.start("rping", "-s", "-C", "2", "-a", b.addr4)
    wait_for("rping", lambda: "LISTEN" in uroce(b, "res", "cm_id"))
    a.run("rping", "-c", "-C", "2", "-a", b.addr4)
    assert s.wait() == 0, s.report()
    for name in "ConnectRequest", "ConnectReply", "ReadyToUse", "DisconnectRequest", \
            "DisconnectReply":
        wait_for(name, lambda: f" {name}" in p.text())
    assert re.search(rf"{a.addr4} > {b.addr4} sport \d+ dscp 26 ect0 ttl 7 RC SEND", p.text())
    assert re.search(rf"{b.addr4} > {a.addr4} sport \d+ dscp 0 ect0 ttl 64 RC ", p.text())
    sh(a, f"echo tclass=-1 > {TC}; echo 0 > /sys/class/infiniband/uroce0/ttl/1/ttl")
    p.kill()

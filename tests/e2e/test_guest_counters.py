# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is counted in programs that have their engine themselves is in the device's
counters, and stays there; the states of their queue pairs are seen."""
import ipaddress
import json
import os
import re
import struct

import pytest

import hosts
from hosts import wait_for
from packets import ACK, SEND_ONLY, packets as datagrams
from pairs import run_pair, start_pair
from test_guest_engine import granting, packets, pair  # pylint: disable=unused-import
from test_v1 import Capture

SYSFS = "/sys/class/infiniband/uroce0/ports/1/"


@pytest.fixture(autouse=True)
def process(monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "process")


def stat(host, *what):
    return json.loads(host.run(host.lab.bin("uroce"), "stat", *what, "--json"))


def counters(host):
    return stat(host)[0]["counters"]


def queue_pairs(host):
    return json.loads(host.run(host.lab.bin("uroce"), "res", "qp", "--json"))


def file_of(host, name):
    return int(host.run(host.lab.bin("uroce"), "run", "--", "cat", SYSFS + name))


def test_all_readers(pair):
    """uroce, the files of /sys, and rdma(8) have the packets of programs, also when
    these have ended; and uroced itself none of them."""
    before, own = counters(pair.a), packets(pair.a)
    sent = file_of(pair.a, "hw_counters/sent_pkts")
    words = file_of(pair.a, "counters/port_xmit_data")
    run_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-c", "-n", "500", "-s", "3000"])
    after = counters(pair.a)
    more = {c: after[c] - before[c] for c in after}
    assert packets(pair.a) == own
    # Each message is three packets, and one that acknowledges it at least now and then.
    assert more["sent_pkts"] >= 1500 and more["rcvd_pkts"] >= 1500
    assert more["rdma_sends"] == 500
    assert file_of(pair.a, "hw_counters/sent_pkts") - sent == more["sent_pkts"]
    assert file_of(pair.a, "counters/port_xmit_data") - words >= 500 * 3000 // 4
    out = pair.a.run(pair.a.lab.bin("uroce"), "run", "--", "rdma", "-j", "statistic",
                     "show", "link", "uroce0/1")
    assert json.loads(out)[0]["sent_pkts"] == after["sent_pkts"]


@pytest.fixture
def traffic(pair):
    """Endless, between two programs, with the pid of the one on host a."""
    s, c = start_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-n", "100000000"])
    wait_for("packets", lambda: any(q["counters"]["sent_pkts"] > 1000
                                    for q in queue_pairs(pair.a)))
    yield [q for q in queue_pairs(pair.a)][0]["pid"], (s, c)
    for p in s, c:
        p.kill()


def test_queue_pair(pair, traffic):
    """A queue pair's counters, and its state."""
    qp = queue_pairs(pair.a)[0]
    assert qp["engine"] == "program" and qp["state"] == "RTS"
    assert qp["counters"]["rcvd_bytes"] > 4096


# A queue pair that is connected with itself, and a request with a key that is not.
MISTAKEN = """
import signal, sys
sys.path.insert(0, sys.argv[1])
from engine_peer import Peer
from pyverbs.wr import SGE, SendWR

peer = Peer("rc", int(sys.argv[2]))
peer.connect(sys.argv[3], peer.qp.qp_num)
sge = SGE(peer.mr.buf, 64, peer.mr.lkey ^ 0x7f00)
peer.qp.post_send(SendWR(wr_id=1, opcode=peer.e.IBV_WR_SEND, sg=[sge], num_sge=1))
while not peer.cq.poll(1)[0]:
    pass
print("failed", flush=True)
signal.pause()
"""


def test_failed(pair):
    """The state that an error has made, which nobody asked for."""
    gid = ipaddress.ip_address(f"::ffff:{pair.a.addr4}").exploded
    p = pair.a.start("/usr/bin/python3", "-c", MISTAKEN, os.path.dirname(__file__),
                     pair.a.gid(pair.a.addr4), gid)
    try:
        wait_for("the failure", lambda: "failed" in p.text() or not p.running())
        assert p.running(), p.report()
        assert queue_pairs(pair.a)[0]["state"] == "ERR"
    finally:
        p.kill()


def test_killed(pair, traffic):
    """SIGKILL loses nothing that was counted."""
    pid, _ = traffic
    shown = queue_pairs(pair.a)[0]["counters"]["sent_pkts"]
    before = counters(pair.a)
    os.kill(pid, 9)
    wait_for("its end", lambda: not queue_pairs(pair.a))
    after = counters(pair.a)
    assert all(after[c] >= before[c] for c in before)
    assert after["sent_pkts"] >= before["sent_pkts"] >= shown


def pages_of(pid):
    maps = open(f"/proc/{pid}/maps").read()
    return [(int(a, 16), int(b, 16)) for a, b in re.findall(
        r"^(\w+)-(\w+) rw-s .*memfd:uroce-counters", maps, re.M)]


@pytest.mark.parametrize("value", [0, (1 << 64) - 1, 1 << 63, 1 << 59])
def test_hostile(pair, traffic, value):
    """A program that writes what it likes there lies about itself alone: no counter falls, the
    device's own are what they were, all who ask get an answer."""
    pid, _ = traffic
    before, own = counters(pair.a), packets(pair.a)
    (start, end), = pages_of(pid)
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as mem:
        mem.seek(start)
        mem.write(struct.pack("=Q", value) * ((end - start) // 8))
    after = counters(pair.a)
    assert all(after[c] >= before[c] for c in before)
    assert packets(pair.a) == own
    for q in queue_pairs(pair.a):
        assert q["state"] in ("RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR")
    assert pair.a.device.running()


def classes(pair, *cmd):
    with Capture(pair.b) as cap:
        run_pair(pair.b, pair.a, [*(cmd or ("ibv_rc_pingpong", "-n", "3"))])
    return {p.tos for p in datagrams(cap.frames) if str(p.src) == pair.a.addr4}


def test_settings(pair):
    """What the administrator sets is what a program's engine does: ECT by default, and
    not where he says so."""
    def ecn(value):
        pair.a.run(pair.a.lab.bin("uroce"), "link", "set", "uroce0", "ecn", value)
    assert classes(pair) == {2}
    ecn("0")
    assert classes(pair) == {0}
    ecn("1")
    assert classes(pair) == {2}


@pytest.mark.parametrize("place", ["process", "device"])
def test_mtu(build, monkeypatch, place):
    """A datagram that the MTU, as it is now, has no room for does not leave."""
    monkeypatch.setenv("UROCE_ENGINE", place)
    lab = hosts.Lab(build, 9000)
    try:
        lab.serve()
        start_pair(lab.b, lab.a, ["ib_send_bw", "-c", "UD", "-s", "2000", "-D", "60", "-F"],
                   flag="-x")
        wait_for("datagrams", lambda: counters(lab.a)["sent_pkts"] > 1000)
        lab.a.ip("link", "set", "eth0", "mtu", "1500")
        wait_for("the last that leaves", lambda: not rises(lab.a, "sent_pkts"))
    finally:
        lab.close()


def rises(host, name):
    """While 1,000 datagrams more are refused."""
    before = counters(host)
    wait_for("the program to go on", lambda: counters(host)["send_err"] >
             before["send_err"] + 1000)
    return counters(host)[name] > before[name]


def test_answer_goes_with_its_message(pair):
    """The kernel carries a message, and behind it the acknowledgement of the one that it
    answers, as one datagram of two segments."""
    with Capture(pair.b) as cap:
        run_pair(pair.b, pair.a, ["ib_send_lat", "-s", "64", "-n", "300", "-F"], flag="-x")
    message, answer = 12 + 64 + 4, 12 + 4
    assert any(p.opcode == SEND_ONLY and len(p.raw) == message + answer and p.raw[message] == ACK
               for p in datagrams(cap.frames))


def test_answer_goes_first_elsewhere(build):
    """Over a netdev that may lead out of this host they are two packets, the acknowledgement
    first: a program that sleeps, and whose send queue has room for one message, posts the
    next one when it has been answered."""
    with granting(build, "br0") as lab:
        with Capture(lab.b) as cap:
            run_pair(lab.b, lab.a, ["ib_send_lat", "-s", "64", "-n", "300", "-F"], flag="-x")
        server = ipaddress.ip_address(lab.b.addr4)
    sent = [p for p in datagrams(cap.frames) if p.src == server and p.opcode in (ACK, SEND_ONLY)]
    news = [n for n, p in enumerate(sent) if p.opcode == SEND_ONLY and
            all(p.psn != old.psn for old in sent[max(0, n - 4):n] if old.opcode == SEND_ONLY)]
    assert len(news) >= 300
    assert all(any(p.opcode == ACK for p in sent[last:n]) for last, n in zip([0, *news], news))

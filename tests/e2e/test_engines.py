# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs of one device whose contexts have engines in an engine process reach each other, and other
hosts, as those with engines in programs do."""
import json
import signal

import pytest

import hosts
from cm import run_cm_pair
from hosts import wait_for
from pairs import run_pair, start_pair
from parts import raw_ethernet
from test_fault_rules import shown, uroce
from test_pingpong import PROGRAMS

@pytest.fixture(autouse=True)
def place(monkeypatch):
    """Each context has an engine of its own, in an engine process."""
    monkeypatch.setenv("UROCE_ENGINE", "device")


@pytest.fixture(scope="module")
def spread(build):
    """Each context has an engine of its own."""
    lab = hosts.Lab(build, 1500)
    try:
        for host in lab.a, lab.b:
            host.serve("--netdev", "eth0", *raw_ethernet(build))
        yield lab
    finally:
        lab.close()


def counters(host):
    out = host.run(host.lab.bin("uroce"), "stat", "--json")
    return json.loads(out)[0]["counters"]


def grew(host, before, name):
    return counters(host)[name] - before[name]


@pytest.mark.parametrize("program", PROGRAMS)
def test_between_engines(spread, program):
    before = counters(spread.a)
    run_pair(spread.a, spread.a, [*PROGRAMS[program], "-c"])
    assert grew(spread.a, before, "rcvd_pkts") > 100
    assert grew(spread.a, before, "loop_msgs") == 0


@pytest.mark.parametrize("program", PROGRAMS)
def test_two_hosts(spread, program):
    # Twice, so that each engine has its turn.
    for _ in range(2):
        run_pair(spread.a, spread.b, [*PROGRAMS[program], "-c"])


@pytest.mark.parametrize("tool", ["ib_write_bw", "ib_read_bw", "ib_send_bw",
                                  "ib_atomic_bw"])
@pytest.mark.parametrize("peer", "ab")
def test_perftest(spread, tool, peer):
    size = [] if "atomic" in tool else ["-s", "65536"]
    run_pair(spread.a, getattr(spread, peer),
             [tool, *size, "-n", "1000", "-q", "4"], flag="-x")


def test_rdma_cm(spread):
    """READ and WRITE between contexts of two engines, the data looked at."""
    a = spread.a
    for peer in a, spread.b:
        port = a.lab.next_port()
        cmd = ["rping", "-a", a.addr4, "-p", port, "-C", "200", "-S", "60000",
               "-V"]
        run_cm_pair(a, peer, [*cmd, "-s"], [*cmd, "-c"], port)


def test_multicast(spread):
    """A sender reaches the member of the other engine, and of the other host."""
    a, group = spread.a, "239.7.7.8"
    for host in a, spread.b:
        member = a.start("stdbuf", "-oL", "mckey", "-m", group, "-b", a.addr4)
        wait_for("the member", lambda: not member.running() or
                 "receiving data" in member.text())
        s = host.start("mckey", "-m", group, "-b", host.addr4, "-s")
        assert s.wait() == 0, s.report()
        assert member.wait(20) == 0, member.report()


BESIDE = """
import sys, tempfile
import pyverbs.enums as e
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CompChannel, CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR
from pyverbs.xrcd import XRCD, XRCDInitAttr

CAP = QPCap(8, 8, 1, 1)
file = tempfile.TemporaryFile()

class Side:
    def __init__(self):
        self.ctx = Context(name="uroce0")
        self.pd = PD(self.ctx)
        self.mr = MR(self.pd, 4096, e.IBV_ACCESS_LOCAL_WRITE)
        self.chan = CompChannel(self.ctx)
        self.cq = CQ(self.ctx, 8, None, self.chan)
        self.cq.req_notify()
    def xrc(self):
        return XRCD(self.ctx, XRCDInitAttr(
            e.IBV_XRCD_INIT_ATTR_FD | e.IBV_XRCD_INIT_ATTR_OFLAGS, 0o100, file.fileno()))
    def raw(self):
        return self.qp(e.IBV_QPT_RAW_PACKET)
    def qp(self, kind=e.IBV_QPT_RC):
        return QP(self.pd, QPInitAttr(qp_type=kind, scq=self.cq, rcq=self.cq, cap=CAP))
    def connect(self, qp, number):
        gr = GlobalRoute(dgid=self.ctx.query_gid(1, 0), sgid_index=0)
        ah = AHAttr(gr=gr, is_global=1, port_num=1)
        attr = QPAttr(port_num=1)
        attr.dest_qp_num, attr.path_mtu = number, e.IBV_MTU_1024
        attr.timeout = attr.retry_cnt = attr.rnr_retry = 7
        attr.max_rd_atomic = attr.max_dest_rd_atomic = attr.min_rnr_timer = 1
        attr.ah_attr = ah
        qp.to_rts(attr)
    def send_to_itself(self):
        self.qps = a, b = self.qp(), self.qp()
        self.connect(a, b.qp_num)
        self.connect(b, a.qp_num)
        self.mr.write("x" * 64, 64)
        b.post_recv(RecvWR(sg=[SGE(self.mr.buf + 64, 64, self.mr.lkey)], num_sge=1))
        a.post_send(SendWR(opcode=e.IBV_WR_SEND, num_sge=1,
                           sg=[SGE(self.mr.buf, 64, self.mr.lkey)]))
        self.chan.get_cq_event(self.cq)
        self.cq.ack_events(1)
        n = 0
        while n < 2:
            got, wcs = self.cq.poll(2)
            assert all(wc.status == e.IBV_WC_SUCCESS for wc in wcs), wcs
            n += got
        assert self.mr.read(64, 64) == b"x" * 64
        return a.qp_num >> 19  # its engine's place

first, second = Side(), Side()
kept = [getattr(side, sys.argv[1])() for side in (first, second)]
print(first.send_to_itself(), second.send_to_itself())
"""


@pytest.mark.parametrize("what", [
    "xrc", pytest.param("raw", marks=pytest.mark.part("RAW_PACKET"))])
def test_beside(spread, what):
    """A context that shares an XRC domain, or makes a raw packet queue pair, keeps an engine of its own, with its
    regions, keys, completion queues and channels."""
    first, second = spread.a.run("/usr/bin/python3", "-c", BESIDE, what).split()
    assert first != second and "0" not in (first, second), (first, second)


def test_killed(spread):
    """A program that ends in the midst of it takes nothing along."""
    a = spread.a
    before = counters(a)
    s, c = start_pair(a, a, ["ib_write_bw", "-s", "65536", "-D", "60"],
                      flag="-x")
    wait_for("traffic", lambda: grew(a, before, "rcvd_pkts") > 10000)
    c.kill(signal.SIGKILL)
    s.kill(signal.SIGKILL)
    s.wait(20)
    c.wait(20)
    assert a.device.running(), a.device.report()
    run_pair(a, a, [*PROGRAMS["rc"], "-c"])
    run_pair(a, spread.b, [*PROGRAMS["uc"], "-c"])


def test_lost(spread):
    """A rule holds in every engine, and what is lost between two is sent again."""
    a = spread.a
    uroce(a, "add", "drop", "prob=0.02", "seed=1", "count=10")
    run_pair(a, a, [*PROGRAMS["rc"], "-c"])
    rule, = shown(a).values()
    uroce(a, "del", "all")
    assert rule["matched"] > 1000 and rule["done"] >= 10, rule


def test_flood(spread):
    """Datagrams as fast as they go fill their half of the way between two engines;
    others' connections there go on, and those elsewhere are not held up."""
    a = spread.a
    before = counters(a)
    flood = start_pair(a, a, ["ib_send_bw", "-c", "UD", "-s", "1024", "-D", "600"],
                       flag="-x")
    wait_for("the flood", lambda: grew(a, before, "rcvd_pkts") > 10000)
    for peer in a, spread.b:
        run_pair(a, peer, [*PROGRAMS["rc"], "-c", "-n", "200"])
    assert flood[1].running(), flood[1].report()
    for p in flood:
        p.kill(signal.SIGKILL)
        p.wait(20)

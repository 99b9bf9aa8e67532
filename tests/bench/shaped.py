# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A link slower than its ends, with a queue that ends: what arrives beside
what TCP gets through it, and how much the queue dropped."""
import contextlib
import json
import math
import statistics
import subprocess
import time

from lab import Lab, sh, single_packets, wait_for
from meters import MIB, latency_us, perftest, tcp, tcp_client, tcp_server

RATES = {"100 Mbit/s": 100e6, "1 Gbit/s": 1e9}
QUEUES_KIB = (32, 64, 256)
CONNECTIONS = (1, 8, 32, 256)
BURST = 16384  # bytes that the shaper lets go at once
POSTED_PART = 1 / 30  # of what the line carries in a run
SIZE_MIN = 4096  # bytes of a message
SETTLED = 20000  # packets: who begins has found out what there is
SHARED_SECONDS = 3  # at least: who comes later begins small


def shape(lab, rate, queue_kib):
    ns, dev = lab.to_a()
    sh("tc", "-n", ns, "qdisc", "replace", "dev", dev, "root", "tbf",
       "rate", str(int(rate)), "burst", str(BURST), "limit",
       str(queue_kib * 1024))


def shaper(lab):
    ns, dev = lab.to_a()
    return json.loads(sh("tc", "-n", ns, "-s", "-j", "qdisc", "show", "dev", dev))[0]


def counts(lab):
    """Packets sent and dropped by the shaper."""
    q = shaper(lab)
    return q["packets"], q["drops"]


def settle(lab):
    """Until nothing leaves any more: TCP sends on what a run that has ended left."""
    def idle():
        before = counts(lab)
        time.sleep(0.3)
        return counts(lab) == before
    wait_for("the end of what was sent", idle)


class Loss:
    """Of the last run, in percent."""

    def __init__(self, lab):
        self.lab, self.percent = lab, []

    def around(self, measure):
        settle(self.lab)
        sent, dropped = counts(self.lab)
        value = measure()
        now_sent, now_dropped = counts(self.lab)
        sent, dropped = now_sent - sent, now_dropped - dropped
        self.percent.append(100 * dropped / max(1, sent + dropped))
        return value

    def median(self):
        return sorted(self.percent)[len(self.percent) // 2]


def depth_of(connections):
    return 8 if connections <= 8 else 2


def long_enough(connections, seconds, rate):
    """perftest counts whole messages, and equal turns end those of all connections
    together: what it has posted must be little beside what the line carries."""
    posted = SIZE_MIN * connections * depth_of(connections)
    return max(seconds, math.ceil(posted * 8 / POSTED_PART / rate))


def write(lab, connections, seconds, rate):
    depth = depth_of(connections)
    size = rate * seconds / 8 * POSTED_PART / connections / depth
    size = min(MIB, max(SIZE_MIN, 2 ** int(math.log2(size))))
    return perftest(lab, "ib_write_bw", "-s", size, "-D", seconds, "-q",
                    connections, "-t", depth, limit=60 + seconds)[3] * MIB


@contextlib.contextmanager
def bulk_write(lab, connections):
    """ib_write_bw while the body runs, however long."""
    base = ["ib_write_bw", "-d", "uroce0", "-x", "0", "-F", "-s", "65536", "-D", "600",
            "-q", str(connections), "-t", "8", "-p", "18600"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    procs = [lab.a.popen(lab.a.uroce(base), **quiet)]
    wait_for("ib_write_bw", lambda: lab.a.listens(18600))
    sent = counts(lab)[0]
    procs.append(lab.b.popen(lab.b.uroce([*base, lab.a.addr]), **quiet))
    try:
        wait_for("its packets", lambda: counts(lab)[0] > sent + SETTLED)
        yield
    finally:
        for p in reversed(procs):
            p.kill()
            p.wait()


@contextlib.contextmanager
def bulk_tcp(lab, connections):
    """iperf3 while the body runs, however long."""
    server = tcp_server(lab)
    sent = counts(lab)[0]
    client = tcp_client(lab, 600, connections)
    try:
        wait_for("its packets", lambda: counts(lab)[0] > sent + SETTLED)
        yield
    finally:
        for p in client, server:
            p.kill()
            p.wait()


def beside(t, o, lab, path, rate):
    """Who has how much of the line, and how long a short message takes, when bulk is
    sent over it. veth hands a train of 64 KiB to the switch at once, which fills its
    queue and drops what the other sends, whatever the windows; a NIC sends single
    packets."""
    seconds = max(o.seconds, SHARED_SECONDS)

    def part(bulk, measure):
        def of_line():
            with bulk(lab, 1):
                return measure() * 8 / rate
        return of_line
    for who, measure in {
            "ib_write_bw beside a TCP stream":
                part(bulk_tcp, lambda: write(lab, 1, seconds, rate)),
            "a TCP stream beside ib_write_bw":
                part(bulk_write, lambda: tcp(lab, seconds))}.items():
        t.value(path, f"{who}, part of the line", 0.25, measure, True, "")

    used = {bulk_write: [], bulk_tcp: []}  # of the line meanwhile

    def lat(bulk):
        def measure():
            with bulk(lab, 8):
                sent, began = shaper(lab)["bytes"], time.monotonic()
                us = latency_us(lab, "ib_send_lat", min(o.count, 500))
                took = time.monotonic() - began
                used[bulk].append((shaper(lab)["bytes"] - sent) * 8 / rate / took)
            return us
        return measure
    name = "ib_send_lat 64 B beside ib_write_bw / beside TCP, 8 connections"
    t.ratio(path, name, 2, lat(bulk_write), lat(bulk_tcp), higher=False, unit="us")
    if t.wanted(f"{path} {name}"):
        # Who leaves the line idle has no queue to wait in.
        t.add(path, "of the line is used beside that", *(
            f"{statistics.median(v):.2f} [{min(v):.2f}..{max(v):.2f}]"
            for v in used.values()), "", None)


def rows(t, o):
    """The rows of the table t: each a ratio to TCP with the same number of
    connections, in turn, and the packets lost of both."""
    for rate_name, rate in RATES.items():
        with Lab(o.build, 1500) as lab:
            for kib in QUEUES_KIB:
                shape(lab, rate, kib)
                for n in CONNECTIONS:
                    path = f"two hosts, {rate_name}, {kib} KiB"
                    name = f"ib_write_bw, {n} connections / TCP"
                    ours, theirs = Loss(lab), Loss(lab)
                    seconds = long_enough(n, o.seconds, rate)
                    t.ratio(path, name, 0.97,
                            lambda: ours.around(
                                lambda: write(lab, n, seconds, rate)),
                            lambda: theirs.around(
                                lambda: tcp(lab, seconds, n)),
                            unit="Gbit/s", scale=8e-9)
                    if t.wanted(f"{path} {name}"):
                        t.add(path, f"packets lost, {n} connections",
                              f"{ours.median():.2f}",
                              f"%; TCP {theirs.median():.2f} %", "<= 1",
                              ours.median() <= 1)
        # A shaper on the sender itself would hold TCP back without a loss.
        for how in "", ", single packets":
            with Lab(o.build, 1500, switch=True) as lab:
                if how:
                    single_packets(lab, "tx-udp-segmentation", "tso", "gso")
                for kib in QUEUES_KIB:
                    shape(lab, rate, kib)
                    beside(t, o, lab, f"two hosts, {rate_name}, {kib} KiB{how}", rate)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A link slower than its ends, with a queue that ends: what arrives beside
what TCP gets through it, and how much the queue dropped."""
import json

from lab import Lab, sh
from meters import MIB, perftest, tcp

RATES = {"100 Mbit/s": 100e6, "1 Gbit/s": 1e9}
QUEUES_KIB = (32, 64, 256)
CONNECTIONS = (1, 8, 32, 256)
BURST = 16384  # bytes that the shaper lets go at once


def shape(host, rate, queue_kib):
    sh("tc", "-n", host.ns, "qdisc", "replace", "dev", host.netdev, "root",
       "tbf", "rate", str(int(rate)), "burst", str(BURST), "limit",
       str(queue_kib * 1024))


def counts(host):
    """Packets sent and dropped by the shaper."""
    q = json.loads(sh("tc", "-n", host.ns, "-s", "-j", "qdisc", "show", "dev",
                      host.netdev))[0]
    return q["packets"], q["drops"]


class Loss:
    """Of the last run, in percent."""

    def __init__(self, lab):
        self.lab, self.percent = lab, []

    def around(self, measure):
        sent, dropped = counts(self.lab.b)
        value = measure()
        now_sent, now_dropped = counts(self.lab.b)
        sent, dropped = now_sent - sent, now_dropped - dropped
        self.percent.append(100 * dropped / max(1, sent + dropped))
        return value

    def median(self):
        return sorted(self.percent)[len(self.percent) // 2]


def write(lab, connections, seconds):
    # A connection needs its buffer; together they must not be of gigabytes.
    size = 65536 if connections > 8 else MIB
    return perftest(lab, "ib_write_bw", "-s", size, "-D", seconds, "-q",
                    connections, "-t", 8, limit=60 + seconds)[3] * MIB


def rows(t, o):
    """The rows of the table t: each a ratio to TCP with the same number of
    connections, in turn, and the packets lost of both."""
    for rate_name, rate in RATES.items():
        with Lab(o.build, 1500) as lab:
            for kib in QUEUES_KIB:
                shape(lab.b, rate, kib)
                for n in CONNECTIONS:
                    path = f"two hosts, {rate_name}, {kib} KiB"
                    name = f"ib_write_bw, {n} connections / TCP"
                    ours, theirs = Loss(lab), Loss(lab)
                    t.ratio(path, name, 0.97,
                            lambda: ours.around(
                                lambda: write(lab, n, o.seconds)),
                            lambda: theirs.around(
                                lambda: tcp(lab, o.seconds, n)),
                            unit="Gbit/s", scale=8e-9)
                    if t.wanted(f"{path} {name}"):
                        t.add(path, f"packets lost, {n} connections",
                              f"{ours.median():.2f}",
                              f"%; TCP {theirs.median():.2f} %", "<= 1",
                              ours.median() <= 1)

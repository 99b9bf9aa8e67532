#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Queues that mark, as Linux has them: two hosts here, a device each, and between
them a kernel that routes. ib_write_bw through each, and a short SEND beside it, both
beside TCP with ECN (CUBIC).

    queues.py [-r MBIT] [-t SECONDS] [-n ROUNDS] [KIND...]

prints the table of doc/measurements/congestion.md."""
import argparse
import contextlib
import re
import statistics
import subprocess
import sys
import time

import guest as g
from router import AROUND, KINDS, Router, missing

RATE = 100  # Mbit/s
CONNECTIONS = (1, 8, 32)
MANY = 8  # connections beside a short message
# Each of them says that a packet was lost, or was thought to be.
LOST = ("packet_seq_err", "local_ack_timeout_err", "roce_adp_retrans", "implied_nak_seq_err")


class Road(Router):
    """The router, and a device at either end."""

    def __init__(self):
        super().__init__()
        self.hosts = []

    def start(self):
        super().start()
        for ns, dev, addr in zip(self.spaces, self.netdev, self.addr):
            self.hosts.append(g.Uroce(ns, dev, addr=addr))

    def __exit__(self, *_):
        for x in self.hosts:
            x.stop()
        super().__exit__()

    # ---- what goes over it ----

    def on(self, host, cmd):
        return subprocess.Popen(["ip", "netns", "exec", self.spaces[host], *cmd],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @contextlib.contextmanager
    def tcp(self, streams, seconds):
        """iperf3 while the body runs; yields the client."""
        server = self.on(1, ["iperf3", "-s", "-1"])
        self.hosts[1].wait_listen(5201, server)
        client = self.on(0, ["iperf3", "-c", self.addr[1], "-t", str(seconds), "-f", "k",
                             "-C", "cubic", "-P", str(streams)])
        try:
            yield client
        finally:
            for p in client, server:
                p.kill()
                p.communicate()

    def write_args(self, connections, seconds, port):
        # perftest counts whole messages: what is posted is to be little.
        size = {1: 65536, 8: 16384}.get(connections, 4096)
        return (f"ib_write_bw -d uroce0 -x 0 -F -q {connections} -t 8 -p {port} -D {seconds} "
                f"-s {size}")

    @contextlib.contextmanager
    def write(self, connections, seconds, port=AROUND):
        """ib_write_bw while the body runs; yields the client."""
        cmd = self.write_args(connections, seconds, port)
        server = self.hosts[1].start(cmd, seconds + 60)
        self.hosts[1].wait_listen(port, server)
        client = self.hosts[0].start(f"{cmd} {self.addr[1]}", seconds + 60)
        try:
            yield client
        finally:
            for p in client, server:
                if p.poll() is None:
                    p.terminate()
                p.communicate()

    def tcp_mbit(self, streams, seconds):
        with self.tcp(streams, seconds) as client:
            out, _ = client.communicate(timeout=seconds + 60)
        return float(re.findall(r"([\d.]+) Kbits/sec\s+receiver", out)[-1]) / 1e3

    def write_mbit(self, connections, seconds):
        with self.write(connections, seconds) as client:
            out, _ = client.communicate(timeout=seconds + 60)
        return 8 * 1.048576 * numbers(out)[3]

    def short_us(self, bulk, count=300):
        """The typical half round trip of a SEND of 64 B beside that."""
        cmd = f"ib_send_lat -d uroce0 -x 0 -F -e -s 64 -n {count} -p {AROUND}"
        with bulk(MANY, 600):
            time.sleep(2)  # both have found out what there is
            server = self.hosts[1].start(cmd)
            self.hosts[1].wait_listen(AROUND, server)
            _, out = self.hosts[0].run(f"{cmd} {self.addr[1]}")
            server.communicate(timeout=30)
        return numbers(out)[4]

    def counted(self):
        """Packets dropped and marked by the queue, and what our sender missed."""
        dropped, marked = self.queued()
        count = self.hosts[0].counters()
        return dropped, marked, sum(count[n] for n in LOST)

    def settle(self):
        """Until nothing is on its way."""
        last = None
        while (now := self.passed()) != last:
            last = now
            time.sleep(0.3)

    def around(self, measure, *args):
        self.settle()
        before = self.counted()
        value = measure(*args)
        return value, [b - a for a, b in zip(before, self.counted())]


def numbers(out):
    rows = [line.split() for line in out.splitlines() if re.match(r"\s*\d+\s+\d+\s+[\d.]", line)]
    assert rows, out
    return [float(x) for x in rows[-1]]


def cell(values, unit):
    return f"{statistics.median(values):.4g} [{min(values):.4g}..{max(values):.4g}] {unit}"


def row(road, kind, what, seconds, rounds):
    """what: so many connections, or "short"."""
    got, count = {"ours": [], "TCP": []}, {"ours": [], "TCP": []}
    for _ in range(rounds):
        for who in got:
            ours = who == "ours"
            if what == "short":
                measure = road.short_us, road.write if ours else road.tcp
            else:
                measure = road.write_mbit if ours else road.tcp_mbit, what, seconds
            value, counted = road.around(*measure)
            got[who].append(value)
            count[who].append(counted)
            print(kind, what, who, value, counted, file=sys.stderr, flush=True)
    name = f"64 B SEND beside {MANY}" if what == "short" else f"{what} connections"
    unit = "us" if what == "short" else "Mbit/s"
    ratio = statistics.median(got["ours"]) / statistics.median(got["TCP"])
    ours, tcp = ([sum(c) for c in zip(*count[who])] for who in got)
    return (f"| {kind} | {name} | {cell(got['ours'], unit)} | {cell(got['TCP'], unit)} | "
            f"{ratio:.2f} | {ours[0]}; {ours[1]} | {tcp[0]}; {tcp[1]} | {ours[2]} |")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-r", "--rate", type=int, default=RATE)
    p.add_argument("-t", "--seconds", type=int, default=5)
    p.add_argument("-n", "--rounds", type=int, default=1)
    p.add_argument("kinds", nargs="*", default=list(KINDS))
    o = p.parse_args()
    if why := missing():
        p.exit(77, f"queues.py: {why}\n")
    with Road() as road:
        print("| queue | measure | ours | TCP | ours / TCP | ours dropped; marked | TCP dropped; "
              "marked | sent again |\n|---|---|---|---|---|---|---|---|")
        for kind in o.kinds:
            road.queue(kind, o.rate)
            for what in (*CONNECTIONS, "short"):
                print(row(road, kind, what, o.seconds, o.rounds), flush=True)


if __name__ == "__main__":
    main()

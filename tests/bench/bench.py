#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce beside TCP, UDP and memcpy, on the same paths in the same run.

    bench.py [--build DIR] [--rounds N] [--seconds S] [--tiny] [--only TEXT]
             [--engine-opt NAME=VALUE]... [--engine PLACE] [--nice N]
             [--tcp CONTROL]

Needs root (network namespaces), perftest and iperf3. Every row of the table is
a ratio or a time with a goal; measurement and yardstick alternate, the row is
the median of the rounds with the lowest and highest in brackets.
"""
import argparse
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

import apps
import connects
import events
import neighbours
import programs
import registrations
import shaped
import threads
from lab import Lab, set_loss
from meters import (bandwidth, bare_datagrams, connections_per_second, latency_us, many_qps,
                    memcpy, rate, shared_bandwidth, shared_memory_us, tcp, udp_latency_us,
                    udp_rate)

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIP = 77
IN_PROGRAM = ", engine in the program"


class Table:
    def __init__(self, opts):
        self.opts, self.rows, self.seen = opts, [], set()

    def wanted(self, name):
        """What is measured in one place runs in the other: --tiny has it once."""
        place = name.replace(IN_PROGRAM, "")
        again = self.opts.tiny and not os.environ.get("UROCE_FULL") and place in self.seen
        self.seen.add(place)
        return not again and (not self.opts.only or self.opts.only in name)

    def ratio(self, path, name, goal, measure, yardstick, higher=True,
              unit="", scale=1.0, rounds=None):
        """measure() / yardstick(), the two in turn."""
        if not self.wanted(path + " " + name):
            return
        got = [(measure(), yardstick())
               for _ in range(rounds or self.opts.rounds)]
        ratios = sorted(m / y for m, y in got)
        mid = statistics.median(ratios)
        m = statistics.median(x for x, _ in got) * scale
        y = statistics.median(x for _, x in got) * scale
        result = f"{mid:.2f} [{ratios[0]:.2f}..{ratios[-1]:.2f}]"
        values = f"{m:.3g} : {y:.3g} {unit}"
        if goal is None:
            self.add(path, name, result, values, "", None)
        else:
            self.add(path, name, result, values, f"{'>=' if higher else '<='} {goal}",
                     mid >= goal if higher else mid <= goal)

    def value(self, path, name, goal, measure, higher, unit):
        if not self.wanted(path + " " + name):
            return
        got = sorted(measure() for _ in range(self.opts.rounds))
        mid = statistics.median(got)
        result = f"{mid:.3g} [{got[0]:.3g}..{got[-1]:.3g}]"
        if goal is None:
            self.add(path, name, result, unit, "", None)
        else:
            self.add(path, name, result, unit, f"{'>=' if higher else '<='} "
                     f"{goal}", mid >= goal if higher else mid <= goal)

    def add(self, *row):
        self.rows.append(row)
        print("| " + " | ".join(map(str, row[:5])) +
              {True: " | met |", False: " | **missed** |",
               None: " | |"}[row[5]], flush=True)


def of_device(build, mtu=None):
    """Programs have engines in engine processes."""
    lab = Lab(build, mtu)
    lab.engine = "device"
    return lab


def of_programs(build, mtu=None):
    """They have their own; a device beside them costs nothing."""
    lab = Lab(build, mtu)
    lab.engine = "process"
    return lab


# How rows are called, what makes the lab, and the goal of SEND 64 B between two hosts.
PLACES = ((IN_PROGRAM, of_programs, 2.2), ("", of_device, 1.25))


def one_host(t, o):
    s, n = o.seconds, o.count
    with of_device(o.build) as lab:
        for prog in "ib_write_bw", "ib_read_bw":
            t.ratio("one host", f"{prog} 1 MiB / memcpy", 0.25,
                    lambda: bandwidth(lab, prog, s), lambda: memcpy(lab, s),
                    unit="GB/s", scale=1e-9)
        for prog in "ib_send_lat", "ib_write_lat":
            t.value("one host", f"{prog} 64 B, typical half RTT",
                    2.5, lambda: latency_us(lab, prog, n), False, "us")
            t.ratio("one host", f"{prog} 64 B / UDP ping-pong", 0.25,
                    lambda: latency_us(lab, prog, n),
                    lambda: udp_latency_us(lab, n), higher=False, unit="us")
        t.ratio("one host", "ib_send_lat 64 B / two threads and memory", 4,
                lambda: latency_us(lab, "ib_send_lat", n),
                lambda: shared_memory_us(lab, n), higher=False, unit="us")
        t.value("one host", "connections by rdma_cm (cmtime)", 20,
                lambda: connections_per_second(lab, min(o.count, 1000)) / 1e3,
                True, "thousand/s")
        for prog in "ib_write_bw", "ib_send_bw":
            t.value("one host", f"{prog} 64 B rate, posts of 32",
                    4, lambda: rate(lab, prog, 20 * n) / 1e6, True, "M/s")
        scale(t, o, lab)
        registrations.rows(t, o, lab, "one host")
        neighbours.rows(t, o, lab)
        events.rows(t, o, lab, "one host")


def scale(t, o, lab):
    def completion(pairs):
        return lambda: many_qps(lab, pairs, o.count)[0]
    if not t.wanted("one device"):
        return
    most = 10 if o.tiny else 5000
    if not o.tiny:  # first: a heap that has grown once does not grow again
        memory = many_qps(lab, most, o.count)[2]
        t.add("one device", "memory of an idle RC QP, its rings included",
              f"{memory / 1024:.1f}", "KiB", "<= 8 + rings",
              memory <= 8192 + 4096)
    for pairs in (most,) if o.tiny else (50, most):
        t.ratio("one device", f"WRITE 64 B, 1 pair of {2 * pairs} QPs active / "
                "2 QPs", 1.1, completion(pairs), completion(1), False,
                "ns to completion", rounds=1 if o.tiny else 3 * o.rounds)
    p50, p99, _ = many_qps(lab, 1, min(o.count, 200), 2000)
    t.add("one device", "WRITE 64 B to a sleeping device, to completion",
          f"{p50 / 1000:.1f}", f"us; p99 {p99 / 1000:.1f}", "<= 50",
          p50 <= 50000)
    cpu = lab.a.cpu_ns()
    time.sleep(2)
    used = (lab.a.cpu_ns() - cpu) / 2e9 * 100
    t.add("one device", "processor time, idle", f"{used:.2f}", "%", "<= 0.1",
          used <= 0.1)


def two_hosts(t, o, mtu, how, lab_of, goal):
    s, n = o.seconds, o.count
    path = f"two hosts, MTU {mtu}" + how
    with lab_of(o.build, mtu) as lab:
        for prog in "ib_write_bw", "ib_send_bw", "ib_read_bw":
            t.ratio(path, f"{prog} 1 MiB / TCP, one stream", 1.0,
                    lambda: bandwidth(lab, prog, s), lambda: tcp(lab, s),
                    unit="GB/s", scale=1e-9)
        if mtu != 1500:
            return
        if how:
            t.ratio(path, "bare datagrams / TCP, one stream", None,
                    lambda: bare_datagrams(lab, s), lambda: tcp(lab, s),
                    unit="GB/s", scale=1e-9)
        t.ratio(path, "ib_send_lat 64 B / UDP ping-pong", goal,
                lambda: latency_us(lab, "ib_send_lat", n),
                lambda: udp_latency_us(lab, n), higher=False, unit="us")
        t.ratio(path, "ib_write_bw 64 B rate / UDP datagrams", 1.0,
                lambda: rate(lab, "ib_write_bw", 10 * n),
                lambda: udp_rate(lab, s), unit="M/s", scale=1e-6)
        events.rows(t, o, lab, path)
        with_loss(t, o, lab, path)


def with_loss(t, o, lab, path):
    def lossy(percent):
        set_loss(lab, percent)
        return bandwidth(lab, "ib_write_bw", o.seconds)
    if not o.tiny and shutil.which("nft") and shutil.which("ethtool"):
        t.ratio(path, "ib_write_bw 1 MiB, 1 % loss / no loss", 0.9,
                lambda: lossy(1), lambda: lossy(0), unit="GB/s", scale=1e-9)


def one_host_in_program(t, o):
    with of_programs(o.build) as lab:
        path, s, n = "one host" + IN_PROGRAM, o.seconds, o.count
        for prog in "ib_write_bw", "ib_read_bw":
            t.ratio(path, f"{prog} 1 MiB / memcpy", 0.25,
                    lambda: bandwidth(lab, prog, s), lambda: memcpy(lab, s),
                    unit="GB/s", scale=1e-9)
        for prog in "ib_write_bw", "ib_read_bw":
            t.ratio(path, f"{prog} 1 MiB, shared files / memcpy", 0.9,
                    lambda: shared_bandwidth(lab, prog, s), lambda: memcpy(lab, s),
                    unit="GB/s", scale=1e-9)
        t.ratio(path, "ib_write_bw 1 MiB / TCP, one stream", 2,
                lambda: bandwidth(lab, "ib_write_bw", s), lambda: tcp(lab, s),
                unit="GB/s", scale=1e-9)
        for prog, goal in ("ib_send_lat", 0.3), ("ib_write_lat", 0.5):
            t.ratio(path, f"{prog} 64 B / UDP ping-pong", goal,
                    lambda: latency_us(lab, prog, n),
                    lambda: udp_latency_us(lab, n), higher=False, unit="us")
        t.value(path, "connections by rdma_cm (cmtime)", 20,
                lambda: connections_per_second(lab, min(o.count, 1000)) / 1e3,
                True, "thousand/s")
        for prog in "ib_write_bw", "ib_send_bw":
            t.value(path, f"{prog} 64 B rate, posts of 32", 4,
                    lambda: rate(lab, prog, 20 * n) / 1e6, True, "M/s")
        registrations.rows(t, o, lab, path)
        events.rows(t, o, lab, path)


def pairs_of_programs(t, o):
    for how, lab_of, _ in PLACES:
        for path, mtu in ("one device", None), ("two hosts, MTU 1500", 1500):
            with lab_of(o.build, mtu) as lab:
                programs.rows(t, o, lab, path + how)


def connections_of_programs(t, o):
    for path, mtu in ("one host", None), ("two hosts, MTU 1500", 1500):
        with of_programs(o.build, mtu) as lab:
            connects.rows(t, o, lab, path + IN_PROGRAM)


def threads_of_programs(t, o):
    for path, mtu in ("one host", None), ("two hosts, MTU 1500", 1500):
        with of_programs(o.build, mtu) as lab:
            threads.rows(t, o, lab, path + IN_PROGRAM)


def machine(build):
    model = re.search(r"model name\s*:\s*(.*)", open("/proc/cpuinfo").read())
    commit = subprocess.run(["git", "-C", TOP, "describe", "--always",
                             "--dirty"], text=True, stdout=subprocess.PIPE,
                            check=False).stdout.strip()
    return (f"{os.cpu_count()} x {model.group(1) if model else '?'}, kernel "
            f"{platform.release()}, commit {commit or '?'}, load "
            f"{os.getloadavg()[0]:.1f}, TCP {Lab.congestion}, {time.strftime('%Y-%m-%d')}")


def may_measure():
    """Whether this machine has what it takes; else says what is missing."""
    missing = [p for p in ("ib_write_bw", "iperf3", "ip", "ss", "cmtime", "rdma")
               if not shutil.which(p)]
    if os.geteuid() or missing:
        print("skipped: needs root and", ", ".join(missing) or "namespaces")
        return False
    name = f"urb{os.getpid()}t"
    if not os.path.exists("/proc/self/ns/net") or \
       subprocess.run(["ip", "netns", "add", name],
                      check=False, stderr=subprocess.DEVNULL).returncode:
        print("skipped: no network namespaces here")
        return False
    subprocess.run(["ip", "netns", "del", name], check=False)
    return True


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--build", default=os.path.join(TOP, "build"))
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--seconds", type=int, default=2)
    ap.add_argument("--count", type=int, default=50000)
    ap.add_argument("--only", help="rows that contain this text; slow links: "
                    "bit/s; those shared with bulk: beside; several pairs: of programs; threads of one "
                    "program: threads; by rdma_cm: connections; programs of tests/apps: apps")
    ap.add_argument("--engine-opt", action="append", default=[],
                    help="for uroced, in place of its default")
    ap.add_argument("--engine", choices=("process", "device"),
                    help="where programs have it that share a slow link")
    ap.add_argument("--nice", help="of uroced: where more threads than processors "
                    "are busy, a small one shows what the processors cost")
    ap.add_argument("--tcp", default=Lab.congestion, metavar="CONTROL",
                    help="of TCP's senders; by default cubic, which Linux has by "
                    "default, whatever this machine has")
    ap.add_argument("--tiny", action="store_true", help="for CI: does it run?")
    o = ap.parse_args()
    if o.nice:
        Lab.before = ["nice", "-n", o.nice]
    Lab.options = [a for opt in o.engine_opt for a in ("--engine-opt", opt)]
    Lab.engine, Lab.congestion = o.engine, o.tcp
    if o.tiny:
        o.rounds, o.seconds, o.count = 1, 1, 1000
    if not may_measure():
        return SKIP
    # So that what was begun is ended, namespaces too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    print(machine(o.build) + "\n")
    print("| path | measure | result | values | goal | |\n" + "|---" * 6 + "|")
    t = Table(o)
    only = o.only or ""
    if only == "apps":
        apps.rows(t.add, o.build, o.rounds, engine=o.engine)
        return 0
    if only == "threads":
        threads_of_programs(t, o)
        return 0
    if only == "connections":
        connections_of_programs(t, o)
        return 0
    if "two hosts" not in only and "beside" not in only:
        one_host_in_program(t, o)
        one_host(t, o)
    if "of programs" in only:
        pairs_of_programs(t, o)
        return 0
    if "bit/s" in only or "beside" in only:
        shaped.rows(t, o)
        return 0
    if "one " not in only:
        for mtu in (1500,) if o.tiny else (1500, 9000):
            for place in PLACES:
                two_hosts(t, o, mtu, *place)
    return 0


if __name__ == "__main__":
    sys.exit(main())

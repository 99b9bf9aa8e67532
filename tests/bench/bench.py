#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""uroce beside TCP, UDP and memcpy, on the same paths in the same run.

    bench.py [--build DIR] [--rounds N] [--seconds S] [--tiny] [--only TEXT]

Needs root (network namespaces), perftest and iperf3. Every row of the table is
a ratio or a time with a goal; measurement and yardstick alternate, the row is
the median of the rounds with the lowest and highest in brackets.
"""
import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIP = 77
MIB = 1 << 20


def sh(*cmd):
    return subprocess.run(cmd, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout


def wait_for(what, condition, limit=20.0):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"waited {limit} s for {what}")
        time.sleep(0.01)


class Host:
    def __init__(self, lab, name, netdev, addr):
        self.lab, self.ns, self.netdev, self.addr = lab, name, netdev, addr
        self.run_dir = os.path.join(lab.tmp, name)
        self.log = os.path.join(lab.tmp, name + ".log")
        self.daemon = None

    def start(self):
        self.daemon = self.popen(
            [self.lab.bin("uroced"), "--netdev", self.netdev, "--run-dir",
             self.run_dir], stdout=open(self.log, "w"),
            stderr=subprocess.STDOUT)
        wait_for("uroced", lambda: "ready" in open(self.log).read())

    def popen(self, cmd, **kw):
        p = subprocess.Popen(["ip", "netns", "exec", self.ns, *cmd], text=True,
                             **kw)
        self.lab.procs.append(p)
        return p

    def uroce(self, cmd):
        return [self.lab.bin("uroce"), "run", "--run-dir", self.run_dir, "--",
                *cmd]

    def listens(self, port, udp=False):
        out = sh("ip", "netns", "exec", self.ns, "ss", "-Hnl",
                 "-u" if udp else "-t")
        return re.search(rf":{port}\b", out)

    def cpu_ns(self):
        total = 0
        task = f"/proc/{self.daemon.pid}/task"
        for tid in os.listdir(task):
            total += int(open(f"{task}/{tid}/schedstat").read().split()[0])
        return total

    def memory(self):
        text = open(f"/proc/{self.daemon.pid}/smaps_rollup").read()
        return int(re.search(r"Pss:\s+(\d+)", text).group(1)) * 1024


class Lab:
    """Two hosts joined by veth, or one on its loopback device."""

    def __init__(self, build, mtu=None):
        self.build, self.mtu = build, mtu
        self.tmp = tempfile.mkdtemp(prefix="urbench")
        self.procs, self.names = [], []
        base = f"urb{os.getpid() % 10000}"
        if mtu:
            self.a = Host(self, base + "a", "vea", "10.78.0.1")
            self.b = Host(self, base + "b", "veb", "10.78.0.2")
        else:
            self.a = self.b = Host(self, base + "l", "lo", "127.0.0.1")

    def bin(self, name):
        return os.path.join(self.build, "bin", name)

    def __enter__(self):
        for h in {self.a.ns: self.a, self.b.ns: self.b}.values():
            sh("ip", "netns", "add", h.ns)
            self.names.append(h.ns)
            sh("ip", "-n", h.ns, "link", "set", "lo", "up")
        if self.mtu:
            sh("ip", "link", "add", "vea", "netns", self.a.ns, "type", "veth",
               "peer", "name", "veb", "netns", self.b.ns)
            for h in self.a, self.b:
                sh("ip", "-n", h.ns, "addr", "add", h.addr + "/24", "dev",
                   h.netdev)
                sh("ip", "-n", h.ns, "link", "set", h.netdev, "mtu",
                   str(self.mtu), "up")
            self.b.start()
        self.a.start()
        return self

    def __exit__(self, *exc):
        for p in reversed(self.procs):
            if p.poll() is None:
                p.terminate()
                try:
                    p.wait(5)
                except subprocess.TimeoutExpired:
                    p.kill()
                    p.wait()
        for n in self.names:
            subprocess.run(["ip", "netns", "del", n], check=False)
        shutil.rmtree(self.tmp, ignore_errors=True)


def last_numbers(text):
    """The last line of a perftest table; None if perftest divided by a time
    of nothing, as it does when it is not scheduled while it should sample."""
    rows = [l.split() for l in text.splitlines()
            if re.match(r"\s*\d+\s+\d+\s+([\d.]+|inf)\s+([\d.]+|inf)", l)]
    if not rows:
        raise RuntimeError("no result:\n" + text[-600:])
    return None if "inf" in rows[-1] else [float(x) for x in rows[-1]]


def perftest(lab, prog, *args, limit=60):
    for _ in range(3):
        numbers = perftest_once(lab, prog, *args, limit=limit)
        if numbers:
            return numbers
    raise RuntimeError(f"{prog}: inf three times")


def perftest_once(lab, prog, *args, limit=60):
    base = [prog, "-d", "uroce0", "-x", "0", "-F", *map(str, args)]
    server = lab.a.popen(lab.a.uroce(base), stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    wait_for(prog, lambda: lab.a.listens(18515))
    client = lab.b.popen(lab.b.uroce(base + [lab.a.addr]),
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        out, _ = client.communicate(timeout=limit)
    finally:
        client.kill()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
    return last_numbers(out)


def bandwidth(lab, prog, seconds):
    return perftest(lab, prog, "-s", MIB, "-D", seconds)[3] * MIB


def rate(lab, prog, count):
    return perftest(lab, prog, "-s", 64, "-n", count // 32 * 32, "-l",
                    32)[-1] * 1e6


def latency_us(lab, prog, count):
    return perftest(lab, prog, "-s", 64, "-n", count)[4]  # typical


def tcp(lab, seconds):
    server = lab.a.popen(["iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
    wait_for("iperf3", lambda: lab.a.listens(5201))
    out = lab.b.popen(["iperf3", "-c", lab.a.addr, "-t", str(seconds), "-f",
                       "k"], stdout=subprocess.PIPE).communicate()[0]
    server.wait(10)
    return float(re.search(r"([\d.]+) Kbits/sec\s+receiver", out).group(1)) * 125


def udp_pair(lab, kind, active, *args):
    server = lab.a.popen([lab.bin("bench_sockets"), kind, lab.a.addr, "7"])
    wait_for(kind, lambda: lab.a.listens(7, udp=True))
    try:
        out = lab.b.popen([lab.bin("bench_sockets"), active, lab.a.addr, "7",
                           *map(str, args)],
                          stdout=subprocess.PIPE).communicate(timeout=60)[0]
    finally:
        server.kill()
        server.wait()
    return float(out.split()[0])


def udp_latency_us(lab, count):
    return udp_pair(lab, "pong", "ping", count) / 1000


def udp_rate(lab, seconds):
    return udp_pair(lab, "sink", "blast", seconds)


def memcpy(lab, seconds):
    return float(sh(lab.bin("bench_sockets"), "memcpy", str(MIB), str(seconds)))


def many_qps(lab, pairs, count, idle_us=0):
    p = lab.a.popen(lab.a.uroce([lab.bin("bench_many_qps"), str(pairs),
                                 str(count), str(idle_us)]),
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def step(expect):
        line = p.stdout.readline().strip()
        if line != expect:
            raise RuntimeError(f"many_qps said '{line}', not '{expect}'")
        used = lab.a.memory()
        p.stdin.write("\n")
        p.stdin.flush()
        return used

    before = step("opened")
    after = step("connected")
    p50, mean, p99 = map(float, p.stdout.readline().split())
    p.wait()
    return p50, p99, (after - before) / (2 * pairs)


def set_loss(lab, percent):
    """Single packets on the wire from here on, that many of them lost."""
    for h in lab.a, lab.b:
        subprocess.run(["ip", "netns", "exec", h.ns, "ethtool", "-K", h.netdev,
                        "tx-udp-segmentation", "off"], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rules = "flush ruleset\n"
        if percent:
            rules += ("table inet loss { chain in { type filter hook "
                      "prerouting priority -300; udp dport 4791 numgen random "
                      f"mod 100 < {percent} drop; }}; }}\n")
        subprocess.run(["ip", "netns", "exec", h.ns, "nft", "-f", "-"],
                       input=rules, check=True, text=True)


class Table:
    def __init__(self, opts):
        self.opts, self.rows = opts, []

    def wanted(self, name):
        return not self.opts.only or self.opts.only in name

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
        self.add(path, name, f"{mid:.2f} [{ratios[0]:.2f}..{ratios[-1]:.2f}]",
                 f"{m:.3g} : {y:.3g} {unit}", f"{'>=' if higher else '<='} {goal}",
                 mid >= goal if higher else mid <= goal)

    def value(self, path, name, goal, measure, higher, unit):
        if not self.wanted(path + " " + name):
            return
        got = sorted(measure() for _ in range(self.opts.rounds))
        mid = statistics.median(got)
        self.add(path, name, f"{mid:.3g} [{got[0]:.3g}..{got[-1]:.3g}]", unit,
                 f"{'>=' if higher else '<='} {goal}",
                 mid >= goal if higher else mid <= goal)

    def add(self, *row):
        self.rows.append(row)
        print("| " + " | ".join(map(str, row[:5])) +
              (" | met |" if row[5] else " | **missed** |"), flush=True)


def one_host(t, o):
    s, n = o.seconds, o.count
    with Lab(o.build) as lab:
        for prog in "ib_write_bw", "ib_read_bw":
            t.ratio("one host", f"{prog} 1 MiB / memcpy", 0.8,
                    lambda: bandwidth(lab, prog, s), lambda: memcpy(lab, s),
                    unit="GB/s", scale=1e-9)
        for prog in "ib_send_lat", "ib_write_lat":
            t.value("one host", f"{prog} 64 B, typical half RTT", 2.5,
                    lambda: latency_us(lab, prog, n), False, "us")
            t.ratio("one host", f"{prog} 64 B / UDP ping-pong", 0.25,
                    lambda: latency_us(lab, prog, n),
                    lambda: udp_latency_us(lab, n), higher=False, unit="us")
        for prog in "ib_write_bw", "ib_send_bw":
            t.value("one host", f"{prog} 64 B rate, posts of 32", 4,
                    lambda: rate(lab, prog, 20 * n) / 1e6, True, "M/s")
        scale(t, o, lab)


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


def two_hosts(t, o, mtu):
    s, n = o.seconds, o.count
    path = f"two hosts, MTU {mtu}"
    with Lab(o.build, mtu) as lab:
        for prog in "ib_write_bw", "ib_send_bw", "ib_read_bw":
            t.ratio(path, f"{prog} 1 MiB / TCP, one stream", 1.0,
                    lambda: bandwidth(lab, prog, s), lambda: tcp(lab, s),
                    unit="GB/s", scale=1e-9)
        if mtu != 1500:
            return
        t.ratio(path, "ib_send_lat 64 B / UDP ping-pong", 1.25,
                lambda: latency_us(lab, "ib_send_lat", n),
                lambda: udp_latency_us(lab, n), higher=False, unit="us")
        t.ratio(path, "ib_write_bw 64 B rate / UDP datagrams", 1.0,
                lambda: rate(lab, "ib_write_bw", 10 * n),
                lambda: udp_rate(lab, s), unit="M/s", scale=1e-6)
        if not o.tiny and shutil.which("nft") and shutil.which("ethtool"):
            def lossy(percent):
                set_loss(lab, percent)
                return bandwidth(lab, "ib_write_bw", s)
            t.ratio(path, "ib_write_bw 1 MiB, 1 % loss / no loss", 0.7,
                    lambda: lossy(1), lambda: lossy(0), unit="GB/s",
                    scale=1e-9)


def machine(build):
    model = re.search(r"model name\s*:\s*(.*)", open("/proc/cpuinfo").read())
    commit = subprocess.run(["git", "-C", TOP, "describe", "--always",
                             "--dirty"], text=True, stdout=subprocess.PIPE,
                            check=False).stdout.strip()
    return (f"{os.cpu_count()} x {model.group(1) if model else '?'}, kernel "
            f"{platform.release()}, commit {commit or '?'}, load "
            f"{os.getloadavg()[0]:.1f}, {time.strftime('%Y-%m-%d')}")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--build", default=os.path.join(TOP, "build"))
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--seconds", type=int, default=2)
    ap.add_argument("--count", type=int, default=50000)
    ap.add_argument("--only", help="rows that contain this text")
    ap.add_argument("--tiny", action="store_true", help="for CI: does it run?")
    o = ap.parse_args()
    if o.tiny:
        o.rounds, o.seconds, o.count = 1, 1, 1000
    missing = [p for p in ("ib_write_bw", "iperf3", "ip", "ss")
               if not shutil.which(p)]
    if os.geteuid() or missing:
        print("skipped: needs root and", ", ".join(missing) or "namespaces")
        return SKIP
    if not os.path.exists("/proc/self/ns/net") or \
       subprocess.run(["ip", "netns", "add", f"urb{os.getpid()}t"],
                      check=False, stderr=subprocess.DEVNULL).returncode:
        print("skipped: no network namespaces here")
        return SKIP
    subprocess.run(["ip", "netns", "del", f"urb{os.getpid()}t"], check=False)
    print(machine(o.build) + "\n")
    print("| path | measure | result | values | goal | |\n" + "|---" * 6 + "|")
    t = Table(o)
    only = o.only or ""
    if "two hosts" not in only:
        one_host(t, o)
    if "one " not in only:
        two_hosts(t, o, 1500)
        if not o.tiny:
            two_hosts(t, o, 9000)
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Where it is measured: network namespaces with a device in each."""
import os
import re
import shutil
import subprocess
import tempfile
import time


def sh(*cmd):
    p = subprocess.run(cmd, check=False, text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    if p.returncode:
        raise RuntimeError(f"{' '.join(cmd)}: status {p.returncode}\n{p.stdout}")
    return p.stdout


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
            [*self.lab.before, self.lab.bin("uroced"), "--netdev", self.netdev, "--run-dir",
             self.run_dir, *self.lab.options], stdout=open(self.log, "w"),
            stderr=subprocess.STDOUT)
        wait_for("uroced", lambda: "ready" in open(self.log).read())

    def popen(self, cmd, **kw):
        p = subprocess.Popen(["ip", "netns", "exec", self.ns, *cmd], text=True,
                             **kw)
        self.lab.procs.append(p)
        return p

    def uroce(self, cmd):
        env = ["UROCE_ENGINE=" + self.lab.engine] if self.lab.engine else []
        return ["env", *env, self.lab.bin("uroce"), "run", "--run-dir", self.run_dir,
                "--", *cmd]

    def listens(self, port, udp=False):
        out = sh("ip", "netns", "exec", self.ns, "ss", "-Hnl",
                 "-u" if udp else "-t")
        return re.search(rf":{port}\b", out)

    def cpu_ns(self):
        """Of the whole device, its threads that have ended included: the clock that
        clock_getcpuclockid(3) names."""
        return time.clock_gettime_ns(~self.daemon.pid << 3 | 2)

    def memory(self):
        text = open(f"/proc/{self.daemon.pid}/smaps_rollup").read()
        return int(re.search(r"Pss:\s+(\d+)", text).group(1)) * 1024


class Lab:
    """Two hosts joined by veth, or by a switch; or one on its loopback device."""
    options = []  # of uroced
    before = []  # what starts it
    engine = None  # where programs have it; None: as by default
    congestion = "cubic"  # control of TCP's senders

    def __init__(self, build, mtu=None, switch=False):
        self.build, self.mtu = build, mtu
        self.switch = f"urb{os.getpid() % 10000}s" if switch else None
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
            self.join()
            for h in self.a, self.b:
                sh("ip", "-n", h.ns, "addr", "add", h.addr + "/24", "dev",
                   h.netdev)
                sh("ip", "-n", h.ns, "link", "set", h.netdev, "mtu",
                   str(self.mtu), "up")
            self.b.start()
        self.a.start()
        return self

    def join(self):
        if not self.switch:
            sh("ip", "link", "add", "vea", "netns", self.a.ns, "type", "veth",
               "peer", "name", "veb", "netns", self.b.ns)
            return
        sh("ip", "netns", "add", self.switch)
        self.names.append(self.switch)
        sh("ip", "-n", self.switch, "link", "add", "br0", "type", "bridge")
        sh("ip", "-n", self.switch, "link", "set", "br0", "mtu", str(self.mtu), "up")
        for h in self.a, self.b:
            port = h.netdev + "s"
            sh("ip", "link", "add", h.netdev, "netns", h.ns, "type", "veth",
               "peer", "name", port, "netns", self.switch)
            sh("ip", "-n", self.switch, "link", "set", port, "mtu", str(self.mtu),
               "master", "br0", "up")

    def to_a(self):
        """The namespace and the device whose queue is before the host a."""
        return (self.switch, "veas") if self.switch else (self.b.ns, "veb")

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


def single_packets(lab, *offloads):
    """On the wire from here on, without these offloads."""
    for h in lab.a, lab.b:
        off = [x for name in offloads for x in (name, "off")]
        subprocess.run(["ip", "netns", "exec", h.ns, "ethtool", "-K", h.netdev, *off],
                       check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)


def set_loss(lab, percent):
    """Single packets on the wire from here on, that many of them lost. The rule that draws
    lots is there where none is lost, too: a packet is an eighth dearer with it, on the sender's
    processor, so that without it the ratio would be one of rules."""
    single_packets(lab, "tx-udp-segmentation")
    verdict = "drop" if percent else "accept"
    for h in lab.a, lab.b:
        rules = ("flush ruleset\ntable inet loss { chain in { type filter hook "
                 "prerouting priority -300; udp dport 4791 numgen random "
                 f"mod 100 < {percent or 1} {verdict}; }}; }}\n")
        subprocess.run(["ip", "netns", "exec", h.ns, "nft", "-f", "-"],
                       input=rules, check=True, text=True)

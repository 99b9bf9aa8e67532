# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A kernel that runs as a process (User-mode Linux) and routes between two network
namespaces of this host. It is as fast as this machine, has the queues that
distributions have, and needs no KVM; Soft-RoCE it has not."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import guest as g

UML = os.path.join(g.GUEST_DIR, "uml")
# What tc makes below a shaper. RED's lengths are of 2.4 and 7.2 ms at 100 Mbit/s.
AROUND = 18515  # perftest's port
BURST = 8192  # bytes that the shaper lets go at once, after it slept too long
KINDS = {
    "fq_codel": "fq_codel ecn",
    "codel": "codel ecn",
    "RED": "red limit 400000 min 30000 max 90000 avpkt 1000 burst 50 probability 0.02 ecn",
    "PIE": "pie ecn",
    "cake": "cake bandwidth {mbit}mbit besteffort",
}


def missing():
    """Why there can be no router, or None."""
    for tool in ("tc", "ethtool", "busybox", "modprobe", "iperf3"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    # Its Linux 6.1 gives the host a register set of 2,696 bytes, where that has 11,008.
    if "amx_tile" in open("/proc/cpuinfo").read():
        return "User-mode Linux does not start on a processor with AMX"
    return "needs root (network namespaces, tap)" if os.geteuid() else None


def sh(cmd):
    subprocess.run(["sh", "-ec", cmd], check=True, stdout=subprocess.DEVNULL)


class Router:
    """Two namespaces with a tap each, and who routes between them: addr[i] of
    netdev[i] in spaces[i]."""

    def __init__(self):
        subprocess.run([os.path.join(g.HERE, "guest", "uml.sh")], env=g.ENV, check=True,
                       stdout=subprocess.DEVNULL)
        n = os.getpid() % 100000
        self.spaces = [f"uroce-qa-{n}", f"uroce-qb-{n}"]
        self.netdev = [f"qa{n}", f"qb{n}"]
        self.addr = ["10.77.0.1", "10.78.0.1"]
        self.process, self.tmp = None, tempfile.mkdtemp(prefix="uroce-router-")

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        a, b = self.spaces
        for ns in self.spaces:
            sh(f"ip netns add {ns}; ip -n {ns} link set lo up")
        for dev in self.netdev:
            sh(f"ip -n {a} tuntap add {dev} mode tap")
        self.process = subprocess.Popen(
            # A switch does not wait for a processor.
            ["nice", "-n", "-15", "ip", "netns", "exec", a, os.path.join(UML, "usr/bin/linux.uml"), "mem=96M",
             "rootfstype=hostfs", "rootflags=/", "ro", "quiet", "loglevel=0", "umid=router",
             f"uml_dir={self.tmp}/", f"init={g.HERE}/guest/router-init",
             f"MODS={UML}/usr/lib/uml/modules", "con0=fd:0,fd:1", "con=null",
             *(f"vec{i}:transport=tap,ifname={dev},depth=128,gro=0"
               for i, dev in enumerate(self.netdev))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True)
        self.read()
        self.sh("echo 1 >/proc/sys/net/ipv4/ip_forward; " + "; ".join(
            f"ip addr add 10.7{7 + i}.0.2/24 dev vec{i}; ip link set vec{i} up" for i in (0, 1)))
        self.sh("for m in sch_htb sch_fq_codel sch_codel sch_red sch_pie sch_cake cls_u32; do "
                "modprobe -d /mnt $m; done")
        sh(f"ip -n {a} link set {self.netdev[1]} netns {b}")
        for ns, dev, addr in zip(self.spaces, self.netdev, self.addr):
            # As a cable has them: single packets.
            sh(f"ip netns exec {ns} ethtool -K {dev} tso off gso off tx-udp-segmentation off; "
               f"ip -n {ns} addr add {addr}/24 dev {dev}; "
               f"ip -n {ns} link set {dev} up txqueuelen 10000; "
               f"ip -n {ns} route add default via {addr[:-1]}2; "
               f"ip netns exec {ns} sysctl -qw net.ipv4.tcp_ecn=1")

    def read(self):
        """What a line that it runs prints."""
        lines = []
        for line in self.process.stdout:
            end = re.fullmatch(r"done (\d+)\s*", line)
            if end:
                text = "".join(lines)
                assert end[1] == "0", text
                return text
            lines.append(line)
        raise RuntimeError("the router has ended:\n" + "".join(lines)[-2000:])

    def sh(self, line):
        """Runs a line in it; returns what that prints."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.read()

    def queue(self, kind, mbit):
        """A queue of that kind in front of a line of that rate to the second host.
        Who connects by TCP to AROUND goes past it: RED drops each SYN while it marks."""
        tc = "tc {} add dev vec1 parent 1:"
        rate = "10gbit" if kind == "cake" else f"{mbit}mbit burst {BURST} cburst {BURST}"
        kind = KINDS[kind].format(mbit=mbit)
        for line in ("tc qdisc del dev vec1 root 2>/dev/null || true",
                     "tc qdisc add dev vec1 root handle 1: htb default 1",
                     f"{tc.format('class')} classid 1:1 htb quantum 1514 rate {rate}",
                     f"{tc.format('class')} classid 1:2 htb quantum 1514 rate 10gbit",
                     f"{tc.format('qdisc')}1 handle 2: {kind}",
                     f"{tc.format('filter')} protocol ip u32 match ip protocol 6 0xff "
                     f"match ip dport {AROUND} 0xffff flowid 1:2"):
            self.sh(line)

    def queued(self):
        """Packets that the queue has dropped, and marked."""
        all_ = json.loads(self.sh("tc -s -j qdisc show dev vec1"))
        q = next(q for q in all_ if q.get("handle") == "2:")
        parts = [q, *q.get("tins", [])]
        return q["drops"], sum(p.get(n, 0) for p in parts for n in ("ecn_mark", "marked"))

    def passed(self):
        return int(self.sh("cat /sys/class/net/vec1/statistics/tx_packets"))

    def __exit__(self, *_):
        if self.process:
            self.process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
            # Its own processes, of which each that it runs is one, are its group.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for ns in self.spaces:
            subprocess.run(["ip", "netns", "del", ns], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.tmp, ignore_errors=True)

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is on the wire where packets are marked: ib_write_bw over a line of 100 Mbit/s
with a queue of 256 KiB, before which nftables sets CE over a rate. Both hosts are captured.

    marks.py [--build DIR] [--seconds S] [--ecn 0|1]

prints the table of doc/measurements/congestion.md."""
import argparse
import os
import shutil
import signal
import struct
import subprocess
import sys
import time

from lab import Lab, sh, single_packets, wait_for
from shaped import shape

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RATE = 100e6
QUEUE_KIB = 256
# 67 Mbit/s, so the queue behind gets empty. nftables lets a second's worth go first.
MARKS = """table netdev marks {{
  chain out {{
    type filter hook egress device {dev} priority 0;
    udp dport 4791 ip ecn ect0 limit rate over 8 mbytes/second burst 48 kbytes ip ecn set ce
  }}
}}"""
STEPS_MS = (0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000)
ROCE = 4791
CNP, ACK = 0x81, 0x11
HEADERS = 14 + 20 + 8  # Ethernet, IPv4, UDP


def packets(path):
    """(time, source, ECN bits, opcode, PSN, syndrome) of each RoCE packet of a capture."""
    data = open(path, "rb").read()
    at, out = 24, []
    while at + 16 <= len(data):
        sec, usec, got, _ = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16:at + 16 + got]
        at += 16 + got
        if len(frame) < HEADERS + 12 or frame[12:14] != b"\x08\x00" or \
           struct.unpack_from(">H", frame, 36)[0] != ROCE:
            continue
        bth = frame[HEADERS:]
        out.append((sec + usec / 1e6, frame[26:30], frame[15] & 3, bth[0],
                    int.from_bytes(bth[9:12], "big"), bth[12] if len(bth) > 12 else 0))
    return out


def ahead(a, b):
    """How far one PSN is ahead of another."""
    return (a - b + (1 << 23)) % (1 << 24) - (1 << 23)


class Step:
    """From one time to the next."""

    def __init__(self):
        self.ecn, self.arrived, self.cnps, self.window = [0] * 4, [0] * 4, 0, 0


def count(sender, receiver, addr):
    """The steps, by what both hosts have seen; addr: the sender's."""
    source = bytes(map(int, addr.split(".")))
    steps = [Step() for _ in STEPS_MS]
    began = sender[0][0]

    def step(when):
        return steps[max((i for i, ms in enumerate(STEPS_MS) if when - began >= ms / 1e3),
                         default=0)]
    newest = acked = None
    for when, src, ecn, opcode, psn, syndrome in sender:
        s = step(when)
        if src == source and opcode not in (ACK, CNP):
            s.ecn[ecn] += 1
            if newest is None or ahead(psn, newest) > 0:
                newest = psn
            acked = psn - 1 if acked is None else acked
            s.window = max(s.window, ahead(newest, acked))
        elif opcode == CNP:
            s.cnps += 1
        elif opcode == ACK and acked is not None:
            through = psn if syndrome >> 5 == 0 else psn - 1
            acked = through if ahead(through, acked) > 0 else acked
    for when, src, ecn, opcode, *_ in receiver:
        if src == source and opcode not in (ACK, CNP):
            step(when).arrived[ecn] += 1
    return steps


def table(steps):
    print("| from, ms | sent not ECT | sent ECT(0) | arrived | of these CE | CNPs | window, packets |\n"
          "|---|---|---|---|---|---|---|")
    for ms, s in zip(STEPS_MS, steps):
        if sum(s.ecn):
            print(f"| {ms} | {s.ecn[0]} | {s.ecn[2]} | {sum(s.arrived)} | {s.arrived[3]} | "
                  f"{s.cnps} | {s.window} |")


def capture(host, path):
    p = host.popen(["tcpdump", "-i", host.netdev, "-s", "96", "-B", "16384", "-U", "-w", path,
                    "udp", "port", str(ROCE)], stderr=subprocess.DEVNULL)
    wait_for("tcpdump", lambda: os.path.exists(path) and os.path.getsize(path) >= 24)
    return p


def run(lab, seconds):
    """Both captures of one run of ib_write_bw from b to a."""
    ns, dev = lab.to_a()
    shape(lab, RATE, QUEUE_KIB)
    sh("ip", "netns", "exec", ns, "nft", MARKS.format(dev=dev))
    paths = [os.path.join(lab.tmp, n) for n in ("a.pcap", "b.pcap")]
    tcpdumps = [capture(h, p) for h, p in zip((lab.a, lab.b), paths)]
    cmd = ["ib_write_bw", "-d", "uroce0", "-x", "0", "-F", "-s", "65536", "-t", "8", "-D",
           str(seconds), "-p", "18600"]
    server = lab.a.popen(lab.a.uroce(cmd), stdout=subprocess.DEVNULL)
    wait_for("ib_write_bw", lambda: lab.a.listens(18600))
    sh("ip", "netns", "exec", lab.b.ns, *lab.b.uroce([*cmd, lab.a.addr]))
    server.wait(20)
    time.sleep(0.5)
    for p in tcpdumps:
        p.send_signal(signal.SIGINT)
        p.wait(10)
    return [packets(p) for p in paths]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.path.join(TOP, "build"))
    p.add_argument("--seconds", type=int, default=5)
    p.add_argument("--ecn", choices=("0", "1"), default="1")
    o = p.parse_args()
    missing = [t for t in ("ib_write_bw", "tcpdump", "nft", "tc") if not shutil.which(t)]
    if os.geteuid() or missing:
        print("skipped: needs root and", ", ".join(missing) or "namespaces")
        return 77
    with Lab(o.build, 1500, switch=True) as lab:
        single_packets(lab, "tx-udp-segmentation", "tso", "gso")
        for h in lab.a, lab.b:
            sh(lab.bin("uroce"), "--run-dir", h.run_dir, "link", "set", "uroce0", "ecn", o.ecn)
        receiver, sender = run(lab, o.seconds)
        steps = count(sender, receiver, lab.b.addr)
    table(steps)
    if o.ecn == "0":
        return any(s.ecn[2] for s in steps)
    return any(s.ecn[0] for s in steps) or not (any(s.arrived[3] for s in steps[4:]) and
                                                any(s.cnps for s in steps[4:]))


if __name__ == "__main__":
    sys.exit(int(main()))

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce beside Soft-RoCE on the same emulated cores, in one run: bandwidth,
latency and connection rate on one guest and between two, as a table of ratios.
Median, and least to most of the rounds, which alternate.

    beside.py [ROUNDS]      prints the table of doc/measurements/latency.md"""
import os
import re
import statistics
import subprocess
import sys

import guest as g
from inside import Inside, pair

NETNS = f"uroce-bs-{os.getpid()}"
BW = "{p} -d {{dev}} -x {{gid}} -F -n 300 -s 65536"
LAT = "{p} -d {{dev}} -x {{gid}} -F -n 500 -s 64"
ROWS = [("RC WRITE 64 KiB", "MB/s", BW.format(p="ib_write_bw")),
        ("RC SEND 64 KiB", "MB/s", BW.format(p="ib_send_bw")),
        ("RC READ 64 KiB", "MB/s", BW.format(p="ib_read_bw")),
        ("WRITE 64 B half RTT", "us", LAT.format(p="ib_write_lat")),
        ("SEND 64 B half RTT", "us", LAT.format(p="ib_send_lat"))]


CMTIME = ("connections", "1/s")
COUNT = 200
# Where: cores of each guest. Two guests of two would be four busy cores of the
# emulator, more than the machine may have.
WHERE = {"one guest, two cores": (2,), "two guests, a core each": (1, 1)}


def number(unit, out):
    line = next(x for x in out.splitlines() if re.match(r"\s*\d+\s+\d+\s", x)).split()
    return float(line[3] if unit == "MB/s" else line[4])  # average; typical


def cmtime(server, client):
    """Connections a second, of COUNT at once."""
    addr = server.guest.addr[4]
    s = server.guest.start(server.prefix + f"timeout 60 cmtime -b {addr} -c {COUNT}", 70)
    try:
        # Where it listens is seen by nobody but a client.
        rc, out = client.guest.run(
            f"for i in $(seq 40); do {client.prefix} cmtime -s {addr} -c {COUNT} && exit 0; "
            "sleep 0.5; done; exit 1", 120)
    finally:
        server.guest.end(s, "cmtime")
        s.communicate(timeout=80)
    assert rc == 0, out
    row = [x for x in out.splitlines() if re.match(r"connect\s*:", x)][-1]
    return COUNT / float(row.split(":")[1].split()[0]) * 1e3  # milliseconds in all


def measure(hosts):
    addr = hosts[0].guest.addr[4]
    for name, unit, program in ROWS:
        # perftest prints 0 or inf where its clock and the emulator's disagree.
        got = (number(unit, pair(hosts[0], hosts[-1], program, addr)) for _ in range(3))
        yield name, unit, next((n for n in got if n and n < float("inf")), float("nan"))
    yield *CMTIME, cmtime(hosts[0], hosts[-1])


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    g.build_image()
    seen = {}
    for where, cpus in WHERE.items():
        hosts = []
        try:
            for i, n in enumerate(cpus):
                hosts.append(Inside(g.Guest(f"bs{i}{os.getpid() % 10000}", NETNS, 2 + i, cpus=n,
                                            volumes=[f"{g.TOP}:/uroce"])))
            for _ in range(rounds):
                for device in ("rxe", "uroce"):
                    for x in hosts:
                        x.use(device)
                    for name, unit, value in measure(hosts):
                        print(where, name, device, value, file=sys.stderr, flush=True)
                        seen.setdefault((where, name, unit), {}).setdefault(device, []).append(
                            value)
        finally:
            for x in hosts:
                x.guest.stop()
            subprocess.run(["ip", "netns", "del", NETNS], stderr=subprocess.DEVNULL)
    print("| path | measure | rxe | uroce | uroce / rxe, > 1 is better |\n|---|---|---|---|---|")
    for (where, name, unit), got in seen.items():
        rxe, uroce = (statistics.median(got[d]) for d in ("rxe", "uroce"))
        ratio = rxe / uroce if unit == "us" else uroce / rxe
        cells = [f"{statistics.median(v):.3g} [{min(v):.3g}..{max(v):.3g}]" for v in got.values()]
        print(f"| {where} | {name}, {unit} | {cells[0]} | {cells[1]} | {ratio:.2f} |")


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""uroce beside Soft-RoCE on the same emulated cores, in one run: bandwidth,
latency and connection rate on one guest and between two, as a table of ratios.

    beside.py [ROUNDS]      prints markdown for doc/performance.md"""
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


def number(unit, out):
    line = next(x for x in out.splitlines() if re.match(r"\s*\d+\s+\d+\s", x)).split()
    return float(line[3] if unit == "MB/s" else line[4])  # average; typical


def cmtime(server, client):
    addr = server.guest.addr[4]
    s = server.guest.start(server.prefix + f"timeout 30 cmtime -b {addr} -c 100", 60)
    rc, out = client.guest.run(f"sleep 1; {client.prefix} cmtime -s {addr} -c 100", 60)
    server.guest.run("killall -q cmtime")
    s.communicate(timeout=60)
    assert rc == 0, out
    total = re.search(r"connect\s*:?\s+([\d.]+)", out)
    return float(total.group(1)) if total else float("nan")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    g.build_image()
    guests = []
    try:
        for i, octet in (("a", 2), ("b", 3)):
            guests.append(Inside(g.Guest(f"bs{i}{os.getpid() % 10000}", NETNS, octet,
                                         volumes=[f"{g.TOP}:/uroce"])))
        print("| path | measure | rxe | uroce | uroce ÷ rxe (better > 1) |")
        print("|---|---|---|---|---|")
        seen = {}
        for _ in range(rounds):
            for device in ("rxe", "uroce"):
                for x in guests:
                    x.use(device)
                for where, hosts in (("one guest", (guests[0],) * 2), ("two guests", guests)):
                    for name, unit, program in ROWS:
                        out = pair(*hosts, program, hosts[0].guest.addr[4])
                        seen.setdefault((where, name, unit), {}).setdefault(device, []).append(
                            number(unit, out))
        for (where, name, unit), got in seen.items():
            rxe, uroce = (statistics.median(got[d]) for d in ("rxe", "uroce"))
            ratio = uroce / rxe if unit == "MB/s" else rxe / uroce
            spread = ", ".join(f"{d} {min(v):.4g}-{max(v):.4g}" for d, v in got.items())
            print(f"| {where} | {name}, {unit} | {rxe:.4g} | {uroce:.4g} | {ratio:.2f} ({spread}) |")
    finally:
        for x in guests:
            x.guest.stop()
        subprocess.run(["ip", "netns", "del", NETNS], stderr=subprocess.DEVNULL)


main()

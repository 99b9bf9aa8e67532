#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""card.py BUILD NETDEV DRIVER [ID...]: the lab under rdma-check on a device of the kernel's,
as in the guest of tests/interop: each mistake is named and its twin silent, but for what the
driver cannot do. Prints a line for each, and ends with how many."""
import os
import re
import subprocess
import sys
import tempfile
import time

import trial

BUILD, NETDEV, DRIVER, WANTED = *sys.argv[1:4], sys.argv[4:]

# What a driver cannot do, by the release of its kernel, each with the reason.
CANNOT = {"rxe": {
    "UR-MR-06": "since Linux 5.12 fork() copies pinned pages, and ibv_is_fork_initialized() says "
                "that nothing is needed",
}}


def sh(command):
    subprocess.run(command, shell=True, check=True)


FOLDER = f"/sys/class/infiniband/{DRIVER}0"


def wait_until(what):
    end = time.monotonic() + 30
    while not what():
        if time.monotonic() > end:
            raise SystemExit(f"{DRIVER}0 did not come or go")
        time.sleep(0.05)


def address():
    shown = subprocess.run(["ip", "-4", "addr", "show", "dev", NETDEV], text=True, check=True,
                           stdout=subprocess.PIPE).stdout
    return re.search(r"inet ([0-9.]+)/", shown)[1]


def gid_of(ip):
    """The index of the device's GID that is this IPv4 address, or None."""
    want = "0000:0000:0000:0000:0000:ffff:{:02x}{:02x}:{:02x}{:02x}".format(
        *map(int, ip.split(".")))
    for i in range(16):
        try:
            with open(f"{FOLDER}/ports/1/gids/{i}") as f:
                if f.read().strip() == want:
                    return str(i)
        except OSError:
            pass
    return None


def lab(tmp, name, how):
    ip = address()
    if not os.path.exists(FOLDER):
        sh(f"rdma link add {DRIVER}0 type {DRIVER} netdev {NETDEV}")
    wait_until(lambda: gid_of(ip))
    json_file = f"{tmp}/{name}-{how}.json"
    result = trial.run([f"{BUILD}/bin/rdma-check", "--json", json_file, "--", f"{BUILD}/bin/lab",
                        name, how], json_file, name, 60, LAB_GID=gid_of(ip), LAB_ADDRESS=ip,
                       LAB_REMOVE=f"rdma link del {DRIVER}0 &")
    if name == "UR-CM-04":
        # It goes when its last user has.
        wait_until(lambda: not os.path.exists(FOLDER))
    return result


def main():
    names = subprocess.run([f"{BUILD}/bin/lab", "--list"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.split()
    failures, shown, cannot = [], 0, CANNOT.get(DRIVER, {})
    with tempfile.TemporaryDirectory(prefix="rdma-check-") as tmp:
        for name in names:
            if WANTED and name not in WANTED:
                continue
            wrong = trial.judge_wrong(name, *lab(tmp, name, "wrong")) + \
                trial.judge_right(name, *lab(tmp, name, "right"))
            if wrong and name in cannot:
                print(f"{name}: {DRIVER} cannot: {cannot[name]}", flush=True)
                continue
            print(f"{name}: {'failed' if wrong else 'named, and its twin silent'}", flush=True)
            shown += not wrong
            failures += wrong
    print("\n".join(failures) or f"{shown} mistakes named, {shown} twins silent")
    return 1 if failures else 0


sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The engine processes of a host."""
import os


def status(pid):
    with open(f"/proc/{pid}/status") as f:
        return dict(line.split(":\t", 1) for line in f.read().splitlines() if ":\t" in line)


def processes(host):
    """{pid: uid} of the engine processes in the host's network namespace."""
    net = os.stat(f"/var/run/netns/{host.name}").st_ino
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if (open(f"/proc/{pid}/comm").read().strip() == "uroce-engine" and
                    os.stat(f"/proc/{pid}/ns/net").st_ino == net):
                found[int(pid)] = int(status(pid)["Uid"].split()[0])
        except OSError:
            pass
    return found

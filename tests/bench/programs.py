# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Several pairs of programs of one device at once: what all of them carry, beside
what one pair does. Each program has its own engine, or all have the device's."""
import os
import subprocess

from lab import wait_for
from meters import MIB, last_numbers

PORT = 18700
MEASURES = {  # arguments of perftest; which of its numbers, its factor, in units of what
    "ib_write_bw 64 B, posts of 32": (("ib_write_bw", "-s", 64, "-l", 32), (-1, 1), "M/s"),
    "ib_send_bw 64 B, posts of 32": (("ib_send_bw", "-s", 64, "-l", 32), (-1, 1), "M/s"),
    "ib_write_bw 1 MiB": (("ib_write_bw", "-s", MIB), (3, MIB / 1e9), "GB/s"),
}


def counts():
    """1, 2, 4 … pairs, up to one program for each processor."""
    n, most = 1, max(1, (os.cpu_count() or 2) // 2)
    while n < most:
        yield n
        n *= 2
    yield most


def together(lab, pairs, seconds, args, number):
    """What all of them carry, in the seconds that perftest counts by itself: they
    begin together, and those in the middle of the run are counted (-D)."""
    base = [*map(str, args), "-d", "uroce0", "-x", "0", "-F", "-D", str(seconds)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    servers, clients = [], []
    try:
        for i in range(pairs):
            port = PORT + i
            servers.append(lab.a.popen(lab.a.uroce([*base, "-p", str(port)]), **quiet))
        for i in range(pairs):
            wait_for(args[0], lambda port=PORT + i: lab.a.listens(port))
        for i in range(pairs):
            clients.append(lab.b.popen(
                lab.b.uroce([*base, "-p", str(PORT + i), lab.a.addr]),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
        texts = [c.communicate(timeout=60 + seconds)[0] for c in clients]
        for s in servers:
            s.wait(20)
    finally:
        for p in clients + servers:
            p.kill()
            p.wait()
    which, factor = number
    return sum(last_numbers(text)[which] for text in texts) * factor


def rows(t, o, lab, path):
    for name, (args, number, unit) in MEASURES.items():
        for pairs in [1] if o.tiny else counts():
            t.value(path, f"{name}, {pairs} pair{'s' * (pairs > 1)} of programs", None,
                    lambda: together(lab, pairs, max(3, o.seconds), args, number), True, unit)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What it costs to register touched memory and to deregister it at once: the
first time, and again and again."""
from lab import sh

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
# bytes, pairs of which the median is taken, the goal, its unit in ns
SIZES = {"4 KiB": (4 * KIB, 500, None, 1e3), "64 KiB": (64 * KIB, 300, 15, 1e3),
         "1 MiB": (MIB, 100, None, 1e3), "64 MiB": (64 * MIB, 9, None, 1e6),
         "1 GiB": (GIB, 9, 1, 1e6)}
WAYS = {"first time": 1, "again and again": None}  # pairs; None: all of them


def pair_ns(lab, size, pairs):
    prog = [lab.bin("bench_registration"), str(size), str(pairs)]
    return float(sh("ip", "netns", "exec", lab.a.ns,
                    *lab.a.uroce(prog)).split()[-1])


def rows(t, o, lab, path):
    for size in ["64 KiB"] if o.tiny else SIZES:
        count, pairs, goal, unit = SIZES[size]
        for way, some in WAYS.items():
            t.value(path, f"register and deregister {size}, {way}", goal,
                    lambda: pair_ns(lab, count, some or pairs) / unit,
                    False, "ms" if unit == 1e6 else "us")

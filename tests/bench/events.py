# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs that sleep until something comes: over completion channels, and the
same over TCP, both with epoll (events.c)."""
import itertools
import statistics
import subprocess

from lab import wait_for

PORT = 7078
STYLES = (("send", "SEND"), ("ring", "WRITE with immediate data"))
CONNECTIONS = (1, 8, 64)
# bytes of an answer, requests on their way at once
SHAPES = ((64, 1), (64, 16), (65536, 1), (65536, 4))


def per_second(lab, style, connections, size, depth, seconds):
    args = [lab.a.addr, PORT, connections, depth, size]

    def command(host, role, *more):
        cmd = [lab.bin("bench_events"), role, style, *map(str, args),
               *map(str, more)]
        return cmd if style == "sock" else host.uroce(cmd)

    server = lab.a.popen(command(lab.a, "server"))
    wait_for("events", lambda: lab.a.listens(PORT))
    client = lab.b.popen(command(lab.b, "client", seconds),
                         stdout=subprocess.PIPE)
    try:
        out, _ = client.communicate(timeout=60)
        if client.returncode or server.wait(20):
            raise RuntimeError(f"events {style}: {client.returncode} "
                               f"{server.returncode}")
    finally:
        for p in client, server:
            p.kill()
            p.wait()
    return float(out)


def name(style, connections, size, depth):
    shape = f"{size} B" if size < 1024 else f"{size >> 10} KiB"
    return (f"{style} {shape}" + (f", {depth} at once" if depth > 1 else "") +
            f", {connections} connection" + "s" * (connections > 1) + " / TCP")


def rows(t, o, lab, path):
    """Each point: TCP and both styles in turn, as often as there are rounds."""
    points = list(itertools.product(SHAPES, CONNECTIONS))
    if o.tiny:
        points = [((64, 1), 1), ((65536, 4), 8)]
    seconds = 0.2 if o.tiny else o.seconds / 2
    for (size, depth), connections in points:
        names = {s: "events, " + name(words, connections, size, depth)
                 for s, words in STYLES}
        wanted = [s for s, _ in STYLES if t.wanted(f"{path} {names[s]}")]
        if not wanted:
            continue
        got = [{s: per_second(lab, s, connections, size, depth, seconds)
                for s in ["sock"] + wanted} for _ in range(o.rounds)]
        for s in wanted:
            ratios = sorted(g[s] / g["sock"] for g in got)
            mid = statistics.median(ratios)
            pair = [statistics.median(g[x] for g in got) for x in (s, "sock")]
            mb = [x * (size + 64) / 1e6 for x in pair]
            t.add(path, names[s],
                  f"{mid:.2f} [{ratios[0]:.2f}..{ratios[-1]:.2f}]",
                  f"{pair[0] / 1e3:.3g} : {pair[1] / 1e3:.3g} thousand/s, "
                  f"{mb[0]:.3g} : {mb[1]:.3g} MB/s", ">= 1.0", mid >= 1.0)

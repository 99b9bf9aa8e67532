#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Measures bandwidth, latency and programs that sleep beside TCP and UDP, and draws it.

    python3 tests/bench/plots.py [--build DIR] [--rounds N] [--tiny]

Writes doc/plots/*.svg (with --tiny into a folder that is deleted) and prints the numbers.
Needs what bench.py needs, and a quiet machine. Each point is the median of the rounds, in
which ours and the yardstick take turns.
"""
import argparse
import itertools
import pathlib
import statistics
import sys
import tempfile

import bench
import events
from lab import Lab
from meters import bandwidth, latency_us, tcp, udp_latency_us

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import chart  # pylint: disable=wrong-import-position

PATHS = (("one-host", "one host", None), ("two-hosts", "two hosts, MTU 1500", 1500))


def text_of(size):
    for unit, shift in ("MiB", 20), ("KiB", 10):
        if size >= 1 << shift:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def medians(rounds, measures):
    """measures: name -> function. Each in turn, in each round."""
    got = [{name: f() for name, f in measures.items()} for _ in range(rounds)]
    return {name: statistics.median(g[name] for g in got) for name in measures}


def by_size(sizes, rounds, measures_of, title, unit, name):
    """Draws a line for each measure over the sizes."""
    points = {}
    for size in sizes:
        for what, value in medians(rounds, measures_of(size)).items():
            points.setdefault(what, []).append(value)
    print(f"\n{title}, {unit}\n| | " + " | ".join(map(text_of, sizes)) + " |\n" +
          "|---" * (len(sizes) + 1) + "|")
    for what, values in points.items():
        print(f"| {what} | " + " | ".join(f"{v:.3g}" for v in values) + " |", flush=True)
    picture = chart.Chart(title, "bytes of a message", unit,
                          chart.round_up(max(map(max, points.values()))))
    places = [i / (len(sizes) - 1) for i in range(len(sizes))]
    for x, size in zip(places, sizes):
        picture.tick(x, text_of(size))
    for what, values in points.items():
        picture.line(what, list(zip(places, values)))
    picture.write(name)


def bandwidths(lab, o, place, path):
    sizes = (1024, 65536) if o.tiny else [1 << n for n in range(8, 21, 2)]

    def of(size):
        return {**{prog[3:-3].upper(): lambda p=prog: bandwidth(lab, p, o.seconds, size) / 1e9
                   for prog in ("ib_write_bw", "ib_send_bw", "ib_read_bw")},
                "TCP": lambda: tcp(lab, o.seconds, 1, "-l", str(size)) / 1e9}
    by_size(sizes, o.rounds, of, f"Bandwidth, {path}", "GB/s", "bandwidth-" + place)


def latencies(lab, o, place, path):
    sizes = (64, 1024) if o.tiny else [1 << n for n in range(6, 16)]

    def of(size):
        return {"SEND": lambda: latency_us(lab, "ib_send_lat", o.count, size),
                "WRITE": lambda: latency_us(lab, "ib_write_lat", o.count, size),
                "UDP": lambda: udp_latency_us(lab, o.count, size)}
    by_size(sizes, o.rounds, of, f"Half a round trip, {path}", "us", "latency-" + place)


def sleepers(lab, o, place, path):
    points = list(itertools.product(events.SHAPES, events.CONNECTIONS))[:2 if o.tiny else None]
    series = {words: [] for _, words in events.STYLES}
    for (size, depth), connections in points:
        got = medians(o.rounds, {
            style: lambda s=style: events.per_second(lab, s, connections, size, depth, 1)
            for style in ("sock", "send", "ring")})
        for style, words in events.STYLES:
            series[words].append(got[style] / got["sock"])
    groups = [f"{text_of(size)} x{depth}, {n}" for (size, depth), n in points]
    print(f"\nPrograms that sleep, {path}: ours / TCP\n| | " + " | ".join(groups) + " |\n" +
          "|---" * (len(groups) + 1) + "|")
    for words, values in series.items():
        print(f"| {words} | " + " | ".join(f"{v:.2f}" for v in values) + " |", flush=True)
    picture = chart.Chart(f"Programs that sleep, {path}: requests / TCP's", "", "TCP is 1", 4)
    picture.bars(groups, [(words.replace("WRITE with immediate data", "WRITE with imm."), v)
                          for words, v in series.items()], upright=True)
    picture.level(1)
    picture.write("sleepers-" + place)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--build", default=f"{bench.TOP}/build")
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--tiny", action="store_true", help="for CI: does it run?")
    o = ap.parse_args()
    o.rounds, o.seconds, o.count = (1, 1, 500) if o.tiny else (o.rounds, 1, 10000)
    if not bench.may_measure():
        return bench.SKIP
    print(bench.machine(o.build))
    with tempfile.TemporaryDirectory() as nowhere:
        if o.tiny:
            chart.PLOTS = pathlib.Path(nowhere)
        for place, path, mtu in PATHS[:1] if o.tiny else PATHS:
            with Lab(o.build, mtu) as lab:
                bandwidths(lab, o, place, path)
                latencies(lab, o, place, path)
                sleepers(lab, o, place, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""totals.py [--add FILE | --check DOCUMENT]: how much the fuzz targets have run.

totals.tsv has a line for each run: date, target, runs, seconds of processor
time. Prints their sum in one line, which doc/security.md has word for word.
--add takes lines that search.sh has written (build/fuzz/found/runs.tsv) into
totals.tsv, and empties that file. --check fails where the document has another
line.
"""
import os
import sys

TOTALS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "totals.tsv")


def read(path):
    """Returns the lines of a file as [date, target, runs, seconds]."""
    rows = []
    with open(path, encoding="ascii") as f:
        for line in f:
            if line.startswith("#"):
                continue
            date, target, runs, seconds = line.split("\t")
            rows.append((date, target, int(runs), int(seconds)))
    return rows


def summary(rows):
    """Returns the sum of the rows as a sentence."""
    runs = sum(r[2] for r in rows)
    hours = sum(r[3] for r in rows) / 3600
    targets = {r[1] for r in rows}
    days = sorted(r[0] for r in rows)
    return (f"{runs / 1e6:,.0f} million runs of {len(targets)} targets, "
            f"{hours:.1f} hours of processor time, {days[0]} to {days[-1]}")


def main():
    args = sys.argv[1:]
    if args[:1] == ["--add"] and len(args) == 2:
        new = read(args[1])
        with open(TOTALS, "a", encoding="ascii") as f:
            for row in new:
                f.write("\t".join(map(str, row)) + "\n")
        os.truncate(args[1], 0)
    elif args and not (args[0] == "--check" and len(args) == 2):
        sys.exit(__doc__)
    line = summary(read(TOTALS))
    print(line)
    if args[:1] == ["--check"]:
        with open(args[1], encoding="utf-8") as f:
            if line not in f.read():
                sys.exit(f"{args[1]} does not have this line")


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Test suites that others wrote, on a device of ours, held against expected.tsv.

    judge.py [--engine process|apart] [--xml FILE] [--seen FILE] [SUITE[/PART][:TEST]]...

TEST is a pattern. Without arguments all suites that are at hand, with each engine:
README.md says which variables name them. --seen writes the outcomes, a line each, too. Root."""
import argparse
import fnmatch
import os
import sys
import time
from xml.sax.saxutils import quoteattr

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import table
from suites import SUITES
from world import World, enter


ALL = "all of it"
ENGINES = "process", "apart"


def wants(words, suite, part):
    """The patterns of tests that are asked for of a part; None: none of it."""
    if not words:
        return ["*"]
    found = []
    for word in words:
        place, _, test = word.partition(":")
        if place in (suite, f"{suite}/{part}"):
            found.append(test or "*")
    return found or None


def run_suite(suite, engine, args, rows, seen_file):
    """[(name of the part and engine, cases)], of a suite whose programs are there."""
    path, result = os.environ.get(suite.variable), []
    for part, program in suite.parts(path) if path else []:
        patterns = wants(args.words, suite.name, part)
        if not patterns:
            continue
        where, left_out = f"{suite.name}/{part}", {}

        def wanted(test):
            if not any(fnmatch.fnmatchcase(test, p) for p in patterns):
                return False
            row = table.row_of(rows, where, engine, test)
            if row and row.outcome == "left-out" and not args.all:
                left_out[test] = "left-out"
                return False
            return True
        began = time.monotonic()
        world = World(suite.device, engine)
        try:
            seen = suite.run(world, program, wanted, args.seconds or suite.seconds)
        finally:
            world.close()
        for test, got in seen.items():
            print(f"{where}\t{engine}\t{test}\t{got}", file=seen_file, flush=True)
        cases = table.judge(rows, where, engine, {**seen, **left_out},
                            patterns == ["*"])
        for test, verdict, text in cases:
            if verdict == "failed":
                print(f"FAILED {where} ({engine}) {test}: {text}")
        print(f"{where} ({engine}): {time.monotonic() - began:.0f} s; {counts(cases)}", flush=True)
        result.append((f"{where} ({engine})", cases))
    return result


def counts(cases):
    return ", ".join(f"{sum(c[1] == v for c in cases)} {v}" for v in ("passed", "failed", "skipped"))


def write_xml(path, result):
    with open(path, "w") as f:
        f.write('<?xml version="1.0"?>\n<testsuite name="judges">\n')
        for where, cases in result:
            for test, verdict, text in cases:
                f.write(f"<testcase classname={quoteattr(where)} name={quoteattr(test)}>")
                if verdict != "passed":
                    tag = "skipped" if verdict == "skipped" else "failure"
                    f.write(f"<{tag} message={quoteattr(text)}/>")
                f.write("</testcase>\n")
        f.write("</testsuite>\n")


def main():
    ap = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--engine", choices=ENGINES, help="only this one")
    ap.add_argument("--xml", help="JUnit file to write, if any suite is at hand")
    ap.add_argument("--seen", default=os.devnull)
    ap.add_argument("--seconds", type=int, help="the time for one test")
    ap.add_argument("--all", action="store_true", help="run what is left out, too")
    ap.add_argument("words", nargs="*")
    args = ap.parse_args()
    rows, result = table.read(), []
    suites = [s for s in SUITES if not args.words or
              any(w.partition(":")[0].partition("/")[0] == s.name for w in args.words)]
    if any(os.environ.get(s.variable) for s in suites):
        enter()
        World.cable()
    with open(args.seen, "w") as seen_file:
        for suite in suites:
            done = [part for engine in ENGINES if args.engine in (None, engine)
                    for part in run_suite(suite, engine, args, rows, seen_file)]
            if not done:
                why = f"{suite.variable} names no programs of it"
                print(f"{suite.name}: skipped: {why}")
                done = [(suite.name, [(ALL, "skipped", why)])]
            result += done
    if args.xml and any(c[0][0] != ALL for _, c in result):
        write_xml(args.xml, result)
    cases = [c for _, part in result for c in part]
    print(counts(cases))
    return 1 if any(c[1] == "failed" for c in cases) else 0


if __name__ == "__main__":
    sys.exit(main())

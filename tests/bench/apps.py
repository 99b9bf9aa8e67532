#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The programs of tests/apps between two hosts, beside the same over TCP, in turn.

    apps.py [--rounds N] [--build DIR] [--engine device] [--only TEXT]

Needs root and what those tests need. Prints for each the median of the rounds'
ratios with the lowest and the highest, and both in MB/s. --only: tests whose
names contain it (openmpi, gloo ...).
"""
import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOAL = 0.9


def measure(build, rounds, only=None, engine=None):
    """Yields a dictionary of what each test has noted."""
    env = dict(os.environ, UROCE_FULL="1", UROCE_BUILD=os.path.abspath(build),
               UROCE_APPS_ROUNDS=str(max(2, rounds)))
    if engine:
        env["UROCE_ENGINE"] = engine
    # One host alone, IPv6 and loss are other rows of doc/applications.md.
    which = "two_hosts and not IPv6" + (f" and ({only})" if only else "")
    with tempfile.TemporaryDirectory() as folder:
        results = os.path.join(folder, "apps.xml")
        done = subprocess.run(
            ["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider",
             "-o", "junit_family=xunit1", "--junitxml", results, "-k", which,
             os.path.join(TOP, "tests/apps")], env=env, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if not os.path.exists(results):
            sys.exit(done.stdout)
        for case in ET.parse(results).getroot().iter("testcase"):
            for tag in "failure", "error":
                for why in case.iter(tag):
                    print(why.text[-3000:], file=sys.stderr)
            yield {"name": case.get("name"),
                   **{p.get("name"): p.get("value") for p in case.iter("property")}}


def rows(add, build, rounds, only=None, engine=None):
    """add(): of bench.py's table."""
    for got in measure(build, rounds, only, engine):
        name = f"{got.get('program', got['name'])}, {got.get('variant', '')} / TCP"
        if "ratios" not in got:
            add("two hosts, MTU 1500", name, "failed", "", f">= {GOAL}", False)
            continue
        mid, low, high = map(float, got["ratios"].split())
        add("two hosts, MTU 1500", name, f"{mid:.2f} [{low:.2f}..{high:.2f}]",
            f"{got['uroce']} : {got['tcp']} MB/s", f">= {GOAL}", mid >= GOAL)


def show(*row):
    print("| " + " | ".join(map(str, row[:-1])) + f" | {'met' if row[-1] else '**missed**'} |",
          flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--build", default=os.path.join(TOP, "build"))
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--engine", choices=("process", "device"))
    ap.add_argument("--only")
    o = ap.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, TCP cubic\n")
    rows(show, o.build, o.rounds, o.only, o.engine)


if __name__ == "__main__":
    main()

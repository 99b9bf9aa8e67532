#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""doc/applications.md from the results of a full run:

    UROCE_FULL=1 tests/all.sh apps
    tests/apps/table.py build/results/apps.xml > doc/applications.md

Of several files, when the tests were run in parts, all rows."""
import os
import sys
import xml.etree.ElementTree as ET

COLUMNS = ["one host", "two hosts", "1 % loss", "two hosts, IPv6",
           "1 % loss, IPv6"]


def properties(node):
    found = node.find("properties")
    return {p.get("name"): p.get("value") for p in
            (found if found is not None else ())}


def cell(case, row):
    if any(case.find(tag) is not None for tag in ("failure", "error")):
        return "**FAIL**"
    return (f"{float(row['uroce']) / float(row['tcp']):.2f} "
            f"({row['uroce']} : {row['tcp']})")


def main():
    suites = [ET.parse(path).getroot().find("testsuite") for path in
              sys.argv[1:] or ["build/results/apps.xml"]]
    about = properties(suites[0])
    rows = {}
    for case in (c for suite in suites for c in suite.iter("testcase")):
        row = properties(case)
        if case.get("classname", "").endswith("test_runtimes"):
            continue  # measures nothing
        if "cell" not in row:
            sys.exit(f"{case.get('name')} has noted nothing")
        assert row["cell"] in COLUMNS, row
        rows.setdefault((row["program"], row["variant"]), {})[
            row["cell"]] = cell(case, row)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                           "table.md")) as f:
        print(f.read().replace("MACHINE", about["machine"]).rstrip())
    print()
    print("| program | over | " + " | ".join(COLUMNS) + " |")
    print("|---" * (2 + len(COLUMNS)) + "|")
    for (program, variant), cells in rows.items():
        print(f"| {program} | {variant} | " +
              " | ".join(cells.get(c, "") for c in COLUMNS) + " |")


main()

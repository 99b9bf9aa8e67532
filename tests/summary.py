#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Add up JUnit files: a line a stage, what failed and what was skipped and
why, and how a test failed, also one that passed when it was run once more
(once_more.py); then `flaky: NAME` for each of those, and last the line `N passed, N failed, N skipped`. Status 1 when a
test failed, or a stage left no result or ran nothing."""
import os
import sys
import xml.etree.ElementTree as ET

LONGEST = 600


def verdict(case):
    for tag in ("failure", "error"):
        if case.find(tag) is not None:
            return "failed", ""
    skip = case.find("skipped")
    if skip is not None:
        return "skipped", skip.get("message") or ""
    return "passed", ""


def how_it_failed(case):
    """What pytest says, in a line; of ctest's the end of what was printed."""
    found = next(case.find(t) for t in ("flakyFailure", "failure", "error")
                 if case.find(t) is not None)
    text = found.get("message") or ""
    if len(text) < 20:  # ctest says "Failed" at most
        text = case.findtext("system-out", "")[-LONGEST:] or text
    return " ".join(text.split())[:LONGEST]


def main(paths):
    total = {"passed": 0, "failed": 0, "skipped": 0}
    bad, flaky = False, []
    for path in paths:
        stage = os.path.splitext(os.path.basename(path))[0]
        count = dict.fromkeys(total, 0)
        reasons = {}
        try:
            cases = list(ET.parse(path).getroot().iter("testcase"))
        except (OSError, ET.ParseError) as e:
            print(f"{stage}: no result ({e})")
            cases, bad = [], True
        for case in cases:
            what, why = verdict(case)
            count[what] += 1
            name = f"{case.get('classname', '')}.{case.get('name', '')}"
            if what == "failed":
                print(f"{stage}: FAILED {name}: {how_it_failed(case)}")
            elif case.find("flakyFailure") is not None:
                print(f"{stage}: failed once: {name}: {how_it_failed(case)}")
                flaky.append(f"{name} ({stage})")
            elif what == "skipped":
                reasons.setdefault(why, []).append(name)
        for why, names in sorted(reasons.items()):
            print(f"{stage}: skipped {len(names)}: {why or 'no reason given'}")
        if count["passed"] + count["failed"] == 0:
            print(f"{stage}: ran nothing")
            bad = True
        print(f"{stage}: {count['passed']} passed, {count['failed']} failed, "
              f"{count['skipped']} skipped in this stage")
        for what in total:
            total[what] += count[what]
    for name in flaky:
        print(f"flaky: {name}")
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**total))
    return 1 if bad or total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

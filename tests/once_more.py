#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""usage: once_more.py RESULT.xml AGAIN.xml

RESULT.xml is the JUnit file of a run in which tests failed, AGAIN.xml that of the
same tests, run once more by themselves. Who passed now counts as passed, and is
flaky: its failure stays in RESULT.xml as <flakyFailure>. A sanitizer's report is
never forgiven. Status 0 where nothing else has failed.

usage: once_more.py --worth RESULT.xml

Status 0 where tests failed, and few enough that another run may tell chance from
fault."""
import sys
import xml.etree.ElementTree as ET

# More than that is no chance.
FEW = 8
BAD = "failure", "error"
REPORTS = ("AddressSanitizer", "LeakSanitizer", "ThreadSanitizer", "MemorySanitizer",
           "runtime error:")


def read(path):
    """The document, and its cases by name, of which a test may have several: its
    end is one of its own where that fails too."""
    tree = ET.parse(path)
    cases = {}
    for case in tree.getroot().iter("testcase"):
        cases.setdefault((case.get("classname"), case.get("name")), []).append(case)
    return tree, cases


def is_bad(case):
    return any(case.find(tag) is not None for tag in BAD)


def has_report(case):
    text = "".join(case.itertext()) + "".join(
        found.get("message", "") for found in case)
    return any(word in text for word in REPORTS)


def left_out(case):
    """Whether it was skipped, but for one that tried all that can be tried here."""
    return (case.find("skipped") is not None and
            "skipped: all else passed" not in "".join(case.itertext()))


def passed(cases):
    return bool(cases) and not any(is_bad(c) or left_out(c) for c in cases)


def forgive(case):
    for tag in BAD:
        for found in case.findall(tag):
            found.tag = "flakyFailure"
    if case.get("status") == "fail":  # ctest's word
        case.set("status", "run")


def merge(path, again):
    tree, cases = read(path)
    _, second = read(again)
    left = 0
    for name, of_test in cases.items():
        if not any(map(is_bad, of_test)):
            continue
        if passed(second.get(name)) and not any(map(has_report, of_test)):
            for case in of_test:
                forgive(case)
        else:
            left += 1
    tree.write(path, encoding="utf-8", xml_declaration=True)
    return left


def main(first, second):
    if first == "--worth":
        bad = sum(any(map(is_bad, c)) for c in read(second)[1].values())
        return 0 if 0 < bad <= FEW else 1
    return 1 if merge(first, second) else 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (OSError, ET.ParseError) as e:
        print(f"once_more.py: {e}")
        sys.exit(1)

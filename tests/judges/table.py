# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""expected.tsv: the outcomes that are not `passed`, each with its reason, and what comes of
comparing. A line has suite, engine, test, outcome and reason, with a tab between.
suite: as in suites.py, with `/` and the part where a suite has some. engine: of the program
(process), of an engine process (apart), or * for both. test: a name, or a pattern in which * stands
for anything; the first line that fits counts. outcome: one of suites.py's, `left-out` for a
test that is not run, or several with `|` between, where the host or chance decides."""
import fnmatch
import os
import re
from typing import NamedTuple

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected.tsv")
OUTCOMES = {"passed", "failed", "skipped", "crashed", "stuck", "left-out"}


class Row(NamedTuple):
    suite: str
    engine: str
    test: str
    outcome: str
    reason: str

    def fits(self, suite, engine, test):
        return (fnmatch.fnmatchcase(suite, re.sub(r"\[", "[[]", self.suite)) and
                self.engine in ("*", engine) and
                fnmatch.fnmatchcase(test, re.sub(r"\[", "[[]", self.test)))


def read(path=PATH):
    rows = []
    with open(path) as f:
        for number, line in enumerate(f, 1):
            if not line.strip() or line.startswith("#"):
                continue
            row = Row(*line.rstrip("\n").split("\t"))
            outcomes = set(row.outcome.split("|"))
            if not outcomes <= OUTCOMES or outcomes == {"passed"} or row.engine not in ("*", "process", "apart") or \
                    len(row.reason) < 10:
                raise ValueError(f"{path}:{number}: {line}")
            rows.append(row)
    return rows


def row_of(rows, suite, engine, test):
    return next((r for r in rows if r.fits(suite, engine, test)), None)


def judge(rows, suite, engine, seen, whole=True):
    """[(test, verdict, text)]: passed as the table has it, skipped with the reason where
    that is a deviation which was seen again, else failed. whole: all tests have run, so
    that each line of the table is of some test."""
    cases, used = [], set()
    for test, got in sorted(seen.items()):
        row = row_of(rows, suite, engine, test)
        want = row.outcome if row else "passed"
        used.add(row)
        if got not in want.split("|"):
            cases.append((test, "failed", f"{got}, expected {want}"))
        elif got == "passed":
            cases.append((test, "passed", ""))
        else:
            cases.append((test, "skipped", f"{got}: {row.reason}"))
    if not seen:
        cases.append(("all", "failed", "no test has run"))
    for row in rows if whole and seen else []:
        mine = fnmatch.fnmatchcase(suite, row.suite) and row.engine in ("*", engine)
        if mine and row not in used and "*" not in row.suite:
            cases.append((row.test, "failed", "expected.tsv has a line for no test"))
    return cases

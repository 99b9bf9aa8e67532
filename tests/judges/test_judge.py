# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the judges' runner reads, and that it fails where it must: without a suite at hand."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import suites
import table
from table import Row


def read_all(read, text):
    return [got for got in map(read, text.splitlines()) if got]


def test_lists_of_tests():
    text = """WARNING: something of the program's.
One.
  First
  Second  # GetParam() = 7
Many/Two.
  First/0
  DISABLED_Third
said at the end
  not a test
"""
    assert suites.gtest_names(text) == ["One.First", "One.Second", "Many/Two.First/0"]


def test_lines_of_gtest():
    text = """[==========] Running 4 tests from 1 test suite.
[ RUN      ] A.passes
[       OK ] A.passes (3 ms)
[ RUN      ] A.fails/0
a line with no end[  FAILED  ] A.fails/0, where GetParam() = 4 (12 ms)
[ RUN      ] A.skips
[  SKIPPED ] A.skips (0 ms)
[ RUN      ] A.dies <rc_verbs/uroce0:1>
[  FAILED  ] 1 test, listed below:
[  FAILED  ] A.fails/0, where GetParam() = 4
"""
    assert read_all(suites.gtest_line, text) == [
        ("A.passes", None), ("A.passes", "passed"), ("A.fails/0", None), ("A.fails/0", "failed"),
        ("A.skips", None), ("A.skips", "skipped"), ("A.dies", None)]


def test_lines_of_fabtests():
    text = """# Test                          Result
fi_av_test -g 10.77.0.1 -n 1 -s 10.77.0.1 -e rdm -p "verbs":        Pass
fi_rdm -U -p "verbs;ofi_rxm":       Fail
fi_dgram g00n13s -p "verbs":      Notrun
# Total Pass                                                 1
"""
    assert read_all(lambda line: suites.fabtests_line(line, "10.77.0.1"), text) == [
        ("fi_av_test -g ADDRESS -n 1 -s ADDRESS -e rdm", "passed"), ("fi_rdm -U", "failed"),
        ("fi_dgram g00n13s", "skipped")]


class Stub:
    """A world in which a program ends in its second test, and hangs in its third."""
    address = "10.77.0.1"

    def __init__(self):
        self.runs = 0

    @staticmethod
    def text(_):
        return "A.\n  a\n  b\n  c\n  d\n  e\n"

    def follow(self, cmd, line, _):
        tests = cmd[-1].removeprefix("--gtest_filter=").split(":")
        self.runs += 1
        for test in tests:
            line(f"[ RUN      ] {test}\n")
            if test == "A.b":
                return "crashed"
            if test == "A.c":
                return "stuck"
            line(f"[       OK ] {test} (1 ms)\n")
        return "crashed"


def test_what_follows_a_crash_is_run():
    world = Stub()
    seen = suites.Gtest("x", "X", None, "d").run(world, "x", lambda t: t != "A.e", 1)
    assert seen == {"A.a": "passed", "A.b": "crashed", "A.c": "stuck", "A.d": "passed"}
    assert world.runs == 3


def test_a_program_that_runs_nothing_fails():
    class Silent(Stub):
        def follow(self, *_):
            return "crashed"
    seen = suites.Gtest("x", "X", None, "d").run(Silent(), "x", lambda t: True, 1)
    assert set(seen.values()) == {"missing"} and len(seen) == 5
    assert table.judge([], "x", "process", {}, True)[0][1] == "failed"


ROWS = [Row("x", "*", "A.b", "failed", "a reason of its own"),
        Row("x", "apart", "A.c*", "skipped", "a reason of its own"),
        Row("x", "*", "A.d", "passed|failed", "a reason of its own"),
        Row("x", "*", "A.e", "left-out", "a reason of its own")]


@pytest.mark.parametrize("test, got, engine, verdict", [
    ("A.a", "passed", "process", "passed"), ("A.a", "failed", "process", "failed"),
    ("A.a", "skipped", "process", "failed"), ("A.a", "missing", "process", "failed"),
    ("A.b", "failed", "apart", "skipped"), ("A.b", "passed", "apart", "failed"),
    ("A.b", "crashed", "apart", "failed"), ("A.c/1", "skipped", "apart", "skipped"),
    ("A.c/1", "skipped", "process", "failed"), ("A.d", "passed", "process", "passed"),
    ("A.d", "failed", "process", "skipped"), ("A.d", "stuck", "process", "failed"),
    ("A.e", "left-out", "process", "skipped")])
def test_each_difference_fails(test, got, engine, verdict):
    assert [c[1] for c in table.judge(ROWS, "x", engine, {test: got}, False)] == [verdict]


def test_a_line_for_no_test_fails():
    seen = {"A.b": "failed", "A.d": "passed", "A.e": "left-out"}
    assert [c[1] for c in table.judge(ROWS, "x", "process", seen)] == ["skipped", "passed", "skipped"]
    del seen["A.d"]
    assert [c[:2] for c in table.judge(ROWS, "x", "process", seen)][-1] == ("A.d", "failed")


def test_the_table_is_whole():
    rows = table.read()
    names = {s.name for s in suites.SUITES}
    assert rows and {r.suite.partition("/")[0] for r in rows} <= names
    assert len({r[:3] for r in rows}) == len(rows)


@pytest.mark.parametrize("suite", suites.SUITES, ids=lambda s: s.name)
def test_is_at_hand(suite):
    """Skipped where it is not; judge.py runs what is there."""
    path = os.environ.get(suite.variable)
    if not path:
        pytest.skip(f"{suite.variable} names no programs of it")
    assert suite.parts(path), f"{suite.variable}: no programs in {path}"

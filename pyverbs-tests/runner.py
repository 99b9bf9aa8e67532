#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run test modules of rdma-core's pyverbs suite, unedited, and write one line
of JSON per test: id, outcome (pass, skip, fail, error), reason.

    runner.py SUITE_DIR OUT DEVICE PORT GID_INDEX MODULE[.Class[.test]]..."""
import json
import os
import sys
import unittest
from importlib.machinery import SourceFileLoader


class Recorder(unittest.TextTestResult):
    out = None

    def record(self, test, outcome, reason=""):
        # Some tests fork: only the process that runs the suite reports.
        if os.getpid() == self.owner:
            name = test.id().removeprefix("tests.")
            self.out.write(json.dumps([name, outcome, reason]) + "\n")
            self.out.flush()

    def startTest(self, test):
        super().startTest(test)
        self.record(test, "start")

    def addSuccess(self, test):
        super().addSuccess(test)
        self.record(test, "pass")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.record(test, "skip", reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.record(test, "fail", str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.record(test, "error", f"{err[0].__name__}: {err[1]}")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.record(test, "fail", str(err[1]))


def main():
    suite_dir, out, device, port, gid = sys.argv[1:6]
    names = sys.argv[6:]
    sys.path.insert(0, suite_dir)
    # The suite's own options, given as its run_tests.py would see them.
    sys.argv = ["run_tests.py", "--dev", device, "--port", port, "--gid", gid]
    os.chdir(suite_dir)
    from args_parser import parser
    tests = SourceFileLoader("tests", os.path.join(suite_dir, "__init__.py")).load_module()
    parser.parse_args()
    Recorder.out = open(out, "a")
    Recorder.owner = os.getpid()
    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite()
    for n in names:
        module = n.split(".")[0]
        __import__(f"tests.{module}")
        suite.addTest(loader.loadTestsFromName(f"tests.{n}"))
    del tests
    unittest.TextTestRunner(verbosity=2, resultclass=Recorder).run(suite)


main()

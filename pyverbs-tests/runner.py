#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Run test modules of rdma-core's pyverbs suite, unedited, and write one line
of JSON per test: id, outcome (pass, skip, fail, error), reason.

    runner.py SUITE_DIR OUT DEVICE PORT GID_INDEX APART MODULE[.Class[.test]]...

APART: {} or, as JSON, where the players of a test are put (apart.py). A test
that then passes with nothing on the wire between them is "alone". With a player in
it, this is the other half of a test (far.py)."""
import json
import os
import sys
import unittest
from importlib.machinery import SourceFileLoader


class Recorder(unittest.TextTestResult):
    out = apart = None

    def record(self, test, outcome, reason=""):
        # Some tests fork: only the process that runs the suite reports.
        if os.getpid() == self.owner:
            name = test.id().removeprefix("tests.")
            self.out.write(json.dumps([name, outcome, reason]) + "\n")
            self.out.flush()

    def startTest(self, test):
        super().startTest(test)
        self.record(test, "start")
        if self.apart:
            self.apart.start_test()

    def stopTest(self, test):
        if self.apart and os.getpid() == self.owner:
            self.apart.stop_test()
        super().stopTest(test)

    def addSuccess(self, test):
        super().addSuccess(test)
        alone = self.apart and not self.apart.carried()
        self.record(test, "alone" if alone else "pass")

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
    conf, names = json.loads(sys.argv[6]), sys.argv[7:]
    sys.path.insert(0, suite_dir)
    # The suite's own options, given as its run_tests.py would see them.
    sys.argv = ["run_tests.py", "--dev", device, "--port", port, "--gid", gid]
    os.chdir(suite_dir)
    from args_parser import parser
    tests = SourceFileLoader("tests", os.path.join(suite_dir, "__init__.py")).load_module()
    parser.parse_args()
    if "player" in conf:
        __import__(conf["player"][0])
    if conf:
        from apart import Apart
        Recorder.apart = Apart(conf)
    if "player" in conf:
        import far
        far.play(conf)
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

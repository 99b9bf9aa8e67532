# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The judges: where each one's programs are, how it is started, and what the lines that
it prints mean. An outcome is passed, failed, skipped, crashed (its process has
ended) or stuck (no answer within the time for one test)."""
import glob
import os
import re

# gtest's words; a failed test with a parameter says which before its time, and UCX says
# it in brackets where one begins.
GTEST = re.compile(r"\[( RUN      |       OK |  FAILED  |  SKIPPED )\] ([^\s,]+?)(?: <.*>|,.*?)?"
                   r"( \(\d+ ms\))?\s*$")
ENDS = {"       OK ": "passed", "  FAILED  ": "failed", "  SKIPPED ": "skipped"}
FABTESTS = re.compile(r'^(fi_.*?) -p "([^"]*)":\s+(Pass|Fail|Notrun|Excluded)$')
WORDS = {"Pass": "passed", "Fail": "failed", "Notrun": "skipped", "Excluded": "skipped"}


def gtest_names(text):
    """The tests that --gtest_list_tests names. A line that is not indented is a group of
    them, or something that the program says about itself."""
    names, group = [], None
    for line in text.splitlines():
        line = line.split("  # ")[0].rstrip()
        if re.fullmatch(r"\S+\.", line):
            group = line
        elif group and re.fullmatch(r"  \S+", line):
            names.append(group + line.strip())
        else:
            group = None
    return [n for n in names if "DISABLED_" not in n]


def gtest_line(line):
    """(test, None) where one begins, (test, outcome) where it ends, else None. What a
    test prints may stand before its end in the same line. The list of failures at the
    end of a run has no time, and is no end of a test."""
    m = GTEST.search(line)
    if not m or (m[1] != " RUN      " and not m[3]):
        return None
    return m[2], ENDS.get(m[1])


def fabtests_line(line, address):
    """The same of runfabtests.sh, which says no begin. The address is left out of the name."""
    m = FABTESTS.match(line.rstrip())
    return (m[1].replace(address, "ADDRESS"), WORDS[m[3]]) if m else None


class Gtest:
    """Programs of googletest, one of which takes the next where a test ended it."""

    def __init__(self, name, variable, programs, device, arguments=(), chosen="*", seconds=300):
        self.name, self.variable, self.programs = name, variable, programs
        self.device, self.arguments, self.chosen = device, list(arguments), chosen
        self.seconds = seconds

    def parts(self, path):
        """(name of the part, program) of each."""
        found = sorted(glob.glob(os.path.join(path, self.programs)) if self.programs else [path])
        return [(os.path.basename(p), p) for p in found if os.access(p, os.X_OK)]

    def run(self, world, program, wanted, limit):
        """{test: outcome} of those that are wanted."""
        listing = world.text([program, *self.arguments, "--gtest_list_tests",
                              f"--gtest_filter={self.chosen}"])
        todo, seen = [n for n in gtest_names(listing) if wanted(n)], {}
        while todo:
            last = None

            def line(text):
                nonlocal last
                got = gtest_line(text)
                if got and got[1]:
                    seen[got[0]] = got[1]
                last = (got[0] if not got[1] else None) if got else last
                return got is not None
            how = world.follow([program, *self.arguments,
                                f"--gtest_filter={':'.join(todo)}"], line, limit)
            if last and last not in seen:
                seen[last] = how
            left = [n for n in todo if n not in seen]
            if len(left) == len(todo):
                seen.update({n: "missing" for n in left})
                break
            todo = left
        return seen


class Fabtests:
    """libfabric's own script, for one provider after the other."""
    name, variable = "fabtests", "UROCE_FABTESTS"
    device, seconds = "uroce0", 120
    providers = "verbs", "verbs;ofi_rxm", "verbs;ofi_rxd"

    def parts(self, path):
        script = os.path.join(path, "bin", "runfabtests.sh")
        return [(p, f"{script} {p}") for p in self.providers if os.access(script, os.X_OK)]

    def run(self, world, part, wanted, limit):
        script, provider = part.split(" ", 1)
        seen = {}

        def line(text):
            got = fabtests_line(text, world.address)
            if got and wanted(got[0]):
                seen[got[0]] = got[1]
            return got is not None
        # What it leaves out for a provider it looks for where it is started.
        world.link(os.path.join(os.path.dirname(os.path.dirname(script)), "share", "fabtests",
                                "test_configs"))
        # Its own limit is for each program of a test; ours, for both, is for a script that hangs.
        world.follow([script, "-T", str(limit), "-p", os.path.dirname(script), "-s", world.address,
                      "-c", world.address, provider], line, 3 * limit)
        return seen


SUITES = [
    # The name of the device chooses what the suite takes for granted of its card.
    # It waits 2 s for a completion, which is less than all retries of a connection take.
    Gtest("rdma-unit-test", "UROCE_RDMA_UNIT_TEST", "*_test", "mlx5_0",
          ["--completion_wait_multiplier=5"]),
    Gtest("ucx", "UROCE_UCX_GTEST", None, "uroce0",
          chosen="rc_verbs/*:ud_verbs/*:ib/*"),
    Fabtests(),
]

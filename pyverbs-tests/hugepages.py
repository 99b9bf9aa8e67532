# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Huge pages for the tests that want some, given back afterwards."""

PATH = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
# What the suite says where there are none.
REASON = "There are no huge pages of size 2M allocated"


def count(path=PATH):
    try:
        with open(path) as f:
            return int(f.read())
    except OSError:
        return 0


def resize(by):
    """Relative: others may want some at the same time."""
    try:
        with open(PATH, "w") as f:
            f.write(str(max(count() + by, 0)))
    except OSError:
        pass


class HugePages:
    def __init__(self, n):
        before = count()
        resize(n)
        self.got = max(count() - before, 0)

    def close(self):
        resize(-self.got)
        self.got = 0

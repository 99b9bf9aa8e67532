# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Parts that a build may leave out: -DUROCE_WITH_UMAD=OFF and others
(cmake/Parts.cmake). A test that needs one has the mark `part`:

    pytestmark = pytest.mark.part("UMAD")"""
import os


def has_part(build, part):
    """Whether the build tree has it. An installed one is taken to be whole."""
    cache = os.path.join(build, "CMakeCache.txt")
    if not os.path.exists(cache):
        return True
    with open(cache) as f:
        return f"UROCE_WITH_{part}:BOOL=OFF\n" not in f


def raw_ethernet(build):
    """The option that gives raw packet queue pairs, where there are any."""
    return ["--raw-ethernet"] if has_part(build, "RAW_PACKET") else []


def pytest_runtest_setup(item):
    for mark in item.iter_markers("part"):
        if not has_part(item.config.getoption("--build"), *mark.args):
            import pytest
            pytest.skip(f"built with -DUROCE_WITH_{mark.args[0]}=OFF")

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fixtures: where a program runs (cells.py), the programs of this folder,
and the lines of the table that the tests measure."""
import os
import statistics
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "e2e")]
from representative import pytest_collection_modifyitems  # noqa: E402,F401
from fixtures import *  # noqa: E402,F401,F403
from cells import FULL, Place  # noqa: E402


@pytest.fixture
def place(request, labs):
    """Where a test runs; its parameter is one of the cells."""
    place = Place(labs(1500), request.param)
    yield place
    place.restore()


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """The path of a program of this folder, compiled with these words."""
    folder = tmp_path_factory.mktemp("programs")
    made = {}

    def get(source, name, *words):
        if name not in made:
            made[name] = str(folder / name)
            done = subprocess.run(
                [words[0], "-O2", "-Wall", "-o", made[name],
                 os.path.join(HERE, source), *words[1:]], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            assert done.returncode == 0, done.stdout
        return made[name]
    return get


@pytest.fixture(scope="session")
def measured():
    """Measurements over TCP, which several tests compare with."""
    return {}


# So often each is measured, in turn; tests/bench/apps.py wants more than one. 0: nothing over TCP.
ROUNDS = int(os.environ.get("UROCE_APPS_ROUNDS", "1" if FULL else "0"))


def in_turn(record_property, ours, tcp):
    """The medians of both, and of their ratio, with the lowest and the highest."""
    got = [(ours(), tcp()) for _ in range(ROUNDS)]
    ratios = sorted(a / b for a, b in got)
    record_property("uroce", f"{statistics.median(a for a, _ in got):.4g}")
    record_property("tcp", f"{statistics.median(b for _, b in got):.4g}")
    record_property("ratios", f"{statistics.median(ratios):.2f} {ratios[0]:.2f} "
                    f"{ratios[-1]:.2f}")


@pytest.fixture
def compare(record_property, measured):
    """Note a line of the table: ours(), and tcp() unless it is known or not asked for."""
    def note(program, variant, place, ours, tcp):
        # First what a test that fails has too.
        record_property("program", program)
        record_property("variant", variant)
        record_property("cell", place.cell.name)
        if ROUNDS > 1:
            in_turn(record_property, ours, tcp)
            return
        record_property("uroce", f"{ours():.4g}")
        if ROUNDS == 0:
            return
        key = program, place.cell
        if key not in measured:
            measured[key] = tcp()
        record_property("tcp", f"{measured[key]:.4g}")
    return note


@pytest.fixture(scope="session", autouse=True)
def machine(record_testsuite_property):
    """What the numbers are of."""
    load = os.getloadavg()[0]
    record_testsuite_property(
        "machine", f"{os.cpu_count()} processors, Linux "
        f"{os.uname().release.split('-')[0]}, {load:.1f} other programs "
        "running when it began")


def pytest_terminal_summary(terminalreporter):
    lines = []
    for report in terminalreporter.stats.get("passed", []):
        row = dict(report.user_properties)
        if report.when == "call" and "uroce" in row:
            lines.append("{program}, {variant}, {cell}: {uroce} MB/s".format(**row)
                         + (f", TCP {row['tcp']}" if "tcp" in row else ""))
    if lines:
        terminalreporter.section("throughput")
        terminalreporter.write_line("\n".join(lines))

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Run times of other languages as hosts of a library that has an engine in it (runtimes/): here
Python, in tests/apps Java and Go. And statically linked programs, which can only start those
that see the device."""
import os
import shutil
import subprocess

import pytest

import hosts
from pairs import run_pair
from test_guest_engine import pair  # pylint: disable=unused-import
from test_guest_host import As
from test_guests import finish, in_program, start  # pylint: disable=unused-import

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runtimes")


def native(folder, *more, compiler="gcc"):
    """The path of the library with verbs for such a run time, and of files in front of it."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    path = str(folder / "libnative.so")
    subprocess.run([compiler, "-O1", "-g", "-Wall", "-Werror", "-shared", "-fPIC", "-D_GNU_SOURCE",
                    "-I", hosts.TOP, "-o", path, *more, f"{HERE}/native.c", "-libverbs"], check=True)
    return path


@pytest.mark.parametrize("on", ["one host", "two hosts"])
def test_python(pair, in_program, tmp_path, on):
    """Threads without the GIL, forks with handlers, subinterpreters, collections, signals, and at
    last a crash that faulthandler reports."""
    finish(*start(pair, native(tmp_path), (pair.a, pair.a if on == "one host" else pair.b),
                  ["/usr/bin/python3", f"{HERE}/host.py"]))


@pytest.mark.parametrize("compiler", ["gcc", "musl-gcc"])
def test_static_program_starts_others(pair, in_program, tmp_path, compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    launch = str(tmp_path / "launch")
    subprocess.run([compiler, "-static", "-o", launch, f"{HERE}/launch.c"], check=True)
    run_pair(*2 * [As(pair.a, "process", launch)], ["ibv_rc_pingpong", "-c", "-n", "100"])

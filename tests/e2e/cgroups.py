# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A control group with a limit of memory, of either version of cgroups."""
import contextlib
import os

import pytest

from hosts import wait_for

ROOT = "/sys/fs/cgroup"


def _write(*path, text):
    with open(os.path.join(*path), "w") as f:
        f.write(text)


def _numbers(*path):
    with open(os.path.join(*path)) as f:
        return {key: int(value) for key, value in map(str.split, f)}


def _lines(*path):
    with open(os.path.join(*path)) as f:
        return f.readlines()


def _make(name, limit):
    """(folder, its file of events)"""
    if os.path.exists(f"{ROOT}/cgroup.controllers"):
        with open(f"{ROOT}/cgroup.subtree_control") as f:
            if "memory" not in f.read().split():
                _write(ROOT, "cgroup.subtree_control", text="+memory")
        folder, most, events = f"{ROOT}/{name}", "memory.max", "memory.events"
    else:
        folder, most, events = f"{ROOT}/memory/{name}", "memory.limit_in_bytes", "memory.oom_control"
    os.mkdir(folder)
    try:
        _write(folder, most, text=str(limit))
        if os.path.exists(f"{folder}/memory.swap.max"):
            _write(folder, "memory.swap.max", text="0")
    except OSError:
        os.rmdir(folder)
        raise
    return folder, events


@contextlib.contextmanager
def limited(name, limit):
    """Yields what makes the calling process one of it, and what says how many the system has killed
    there: functions."""
    try:
        folder, events = _make(name, limit)
    except OSError as e:
        pytest.skip(f"no control group of memory: {e}")
    try:
        yield (lambda: _write(folder, "cgroup.procs", text="0"),
               lambda: _numbers(folder, events)["oom_kill"])
    finally:
        wait_for("nobody there", lambda: not _lines(folder, "cgroup.procs"))
        os.rmdir(folder)

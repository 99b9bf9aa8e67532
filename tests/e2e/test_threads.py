# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Threads of one program that share a context, whose engine they run in turn."""
import contextlib
import json
import os
import platform
import re
import time

import pytest

from hosts import wait_for
from test_contexts import stopped
from test_guest_engine import pair, process  # pylint: disable=unused-import

NOBODY = "10.77.0.200"


def tasks(program):
    return [int(t) for t in os.listdir(f"/proc/{program.pid}/task")]


def blocks_signals(program, task):
    text = open(f"/proc/{program.pid}/task/{task}/status").read()
    return int(re.search(r"SigBlk:\s*(\w+)", text)[1], 16) > 1 << 60


def spent(program, task):
    """Nanoseconds on a processor."""
    return int(open(f"/proc/{program.pid}/task/{task}/schedstat").read().split()[0])


def writes(pair, size):
    """Two threads that write to a host that is not there."""
    b = pair.b
    b.ip_all(f"neigh replace {NOBODY} lladdr 02:00:00:00:00:09 dev eth0")
    program = b.start(pair.bin("bench_threads"), NOBODY, "0", "2", "threads", str(size), "60")
    wait_for("its threads", lambda: len(tasks(program)) >= 4 or not program.running())
    return program


def test_who_runs_it(pair, process):
    """The threads that post and poll are the engine. Its own thread leaves it to them, even if
    there is always more to do: in two of three spans, since theirs may have no processor."""
    program = writes(pair, 65536)
    spans = []

    def leaves():
        return len(spans) >= 3 and sorted(spans[-3:])[1] < 0.1
    try:
        ours = [t for t in tasks(program) if blocks_signals(program, t)]
        theirs = [t for t in tasks(program) if t not in ours]
        assert ours, program.report()

        def used():
            try:
                return [sum(spent(program, t) for t in of) for of in (ours, theirs)]
            except FileNotFoundError as gone:
                raise AssertionError(f"{gone}, {tasks(program)}, {spans}\n{program.report()}") from gone
        while not leaves() and len(spans) < 30:
            before = after = used()
            while program.running() and after[1] - before[1] < 200e6:
                time.sleep(0.1)
                after = used()
            spans.append((after[0] - before[0]) / (after[1] - before[1]))
        assert leaves(), f"{spans}\n{program.report()}"
    finally:
        program.kill()


SENDMMSG = {"x86_64": "307", "aarch64": "269"}


def calls(program, task):
    with contextlib.suppress(OSError):
        return open(f"/proc/{program.pid}/task/{task}/syscall").read().split()[0]


def sent(host):
    return json.loads(host.run("ip", "-j", "-s", "link", "show", "eth0"))[0]["stats64"]["tx"][
        "packets"]


def goes_on(host, limit=2.0):
    """Returns whether many packets leave within the limit."""
    before, end = sent(host), time.monotonic() + limit
    while time.monotonic() < end:
        if sent(host) > before + 1000:
            return True
    return False


def test_sends_aside(pair, process):
    """A thread that stands still in the middle of a send is in nobody's way."""
    number = SENDMMSG.get(platform.machine())
    if not number:
        pytest.skip("the number of sendmmsg() is not known here")
    program = writes(pair, 65536)
    try:
        theirs = [t for t in tasks(program) if not blocks_signals(program, t)]
        end = time.monotonic() + 40
        while time.monotonic() < end and program.running():
            with stopped(theirs[-1:]):
                sends = calls(program, theirs[-1]) == number
                if sends and goes_on(pair.b):
                    return
            # What it sends before it has met the other thread it sends as the engine. It is not to be found in that
            # very call again.
            if sends:
                wait_for("the next call", lambda: goes_on(pair.b) or not program.running())
        pytest.fail(program.report())
    finally:
        program.kill()

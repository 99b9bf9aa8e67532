# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Threads of one program that share a context, whose engine they run in turn."""
import os
import re
import time

from hosts import wait_for
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
    there is always more to do."""
    program = writes(pair, 65536)
    try:
        ours = [t for t in tasks(program) if blocks_signals(program, t)]
        theirs = [t for t in tasks(program) if t not in ours]
        assert ours, program.report()
        used = [0, 0]
        while program.running() and used[1] < 200e6:
            time.sleep(0.1)
            used = [sum(spent(program, t) for t in of) for of in (ours, theirs)]
        assert used[0] < used[1] / 10, f"{used}\n{program.report()}"
        assert program.running(), program.report()
    finally:
        program.kill()

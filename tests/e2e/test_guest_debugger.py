# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A program in traffic is stopped in gdb for 5 s. Its engine is stopped with it, so its peer's
retries must last as long, as if a cable were out; with an engine process they need not."""
import os
import shutil

import pytest

from test_guest_engine import pair  # pylint: disable=unused-import
from test_guests import compiled, start
from test_restart import go_on

IBV_WC_RETRY_EXC_ERR = 12

# At a breakpoint of a verb, where every thread stands still.
COMMANDS = ["handle SIGSEGV nostop noprint pass", "break ibv_post_send", "continue", "next",
            "print wr->num_sge", "shell sleep 5", "delete", "detach"]

# engine, one host or two, the exponent of the retries' time: 0.07 s or 1.1 s, 8 times
LONG, SHORT = "18", "14"
CASES = [("process", 1, LONG), ("process", 2, SHORT), ("device", 2, SHORT)]
if os.environ.get("UROCE_FULL"):
    CASES += [("process", 2, LONG), ("process", 1, SHORT), ("device", 1, SHORT)]


@pytest.fixture
def program(tmp_path):
    for tool in "gcc", "gdb":
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    return compiled(tmp_path, "gcc", "-g", "-O0")


def test_stopped_in_gdb(pair, monkeypatch, program):
    """All cases at the same time."""
    running = []
    for engine, hosts, timeout in CASES:
        monkeypatch.setenv("UROCE_ENGINE", engine)
        monkeypatch.setenv("QP_TIMEOUT", timeout)
        running.append(start(pair, "streams", (pair.a, (pair.a, pair.b)[hosts - 1]), program))
    for programs in running:
        go_on(programs)
    debuggers = [pair.a.bare("gdb", "-q", "-batch", "-p", str(s.pid),
                             *sum((["-ex", line] for line in COMMANDS), []))
                 for s, _ in running]
    for (engine, _, timeout), (s, c), gdb in zip(CASES, running, debuggers):
        done = gdb.wait(60)
        if (engine, timeout) == ("process", SHORT):
            # It may be so already while gdb attaches, and then the program ends by itself.
            assert c.wait(20) == 0, c.report()
            assert f"send {IBV_WC_RETRY_EXC_ERR}" in c.text(), c.report()
        else:
            assert done == 0, gdb.report()
            assert ", ibv_post_send (qp=" in gdb.text() and "$1 = 1\n" in gdb.text(), gdb.report()
            go_on((s, c))
        for p in s, c:
            p.kill()

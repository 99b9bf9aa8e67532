# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Imported contexts are in their user's engine process, which reaches what the opener has registered, and only as long
(restart/imported.c)."""
import contextlib
import os
import signal

import pytest

from hosts import wait_for
from test_cli import NOBODY
from test_engine_process import gone, processes
from test_guest_engine import GUESTS
from test_guest_host import As
from test_restart import go_on, kill, pair  # pylint: disable=unused-import


@contextlib.contextmanager
def running(host, mode, engine="process", user=()):
    p = As(host, engine, *user).start(host.lab.bin("imported"), mode)
    try:
        wait_for("the import", lambda: not p.running() or "ready" in p.text())
        assert p.running(), p.report()
        yield p
    finally:
        p.kill()


def deregister(p):
    p.kill(signal.SIGUSR1)
    assert p.wait(30) == 0, p.report()
    assert "refused" in p.text() and "done 0" in p.text(), p.report()


@pytest.mark.parametrize("user", [(), NOBODY], ids=["root", "nobody"])
@pytest.mark.parametrize("engine", ["process", "apart"])
@pytest.mark.parametrize("mode", ["claims", "sleeps"])
def test_deregistered(pair, mode, engine, user):
    with running(pair.a, mode, engine, user) as p:
        assert len(processes(pair.a)) == 1
        go_on([p])
        deregister(p)
    gone(pair.a)


@pytest.mark.parametrize("served", [False, True])
def test_uroced_is_killed(pair, served):
    """The importer goes on, without uroced and with the next one, until the opener deregisters."""
    with running(pair.a, "claims") as p:
        had = processes(pair.a)
        for n in range(3):
            kill(pair.a)
            go_on([p], f"kill {n}\n")
            if n == 2 and not served:
                break
            pair.a.serve(*GUESTS)
            go_on([p], f"serve {n}\n")
            assert processes(pair.a) == had
        deregister(p)
        if not served:
            pair.a.serve(*GUESTS)
    gone(pair.a)


def test_uroced_is_killed_unclaimed(pair):
    """Nobody could tell the engine that such a region ends: it ends at once."""
    with running(pair.a, "sleeps") as p:
        kill(pair.a)
        wait_for("the end of the region", lambda: "refused" in p.text())
        pair.a.serve(*GUESTS)
        deregister(p)
    gone(pair.a)


def test_opener_is_killed(pair):
    """His memory is gone."""
    with running(pair.a, "sleeps") as p:
        os.kill(p.proc.pid, signal.SIGKILL)
        wait_for("the end of the region", lambda: "refused" in p.text())
    gone(pair.a)


def test_engine_is_killed(pair):
    with running(pair.a, "sleeps") as p:
        for pid in processes(pair.a):
            os.kill(pid, signal.SIGKILL)
        # The importer polls an error; then the opener is woken, and fails, too.
        wait_for("the error", lambda: "), not 1 (" in p.text())
        p.kill(signal.SIGUSR1)
        assert p.wait(20), p.report()
    gone(pair.a)

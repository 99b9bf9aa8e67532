# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroced is killed under XRC of programs that have a domain each, with their engine in them. Every byte is
verified (restart/xrc.c)."""
import contextlib
import json
import os
import signal

import pytest

from hosts import wait_for
from test_cli import NOBODY
from test_guest_engine import GUESTS
from test_guest_host import As
from test_guests import finish, start
from test_restart import counters, go_on, kill, pair  # pylint: disable=unused-import

KILLS = 100 if os.environ.get("UROCE_FULL") else 5


@contextlib.contextmanager
def running(pair, mode, on, said="rounds", of=lambda host: host):
    sides = of(pair.a), of(pair.a if on == "one host" else pair.b)
    programs = start(pair, mode, sides, pair.bin("xrc"))
    try:
        wait_for("both", lambda: any(not p.running() for p in programs) or
                 all(said in p.text() for p in programs))
        for p in programs:
            assert p.running(), "".join(q.report() for q in programs)
        yield programs
    finally:
        for p in programs:
            p.kill()


def left(host):
    return [one for what in ("qp", "cq", "pd", "mr")
            for one in json.loads(host.run(host.lab.bin("uroce"), "res", what, "--json"))
            if one.get("pid")]


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("mode", ["rounds", "more"])
def test_killed(pair, mode, on, monkeypatch):
    monkeypatch.setenv("QP_TIMEOUT", "18")  # 1 s: a peer may wait for a processor
    with running(pair, mode, on) as (server, client):
        before = counters(pair.a)
        for n in range(KILLS):
            kill(pair.a)
            if mode == "rounds":
                go_on([server, client], f"kill {n}\n")
            pair.a.serve(*GUESTS)
            go_on([server, client], f"serve {n}\n")
        now = counters(pair.a)
        lost = {c: now[c] - before[c] for c in ("local_ack_timeout_err", "packet_seq_err",
                                                "out_of_sequence", "bad_qpn")}
        assert not any(lost.values()), lost
        client.kill(signal.SIGUSR1)
        finish(server, client)
        for host in pair.a, pair.b:
            assert not left(host), left(host)


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("times", [1, 3])
def test_connects_later(pair, on, times):
    """The queue pairs are connected by another uroced than made them."""
    with running(pair, "later", on, "made") as programs:
        for _ in range(times):
            kill(pair.a)
            pair.a.serve(*GUESTS)
        for p in programs:
            p.kill(signal.SIGUSR1)
        finish(*programs)
        for host in pair.a, pair.b:
            assert not left(host), left(host)


@pytest.mark.parametrize("on", ["two hosts", "one host"])
def test_another_user(pair, on, monkeypatch):
    """What comes from other hosts is received by uroced for his programs: the peers' retries last as long as
    there is none."""
    monkeypatch.setenv("QP_TIMEOUT", "19")
    with running(pair, "more", on, of=lambda host: As(host, "process", *NOBODY)) as programs:
        kill(pair.a)
        pair.a.serve(*GUESTS)
        go_on(programs)
        programs[1].kill(signal.SIGUSR1)
        finish(*programs)


def test_engine(pair):
    """What is of the domain is the program's; what it shares by a file is not."""
    with running(pair, "rounds", "two hosts") as (server, client):
        qps = json.loads(pair.a.run(pair.bin("uroce"), "res", "qp", "--json"))
        assert {q["engine"] for q in qps if q.get("pid") == server.proc.pid} == {"program"}, qps
        client.kill(signal.SIGUSR1)
        finish(server, client)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce why --slow: each verdict, provoked."""
import json
import os

import pytest

import rules
from hosts import wait_for
from pairs import start_pair
from test_cli import NOBODY, uroce

WRITE = ["ib_write_bw", "-D", "120", "-s", "65536", "-F"]
SLEEPY = ["ib_send_lat", "-e", "-n", "3000000", "-s", "64", "-F"]


def limits(host, program, interval="0.3"):
    said = json.loads(uroce(host, "why", "--slow", "--json", "-i", interval, program))
    return [one["limit"] for p in said for one in p["limits"]]


def pair(lab, cmd, *serve, flag=None):
    lab.serve(*serve)
    s, c = start_pair(lab.a, lab.b, cmd, **({"flag": flag} if flag else {}))
    wait_for("traffic", lambda: not c.running() or any(
        q["pid"] == c.pid and q["counters"]["sent_pkts"] for q in
        json.loads(uroce(lab.b, "stat", "--json", "qp"))), 40)
    assert c.running(), c.report() + s.report()
    return s, c


def found(host, program, limit):
    wait_for(limit, lambda: limit in limits(host, program), 30)


def test_processor(lab):
    """Who polls uses a processor, or waits for one. By name, and as text."""
    s, c = pair(lab, WRITE, flag="-x")
    found(lab.b, "ib_write_bw", "processor")
    assert not {"rnr", "engine", "idle", "unknown"} & set(limits(lab.b, str(c.pid)))
    out = uroce(lab.b, "why", "--slow", str(c.pid))
    assert f"ib_write_bw (pid {c.pid})\n" in out and " a processor: who polls " in out, out
    assert "idle" in limits_of(lab.b, str(c.pid), NOBODY)
    uroce(lab.b, "why", "--slow", "no-such-program", status=1)
    uroce(lab.b, "why", "--slow", status=2)
    uroce(lab.b, "why", "-i", "1", status=2)


def limits_of(host, program, wrap):
    """What another user is told."""
    said = json.loads(uroce(host, "why", "--slow", "--json", "-i", "0.1", program, wrap=wrap))
    return [one["limit"] for p in said for one in p["limits"]]


def test_crowded(lab, monkeypatch):
    """Others use its only processor."""
    s, c = pair(lab, WRITE, flag="-x")
    os.sched_setaffinity(c.pid, {0})
    for tid in os.listdir(f"/proc/{c.pid}/task"):
        os.sched_setaffinity(int(tid), {0})
    spin = [lab.b.bare("taskset", "-c", "0", "sh", "-c", "while :; do :; done")
            for _ in range(2)]
    found(lab.b, str(c.pid), "crowded")
    for p in spin:
        p.kill()


def test_loss(lab):
    s, c = pair(lab, WRITE, flag="-x")
    for host in lab.a, lab.b:
        host.nft(rules.drop(10))
    found(lab.b, str(c.pid), "loss")
    found(lab.a, str(s.pid), "loss")


def test_rnr(lab):
    """Its peer is not ready now and then."""
    s, c = pair(lab, ["ib_send_bw", "-D", "120", "-s", "4096", "-F"], flag="-x")
    uroce(lab.a, "fault", "add", "rnr", "nth=50")
    found(lab.b, str(c.pid), "rnr")


def test_sleeps(lab):
    s, c = pair(lab, SLEEPY, flag="-x")
    found(lab.b, str(c.pid), "sleeps")


def test_engine_and_mtu(lab, monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "apart")
    s, c = pair(lab, WRITE + ["-m", "256"], flag="-x")
    assert {"engine", "mtu"} <= set(limits(lab.b, str(c.pid)))


def test_idle(lab):
    lab.serve()
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000"])
    wait_for("RTS", lambda: "RTS" in uroce(lab.b, "res", "qp"))
    s.kill()
    c.kill(19)  # SIGSTOP
    found(lab.b, str(c.pid), "idle")

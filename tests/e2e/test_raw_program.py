# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Raw packet queue pairs whose engine is in their program: two of one device see each other's
frames, and they outlive uroced. Every byte is verified (raw/rounds.c)."""
import contextlib
import json
import os
import signal

import pytest

import hosts
from hosts import wait_for
from test_raw import MACS, has_rules
from test_restart import go_on, kill, rounds

pytestmark = pytest.mark.part("RAW_PACKET")

OPTIONS = ["--netdev", "eth0", "--raw-ethernet"]
KILLS = 100 if os.environ.get("UROCE_FULL") else 3
THIRD = "02:00:00:00:77:03"


@pytest.fixture
def raw(build, monkeypatch):
    monkeypatch.delenv("UROCE_ENGINE", raising=False)
    lab = hosts.Lab(build)
    try:
        for host, mac in zip((lab.a, lab.b), MACS):
            host.ip("link", "set", "eth0", "address", mac)
            host.serve(*OPTIONS)
        yield lab
    finally:
        lab.close()


@contextlib.contextmanager
def thrown(lab, mode="plain", lead=()):
    """Two programs that throw a frame back and forth."""
    programs = []
    try:
        for host, own, peer, role in zip((lab.a, lab.b), MACS, MACS[::-1],
                                         ("first", "second")):
            p = host.start(*lead, lab.bin("raw_rounds"), own, peer, mode, role)
            programs.append(p)
            wait_for("its rules", lambda p=p: "ready" in p.text() or not p.running())
            assert p.running(), p.report()
        go_on(programs)
        yield programs
    finally:
        for p in programs:
            p.kill()


def all_again(programs):
    seen = [p.text().count("again") for p in programs]
    for p in programs:
        p.kill(signal.SIGUSR2)
    wait_for("objects of all kinds", lambda: all(
        p.text().count("again") > n or not p.running() for p, n in zip(programs, seen)))
    go_on(programs)


def finish(first, second):
    second.kill(signal.SIGUSR1)
    for p in second, first:
        assert p.wait(30) == 0, p.report()
        assert "done" in p.text(), p.report()


def engines(host):
    out = host.run(host.lab.bin("uroce"), "res", "qp", "--json", "--run-dir", host.run_dir)
    return {qp["engine"] for qp in json.loads(out)}


def lead(engine):
    """Before a program whose engine is to be there, as `uroce res` names it."""
    return ["env", "UROCE_ENGINE=apart"] if engine == "process" else []


@pytest.mark.parametrize("engine", ["program", "process"])
@pytest.mark.parametrize("mode", ["plain", "spread"])
def test_rounds(raw, mode, engine):
    with thrown(raw, mode, lead=lead(engine)) as programs:
        assert engines(raw.a) == {engine}
        all_again(programs)
        finish(*programs)
    wait_for("the rules to go", lambda: not has_rules(raw.a))


@pytest.mark.parametrize("where", ["program", "process"])
def test_one_device(raw, where):
    """Its programs see each other's frames, as ports of one switch, wherever their engines are."""
    programs = []
    try:
        for engine, own, peer, role in zip(("program", where), (MACS[0], THIRD),
                                           (THIRD, MACS[0]), ("first", "second")):
            programs.append(p := raw.a.start(*lead(engine), raw.bin("raw_rounds"), own, peer, "plain",
                                             role))
            wait_for("its rules", lambda p=p: "ready" in p.text() or not p.running())
        go_on(programs)
        finish(*programs)
    finally:
        for p in programs:
            p.kill()


@pytest.mark.parametrize("engine", ["program", "process"])
@pytest.mark.parametrize("mode", ["plain", "spread"])
def test_killed(raw, mode, engine):
    """No frame is lost, and the next uroced makes once more what is to be used with it."""
    with thrown(raw, mode, lead=lead(engine)) as programs:
        for n in range(KILLS):
            kill(raw.a)
            go_on(programs, f"kill {n}\n")
            raw.a.serve(*OPTIONS)
            go_on(programs, f"serve {n}\n")
            all_again(programs[:1])
            # The next uroced does not know which process has the engine.
            assert engines(raw.a) == {"program"}
        finish(*programs)
        assert raw.a.device.running(), raw.a.device.report()


def test_forked(raw):
    """A child of fork goes on with the engine of its parent, which has ended."""
    a = raw.a.start(raw.bin("raw_rounds"), *MACS, "fork", "first")
    wait_for("its child", lambda: "ready" in a.text() and not a.running())
    b = raw.b.start(raw.bin("raw_rounds"), *MACS[::-1], "plain", "second")
    try:
        go_on([b])
        assert rounds(a) > 0
        assert engines(raw.a) == {"program"}
        b.kill(signal.SIGUSR1)
        assert b.wait(30) == 0, b.report()
        wait_for("the child's end", lambda: "done" in a.text())
    finally:
        a.kill()
        b.kill()


def throw_again(programs):
    """Another frame, where the one that was on its way has been lost, until frames come."""
    for _ in range(5):
        before = [rounds(p) for p in programs]
        programs[1].kill(signal.SIGWINCH)
        with contextlib.suppress(AssertionError):
            wait_for("frames", lambda: all(rounds(p) > n for p, n in zip(programs, before)),
                     limit=5)
            return
    raise AssertionError("".join(p.report() for p in programs))


def test_new_netdev(raw):
    """A netdev that is made anew under the same name: rules and sockets go along."""
    with thrown(raw) as programs:
        raw.a.ip("link", "del", "eth0")
        raw.a.ip("link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns",
                 raw.b.name)
        for host, mac in zip((raw.a, raw.b), MACS):
            host.ip("link", "set", "eth0", "address", mac, "up")
        wait_for("both devices", lambda: all(has_rules(h) for h in (raw.a, raw.b)))
        throw_again(programs)
        finish(*programs)

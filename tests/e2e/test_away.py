# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs in another network namespace than uroced's: their engine is in them, and what they send goes through
uroced."""
import os

import pytest

from away import Away, Listener
from hosts import wait_for
from pairs import run_pair, start_pair
from test_cli import NOBODY
from test_guest_engine import GUESTS, engines, granting
from test_guests import start
from test_relayed import spent
from test_restart import go_on, outlive
from test_restart_later import begin
from test_restart_later import go_on as go_on_later
from test_restart_later import finish, restart

LENT_PORTS = range(0x8000, 0xc000)


@pytest.fixture(scope="module")
def lab(build):
    with granting(build) as lab:
        yield lab


@pytest.mark.parametrize("program", [["ibv_rc_pingpong", "-s", "50000"], ["ibv_rc_pingpong", "-e"],
                                     ["ibv_uc_pingpong"], ["ibv_ud_pingpong", "-s", "1024"]], ids=" ".join)
@pytest.mark.parametrize("family", [4, 6])
def test_between_hosts(lab, program, family):
    """Verified."""
    run_pair(lab.b, Away(lab.a, to=lab.b), [*program, "-c", "-n", "300"], family)


@pytest.mark.parametrize("other", ["away", "host", "user", "device"])
@pytest.mark.parametrize("program", [["ibv_rc_pingpong", "-s", "50000"], ["ibv_rc_pingpong", "-e"],
                                     ["ibv_ud_pingpong", "-s", "1024"]], ids=" ".join)
def test_on_one_host(lab, monkeypatch, program, other):
    """With one of its kind, and with programs of the host. Verified."""
    program = [*program, "-c", "-n", "300"]
    monkeypatch.setenv("UROCE_ENGINE", "device" if other == "device" else "process")
    if other == "away":
        away = Away(lab.a)
        run_pair(away, away, program)
        return
    run_pair(Others(lab.a, NOBODY) if other == "user" else lab.a, Away(lab.a, to=lab.a), program)


class Others:
    """Programs of that user."""

    def __init__(self, host, by):
        self.host, self.by = host, by

    def __getattr__(self, name):
        return getattr(self.host, name)

    def start(self, *cmd, **kw):
        return self.host.start(*self.by, *cmd, **kw)


def leaving(host):
    """Its programs leave the network namespace when they connect their first queue pair."""
    lib = host.lab.bin("../lib/libleave.so")
    return Others(host, ["sh", "-c", f'LD_PRELOAD="$LD_PRELOAD:{lib}" exec "$@"', "-"])


@pytest.mark.parametrize("program", [["ibv_rc_pingpong", "-s", "50000"], ["ibv_rc_pingpong", "-e"],
                                     ["ibv_uc_pingpong"], ["ibv_ud_pingpong", "-s", "1024"]], ids=" ".join)
@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("one", [False, True], ids=["hosts", "host"])
def test_leaving(lab, monkeypatch, program, family, one):
    """Programs that leave after they have opened the device, to another host and on one. Verified."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    output = run_pair(leaving(lab.a), leaving(lab.a if one else lab.b), [*program, "-c", "-n", "300"], family)
    assert all("elsewhere now" in text for text in output)


@pytest.mark.parametrize("on", ["two hosts", "one host"])
def test_leaving_restart(build, monkeypatch, on):
    """The next uroced takes them for its own: they connect anew. Every byte is verified."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    with granting(build) as lab:
        other = lab.b if on == "two hosts" else lab.a
        sides = iter((leaving(lab.a), leaving(other)))
        programs = begin(lab, "each", on, "later", lambda _: next(sides))
        for host in {lab.a, other}:
            restart(host)
        go_on_later(programs)
        assert all("elsewhere now" in "\n".join(text) for text in finish(*programs))


def test_where(lab):
    """`uroce res qp` says that it is in the program, which has no socket of the host's namespace."""
    s, c = start_pair(lab.b, Away(lab.a, to=lab.b), ["ibv_rc_pingpong", "-n", "1000000"])
    try:
        wait_for("both", lambda: engines(lab.a))
        assert list(engines(lab.a).values()) == ["program"]
        pid, = engines(lab.a)
        names = [os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")]
        mine = {name[8:-1] for name in names if name.startswith("socket:")}
        for table in "udp", "udp6", "raw", "tcp":
            lines = open(f"/proc/{lab.a.device.pid}/net/{table}").read().splitlines()[1:]
            assert not mine & {line.split()[9] for line in lines}
    finally:
        s.kill()
        c.kill()


def test_not_sent(build, monkeypatch):
    """The kernel refuses its packets to uroced: the program's failure says so."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    with granting(build) as lab:
        a = lab.a
        a.nft("table inet t { chain o { type filter hook output priority 0; udp dport 4791 drop; }; }")
        s, c = start_pair(lab.b, Away(a, to=lab.b), ["ibv_rc_pingpong", "-n", "100"])
        assert c.wait(60), c.report()
        s.kill()
        text = a.run(lab.bin("uroce"), "why")
        assert "a firewall of this host drops UDP port 4791" in text, text


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("mode", ["restart", "restart_sleeps"])
def test_restart(build, monkeypatch, mode, on):
    """uroced is killed: what the program sends meanwhile waits for the next one, or is sent again. Every byte is
    verified."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    monkeypatch.setenv("QP_TIMEOUT", "18")  # 1 s, eight times
    with granting(build) as lab:
        other = lab.b if on == "two hosts" else lab.a
        outlive(lab, start(lab, mode, on=(other, Away(lab.a, to=other))))


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("program, mode", [("later", "each"), ("queues", "change"), ("groups", "stay"),
                                           ("groups", "leave")])
def test_restart_later(build, monkeypatch, program, mode, on):
    """It makes, connects and joins more with the next uroced."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    with granting(build) as lab:
        other = lab.b if on == "two hosts" else lab.a
        sides = iter((other, Away(lab.a, to=other)))
        programs = begin(lab, mode, on, program, lambda _: next(sides))
        for host in {lab.a, other}:
            restart(host)
        go_on_later(programs)
        finish(*programs)


def test_uroced_ends(build, monkeypatch):
    """In the ordinary way: the program, which sleeps, sees its end, and does not work for nothing."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    with granting(build) as lab:
        programs = start(lab, "restart_sleeps", on=(lab.b, Away(lab.a, to=lab.b)))
        go_on(programs)
        lab.a.stop()
        assert programs[1].wait(20) not in (None, 0), programs[1].report()
        # One that sleeps in something else meanwhile.
        lab.a.serve(*GUESTS)
        p = Away(lab.a).start(lab.bin("forge"), "packets", "0", lab.a.addr4, lab.b.addr4)
        wait_for("its packets", lambda: "put" in p.text() or not p.running())
        lab.a.stop()
        before = spent(p.pid)
        lab.a.serve(*GUESTS)
        run_pair(lab.a, lab.a, ["ibv_rc_pingpong", "-c", "-n", "100"])
        assert p.running() and spent(p.pid) - before < 10, p.report()


def texts(listener):
    return {text for _, text in listener.datagrams()}


def test_forged(lab):
    """What a program may not send does not leave, and what it may leaves by its own port."""
    here, there = Listener(lab.a), Listener(lab.b)
    p = Away(lab.a).start(lab.bin("forge"), "packets", "0", lab.a.addr4, lab.b.addr4)
    try:
        wait_for("its packets", lambda: "put" in p.text() or not p.running())
        assert p.running(), p.report()
        # On this host's interfaces there are those to itself, too.
        wait_for("what may leave", lambda: len(texts(there)) == 12 and len(texts(here)) == 18)
        assert all("good" in t for t in texts(here) | texts(there))
        port, = {port for port, _ in here.datagrams() + there.datagrams()}
        assert port in LENT_PORTS
        assert lab.a.device.running()
    finally:
        p.kill()
        here.close()
        there.close()


def test_last_words(lab):
    """What a program has left in its outbox leaves when it ends: the acknowledgement of the last message, as a rule."""
    there = Listener(lab.b)
    try:
        p = Away(lab.a).start(lab.bin("forge"), "quits", "0", lab.a.addr4, lab.b.addr4)
        assert p.wait(20) == 0, p.report()
        wait_for("its packets", lambda: texts(there))
    finally:
        there.close()


def test_random(lab):
    """A second of messages that are nearly right; a minute each, and uroced with the sanitizers, by hand."""
    p = Away(lab.a).start(lab.bin("forge"), "random", "1", os.environ.get("UROCE_FORGE_SECONDS", "1"))
    assert p.wait(100) == 0 and "put" in p.text(), p.report()
    run_pair(lab.b, Away(lab.a, to=lab.b), ["ibv_rc_pingpong", "-c", "-n", "100"])


@pytest.mark.parametrize("how", range(7))
def test_no_ring(lab, how):
    """Whoever spoils his ring harms himself: nothing leaves, and uroced does not work for it."""
    there = Listener(lab.b)
    p = Away(lab.a).start(lab.bin("forge"), "ring", "0", str(how))
    try:
        wait_for("its ring", lambda: "put" in p.text() or not p.running())
        assert p.running(), p.report()
        run_pair(lab.b, Away(lab.a, to=lab.b), ["ibv_rc_pingpong", "-c", "-n", "100"])
        before = spent(lab.a.device.pid)
        run_pair(lab.b, lab.b, ["ibv_rc_pingpong", "-c", "-n", "100"])
        assert spent(lab.a.device.pid) - before < 10
        assert not texts(there)
    finally:
        p.kill()
        there.close()

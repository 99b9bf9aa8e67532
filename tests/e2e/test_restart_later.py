# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroced is killed when programs have made their queue pairs and not connected them, or have joined some groups and not
others, or change their queues and regions: they do so with the next one. Every byte is verified (restart/)."""
import contextlib
import ipaddress
import json
import os
import re
import signal

import pytest

from hosts import wait_for
from test_cli import NOBODY
from test_guest_engine import GUESTS
from test_guest_host import As
from test_guests import finish, finish_daemon, start
from test_restart import kill, pair  # pylint: disable=unused-import

MODES = ["each", "many"]


def begin(pair, mode, on, program="later", of=lambda host: host):
    sides = of(pair.a), of(pair.a if on == "one host" else pair.b)
    programs = start(pair, mode, sides, pair.bin(program))
    wait_for("both", lambda: any(not p.running() for p in programs) or
             all("made" in p.text() for p in programs))
    for p in programs:
        assert p.running(), p.report()
    return programs


def go_on(programs):
    for p in programs:
        p.kill(signal.SIGUSR1)


def restart(host, times=1):
    for _ in range(times):
        kill(host)
        host.serve(*GUESTS)


@pytest.fixture
def daemon():
    """Returns the number of the daemon that a program has become, which ends with the test."""
    numbers = []

    def find(p):
        numbers.append(int(re.search(r"^daemon (\d+)$", p.text(), re.M)[1]))
        return numbers[0]
    yield find
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def queue_pairs(host):
    return json.loads(host.run(host.lab.bin("uroce"), "res", "qp", "--json"))


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("times", [1, 3])
def test_connects_later(pair, mode, on, times):
    programs = begin(pair, mode, on)
    restart(pair.a, times)
    go_on(programs)
    finish(*programs)
    for host in pair.a, pair.b:
        assert not [q for q in queue_pairs(host) if q.get("lqpn", 0) > 1], queue_pairs(host)


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("times", [1, 3])
def test_daemon_connects_later(pair, daemon, on, times):
    """The server is a child that has its parent's engine; the parent has ended."""
    server, client = start(pair, "daemon", (pair.a, pair.a if on == "one host" else pair.b),
                           pair.bin("later"))
    wait_for("both", lambda: "made" in server.text() and "made" in client.text() or
             not client.running())
    assert server.wait(10) == 0, server.report() + client.report()
    restart(pair.a, times)
    os.kill(daemon(server), signal.SIGUSR1)
    go_on([client])
    finish_daemon(server, client)


def test_daemon_is_refused(pair, daemon):
    """One whose parent has asked the uroced that there is for nothing is, and learns that at once."""
    server, client = begin(pair, "refused", "two hosts")
    restart(pair.a)
    server.kill(signal.SIGUSR1)
    wait_for("its child", lambda: "refused" in server.text() or "failed" in server.text())
    client.kill()
    daemon(server)
    assert "refused" in server.text(), server.report()


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("times", [1, 3])
def test_queues(pair, on, times):
    """They are resized, and asked, regions registered again."""
    programs = begin(pair, "change", on, "queues")
    restart(pair.a, times)
    go_on(programs)
    finish(*programs)
    for host in pair.a, pair.b:
        for what in "mr", "cq", "pd":
            left = json.loads(host.run(pair.bin("uroce"), "res", what, "--json"))
            assert not left, left


@pytest.mark.parametrize("program", ["later", "queues"])
@pytest.mark.parametrize("who", ["server", "both"])
def test_no_uroced(pair, who, program):
    """Its commands wait for the next one."""
    programs = begin(pair, "each", "two hosts", program)
    hosts = [pair.a] if who == "server" else [pair.a, pair.b]
    for host in hosts:
        kill(host)
    go_on(programs)
    for host in hosts:
        host.serve(*GUESTS)
    finish(*programs)


def test_amid(pair):
    """It is killed while they connect, again and again."""
    programs = begin(pair, "many", "two hosts")
    go_on(programs)
    for _ in range(5):
        restart(pair.a)
    finish(*programs)


def test_channels(pair):
    """Threads make them all the time, and each goes on with the uroced that another may have found."""
    p = pair.a.start(pair.bin("channels"))
    for _ in range(4):
        before = p.text().count("made")
        wait_for("channels", lambda: p.text().count("made") > before or not p.running())
        restart(pair.a)
        assert p.running(), p.report()
    p.kill(signal.SIGUSR1)
    assert p.wait(30) == 0 and "done" in p.text(), p.report()


def begin_events(pair, mode, on=None):
    """The program events, which waits."""
    gid = ipaddress.ip_address(f"::ffff:{pair.a.addr4}").exploded
    p = (on or pair.a).start(pair.bin("events"), mode, gid)
    wait_for("channels", lambda: "made" in p.text() or not p.running())
    return p


@pytest.mark.parametrize("mode, of", [("fresh", "root"), ("fresh", "nobody"), ("used", "root")])
def test_channels_for_later(pair, mode, of):
    """No queue has them yet, or any more."""
    p = begin_events(pair, mode, As(pair.a, "process", *NOBODY) if of == "nobody" else None)
    restart(pair.a)
    p.kill(signal.SIGUSR1)
    assert p.wait(30) == 0 and "done 0" in p.text(), p.report()


@pytest.mark.parametrize("engine", ["process", "apart"])
def test_channels_end(pair, engine):
    """They, too, hang up with uroced where there is nobody to go on with."""
    p = begin_events(pair, "ends", As(pair.a, engine))
    p.kill(signal.SIGUSR1)
    pair.a.device.kill(signal.SIGTERM)
    assert p.wait(30) == 0 and "done 0" in p.text(), p.report()


@pytest.mark.parametrize("mode", ["ends", "used_ends"])
def test_channels_end_after_a_kill(pair, mode):
    """With the next uroced, which has never heard of them."""
    p = begin_events(pair, mode)
    restart(pair.a)
    p.kill(signal.SIGUSR1)
    pair.a.device.kill(signal.SIGTERM)
    assert p.wait(30) == 0 and "done 0" in p.text(), p.report()


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("mode", ["stay", "leave"])
@pytest.mark.parametrize("times", [1, 3])
def test_groups(pair, mode, on, times):
    """It stays in those from before, or leaves one of them, and joins others."""
    programs = begin(pair, mode, on, "groups")
    restart(pair.a, times)
    go_on(programs)
    finish(*programs)


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("program, mode", [("later", "each"), ("groups", "stay"), ("queues", "change")])
def test_of_a_user(pair, program, mode, on):
    """Who may not see the packets of others: uroced receives for him."""
    programs = begin(pair, mode, on, program, lambda host: As(host, "process", *NOBODY))
    restart(pair.a)
    go_on(programs)
    finish(*programs)

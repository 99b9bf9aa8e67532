# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroced is killed while it does more than grant engines: what it had besides ends, and begins anew
with the next one; the programs that go on do not notice."""
import json
import os
import re
import signal

import pytest

from hosts import wait_for
from test_attacks import ATTACKER
from test_guest_engine import GUESTS
from test_restart import connected, end, go_on, keepers, kill, pair  # pylint: disable=unused-import


def uroce(host, *words):
    return host.run(host.lab.bin("uroce"), *words)


def restart(pair, *more):
    kill(pair.a)
    pair.a.serve(*GUESTS, *more)


def sockets(host, address):
    """How many of the host are bound to the port of RoCEv2 of that address."""
    return len(host.run("ss", "-Huan", "src", f"{address}:4791").splitlines())


def kept(host):
    """How many descriptors the keeper has."""
    keeper, = keepers(host)
    return len(os.listdir(f"/proc/{keeper}/fd"))


def has_link_local(host):
    """The kernel looks for another host with that address first."""
    wait_for("the link-local address", lambda: any(g.is_link_local for g, _ in host.gids().values()))


def test_engine_that_comes_no_more(pair):
    """A program's that has ended while there was no uroced: its socket is the next one's of the slot, and an
    address that goes can come again."""
    address = "10.77.0.99"
    with connected(pair, "restart_more") as programs:
        pair.a.ip_all(f"addr add {address}/24 dev eth0")
        pair.a.gid(address)
        has_link_local(pair.a)
        before = sockets(pair.a, address)
        ended = pair.a.start("ibv_rc_pingpong", "-g", pair.a.gid(address), "-n", "100000000")
        wait_for("it to listen", lambda: ended.listens(18515))
        peer = pair.b.start("ibv_rc_pingpong", "-g", pair.b.gid(pair.b.addr4), "-n", "100000000", pair.a.addr4)
        wait_for("its engine's socket", lambda: sockets(pair.a, address) > before)
        kill(pair.a)
        ended.kill()
        peer.kill()
        pair.a.serve(*GUESTS)
        go_on(programs)
        has = sockets(pair.a, address), kept(pair.a)
        pair.a.ip_all(f"addr del {address}/24 dev eth0")
        wait_for("the address to go", lambda: address not in
                 [str(g) for g, _ in pair.a.gids().values()])
        assert (sockets(pair.a, address), kept(pair.a)) == has
        pair.a.ip_all(f"addr add {address}/24 dev eth0")
        pair.a.gid(address)
        go_on(programs)
        end(*programs)


def test_engine_that_never_began(pair):
    """A program's that has a slot, but no process that the next uroced could wait for: what is kept of it goes."""
    with connected(pair, "restart_more") as programs:
        has_link_local(pair.a)
        restart(pair)
        go_on(programs)
        before = kept(pair.a)
        p = pair.a.bare("/usr/bin/python3", ATTACKER, "engine_that_never_begins", pair.a.run_dir)
        wait_for("its engine", lambda: "engine" in p.text() or not p.running())
        assert '"engine": 0' in p.text(), p.report()
        wait_for("what is kept of it", lambda: kept(pair.a) > before)
        kill(pair.a)
        p.kill()
        pair.a.serve(*GUESTS)
        go_on(programs)
        assert kept(pair.a) == before
        end(*programs)


def test_recorder(pair):
    """It is off with the next one, and can be turned on there, for programs that come then."""
    with connected(pair, "restart_more") as programs:
        for _ in range(3):
            uroce(pair.a, "record", "start")
            with connected(pair, "restart_more") as others:
                assert json.loads(uroce(pair.a, "record", "show", "--json"))["events"]
                end(*others)
            restart(pair)
            go_on(programs)
        end(*programs)


def matched(host):
    """Of the only rule."""
    rules = json.loads(uroce(host, "fault", "show", "--json"))
    assert len(rules) == 1, rules
    return rules[0]["matched"]


@pytest.mark.parametrize("mode", ["restart", "restart_sleeps"])
def test_fault_rules(pair, mode):
    """A rule is uroced's: it ends with it, also for programs that go on; one of the next uroced
    holds for them, and is not taken for one of the last."""
    with connected(pair, mode) as programs:
        for n in range(1, 6):
            none, all_ = "drop op=read", f"dup op=send nth={10**9 + n}"
            # They see no moment without a rule.
            for p in programs:
                p.kill(signal.SIGSTOP)
            restart(pair, "--fault", none if n % 2 else all_)
            for p in programs:
                p.kill(signal.SIGCONT)
            go_on(programs)
            if n % 2:
                assert matched(pair.a) == 0
            else:
                wait_for("the rule", lambda: matched(pair.a) > 100)
        restart(pair)
        go_on(programs)
        assert "no faults" in uroce(pair.a, "fault", "show")
        end(*programs)


@pytest.mark.part("UMAD")
def test_umad(pair):
    """A file of umad ends with its uroced. The next one has new ones beside the old programs."""
    def serve():
        p = pair.a.start(pair.bin("mads"), "serve", "uroce0", "20")
        wait_for("the server", lambda: "serving" in p.text() or not p.running())
        return p

    def ask(*words):
        return pair.b.start(pair.bin("mads"), *words[:1], "uroce0", pair.b.gid(pair.b.addr4),
                            f"::ffff:{pair.a.addr4}", *words[1:])

    with connected(pair, "restart_more") as programs:
        server, client = serve(), ask("ask", "20")
        restart(pair)
        assert server.wait(30) is not None and client.wait(60) is not None
        server, client = serve(), ask("ask", "20")
        assert client.wait(60) == 0 and server.wait(30) == 0, server.report() + client.report()
        assert re.search("answered 20", client.text())
        go_on(programs)
        end(*programs)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs of one device with engines of their own exchange packets through memory
(engine/local/udp_pair.h): what goes there, who may write what, and who dies or stops."""
import json
import signal
import time

import pytest

import hosts
import rules
from away import Away
from cm import run_cm_pair
from dripping import taken_by
from hosts import wait_for
from pairs import run_pair, start_pair
from test_cli import NOBODY
from test_guest_engine import engines, threads_cpu
from test_guest_host import RAW, As, connected, host, peers  # pylint: disable=unused-import

PROGRAMS = {
    "rc": ["ibv_rc_pingpong", "-s", "20000"],
    "uc": ["ibv_uc_pingpong", "-s", "20000"],
    "ud": ["ibv_ud_pingpong", "-s", "1024"],
    "srq": ["ibv_srq_pingpong", "-q", "4", "-s", "20000"],
}


def on_lo(host):
    out = json.loads(hosts.sh("ip", "-j", "-s", "-n", host.name, "link", "show",
                              "lo").stdout)[0]
    return out["stats64"]["rx"]["bytes"]


@pytest.mark.parametrize("events", [[], ["-e"]], ids=["polls", "sleeps"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_on_the_loopback_interface(host, program, events):
    """Verified by the programs. Who sleeps is woken by a datagram of 54 bytes."""
    size = int(PROGRAMS[program][-1])
    before = on_lo(host)
    run_pair(*2 * [As(host, "process")],
             [*PROGRAMS[program], "-c", "-n", "500", *events])
    used = on_lo(host) - before
    assert used < 500 * (size // 4 if not events else 1000), used


@pytest.mark.parametrize("tool", ["ib_write_bw", "ib_read_bw", "ib_send_bw"])
def test_long_messages(host, tool):
    before = on_lo(host)
    run_pair(As(host, "process"), As(host, "process", *RAW),
             [tool, "-s", "1000000", "-n", "200", "-F"], flag="-x")
    assert on_lo(host) - before < 200 * 1000000 // 10


def test_threads_that_sleep(host):
    """A thread that polls when its event comes may take what was to wake the engine's own
    thread, which then is to be woken by what comes next."""
    run_cm_pair(*2 * [As(host, "process")],
                ["rping", "-s", "-a", host.addr4, "-p", 20000, "-C", 1000],
                ["rping", "-c", "-a", host.addr4, "-p", 20000, "-C", 1000], 20000)


def test_lost_wake_ups(host):
    """Every second datagram that is to wake a program is lost, the first of all too: it is
    asked for again."""
    host.nft(rules.arriving("lost", "udp length 20 numgen inc mod 2 < 1 counter drop"))
    try:
        run_pair(*2 * [As(host, "process")], ["ibv_rc_pingpong", "-e", "-c", "-n", "50"])
        lost = json.loads(host.run("nft", "-j", "list", "table", "inet", "lost"))
        assert sum(part["counter"]["packets"] for entry in lost["nftables"] if "rule" in entry
                   for part in entry["rule"]["expr"] if "counter" in part) >= 1
    finally:
        host.nft("flush ruleset\n")


def test_three_programs(host, peers):
    """Each pair has rings of its own."""
    made = [peers("rc", "process", *by) for by in ((), (RAW,), (), (RAW,), (), ())]
    for a, b in ((0, 1), (2, 3), (4, 5)):
        connected(host, made[a], made[b])
    for seed, (a, b) in enumerate(3 * [(0, 1), (2, 3), (4, 5)]):
        made[a].fill(seed)
        made[a].write(made[b].rkey, made[b].addr)
        assert made[b].is_filled(seed)


def test_who_may_write(host, peers):
    """Another uid cannot write what others write to it, nor change a file's size."""
    a, b = connected(host, peers("rc", "process"), peers("rc", "process", RAW))
    modes = sorted((what, mode) for what, mode, _ in b.rings())
    assert modes == [("packets", 0), ("packets", 2)]
    assert b.keep() == 1 and b.can_write() == 0
    a.send("true")
    assert b.texts_to("true") == ["true"]


def test_datagrams_of_another_engine(host, peers):
    """A program writes into its ring what another program's queue pair might have sent.
    Only what its own might have comes."""
    victim, friend = peers("ud", "process"), peers("ud", "process")
    other = peers("ud", "process", RAW)
    for p in victim, friend, other:
        p.reach(host.gid4)
    assert other.keep()
    other.ring_datagram(host.addr4, victim.qpn, friend.qpn, "forged")
    other.ring_datagram(host.addr4, victim.qpn, 0x11, "the device's")
    other.ring_datagram("10.1.2.3", victim.qpn, other.qpn, "a stranger's")
    other.ring_datagram(host.addr4, victim.qpn, other.qpn, "own")
    friend.send("true", host.gid4, victim.qpn) # which wakes it
    assert set(victim.texts_to("own")) <= {"true", "own"}


def test_messages_of_another_engine(host, peers):
    """The same on a connection, with the PSN that is expected. Then the true peer does
    it."""
    a, b = connected(host, peers("rc", "process"), peers("rc", "process"))
    other, c = connected(host, peers("rc", "process", RAW), peers("rc", "process"))
    for p in a, b, c, other:
        p.reach(host.gid4)
    assert other.keep() >= 2
    for target in a, b:
        other.ring_message(host.addr4, target.qpn, 0, "forged")
    a.send("true")
    assert b.texts_to("true") == ["true"]
    b.send("true")
    assert a.texts_to("true") == ["true"]
    assert a.keep()
    a.ring_message(host.addr4, b.qpn, 1, "by hand")
    c.reach(host.gid4)
    assert b.texts_to("by hand") == ["by hand"]


def test_ring_of_a_slot_that_has_gone(host, peers):
    """A program keeps its files and ends its engine. Once the slot is another's, what it
    writes there does not count."""
    victim, old = peers("ud", "process"), peers("ud", "process", RAW)
    for p in victim, old:
        p.reach(host.gid4)
    assert old.keep()
    old.close()
    heir = peers("ud", "process")
    while heir.slot != old.slot:
        heir.end()
        heir = peers("ud", "process")
    old.ring_datagram(host.addr4, victim.qpn, heir.qpn, "forged")
    heir.send("by the socket", host.gid4, victim.qpn)
    assert victim.texts_to("by the socket") == ["by the socket"]
    victim.reach(host.gid4)
    old.ring_datagram(host.addr4, victim.qpn, heir.qpn, "forged")
    heir.reach(host.gid4)
    heir.send("by the ring", host.gid4, victim.qpn)
    assert victim.texts_to("by the ring") == ["by the ring"]


@pytest.mark.parametrize("seed", range(4))
def test_scribbles(host, peers, seed):
    """A program writes anything into its rings, one of a user who has no sockets too. The others go on, its
    peer too."""
    enemy, victim = connected(host, peers("rc", "process", (RAW, NOBODY)[seed % 2]),
                              peers("rc", "process"))
    friend, fellow = connected(host, peers("rc", "process"), peers("rc", "process"))
    for p in enemy, victim, friend, fellow:
        p.reach(host.gid4)
    assert enemy.keep() >= 3
    for i in range(10):
        enemy.scribble(10 * seed + i)
        friend.fill(i)
        friend.write(fellow.rkey, fellow.addr)
        assert fellow.is_filled(i)
    # Its queue pair is as good as it ever was.
    third = peers("rc", "process")
    again = peers("rc", "process")
    connected(host, third, again)
    third.send("true")
    assert again.texts_to("true") == ["true"]
    assert victim.about()["qpn"] == victim.qpn


def test_killed_in_traffic(host):
    """So often that every slot has been somebody's who was killed."""
    for _ in range(6):
        s, c = start_pair(As(host, "process"), As(host, "process", *RAW),
                          ["ibv_rc_pingpong", "-n", "1000000", "-s", "20000"])
        wait_for("traffic", lambda: threads_cpu(c.pid) > 5 or not c.running())
        assert c.running(), c.report()
        s.kill()
        c.kill()
        wait_for("their end", lambda: not engines(host))
    run_pair(*2 * [As(host, "process")], ["ibv_rc_pingpong", "-c", "-n", "500"])


def test_stopped(host, peers):
    """A peer that takes nothing holds nobody up who sends to it and to others."""
    one, stopped, friend = (peers("ud", "process") for _ in range(3))
    for p in one, stopped, friend:
        p.reach(host.gid4)
    stopped.program.kill(signal.SIGSTOP)
    try:
        one.flood(2000, host.gid4, stopped.qpn)
        one.send("true", host.gid4, friend.qpn)
        assert friend.texts_to("true") == ["true"]
    finally:
        stopped.program.kill(signal.SIGCONT)


FLOOD = 6000
# Of 1 KiB each: all that goes by a ring would wait for room until so much of it is given back.
ALL = FLOOD * 1024


@pytest.mark.parametrize("place, where", [
    ("process", "here"), ("process", "another's"), ("process", "away"), ("apart", "here")])
def test_datagrams_to_one_who_drips(host, peers, place, where):
    """They are in one queue with those to others, which do not wait for room for each: what finds none is lost.
    Those to one's own user go by a ring, others by the kernel."""
    by = {"here": [], "another's": NOBODY,
          "away": ["ip", "netns", "exec", Away(host).net, *NOBODY]}[where]
    one, slow, friend = peers("ud", place), peers("ud", "process", by), peers("ud", "process")
    for p in one, slow, friend:
        p.reach(host.gid4)
    one.flood(10, host.gid4, slow.qpn)
    slow.texts_now()
    slow.drip()
    slow.program.kill(signal.SIGSTOP)
    before = taken_by(slow.program.pid)
    one.flood(FLOOD, host.gid4, slow.qpn)
    one.send("true", host.gid4, friend.qpn)
    assert friend.texts_to("true") == ["true"]
    given = taken_by(slow.program.pid) - before
    assert 0 <= given < ALL / 4, given
    assert given or where != "here"


def test_stopped_for_a_while(host, peers):
    """When it goes on, it has all."""
    one, stopped = connected(host, peers("rc", "process"), peers("rc", "process"))
    one.fill(1)
    stopped.program.kill(signal.SIGSTOP)
    one.begin_write(stopped.rkey, stopped.addr)
    time.sleep(0.2)
    stopped.program.kill(signal.SIGCONT)
    one.finish()
    assert stopped.is_filled(1)

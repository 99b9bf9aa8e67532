# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The next user to whom uroced grants a slot is nobody for the peers of the former one: it does not
speak as that one, and what is sent there still it does not read (engine_peer.py)."""
import ipaddress

import pytest

from away import Away
from test_cli import NOBODY
from test_guest_engine import GUESTS
from test_guest_host import (Peer, connected, host, peers)  # pylint: disable=unused-import
from test_restart import kill

OTHER = ["setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups"]
# Root's, which has sockets, a user's, and one with an engine process.
VICTIMS = {"root": ("process",), "user": ("process", OTHER), "device": ("device",)}


@pytest.fixture(params=["here", "away"])
def heir(request, host, peers):
    """A program of another user, in the slot of that one, which is killed. Away it has an outbox, and no socket."""
    away = request.param == "away"
    by = ["ip", "netns", "exec", Away(host).net, *NOBODY] if away else NOBODY

    def of(old):
        old.end()
        return peers(f"rc@{old.slot}", "process", by)
    of.has_sockets = not away
    return of


def gid_of(peer):
    return ipaddress.ip_address(f"::ffff:{peer.program.host.addr4}").exploded


@pytest.fixture
def far(host, peers):  # pylint: disable=unused-argument
    """A program of another host."""
    other = host.lab.b
    other.serve(*GUESTS)
    other.sockets, other.serial = host.sockets, host.serial
    made = Peer(other, "rc", "process")
    yield made
    made.end()
    other.stop()


@pytest.mark.parametrize("victim", VICTIMS)
def test_speaks_for_itself(host, peers, heir, victim):
    """By its socket, and by a ring, with the PSN that is expected."""
    victim, old = connected(host, peers("rc", *VICTIMS[victim]), peers("rc", "process", OTHER))
    old.send("true")
    assert victim.texts_to("true") == ["true"]
    new = heir(old)
    for p in victim, new:
        p.reach(host.gid4)
    if heir.has_sockets:
        new.granted_port()
        new.message(host.addr4, victim.qpn, 1, "forged")
    if new.keep():
        new.ring_message(host.addr4, victim.qpn, 1, "forged")
    # Behind these.
    friend = peers("rc", "process", NOBODY)
    friend.connect(host.gid4, new.qpn)
    new.connect(host.gid4, friend.qpn)
    new.send("true")
    assert friend.texts_to("true") == ["true"]
    assert not victim.texts_now()


@pytest.mark.parametrize("victim", VICTIMS)
def test_reads_its_own(host, peers, heir, victim):
    """What the peer sends until it gives up, by a ring or not."""
    victim, old = connected(host, peers("rc", *VICTIMS[victim]), peers("rc", "process", OTHER))
    victim.send("true")
    assert old.texts_to("true") == ["true"]
    new = heir(old)
    for p in victim, new:
        p.reach(host.gid4)
    victim.send_in_vain("for the dead")
    assert not new.is_in_rings("for the dead")
    # Others reach it.
    friend, new = connected(host, peers("rc", "process"), new)
    friend.send("for the heir")
    assert new.texts_to("for the heir") == ["for the heir"]


@pytest.mark.parametrize("victim", VICTIMS)
def test_reads_its_own_datagrams(host, peers, heir, victim):
    """Nobody says that who had the number has gone."""
    victim, old = peers("ud", *VICTIMS[victim]), peers("ud", "process", OTHER)
    victim.send("true", host.gid4, old.qpn)
    assert old.texts_to("true") == ["true"]
    new = heir(old)
    friend = peers("rc", "process")
    for p in victim, new:
        p.reach(host.gid4)
    victim.send("for the dead", host.gid4, old.qpn)
    # Behind that.
    connected(host, friend, new)
    friend.send("for the heir")
    assert new.texts_to("for the heir") == ["for the heir"]
    assert not new.is_in_rings("for the dead")


@pytest.mark.parametrize("victim", ["root", "device"])
def test_connected_too_late(host, peers, heir, victim):
    """By a number that was the former program's, when the slot is another's already."""
    old = peers("rc", "process", OTHER)
    new, victim = heir(old), peers("rc", *VICTIMS[victim])
    victim.connect(host.gid4, old.qpn)
    for p in victim, new:
        p.reach(host.gid4)
    if heir.has_sockets:
        new.granted_port()
        new.message(host.addr4, victim.qpn, 0, "forged")
    if new.keep():
        new.ring_message(host.addr4, victim.qpn, 0, "forged")
    assert not victim.texts_now()
    victim.send_in_vain("for the dead")
    assert not new.is_in_rings("for the dead")


def test_reads_its_own_from_elsewhere(host, peers, heir, far):
    """Another host knows of nobody's end."""
    old = peers("rc", "process", OTHER)
    far.connect(host.gid4, old.qpn)
    old.connect(gid_of(far), far.qpn)
    far.send("true")
    assert old.texts_to("true") == ["true"]
    new = heir(old)
    new.connect(gid_of(far), far.qpn)
    far.send_in_vain("for the dead")
    assert not new.is_in_rings("for the dead")


@pytest.mark.parametrize("first", ["uroced", "program"])
def test_when_uroced_is_killed(host, peers, heir, first):
    """The next one knows whose numbers those are. A program that goes on is who it was."""
    victim, old = connected(host, peers("rc", "process"), peers("rc", "process", OTHER))
    one, other = connected(host, peers("rc", "process"), peers("rc", "process", OTHER))
    one.send("first")
    assert other.texts_to("first") == ["first"]
    if first == "program":
        old.end()
    kill(host)
    host.serve(*GUESTS)
    new = heir(old)
    for p in victim, new, one, other:
        p.reach(host.gid4)
    if heir.has_sockets:
        new.granted_port()
        new.message(host.addr4, victim.qpn, 0, "forged")
    if new.keep():
        new.ring_message(host.addr4, victim.qpn, 0, "forged")
    assert not victim.texts_now()
    victim.send_in_vain("for the dead")
    assert not new.is_in_rings("for the dead")
    for a, b in (one, other), (other, one):
        a.send("second")
        assert b.texts_to("second") == ["second"]


@pytest.mark.parametrize("place", ["process", "device"])
def test_no_number_comes_again_soon(host, peers, place):
    """Drawn from 2^19, of so many hardly ever all differ."""
    peer = peers("ud", place)
    assert peer.numbers(3000) == 3000

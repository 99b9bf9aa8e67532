# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs of one host on one device, whose engines are in them (UROCE_ENGINE=process)
or in the device; and others of that host, who send under its address."""
import ipaddress
import itertools
import json
import os
import shutil
import socket
import tempfile

import pytest

import hosts
from hosts import wait_for
from pairs import run_pair
from test_cli import NOBODY
from test_guest_engine import GUESTS, engines, packets, serve

# Another uid that the device trusts with an engine: it may see all packets anyway.
RAW = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
       "--inh-caps", "+net_raw", "--ambient-caps", "+net_raw"]
GROUP = "239.7.7.9"
PLACES = list(itertools.product(("process", "device"), repeat=2))


@pytest.fixture(scope="module")
def host(build):
    lab = hosts.Lab(build, 1500)
    try:
        lab.a.serve(*GUESTS)
        yield lab.a
    finally:
        lab.close()


class As:
    """A host on which programs run as somebody, with their engines there."""
    def __init__(self, host, place, *by):
        self.host, self.by = host, [*by, "env", "UROCE_ENGINE=" + place]

    def start(self, *cmd, **kw):
        return self.host.start(*self.by, *cmd, **kw)

    def __getattr__(self, name):
        return getattr(self.host, name)


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("size", [64, 100000])
@pytest.mark.parametrize("family", [4, 6])
def test_pingpong(host, places, size, family):
    """Of two uids. Verified."""
    run_pair(As(host, places[0]), As(host, places[1], *RAW),
             ["ibv_rc_pingpong", "-c", "-n", "300", "-s", str(size)], family)


@pytest.mark.parametrize("program", [["ibv_uc_pingpong"],
                                     ["ibv_ud_pingpong", "-s", "1024"],
                                     ["ibv_rc_pingpong", "-e"]], ids=" ".join)
@pytest.mark.parametrize("places", PLACES[:3])
def test_other_services(host, places, program):
    run_pair(As(host, places[0]), As(host, places[1]), [*program, "-c", "-n", "300"])


@pytest.mark.parametrize("limit, place", [("2", "program"), ("1", "process")])
def test_no_thread_for_it(host, monkeypatch, limit, place):
    """The engine of a program that may have no thread is in an engine process. The uid is its own: threads
    are counted by user, on the whole machine."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    wait_for("an empty device", lambda: not engines(host))
    alone = [w.replace("65534", "64534") for w in RAW]
    p = serve(host, [*alone, "prlimit", f"--nproc={limit}"])
    try:
        assert engines(host) == {p.pid: place}
        run_pair(As(host, "process"), As(host, "process", *RAW), ["ibv_rc_pingpong", "-c"])
    finally:
        p.kill()


def test_data_is_not_the_devices(host):
    before = packets(host)
    run_pair(*2 * [As(host, "process")], ["ibv_rc_pingpong", "-c", "-n", "200"])
    assert packets(host) == before


class Peer:
    """engine_peer.py; its methods are called as these."""
    def __init__(self, host, kind, place="device", by=()):
        path = os.path.join(host.sockets, str(next(host.serial)))
        self.program = As(host, place, *by).start(
            "/usr/bin/python3", os.path.join(os.path.dirname(__file__), "engine_peer.py"),
            path, kind, host.gid(host.addr4))
        wait_for("a peer", lambda: os.path.exists(path) or not self.program.running())
        assert self.program.running(), self.program.report()
        self.lines = socket.socket(socket.AF_UNIX)
        self.lines.settimeout(60)
        self.lines.connect(path)
        self.lines = self.lines.makefile("rw")
        if kind != "none":
            vars(self).update(self.about())

    def __getattr__(self, name):
        def call(*args):
            self.lines.write(json.dumps([name, *args]) + "\n")
            self.lines.flush()
            answer = self.lines.readline()
            assert answer, self.program.report()
            return json.loads(answer)
        return call

    @property
    def slot(self):
        return self.qpn >> 19

    def end(self):
        self.program.kill()


@pytest.fixture
def peers(host):
    """Makes peers, and ends them."""
    made = []
    host.sockets, host.serial = tempfile.mkdtemp(), itertools.count()
    os.chmod(host.sockets, 0o777)
    host.gid4 = ipaddress.ip_address(f"::ffff:{host.addr4}").exploded

    def make(*args):
        made.append(Peer(host, *args))
        return made[-1]
    yield make
    for p in made:
        p.end()
    shutil.rmtree(host.sockets)


def connected(host, a, b):
    a.connect(host.gid4, b.qpn)
    b.connect(host.gid4, a.qpn)
    return a, b


@pytest.mark.parametrize("places", PLACES)
def test_write_and_read(host, peers, places):
    """1 MiB each way, every byte looked at. The target of both sleeps."""
    a, b = connected(host, peers("rc", places[0]), peers("rc", places[1], RAW))
    for seed in range(4):
        a.fill(seed)
        a.write(b.rkey, b.addr)
        assert b.is_filled(seed)
        b.fill(seed + 100)
        a.read(b.rkey, b.addr)
        assert a.is_filled(seed + 100)


@pytest.mark.parametrize("place", ["process", "device"])
def test_strangers(host, peers, place):
    """A user without an engine, from ports that he can have: what he sends under the
    host's address does not come, and he cannot have a granted one."""
    victim, friend = peers("ud", place), peers("ud", "process", RAW)
    stranger = peers("none", "device", NOBODY)
    stranger.own_port()
    for _ in range(50):
        stranger.datagram(host.addr4, victim.qpn, friend.qpn, "forged")
    assert stranger.can_bind(friend.granted_port()) == 0
    friend.send("true", host.gid4, victim.qpn)
    assert victim.texts_to("true") == ["true"]


def member(host, place):
    m = As(host, place).start("stdbuf", "-oL", "mckey", "-m", GROUP, "-b", host.addr4)
    wait_for("mckey to join", lambda: not m.running() or
             "receiving data transfers" in m.text())
    return m


@pytest.mark.parametrize("place", ["process", "device"])
def test_datagrams_to_a_group(host, peers, place):
    """So it is where they send to a group that the queue pair has joined."""
    friend, other = peers("ud", "process", RAW), peers("ud", "process")
    stranger = peers("none", "device", NOBODY)
    stranger.own_port()
    other.granted_port()
    first = member(host, place)
    for peer in stranger, other:
        for _ in range(20):
            peer.to_group(host.addr4, GROUP, friend.qpn)
    # It ends with the tenth that comes.
    second = member(host, place)
    assert first.running(), first.report()
    for _ in range(10):
        other.to_group(host.addr4, GROUP, other.qpn)
    for m in first, second:
        assert m.wait(20) == 0 and "return status 0" in m.text(), m.report()


@pytest.mark.parametrize("place", ["process", "device"])
def test_datagrams_of_another_engine(host, peers, place):
    """A program with an engine sends from its port what another program's queue pair
    might have sent. Only what its own might have comes."""
    victim, friend = peers("ud", place), peers("ud", "process")
    other = peers("ud", "process", RAW)
    other.granted_port()
    other.datagram(host.addr4, victim.qpn, friend.qpn, "forged")
    other.datagram(host.addr4, victim.qpn, 0x11, "the device's")
    other.datagram(host.addr4, victim.qpn, other.qpn, "own")
    friend.send("true", host.gid4, victim.qpn)
    assert victim.texts_to("true") == ["own", "true"]


def dropped(host):
    """Datagrams for no queue pair, and of none that may be its sender."""
    stat = json.loads(host.run(host.lab.bin("uroce"), "stat", "--json"))
    return sum(d["counters"][c] for d in stat for c in ("bad_qpn", "bad_gid"))


def test_requests_of_another_engine(host, peers):
    """A program's own engine asks a listener to connect: from its queue pair, and as if it had QP1. Neither comes; who asks
    by the device is connected."""
    other = peers("ud", "process", RAW)
    other.granted_port()
    server = As(host, "process").start("rping", "-s", "-a", host.addr4, "-p", "20001", "-C", "3")
    wait_for("rping to listen", lambda: "20001" in host.run(host.lab.bin("uroce"), "res", "cm_id") or
             not server.running())
    before = dropped(host)
    for source in other.qpn, 1:
        for _ in range(5):
            other.ask_to_connect(host.addr4, 20001, source)
    wait_for("them", lambda: dropped(host) >= before + 10)
    client = As(host, "process").start("rping", "-c", "-a", host.addr4, "-p", "20001", "-C", "3")
    for p in client, server:
        assert p.wait(30) == 0, p.report()


@pytest.mark.parametrize("places", PLACES)
def test_messages_of_another_engine(host, peers, places):
    """The same on a connection, with the PSN that is expected. Then the true peer does
    it, which shows that nothing else is wrong with the packet."""
    a, b = connected(host, peers("rc", places[0]), peers("rc", places[1]))
    other = peers("rc", "process", RAW)
    other.granted_port()
    for target in a, b:
        other.message(host.addr4, target.qpn, 0, "forged")
    a.send("true")
    assert b.texts_to("true") == ["true"]
    b.send("true")
    assert a.texts_to("true") == ["true"]
    if places[0] == "process":
        a.granted_port()
        a.message(host.addr4, b.qpn, 1, "by hand")
        assert b.texts_to("by hand") == ["by hand"]


def test_port_of_a_slot_that_has_gone(host, peers):
    """A program keeps a copy of its socket and ends its engine. Once the slot is
    another's, what comes from there does not count."""
    victim, old = peers("ud", "process"), peers("ud", "process", RAW)
    old.granted_port()
    old.close()
    heir = peers("ud", "process")
    while heir.slot != old.slot:
        heir.end()
        heir = peers("ud", "process")
    old.datagram(host.addr4, victim.qpn, heir.qpn, "forged")
    heir.send("true", host.gid4, victim.qpn)
    assert victim.texts_to("true") == ["true"]


# Binds the port of RoCE at that address, alone: its exit status.
BIND = "import socket, sys; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind((sys.argv[1], 4791))"
ADDRESS = "10.77.0.77"


def test_address_goes(host, peers):
    """Two programs that sleep give up an address that the device has no more, and go on with
    another one. When it comes back they have it again."""
    def has(address):
        return address in [str(g) for g, _ in host.gids().values()]
    host.ip("addr", "add", f"{ADDRESS}/32", "dev", "lo")
    host.ip("addr", "add", f"{ADDRESS}/24", "dev", "eth0")
    wait_for("the address", lambda: has(ADDRESS))
    try:
        # Datagrams have all the addresses of the port.
        a, b = peers("ud", "process"), peers("ud", "process", RAW)
        a.send("before", ipaddress.ip_address(f"::ffff:{ADDRESS}").exploded, b.qpn)
        assert b.texts_to("before") == ["before"]
        assert host.bare("/usr/bin/python3", "-c", BIND, ADDRESS).wait()
        host.ip("addr", "del", f"{ADDRESS}/24", "dev", "eth0")
        wait_for("the address to go", lambda: not has(ADDRESS))
        # Its port stays the device's: nobody gets what peers still send there.
        assert host.bare("/usr/bin/python3", "-c", BIND, ADDRESS).wait()
        a.send("meanwhile", host.gid4, b.qpn)
        assert b.texts_to("meanwhile") == ["meanwhile"]
        host.ip("addr", "add", f"{ADDRESS}/24", "dev", "eth0")
        wait_for("the address again", lambda: has(ADDRESS))
    finally:
        for netdev, bits in ("lo", 32), ("eth0", 24):
            host.bare("ip", "addr", "del", f"{ADDRESS}/{bits}", "dev", netdev).wait()

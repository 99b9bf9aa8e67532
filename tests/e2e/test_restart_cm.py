# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroced is killed, and another one comes: ids of rdma_cm go on. A program does step by step
what it is told (restart/cm_steps.c)."""
import os
import re
import signal

import pytest

from cm import cm_state
from hosts import wait_for
from test_guest_engine import GUESTS, lending
from test_restart import keepers, kill


@pytest.fixture
def pair(build, monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "process")
    with lending(build) as lab:
        yield lab


class Steps:
    """The program, and what it is told."""

    def __init__(self, host, role, address, port):
        self.pipe = os.path.join(host.lab.tmp, f"steps-{host.name}-{role}-{port}-{id(self)}")
        os.mkfifo(self.pipe)
        self.program = host.start(host.lab.bin("cm_steps"), role, address, str(port), self.pipe)
        self.out = os.open(self.pipe, os.O_RDWR)
        self.seen = {}

    def text(self):
        return self.program.text()

    def tell(self, step):
        os.write(self.out, f"{step}\n".encode())

    def told(self, step):
        """[(errno, ms)] of the steps of that name."""
        return [(int(a), int(b)) for a, b in
                re.findall(rf"^step {step} (\d+) in (\d+) ms$", self.text(), re.M)]

    def do(self, step, status=0, limit=20):
        """Does it, which takes 10 s at most beyond what it takes itself."""
        n = len(self.told(step))
        self.tell(step)
        wait_for(step, lambda: len(self.told(step)) > n or not self.program.running(), limit)
        assert self.program.running(), self.program.report()
        err, ms = self.told(step)[n]
        assert err == status, self.program.report()
        return ms

    def events(self, name):
        return re.findall(rf"^event RDMA_CM_EVENT_{name} (-?\d+)$", self.text(), re.M)

    def event(self, name, n=1, limit=20):
        """Waits for the nth event of that name."""
        try:
            wait_for(f"{name}, {n}", lambda: len(self.events(name)) >= n or
                     not self.program.running(), limit)
        except AssertionError as e:
            raise AssertionError(f"{e}\n" + "".join(
                f"{p.report()}" for p in self.program.host.lab.programs) +
                f"{cm_state(self.program.host)}") from e
        assert len(self.events(name)) == n, self.program.report()

    def end(self):
        self.program.kill()
        os.close(self.out)


@pytest.fixture
def server(pair):
    pair.cm_port = pair.next_port()
    s = Steps(pair.a, "server", pair.a.addr4, pair.cm_port)
    wait_for("it to listen", lambda: "listen 0" in s.text())
    yield s
    s.end()


@pytest.fixture
def client(pair, server):
    c = Steps(pair.b, "client", pair.a.addr4, pair.cm_port)
    yield c
    c.end()


def connect(server, client, n=1):
    client.do("connect")
    for p in server, client:
        p.event("ESTABLISHED", n)
    client.do("send")


@pytest.fixture
def both(server, client):
    connect(server, client)
    return server, client


def disconnect(first, other):
    """The other side's DREP is its program's own rdma_disconnect()."""
    first.do("disconnect")
    other.event("DISCONNECTED")
    other.do("disconnect")
    first.event("DISCONNECTED")


def restart(host, times=1):
    for _ in range(times):
        kill(host)
        host.serve(*GUESTS)


HOSTS = ["a", "b"]  # of the server, of the client


@pytest.mark.parametrize("which", HOSTS)
@pytest.mark.parametrize("who", ["server", "client"])
@pytest.mark.parametrize("times", [1, 3])
def test_disconnect(pair, both, which, who, times):
    """Either side ends the connection, after uroced of either host was killed."""
    server, client = both
    restart(getattr(pair, which), times)
    client.do("send")
    first, other = both if who == "server" else both[::-1]
    disconnect(first, other)
    for p in both:
        assert p.events("DISCONNECTED") == ["0"]
        p.do("destroy")
    for host in pair.a, pair.b:
        assert not [i for i in cm_state(host)["cm_ids"] if i["state"] != "LISTEN"]


@pytest.mark.parametrize("which", HOSTS)
def test_peer_dies(pair, both, which):
    """The program on the other host, of which uroced was not killed, ends."""
    server, client = both
    restart(getattr(pair, which))
    dies, lives = (client, server) if which == "a" else (server, client)
    dies.program.kill()
    lives.event("DISCONNECTED")


@pytest.mark.parametrize("which", HOSTS)
def test_program_dies(pair, both, which):
    """Its own program ends: its connection ends with a DREQ, whether there was a uroced or
    not."""
    server, client = both
    dies, lives = (server, client) if which == "a" else (client, server)
    kill(getattr(pair, which))
    dies.program.kill()
    getattr(pair, which).serve(*GUESTS)
    if lives.program.running():
        connected = [i for i in cm_state(getattr(pair, which))["cm_ids"]]
        assert not connected


def test_program_dies_later(pair, both):
    """It ends before it has asked the next uroced for anything."""
    server, client = both
    restart(pair.a)
    server.program.kill()
    client.event("DISCONNECTED")


@pytest.mark.parametrize("which", HOSTS)
def test_commands_wait(pair, both, which):
    """A command that is given while there is no uroced goes on with the next one."""
    server, client = both
    mine = server if which == "a" else client
    kill(getattr(pair, which))
    mine.tell("disconnect")
    getattr(pair, which).serve(*GUESTS)
    wait_for("the step", lambda: mine.told("disconnect"))
    (err, ms), = mine.told("disconnect")
    assert err == 0 and ms < 10000, mine.program.report()
    (client if which == "a" else server).event("DISCONNECTED")


def test_nobody_comes(pair, both):
    """It waits for 10 s, and fails; data go on."""
    server, client = both
    kill(pair.a)
    assert 9900 < server.do("option", status=5) < 14000
    client.do("send")


@pytest.mark.parametrize("which", HOSTS)
def test_other_commands(pair, both, which):
    server, client = both
    restart(getattr(pair, which))
    mine = server if which == "a" else client
    for step in "attributes", "option", "migrate":
        mine.do(step)
    mine.do("disconnect")
    other = client if which == "a" else server
    other.event("DISCONNECTED")


@pytest.mark.parametrize("times", [1, 3])
def test_listener(pair, server, client, times):
    """A server that waits in rdma_get_cm_event() gets the requests of new clients; it has had one
    before, or none."""
    restart(pair.a, times)
    connect(server, client)
    restart(pair.a, times)
    connect(server, client, 2)
    client.do("disconnect")
    server.event("DISCONNECTED")


def test_listener_without_context(pair, client):
    """On all addresses, so that its program has opened no device."""
    port = pair.next_port()
    s = Steps(pair.a, "server", "0.0.0.0", port)
    wait_for("it to listen", lambda: "listen 0" in s.text())
    c = Steps(pair.b, "client", pair.a.addr4, port)
    restart(pair.a, 2)
    connect(s, c)
    s.end()
    c.end()


def test_request_waits(pair, server, client):
    """uroced is killed between a request and its answer: the server accepts with the next
    one."""
    server.do("manual")
    client.do("connect")
    server.event("CONNECT_REQUEST")
    restart(pair.a)
    server.do("accept")
    for p in server, client:
        p.event("ESTABLISHED")
    client.do("send")
    restart(pair.b)
    client.do("disconnect")
    server.event("DISCONNECTED")


def test_asks_meanwhile(pair, server, client):
    """The client's uroced is killed when the server has not answered yet: the answer reaches the
    client, whose queue pair of before is not connected any more."""
    server.do("manual")
    client.do("connect")
    server.event("CONNECT_REQUEST")
    restart(pair.b)
    server.do("accept")
    client.event("CONNECT_ERROR")


def test_asks_nobody(pair, server, client):
    """While there is no uroced on the server's host: the client's request is repeated."""
    kill(pair.a)
    client.do("connect")
    pair.a.serve(*GUESTS)
    for p in server, client:
        p.event("ESTABLISHED")
    client.do("send")


def test_stopped(pair, both):
    """An ordinary end is one for ids, as before."""
    server, client = both
    pair.a.stop()
    assert not keepers(pair.a)
    wait_for("the channel's end", lambda: "channel ended" in server.text())
    server.do("disconnect", status=5)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroced is killed, and another one comes: ids of rdma_cm go on. A program does step by step
what it is told (restart/cm_steps.c)."""
import os
import random
import re
import signal
import time

import pytest

from cm import cm_state, start_server
from hosts import wait_for
from test_guest_engine import GUESTS, granting, octets
from test_restart import keepers, kill


@pytest.fixture
def pair(build, monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "process")
    with granting(build) as lab:
        yield lab


class Steps:
    """The program, and what it is told."""

    def __init__(self, host, role, address, port):
        self.pipe = os.path.join(host.lab.tmp, f"steps-{host.name}-{role}-{port}-{id(self)}")
        os.mkfifo(self.pipe)
        self.program = host.start(host.lab.bin("cm_steps"), role, address, str(port), self.pipe)
        self.out = os.open(self.pipe, os.O_RDWR)
        wait_for("it to begin", lambda: "begin 0" in self.text())

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

    def wait(self, what, condition, limit=20):
        """Or for the program's end."""
        try:
            wait_for(what, lambda: condition() or not self.program.running(), limit)
        except AssertionError as e:
            lab = self.program.host.lab
            raise AssertionError(f"{e}\n" + "".join(p.report() for p in lab.programs) +
                                 f"{cm_state(lab.a)}{cm_state(lab.b)}") from e

    def event(self, name, n=1, limit=20):
        """Waits for the nth event of that name."""
        self.wait(f"{name}, {n}", lambda: len(self.events(name)) >= n, limit)
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
    client.event("ESTABLISHED", n)
    server.wait("its event", lambda: len(server.events("ESTABLISHED")) >= n)
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


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("when", ["before", "after", "both"])
def test_spare_id(pair, both, when, times):
    """After a connection the program has its next id without a command. uroced is killed before the
    program takes that id, or before uroced hears of it. Nobody sees the id before."""
    server, client = both
    for n in range(2, 4):
        if when != "after":
            restart(pair.b, times)
        client.do("create")
        if when != "before":
            restart(pair.b, times)
        client.do("resolve")
        client.event("ESTABLISHED", n)
        server.wait("its event", lambda n=n: len(server.events("ESTABLISHED")) >= n)
        client.do("send")
    assert len(cm_state(pair.b)["cm_ids"]) == 3


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


@pytest.mark.parametrize("times", [1, 2])
def test_request_unread(pair, server, client, times):
    """uroced is killed when a request has come that the server has not looked at: it comes once."""
    os.kill(server.program.pid, signal.SIGSTOP)
    client.do("connect")
    wait_for("the request", lambda: [i for i in cm_state(pair.a)["cm_ids"]
                                     if i["cm_state"] == "MRA_REQ_SENT"])
    restart(pair.a, times)
    os.kill(server.program.pid, signal.SIGCONT)
    established(server, client)
    assert len(server.events("CONNECT_REQUEST")) == 1


@pytest.mark.parametrize("times", [1, 3])
def test_asks_meanwhile(pair, server, client, times):
    """The client's uroced is killed when the server has not answered yet: the answer reaches the
    client, which connects its queue pair of before."""
    server.do("manual")
    client.do("connect")
    server.event("CONNECT_REQUEST")
    restart(pair.b, times)
    server.do("accept")
    established(server, client)


def established(server, client):
    for p in server, client:
        p.event("ESTABLISHED")
    client.do("send")
    disconnect(client, server)


@pytest.mark.parametrize("which", ["a", "b", "ab"])
def test_connects_later(pair, server, client, which):
    """Both have made their queue pairs, the client before it asks, and the server before it accepts."""
    server.do("manual")
    client.do("halt")
    client.do("connect")
    client.wait("its queue pair", lambda: "queue pair 0" in client.text())
    if "b" in which:
        restart(pair.b)
    client.do("ask")
    server.event("CONNECT_REQUEST")
    server.do("make")
    for host in which:
        restart(getattr(pair, host))
    server.do("answer")
    established(server, client)


def test_connects_when_it_can(pair, server, client):
    """rdma_connect(), and rdma_accept(), wait for the next uroced."""
    server.do("manual")
    client.do("halt")
    client.do("connect")
    client.wait("its queue pair", lambda: "queue pair 0" in client.text())
    kill(pair.b)
    client.tell("ask")
    pair.b.serve(*GUESTS)
    server.event("CONNECT_REQUEST")
    server.do("make")
    kill(pair.a)
    server.tell("answer")
    pair.a.serve(*GUESTS)
    established(server, client)


def members(host):
    """How many sockets of that host are in the group."""
    lines = host.run("cat", "/proc/net/igmp").splitlines()
    return sum(int(words[1]) for words in map(str.split, lines) if words[0] == "090201EF")


@pytest.mark.parametrize("times", [1, 3])
def test_member(pair, server, times):
    """The host is a member again with the next uroced, and the program leaves there."""
    server.do("join")
    server.event("MULTICAST_JOIN")
    before = members(pair.a)
    assert before > 1  # its engine, and uroced
    restart(pair.a, times)
    assert members(pair.a) == before
    server.do("leave")
    assert not members(pair.a)
    server.do("join")
    server.event("MULTICAST_JOIN", 2)
    restart(pair.a)
    assert members(pair.a) == before
    server.program.kill()
    wait_for("its end", lambda: not members(pair.a))


def events_come_once(program, n):
    for name in "ADDR_RESOLVED", "ROUTE_RESOLVED", "ESTABLISHED":
        assert len(program.events(name)) == n, program.program.report()


@pytest.mark.parametrize("times", [1, 2])
def test_event_was_read(pair, server, client, times):
    """uroced is killed when the program has read an event and given no command since: the event
    comes once, and the program goes on after it."""
    client.do("hold")
    client.do("connect")
    for name in "ADDR_RESOLVED", "ROUTE_RESOLVED", "ESTABLISHED":
        client.event(name)
        restart(pair.b, times)
        client.do("go")
    server.event("ESTABLISHED")
    client.do("send")
    events_come_once(client, 1)


@pytest.mark.parametrize("times", [1, 2])
def test_event_waits(pair, server, client, times):
    """uroced is killed when an event has been sent that the program has not read: the event comes
    once."""
    client.do("hold")
    client.do("connect")
    client.event("ADDR_RESOLVED")
    client.do("connect")  # its event waits
    restart(pair.b, times)
    for _ in range(8):
        client.do("go")
    client.event("ESTABLISHED", 2)
    server.event("ESTABLISHED", 2)
    client.do("send")
    events_come_once(client, 2)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("reads", [True, False])
def test_answer_waits(pair, server, client, reads, times):
    """uroced is killed when the server's answer has come, and the client has not looked, or has: it is
    established, and told once."""
    server.do("manual")
    client.do("halt")
    client.do("connect")
    client.wait("its queue pair", lambda: "queue pair 0" in client.text())
    client.do("ask")
    server.event("CONNECT_REQUEST")
    if not reads:
        os.kill(client.program.pid, signal.SIGSTOP)
    server.do("accept")
    if reads:
        client.event("ESTABLISHED")
    else:
        wait_for("the answer", lambda: [i for i in cm_state(pair.b)["cm_ids"]
                                        if i["cm_state"] == "REP_RCVD"])
    restart(pair.b, times)
    if not reads:
        os.kill(client.program.pid, signal.SIGCONT)
    established(server, client)
    events_come_once(client, 1)


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


def test_rping(pair):
    """It sends so many messages, of which it looks at every byte, and ends in the ordinary way: by
    rdma_disconnect(), and its server by the DREQ."""
    port, count = str(pair.next_port()), "20000"
    args = ["-a", pair.a.addr4, "-p", port, "-V", "-C", count]
    s = pair.a.start("rping", "-s", *args)
    wait_for("rping to listen", lambda: "LISTEN" in pair.a.run(pair.bin("uroce"), "res", "cm_id"))
    before = octets(pair.a)
    c = pair.b.start("rping", "-c", *args)
    wait_for("traffic", lambda: octets(pair.a) - before > 1e5)
    for host in pair.a, pair.b, pair.a:
        restart(host)
    assert c.wait(100) == 0, c.report() + s.report()
    assert s.wait(20) == 0 or s.lost_race(), s.report()


def test_perftest(pair):
    """It ends in the ordinary way, after uroced of either host was killed in traffic."""
    port = pair.next_port()
    cmd = ["ib_send_bw", "-R", "-p", str(port), "-s", "65536", "-n", "20000", "-F"]
    s = start_server(pair.a, port, *cmd)
    before = octets(pair.a)
    c = pair.b.start(*cmd, pair.a.addr4)
    wait_for("traffic", lambda: octets(pair.a) - before > 10e6 or not c.running())
    for host in pair.a, pair.b:
        restart(host)
    assert c.wait(100) == 0 and s.wait(20) == 0, c.report() + s.report()


SHOWS = """
import ctypes, os, socket, struct, sys
# Shows the event socket of another process, whose number it has, as its own.
pid, number, path, who = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
pidfd = os.pidfd_open(pid)
fd = ctypes.CDLL(None).syscall(438, pidfd, number, 0)
assert fd >= 0
if who:
    os.setgid(who)
    os.setuid(who)
    ctypes.CDLL(None).prctl(4, 1)  # dumpable: it shows its own memory
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(path)
msg = bytearray(MSG)
buf = (ctypes.c_char * len(msg)).from_buffer(msg)
struct.pack_into("<IIqQQQQQ", msg, 0, 1, 2, 4711, 4, fd, 0x1f, 0, ctypes.addressof(buf))
memory = os.open("/proc/self/mem", os.O_RDWR)
struct.pack_into("<I", msg, 56, 1)
socket.send_fds(s, [msg], [memory])
answer, fds, *_ = socket.recv_fds(s, 4096, 4)
op, kind, ret = struct.unpack_from("<IIq", answer)
while op == 33:  # FGET
    reply = bytearray(len(msg))
    struct.pack_into("<IIq", reply, 0, 6, 0, 0)
    struct.pack_into("<I", reply, 56, 1)
    socket.send_fds(s, [reply], [fd])
    answer, fds, *_ = socket.recv_fds(s, 4096, 4)
    op, kind, ret = struct.unpack_from("<IIq", answer)
print("op", op, "ret", ret, "fds", len(fds), flush=True)
"""
MSG_BYTES = 16 + 40 + 8 + 64  # struct uroce_tun_msg


def event_socket(program):
    """The number of the event channel's descriptor in that program."""
    for fd in sorted(map(int, os.listdir(f"/proc/{program.pid}/fd"))):
        if fd > 2 and os.readlink(f"/proc/{program.pid}/fd/{fd}").startswith("socket:"):
            return fd
    raise AssertionError("no socket")


@pytest.mark.parametrize("who", ["process", "user"])
def test_other(pair, both, who):
    """Another process, of another user even, which has got a copy of the event socket, does not get
    the file; its own process does, afterwards."""
    server, client = both
    restart(pair.a)
    p = pair.a.bare("/usr/bin/python3", "-c", SHOWS.replace("MSG", str(MSG_BYTES)),
                    str(server.program.pid), str(event_socket(server.program)),
                    os.path.join(pair.a.run_dir, "uroced.sock"), "65534" if who == "user" else "0")
    assert p.wait(30) == 0 and re.search(r"op 32 ret -\d+ fds 0", p.text()), p.report()
    server.do("option")
    disconnect(server, client)


def test_many_ids(pair, server, client):
    """Each has its record."""
    n = 300
    for i in range(n):
        client.do("connect")
    for p in server, client:
        p.event("ESTABLISHED", n, limit=60)
    restart(pair.a)
    restart(pair.b)
    ids = [i for i in cm_state(pair.a)["cm_ids"] if i["state"] == "CONNECT"]
    assert len(ids) == n and {i["cm_state"] for i in ids} == {"ESTABLISHED"}
    client.do("send")
    client.program.kill()
    server.event("DISCONNECTED", n, limit=60)


def test_other_netdev(pair, both):
    """The next uroced has no such device: the ids lose it."""
    server, client = both
    pair.second_cable()
    kill(pair.a)
    pair.a.serve("--netdev", "eth1", *GUESTS[2:])
    server.event("DEVICE_REMOVAL", 2)  # the listener's, too
    server.do("disconnect", status=5)


def test_each_command_once(pair, both):
    """No command fails, and none is done twice: no id is left."""
    server, client = both
    rng = random.Random(4711)
    client.tell("churn")
    while not client.told("churn"):
        time.sleep(rng.random() * 0.1)
        restart(pair.b)
        assert client.program.running(), client.program.report()
    assert client.told("churn")[0][0] == 0, client.program.report()
    assert len(cm_state(pair.b)["cm_ids"]) == 1
    disconnect(client, server)


ENDS = "ESTABLISHED", "CONNECT_ERROR", "REJECTED", "UNREACHABLE", "ROUTE_ERROR"


def test_killed_at_any_time(pair, both):
    """While connections are made: each comes to an end, one way or the other; none fails for a queue pair that was
    there before."""
    server, client = both
    rng = random.Random(4711)
    for n in range(2, 14):
        client.tell("connect")
        time.sleep(rng.random() * 0.02)
        restart(rng.choice([pair.a, pair.b]))
        client.wait(f"connection {n}", lambda n=n: sum(len(client.events(e)) for e in ENDS) +
                    len(re.findall(r"^connect [1-9]", client.text(), re.M)) >= n)
        for p in both:
            assert p.program.running(), p.program.report()
    assert len(client.events("ESTABLISHED")) > 1 and not client.events("CONNECT_ERROR")
    connect(server, client, len(client.events("ESTABLISHED")) + 1)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroced is killed, and another one comes: connected queue pairs of programs whose engine
is in them (UROCE_ENGINE=process) go on. Every byte is verified."""
import contextlib
import json
import os
import random
import signal
import stat
import time

import pytest

import hosts
from hosts import wait_for
from pairs import start_pair
from test_guest_engine import GUESTS, granting, octets
from test_guests import finish, start

KILLS = 5
MANY_KILLS = 25
IBV_EVENT_DEVICE_FATAL = 8


@pytest.fixture
def pair(build, monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "process")
    with granting(build) as lab:
        yield lab


def rounds(p):
    return int(([line.split()[1] for line in p.text().splitlines()
                 if line.startswith("rounds")] or ["0"])[-1])


def go_on(programs, report=""):
    """Each has made at least one batch that began after this call."""
    before = [rounds(p) for p in programs]
    wait_for("rounds of both", lambda: any(not p.running() for p in programs) or
             all(rounds(p) >= n + 200 for p, n in zip(programs, before)), limit=60)
    for p in programs:
        assert p.running(), report + "".join(q.report() for q in programs)


def kill(host):
    host.device.kill(signal.SIGKILL)


def keepers(host):
    """Processes that are called so, in the host's network namespace."""
    net = os.stat(f"/var/run/netns/{host.name}").st_ino
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if (open(f"/proc/{pid}/comm").read().strip() == "uroced-keeper" and
                    os.stat(f"/proc/{pid}/ns/net").st_ino == net):
                found.append(int(pid))
        except OSError:
            pass
    return found


def counters(host):
    return json.loads(host.run(host.lab.bin("uroce"), "stat", "--json"))[0]["counters"]


def end(server, client):
    client.kill(signal.SIGUSR1)
    finish(server, client)
    for p in server, client:
        assert f"event {IBV_EVENT_DEVICE_FATAL}" not in p.text().splitlines(), p.report()


def outlive(lab, programs):
    """They outlive three of the first host's devices."""
    try:
        go_on(programs)
        for _ in range(3):
            kill(lab.a)
            lab.a.serve(*GUESTS)
            go_on(programs)
        end(*programs)
    finally:
        for p in programs:
            p.kill()


@contextlib.contextmanager
def connected(pair, mode="restart", on="two hosts"):
    """A server and a client, which go on; they are ended with this."""
    programs = start(pair, mode, (pair.a, pair.b if on == "two hosts" else pair.a))
    try:
        go_on(programs)
        yield programs
    finally:
        for p in programs:
            p.kill()


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("mode", ["restart", "restart_sleeps"])
def test_killed(pair, mode, on, monkeypatch):
    """On one host the two have rings in memory between them. A peer that waits for a processor for the 67 ms of a timeout
    of 14 is asked once more, kill or none; what is lost is asked for once more after any timeout."""
    monkeypatch.setenv("QP_TIMEOUT", "18")
    with connected(pair, mode, on) as programs:
        before = counters(pair.a)
        for n in range(KILLS):
            kill(pair.a)
            go_on(programs, f"kill {n}\n")
            pair.a.serve(*GUESTS)
            go_on(programs, f"serve {n}\n")
            assert len(keepers(pair.a)) == 1
        now = counters(pair.a)
        lost = {c: now[c] - before[c] for c in ("local_ack_timeout_err", "packet_seq_err",
                                                "out_of_sequence", "bad_qpn")}
        assert not any(lost.values()), lost
        assert now["rcvd_pkts"] > before["rcvd_pkts"]
        end(*programs)


@pytest.mark.parametrize("on", ["two hosts", "one host"])
def test_killed_at_any_time(pair, on):
    """Each uroced is killed when it has got so far in its start, or in taking over."""
    rng = random.Random(on)
    with connected(pair, "restart_sleeps", on) as programs:
        kill(pair.a)
        for n in range(MANY_KILLS):
            p = pair.a.bare(pair.bin(hosts.DAEMON), "--run-dir", pair.a.run_dir, *GUESTS)
            time.sleep(rng.random() * 0.1)
            p.kill()
            assert all(q.running() for q in programs), f"kill {n}\n" + p.report() + \
                "".join(q.report() for q in programs)
        go_on(programs)
        pair.a.serve(*GUESTS)
        go_on(programs)
        end(*programs)


def test_slow_keeper(pair):
    """It gets no processor while programs come and end: nobody waits for it, and it has what it was told when uroced is
    killed meanwhile."""
    with connected(pair, "restart_more") as programs:
        keeper, = keepers(pair.a)
        os.kill(keeper, signal.SIGSTOP)
        try:
            with connected(pair, "restart_more") as others:
                end(*others)
            with connected(pair, "restart_more") as later:
                kill(pair.a)
                go_on(later)
                os.kill(keeper, signal.SIGCONT)
                pair.a.serve(*GUESTS)
                assert keepers(pair.a) == [keeper]
                go_on(programs)
                go_on(later)
                end(*later)
            end(*programs)
        finally:
            os.kill(keeper, signal.SIGCONT)


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("mode", ["restart_more", "restart_more_sleeps", "restart_child"])
@pytest.mark.parametrize("kills", [1, 3])
def test_commands_go_on(pair, mode, on, kills):
    """With the next uroced old programs ask and make again."""
    with connected(pair, mode, on) as programs:
        for _ in range(kills):
            kill(pair.a)
            pair.a.serve(*GUESTS)
        go_on(programs)
        end(*programs)


def test_numbers_again(pair):
    """The next uroced does not know which numbers the last one has given."""
    with connected(pair, "restart_regions") as (server, client):
        kill(pair.a)
        pair.a.serve(*GUESTS)
        client.kill(signal.SIGUSR1)
        for p in client, server:
            assert p.wait(90) == 0 and p.text().count("regions") == 2, p.report()


def test_perftest_ends(pair):
    """It asks for the port after its measurement, and destroys everything."""
    s, c = start_pair(pair.a, pair.b, ["ib_write_bw", "-s", "65536", "-n", "20000", "-F"], flag="-x")
    before = octets(pair.a)
    wait_for("traffic", lambda: octets(pair.a) - before > 10e6)
    kill(pair.a)
    pair.a.serve(*GUESTS)
    assert (c.wait(90), s.wait(30)) == (0, 0), s.report() + c.report()


def test_slot_is_its_programs(pair, running, monkeypatch):
    """Another process, of the same user even, does not get it."""
    pair.a.serve(*GUESTS)
    monkeypatch.setenv("UROCE_ENGINE", "device")
    s, c = start(pair, "steal", (pair.a, pair.a))
    for p in c, s:
        assert p.wait(60) == 0 and "stolen 0" in p.text(), p.report()
        assert "others 39" in p.text(), p.report()
    go_on(running)
    end(*running)


@pytest.fixture
def running(pair):
    """Two programs on two hosts, which were connected before uroced of host a was killed."""
    with connected(pair) as programs:
        kill(pair.a)
        go_on(programs)
        yield programs


OPENED = """
import signal
import pyverbs.device as d
from pyverbs.cq import CQ
from pyverbs.pd import PD
context = d.Context(name="uroce0")
assert context.query_port(1).state == 4
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
print("opened", flush=True)
signal.sigwait([signal.SIGUSR1])
made = PD(context), CQ(context, 5)
assert context.query_device().phys_port_cnt == 1
print("made", flush=True)
"""


def test_opened(pair):
    """A program that has looked at the device and made nothing yet, as a server that waits, makes it with the next
    uroced."""
    p = pair.a.start("/usr/bin/python3", "-c", OPENED)
    wait_for("it", lambda: "opened" in p.text() or not p.running())
    kill(pair.a)
    pair.a.serve(*GUESTS)
    p.kill(signal.SIGUSR1)
    assert p.wait(20) == 0 and "made" in p.text(), p.report()


def test_new_programs_beside_it(pair, running):
    """Old and new ones have other places, so that none gets another's packets."""
    pair.a.serve(*GUESTS)
    others = [start(pair, "restart") for _ in range(3)]
    for programs in [running, *others]:
        go_on(programs)
        end(*programs)


def test_killed_again_with_new_programs(pair, running):
    pair.a.serve(*GUESTS)
    others = start(pair, "restart")
    go_on(others)
    kill(pair.a)
    pair.a.serve(*GUESTS)
    for programs in running, others:
        go_on(programs)
        end(*programs)


def test_counters_do_not_fall(pair, running):
    """While the old program runs, and when it has ended."""
    pair.a.serve(*GUESTS)
    before = counters(pair.a)["rcvd_pkts"]
    go_on(running)
    now = counters(pair.a)["rcvd_pkts"]
    assert now > before > 0
    end(*running)
    wait_for("the slot", lambda: not lives(pair.a))
    assert counters(pair.a)["rcvd_pkts"] >= now


def lives(host):
    """Sockets to programs that the keeper has, by their names: 2 for each of this host's."""
    keeper, = keepers(host)
    return [fd for fd in os.listdir(f"/proc/{keeper}/fd")
            if os.readlink(f"/proc/{keeper}/fd/{fd}").startswith("/memfd:uroce-counters")]


# Binds the port of RoCE at that address, alone: its exit status.
BIND = "import socket, sys; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind((sys.argv[1], 4791))"


def can_bind(host, address):
    return host.bare("/usr/bin/python3", "-c", BIND, address).wait() == 0


def test_nobody_comes(pair, running):
    """Data go on without a uroced for as long as the program lives; with it the keeper ends, and the
    port is free."""
    go_on(running)
    keeper, = keepers(pair.a)
    assert open(f"/proc/{keeper}/cmdline").read().strip("\0") == "uroced-keeper"
    assert not can_bind(pair.a, pair.a.addr4)
    end(*running)
    wait_for("the keeper to end", lambda: not keepers(pair.a))
    assert can_bind(pair.a, pair.a.addr4)
    pair.a.serve(*GUESTS)


def test_no_program(pair):
    kill(pair.a)
    wait_for("the keeper to end", lambda: not keepers(pair.a))
    assert can_bind(pair.a, pair.a.addr4)
    pair.a.serve(*GUESTS)


@pytest.mark.parametrize("first", ["killed", "served"])
def test_stopped(pair, first):
    """An ordinary end is the end of connections, also of those of an earlier uroced."""
    with connected(pair) as programs:
        if first == "killed":
            kill(pair.a)
            pair.a.serve(*GUESTS)
            go_on(programs)
        pair.a.stop()
        assert not keepers(pair.a)
        assert programs[0].wait(60) == 1 and "failed: rounds" in programs[0].text()
        assert can_bind(pair.a, pair.a.addr4)


def test_other_netdev(pair, running):
    """The next uroced has no such device: the programs' connections end."""
    pair.second_cable()
    pair.a.serve("--netdev", "eth1", *GUESTS[2:])
    assert running[0].wait(60) == 1, running[0].report()
    assert can_bind(pair.a, pair.a.addr4)


def test_address_goes(pair, running):
    """What the next uroced says reaches the old programs: they give an address up. One that came
    meanwhile is no entry that they know."""
    pair.a.ip("addr", "add", "10.77.0.99/24", "dev", "eth0")
    pair.a.serve(*GUESTS)
    assert pair.a.gid("10.77.0.99")
    go_on(running)
    pair.a.ip("addr", "del", "10.77.0.99/24", "dev", "eth0")
    go_on(running)
    pair.a.ip("addr", "del", f"{pair.a.addr4}/24", "dev", "eth0")
    # One that waits for a message just then, with none of its own on the way, learns nothing.
    wait_for("one to fail", lambda: not all(p.running() for p in running), limit=60)
    assert {p.proc.poll() for p in running} <= {1, None}, "".join(p.report() for p in running)
    wait_for("the port", lambda: not pair.a.gids() or
             pair.a.addr4 not in [str(g) for g, _ in pair.a.gids().values()])


STRANGER = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(20)
try:
    s.connect(sys.argv[1])
except PermissionError:
    print("refused")
    sys.exit()
print("connected", flush=True)
data, fds, *_ = socket.recv_fds(s, 4096, 8)
print("got", len(data), len(fds))
"""


def test_strangers(pair, running):
    """Another user cannot reach the keeper, and gets nothing where he can: not a byte, not a
    descriptor."""
    path = os.path.join(pair.a.run_dir, "keeper")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    p = pair.a.bare("/usr/bin/python3", "-c", STRANGER, path)
    assert p.wait(30) == 0 and p.text() == "refused\n", p.report()
    os.chmod(path, 0o666)
    p = pair.a.bare("/usr/bin/python3", "-c", STRANGER, path)
    assert p.wait(30) == 0 and "got 0 0" in p.text(), p.report()
    go_on(running)
    # One that waits there while uroced serves is not served after its end either.
    pair.a.serve(*GUESTS)
    os.chmod(path, 0o666)
    p = pair.a.bare("/usr/bin/python3", "-c", STRANGER, path)
    wait_for("a stranger", lambda: "connected" in p.text())
    kill(pair.a)
    assert p.wait(30) == 0 and "got 0 0" in p.text(), p.report()
    pair.a.serve(*GUESTS)
    go_on(running)
    end(*running)


def kill_under(pair, server, client, least):
    """KILLS times, with traffic without a uroced and with the next one."""
    def traffic(what):
        before = octets(pair.a)
        wait_for("traffic " + what, lambda: not server.running() or not client.running() or
                 octets(pair.a) - before > least)
        assert server.running() and client.running(), server.report() + client.report()
    traffic("to begin with")
    for n in range(KILLS):
        kill(pair.a)
        traffic(f"without, {n}")
        pair.a.serve(*GUESTS)
        traffic(f"with the next, {n}")
    for p in client, server:
        p.kill()


@pytest.mark.parametrize("tool", ["ib_write_bw", "ib_read_bw", "ib_send_bw"])
def test_perftest(pair, tool):
    """Until it is killed."""
    kill_under(pair, *start_pair(pair.a, pair.b, [tool, "-s", "65536", "-n", "10000000", "-F"],
                                 flag="-x"), least=10e6)


def test_rdma_cm(pair):
    """rping looks at every byte (-V), and waits for an event meanwhile, which does not come."""
    port = str(pair.next_port())
    args = ["-a", pair.a.addr4, "-p", port, "-V", "-C", "100000000"]
    s = pair.a.start("rping", "-s", *args)
    wait_for("rping to listen", lambda: "LISTEN" in pair.a.run(pair.bin("uroce"), "res", "cm_id"))
    c = pair.b.start("rping", "-c", *args)
    kill_under(pair, s, c, least=1e6)

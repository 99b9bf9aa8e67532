# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs of a user who may not see the packets of others: their engine is in them, but the
device has their sockets, and puts what comes into a ring."""
import json
import os
import signal

import pytest

from hosts import wait_for
from pairs import run_pair, start_pair
from test_cli import NOBODY
from test_guest_engine import GUESTS, SLOTS, engines, granting, serve
from test_guest_host import As
from test_guests import start
from test_restart import outlive

PROGRAMS = [["ibv_rc_pingpong", "-s", "50000"], ["ibv_rc_pingpong", "-e"], ["ibv_uc_pingpong"],
            ["ibv_ud_pingpong", "-s", "1024"], ["ibv_srq_pingpong", "-q", "4"]]
RDMA_UDP = 4791


@pytest.fixture(scope="module")
def lab(build):
    with granting(build) as lab:
        yield lab


@pytest.fixture(scope="module")
def host(lab):
    return lab.a


@pytest.fixture
def user(monkeypatch):
    """A host's programs are such a user's."""
    def of(host):
        return As(host, "process", *NOBODY)
    return of


@pytest.mark.parametrize("program", PROGRAMS, ids=" ".join)
@pytest.mark.parametrize("family", [4, 6])
def test_between_hosts(lab, user, program, family):
    """Verified, both, and one and root's."""
    run_pair(user(lab.a), user(lab.b), [*program, "-c", "-n", "300"], family)
    run_pair(As(lab.a, "process"), user(lab.b), [*program, "-c", "-n", "300"], family)


@pytest.mark.parametrize("other", ["user", "process", "device"])
@pytest.mark.parametrize("program", PROGRAMS[:2], ids=" ".join)
def test_on_one_host(host, user, program, other):
    b = user(host) if other == "user" else As(host, other)
    run_pair(user(host), b, [*program, "-c", "-n", "300"])
    run_pair(b, user(host), [*program, "-c", "-n", "300"])


def sockets(pid):
    """The numbers of those that a process has."""
    names = [os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")]
    return {int(name[8:-1]) for name in names if name.startswith("socket:")}


def receiving(pid):
    """The host's sockets for packets, by their numbers."""
    found = set()
    for name in "udp", "udp6":
        for line in open(f"/proc/{pid}/net/{name}").read().splitlines()[1:]:
            words = line.split()
            if int(words[1].split(":")[1], 16) == RDMA_UDP:
                found.add(int(words[9]))
    return found


def states(host):
    out = host.run(host.lab.bin("uroce"), "res", "qp", "--json")
    return [qp["state"] for qp in json.loads(out)]


def test_has_no_socket_of_the_group(lab, host, user):
    """Its queue pairs are its own; of the sockets to which packets come it has none, where
    root's program has one."""
    for side, others in (user(host), False), (As(host, "process"), True):
        s, c = start_pair(side, user(lab.b), ["ibv_rc_pingpong", "-n", "1000000"])
        try:
            wait_for("both", lambda: states(host) == ["RTS"])
            assert engines(host) == {s.pid: "program"}
            assert receiving(s.pid)
            assert bool(sockets(s.pid) & receiving(s.pid)) == others
        finally:
            s.kill()
            c.kill()
        wait_for("their end", lambda: not engines(host))


def test_part_of_the_slots(host, monkeypatch):
    """Half of what the others leave; then he has small ones, and root still gets one."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    wait_for("an empty device", lambda: not engines(host))
    programs = [serve(host, NOBODY) for _ in range(SLOTS // 2 + 1)]
    try:
        places = engines(host)
        assert {places[p.pid] for p in programs} == {"program"}
        programs.append(serve(host))
        assert engines(host)[programs[-1].pid] == "program"
    finally:
        for p in programs:
            p.kill()
    wait_for("their end", lambda: not engines(host))


def spent(pid):
    """Processor time, in ticks."""
    return sum(map(int, open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:13]))


def test_stopped(lab, user):
    """What comes for a program that does not read stays in its socket, without work for the device, and
    is there when it reads again."""
    s, c = start_pair(user(lab.a), As(lab.b, "process"),
                      ["ib_write_bw", "-q", "8", "-s", "65536", "-n", "2000", "-F", "-u", "18"], flag="-x")
    try:
        os.kill(s.pid, signal.SIGSTOP)
        before = spent(lab.a.device.pid)
        run_pair(As(lab.a, "process"), As(lab.b, "process"),
                 ["ibv_rc_pingpong", "-c", "-n", "1000"])
        assert spent(lab.a.device.pid) - before < 50
    finally:
        os.kill(s.pid, signal.SIGCONT)
    assert c.wait(60) == 0 and s.wait(10) == 0, s.report() + c.report()


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("mode", ["restart", "restart_sleeps"])
def test_restart(build, monkeypatch, user, mode, on):
    """uroced is killed: between hosts what comes meanwhile waits for the next one, which goes on in
    the ring. Every byte is verified."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    monkeypatch.setenv("QP_TIMEOUT", "18")  # 1 s, eight times
    with granting(build) as lab:
        sides = user(lab.a), user(lab.b if on == "two hosts" else lab.a)
        outlive(lab, start(lab, mode, on=sides))


def test_an_address_goes(lab, user):
    """And comes again: new connections work."""
    program = ["ibv_rc_pingpong", "-c", "-n", "200"]
    s, c = start_pair(user(lab.a), user(lab.b), ["ibv_rc_pingpong", "-n", "1000000"], family=6)
    try:
        lab.a.bare("ip", "addr", "add", "10.77.0.99/24", "dev", "eth0").wait(10)
        wait_for("its GID", lambda: any("10.77.0.99" in str(a) for a, _ in
                                        lab.a.gids().values()))
        lab.a.bare("ip", "addr", "del", "10.77.0.99/24", "dev", "eth0").wait(10)
        wait_for("its end", lambda: not any("10.77.0.99" in str(a) for a, _ in
                                            lab.a.gids().values()))
        run_pair(user(lab.a), user(lab.b), program)
        assert s.running() and c.running(), s.report() + c.report()
    finally:
        s.kill()
        c.kill()

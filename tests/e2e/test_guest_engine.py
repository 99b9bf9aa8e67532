# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""UROCE_ENGINE=process: the engine of a program's queue pairs is in the program.
That it is there shows in that data goes on while both devices are stopped."""
import json
import signal

import pytest

import hosts
from hosts import wait_for
from pairs import run_pair, start_pair

GUESTS = ["--netdev", "eth0", "--engines", "1", "--engine-opt", "guests=1"]


@pytest.fixture(scope="module")
def pair(build):
    lab = hosts.Lab(build, 1500)
    try:
        for host in lab.a, lab.b:
            host.serve(*GUESTS)
        yield lab
    finally:
        lab.close()


@pytest.fixture
def process(monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "process")


def packets(host):
    out = host.run(host.lab.bin("uroce"), "stat", "--json")
    c = json.loads(out)[0]["counters"]
    return c["sent_pkts"] + c["rcvd_pkts"]


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("size", [64, 100000])
def test_data_is_not_the_devices(pair, process, family, size):
    """Verified by the ping-pong; the devices saw no packet of it."""
    before = packets(pair.a), packets(pair.b)
    run_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-c", "-n", "200",
                              "-s", str(size)], family)
    assert (packets(pair.a), packets(pair.b)) == before


def test_devices_see_those_of_others(pair, monkeypatch):
    """The same counters move, where the engine is the device's."""
    monkeypatch.setenv("UROCE_ENGINE", "device")
    before = packets(pair.a)
    run_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-c", "-n", "200"])
    assert packets(pair.a) - before > 200


def threads_cpu(pid):
    return sum(int(v) for v in open(f"/proc/{pid}/stat").read()
               .rpartition(")")[2].split()[11:13])


def test_devices_are_stopped(pair, process):
    """Connected, the programs need nobody: 3,000 round trips, their data
    verified, while both devices are stopped."""
    s, c = start_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-c",
                                       "-n", "1000000", "-r", "100"])
    try:
        for p in s, c:
            wait_for("traffic", lambda: threads_cpu(p.pid) > 5 or
                     not p.running())
        for host in pair.a, pair.b:
            host.device.kill(signal.SIGSTOP)
        before = octets(pair.a)
        wait_for("traffic without the devices",
                 lambda: octets(pair.a) - before > 3000 * 2 * 4096)
        assert s.running() and c.running(), s.report() + c.report()
    finally:
        for host in pair.a, pair.b:
            host.device.kill(signal.SIGCONT)
        for p in s, c:
            p.kill()


def octets(host):
    """Of the netdev, both ways."""
    out = json.loads(hosts.sh("ip", "-j", "-s", "-n", host.name, "link",
                              "show", "eth0").stdout)[0]["stats64"]
    return out["rx"]["bytes"] + out["tx"]["bytes"]


@pytest.mark.parametrize("tool", ["ib_write_bw", "ib_read_bw", "ib_atomic_bw",
                                  "ib_send_lat"])
def test_perftest(pair, process, tool):
    size = [] if "atomic" in tool else ["-s", "65536"]
    before = packets(pair.a)
    run_pair(pair.a, pair.b, [tool, *size, "-n", "300", "-F"], flag="-x")
    assert packets(pair.a) == before


@pytest.mark.parametrize("program", ["ibv_uc_pingpong", "ibv_ud_pingpong",
                                     "ibv_srq_pingpong"])
def test_others_are_refused(pair, process, program):
    p = pair.a.start(program, "-d", "uroce0")
    assert p.wait(20) not in (0, None), p.report()


def test_within_a_host_is_refused(pair, process):
    """It has no way yet, and says so when it is to be connected."""
    s, c = start_pair(pair.a, pair.a, ["ibv_rc_pingpong"])
    try:
        assert c.wait(20) == 1 and s.wait(20) == 1
        assert "Failed to modify QP to RTR" in s.text(), s.report()
    finally:
        s.kill()


AS_A_USER = ["setpriv", "--reuid", "65534", "--regid", "65534",
             "--clear-groups"]


def opened(host, *by):
    p = host.start(*by, "ibv_devinfo", "-d", "uroce0")
    assert p.wait(20) is not None, p.report()
    return "hca_id" in p.text()


def test_only_where_allowed(lab, monkeypatch):
    """A device lends nothing unless its administrator says so, and then to him
    alone."""
    lab.a.serve("--netdev", "eth0", "--engines", "1")
    lab.b.serve(*GUESTS)
    for engine, who in (("device", [lab.a, lab.b]), ("process", [lab.b]),
                        ("no-such", [])):
        monkeypatch.setenv("UROCE_ENGINE", engine)
        assert [h for h in (lab.a, lab.b) if opened(h)] == who, engine
    monkeypatch.setenv("UROCE_ENGINE", "device")
    assert opened(lab.b, *AS_A_USER)
    monkeypatch.setenv("UROCE_ENGINE", "process")
    assert not opened(lab.b, *AS_A_USER)


def test_slots_come_back(pair, process):
    """More programs, one after the other, than there are slots."""
    for _ in range(9):
        assert opened(pair.a)


def test_killed_programs_give_back(pair, process):
    """Sockets of who was killed are others', and get their packets alone."""
    for _ in range(3):
        s, c = start_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-n", "1000000"])
        wait_for("traffic", lambda: threads_cpu(c.pid) > 5 or
                 not c.running())
        s.kill()
        c.kill()
    run_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-c", "-n", "200"])

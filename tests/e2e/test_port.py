# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""UDP port 4791 of a device's addresses, which any user of the host could bind: while an address is away, when it comes
back, and when it goes to another device."""
import contextlib
import ipaddress
import json
import os
import resource
import signal
import socket

import pytest

from hosts import wait_for
from pairs import run_pair, start_pair

NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")

# The port of an address that the host may not have, with IP_FREEBIND or IPV6_FREEBIND.
TAKES = """
import socket, sys
v6 = ":" in sys.argv[1]
s = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(41 if v6 else 0, 78 if v6 else 15, 1)
s.setsockopt(socket.SOL_SOCKET, getattr(socket, sys.argv[2]), 1)
try:
    s.bind((sys.argv[1], 4791))
    print("took", flush=True)
    sys.stdin.read()
except OSError as e:
    print(e.errno, flush=True)
"""


# The same, kept until the program is ended.
KEEPS = TAKES.replace("sys.stdin.read()", "__import__('signal').pause()")


def keep(host, address):
    p = host.bare(*NOBODY, "/usr/bin/python3", "-c", KEEPS, address, "SO_REUSEADDR")
    wait_for("his socket", lambda: "took" in p.text() or not p.running())
    return p


def take(host, address, option="SO_REUSEADDR"):
    """What an ordinary user gets."""
    p = host.bare(*NOBODY, "/usr/bin/python3", "-c", TAKES, address, option)
    p.wait()
    return p.text().strip()


def gone(host, *addresses):
    them = set(map(ipaddress.ip_address, addresses))
    wait_for("no such GID", lambda: not them & {g[0] for g in host.gids().values()})


def away(host, address, prefix):
    host.ip("addr", "del", f"{address}/{prefix}", "dev", "eth0")
    gone(host, address)


def back(host, address, prefix, dev="eth0"):
    host.ip("addr", "add", f"{address}/{prefix}", "dev", dev, *["nodad"] * (":" in address))


@pytest.mark.parametrize("option", ["SO_REUSEADDR", "SO_REUSEPORT"])
@pytest.mark.parametrize("family", ["v4", "v6"])
def test_nobody_takes_an_address_that_is_away(lab, family, option):
    address, prefix = {"v4": (lab.a.addr4, 24), "v6": (lab.a.addr6, 64)}[family]
    lab.serve()
    lab.a.gid(address)
    away(lab.a, address, prefix)
    assert take(lab.a, address, option) == "98"  # EADDRINUSE
    assert take(lab.a, "10.77.9.9", option) == "took"
    back(lab.a, address, prefix)
    lab.a.gid(address)
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong"])


def test_comes_back_beside_a_copy(lab, monkeypatch):
    """A program that is stopped keeps its copy of the socket that was granted."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    lab.serve()
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000"])
    wait_for("both in RTS", lambda: "RTS" in lab.a.run(lab.bin("uroce"), "res", "qp"))
    s.kill(signal.SIGSTOP)
    for _ in range(3):
        away(lab.a, lab.a.addr4, 24)
        back(lab.a, lab.a.addr4, 24)
        lab.a.gid(lab.a.addr4)
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong"])
    assert "taken" not in lab.a.device.text()


def test_goes_to_another_device(lab):
    lab.second_cable()
    for host in lab.a, lab.b:
        host.serve("--netdev", "eth0", "--netdev", "eth1")
    lab.a.gid(lab.a.addr4)
    away(lab.a, lab.a.addr4, 24)
    back(lab.a, lab.a.addr4, 24, "eth1")
    wait_for("the GID", lambda: f"::ffff:{lab.a.addr4}" in
             lab.a.run("ibv_devinfo", "-v", "-d", "uroce1"))
    assert "taken" not in lab.a.device.text()


def test_many_go(lab):
    """Those that went first are given up."""
    lab.serve()
    files = f"/proc/{lab.a.device.pid}/fd"
    host = [f"10.78.1.{n}" for n in range(1, 41)]
    counts = []
    for _ in range(3):
        lab.a.ip_all(*[f"addr add {a}/32 dev eth0" for a in host])
        lab.a.gid(host[-1])
        lab.a.ip_all(*[f"addr del {a}/32 dev eth0" for a in host])
        gone(lab.a, *host)
        counts.append(len(os.listdir(files)))
    assert counts[1] == counts[2], counts
    assert take(lab.a, host[-1]) == "98"


HOARDS = """
import resource, signal, socket, sys
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
first, last, mine = int(sys.argv[1]), int(sys.argv[2]), []
for port in range(first, last + 1):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        s.bind(("0.0.0.0", port))
        mine.append(s)
    except OSError:
        pass
print("has", len(mine), flush=True)
signal.pause()
"""


PART = 16384


@contextlib.contextmanager
def hoarded(host, first, last):
    """An ordinary user has those ports."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < PART + 100:
        pytest.skip("too few descriptors are allowed")
    parts = [host.bare(*NOBODY, "/usr/bin/python3", "-c", HOARDS, str(n), str(n + PART - 1))
             for n in range(first, last + 1, PART)]
    try:
        for p in parts:
            wait_for("ports", lambda p=p: "has" in p.text() or not p.running())
        yield
    finally:
        for p in parts:
            p.kill()


def engine_of(host, lab):
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000"])
    try:
        wait_for("both in RTS", lambda: "RTS" in host.run(lab.bin("uroce"), "res", "qp"))
        return json.loads(host.run(lab.bin("uroce"), "res", "--json", "qp"))[0]["engine"]
    finally:
        for p in s, c:
            p.kill()


@pytest.mark.parametrize("first", [32768, 16384, 1024])
def test_a_user_has_the_ports_that_are_granted(lab, monkeypatch, first):
    """Programs get others. Where there are none, none opens the device, and the log says why."""
    monkeypatch.delenv("UROCE_ENGINE", raising=False)
    lab.serve()
    with hoarded(lab.a, first, 49151):
        if first > 1024:
            assert engine_of(lab.a, lab) == "program"
        else:
            p = lab.a.start("ibv_devinfo")
            assert p.wait(30) and "Failed to open device" in p.text(), p.report()
        assert "UDP ports 32768 to 49151 are taken" in lab.a.device.text()
    assert engine_of(lab.a, lab) == "program"


def test_a_user_has_an_address_that_comes(lab):
    """The log, `uroce link` and `uroce doctor` say so; the device gets the address when he has ended."""
    lab.serve()
    address = "10.77.0.77"
    p = keep(lab.a, address)
    lab.a.ip("addr", "add", f"{address}/24", "dev", "eth0")
    wait_for("a word of it", lambda: "of user 65534" in lab.a.device.text())
    assert f"4791 of {address} is taken" in lab.a.device.text()
    told = f"no gid for ::ffff:{address}: another program has its UDP port 4791"
    assert told in lab.a.run(lab.bin("uroce"), "link")
    got = lab.a.start(lab.bin("uroce"), "doctor")
    got.wait()
    assert f"{address} has no GID on uroce0" in got.text()
    p.kill()
    lab.a.gid(address)
    assert told not in lab.a.run(lab.bin("uroce"), "link")


def test_our_own_user_has_an_address_that_comes(lab):
    """A uroced that is confined cannot tell another uroced from a program with a copy of a granted socket. The log names
    both, and the device gets the address when the other one has ended."""
    lab.second_cable()
    lab.serve()
    address = "10.78.0.1"
    other = lab.a.bare(lab.bin("uroce"), "run", "--run-dir", f"{lab.tmp}/other", "--netdev", "eth1", "--",
                       "sh", "-c", "ibv_devinfo -v; exec sleep 600")
    wait_for("its GID", lambda: f"::ffff:{address}" in other.text() or not other.running())
    lab.a.ip("addr", "del", f"{address}/24", "dev", "eth1")
    back(lab.a, address, 24)
    wait_for("a word of it", lambda: f"4791 of {address} is taken" in lab.a.device.text().rpartition("\n")[0])
    told = lab.a.device.text()
    assert f"4791 of {address} is taken by another uroced of user 0, or by a program that has a copy of a socket" in told
    assert "a process of user 0" not in told
    other.kill()
    lab.a.gid(address)


@pytest.mark.parametrize("for_good", [False, True])
def test_a_service_whose_port_is_taken(lab, monkeypatch, for_good):
    """systemd closes the sockets that it has stored for a service some time after the service's end. The next one is
    ready with its addresses, and without the one whose port is another program's for good."""
    p = keep(lab.a, lab.a.addr4)
    monkeypatch.setenv("NOTIFY_SOCKET", f"{lab.tmp}/notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(f"{lab.tmp}/notify")
        systemd.settimeout(10)
        d = lab.a.bare(lab.bin("uroced"), "--netdev", "eth0", "--run-dir", lab.a.run_dir)
        wait_for("a word of it", lambda: "is taken" in d.text() or not d.running())
        # A program that begins now waits, too.
        program = lab.a.bare("env", f"LD_PRELOAD={lab.build}/lib/liburoce-preload.so",
                             f"UROCE_RUN_DIR={lab.a.run_dir}", "ibv_devinfo")
        if not for_good:
            p.kill()
        while b"READY=1" not in systemd.recv(4096):
            pass
        got = [str(gid[0]) for gid in lab.a.gids().values()]
    assert (lab.a.addr4 not in got) == for_good and lab.a.addr6 in got, (got, d.text())
    assert d.text().count("is taken") == 1, d.text()
    assert program.wait() == 0 and "PORT_ACTIVE" in program.text(), program.report()


def test_a_program_whose_port_is_taken(lab):
    """`uroce run` waits as well for the device that it starts."""
    p = keep(lab.a, lab.a.addr4)
    program = lab.a.bare(lab.bin("uroce"), "run", "--run-dir", f"{lab.tmp}/its", "--netdev", "eth0", "--",
                         "ibv_devinfo", "-v")

    def said():
        with contextlib.suppress(FileNotFoundError), open(f"{lab.tmp}/its/uroced.log") as f:
            return "is taken" in f.read()

    wait_for("a word of it", lambda: said() or not program.running())
    p.kill()
    assert program.wait() == 0 and f"::ffff:{lab.a.addr4}" in program.text(), program.report()

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""rdma_resolve_addr() where the next hop is known, dead, late or none (resolve/resolve.c)."""
import errno
import re

import pytest

from cm import cm_state
from hosts import wait_for
from test_cli import uroce
from test_restart import kill

TIMEOUT = 600  # ms
LONG = 30000
ERROR = "RDMA_CM_EVENT_ADDR_ERROR"
RESOLVED = "RDMA_CM_EVENT_ADDR_RESOLVED"
# Nobody has these; the last two are behind a router that nobody is.
DEAD = ["10.77.0.222", "fd77::222", "10.99.0.1", "fd99::1"]


@pytest.fixture
def served(lab):
    lab.serve()
    route(lab.b, "10.77.0.223", "fd77::223")
    return lab


def route(host, via4, via6):
    host.ip("route", "replace", "10.99.0.0/24", "via", via4)
    host.ip("route", "replace", "fd99::/64", "via", via6)


def begin(host, timeout, *words):
    return host.start(host.lab.bin("resolve"), str(timeout), *words)


def events(text):
    return [(name, int(status), int(ms)) for name, status, ms in
            re.findall(r"^(RDMA_\w+) (-?\d+) (\d+)$", text, re.M)]


def resolve(host, timeout, *words):
    return events(host.run(host.lab.bin("resolve"), str(timeout), *words))


def is_timeout(event):
    name, status, ms = event
    return (name, status) == (ERROR, -errno.ETIMEDOUT) and TIMEOUT / 2 < ms < TIMEOUT * 5


def waits(host):
    return [i for i in cm_state(host)["cm_ids"] if i["state"] == "ADDR_QUERY"]


def test_known(served):
    """Neighbours of which nothing is known yet, ones that are, and those behind a router."""
    a, b = served.a, served.b
    route(b, a.addr4, a.addr6)
    for address in a.addr4, a.addr6, b.addr4, b.addr6, "127.0.0.1", "10.99.0.1", "fd99::1":
        got = resolve(b, LONG, *[address, "new"] * 3)
        assert [e[:2] for e in got] == [(RESOLVED, 0)] * 3, (address, got)
        assert got[-1][2] < LONG / 2, (address, got)


def test_dead(served):
    """The error comes at the end of the program's timeout; then the same id finds another one, which is
    there."""
    a, b = served.a, served.b
    programs = [begin(b, TIMEOUT, address, a.addr6 if ":" in address else a.addr4)
                for address in DEAD]
    for p in programs:
        assert p.wait() == 0, p.report()
        error, found = events(p.text())
        assert is_timeout(error), p.report()
        assert found[:2] == (RESOLVED, 0), p.report()
    error, = resolve(b, 0, DEAD[0])
    assert error[:2] == (ERROR, -errno.ETIMEDOUT), error
    assert b.device.running(), b.device.report()


def test_late(served):
    """The neighbours come when the kernel has given up: it is asked again until the time is up."""
    a, b = served.a, served.b
    for family in "ipv4", "ipv6":
        b.run("sysctl", "-qw", f"net.{family}.neigh.eth0.mcast_solicit=1",
              f"net.{family}.neigh.eth0.retrans_time_ms=100")
    programs = [begin(b, LONG, address) for address in DEAD]
    hops = "10.77.0.222", "fd77::222", "10.77.0.223", "fd77::223"
    for hop in hops:
        wait_for("the kernel to give up", lambda: "FAILED" in b.ip("neigh", "show", "to", hop))
    assert len(waits(b)) == len(programs)
    for hop in hops:
        a.ip("addr", "add", *(f"{hop}/64", "nodad") if ":" in hop else (f"{hop}/24",),
             "dev", "eth0")
    for p in programs:
        assert p.wait(LONG / 1000 / 2) == 0, p.report()
        got, = events(p.text())
        assert got[:2] == (RESOLVED, 0), p.report()


def test_busy(served):
    """An id that resolves takes no other address, and can be destroyed."""
    a, b = served.a, served.b
    p = begin(b, LONG, "begin", DEAD[0], "begin", a.addr4, "new", a.addr4)
    assert p.wait(LONG / 1000 / 2) == 0, p.report()
    assert re.findall(r"^begin (\d+)$", p.text(), re.M) == ["0", str(errno.EINVAL), "0"]
    assert [e[:2] for e in events(p.text())] == [(RESOLVED, 0)]
    assert not cm_state(b)["cm_ids"] and b.device.running(), b.device.report()


def test_killed(served):
    """The program is killed meanwhile; or the address goes, the device, and the netdev."""
    b = served.b
    p = begin(b, LONG, *DEAD[:1])
    wait_for("its id to wait", lambda: waits(b))
    p.kill()
    wait_for("its end", lambda: not cm_state(b)["cm_ids"])
    p, q = (begin(b, ms, *DEAD[:1]) for ms in (TIMEOUT, LONG))
    wait_for("them to wait", lambda: len(waits(b)) == 2)
    b.ip("addr", "flush", "dev", "eth0")
    assert p.wait() == 0, p.report()
    assert is_timeout(*events(p.text())), p.report()
    uroce(b, "link", "del", "uroce0")
    assert q.wait(LONG / 1000 / 2) == 0, q.report()
    assert events(q.text())[0][0] == "RDMA_CM_EVENT_DEVICE_REMOVAL", q.report()
    b.ip("link", "del", "eth0")
    assert b.device.running(), b.device.report()


def test_device_killed(served):
    """uroced is killed while an id resolves: the next one says when the time is up, or that the
    neighbour is there."""
    a, b = served.a, served.b
    late = "10.77.0.224"
    p = begin(b, TIMEOUT * 3, DEAD[0])
    q = begin(b, LONG, late)
    wait_for("both to wait", lambda: len(waits(b)) == 2 or not p.running())
    kill(b)
    b.serve("--netdev", "eth0")
    assert p.wait(LONG / 1000) == 0, p.report()
    (name, status, ms), = events(p.text())
    assert (name, status) == (ERROR, -errno.ETIMEDOUT), p.report()
    assert TIMEOUT * 3 / 2 < ms < TIMEOUT * 3 * 5, p.report()
    a.ip("addr", "add", f"{late}/24", "dev", "eth0")
    assert q.wait(LONG / 1000) == 0, q.report()
    assert [e[:2] for e in events(q.text())] == [(RESOLVED, 0)], q.report()


def test_without_neighbours(served):
    """Where the kernel has no neighbours, or a firewall keeps it from being asked, an address is resolved."""
    b = served.b
    b.nft("table inet f { chain out { type filter hook output priority 0; udp dport 9 drop; }; }")
    for address in DEAD:
        assert [e[:2] for e in resolve(b, LONG, address)] == [(RESOLVED, 0)], address
    b.nft("delete table inet f")
    b.ip("link", "set", "eth0", "arp", "off")
    for address in "10.77.0.225", "fd77::225":
        assert [e[:2] for e in resolve(b, LONG, address)] == [(RESOLVED, 0)], address

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Management datagrams between the kernel's umad, of Soft-RoCE, and ours: the
program of tests/e2e/test_umad.py on both sides. perfquery asks neither: it
registers an agent of QP0 first, which the kernel refuses on RoCE ports. Over IPv4
nobody can ask with the kernel's umad: it holds an answer's GRH against the GID
that asked (rcv_has_same_gid()), and in its place there is an IPv4 header."""
import pytest

import guest as g
from parts import has_part


def mads(host):
    return {"rxe": "/uroce/build/bin/mads", "uroce": f"{g.BUILD}/bin/mads"}[host.kind]


def ask(hosts, answers, asks, ip, what, rest=""):
    a, b = hosts[asks], hosts[answers]
    gid = b.addr[6] if ip == 6 else f"::ffff:{b.addr[4]}"
    rc, out = a.run(f"{mads(a)} {what} {a.device} {a.gid[ip]} {gid} {rest}")
    assert rc == 0, out
    return out


@pytest.fixture(autouse=True)
def built(hosts):
    rc, out = hosts["rxe"].run(f"test -x {mads(hosts['rxe'])}")
    if rc:
        pytest.skip("built without libibumad, or not in build/")
    if not has_part(g.BUILD, "UMAD"):
        pytest.skip("built with -DUROCE_WITH_UMAD=OFF")


def test_conversation(hosts, clean_wire):
    """A program's agent here, asked from there."""
    host = hosts["uroce"]
    server = host.start(f"{mads(host)} serve {host.device} 20")
    try:
        for line in server.stdout:
            if "serving" in line:
                break
        assert "answered 20" in ask(hosts, "uroce", "rxe", 6, "ask", "20")
        assert server.wait(60) == 0
    finally:
        if server.poll() is None:
            host.end(server, "mads")


def words(text):
    return {k: int(v) for k, v in (line.split() for line in text.splitlines()
                                   if line.startswith(("port_", "unicast_")))}


def test_asked_by_soft_roce(hosts, clean_wire):
    """What our PerfMgt agent tells the kernel's umad is what sysfs says here."""
    first = words(ask(hosts, "uroce", "rxe", 6, "counters"))
    here = hosts["uroce"].counters()
    second = words(ask(hosts, "uroce", "rxe", 6, "counters"))
    assert here["sent_pkts"] == first["port_xmit_packets"] + 1
    assert here["rcvd_pkts"] == first["port_rcv_packets"]
    assert second["port_xmit_packets"] == here["sent_pkts"]
    assert second["port_rcv_packets"] == here["rcvd_pkts"] + 1


@pytest.mark.parametrize("ip", [4, 6])
def test_asking_soft_roce(hosts, clean_wire, ip):
    """It has no such agent: the kernel answers that it knows no such method or
    attribute (IBTA 13.4.7, status 3 in bits 4..2)."""
    assert ask(hosts, "rxe", "uroce", ip, "counters").strip() == "status 12"

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What an address handle asks for, in the IP header of the packet and in the 40
bytes that a datagram's receiver gets."""
import os

import pytest

import grh
import hosts
from hosts import wait_for
from packets import packets
from pairs import run_pair
from test_v1 import Capture
from test_wire import V4, V6, captured, once, wire  # noqa: F401

UD = os.path.join(hosts.TOP, "tests", "interop", "ud.py")


def datagrams(server, client, ip, kind="RoCE v2"):
    """Output of both; the client's packets are those of ud.py."""
    addr = {V4: "addr4", V6: "addr6"}[ip]
    gid = [h.gid(getattr(h, addr), kind) for h in (server, client)]
    v1 = kind != "RoCE v2"
    s = server.start("/usr/bin/python3", UD, "server", "uroce0", gid[0])
    wait_for("the server", lambda: s.listens(7778) or not s.running())
    c = client.start("/usr/bin/python3", UD, "client", "uroce0", gid[1], server.addr4)
    assert c.wait() == 0 and s.wait() == 0, c.report() + s.report()
    ends = [getattr(h, addr) for h in (client, server)]
    grh.check(s.text(), ip, *ends, v1=v1)
    # The answer goes by a handle made of the request's completion.
    grh.check(c.text(), ip, *reversed(ends), v1=v1)
    return s.text(), c.text()


def port_of(label):
    return 0xc000 | (label & 0x3fff) ^ (label >> 14)


@pytest.mark.parametrize("ip", [V4, V6])
def test_datagram(wire, ip):  # noqa: F811
    with Capture(wire.b) as cap:
        datagrams(wire.b, wire.a, ip)
    request, answer = packets(cap.frames)
    assert [p.tos for p in (request, answer)] == 2 * [grh.TCLASS]
    assert [p.ttl for p in (request, answer)] == 2 * [grh.HOPS]
    assert request.sport == port_of(grh.LABEL)
    if ip == V6:
        assert [p.label for p in (request, answer)] == 2 * [grh.LABEL]
        assert answer.sport == port_of(grh.LABEL)
    else:
        # IPv4 has no label to make one of for the answer: as mlx5's.
        assert answer.sport == 0xc000


def test_datagram_loop(wire):  # noqa: F811
    """On one host, where there is no packet at all, the same 40 bytes."""
    for ip in V4, V6:
        datagrams(wire.a, wire.a, ip)


@pytest.mark.parametrize("scenario,label", [("route", 0x12345), ("sizes_send", 0)])
def test_flow_label(wire, scenario, label):  # noqa: F811
    """Of a connection: that of the attributes, in both directions; none there
    is none here, as Soft-RoCE has it, and the port comes of the QP numbers."""
    requests, answers = captured(wire, scenario, V6)
    assert {p.label for p in once(requests) + answers} == {label}
    if label:
        assert {p.sport for p in requests + answers} == {port_of(label)}


# IPV6_FLOWLABEL_MGR with a request for 0xabcde, for this socket alone.
HOLD = """
import socket, struct, time
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, 32, socket.inet_pton(socket.AF_INET6, "::1") +
             struct.pack("!I", 0xabcde) + struct.pack("BBHHHI", 0, 1, 1, 0, 0, 0))
print("held", flush=True)
time.sleep(600)
"""


def test_held_labels(wire):  # noqa: F811
    """While a program has a flow label of its own, the kernel lets nobody use
    one without a lease: packets go without."""
    holder = wire.a.bare("/usr/bin/python3", "-c", HOLD)
    wait_for("the lease", lambda: "held" in holder.text() or not holder.running())
    assert holder.running(), holder.report()
    # Sockets are kept; those of this traffic class begin here.
    try:
        requests, answers = captured(wire, "held", V6)
    finally:
        holder.kill()
    assert {p.label for p in requests} == {0}
    assert {p.label for p in answers} == {0x2345}


def test_through_router(build):
    """ibv_*_pingpong ask for one hop. Linux takes the hop limit of the route
    instead, so that they work through routers."""
    lab = hosts.Lab(build)
    try:
        router = hosts.Host(lab, "r")
        for n, host in enumerate((lab.a, lab.b), 1):
            host.ip("link", "add", "eth1", "type", "veth", "peer", "name", f"eth{n}",
                    "netns", router.name)
            host.addr4, near = f"10.8{n}.0.1", f"10.8{n}.0.2"
            for h, dev, address in (host, "eth1", host.addr4), (router, f"eth{n}", near):
                h.ip("link", "set", dev, "up")
                h.ip("addr", "add", address + "/24", "dev", dev)
            host.ip("route", "add", "10.80.0.0/13", "via", near)
        p = router.bare("sysctl", "-w", "net.ipv4.ip_forward=1")
        assert p.wait() == 0, p.report()
        for host in lab.a, lab.b:
            host.serve("--netdev", "eth1")
        for program in "rc", "ud":
            run_pair(lab.b, lab.a, [f"ibv_{program}_pingpong", "-c", "-n", "20"], limit=20)
    finally:
        lab.close()

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Packets under a device's own address that the device did not send: by another
user of the host, and from outside."""
import ipaddress
import json
import re
import struct
import zlib

import pytest

from hosts import wait_for
from pairs import start_pair
from test_cli import NOBODY, uroce
from test_wire import counters

# usage: - ADDRESS QPN COUNT SOURCE: SENDs with any PSN to that queue pair, from
# that source. Says whether a port that somebody has can be had, too: one
# address of it would do, since a source address goes with each message.
LOCAL = """
import errno, os, random, socket, struct, sys, zlib
addr, qpn, count = socket.inet_aton(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
source = socket.inet_aton(sys.argv[4])

def send(s):
    sport = s.getsockname()[1]
    bth = struct.pack("!BBHII", 4, 0, 0xffff, qpn, random.getrandbits(24)) + bytes(16)
    n = 8 + len(bth) + 4
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0xff, 20 + n, 0, 0x4000, 0xff, 17, 0xffff,
                     source, addr)
    udp = struct.pack("!HHHH", sport, 4791, n, 0xffff)
    crc = zlib.crc32(b"\\xff" * 8 + ip + udp + bth[:4] + b"\\xff" + bth[5:])
    s.sendmsg([bth + struct.pack("<I", crc)],
              [(socket.IPPROTO_IP, 8, struct.pack("=i4s4s", 0, source, bytes(4)))], 0,
              (sys.argv[1], 4791))  # 8: IP_PKTINFO

held = set()
for name in "udp", "udp6":
    for line in open("/proc/net/" + name).readlines()[1:]:
        held.add(int(line.split()[1].split(":")[1], 16))
held.remove(4791)
had = 0
for port in held:
    for family, at in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"),
                       (socket.AF_INET6, "::1"), (socket.AF_INET6, "::"),
                       (socket.AF_INET6, "::ffff:127.0.0.1")):
        s = socket.socket(family, socket.SOCK_DGRAM)
        if family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            s.bind((at, port))
            had += 1
        except OSError as e:
            assert e.errno == errno.EADDRINUSE, e
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
for _ in range(count):
    send(s)
print("uid", os.getuid(), "of", len(held), "ports had", had)
"""


def attack(host, source, count=2000):
    """On all queue pairs; the number of ports that the device held."""
    qps = json.loads(uroce(host, "res", "--json", "qp"))
    assert len(qps) == 2
    before = refused(host)
    for qp in qps:
        p = host.bare(*NOBODY, "/usr/bin/python3", "-c", LOCAL, host.addr4,
                      str(qp["qpn"]), str(count), source)
        assert p.wait() == 0, p.report()
        m = re.fullmatch(r"uid 65534 of (\d+) ports had 0\n", p.text())
        assert m, p.report()
    # Some may find the socket full.
    wait_for("them to be counted", lambda: refused(host) - before > count)
    for qp in json.loads(uroce(host, "res", "--json", "qp")):
        assert qp["state"] == "RTS"
    return int(m[1])


def refused(host):
    return sum(d["counters"]["bad_gid"]
               for d in json.loads(uroce(host, "stat", "--json")))


def moves(host):
    return sum(q["counters"]["rcvd_pkts"] + q["counters"]["loop_msgs"]
               for q in json.loads(uroce(host, "stat", "--json", "qp")))


@pytest.mark.parametrize("kind", ["rc", "uc"])
def test_by_another_user(lab, kind):
    """Both ends in one device: nothing of theirs comes through a socket."""
    lab.a.serve("--netdev", "eth0")
    s, c = start_pair(lab.a, lab.a, [f"ibv_{kind}_pingpong", "-n", "100000000"])
    wait_for("messages", lambda: moves(lab.a) > 100)
    attack(lab.a, lab.a.addr4)
    assert s.running() and c.running(), s.report() + c.report()
    before = moves(lab.a)
    wait_for("it to go on", lambda: moves(lab.a) > before)


@pytest.mark.parametrize("v6", [False, True], ids=["v4", "v6"])
def test_between_devices(lab, v6):
    """Two devices of one host: theirs come through sockets, from ports that
    nobody else can have."""
    a = lab.a
    lab.second_cable()
    a.ip("addr", "add", "fd78::1/64", "dev", "eth1", "nodad")
    a.serve("--netdev", "eth0", "--netdev", "eth1")
    gid = [a.gid(a.addr6 if v6 else a.addr4),
           gid_of(a, "uroce1", "fd78::1" if v6 else "10.78.0.1")]
    port = lab.next_port()
    pingpong = ["ibv_rc_pingpong", "-n", "100000000", "-p", str(port)]
    s = a.start(*pingpong, "-d", "uroce0", "-g", gid[0])
    wait_for("the server", lambda: s.listens(port))
    c = a.start(*pingpong, "-d", "uroce1", "-g", gid[1], a.addr4)
    wait_for("packets", lambda: moves(a) > 100)
    assert attack(a, a.addr4) >= 1
    attack(a, "10.78.0.1")
    assert s.running() and c.running(), s.report() + c.report()
    before = moves(a)
    wait_for("it to go on", lambda: moves(a) > before)


def gid_of(host, device, address):
    want = ipaddress.ip_address(address)

    def find():
        dev, = json.loads(uroce(host, "link", "--json", device))
        return [str(g["index"]) for g in dev["gids"]
                if want in (ipaddress.IPv6Address(g["gid"]),
                            ipaddress.IPv6Address(g["gid"]).ipv4_mapped)]
    return wait_for("the GID", find)[0]


OUTSIDE = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
for _ in range(int(sys.argv[2])):
    s.send(bytes.fromhex(sys.argv[1]))
"""


def frame6(smac, dmac, src, dst, sport, bth):
    """An Ethernet frame with a RoCEv2 packet over IPv6, all of it right."""
    addrs = b"".join(bytes.fromhex(a) for a in (src, dst))
    n = 8 + len(bth) + 4

    def headers(first, hops, check):
        return (struct.pack("!IHBB", first, n, 17, hops) + addrs +
                struct.pack("!HHHH", sport, 4791, n, check))
    crc = zlib.crc32(b"\xff" * 8 + headers(0x6fffffff, 0xff, 0xffff) +
                     bth[:4] + b"\xff" + bth[5:])
    data = bth + struct.pack("<I", crc)
    words = addrs + struct.pack("!II", n, 17) + \
        struct.pack("!HHHH", sport, 4791, n, 0) + data
    total = sum(struct.unpack(f"!{len(words) // 2}H", words))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return bytes.fromhex(dmac + smac + "86dd") + \
        headers(0x60000000, 64, 0xffff - total) + data


def test_from_outside(lab):
    """A neighbour sends under our own IPv6 address, which the kernel lets pass."""
    lab.serve()
    lab.a.gid(lab.a.addr6)
    mac = [json.loads(h.ip("-j", "link", "show", "eth0"))[0]["address"]
           .replace(":", "") for h in (lab.b, lab.a)]
    a, b = (ipaddress.IPv6Address(h.addr6).packed.hex() for h in (lab.a, lab.b))
    bth = struct.pack("!BBHII", 4, 0, 0xffff, 0x7fffff, 1)
    before = counters(lab.a)
    for src, name in (a, "bad_gid"), (b, "bad_qpn"):
        p = lab.b.bare("/usr/bin/python3", "-c", OUTSIDE,
                       frame6(*mac, src, a, 0xd123, bth).hex(), "100")
        assert p.wait() == 0, p.report()
        wait_for("them to be counted",
                 lambda: counters(lab.a)[name] == before[name] + 100)
    assert counters(lab.a)["rcvd_pkts"] == before["rcvd_pkts"] + 100

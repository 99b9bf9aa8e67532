# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Another user, and a host that says it is the peer, against programs of root's on a
device that was started as the service starts it. Each attack once did harm; it ends
with nothing but its own commands refused (doc/security.md)."""
import json
import os
import random
import re
import signal
import socket
import struct
import time
import zlib

import pytest

from hosts import TOP, sh, wait_for
from pairs import run_pair, start_pair
from test_cli import NOBODY, uroce

ATTACKER = os.path.join(TOP, "tests/e2e/attacker.py")
IN_NAMESPACE = ("unshare", "-Urm")


@pytest.fixture
def served(lab):
    """Devices for all users, by a configuration file."""
    for host in lab.a, lab.b:
        config = os.path.join(lab.tmp, f"{os.path.basename(host.run_dir)}.conf")
        with open(config, "w") as f:
            f.write("netdev = eth0\n")
        host.serve("--config", config)
        os.chmod(host.run_dir, 0o755)
    return lab


class Victim:
    """Programs of root's that send and verify, one on each host."""

    def __init__(self, host, peer):
        self.host = host
        self.pair = start_pair(peer, host, ["ibv_rc_pingpong", "-n", "100000000", "-c"])
        wait_for("both in RTS", lambda: "RTS" in uroce(host, "res", "qp"))

    def goes_on(self):
        before = messages(self.host)
        wait_for("it to go on", lambda: messages(self.host) > before)
        assert all(p.running() for p in self.pair), "".join(p.report() for p in self.pair)


@pytest.fixture
def victim(served):
    return Victim(served.a, served.b)


def attack(host, what, *args, wrap=()):
    source = open(ATTACKER).read()
    p = host.bare(*NOBODY, *wrap, "/usr/bin/python3", "-c", source, what, host.run_dir,
                  *map(str, args))
    return p


def outcome(p, limit=60):
    """What the attacker says it got."""
    wait_for("the attacker", lambda: not p.running() or "}\n" in p.text(), limit)
    assert "}\n" in p.text(), p.report()
    got = json.loads(p.text().strip().splitlines()[-1])
    assert got["uid"] in (0, 65534), got  # 0: in its own user namespace
    return got


def seconds(fn):
    t = time.monotonic()
    fn()
    return time.monotonic() - t


@pytest.mark.parametrize("what", ["lingering_answer", "lingering_gift"])
def test_lingering_sockets(served, victim, what):
    """Others are answered, and the device ends, long before the socket does."""
    p = attack(served.a, what, 60)
    outcome(p)
    victim.goes_on()
    assert seconds(lambda: uroce(served.a, "link")) < 15
    assert seconds(served.a.stop) < 15
    assert p.running(), p.report()


def shared_memory():
    """Of the whole machine: an answer that is only on its way is nobody's."""
    text = open("/proc/meminfo").read()
    return int(re.search(r"Shmem:\s+(\d+)", text)[1]) << 10


def test_unread_answers(served, victim):
    """One answer at a time for each connection, whoever does not read it."""
    before = shared_memory()
    p = attack(served.a, "unread_status", 20000, 250)
    got = outcome(p)
    assert got["made"] == 20000 and got["asked"] >= 100, got
    # Of some megabytes each; others on the machine may take some too.
    uroce(served.a, "link")
    assert shared_memory() - before < 200 << 20
    victim.goes_on()


def test_false_memory(served, victim, user_namespaces):
    got = outcome(attack(served.a, "false_memory", wrap=IN_NAMESPACE))
    assert got["open"] < 0 and got["same"], got
    victim.goes_on()


def test_foreign_rights(served, victim):
    got = outcome(attack(served.a, "foreign_rights"))
    assert (got["code"], got["none"], got["read"]) == (-14, -14, -14), got
    assert got["all"] >= 0, got
    victim.goes_on()


def test_large_queues(served):
    """Others go on while queues of the largest size come and go."""
    p = attack(served.a, "large_queues", 40)
    wait_for("its first queue", lambda: "began" in p.text() or not p.running())
    # With the time-out of a busy machine.
    run_pair(served.b, served.a, ["ib_send_lat", "-F", "-s", "8", "-n", "2000", "-u", "20"],
             flag="-x")
    assert outcome(p, 120)["made"] == 40


def test_many_connections(served, victim):
    """Others have their turn, however many threads serve one user."""
    p = attack(served.a, "many_connections", 200)
    assert outcome(p)["asking"] == 200
    for command in ("why",), ("link",), ("stat",):
        assert seconds(lambda: uroce(served.a, *command)) < 15
    victim.goes_on()
    assert p.running(), p.report()


def test_stopped_programs(served):
    """Programs that are stopped in the middle of their work hold up nobody: others
    are served, and the device ends."""
    a, b = served.a, served.b
    pairs = [start_pair(b, a, ["ibv_rc_pingpong", "-n", "100000000"]) for _ in range(2)]
    wait_for("both in RTS", lambda: uroce(a, "res", "qp").count("RTS") == 2)
    for p in (p for pair in pairs for p in pair):
        p.kill(signal.SIGSTOP)
    run_pair(b, a, ["ibv_rc_pingpong", "-n", "2000", "-c"])
    assert "RTS" in uroce(a, "res", "qp")
    assert seconds(a.stop) < 15
    assert a.device.wait() == 0


def test_namespace_without_name(served):
    """Its name is gone, and the device serves on in it."""
    a = served.a
    s, c = start_pair(a, served.b, ["ibv_rc_pingpong", "-n", "100000000"])
    wait_for("RTS", lambda: "RTS" in uroce(a, "res", "qp"))
    enter = ["nsenter", "-t", str(a.device.pid), "-n", served.bin("uroce")]
    sh("ip", "netns", "del", a.name)

    def count():
        got = sh(*enter, "stat", "--json", "--run-dir", a.run_dir, "qp").stdout
        return sum(q["counters"]["rcvd_pkts"] for q in json.loads(got))
    before = count()
    wait_for("packets", lambda: count() > before)
    assert s.running() and c.running(), s.report() + c.report()
    s.kill()
    c.kill()
    a.stop()


# usage: - ADDRESS QPN COUNT KEY ADDRESS: WRITEs with any PSN to a UC queue pair, from
# a socket of this user's at the host's own address.
WRITES = """
import os, random, socket, struct, sys, zlib
addr, qpn, count = socket.inet_aton(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
key, va = int(sys.argv[4]), int(sys.argv[5])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 0))
s.connect((sys.argv[1], 4791))
for _ in range(count):
    p = struct.pack("!BBHII", 0x2a, 0, 0xffff, qpn, random.getrandbits(24))
    p += struct.pack("!QII", va, key, 16) + b"from-another-uid"
    n = 8 + len(p) + 4
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0xff, 20 + n, 0, 0x4000, 0xff, 17, 0xffff,
                     addr, addr)
    udp = struct.pack("!HHHH", s.getsockname()[1], 4791, n, 0xffff)
    crc = zlib.crc32(b"\\xff" * 8 + ip + udp + p[:4] + b"\\xff" + p[5:])
    s.send(p + struct.pack("<I", crc))
print("uid", os.getuid(), "done")
"""


def test_writes_from_here(served):
    """Another user knows no key; and with all numbers told, none of his datagrams is
    a packet of the connection."""
    a = served.a
    s, c = start_pair(a, a, ["ib_write_bw", "-c", "UC", "-s", "64", "-D", "60", "-F",
                             "-x", a.gid(a.addr4)], flag="--gid-index")
    # A server that only receives stays in RTR.
    wait_for("both to be ready", lambda: sum(
        q["state"] in ("RTR", "RTS") for q in json.loads(uroce(a, "res", "--json", "qp"))) == 2)
    p = a.bare(*NOBODY, a.lab.bin("uroce"), "res", "--json", "--run-dir", a.run_dir, "mr")
    assert p.wait() == 0, p.report()
    seen = json.loads(p.text())
    assert len(seen) == 2 and not any("key" in m or "iova" in m for m in seen), seen
    qps = json.loads(uroce(a, "res", "--json", "qp"))
    mrs = {m["pid"]: m for m in json.loads(uroce(a, "res", "--json", "mr"))}
    for qp in qps:
        m = mrs[qp["pid"]]
        at = m["iova"] + m["length"] - 16
        p = a.bare(*NOBODY, "/usr/bin/python3", "-c", WRITES, a.addr4, str(qp["qpn"]),
                   "5000", str(m["key"]), str(at))
        assert p.wait() == 0 and "uid 65534 done" in p.text(), p.report()
        with open(f"{a.root}/proc/{qp['pid']}/mem", "rb") as f:
            f.seek(at)
            assert f.read(16) != b"from-another-uid"
    assert s.running() and c.running(), s.report() + c.report()


# ---- a host that says it is the peer ----

RNG = random.Random(1)
BITS = RNG.getrandbits


def request(opcode, qpn, body=b"", ack=1):
    return struct.pack("!BBHII", opcode, 0, 0xffff, qpn, (ack << 31) | BITS(24)) + body


SPOOFED = {
    "read": lambda q: request(0x0c, q, struct.pack("!QII", BITS(64), BITS(32),
                                                   0x80000000)),
    "atomic": lambda q: request(RNG.choice([0x13, 0x14]), q, struct.pack(
        "!QIQQ", BITS(64) | 1, BITS(32), BITS(64), BITS(64))),
    "cnp": lambda q: request(0x81, q, bytes(16), 0),
    "answers": lambda q: request(0x11, q, struct.pack("!I", BITS(32)), 0),
    "ud": lambda q: request(0x64, q, struct.pack("!II", BITS(32), BITS(24)) +
                            bytes(BITS(10) & ~3)),
    "cm": lambda q: request(0x64, 1, struct.pack("!II", 0x80010000, 1) +
                            bytes([1, 7, 2, 3]) + RNG.randbytes(12) +
                            struct.pack("!HHI", 0x10 + BITS(3), 0, 0) +
                            RNG.randbytes(232)),
    "noise": lambda q: request(BITS(8), RNG.choice([q, q + 1, 0, 1, 0xffffff]),
                               RNG.randbytes(BITS(6))),
}


SENDER = """
import socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
data = open(sys.argv[1], "rb").read()
while data:
    n, = struct.unpack_from("!H", data)
    s.send(data[2:2 + n])
    data = data[2 + n:]
"""


def frame(macs, src, dst, packet):
    """An Ethernet frame with a RoCEv2 packet from any port, the ICRC right."""
    sport, n = 0xc000 | BITS(14), 8 + len(packet) + 4

    def headers(tos, ttl, check, udp_check):
        return struct.pack("!BBHHHBBH4s4sHHHH", 0x45, tos, 20 + n, 0, 0x4000, ttl, 17,
                           check, src, dst, sport, 4791, n, udp_check)
    crc = zlib.crc32(b"\xff" * 8 + headers(0xff, 0xff, 0xffff, 0xffff) +
                     packet[:4] + b"\xff" + packet[5:])
    total = sum(struct.unpack("!10H", headers(0, 64, 0, 0)[:20]))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return macs + b"\x08\x00" + headers(0, 64, 0xffff - total, 0) + packet + \
        struct.pack("<I", crc)


def flood(source, target, make, count=4000):
    macs = b"".join(bytes.fromhex(json.loads(h.ip("-j", "link", "show", "eth0"))[0]
                                  ["address"].replace(":", "")) for h in (target, source))
    path = os.path.join(source.lab.tmp, "frames")
    with open(path, "wb") as f:
        for _ in range(count):
            text = frame(macs, socket.inet_aton(source.addr4),
                         socket.inet_aton(target.addr4), make())
            f.write(struct.pack("!H", len(text)) + text)
    p = source.bare("/usr/bin/python3", "-c", SENDER, path)
    assert p.wait() == 0, p.report()


def test_spoofed_peer(served, victim):
    """Packets of each kind with the peer's addresses, and any sequence number, port
    and rest: the connection takes none of them and goes on."""
    a, b = served.a, served.b
    qpn = json.loads(uroce(a, "res", "--json", "qp"))[0]["qpn"]
    for make in SPOOFED.values():
        flood(b, a, lambda make=make: make(qpn))
        victim.goes_on()
    assert [q["state"] for q in json.loads(uroce(a, "res", "--json", "qp"))] == ["RTS"]


def messages(host):
    return sum(q["counters"]["rcvd_pkts"]
               for q in json.loads(uroce(host, "stat", "--json", "qp")))

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Raw Ethernet (uroced --raw-ethernet): perftest's raw_ethernet_* between two
hosts, as rdma-core's own suite does on one device, and who may not."""
import json
import os

import pytest

import hosts
import races
from hosts import wait_for
from test_faults import ask

pytestmark = pytest.mark.part("RAW_PACKET")

MACS = "02:00:00:00:77:01", "02:00:00:00:77:02"


@pytest.fixture(scope="module")
def raw(build):
    lab = hosts.Lab(build)
    try:
        for host, mac in zip((lab.a, lab.b), MACS):
            host.ip("link", "set", "eth0", "address", mac)
            host.serve("--netdev", "eth0", "--raw-ethernet")
        yield lab
    finally:
        lab.close()


def start(host, program, role, *args):
    own, peer = MACS if host is host.lab.a else MACS[::-1]
    return host.start(program, "-d", "uroce0", role, "-B", own, "-E", peer, *args)


def has_rules(host):
    """Whether the device receives frames: the last column but three of its
    packet sockets is the type, 3 for all."""
    lines = open(f"/proc/{host.device.pid}/net/packet").readlines()[1:]
    return any(int(line.split()[3], 16) == 3 for line in lines)


def receives(host):
    """perftest makes its rules before its queue pair may receive; in between the netdev
    becomes promiscuous, which waits for all who change netdevs."""
    return has_rules(host) and any(qp["state"] in ("RTR", "RTS")
                                   for qp in ask(host, "res", "qp"))


def ready(server):
    """What perftest would say is in its buffer."""
    wait_for("the server's rules", lambda: receives(server.host) or
             not server.running())
    assert server.running(), server.report()


def pair(lab, program, *args, server_args=()):
    """Run both to their end, which must be good; their output."""
    for _ in range(races.TRIES):
        s = start(lab.b, program, "--server", *args, *server_args)
        try:
            ready(s)
            c = start(lab.a, program, "--client", *args)
            got = c.wait(60)
            end = s.wait(20 if got == 0 else 2)
        finally:
            if s.running():
                s.kill()
        if not (c.lost_race() or s.lost_race()):
            break
    report = c.report() + s.report()
    for host in lab.a, lab.b:
        assert host.device.running(), host.device.report() + report
    assert (got, end) == (0, 0), report
    wait_for("the rules to go", lambda: not has_rules(lab.b))
    return s.text(), c.text()


def row(text):
    """The first line of perftest's table."""
    return text.split("#bytes")[1].splitlines()[1].split()


CREATE = """
import errno
import pyverbs.enums as e
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPCap, QPInitAttr
ctx = Context(name="uroce0")
pd, cq = PD(ctx), CQ(ctx, 8)
cap = QPCap(8, 8, 1, 1)
try:
    QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RAW_PACKET, scq=cq, rcq=cq, cap=cap))
    print(0)
except PyverbsRDMAError as err:
    print(errno.errorcode[err.error_code])
"""

IPV4 = "-J 10.0.0.2 -j 10.0.0.1".split()
PORTS = "-K 5000 -k 6000".split()
IPV6 = "--raw_ipv6 -J fd00::2 -j fd00::1".split()

# Nothing holds back the sender, so there are as many receives as frames.
FRAMES = "-n 400 -r 512 -t 64".split()


@pytest.mark.parametrize("rule", [
    [], IPV4, IPV4 + PORTS, [*IPV4, *PORTS, "--tcp"], IPV6, IPV6 + PORTS,
    [*IPV6, *PORTS, "--tcp"], ["--vlan_en"],
], ids=lambda r: " ".join(r) or "mac")
def test_bandwidth(raw, rule):
    """Frames that a rule of each kind lets through: the server ends when it has
    all of them."""
    server, _ = pair(raw, "raw_ethernet_bw", *FRAMES, "-s", "1000", *rule)
    assert row(server)[:2] == ["1000", "400"], server


test_bandwidth.shows = lambda params: {
    ("rule", word) for word in
    set(params["rule"]) & {"--tcp", "-K", "--raw_ipv6", "--vlan_en"}}


@pytest.mark.parametrize("size", ["64", "1500"])
def test_size(raw, size):
    server, _ = pair(raw, "raw_ethernet_bw", *FRAMES, "-s", size, "-m", "1500")
    assert row(server)[:2] == [size, "400"], server


@pytest.mark.parametrize("mode", ["--promiscuous", "--sniffer"])
def test_everything(raw, mode):
    """Rules without any part: the default rule, and the sniffer."""
    server, _ = pair(raw, "raw_ethernet_bw", *FRAMES, "-s", "1000",
                     server_args=[mode])
    assert row(server)[:2] == ["1000", "400"], server


def test_latency(raw):
    """Each ping is answered by a pong: frames in both directions, all of them."""
    _, text = pair(raw, "raw_ethernet_lat", "-n", "300", "-s", "200")
    assert row(text)[:2] == ["200", "300"], text


def test_packet_pacing(raw):
    """perftest's packet pacing: no faster than 2 MiB/s, whatever the cable takes."""
    _, client = pair(raw, "raw_ethernet_bw", *FRAMES, "-s", "1000", "--rate_units=M",
                     "--rate_limit=2", "--rate_limit_type=PP")
    assert float(row(client)[3]) < 2 * 1.05, client


def test_rate_of_rules(raw):
    """A thousand rules, and none is left."""
    text = raw.b.run("raw_ethernet_fs_rate", "-d", "uroce0", "--server", "-B",
                     MACS[1], "-E", MACS[0], "-n", "1000")
    assert "flow per sec" in text, text
    wait_for("the rules to go", lambda: not has_rules(raw.b))


def test_flags(raw):
    """What the ordinary tests of flags (verbs/flags.c) have no objects for."""
    raw.a.run(raw.bin("verbs_corners"), "flags_of_requests")


def refused(raw, *lead):
    p = raw.a.start(*lead, "/usr/bin/python3", "-c", CREATE)
    assert p.wait(20) == 0, p.report()
    assert p.text().strip() == "EPERM", p.report()


def test_without_the_right(raw):
    """Root without CAP_NET_RAW: EPERM."""
    refused(raw, "setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw")
    assert raw.a.run("/usr/bin/python3", "-c", CREATE).strip() == "0"


def test_right_of_another_namespace(raw, user_namespaces):
    """Root of a user namespace of its own, who has it there only: EPERM."""
    refused(raw, "setpriv", "--reuid", "65534", "--clear-groups", "unshare", "-Ur")


# Microsoft's key; tests/unit/engine/test_rss.c holds the hash against vectors.
RSS_KEY = bytes.fromhex(
    "6d5a56da255b0ec2" "4167253d43a38fb0" "d0ca2bcbae7b30b4" "77cb2da38030f20c"
    "6a42b73bbeac01fa")
# enum ibv_rx_hash_fields
SRC_IP, DST_IP, SRC_PORT, DST_PORT = 1, 2, 64, 128
SEND = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
for line in sys.argv[1:]:
    s.send(bytes.fromhex(line))
"""


def toeplitz(data):
    """Bit by bit over the key as one number: not as the device does it."""
    key, bits = int.from_bytes(RSS_KEY, "big"), len(RSS_KEY) * 8
    result = 0
    for i in range(len(data) * 8):
        if data[i // 8] & 0x80 >> i % 8:
            result ^= key >> (bits - 32 - i) & 0xffffffff
    return result


def udp_frame(i):
    """Each from another address, the number as its source port."""
    src, dst = bytes((10, 1, i // 7, i)), bytes((10, 0, 0, 2))
    ports = (1000 + i).to_bytes(2, "big") + (2000 + i // 2).to_bytes(2, "big")
    macs = bytes.fromhex((MACS[1] + MACS[0]).replace(":", ""))
    ip = bytes.fromhex("4500002e00000000" "40110000") + src + dst
    return macs + b"\x08\x00" + ip + ports + bytes(22), src, dst, ports


@pytest.mark.parametrize("fields", [SRC_IP | DST_IP, SRC_IP | DST_IP | SRC_PORT | DST_PORT,
                                    DST_PORT])
def test_spread(raw, fields):
    """Each frame comes to the work queue that the hash of its fields and the
    table say, and those of one queue in their order."""
    count, size = 48, 8
    frames = [udp_frame(i) for i in range(count)]
    want = [[] for _ in range(size)]
    for i, (_, src, dst, ports) in enumerate(frames):
        data = (src if fields & SRC_IP else b"") + (dst if fields & DST_IP else b"") + \
            (ports[:2] if fields & SRC_PORT else b"") + (ports[2:] if fields & DST_PORT else b"")
        want[toeplitz(data) % size].append(1000 + i)
    assert sum(map(bool, want)) > size // 2, want
    p = raw.b.start("/usr/bin/python3", os.path.join(os.path.dirname(__file__), "spread.py"),
                    MACS[1], str(fields), "3", str(count))
    wait_for("the work queues", lambda: "ready" in p.text() or not p.running())
    assert p.running(), p.report()
    s = raw.a.bare("/usr/bin/python3", "-c", SEND, *(f[0].hex() for f in frames))
    assert s.wait(20) == 0, s.report()
    assert p.wait(20) == 0, p.report() + raw.b.device.report()
    assert json.loads(p.text().split("ready")[1]) == want
    assert raw.b.device.running(), raw.b.device.report()


def test_raw_in_res(raw):
    """`uroce res` knows the type."""
    p = raw.a.start("raw_ethernet_bw", "-d", "uroce0", "--server", "-B", MACS[0], "-E", MACS[1])
    try:
        ready(p)
        assert "RAW_PACKET" in raw.a.run(raw.bin("uroce"), "res", "qp", "--run-dir", raw.a.run_dir)
    finally:
        p.kill()
    wait_for("the rules to go", lambda: not has_rules(raw.a))

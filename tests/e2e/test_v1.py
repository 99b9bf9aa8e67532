# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""RoCEv1 (uroced --roce-v1) beside v2: frames of Ethernet type 0x8915; and the
priority of packets of both.

What goes over the cable is captured, and each frame's ICRC computed anew here,
from the annex and with zlib's CRC, as well as read by tshark.
"""
import functools
import json
import os
import shutil
import subprocess
import zlib

import pytest

import grh
import hosts
from cm import cm_state, run_cm_pair
from hosts import wait_for
from packets import UD_SEND, packets
from pairs import run_pair
from test_pingpong import PROGRAMS

pytestmark = pytest.mark.part("ROCE_V1")

V1 = "IB/RoCE v1"
ROCE_V1, IPV4 = 0x8915, 0x0800


@pytest.fixture(scope="module")
def v1(build):
    lab = hosts.Lab(build, 9000)
    try:
        for host in lab.a, lab.b:
            host.serve("--netdev", "eth0", "--roce-v1")
        yield lab
    finally:
        lab.close()


# Sends a frame of the Ethernet type for experiments (IEEE Std 802) to everybody.
LAST = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
s.send(6 * b"\\xff" + bytes(6) + b"\\x88\\xb5" + bytes.fromhex(sys.argv[1]))
"""


class Capture:
    """Everything that host's eth0 carries while this is entered: .frames."""

    def __init__(self, host):
        self.host = host
        self.name = os.path.join(host.lab.tmp, f"cap{host.lab.next_port()}")

    def __enter__(self):
        # A short -s makes room for more frames in the kernel's ring.
        self.dump = self.host.bare("tcpdump", "-i", "eth0", "-U", "-B", "32768",
                                   "-s", "9216", "--immediate-mode", "-w",
                                   self.name)
        wait_for("tcpdump", lambda: "listening on" in self.dump.text())
        return self

    def read_all(self):
        """Wait until all that came before now is in the file: tcpdump leaves
        what it has not read when it is told to end, and counts none of it."""
        lab, ends = self.host.lab, []
        for host in lab.a, lab.b:  # what came in, and what went out
            ends.append(os.urandom(46))
            p = host.bare("/usr/bin/python3", "-c", LAST, ends[-1].hex())
            assert p.wait() == 0, p.report()

        def found():
            data = open(self.name, "rb").read()
            return all(end in data for end in ends)
        wait_for("the capture's end", found)

    def __exit__(self, *exc):
        if exc[0] is None:
            self.read_all()
        self.dump.kill(2)
        assert self.dump.wait(20) == 0, self.dump.report()
        assert "\n0 packets dropped by kernel" in self.dump.text(), \
            self.dump.text()
        data, self.frames, at = open(self.name, "rb").read(), [], 24
        while at < len(data):
            size = int.from_bytes(data[at + 8:at + 12], "little")
            self.frames.append(data[at + 16:at + 16 + size])
            at += 16 + size

    def v1(self):
        return [f for f in self.frames if ether_type(f) == ROCE_V1]


def ether_type(frame):
    return int.from_bytes(frame[12:14], "big")


def icrc(frame):
    """IBTA A16.5.1: eight bytes of ones for the LRH, then GRH and BTH with
    what changes on the way set to ones."""
    grh, rest = bytearray(frame[14:54]), bytearray(frame[54:-4])
    grh[0] |= 0x0f
    grh[1:4] = b"\xff" * 3
    grh[7] = 0xff
    rest[4] = 0xff
    return zlib.crc32(b"\xff" * 8 + grh + rest).to_bytes(4, "little")


def check(frames):
    for f in frames:
        grh = f[14:54]
        assert grh[0] >> 4 == 6 and grh[6] == 0x1b
        assert int.from_bytes(grh[4:6], "big") == len(f) - 54
        assert icrc(f) == f[-4:]


def test_table(v1):
    """Each address has both types, v1 first; sysfs tells them apart."""
    table = v1.a.gids()
    for address in v1.a.addr4, v1.a.addr6:
        assert int(v1.a.gid(address, V1)) + 1 == int(v1.a.gid(address))
    assert {kind for _, kind in table.values()} == {V1, "RoCE v2"}
    out = v1.a.run("ibv_devinfo", "-v")
    assert "IB/RoCE v1" in out or "RoCE v1" in out, out


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("program", PROGRAMS)
def test_pingpong(v1, program, family):
    with Capture(v1.a) as cap:
        run_pair(v1.b, v1.a, [*PROGRAMS[program], "-c", "-n", "200"], family,
                 kind=V1)
    frames = cap.v1()
    assert len(frames) >= 400
    check(frames)
    assert not any(ether_type(f) == IPV4 and f[23] == 17 and
                   int.from_bytes(f[36:38], "big") == 4791
                   for f in cap.frames)


@pytest.mark.parametrize("program", ["ib_send_bw", "ib_write_bw", "ib_read_bw",
                                     "ib_atomic_bw"])
def test_perftest(v1, program):
    run_pair(v1.b, v1.a, [program, "-n", "500", "-F"], flag="-x", kind=V1)


@pytest.mark.parametrize("family", [4, 6])
def test_datagram(v1, family):
    """The GRH is as the address handle asks for, and in the 40 bytes that the
    receiver gets; an answer goes by a handle made of them."""
    from test_headers import datagrams
    for host in v1.a, v1.b:
        host.ip("neigh", "flush", "dev", "eth0")
    with Capture(v1.a) as cap:
        datagrams(v1.b, v1.a, family, kind=V1)
    frames = cap.v1()
    check(frames)
    assert [f[14:18] + f[21:22] for f in frames] == 2 * [
        (6 << 28 | grh.TCLASS << 20 | grh.LABEL).to_bytes(4, "big") + bytes([grh.HOPS])]


def test_both(v1):
    """RoCEv2 on the same devices goes on as ever."""
    with Capture(v1.a) as cap:
        run_pair(v1.b, v1.a, ["ibv_rc_pingpong", "-c", "-n", "50"])
    assert not cap.v1()


def test_tshark(v1):
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    with Capture(v1.a) as cap:
        run_pair(v1.b, v1.a, ["ibv_rc_pingpong", "-c", "-n", "50"], kind=V1)
    # The payload's bytes are ours to choose; do not guess what they are.
    out = subprocess.run(
        ["tshark", "-r", cap.name, "-Y", "eth.type == 0x8915", "-T", "fields",
         "--disable-protocol", "infiniband.eoib", "-e", "_ws.malformed", "-e",
         "infiniband.bth.opcode", "-e", "infiniband.grh.nxthdr"],
        check=True, capture_output=True, text=True).stdout
    rows = [row.split("\t") for row in out.splitlines()]
    assert len(rows) == len(cap.v1())
    assert {row[0] for row in rows} == {""}
    # RDMA SEND first to only, and acknowledges
    assert {int(row[1], 0) for row in rows} <= {0, 1, 2, 4, 17}
    assert {int(row[2], 0) for row in rows} == {0x1b}


def test_engine(v1, monkeypatch):
    """No engine in a program has frames: they are in engine processes."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    port = v1.next_port()
    p = v1.a.start("ibv_rc_pingpong", "-d", "uroce0", "-p", str(port))
    wait_for("a queue pair", lambda: p.listens(port) or not p.running())
    shown = json.loads(v1.a.run(v1.a.lab.bin("uroce"), "res", "qp", "--json"))
    assert [qp["engine"] for qp in shown if qp["pid"] == p.pid] == ["process"], p.report()
    p.kill()


def test_other_type(v1):
    """A v1 queue pair does not hear v2, and is told nothing of it."""
    server, client = v1.b, v1.a
    port = str(v1.next_port())
    cmd = ["ibv_rc_pingpong", "-d", "uroce0", "-p", port, "-n", "5"]
    s = server.start(*cmd, "-g", server.gid(server.addr4, V1))
    wait_for("server", lambda: s.listens(int(port)))
    c = client.start(*cmd, "-g", client.gid(client.addr4), server.addr4)
    assert c.wait(60) == 1, c.report()
    assert "transport retry counter exceeded (12)" in c.text()
    s.kill()


def test_new_mac(v1):
    """The peer's Ethernet address changes: after the neighbour table knows,
    frames go there."""
    run_pair(v1.b, v1.a, ["ibv_rc_pingpong", "-c", "-n", "5"], kind=V1)
    mac = "02:00:5e:10:00:99"
    v1.b.ip("link", "set", "eth0", "address", mac)
    v1.a.ip("neigh", "flush", "dev", "eth0")
    with Capture(v1.a) as cap:
        run_pair(v1.b, v1.a, ["ibv_rc_pingpong", "-c", "-n", "5"], kind=V1)
    to = {f[:6].hex(":") for f in cap.v1()
          if f[38:54].endswith(bytes([10, 77, 0, 2]))}
    assert mac in to


def test_multicast(v1):
    """mckey takes its GID from rdma_cm, so this is the other way round: the
    group's Ethernet address is what RFC 2464 says."""
    with Capture(v1.a) as cap:
        run_pair(v1.b, v1.a, ["ib_send_bw", "-c", "UD", "-g", "-n", "100",
                              "-F"], 6, flag="-x", kind=V1)
    check(cap.v1())
    groups = [f for f in cap.v1() if f[38] == 0xff]
    assert len(groups) >= 100
    assert all(f[:2] == b"\x33\x33" and f[2:6] == f[50:54] for f in groups)


@pytest.fixture(scope="module")
def cm(build):
    """a connects over v1; b accepts what comes."""
    lab = hosts.Lab(build)
    try:
        lab.a.serve("--netdev", "eth0", "--roce-v1", "--cm-mode", "v1")
        lab.b.serve("--netdev", "eth0", "--roce-v1")
        yield lab
    finally:
        lab.close()


CM = {"rping": "rping -{} -a ADDR -p PORT -v -C 20", "udaddy": "udaddy -{} ADDR",
      "ucmatose": "ucmatose -{} ADDR -p PORT", "cmtime": "cmtime -{} ADDR -p PORT -c 50"}


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("program", CM)
def test_rdma_cm(cm, program, family):
    """MADs and data of a connection are v1 where the one who asks says so. The
    first of them is not lost, though nobody knows the other's address yet."""
    for host in cm.a, cm.b:
        host.ip("neigh", "flush", "dev", "eth0")
    again = cm_state(cm.a)["cm"]["retransmitted"]
    address = cm.b.addr6 if family == 6 else cm.b.addr4
    port = 7174 if program == "udaddy" else cm.next_port()
    cmd = CM[program].replace("ADDR", address).replace("PORT", str(port))
    server, client = cmd.format("b").split(), cmd.format("s").split()
    if program == "rping":
        server[1], client[1] = "-s", "-c"
    with Capture(cm.b) as cap:
        run_cm_pair(cm.b, cm.a, server, client, port, persistent=program == "cmtime")
    frames = cap.v1()
    check(frames)
    mads = [f for f in frames if f[54] == UD_SEND and f[59:62] == b"\0\0\1"]
    assert len(mads) >= (3 if program != "udaddy" else 2)
    assert cm_state(cm.a)["cm"]["retransmitted"] == again
    assert program == "cmtime" or len(frames) - len(mads) >= 2
    assert not packets(cap.frames)


def test_rdma_cm_v2(cm):
    """The other way round: b was not told to."""
    port = cm.next_port()
    cmd = ["rping", "-a", cm.a.addr4, "-p", str(port), "-v", "-C", "5"]
    with Capture(cm.b) as cap:
        run_cm_pair(cm.a, cm.b, [*cmd, "-s"], [*cmd, "-c"], port)
    assert packets(cap.frames) and not cap.v1()


def test_rdma_cm_loopback(cm):
    """127.0.0.1, which stands for an address of the device."""
    port = cm.next_port()
    cmd = ["rping", "-a", "127.0.0.1", "-p", str(port), "-v", "-C", "5"]
    for host in cm.a, cm.b:
        run_cm_pair(host, host, [*cmd, "-s"], [*cmd, "-c"], port)


@pytest.mark.parametrize("group,family", [("239.7.7.7", 4), ("ff02::77", 6)])
def test_rdma_cm_multicast(build, group, family):
    lab = hosts.Lab(build)
    try:
        for host in lab.a, lab.b:
            host.serve("--netdev", "eth0", "--roce-v1", "--cm-mode", "v1")
        def own(host):
            return host.addr6 if family == 6 else host.addr4
        with Capture(lab.b) as cap:
            s = lab.b.start("stdbuf", "-oL", "mckey", "-m", group, "-b", own(lab.b))
            wait_for("the group", lambda: "receiving data transfers" in s.text() or
                     not s.running())
            c = lab.a.start("mckey", "-m", group, "-b", own(lab.a), "-s")
            assert c.wait() == 0 and s.wait() == 0, c.report() + s.report()
        groups = [f for f in cap.v1() if f[38] == 0xff]
        assert len(groups) >= 10 and not packets(cap.frames)
        check(groups)
        assert all(f[:2] == b"\x33\x33" and f[2:6] == f[50:54] for f in groups)
    finally:
        lab.close()


def test_cm_mode_alone(lab):
    """v1 is not there without --roce-v1."""
    d = lab.a.bare(lab.bin("uroced"), "--run-dir", lab.a.run_dir, "--netdev", "eth0",
                   "--cm-mode", "v1")
    assert d.wait(20) == 2
    assert "--roce-v1" in d.text()


def test_no_capability(lab):
    """Without CAP_NET_RAW: refused with what to do."""
    d = lab.a.bare("setpriv", "--bounding-set", "-net_raw",
                   "--inh-caps", "-net_raw", lab.bin("uroced"), "--run-dir",
                   lab.a.run_dir, "--netdev", "eth0", "--roce-v1")
    assert d.wait(20) not in (0, None)
    assert "CAP_NET_RAW" in d.text()


@pytest.mark.parametrize("place", ["device", "process"])
def test_service_level_refused(lab, monkeypatch, place):
    """Level 7 takes CAP_NET_ADMIN or CAP_NET_RAW; without, it works, and is said, also
    where it is a program that has neither. An engine process never has one."""
    caps = "-net_admin,-net_raw"
    without = "setpriv", "--bounding-set", caps, "--inh-caps", caps
    monkeypatch.setenv("UROCE_ENGINE", place)
    lab.b.serve("--netdev", "eth0")
    monkeypatch.setattr(lab.a, "start", functools.partial(lab.a.start, *without))
    d = lab.a.device = lab.a.bare(*without, lab.bin("uroced"), "--run-dir", lab.a.run_dir,
                                  "--netdev", "eth0")
    wait_for("uroced", lambda: "ready" in d.text().split())
    said = "service level 7"

    def link(host):
        p = host.bare(lab.bin("uroce"), "link", "--run-dir", host.run_dir)
        assert p.wait(30) == 0, p.report()
        return p.text()
    for level in "6", "7", "7":
        run_pair(lab.b, lab.a, ["ibv_rc_pingpong", "-l", level, "-n", "50"])
        shown = level == "7"
        # uroced says it of a program when it has seen its end.
        wait_for("what it says", lambda: d.text().count(said) >= shown)
        assert d.text().count(said) == shown, d.text()
        assert link(lab.a).count(said) == shown
    assert (said in link(lab.b)) == (place == "device")
    assert (said in lab.b.device.text()) == (place == "device")


@pytest.mark.parametrize("kind,match", [
    ("RoCE v2", "udp dport 4791"), (V1, "meta protocol 0x8915")])
def test_priority(v1, kind, match):
    """The service level is the priority of every packet, which a VLAN's
    egress-qos-map makes its PCP; the traffic class does not change it."""
    a = v1.a
    opcode = "@th,64,8" if kind == "RoCE v2" else "@nh,320,8"  # of the BTH; 0x81 is a CNP, whose priority is its own
    a.nft(f"""table netdev prio {{
        chain out {{ type filter hook egress device eth0 priority 0;
            {match} meta priority 0:5 counter
            {match} {opcode} != 0x81 meta priority != 0:5 counter
        }}
    }}""")
    try:
        # An acknowledgement may be a segment of the message's datagram.
        run_pair(v1.b, a, ["ibv_rc_pingpong", "-l", "5", "-c", "-n", "100"],
                 kind=kind)
        out = subprocess.run(["ip", "netns", "exec", a.name, "nft", "list",
                              "table", "netdev", "prio"], check=True,
                             capture_output=True, text=True).stdout
    finally:
        a.nft("delete table netdev prio")
    right, wrong = [int(line.split("packets ")[1].split()[0])
                    for line in out.splitlines() if "counter" in line]
    assert right >= 100 and wrong == 0, out

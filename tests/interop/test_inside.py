# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Stock programs over uroce on a second, stock distribution kernel: one guest
with itself, and two guests."""
import concurrent.futures
import os
import subprocess
import tempfile
import time

import pytest

import guest as g
from inside import Inside, pair
from parts import has_part

NETNS = f"uroce-in-{os.getpid()}"
full = pytest.mark.skipif("UROCE_FULL" not in os.environ,
                          reason="each takes half a minute of emulation: UROCE_FULL=1")
CNP = "UDP, length 32"  # BTH, 16 bytes, ICRC: nothing else here is that long
PROGRAMS = [
    "ibv_rc_pingpong -d {dev} -g {gid} -c -n 300", "ibv_ud_pingpong -d {dev} -g {gid} -c -n 300",
    "ibv_srq_pingpong -d {dev} -g {gid} -c -q 4 -r 100 -n 300", "ibv_rc_pingpong -d {dev} -g {gid} -c -e -n 300",
    "ib_write_bw -d {dev} -x {gid} -F -n 200", "ib_send_lat -d {dev} -x {gid} -F -n 200 -s 64",
    "ib_read_bw -d {dev} -x {gid} -F -n 200", "ib_atomic_lat -d {dev} -x {gid} -F -n 200",
]


def on_each(guests, do):
    """At the same time: each has a processor, and an emulated one is slow."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(do, guests))


@pytest.fixture(scope="module")
def guests():
    why = g.missing()
    if why:
        pytest.skip(why)
    g.build_image()
    made = []

    def boot(name):
        m = Inside(g.Guest(f"in{name}{os.getpid() % 10000}", NETNS, 2 + "ab".index(name),
                           rxe=False, volumes=[f"{g.TOP}:/uroce"]))
        made.append(m)
        m.use("uroce")

    try:
        on_each("ab", boot)
        yield sorted(made, key=lambda m: m.guest.octet)
    finally:
        for m in made:
            m.guest.stop()
        subprocess.run(["ip", "netns", "del", NETNS], stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("hosts", ["one", "two"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.split()[0] + ("-e" in p) * "_e")
def test_program(guests, program, hosts):
    a, b = guests if hosts == "two" else (guests[0], guests[0])
    if "_ud_" in program:
        g.unless_lost([a.guest, b.guest], lambda: pair(a, b, program, a.guest.addr[4]))
    else:
        pair(a, b, program, a.guest.addr[4])


def shows(params):
    """Each kind of ping-pong, one of perftest, in one guest and between two."""
    program = params["program"].split()[0]
    return {("program", program.split("_")[0 if program.startswith("ib_") else 1]),
            ("hosts", params["hosts"])}


test_program.shows = shows


@pytest.mark.parametrize("hosts", ["one", "two"])
def test_rping(guests, hosts):
    a, b = guests if hosts == "two" else (guests[0], guests[0])
    s = a.guest.start(a.prefix + f"rping -s -a {a.guest.addr[4]} -C 10 -V", 60)
    rc, out = b.guest.run(f"for i in $(seq 40); do {b.prefix} rping -c -a {a.guest.addr[4]} -C 10 "
                          "-V && exit 0; sleep 0.5; done; exit 1")
    sout, _ = s.communicate(timeout=60)
    assert rc == 0 and s.returncode == 0, out + sout


class Tap:
    """What goes over a guest's cable while this is entered: tcpdump's text."""

    def __init__(self, guest):
        self.cmd = ["ip", "netns", "exec", guest.netns, "tcpdump", "-eln", "-s", "128",
                    "--immediate-mode", "-i", f"tap-{guest.name}"]
        self.out = tempfile.TemporaryFile("w+")

    def __enter__(self):
        self.dump = subprocess.Popen(self.cmd, stdout=self.out, stderr=subprocess.PIPE, text=True)
        assert any("listening on" in line for line in iter(self.dump.stderr.readline, ""))
        return self

    def lines(self):
        # tcpdump writes where the file's position is: leave it alone.
        fd = self.out.fileno()
        return os.pread(fd, os.fstat(fd).st_size, 0).decode().splitlines()

    def wait_for(self, mark, count):
        """What is captured is not lost when tcpdump is told to end too early."""
        deadline = time.monotonic() + 30
        while sum(mark in line for line in self.lines()) < count:
            assert time.monotonic() < deadline, self.lines()
            time.sleep(0.05)

    def __exit__(self, *exc):
        self.dump.send_signal(2)
        self.dump.communicate(timeout=30)


def on_vlan(guests, number, qos_map, net, *options):
    """Each guest's device on a VLAN netdev, with that map and address."""
    dev = f"eth0.{number}"

    def one(m):
        m.stop()
        rc, out = m.guest.run(
            f"ip link show {dev} 2>/dev/null || ip link add link eth0 name {dev} type vlan "
            f"id {number} egress-qos-map {qos_map} && ip addr replace {net}.{guests.index(m) + 1}/24 "
            f"dev {dev} && ip link set {dev} up")
        assert rc == 0, out
        m.use("uroce", dev, *options)
    on_each(guests, one)


HAS_V1 = has_part(g.BUILD, "ROCE_V1")


@pytest.fixture(scope="module")
def tagged(guests):
    """Both guests, whose devices have GIDs of either version on a VLAN."""
    on_vlan(guests, 100, "3:6", "10.79.0", *(["--roce-v1"] if HAS_V1 else []))
    return guests


@pytest.mark.parametrize("version,mark,other", [("v2", ".4791: ", "0x8915"), pytest.param(
    "v1", "0x8915", ".4791: ", marks=pytest.mark.skipif(
        not HAS_V1, reason="built with -DUROCE_WITH_ROCE_V1=OFF"))])
def test_vlan(tagged, version, mark, other):
    """A device on a VLAN netdev: tagged frames, their PCP what the netdev's map
    makes of the service level."""
    want = {"v1": "IB/RoCE v1", "v2": "RoCE v2"}[version]

    def find_gid(m):
        # Without a process of its own for anything (guest.py, COUNTERS).
        _, out = m.guest.run(
            "cd /run/uroce/sys/class/infiniband/uroce0/ports/1; for i in {0..9}; do "
            "read -r type <gid_attrs/types/$i && read -r gid <gids/$i && "
            f"[[ $type == '{want}' && $gid == *ffff:0a4f* ]] && echo $i && break; done 2>/dev/null")
        m.gid = int(out)
    on_each(tagged, find_gid)
    a, b = tagged
    with Tap(a.guest) as tap:
        pair(a, b, "ibv_rc_pingpong -d {dev} -g {gid} -c -n 100 -l 3", "10.79.0.1")
        # tcpdump may lose some here, the pair may not.
        tap.wait_for(mark, 50)
    # Where round trips get long, as on a slow machine, a path sends a packet that is
    # marked, to see whether its peer answers; the CNP has a priority of its own.
    frames = [line for line in tap.lines() if mark in line and CNP not in line]
    assert not [line for line in frames if "vlan 100, p 6" not in line]
    assert not [line for line in tap.lines() if other in line]


def test_vlan_cnp(guests):
    """CNPs have a priority of their own, and so a PCP. All that b sends is marked,
    by its traffic class."""
    on_vlan(guests, 101, "6:4", "10.80.0")
    a, b = guests
    rc, out = b.guest.run("/uroce/build/bin/uroce link set --run-dir /run/uroce uroce0 tclass 3")
    assert rc == 0, out
    with Tap(a.guest) as tap:
        pair(a, b, "ibv_rc_pingpong -d {dev} -g {gid} -c -n 100", "10.80.0.1")
        tap.wait_for(CNP, 1)
    frames = [line for line in tap.lines() if ".4791: " in line]
    assert {"vlan 101, p 4" in line and " 10.80.0.1." in line
            for line in frames if CNP in line} == {True}
    assert not any("p 4," in line for line in frames if CNP not in line), frames


@pytest.mark.parametrize("mode", [pytest.param("active-backup", marks=full), "802.3ad"])
def test_lag(guests, mode):
    """A device on a bond: connections outlive the loss of either link, and
    queue pairs spread over both, for their UDP source ports differ."""
    rc, out = guests[0].guest.run(f"/uroce/tests/interop/guest/lag.sh {mode}", 90)
    assert rc == 0, out
    outs = [line.split()[1] for line in out.splitlines() if line.startswith("out ")]
    assert sorted(outs) == ["v0", "v1"], out
    if mode == "802.3ad":
        sent = next(line for line in out.splitlines() if line.startswith("spread "))
        v0, v1 = map(int, sent.split()[1:])
        # At least three queue pairs on each. No shares: what was lost and is
        # sent again is on one of them.
        pair_bytes = 20 * 4096
        assert v0 + v1 >= 16 * pair_bytes and min(v0, v1) >= 3 * pair_bytes, out
    print(out)

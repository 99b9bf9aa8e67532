# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Stock programs over uroce on a second, stock distribution kernel: one guest
with itself, and two guests."""
import os
import subprocess

import pytest

import guest as g
from inside import Inside, pair

NETNS = f"uroce-in-{os.getpid()}"
PROGRAMS = [
    "ibv_rc_pingpong -d {dev} -g {gid} -c -n 300", "ibv_ud_pingpong -d {dev} -g {gid} -c -n 300",
    "ibv_srq_pingpong -d {dev} -g {gid} -c -q 4 -r 100 -n 300", "ibv_rc_pingpong -d {dev} -g {gid} -c -e -n 300",
    "ib_write_bw -d {dev} -x {gid} -F -n 200", "ib_send_lat -d {dev} -x {gid} -F -n 200 -s 64",
    "ib_read_bw -d {dev} -x {gid} -F -n 200", "ib_atomic_lat -d {dev} -x {gid} -F -n 200",
]


@pytest.fixture(scope="module")
def guests():
    why = g.missing()
    if why:
        pytest.skip(why)
    g.build_image()
    made = []
    try:
        for i, octet in (("a", 2), ("b", 3)):
            made.append(Inside(g.Guest(f"in{i}{os.getpid() % 10000}", NETNS, octet, rxe=False,
                                       volumes=[f"{g.TOP}:/uroce"])))
            made[-1].use("uroce")
        yield made
    finally:
        for m in made:
            m.guest.stop()
        subprocess.run(["ip", "netns", "del", NETNS], stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("hosts", ["one", "two"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.split()[0] + ("-e" in p) * "_e")
def test_program(guests, program, hosts):
    a, b = guests if hosts == "two" else (guests[0], guests[0])
    pair(a, b, program, a.guest.addr[4])


@pytest.mark.parametrize("hosts", ["one", "two"])
def test_rping(guests, hosts):
    a, b = guests if hosts == "two" else (guests[0], guests[0])
    s = a.guest.start(a.prefix + f"rping -s -a {a.guest.addr[4]} -C 10 -V", 60)
    rc, out = b.guest.run(f"for i in $(seq 40); do {b.prefix} rping -c -a {a.guest.addr[4]} -C 10 "
                          "-V && exit 0; sleep 0.5; done; exit 1")
    sout, _ = s.communicate(timeout=60)
    assert rc == 0 and s.returncode == 0, out + sout

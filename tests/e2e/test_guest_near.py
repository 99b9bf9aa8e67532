# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs with their engines in them (UROCE_ENGINE=process) and the other devices of their
uroced, and multicast groups, whose members may be anywhere."""
import itertools
import re

import pytest

import hosts
from hosts import wait_for
from test_guest_engine import GUESTS
from test_guest_host import NOBODY, RAW, As

PLACES = list(itertools.product(("process", "device"), repeat=2))


@pytest.fixture(scope="module")
def lab(build):
    """Host a has two devices of one uroced, host b one."""
    lab = hosts.Lab(build, 1500)
    try:
        lab.second_cable()
        lab.a.serve(*GUESTS, "--netdev", "eth1")
        lab.b.serve(*GUESTS)
        yield lab
    finally:
        lab.close()


def index(host, device, address):
    """Of a GID of RoCEv2."""
    out = host.run("ibv_devinfo", "-v", "-d", device)
    return re.search(rf"GID\[\s*(\d+)\]:\s+::ffff:{re.escape(address)}, RoCE v2", out)[1]


def gids(lab):
    return [index(lab.a, "uroce0", lab.a.addr4), index(lab.a, "uroce1", "10.78.0.1")]


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("program", [["ibv_rc_pingpong", "-s", "100000"],
                                     ["ibv_uc_pingpong"],
                                     ["ibv_ud_pingpong", "-s", "1024"],
                                     ["ibv_srq_pingpong", "-e"]], ids=" ".join)
def test_between_devices(lab, places, program):
    """Of two uids, one on each device. Verified."""
    port = str(lab.next_port())
    ends = []
    for i, place in enumerate(places):
        host = As(lab.a, place, *(RAW if i else ()))
        ends.append(host.start(*program, "-c", "-n", "300", "-p", port, "-d", f"uroce{i}",
                               "-g", gids(lab)[i], *([lab.a.addr4] if i else [])))
        wait_for("the server", lambda: ends[0].listens(int(port)) or len(ends) > 1 or
                 not ends[0].running())
    got = ends[1].wait(60), ends[0].wait(10)
    assert got == (0, 0), ends[0].report() + ends[1].report() + lab.a.device.report()


GROUPS = {4: "239.7.7.8", 6: "ff02::78"}


def addr(host, family):
    return host.addr4 if family == 4 else host.addr6


@pytest.mark.parametrize("family", GROUPS)
@pytest.mark.parametrize("place", ["process", "device"])
def test_mckey(lab, place, family):
    """Members in programs and in the device, of two uids, on the sender's host and on the
    other: each gets all that is sent, once."""
    group = GROUPS[family]
    members = [As(host, where, *by).start("stdbuf", "-oL", "mckey", "-m", group,
                                          "-b", addr(host, family))
               for host, where, by in ((lab.a, "process", ()), (lab.a, "device", NOBODY),
                                       (lab.a, "process", RAW), (lab.b, "process", ()))]
    for m in members:
        wait_for("mckey to join", lambda m=m: not m.running() or
                 "receiving data transfers" in m.text())
    s = As(lab.a, place).start("mckey", "-m", group, "-b", addr(lab.a, family), "-s")
    assert s.wait(20) == 0, s.report()
    for m in members:
        assert m.wait(20) == 0, m.report() + s.report()
        assert "return status 0" in m.text()


# mckey sleeps for three seconds at each end: each value once, with full each pair.
test_mckey.shows = dict.items

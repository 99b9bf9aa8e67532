# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Raw Ethernet (uroced --raw-ethernet): perftest's raw_ethernet_* between two
hosts, as rdma-core's own suite does on one device, and who may not."""
import pytest

import hosts
from hosts import wait_for

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


def ready(server):
    """What perftest would say is in its buffer."""
    wait_for("the server's rules", lambda: has_rules(server.host) or
             not server.running())
    assert server.running(), server.report()


def pair(lab, program, *args, server_args=()):
    """Run both to their end, which must be good; their output."""
    s = start(lab.b, program, "--server", *args, *server_args)
    try:
        ready(s)
        c = start(lab.a, program, "--client", *args)
        got = c.wait(60)
        end = s.wait(20 if got == 0 else 2)
    finally:
        if s.running():
            s.kill()
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


def test_rate_of_rules(raw):
    """A thousand rules, and none is left."""
    text = raw.b.run("raw_ethernet_fs_rate", "-d", "uroce0", "--server", "-B",
                     MACS[1], "-E", MACS[0], "-n", "1000")
    assert "flow per sec" in text, text
    wait_for("the rules to go", lambda: not has_rules(raw.b))


def test_without_the_right(raw):
    """Root without CAP_NET_RAW, and root of a user namespace of its own, who
    has it there only: EPERM."""
    for lead in (["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"],
                 ["setpriv", "--reuid", "65534", "--clear-groups", "unshare", "-Ur"]):
        p = raw.a.start(*lead, "/usr/bin/python3", "-c", CREATE)
        assert p.wait(20) == 0, p.report()
        assert p.text().strip() == "EPERM", p.report()
    assert raw.a.run("/usr/bin/python3", "-c", CREATE).strip() == "0"

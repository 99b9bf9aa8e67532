# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""UROCE_ENGINE=process: the engine of a program's queue pairs is in the program.
That it is there shows in that data goes on while both devices are stopped."""
import contextlib
import errno
import functools
import ipaddress
import json
import os
import re
import signal

import pytest

import hosts
from hosts import wait_for
from pairs import run_pair, start_pair
from test_headers import datagrams
from test_raw import MACS, pair as raw_pair
from test_wire import V4, V6

GUESTS = ["--netdev", "eth0", "--engine-opt", "guests=1"]


@contextlib.contextmanager
def granting(build, netdev="eth0"):
    """A lab whose devices grant engines. Another netdev is a bridge in front of the cable."""
    lab = hosts.Lab(build, 1500)
    try:
        for host in lab.a, lab.b:
            if netdev != "eth0":
                host.ip_all(f"link add {netdev} type bridge", f"link set eth0 master {netdev}",
                            f"link set {netdev} up", "addr flush dev eth0",
                            f"addr add {host.addr4}/24 dev {netdev}",
                            f"addr add {host.addr6}/64 dev {netdev} nodad")
            host.serve("--netdev", netdev, *GUESTS[2:])
        yield lab
    finally:
        lab.close()


@pytest.fixture(scope="module")
def pair(build):
    with granting(build) as lab:
        yield lab


@pytest.fixture
def process(monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "process")


def packets(host):
    """Packets of uroced, without those that come for a program that has ended."""
    out = host.run(host.lab.bin("uroce"), "stat", "--json")
    all_of, programs = (json.loads(out)[0][k] for k in ("counters", "program_counters"))
    sent, rcvd, late = (all_of[c] - programs[c] for c in ("sent_pkts", "rcvd_pkts", "bad_qpn"))
    return sent + rcvd - late


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("size", [64, 100000])
def test_data_is_not_the_devices(pair, process, family, size):
    """Verified by the ping-pong; the devices saw no packet of it."""
    before = packets(pair.a), packets(pair.b)
    run_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-c", "-n", "200",
                              "-s", str(size)], family)
    assert (packets(pair.a), packets(pair.b)) == before


def threads_cpu(pid):
    return sum(int(v) for v in open(f"/proc/{pid}/stat").read()
               .rpartition(")")[2].split()[11:13])


def test_devices_are_stopped(pair, process):
    """Connected, the programs need nobody: 3,000 round trips, their data
    verified, while both devices are stopped."""
    s, c = start_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-c",
                                       "-n", "1000000", "-r", "100"])
    try:
        for p in s, c:
            wait_for("traffic", lambda: threads_cpu(p.pid) > 5 or
                     not p.running())
        for host in pair.a, pair.b:
            host.device.kill(signal.SIGSTOP)
        before = octets(pair.a)
        wait_for("traffic without the devices",
                 lambda: octets(pair.a) - before > 3000 * 2 * 4096, limit=60)
        assert s.running() and c.running(), s.report() + c.report()
    finally:
        for host in pair.a, pair.b:
            host.device.kill(signal.SIGCONT)
        for p in s, c:
            p.kill()


def octets(host):
    """Of the netdev, both ways."""
    out = json.loads(hosts.sh("ip", "-j", "-s", "-n", host.name, "link",
                              "show", "eth0").stdout)[0]["stats64"]
    return out["rx"]["bytes"] + out["tx"]["bytes"]


@pytest.mark.parametrize("tool", ["ib_write_bw", "ib_read_bw", "ib_atomic_bw",
                                  "ib_send_lat"])
def test_perftest(pair, process, tool):
    size = [] if "atomic" in tool else ["-s", "65536"]
    before = packets(pair.a)
    run_pair(pair.a, pair.b, [tool, *size, "-n", "300", "-F"], flag="-x")
    assert packets(pair.a) == before


def test_copies_are_the_processors(pair, process):
    """Also those of the engine's thread, when it is woken by packets: its program sleeps in
    read(), and each message would else be put into a file and read from there."""
    cmd = ["strace", "-f", "-qq", "-e", "trace=pread64,pwrite64", "ib_write_bw"]
    server, _ = run_pair(pair.a, pair.b, [*cmd, "-s", "65536", "-n", "500", "-F"], flag="-x")
    calls = re.findall(r"pread64\(\d+, .*, (\d+), 0\)", server)
    assert len(calls) < 50, server


PROGRAMS = {
    "uc": ["ibv_uc_pingpong", "-n", "200"],
    "ud": ["ibv_ud_pingpong", "-s", "1024", "-n", "200"],
    "srq": ["ibv_srq_pingpong", "-q", "4", "-n", "300"],
}


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("program", PROGRAMS)
def test_other_services(pair, process, family, program):
    """Verified by the programs, and not by way of the devices."""
    before = packets(pair.a), packets(pair.b)
    run_pair(pair.a, pair.b, [*PROGRAMS[program], "-c"], family)
    assert (packets(pair.a), packets(pair.b)) == before


@pytest.mark.parametrize("program", ["rc", *PROGRAMS])
def test_events(pair, process, program):
    """Programs that sleep until a completion channel has an event."""
    before = packets(pair.a), packets(pair.b)
    cmd = PROGRAMS.get(program, ["ibv_rc_pingpong", "-n", "1000"])
    run_pair(pair.a, pair.b, [*cmd, "-e", "-c"])
    assert (packets(pair.a), packets(pair.b)) == before


@pytest.mark.parametrize("engines", [("process", "device"),
                                     ("device", "process")])
@pytest.mark.parametrize("ip", [V4, V6])
def test_datagram(pair, monkeypatch, engines, ip):
    """Every field of an address handle is in the packet, and the receiver's 40
    bytes and its completion are as of a card's; an answer goes by a handle made
    of them. One end's engine is the device's."""
    for host, engine in zip((pair.a, pair.b), engines):
        monkeypatch.setattr(host, "start", functools.partial(
            host.start, "env", f"UROCE_ENGINE={engine}"))
    datagrams(pair.b, pair.a, ip)


@pytest.mark.parametrize("tool", ["ib_write_bw", "ib_send_bw"])
def test_perftest_uc(pair, process, tool):
    run_pair(pair.a, pair.b, [tool, "-c", "UC", "-s", "65536", "-n", "300",
                              "-F"], flag="-x")


# Of test_verbs.py: what holds of an engine process holds of an engine in the program.
CORNERS = """
access_event access_flags atomic_write batch destroyed_completions device_memory dm_refused dmabuf
dmabuf_refused event_async event_channel filter_before_open filter_own inline_limit limits_mcast multicast self_multicast last_before_destroy last_before_error moderation
notify notify_both null_mr on_demand_atomic_write on_demand_flush overrun prefetch
prefetch_write rate_limit reg_mr_ex reg_refused register_under_writes rereg rereg_domain
rereg_refused rereg_seen reset resize_called resize_cq resize_posted rq_full sq_full srq threads
timestamps unaligned unknown_domain window_holds window_type1 window_type2 zero_based
""".split()


@pytest.mark.parametrize("name", CORNERS)
def test_corner(pair, process, name):
    """Events, memory of all kinds, and queues that are resized. The device has no
    packet of it."""
    before = packets(pair.a)
    p = pair.a.start(pair.a.lab.bin("verbs_corners"), name)
    code = p.wait(60)
    if code == 77:
        pytest.skip(p.text().strip())
    assert code == 0, p.report()
    assert packets(pair.a) == before


FATAL = """
from pyverbs.cq import CQ
from pyverbs.device import Context

ctx = Context(name="uroce0")
cq = CQ(ctx, 4)
print("waits", flush=True)
while ctx.get_async_event().event_type != 8: # IBV_EVENT_DEVICE_FATAL
    pass
print("gone", flush=True)
"""


REGIONS = """
import signal
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
ctx = Context(name="uroce0")
pd = PD(ctx)
for mr in [MR(pd, 4096, 1) for _ in range(40)]:
    mr.close()
print("closed", flush=True)
signal.sigwait([signal.SIGUSR1])
pd.close()
ctx.close()
"""


def test_regions_that_are_gone(pair, process):
    """The device is not told of each region that a program deregisters; for whoever asks, and for their
    protection domain, they are gone all the same."""
    p = pair.a.start("/usr/bin/python3", "-c", REGIONS)
    wait_for("the end of the regions", lambda: "closed" in p.text() or not p.running())
    assert "closed" in p.text(), p.report()
    assert json.loads(pair.a.run(pair.a.lab.bin("uroce"), "res", "mr", "--json")) == []
    assert " mr 0 " in pair.a.run("rdma", "resource", "show")
    os.kill(p.pid, signal.SIGUSR1)
    assert p.wait(10) == 0, p.report()


@pytest.mark.parametrize("place", ["process", "apart"])
def test_device_has_gone(lab, monkeypatch, place):
    """A program that waits for an asynchronous event learns that the device has
    gone, wherever its engine is. A device that was killed has not (test_restart.py)."""
    monkeypatch.setenv("UROCE_ENGINE", place)
    lab.a.serve(*GUESTS)
    p = lab.a.start("/usr/bin/python3", "-c", FATAL)
    wait_for("a program that waits", lambda: "waits" in p.text() or not p.running())
    lab.a.device.kill(signal.SIGTERM)
    wait_for("the news", lambda: "gone" in p.text() or not p.running())
    assert "gone" in p.text(), p.report()


@pytest.mark.parametrize("tool", ["ib_send_bw", "ib_read_lat"])
def test_xrc_is_of_both(pair, process, tool):
    """The program's engine sends, and that of an engine process receives, in the same context: others may open
    the domain. The device's has no packet of it."""
    before = packets(pair.a)
    run_pair(pair.a, pair.b, [tool, "-c", "XRC", "-s", "4096", "-n", "300", "-F"],
             flag="-x")
    assert packets(pair.a) == before


# With queue pairs of an engine process in the same context; on one completion queue
# with those of the program's.
OF_BOTH = """
beside_closed beside_destroyed beside_events beside_extended beside_fairness beside_forked
beside_import beside_memory beside_resize beside_threads beside_traffic beside_unread_events beside_window beside_wrong_order
filter_inherited filter_no_engine filter_no_network fork_apart fork_channel fork_child fork_deregistered fork_ends fork_init fork_twice fork_works fork_write import import_by_socket import_outlives import_user import_wrong xrc
""".split()


@pytest.mark.parametrize("name", OF_BOTH)
def test_both_engines(pair, process, name):
    p = pair.a.start(pair.a.lab.bin("verbs_corners"), name)
    assert p.wait(60) == 0, p.report()


@pytest.mark.parametrize("name", [n for n in OF_BOTH if n.startswith("beside_")])
def test_xrc_alone(pair, process, name, monkeypatch):
    """The same with a domain that nobody else can open: all is the program's."""
    monkeypatch.setenv("BESIDE_ALONE", "1")
    p = pair.a.start(pair.a.lab.bin("verbs_corners"), name)
    assert p.wait(60) == 0, p.report()


@pytest.mark.part("RAW_PACKET")
def test_raw(lab, process):
    for host, mac in zip((lab.a, lab.b), MACS):
        host.ip("link", "set", "eth0", "address", mac)
        host.serve(*GUESTS, "--raw-ethernet")
    raw_pair(lab, "raw_ethernet_bw", "-s", "1000", "-n", "500")


QUEUE_PAIR = """
import signal
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.qp import QP, QPCap, QPInitAttr

ctx = Context(name="uroce0")
cq = CQ(ctx, 10)
qp = QP(PD(ctx), QPInitAttr(scq=cq, rcq=cq, cap=QPCap(max_recv_wr=1)))
print("made", flush=True)
signal.pause()
"""

# A filter refuses the call, in whichever form the program asks with.
FILTER = """
import ctypes, os, struct, sys

def refuse(call, number, argument=None):
    code = [(0x20, 0, 0, 0), (0x15, 0, 1 if argument is None else 3, call)]
    if argument is not None:
        code += [(0x20, 0, 0, 16 + 8 * argument[0]), (0x15, 0, 1, argument[1])]
    code += [(0x06, 0, 0, 0x50000 | number), (0x06, 0, 0, 0x7fff0000)]
    lines = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
    prog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(lines)))
    libc = ctypes.CDLL(None)
    assert not libc.prctl(38, 1, 0, 0, 0) and not libc.prctl(22, 2, prog)
"""
NO_EPOLL = FILTER + "refuse(291, 1)\nos.execvp(sys.argv[1], sys.argv[1:])\n"
# SO_NETNS_COOKIE, which came with Linux 5.14, and SIOCGSKNS, which takes a right.
OLD_KERNEL = FILTER + """
refuse(55, 92, (2, 71))
refuse(16, 1, (1, 0x894c))
os.execvp(sys.argv[1], sys.argv[1:])
"""
NO_PROC = "umount -l /proc && exec prlimit --fsize=1000000 \"$@\""


@pytest.mark.parametrize("lead", [
    ["prlimit", "--fsize=1000000"], ["prlimit", "--nofile=18"],
    pytest.param(["python3", "-c", NO_EPOLL], marks=pytest.mark.skipif(
        os.uname().machine != "x86_64", reason="numbers of calls")),
    ["unshare", "-m", "sh", "-c", NO_PROC, "sh"]],
    ids=["file sizes", "descriptors", "filter", "no /proc"])
@pytest.mark.parametrize("asked", ["process", ""])
def test_no_room(pair, monkeypatch, asked, lead):
    """The engine of a program without room for one is in an engine process."""
    monkeypatch.setenv("UROCE_ENGINE", asked)
    p = pair.a.start(*lead, "/usr/bin/python3", "-c", QUEUE_PAIR)
    wait_for("a queue pair", lambda: "made" in p.text() or not p.running())
    try:
        assert engines(pair.a) == {p.pid: "process"}, p.report()
    finally:
        p.kill()


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of calls")
def test_unknown_network(lab, monkeypatch):
    """Where uroced cannot tell a program's network namespace, the engine is in an engine process and
    uroced sends for it."""
    monkeypatch.delenv("UROCE_ENGINE", raising=False)
    with monkeypatch.context() as m:
        m.setattr(lab.a, "own", lambda: ["/usr/bin/python3", "-c", OLD_KERNEL])
        lab.a.serve("--netdev", "eth0")
    lab.b.serve("--netdev", "eth0")
    p = serve(lab.a)
    assert engines(lab.a) == {p.pid: "process"}
    p.kill()
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-c", "-n", "100"])


NO_LIBRARY = "mount --bind /dev/null {}/liburoce-engine.so && exec ibv_rc_pingpong -d uroce0 -p {}"


@pytest.mark.parametrize("asked, got", [("process", None), ("", "process")])
def test_no_library(pair, build, monkeypatch, asked, got):
    """Who asks for an engine in the program is told that its library cannot be loaded."""
    monkeypatch.setenv("UROCE_ENGINE", asked)
    port = pair.a.lab.next_port()
    p = pair.a.start("unshare", "-m", "sh", "-c", NO_LIBRARY.format(f"{build}/lib", port))
    wait_for("a queue pair", lambda: p.listens(port) or not p.running())
    try:
        assert p.running() == bool(got), p.report()
        assert not got or set(engines(pair.a).values()) == {got}
    finally:
        p.kill()


@pytest.mark.parametrize("descriptors", [13, 14, 18, 22, 26])
def test_few_descriptors(pair, monkeypatch, descriptors):
    """One that may have hardly any works: none is needed later that is not there."""
    for place in "apart", "":
        monkeypatch.setenv("UROCE_ENGINE", place)
        p = pair.a.start("prlimit", f"--nofile={descriptors}",
                         pair.a.lab.bin("verbs_corners"), "event_async")
        assert p.wait(30) == 0, p.report()


def test_no_threads(lab, monkeypatch):
    """A user's device grants him engines; that of a program that may start no thread is in an engine process."""
    monkeypatch.delenv("UROCE_ENGINE", raising=False)
    monkeypatch.setattr(lab.a, "own", lambda: AS_A_USER)
    os.mkdir(lab.a.run_dir)
    os.chown(lab.a.run_dir, 65534, 65534)
    lab.a.serve("--netdev", "eth0")
    for by, got in ((), "program"), (("prlimit", "--nproc=1"), "process"):
        p = serve(lab.a, by)
        assert engines(lab.a) == {p.pid: got}, by
        p.kill()
        wait_for("its end", lambda: not engines(lab.a))


HANDLES = """
import sys
from pyverbs.addr import AH, AHAttr, GID, GlobalRoute
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError

pd = PD(Context(name="uroce0"))
for dgid in sys.argv[2:]:
    gr = GlobalRoute(dgid=GID(dgid), sgid_index=int(sys.argv[1]))
    try:
        AH(pd, attr=AHAttr(gr=gr, is_global=1, port_num=1))
        print("made")
    except PyverbsRDMAError as err:
        print(err.error_code)
"""


def test_handles(pair, process):
    """None to an address that a datagram can be sent to: of the other host, of this one,
    of a group."""
    to = [ipaddress.ip_address(f"::ffff:{a}").exploded
          for a in (pair.b.addr4, pair.a.addr4, "224.1.2.3")]
    index = pair.a.gid(pair.a.addr4, "RoCE v2")
    p = pair.a.start("/usr/bin/python3", "-c", HANDLES, index, *to)
    assert p.wait(20) == 0, p.report()
    assert p.text().split() == 3 * ["made"]


AS_A_USER = ["setpriv", "--reuid", "65534", "--regid", "65534",
             "--clear-groups"]


def serve(host, by=()):
    """A program with a queue pair, which waits for its peer."""
    port = host.lab.next_port()
    p = host.start(*by, "ibv_rc_pingpong", "-d", "uroce0", "-p", str(port))
    wait_for("a queue pair", lambda: p.listens(port) or not p.running())
    assert p.running(), p.report()
    return p


def engines(host):
    """Where those of the host's queue pairs are, by process."""
    out = host.run(host.lab.bin("uroce"), "res", "qp", "--json")
    return {qp["pid"]: qp["engine"] for qp in json.loads(out)}


def test_only_where_allowed(lab, monkeypatch):
    """No engine is in a program where the device's administrator says so."""
    lab.a.serve("--netdev", "eth0", "--engine-opt", "guests=0")
    lab.b.serve(*GUESTS)
    for asked, host, by, got in (("process", lab.a, (), "process"),
                                 ("", lab.a, (), "process"),
                                 ("", lab.b, (), "program"),
                                 ("", lab.b, AS_A_USER, "program"),
                                 ("process", lab.b, (), "program"),
                                 ("device", lab.b, (), "process"),
                                 ("process", lab.a, AS_A_USER, "process"),
                                 ("device", lab.b, AS_A_USER, "process")):
        monkeypatch.setenv("UROCE_ENGINE", asked)
        p = serve(host, by)
        assert engines(host) == {p.pid: got}, (asked, by)
        p.kill()
        wait_for("its end", lambda: not engines(host))


# In a network of its own, whose sockets are of no use to the device.
ELSEWHERE = ["unshare", "--map-root-user", "--net"]


@pytest.mark.parametrize("lead", [[], ELSEWHERE])
def test_network_namespace(lab, process, user_namespaces, lead):
    """A container of the device's own user has its engine in its programs, as that user has (test_away.py)."""
    folder = lab.a.run_dir
    hosts.sh("install", "-d", "-o", "65534", folder)
    lab.a.device = lab.a.bare(*AS_A_USER, lab.bin("uroced"), "--run-dir", folder,
                              "--netdev", "eth0")
    wait_for("uroced", lambda: "ready" in lab.a.device.text().split() or
             not lab.a.device.running())
    run = [*AS_A_USER, *lead, lab.bin("uroce"), "run", "--run-dir", folder, "--"]
    port = lab.next_port()
    p = lab.a.bare(*run, "ibv_rc_pingpong", "-d", "uroce0", "-p", str(port))
    wait_for("a queue pair", lambda: p.listens(port) or not p.running())
    assert p.running(), p.report()
    q = lab.a.bare(*run, lab.bin("uroce"), "res", "qp", "--json")
    assert q.wait(20) == 0, q.report()
    assert {qp["pid"]: qp["engine"] for qp in json.loads(q.text())} == {p.pid: "program"}, p.report()
    p.kill()


def test_no_such_place(pair, monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "no-such")
    p = pair.a.start("ibv_devinfo", "-d", "uroce0")
    assert p.wait(20) is not None and "hca_id" not in p.text(), p.report()


def test_users(pair, process, monkeypatch):
    """Programs of two users on one device, one with its own engine; both talk to
    the other host."""
    root = start_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-c",
                                       "-n", "1000000", "-r", "100"])
    try:
        monkeypatch.setattr(pair.b, "start", functools.partial(
            pair.b.start, *AS_A_USER))
        run_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-c", "-n", "200"])
        assert all(p.running() for p in root), root[0].report()
    finally:
        for p in root:
            p.kill()


SLOTS = 22  # large ones, beside eight engines of the device


def test_more_than_there_are_slots(pair, process):
    """One more context than there are large slots has a small one, until one ends; what a
    program had is the next one's."""
    wait_for("an empty device", lambda: not engines(pair.a))
    first, last = [serve(pair.a) for _ in range(SLOTS)], []
    try:
        last.append(serve(pair.a))
        assert set(engines(pair.a).values()) == {"program"}
        run_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-c", "-n", "200"])
        for _ in range(3):
            first.pop(0).kill()
            wait_for("its end", lambda: len(engines(pair.a)) == SLOTS)
            first.append(serve(pair.a))
            assert engines(pair.a)[first[-1].pid] == "program"
    finally:
        for p in first + last:
            p.kill()


def test_killed_programs_give_back(pair, process):
    """Sockets of who was killed are others', and get their packets alone."""
    for _ in range(3):
        s, c = start_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-n", "1000000"])
        wait_for("traffic", lambda: threads_cpu(c.pid) > 5 or
                 not c.running())
        s.kill()
        c.kill()
    run_pair(pair.a, pair.b, ["ibv_rc_pingpong", "-c", "-n", "200"])


def test_spins_on_memory(pair, process):
    """A program that waits for a WRITE looks at the memory alone (memory/spin.c). The engine's thread naps
    while the program polls. After packets that the program has left to it, its naps are short."""
    port = str(pair.next_port())
    server = pair.a.start("strace", "-f", "-e", "trace=epoll_pwait2", pair.a.lab.bin("spin"),
                          port)
    wait_for("spin to listen", lambda: server.listens(int(port)) or not server.running())
    client = pair.b.start(pair.b.lab.bin("spin"), port, pair.a.addr4)
    assert (client.wait(60), server.wait(10)) == (0, 0), client.report() + server.report()
    naps = re.findall(r"tv_nsec=(\d+)}", server.text())
    assert "1000000" in naps and "20000" in naps, sorted(set(naps))

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Every rdma_cm program of Debian, unmodified, on one host and across two."""
import filecmp
import errno
import hashlib
import os
import json
import shutil

import pytest

from cm import listens, run_cm_pair, start_server
from hosts import sh, wait_for
from test_restart_cm import Steps

LIBRS = "/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so"


@pytest.fixture
def pair(labs, topology):
    return topology(labs(1500))


def addr(host, family):
    return host.addr6 if family == 6 else host.addr4


def either(pair, family, server, client, **kw):
    """server and client commands, with PORT and ADDR filled in."""
    port = pair[0].lab.next_port()

    def fill(cmd):
        return [str(w).replace("PORT", str(port))
                .replace("ADDR", addr(pair[0], family)) for w in cmd.split()]
    return run_cm_pair(*pair, fill(server), fill(client), port, **kw)


@pytest.mark.parametrize("family", [4, 6])
def test_rping(pair, family):
    s, c = either(pair, family, "rping -s -a ADDR -p PORT -v -C 1000",
                  "rping -c -a ADDR -p PORT -v -C 1000")
    # The client may see the server's goodbye before its own last result.
    assert c.count("ping data: rdma-ping-") >= 999


@pytest.mark.parametrize("listen", ["0.0.0.0", "::"])
def test_rping_wildcard(pair, listen):
    either(pair, 4, f"rping -s -a {listen} -p PORT -v -C 20",
           "rping -c -a ADDR -p PORT -v -C 20")


def test_rping_wildcard_6(pair):
    either(pair, 6, "rping -s -a :: -p PORT -v -C 20",
           "rping -c -a ADDR -p PORT -v -C 20")


def test_rping_loopback(labs):
    """127.0.0.1 means this device, though it is on another netdev."""
    a = labs(1500).a
    either((a, a), 4, "rping -s -a 127.0.0.1 -p PORT -v -C 20",
           "rping -c -a 127.0.0.1 -p PORT -v -C 20")


def link_local(host):
    out = host.ip("-6", "-o", "addr", "show", "dev", "eth0", "scope", "link")
    return next(w for w in out.split() if w.startswith("fe80:")).split("/")[0]


@pytest.mark.parametrize("listen", ["own", "::"])
def test_rping_link_local(pair, listen):
    server, client = pair
    address = link_local(server)
    server.gid(address)
    if listen == "own":
        listen = address + "%eth0"
    either(pair, 6, f"rping -s -a {listen} -p PORT -v -C 5",
           f"rping -c -a {address}%eth0 -p PORT -v -C 5")


@pytest.mark.parametrize("option", ["-q", "-S 60000"])
def test_rping_options(pair, option):
    either(pair, 4, f"rping -s -a ADDR -p PORT -v -C 20 {option}",
           f"rping -c -a ADDR -p PORT -v -C 20 {option}")


def join(client, *cmd):
    """Start a client and wait until it is served. rping's server keeps one
    request in mind at a time: a second one that comes before its main thread
    looked takes the place of the first, which nobody answers then."""
    c = client.start(*cmd)
    wait_for("pings", lambda: "rdma-ping-5:" in c.text() or not c.running())
    return c


def test_rping_persistent(pair):
    """One server, clients one after the other and at once; some die."""
    server, client = pair
    port = server.lab.next_port()
    s = start_server(server, port, "rping", "-s", "-P", "-a", server.addr4,
                     "-p", str(port), "-v")
    ping = ["rping", "-c", "-a", server.addr4, "-p", str(port), "-v", "-C"]
    for _ in range(3):
        client.run(*ping, "20")
    victims = [join(client, *ping, "100000000") for _ in range(3)]
    for v in victims:
        assert v.running(), v.report() + s.report()
        v.kill()
    many = [join(client, *ping, "2000") for _ in range(5)]
    for c in many:
        assert c.wait(60) == 0 or c.lost_race(), c.report() + s.report()
    assert s.running(), s.report()
    s.kill()


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("options", ["", "-c 10 -C 100 -S 5000", "-m -c 4",
                                     "-t 32", "-P ib"])
def test_ucmatose(pair, family, options):
    s, c = either(pair, family, f"ucmatose -b ADDR -p PORT {options}",
                  f"ucmatose -s ADDR -p PORT {options}")
    for out in s, c:
        assert "return status 0" in out


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("options", ["", "-c 8 -C 100 -S 900", "-t 32",
                                     "-P ipoib"])
def test_udaddy(pair, family, options):
    # Its port cannot be chosen.
    target = addr(pair[0], family)
    out = run_cm_pair(*pair, ["udaddy", "-b", target, *options.split()],
                      ["udaddy", "-s", target, *options.split()], 7174)
    for text in out:
        assert "return status 0" in text


def test_rdma_client_server(pair):
    either(pair, 4, "rdma_server -s ADDR -p PORT",
           "rdma_client -s ADDR -p PORT")


@pytest.mark.parametrize("kind", ["r", "x"])
def test_rdma_xclient_xserver(pair, kind):
    either(pair, 4, f"rdma_xserver -c {kind} -p PORT",
           f"rdma_xclient -c {kind} -s ADDR -p PORT")


def test_rcopy(pair, tmp_path):
    server, client = pair
    port = server.lab.next_port()
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(os.urandom(3 << 20))
    s = start_server(server, port, "rcopy", "-p", str(port))
    client.run("rcopy", str(source), f"{server.addr4}:{copy}", "-p",
               str(port))
    wait_for("the copy", lambda: copy.exists() and
             copy.stat().st_size == source.stat().st_size)
    assert filecmp.cmp(source, copy, shallow=False)
    s.kill()


# -S all runs 100,000 exchanges of each size; their number is cut, not the
# sizes. -T v checks the data.
@pytest.mark.parametrize("program", ["rstream", "riostream"])
@pytest.mark.parametrize("size", [64, 192, 4096, 65536, 1048576])
def test_rstream(pair, program, size):
    cmd = f"{program} -p PORT -S {size} -I 20 -C 20 -T v"
    s, c = either(pair, 4, f"{cmd} -b ADDR", f"{cmd} -s ADDR")
    assert "custom" in c


@pytest.mark.skipif(not os.path.exists(LIBRS),
                    reason="librspreload is not installed")
def test_rstream_fork(pair):
    """The server forks for each connection, which librspreload allows."""
    server, client = pair
    port = str(server.lab.next_port())
    env = dict(os.environ, RDMAV_FORK_SAFE="1")
    cmd = rsockets("rstream", "-p", port, "-S", "5000", "-C", "20", "-T", "f")
    s = server.start(*cmd, env=env)
    wait_for("rstream to listen", lambda: s.listens(int(port)) or
             listens(server, port) or not s.running())
    c = client.start(*cmd, "-s", server.addr4, env=env)
    assert c.wait(30) == 0, c.report() + s.report()
    s.kill()


# Not "a": poll() may tell of the last data and of the peer's shutdown at once,
# and the program takes the second for an error.
@pytest.mark.parametrize("option", ["b", "n"])
def test_rstream_modes(pair, option):
    cmd = f"rstream -p PORT -S 1000 -I 20 -C 20 -T {option}"
    either(pair, 4, f"{cmd} -b ADDR", f"{cmd} -s ADDR")


@pytest.mark.skipif("UROCE_SLOW" not in os.environ,
                    reason="minutes; set UROCE_SLOW")
@pytest.mark.parametrize("program", ["rstream", "riostream"])
def test_rstream_all(pair, program):
    cmd = f"{program} -p PORT -S all -T v"
    either(pair, 4, f"{cmd} -b ADDR", f"{cmd} -s ADDR", limit=900)


def test_cmtime(pair):
    """1,000 connections; the program fails if one does."""
    s, c = either(pair, 4, "cmtime -p PORT -c 1000",
                  "cmtime -p PORT -c 1000 -s ADDR", persistent=True)
    rows = {line.split(":")[0].strip() for line in c.splitlines()
            if ":" in line}
    assert {"connect", "disconnect", "destroy"} <= rows, c


def commands(program):
    """What uroced has carried out for it."""
    host = program.host
    sessions = json.loads(sh(host.lab.bin("uroce"), "res", "session", "--json", "--run-dir",
                             host.run_dir).stdout)
    return sum(s["commands"] for s in sessions if s["pid"] == program.pid)


def test_commands_of_a_connection(build, pair, monkeypatch):
    """From rdma_create_id() to the event ESTABLISHED; the server: GET_EVENT, CREATE_QP,
    ENGINE_QP, ACCEPT; the client: RESOLVE_ADDR, RESOLVE_ROUTE, CREATE_QP,
    CONNECT, ENGINE_QP, ACCEPT. Each side of this program also makes two
    channels, two CQs and a region. The first one has what all use, too."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    port = pair[0].lab.next_port()
    server = Steps(pair[0], "server", pair[0].addr4, port)
    wait_for("it to listen", lambda: "listen 0" in server.text())
    client = Steps(pair[1], "client", pair[0].addr4, port)
    counted = []
    for n in range(1, 6):
        client.do("connect")
        for p in client, server:
            p.wait("its event", lambda p=p: len(p.events("ESTABLISHED")) == n)
        counted.append((commands(client.program), commands(server.program)))
    a, b = counted[0], counted[-1]
    for p in client, server:
        p.end()
    assert (b[0] - a[0], b[1] - a[1]) == (4 * (6 + 5), 4 * (4 + 5)), counted


@pytest.mark.parametrize("engine", ["process", "apart"])
def test_commands_of_a_disconnect(build, pair, monkeypatch, engine):
    """rdma_disconnect() moves the queue pair to ERR, which is the engine's alone, and gives one command.
    What was posted is flushed at once, and the destruction of the queue pair is not refused. librdmacm
    fills in nothing but the state."""
    monkeypatch.setenv("UROCE_ENGINE", engine)
    port = pair[0].lab.next_port()
    server = Steps(pair[0], "server", pair[0].addr4, port)
    wait_for("it to listen", lambda: "listen 0" in server.text())
    client = Steps(pair[1], "client", pair[0].addr4, port)
    client.do("connect")
    for p in client, server:
        p.event("ESTABLISHED")
    client.do("send")
    before = commands(client.program)
    client.do("disconnect")
    assert commands(client.program) == before + 1
    server.event("DISCONNECTED")
    server.do("disconnect")
    client.event("DISCONNECTED")
    for p in client, server:
        p.do("destroy")
        p.end()


@pytest.mark.parametrize("group,family", [("239.7.7.7", 4), ("ff02::77", 6)])
def test_mckey(pair, group, family):
    """Two members on one host both get all that is sent, and leave."""
    server, client = pair
    # Line by line, to see it join.
    members = [server.start("stdbuf", "-oL", "mckey", "-m", group, "-b", addr(server, family))
               for _ in range(2)]
    for m in members:
        wait_for("mckey to join", lambda: not m.running() or
                 "receiving data transfers" in m.text())
    c = client.start("mckey", "-m", group, "-b", addr(client, family), "-s")
    assert c.wait(20) == 0, c.report()
    for m in members:
        assert m.wait(20) == 0, m.report() + c.report()
        assert "return status 0" in m.text()
    for host in {server, client}:
        assert host.device.running(), host.device.report()


# mckey sleeps for three seconds at each end: each value once, with full each pair.
test_mckey.shows = dict.items


PERFTEST = [(op, kind) for op in ("send", "write", "read", "atomic")
            for kind in ("bw", "lat")]


@pytest.mark.parametrize("op,kind", PERFTEST)
def test_perftest(pair, op, kind):
    cmd = f"ib_{op}_{kind} -R -F -n 200 -p PORT"
    either(pair, 4, cmd, f"{cmd} ADDR")


@pytest.mark.parametrize("options", ["-q 4", "-b", "-c UD -s 1024"])
def test_perftest_options(pair, options):
    cmd = f"ib_send_bw -R -F -n 200 -p PORT {options}"
    either(pair, 4, cmd, f"{cmd} ADDR")


QPERF = ["rc_bw", "rc_lat", "rc_rdma_write_bw", "rc_rdma_read_lat",
         "rc_fetch_add_mr", "rc_compare_swap_mr"]


def test_qperf(pair):
    server, client = pair
    port = server.lab.next_port()
    s = server.start("qperf", "-lp", str(port))
    wait_for("qperf to listen", lambda: s.listens(port) or not s.running())
    out = client.run("qperf", "-lp", str(port), "-t", "1", "-cm", "1",
                     server.addr4, *QPERF, limit=120)
    for test in QPERF:
        assert test + ":" in out, out
    s.kill()


def rsockets(*cmd):
    """Under librspreload, which must come after our own library."""
    return ["sh", "-c", f'LD_PRELOAD="$LD_PRELOAD:{LIBRS}" exec "$@"', "sh",
            *cmd]


@pytest.mark.skipif(not os.path.exists(LIBRS) or not shutil.which("iperf"),
                    reason="librspreload or iperf is not installed")
def test_iperf(pair):
    server, client = pair
    port = str(server.lab.next_port())
    s = start_server(server, port, *rsockets("iperf", "-s", "-p", port))
    out = client.run(*rsockets("iperf", "-c", server.addr4, "-p", port, "-t",
                               "1"))
    assert "bits/sec" in out, out
    s.kill()


GET = """
import hashlib, sys, urllib.request
data = urllib.request.urlopen(sys.argv[1]).read()
print(hashlib.sha256(data).hexdigest())
"""


@pytest.mark.skipif(not os.path.exists(LIBRS),
                    reason="librspreload is not installed")
def test_http(pair, tmp_path):
    """librspreload lets go of sockets made with SOCK_CLOEXEC, as Python's
    are: what is checked is that the program works under both libraries."""
    server, client = pair
    port = str(server.lab.next_port())
    content = os.urandom(2 << 20)
    (tmp_path / "file").write_bytes(content)
    want = hashlib.sha256(content).hexdigest()
    s = server.start(*rsockets(
        "/usr/bin/python3", "-m", "http.server", port, "--bind",
        server.addr4, "--directory", str(tmp_path)))
    wait_for("http.server", lambda: s.listens(int(port)) or
             not s.running())
    for _ in range(3):
        out = client.run(*rsockets("/usr/bin/python3", "-c", GET,
                                   f"http://{server.addr4}:{port}/file"))
        assert want in out, out
    s.kill()


def test_address_in_use(labs):
    a = labs(1500).a
    port = a.lab.next_port()
    s = start_server(a, port, "rping", "-s", "-a", a.addr4, "-p", str(port))
    for other, why in ((a.addr4, "Address already in use"),
                       ("0.0.0.0", "Cannot assign requested address")):
        c = a.start("rping", "-s", "-a", other, "-p", str(port))
        assert c.wait(10) not in (0, None), c.report()
        assert why in c.text(), c.report()
    s.kill()
    wait_for("the port to be free", lambda: not listens(a, port))
    start_server(a, port, "rping", "-s", "-a", "0.0.0.0", "-p",
                 str(port)).kill()


def test_refused(pair):
    """Nobody listens: rejected, not timed out, which takes a minute."""
    server, client = pair
    c = client.start("rping", "-c", "-a", server.addr4, "-p",
                     str(server.lab.next_port()), "-C", "1")
    assert c.wait(20) not in (0, None), c.report()
    assert "REJECTED" in c.text(), c.report()


def test_not_ours(labs):
    """An address of no device."""
    b = labs(1500).b
    c = b.start("rping", "-s", "-a", "192.0.2.1")
    assert c.wait(10) not in (0, None), c.report()
    assert "Cannot assign requested address" in c.text(), c.report()


def test_abi(labs):
    """Commands by hand, see ucma_abi.py."""
    a = labs(1500).a
    a.run("/usr/bin/python3", os.path.join(os.path.dirname(__file__),
                                           "ucma_abi.py"), a.addr4, a.addr6)
    assert a.device.running(), a.device.report()


PORTS = os.path.join(os.path.dirname(__file__), "cm_ports.py")


def test_wildcards(labs):
    """Which addresses may share a port, as in Linux."""
    a = labs(1500).a
    a.run("/usr/bin/python3", PORTS, a.addr4, a.addr6, "wildcards")


def test_another_user(labs):
    """An open file is for who opened it, as in Linux."""
    a = labs(1500).a
    a.run("/usr/bin/python3", PORTS, a.addr4, a.addr6, "another")


def sysctl(host, name, value):
    assert host.bare("sysctl", "-qw", f"net.ipv4.{name}={value}").wait(10) == 0


NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
UNBOUND = ["setpriv", "--bounding-set", "-net_bind_service", "--inh-caps",
           "-net_bind_service"]
OWN_USERS = ["setpriv", "--reuid", "65534", "--clear-groups", "unshare", "-Ur"]


@pytest.mark.parametrize("lead, err", [([], 0), (NOBODY, errno.EACCES),
                                       (UNBOUND, errno.EACCES),
                                       (OWN_USERS, errno.EACCES)],
                         ids=["root", "nobody", "root-without", "own-users"])
def test_low_ports(labs, lead, err):
    """Ports that take a right, as those of TCP do, from where the namespace
    says."""
    a = labs(1500).a
    try:
        for first in 1024, 600:
            sysctl(a, "ip_unprivileged_port_start", first)
            a.run(*lead, "/usr/bin/python3", PORTS, a.addr4, a.addr6, "low",
                  str(err))
    finally:
        sysctl(a, "ip_unprivileged_port_start", 1024)


def test_port_range(labs):
    """Ports of the namespace's range, which may change at any time."""
    a = labs(1500).a
    try:
        for first, last in (40000, 40007), (50001, 50001):
            sysctl(a, "ip_local_port_range", f"{first} {last}")
            a.run("/usr/bin/python3", PORTS, a.addr4, a.addr6, "range",
                  str(first), str(last))
    finally:
        sysctl(a, "ip_local_port_range", "32768 60999")

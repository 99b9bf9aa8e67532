# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""--isolation user: two real users of one device. They do not reach each other
there; each reaches himself, and is reached from elsewhere."""
import json
import os

import pytest

from cm import start_server
from engine_processes import processes
from hosts import wait_for
from test_guests import start
from test_restart import end, go_on, kill

ALICE, BOB = 65531, 65532
ISOLATED = "--isolation", "user"
KILLS = 100 if os.environ.get("UROCE_FULL") else 3
PINGPONG = {"rc": ["ibv_rc_pingpong"], "uc": ["ibv_uc_pingpong"],
            "ud": ["ibv_ud_pingpong", "-s", "1024"]}


def as_user(uid, *cmd):
    return ["setpriv", "--reuid", str(uid), "--regid", str(uid),
            "--clear-groups", *cmd]


@pytest.fixture
def shared(lab):
    """Devices of root's for all users, with these options."""
    def serve(*args):
        for host in lab.a, lab.b:
            host.serve("--netdev", "eth0", *args)
            os.chmod(host.run_dir, 0o755)
        return lab
    return serve


def refused(host):
    """Messages that were not for their sender to send."""
    out = host.run(host.lab.bin("uroce"), "stat", "--json")
    return json.loads(out)[0]["counters"]["bad_gid"]


def arrives(server, client, cmd, listens=None):
    """Whether the programs of these (host, user) understand each other."""
    (sh, alice), (ch, bob) = server, client
    port = sh.lab.next_port()
    cmd = [*cmd, "-p", str(port)]
    before = refused(sh)
    s = sh.start(*as_user(alice, *cmd, *(listens or
                                         ["-g", sh.gid(sh.addr4)])))
    wait_for("the server", lambda: s.listens(port) or not s.running())
    c = ch.start(*as_user(bob, *cmd, "-g", ch.gid(ch.addr4), str(sh.addr4)))
    # RC tells its program that nobody answers; the others are silent.
    wait_for("an end", lambda: not c.running() or refused(sh) > before)
    if refused(sh) > before:
        assert c.proc.poll() != 0 and s.proc.poll() != 0, s.report()
        s.kill()
        c.kill()
        return False
    assert (c.wait(), s.wait()) == (0, 0), s.report() + c.report()
    return True


@pytest.mark.parametrize("kind", PINGPONG)
def test_user(shared, kind):
    lab = shared(*ISOLATED)
    cmd = [*PINGPONG[kind], "-n", "50"]
    a, b = lab.a, lab.b
    assert not arrives((a, ALICE), (a, BOB), cmd)
    assert not arrives((a, ALICE), (a, 0), cmd)
    assert arrives((a, BOB), (a, BOB), cmd)
    assert arrives((a, ALICE), (b, BOB), cmd)


@pytest.mark.parametrize("kind", PINGPONG)
def test_packets(shared, kind):
    """The same where messages inside the device are packets."""
    lab = shared(*ISOLATED, "--engine-opt", "loop=0")
    cmd = [*PINGPONG[kind], "-n", "50"]
    assert not arrives((lab.a, ALICE), (lab.a, BOB), cmd)
    assert arrives((lab.a, BOB), (lab.a, BOB), cmd)


def test_all(shared):
    lab = shared()
    assert arrives((lab.a, ALICE), (lab.a, BOB), ["ibv_rc_pingpong"])


@pytest.mark.parametrize("udp", [False, True])
def test_rdma_cm(shared, udp):
    """Who may not write may not connect either: that is refused at once."""
    lab = shared(*ISOLATED)
    a, b = lab.a, lab.b

    def connect(client, uid):
        # Of udaddy -p is the port space; its port is 7174.
        port = 7174 if udp else lab.next_port()
        tool = ["udaddy"] if udp else ["ucmatose", "-p", str(port)]
        s = start_server(a, port, *as_user(ALICE, *tool, "-b", a.addr4))
        c = client.start(*as_user(uid, *tool, "-s", a.addr4))
        good = c.wait(30) == 0
        if good:
            assert s.wait(20) == 0, s.report()
        s.kill()
        return good, c.text()
    good, text = connect(a, BOB)
    assert not good and "RDMA_CM_EVENT" in text, text
    for host, uid in (a, ALICE), (b, BOB):
        good, text = connect(host, uid)
        assert good, text


def test_groups(shared):
    """A multicast group of the device has members of each user for himself."""
    lab = shared(*ISOLATED)
    a, group = lab.a, "239.7.7.7"
    mckey = ["stdbuf", "-oL", "mckey", "-m", group, "-b", a.addr4]
    alice = a.start(*as_user(ALICE, *mckey))
    wait_for("the member", lambda: not alice.running() or
             "receiving data" in alice.text())

    def send(host, uid):
        s = host.start(*as_user(uid, "mckey", "-m", group, "-b", host.addr4, "-s"))
        assert s.wait() == 0, s.report()
    before = refused(a)
    send(a, BOB)
    wait_for("them to be refused", lambda: refused(a) > before)
    assert alice.running(), alice.report()
    send(lab.b, BOB)
    assert alice.wait() == 0, alice.report()
    alice = a.start(*as_user(ALICE, *mckey))
    wait_for("the member", lambda: not alice.running() or
             "receiving data" in alice.text())
    send(a, ALICE)
    assert alice.wait() == 0, alice.report()


@pytest.mark.parametrize("uid", [0, ALICE])
def test_killed(shared, uid, monkeypatch):
    """uroced is killed under traffic of a user who is kept apart: no byte is lost. Packets of one who gets
    no sockets wait for the next uroced."""
    monkeypatch.setenv("QP_TIMEOUT", "18")  # 1 s
    lab = shared(*ISOLATED)
    programs = start(lab, "restart", program=as_user(uid, lab.bin("guest")))
    try:
        go_on(programs)
        assert processes(lab.a)
        for n in range(KILLS):
            kill(lab.a)
            if not uid:
                go_on(programs, f"kill {n}\n")
            lab.a.serve("--netdev", "eth0", *ISOLATED)
            os.chmod(lab.a.run_dir, 0o755)
            go_on(programs, f"serve {n}\n")
        end(*programs)
    finally:
        for p in programs:
            p.kill()

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Daemons of two users in one network namespace, an interface each."""
import json
import os

import pytest

from hosts import wait_for
from test_cli import uroce
from test_forged import LOCAL, refused
from test_isolation import ALICE, BOB

PINGPONG = ("ibv_rc_pingpong", "-n", "100000000", "-c", "-d", "uroce0")


class User:
    def __init__(self, lab, uid, netdev, address):
        self.lab, self.host, self.uid, self.address = lab, lab.a, uid, address
        self.run_dir = os.path.join(lab.tmp, str(uid))
        os.mkdir(self.run_dir, 0o700)
        os.chown(self.run_dir, uid, uid)
        self.device = self.run("uroced", "--netdev", netdev, "--run-dir", self.run_dir)
        wait_for("uroced", lambda: "ready" in self.device.text() or not self.device.running())
        assert self.device.running(), self.device.report()

    def run(self, program, *args):
        return self.host.bare("setpriv", "--reuid", str(self.uid), "--regid", str(self.uid),
                              "--clear-groups", self.lab.bin(program), *args)

    def pingpong(self, port, *peer):
        self.host.run_dir = self.run_dir
        return self.run("uroce", "run", "--run-dir", self.run_dir, "--", *PINGPONG, "-p",
                        str(port), "-g", self.host.gid(self.address), *peer)

    def ask(self, command):
        """As that user: root takes no device of another, and is nobody there."""
        return json.loads(uroce(self.host, command, "--json", "qp", run_dir=self.run_dir,
                                wrap=("setpriv", "--reuid", str(self.uid), "--regid",
                                      str(self.uid), "--clear-groups")))

    def qps(self):
        return self.ask("res")

    def packets(self):
        got = self.ask("stat")
        return sum(q["counters"]["rcvd_pkts"] + q["counters"]["loop_msgs"] for q in got)


@pytest.fixture
def users(lab):
    lab.second_cable()
    return (User(lab, ALICE, "eth0", lab.a.addr4), User(lab, BOB, "eth1", "10.78.0.1"))


def pair(lab, server, client):
    port = lab.next_port()
    s = server.pingpong(port)
    wait_for("the server", lambda: s.listens(port) or not s.running())
    c = client.pingpong(port, server.address)
    wait_for("both in RTS", lambda: all("RTS" in [q["state"] for q in u.qps()]
                                        for u in (server, client)))
    before = server.packets(), client.packets()
    wait_for("data", lambda: server.packets() > before[0] and client.packets() > before[1])
    assert s.running() and c.running(), s.report() + c.report()
    return s, c


def test_between_them(lab, users):
    """They are peers as any two hosts, and one's end leaves the other as it is."""
    alice, bob = users
    own = pair(lab, alice, alice)
    pair(lab, alice, bob)
    bob.device.kill()
    before = alice.packets()
    wait_for("data", lambda: alice.packets() > before)
    assert all(p.running() for p in own), own[0].report() + own[1].report()


def test_not_served(users):
    """Neither user is let in at the other's, nor on the other's interface."""
    alice, bob = users
    for user, other in (alice, bob), (bob, alice):
        for command in ("link",), ("res", "qp"), ("fault", "add", "drop"):
            p = user.run("uroce", command[0], "--run-dir", other.run_dir, *command[1:])
            assert p.wait() and "uroce0" not in p.text(), p.report()
    os.mkdir(bob.run_dir + "/second")
    os.chown(bob.run_dir + "/second", BOB, BOB)
    p = bob.run("uroced", "--netdev", "eth0", "--run-dir", bob.run_dir + "/second")
    wait_for("whose it is", lambda: "namespace\n" in p.text() or not p.running())
    assert f"4791 of {alice.address} is taken by a process of user {ALICE} " in p.text(), \
        p.report()


def test_forged(lab, users, monkeypatch):
    """What one user's sockets send under the address of the other's device is none of
    its packets."""
    alice, bob = users
    s, c = pair(lab, alice, alice)
    lab.a.run_dir = alice.run_dir
    monkeypatch.setenv("UROCE_TRUST_UID", str(alice.uid))
    before = refused(lab.a)
    for qp in alice.qps():
        p = lab.a.bare("setpriv", "--reuid", str(bob.uid), "--regid", str(bob.uid),
                       "--clear-groups", "/usr/bin/python3", "-c", LOCAL, alice.address,
                       str(qp["qpn"]), "1000", alice.address)
        assert p.wait() == 0 and f"uid {bob.uid} " in p.text(), p.report()
        assert p.text().endswith(" had 0\n"), p.report()
    wait_for("them to be counted", lambda: refused(lab.a) - before > 1000)
    assert [q["state"] for q in alice.qps()] == ["RTS", "RTS"]
    assert s.running() and c.running(), s.report() + c.report()

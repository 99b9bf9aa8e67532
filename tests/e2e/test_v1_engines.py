# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""RoCEv1 in engine processes: two users of a device, kills of uroced and of an engine process."""
import os
import signal

import pytest

import hosts
from hosts import wait_for
from pairs import run_pair, start_pair
from test_engine_process import is_fatal, processes, watch
from test_pingpong import PROGRAMS
from test_v1 import V1, Capture

pytestmark = pytest.mark.part("ROCE_V1")

USERS = 65531, 65532
LONG = ["stdbuf", "-oL", "ibv_rc_pingpong", "-c", "-n", "5000"]


def as_user(uid):
    return ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups"]


@pytest.fixture
def users(build):
    """Devices of root's for all users."""
    lab = hosts.Lab(build, 9000)
    try:
        for host in lab.a, lab.b:
            host.serve("--netdev", "eth0", "--roce-v1")
            os.chmod(host.run_dir, 0o755)
        yield lab
    finally:
        lab.close()


@pytest.mark.parametrize("program", ["rc", "uc", "ud"])
def test_one_host(users, program):
    """Programs of two users on one device, each in his engine process. No frame goes over the
    cable."""
    a = users.a
    port = str(users.next_port())
    cmd = [*PROGRAMS[program], "-c", "-n", "200", "-d", "uroce0", "-p", port, "-g",
           a.gid(a.addr4, V1)]
    with Capture(a) as cap:
        s = a.start(*as_user(USERS[0]), *cmd)
        wait_for("server", lambda: s.listens(int(port)) or not s.running())
        c = a.start(*as_user(USERS[1]), *cmd, a.addr4)
        assert (c.wait(60), s.wait(10)) == (0, 0), c.report() + s.report()
    assert not cap.v1()


def test_restart(users):
    """Connections go on without a uroced and with the next one."""
    server, client = start_pair(users.b, users.a, LONG, kind=V1)
    wait_for("a connection", lambda: "remote address" in client.text() or not client.running())
    for _ in range(3):
        users.a.device.kill(signal.SIGKILL)
        users.a.serve("--netdev", "eth0", "--roce-v1")
    assert (client.wait(120), server.wait(10)) == (0, 0), client.report() + server.report()
    run_pair(users.b, users.a, ["ibv_rc_pingpong", "-c", "-n", "50"], kind=V1)


def test_engine_ends(users, monkeypatch):
    """An engine process that ends takes its user's contexts with it, and nobody else's. It is
    uroced's own user's, who alone may have its sockets."""
    host, watchers, his = users.a, [], []
    for uid in USERS:
        before = processes(host)
        with monkeypatch.context() as m:
            start = host.start
            m.setattr(host, "start", lambda *cmd, by=as_user(uid), to=start: to(*by, *cmd))
            watchers.append(watch(host))
        his += set(processes(host).items()) - set(before.items())
    try:
        assert len(his) == 2 and {uid for _, uid in his} == {0}
        for n in range(2):
            assert not is_fatal(watchers[n]), watchers[n].report()
            os.kill(his[n][0], signal.SIGKILL)
            wait_for("its end", lambda w=watchers[n]: is_fatal(w), limit=5)
    finally:
        for w in watchers:
            w.kill()

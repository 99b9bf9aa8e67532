# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One side dies in mid-transfer and comes back: the guest loses power and is
booted anew, or uroced is killed and started again. The other side must end the
old connection as its documentation says, and serve the new one."""
import subprocess
import time

import pytest

import guest as g
from test_verbs import DIRECTIONS, check, direction_id

RETRY_EXC = 12
# Packets that a transfer has exchanged when its end comes.
UNDER_WAY = 200


def wait_for(what, condition, limit=30):
    end = time.monotonic() + limit
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {limit} s for {what}"
        time.sleep(0.1)
    return value


class Started:
    """A program on a host, with its output."""

    def __init__(self, host, program, cmd, timeout=170):
        self.host, self.program = host, program
        self.proc = host.start(cmd, timeout)

    def output(self, limit=60):
        """Of a program that ends by itself."""
        out, _ = self.proc.communicate(timeout=limit)
        return out

    def end(self):
        if self.proc.poll() is not None:
            return ""
        self.host.end(self.proc, self.program)
        try:
            return self.output(30)
        except subprocess.TimeoutExpired:
            self.proc.kill()
            return ""


def under_way(hosts):
    def packets():
        c = hosts["uroce"].counters()
        return min(c["sent_pkts"], c["rcvd_pkts"])

    start = packets()
    wait_for("the transfer", lambda: packets() > start + UNDER_WAY)


@pytest.fixture
def rebooted(hosts):
    """Whoever died in the test and was not brought back, comes back."""
    dead = []
    yield dead
    for h in dead:
        h.boot()


def comes_back(host, rebooted):
    host.die()
    rebooted.append(host)
    host.boot()
    rebooted.remove(host)


def live_ids(uroce):
    return [i for i in uroce.cm()["cm_ids"] if i.get("cm_state") == "ESTABLISHED"]


DEATHS = pytest.mark.parametrize("dies", ["rxe", "uroce"])
BOTH = pytest.mark.parametrize("direction", DIRECTIONS, ids=direction_id)


@pytest.fixture(autouse=True)
def place(request, hosts, monkeypatch):
    """What programs have in an engine process ends with it; connections of engines in
    programs go on (tests/e2e/test_restart.py)."""
    spec = getattr(request.node, "callspec", None)
    if spec and spec.params.get("dies") == "uroce":
        monkeypatch.setitem(hosts["uroce"].env, "UROCE_ENGINE", "device")


@pytest.mark.parametrize("ip", [4, 6])
@DEATHS
@BOTH
def test_cm_reboot(hosts, rebooted, direction, dies, ip):
    """rping's server takes connection after connection (-P). When its client
    dies, the next connection is to the same server."""
    cm_reboot(hosts, rebooted, direction, dies, ip)


def test_stale(hosts, rebooted):
    """As above, with a client that says nothing when it dies: only a request
    with the same queue pair number, which a guest that has just booted counts
    from the start, can tell that the old connection is gone (IBA 12.9.8.3)."""
    comes_back(hosts["rxe"], rebooted)
    cm_reboot(hosts, rebooted, ("uroce", "rxe"), "rxe", 4, idle=True)


def cm_reboot(hosts, rebooted, direction, dies, ip, idle=False):
    server, client = (hosts[h] for h in direction)
    uroce = hosts["uroce"]
    addr = server.addr[ip]
    scmd = f"rping -s -P -a {addr} -S 30000"
    again = f"rping -c -a {addr} -C 10 -V -S 30000"
    s = Started(server, "rping", scmd)
    # Where rping listens is seen by nobody but a client: until then, refused.
    c = Started(client, "rping", "bash -c 'for i in $(seq 40); do "
                f"o=$(rping -c -a {addr} -C 100000000 -S 30000 2>&1); echo \"$o\"; "
                "[[ $o == *REJECTED* ]] || break; sleep 0.5; done'")
    try:
        under_way(hosts)
        if idle:
            client.run("pkill -STOP -x rping")
        stale = uroce.cm()["cm"]["rx_stale"]
        comes_back(hosts[dies], rebooted)
        ours = s if server is uroce else c
        if dies == "uroce":
            # Power takes the program, too.
            ours.end()
        if dies == server.kind:
            s.end()
            s = Started(server, "rping", scmd)
        c.end()
        # The old connection may be in the way for a while: refused as stale,
        # which is the client's to try again.
        rc, out = client.run(f"bash -c 'for i in $(seq 60); do {again} && exit 0; sleep 0.5; "
                             "done; exit 1'", 120)
        assert rc == 0, out
        if idle:
            wait_for("the old connection's end", lambda: not live_ids(uroce))
            assert uroce.cm()["cm"]["rx_stale"] > stale
    finally:
        c.end()
        s.end()


@DEATHS
@BOTH
def test_verbs_reboot(hosts, rebooted, direction, dies):
    """Both sides of a bidirectional ib_write_bw are requesters: uroce, when it
    is left alone, gives up with a transport retry error (Soft-RoCE does not:
    to it the seven retries of perftest are endless). The next run finds
    nothing of it."""
    server, client = (hosts[h] for h in direction)
    cmd = "ib_write_bw -F -b -s 16384 -d {} -x {} -n {}"

    def command(host, n, peer=""):
        return cmd.format(host.device, host.gid[4], n) + f" {peer}"

    s = Started(server, "ib_write_bw", command(server, 100000000))
    server.wait_listen(18515, s.proc)
    c = Started(client, "ib_write_bw", command(client, 100000000, server.addr[4]))
    try:
        under_way(hosts)
        comes_back(hosts[dies], rebooted)
        ours = s if server.kind == "uroce" else c
        out = ours.output()
        assert dies == "uroce" or f"status {RETRY_EXC}" in out, out
        c.end()
        s.end()
        r = g.pair(server, client, command(server, 100), command(client, 100, server.addr[4]),
                   18515)
        check(r)
    finally:
        c.end()
        s.end()


def row_of(program):
    def row(params):
        return {"program": program, "args": f"{params['dies']} dies and comes back",
                "server": params["direction"][0], "ip": params.get("ip", 4)}
    return row


def shows(params):
    """Each host once, as server or as client."""
    return {("dies", params["dies"]), ("server dies", params["dies"] == params["direction"][0])}


test_verbs_reboot.shows = shows
# test_stale shows what happens when the guest dies.
test_cm_reboot.shows = lambda params: [("dies", "uroce")] if params["dies"] == "uroce" else []
test_cm_reboot.cell = row_of("rping")
test_stale.cell = lambda _: {"program": "rping", "args": "rxe dies while idle and comes back",
                             "server": "uroce", "ip": 4}
test_verbs_reboot.cell = row_of("ib_write_bw")

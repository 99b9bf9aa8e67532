# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The same program as a server on one host and as a client on another."""
import races
from hosts import wait_for


def gid_args(host, family, flag, kind):
    address = host.addr6 if family == 6 else host.addr4
    return [flag, host.gid(address, kind)]


def start_pair(server, client, cmd, family=4, flag="-g", kind="RoCE v2"):
    """Start both; the client when the server listens. (server, client)"""
    port = str(server.lab.next_port())
    cmd = [*cmd, "-d", "uroce0", "-p", port]
    s = server.start(*cmd, *gid_args(server, family, flag, kind))
    wait_for(f"{cmd[0]} to listen", lambda: s.listens(int(port)) or
             not s.running())
    assert s.running(), s.report()
    # perftest looks its peer up for IPv4 unless told otherwise.
    c = client.start(*cmd, *gid_args(client, family, flag, kind), server.addr4)
    return s, c


def run_pair(server, client, cmd, family=4, flag="-g", limit=60,
             kind="RoCE v2"):
    """Run both to their end, which must be good; their output."""
    for _ in range(races.TRIES):
        s, c = start_pair(server, client, cmd, family, flag, kind)
        got = c.wait(limit)
        # A server whose client failed may wait for ever.
        end = s.wait(10 if got == 0 else 2)
        if not (c.lost_race() or s.lost_race()):
            break
        if s.running():
            s.kill()
    report = c.report() + s.report()
    for host in {server, client}:
        assert host.device.running(), host.device.report() + report
    assert (got, end) == (0, 0), report
    return s.text(), c.text()

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A program that the system kills for want of memory, in traffic: its peer is told, and uroced has
nothing left of it."""
import json
import os

import pytest

import cgroups
from engine_processes import processes
from hosts import wait_for
from pairs import run_pair
from test_guest_engine import pair  # pylint: disable=unused-import
from test_guests import engine, start  # pylint: disable=unused-import

LIMIT = 64 << 20
IBV_WC_RETRY_EXC_ERR = 12


def inodes(pid):
    """Of its network namespace's UDP sockets."""
    for name in "udp", "udp6":
        with open(f"/proc/{pid}/net/{name}") as f:
            yield from (line.split()[9] for line in f.readlines()[1:])


def held(host):
    """Of uroced: its descriptors, and what it has of programs. The sockets of a place that was granted
    are those of the next program there."""
    pid = host.device.pid
    of_places = {f"socket:[{inode}]" for inode in inodes(pid)}
    fds = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
    kinds = sorted(name.split(":")[0] for name in fds if name not in of_places)
    return kinds, json.loads(host.run(host.lab.bin("uroce"), "res", "--json"))


def held_by_nobody(hosts_):
    """After a program, since what the first one brings about stays, but for an engine process, which uroced keeps a while for
    the next one. uroced sees the end of that, and of the `uroce` that asks, a moment after others do: it has least when it
    has seen all."""
    run_pair(*hosts_, ["ibv_rc_pingpong", "-n", "10"])
    wait_for("no engine process", lambda: not any(map(processes, hosts_)))
    return [min((held(host) for _ in range(5)), key=lambda has: len(has[0])) for host in hosts_]


@pytest.mark.parametrize("on", ["one host", "two hosts"])
def test_killed_for_memory(pair, engine, monkeypatch, on):
    on = pair.a, pair.a if on == "one host" else pair.b
    before = held_by_nobody(on)
    with cgroups.limited(f"ur-e2e-{os.getpid()}", LIMIT) as (enter, kills):
        # The namespace has a /sys of its own. The client, which may be on the same host, is
        # in no such group.
        begin = pair.a.start
        with monkeypatch.context() as there:
            there.setattr(pair.a, "start", lambda *cmd, **kw: begin(
                *cmd, **kw, **({} if cmd[-1] == pair.a.addr4 else {"preexec_fn": enter})))
            s, c = start(pair, "eats", (pair.a, on[1]))
        assert (c.wait(60), s.wait(20)) == (0, -9), s.report() + c.report()
        assert kills() == 1
        assert f"send {IBV_WC_RETRY_EXC_ERR}" in c.text(), c.report()
    wait_for("nothing of it", lambda: [held(host) for host in on] == before)

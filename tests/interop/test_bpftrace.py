# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The static probes as bpftrace sees them, on a stock kernel. In an emulated
machine its compiler takes its time: with UROCE_FULL."""
import os
import re
import subprocess

import pytest

import guest as g
from inside import RUN_DIR, Inside, pair

NETNS = f"uroce-bt-{os.getpid()}"
UROCED = "/uroce/build/bin/uroced"
PROVIDER = "/uroce/build/lib/liburoce-rdmav34.so"
LIBRARY = "/uroce/build/lib/liburoce-engine.so"
ENGINE = ["work_request", "receive", "packet_out", "packet_in", "retransmit", "completion",
          "qp_state"]
CALLS = ["post_send", "post_recv", "process_completion"]


@pytest.fixture(scope="module")
def one():
    if os.environ.get("UROCE_FULL") != "1":
        pytest.skip("only with UROCE_FULL=1: minutes of emulation")
    why = g.missing()
    if why:
        pytest.skip(why)
    g.build_image()
    made = Inside(g.Guest(f"bt{os.getpid() % 10000}", NETNS, 2, rxe=False,
                          volumes=[f"{g.TOP}:/uroce"]))
    try:
        made.use("uroce")
        yield made
    finally:
        made.guest.stop()
        subprocess.run(["ip", "netns", "del", NETNS], stderr=subprocess.DEVNULL)


class Trace:
    """bpftrace, counting some probes while this is entered."""

    def __init__(self, guest, path, provider, names, options=""):
        self.guest, self.counts = guest, {}
        lines = [f'usdt:{path}:{provider}:{n} {{ @n["{n}"] = count(); }}' for n in names]
        # Attached in this order: when it speaks, all are.
        self.script = "\n".join([*lines, 'interval:s:1 { printf("attached\\n"); }'])
        self.options = options

    def __enter__(self):
        rc, out = self.guest.run(
            f"cat >/tmp/bt <<'END'\n{self.script}\nEND\n: >/tmp/bt.out; "
            f"setsid bpftrace /tmp/bt {self.options} >/tmp/bt.out 2>&1 </dev/null & "
            "echo $! >/tmp/bt.pid; for i in $(seq 1200); do grep -q ^attached /tmp/bt.out && exit 0; "
            "kill -0 $(cat /tmp/bt.pid) || break; sleep 0.1; done; cat /tmp/bt.out; exit 1", 180)
        assert rc == 0, out
        return self

    def __exit__(self, *exc):
        rc, out = self.guest.run(
            "kill -INT $(cat /tmp/bt.pid); for i in $(seq 600); do kill -0 $(cat /tmp/bt.pid) "
            "2>/dev/null || break; sleep 0.1; done; cat /tmp/bt.out", 120)
        assert rc == 0, out
        self.counts = {n: int(c) for n, c in re.findall(r"@n\[(\w+)\]: (\d+)", out)}


@pytest.mark.parametrize("place", ["process", "apart"])
def test_engine(one, place):
    address = one.guest.addr[4]
    lead = f"env UROCE_ENGINE={place} "
    with Trace(one.guest, LIBRARY, "uroce", ENGINE) as t:
        rc, out = one.guest.run(f"/uroce/build/bin/uroce fault add drop op=send nth=5 count=1 "
                                f"--run-dir {RUN_DIR}")
        assert rc == 0, out
        pair(one, one, lead + "ibv_rc_pingpong -d {dev} -g {gid} -n 20", address)
        rc, out = one.guest.run(f"/uroce/build/bin/uroce fault del all --run-dir {RUN_DIR}")
        assert rc == 0, out
    assert set(t.counts) == set(ENGINE), t.counts
    # Two ends of twenty messages each way.
    assert t.counts["work_request"] >= 40 and t.counts["completion"] >= 80, t.counts


def test_device(one):
    """Connections are uroced's."""
    address = one.guest.addr[4]
    with Trace(one.guest, UROCED, "uroce", ["cm_event"], "-p $(pgrep -x uroced)") as t:
        s = one.guest.start(one.prefix + f"rping -s -a {address} -C 2", 60)
        rc, out = one.guest.run(f"for i in $(seq 40); do {one.prefix} rping -c -a {address} -C 2 "
                                "&& exit 0; sleep 0.5; done; exit 1", 60)
        assert rc == 0, out + s.communicate(timeout=60)[0]
        s.communicate(timeout=60)
    assert t.counts["cm_event"] > 0, t.counts


def test_provider(one):
    with Trace(one.guest, PROVIDER, "rdma_core_uroce", CALLS) as t:
        pair(one, one, "ibv_rc_pingpong -d {dev} -g {gid} -n 20", one.guest.addr[4])
    assert set(t.counts) == set(CALLS), t.counts
    assert t.counts["post_send"] == 40 and t.counts["process_completion"] >= 80, t.counts

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Contexts beyond a device's large slots have small ones (engine/slots.h): an engine in the program as any other, and
packets from the device's ring."""
import contextlib

import pytest

from away import Away
from hosts import wait_for
from pairs import run_pair
from test_guest_engine import AS_A_USER, GUESTS, SLOTS, engines, granting, serve
from test_guest_host import As
from test_restart import connected, end, go_on, kill


@pytest.fixture(scope="module")
def lab(build):
    with granting(build) as made:
        yield made


@pytest.fixture
def full(lab, monkeypatch):
    """The first host's large slots are taken."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    wait_for("an empty device", lambda: not engines(lab.a))
    with contextlib.ExitStack() as stack:
        for _ in range(SLOTS):
            stack.callback(serve(lab.a).kill)
        yield lab


@pytest.mark.parametrize("by", [[], AS_A_USER], ids=["root", "another user"])
@pytest.mark.parametrize("on", ["two hosts", "one host"])
def test_traffic(full, by, on):
    server = As(full.a, "process", *by)
    client = As(full.a if on == "one host" else full.b, "process")
    for program in (["ibv_rc_pingpong", "-c"], ["ibv_rc_pingpong", "-e", "-s", "100000", "-c"],
                    ["ibv_uc_pingpong", "-c"], ["ibv_ud_pingpong", "-s", "1024", "-c"],
                    ["ibv_srq_pingpong", "-c"]):
        run_pair(server, client, [*program, "-n", "300"])
        run_pair(client, server, [*program, "-n", "300"])


@pytest.mark.parametrize("on", ["two hosts", "one host"])
def test_another_network_namespace(full, on):
    """uroced sends for it, too."""
    host = full.a if on == "one host" else full.b
    away, other = Away(full.a, to=host), As(host, "process")
    for program in ["ibv_rc_pingpong", "-s", "50000"], ["ibv_ud_pingpong", "-s", "1024"]:
        run_pair(other, away, [*program, "-c", "-n", "200"])


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("mode", ["restart", "restart_more_sleeps"])
def test_uroced_is_killed(full, monkeypatch, mode, on):
    """They outlive it, and go on with the next one: packets wait for that."""
    monkeypatch.setenv("QP_TIMEOUT", "18")  # 1 s, eight times
    with connected(full, mode, on) as programs:
        assert set(engines(full.a).values()) == {"program"}
        for n in range(3):
            kill(full.a)
            full.a.serve(*GUESTS)
            # Large ones are those of programs that have not asked for anything yet.
            late = serve(full.a)
            assert engines(full.a)[late.pid] == "program"
            late.kill()
            go_on(programs, f"serve {n}\n")
        end(*programs)

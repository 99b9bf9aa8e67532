# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Engines in programs beside several of their device: of two that contexts are spread over, and of
another user's. The first bits of a queue pair's number say where its engine is."""
import re

import pytest

import hosts
from pairs import run_pair
from test_cli import NOBODY
from test_guest_engine import GUESTS, SLOTS
from test_guest_host import RAW, As, connected, peers  # pylint: disable=unused-import

FIRST_SLOT = 30 - SLOTS


@pytest.fixture(scope="module")
def host(build):
    lab = hosts.Lab(build, 1500)
    try:
        lab.a.serve(*GUESTS[:-1], "guests=1,spread=1", "--engines", "2")
        yield lab.a
    finally:
        lab.close()


def places(text):
    """Of its queue pair and its peer's, as a ping-pong prints them."""
    numbers = re.findall(r"(local|remote) address:.*QPN 0x([0-9a-f]+)", text)
    return {side: int(qpn, 16) >> 19 for side, qpn in numbers}


def run(a, b, *cmd):
    return [places(text) for text in run_pair(a, b, [*cmd, "-c", "-n", "300"])]


SERVICES = [["ibv_rc_pingpong", "-s", "50000"], ["ibv_uc_pingpong"],
            ["ibv_ud_pingpong", "-s", "1024"], ["ibv_srq_pingpong", "-q", "4"]]


@pytest.mark.parametrize("service", SERVICES, ids=lambda s: s[0])
def test_beside_two(host, service):
    """Both directions, verified."""
    guest, other = As(host, "process"), As(host, "device")
    for _ in range(2):
        at = run(guest, other, *service)[0]
        assert at["remote"] < FIRST_SLOT <= at["local"], at
        at = run(other, guest, *service)[0]
        assert at["local"] < FIRST_SLOT <= at["remote"], at


def test_each_of_the_two(host, peers):
    """A program's queue pair and one in each of the device's engines, at a time."""
    guests = [peers("rc", "process", RAW) for _ in range(4)]
    pairs = [connected(host, a, peers("rc", "device")) for a in guests]
    places = {b.qpn >> 19 for _, b in pairs}
    assert len(places) == 2 and max(places) < FIRST_SLOT, places
    assert len({a.slot for a, _ in pairs}) == 4
    for seed, (a, b) in enumerate(pairs):
        a.fill(seed)
        a.write(b.rkey, b.addr)
        assert b.is_filled(seed)
        b.fill(seed + 100)
        a.read(b.rkey, b.addr)
        assert a.is_filled(seed + 100)
        b.send("answer")
        assert a.texts_to("answer") == ["answer"]


@pytest.mark.parametrize("service", SERVICES, ids=lambda s: s[0])
def test_beside_another_user(host, service):
    """His is one of the device's, and nobody else's."""
    root, nobody = As(host, "process"), As(host, "device", *NOBODY)
    sides = run(root, nobody, *service)
    assert sides[0]["local"] >= FIRST_SLOT
    assert 1 <= sides[0]["remote"] < FIRST_SLOT
    sides = run(nobody, root, *service)
    assert 1 <= sides[0]["local"] < FIRST_SLOT

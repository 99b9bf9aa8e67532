# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What looks into an engine from outside finds one in a program, too: the flight
recorder, also of a program that was killed, and of one that writes nonsense there."""
import collections
import os
import random
import re

import pytest

from hosts import wait_for
from pairs import run_pair, start_pair
from test_guest_counters import queue_pairs
from test_guest_engine import packets, pair  # pylint: disable=unused-import
from test_record import PINGPONG, data_of, joined, of_kind, uroce

ENDLESS = ["ibv_rc_pingpong", "-n", "100000000"]


@pytest.fixture(autouse=True)
def process(monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "process")


@pytest.fixture
def recorded(pair):
    for host in pair.a, pair.b:
        uroce(host, "record", "start")
    yield pair.a, pair.b
    for host in pair.a, pair.b:
        uroce(host, "record", "stop")


def begin_traffic(a, b):
    """Returns the program on host a, and the processes' queue pairs there."""
    before = {q["pid"] for q in queue_pairs(a)}
    s, c = start_pair(a, b, ENDLESS)

    def new():
        return [q for q in queue_pairs(a) if q["pid"] not in before and
                q["counters"]["sent_pkts"] > 1000]
    wait_for("packets", new)
    return (s, c), new()[0]


def test_record(recorded, tmp_path):
    """Both programs' requests, packets and completions, and the devices had no packet of it."""
    a, b = recorded
    before = packets(a)
    run_pair(a, b, [*PINGPONG, "-s", "512"])
    assert packets(a) == before
    data = data_of(a, *joined(a, b, tmp_path))
    sends = of_kind(data, "send")
    assert len(sends) == 200 and all("done" in e for e in sends)
    out = [e for e in of_kind(data, "out") if "send" in e and "resent" not in e]
    assert len(out) == 200 and all("other" in e for e in out)
    assert {data["qps"][e["qp"]]["comm"] for e in sends} == {"ibv_rc_pingpong"}


def test_record_of_a_killed_one(recorded, tmp_path):
    """What it did last is there: whatever arrived at the other host has left here."""
    a, b = recorded
    programs, qp = begin_traffic(a, b)
    os.kill(qp["pid"], 9)
    wait_for("its end", lambda: not queue_pairs(a))
    for p in programs:
        p.kill()
    data = data_of(a, *joined(a, b, tmp_path))
    own = {i for i, q in enumerate(data["qps"]) if q["pid"] == qp["pid"]}
    assert {data["qps"][i]["comm"] for i in own} == {"ibv_rc_pingpong"}
    came = [e for e in of_kind(data, "in") if "other" in e and
            data["events"][e["other"]]["qp"] in own]
    assert len(came) > 100
    there = {e["qp"] for e in came}
    last = [e for e in of_kind(data, "in") if e["qp"] in there][-20:]
    assert all("other" in e for e in last)


def test_told_of_a_failure(recorded):
    """A file is written, as where the device has the engine."""
    a, b = recorded
    before = a.device.text().count("a work request failed")
    programs, qp = begin_traffic(a, b)
    other, = (q["pid"] for q in queue_pairs(b))
    os.kill(other, 9)
    wait_for("the file", lambda:
             a.device.text().count("a work request failed") > before)
    path = re.findall(r"recorded in (\S+) \(a work request failed\)",
                      a.device.text())[-1]
    data = data_of(a, path)
    assert any(data["qps"][e["qp"]]["pid"] == qp["pid"] and e["status"]
               for e in of_kind(data, "completion"))
    for p in programs:
        p.kill()


def record_of(pid):
    """Where it has the ring mapped, and the bytes of it."""
    maps = open(f"/proc/{pid}/maps").read()
    (start, end), = re.findall(r"^(\w+)-(\w+) rw-s .*memfd:uroce-record", maps, re.M)
    return int(start, 16), int(end, 16) - int(start, 16)


def scribble(pid, how, seed):
    start, size = record_of(pid)
    rng = random.Random(seed)
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as mem:
        mem.seek(start)
        if how == "random":
            mem.write(rng.randbytes(size))
        elif how == "bytes":
            mem.write(bytes([rng.randrange(256)]) * size)
        else:
            # What it says of how much there is, and the records as they are.
            mem.seek(start + 8 * rng.randrange(1, 4))
            mem.write(rng.randbytes(8))


@pytest.mark.parametrize("how", ["random", "bytes", "heads"])
def test_hostile(recorded, how):
    """A program that writes what it likes there lies about itself alone: what the other one
    has recorded is all there, nobody else's number or name is in what it says."""
    a, b = recorded
    programs, liar = begin_traffic(a, b)
    more, honest = begin_traffic(a, b)
    for seed in range(20):
        scribble(liar["pid"], how, seed)
        data = data_of(a)
        by_pid = collections.defaultdict(set)
        for q in data["qps"]:
            by_pid[q["pid"]].add(q["qpn"])
        assert by_pid[honest["pid"]] == {honest["qpn"]}
        # The three bits of a slot.
        assert {n >> 21 for n in by_pid[liar["pid"]] if n} <= {liar["qpn"] >> 21}
        own = [e for e in data["events"]
               if data["qps"][e["qp"]]["pid"] == honest["pid"]]
        assert len(own) > 1000
        assert len([e for e in own if e["kind"] == "send" and "done" in e]) > 100
    assert all(p.running() for p in (*programs, *more, a.device))
    for p in *programs, *more:
        p.kill()

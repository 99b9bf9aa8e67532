# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What looks into an engine from outside finds one in a program, too: the flight
recorder, also of a program that was killed, and of one that writes nonsense there; why
requests failed; fault rules."""
import collections
import json
import os
import random
import re
import struct
import time

import pytest

from hosts import wait_for
from packets import packets as datagrams
from pairs import run_pair, start_pair
from test_guest_counters import queue_pairs
from test_guest_engine import packets, pair  # pylint: disable=unused-import
from test_record import PINGPONG, data_of, joined, of_kind, uroce
from test_v1 import Capture
from test_why import ends, why

FULL = "UROCE_FULL" in os.environ
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


@pytest.fixture
def rules(pair):
    """Returns what makes one on host a, and what counts it."""
    def add(*words):
        uroce(pair.a, "fault", "add", *words)

    def count():
        rule, = json.loads(uroce(pair.a, "fault", "show", "--json"))
        return rule["matched"], rule["done"]
    yield add, count
    uroce(pair.a, "fault", "del", "all")


@pytest.fixture
def traffic(pair):
    """Returns what starts two programs and returns the processes and the queue pair
    of the one on host a, which has sent at least so many packets."""
    started = []

    def begin(least=1000):
        before = {q["pid"] for q in queue_pairs(pair.a)}
        started.extend(start_pair(pair.a, pair.b, ENDLESS))

        def new():
            return [q for q in queue_pairs(pair.a) if q["pid"] not in before and
                    q["counters"]["sent_pkts"] > least]
        wait_for("packets", new)
        return started[-2:], new()[0]
    yield begin
    for p in started:
        p.kill()
    for host in pair.a, pair.b:
        wait_for("their end", lambda: not queue_pairs(host))


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


def test_record_of_a_killed_one(recorded, traffic, tmp_path):
    """What it did last is there: whatever arrived at the other host has left here."""
    a, b = recorded
    programs, qp = traffic()
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


def test_told_of_a_failure(recorded, rules, traffic):
    """A file is written, as where the device has the engine."""
    a, _ = recorded
    before = a.device.text().count("a work request failed")
    _, qp = traffic()
    rules[0]("wc=rem_op_err", f"qp={qp['qpn']}", "count=1")
    wait_for("the file", lambda:
             a.device.text().count("a work request failed") > before)
    path = re.findall(r"recorded in (\S+) \(a work request failed\)",
                      a.device.text())[-1]
    data = data_of(a, path)
    assert any(data["qps"][e["qp"]]["pid"] == qp["pid"] and e["status"]
               for e in of_kind(data, "completion"))


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
def test_hostile(recorded, traffic, how):
    """A program that writes what it likes there lies about itself alone: what the other one
    has recorded is all there, nobody else's number or name is in what it says."""
    a, _ = recorded
    programs, liar = traffic()
    more, honest = traffic()
    for seed in range(20 if FULL else 7):
        scribble(liar["pid"], how, seed)
        data = data_of(a)
        by_pid = collections.defaultdict(set)
        for q in data["qps"]:
            by_pid[q["pid"]].add(q["qpn"])
        assert by_pid[honest["pid"]] == {honest["qpn"]}
        # The bits of a slot.
        assert {n >> 19 for n in by_pid[liar["pid"]] if n} <= {liar["qpn"] >> 19}
        own = [e for e in data["events"]
               if data["qps"][e["qp"]]["pid"] == honest["pid"]]
        assert len(own) > 1000
        assert len([e for e in own if e["kind"] == "send" and "done" in e]) > 100
    assert all(p.running() for p in (*programs, *more, a.device))


# ---- why ----

@pytest.mark.parametrize("places", [("process", "process"), ("process", "device"),
                                    ("device", "process")], ids=" ".join)
def test_why(pair, monkeypatch, places):
    """Both ends of a refusal on one device, wherever their engines are, while the program that
    refused is there and when it was killed."""
    monkeypatch.setenv("UROCE_ENGINE", places[0])
    start = pair.a.start

    def second(*cmd, **kw):
        if "client" in cmd:
            monkeypatch.setenv("UROCE_ENGINE", places[1])
        return start(*cmd, **kw)
    monkeypatch.setattr(pair.a, "start", second)
    s, c, qpn, status = ends(pair.a, pair.a, "range")
    assert status == 10, c.report()
    refused = r"of pid \d+ \(why_mistakes\).*refused it: the rkey 0x\w+ is for .*: 1 byte beyond"
    assert re.search(refused, why(pair.a, qpn), re.S)
    os.kill(s.pid, 9)
    wait_for("its end", lambda: not queue_pairs(pair.a))
    assert re.search(refused, why(pair.a, qpn), re.S)


def page_of(pid):
    maps = open(f"/proc/{pid}/maps").read()
    (start, end), = re.findall(r"^(\w+)-(\w+) rw-s .*memfd:uroce-counters", maps, re.M)
    return int(start, 16), int(end, 16) - int(start, 16)


# engine/grant/program_page.h: behind the port's counters and those of the queue pairs, of 18 words
FAILURES, FAILURE = 8 * (128 + 2048 * 16), 8 * 18


@pytest.mark.parametrize("seed", range(5))
def test_why_of_a_liar(pair, traffic, seed):
    """Anything in the memory that failures are shown in: every question has an answer, and
    what the other one's failure says stays."""
    server, _, qpn, _ = ends(pair.a, pair.a, "key")
    before = why(pair.a, qpn)
    _, liar = traffic()
    rng = random.Random(seed)
    start, size = page_of(liar["pid"])
    number = liar["qpn"].to_bytes(8, "little")
    with open(f"/proc/{liar['pid']}/mem", "r+b", buffering=0) as mem:
        mem.seek(start)
        mem.write(rng.randbytes(size))
        json.loads(uroce(pair.a, "why", "--json"))
        # And whole ones of this queue pair, which nobody writes by chance.
        mem.seek(start + FAILURES)
        mem.write(b"".join(bytes(8) + number + rng.randbytes(FAILURE - 16)
                           for _ in range(2 * 2048)))
    assert f"queue pair 0x{liar['qpn']:06x}" in why(pair.a, liar["qpn"])
    json.loads(uroce(pair.a, "why", "--json"))
    assert before.splitlines()[:2] == why(pair.a, qpn).splitlines()[:2]
    assert pair.a.device.running()
    server.kill()


# ---- fault rules ----

def test_loss(pair, rules):
    """Lost as they leave the program, repeated, and counted, also when it has ended."""
    add, count = rules
    before = packets(pair.a)
    add("drop", "dir=out", "op=send", "nth=10", "count=20")
    run_pair(pair.a, pair.b, [*PINGPONG, "-s", "512"])
    assert packets(pair.a) == before
    assert 10 <= count()[1] < 20, count()
    # The next program goes on where this one was.
    run_pair(pair.a, pair.b, [*PINGPONG, "-s", "512", "-n", "300"])
    matched, done = count()
    assert done == 20 and matched > 400, (matched, done)


def test_error_completion(pair, rules, traffic):
    """A request of a running program fails, for the reason that its rule says."""
    add, count = rules
    programs, qp = traffic()
    add("wc=rem_op_err", f"qp={qp['qpn']}", "count=1")
    wait_for("its end", lambda: not all(p.running() for p in programs))
    assert any("remote operation error" in p.text() for p in programs)
    assert count() == (1, 1)
    assert "a fault rule made it" in why(pair.a, qp["qpn"])


def test_rule_ends(pair, rules, traffic):
    """Programs run on without it."""
    add, _ = rules
    add("delay=20000")
    _, qp = traffic(10)
    slow = rate(pair.a, qp)
    uroce(pair.a, "fault", "del", "all")
    wait_for("speed", lambda: rate(pair.a, qp) > 10 * slow)


def rate(host, qp):
    """Packets a second that came between two looks."""
    def came():
        return next(q["counters"]["rcvd_pkts"] for q in queue_pairs(host)
                    if q["qpn"] == qp["qpn"])
    first, at = came(), time.monotonic()
    time.sleep(0.05)
    return (came() - first) / (time.monotonic() - at)


def test_link_down(pair, rules, traffic):
    """No packet of a program passes while the port is down."""
    add, _ = rules
    programs, qp = traffic()

    def silent():
        """The port is down for less than the connection's retries last, so a look may come too late for it."""
        wait_for("packets", lambda: rate(pair.a, qp) > 0)
        add("link-down=300")
        return rate(pair.a, qp) == 0
    wait_for("silence", silent)
    wait_for("packets", lambda: rate(pair.a, qp) > 0)
    assert all(p.running() for p in programs)


def test_counts_of_a_liar(pair, rules, traffic):
    """No count falls, nor runs over, by what a program writes."""
    add, count = rules
    add("dup", "op=ack", "nth=5")
    _, qp = traffic()
    start, size = page_of(qp["pid"])
    before = count()
    for value in 0, (1 << 64) - 1, 1 << 48:
        with open(f"/proc/{qp['pid']}/mem", "r+b", buffering=0) as mem:
            mem.seek(start)
            mem.write(struct.pack("=Q", value) * (size // 8))
        after = count()
        assert all(b <= a < 1 << 48 for b, a in zip(before, after)), (before, after)
        before = after


# ---- the administrator's classes ----

CNP = 0x81  # IBTA annex 17


def heads(pair):
    """Traffic class and hop limit of what leaves host a, but for CNPs, which have their own."""
    with Capture(pair.b) as cap:
        time.sleep(0.1)
    return {(p.tos >> 2, p.ttl) for p in datagrams(cap.frames)
            if str(p.src) == pair.a.addr4 and p.opcode != CNP}


def test_traffic_class(pair, traffic):
    """A change reaches connections that are there, and so does its end."""
    def put(*words):
        uroce(pair.a, "link", "set", "uroce0", *words)
    traffic()
    before, = heads(pair)
    try:
        put("tclass", "106")
        put("ttl", "9")
        wait_for("the class", lambda: heads(pair) == {(106 >> 2, 9)})
        put("tclass", f"tclass=64,dst_ip={pair.b.addr4}")
        put("tclass", "tclass=-1")
        wait_for("the rule", lambda: heads(pair) == {(64 >> 2, 9)})
    finally:
        put("tclass", f"tclass=-1,dst_ip={pair.b.addr4}")
        put("tclass", "tclass=-1")
        put("ttl", "0")
    wait_for("its own", lambda: heads(pair) == {before})

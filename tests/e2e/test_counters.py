# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Counters that move only when something is done to hosts or packets: marks of
congestion, losses of answers, refused system calls, flushes. What they must say
is counted in a capture, or known from the scenario."""
import pytest

import hosts
from hosts import wait_for
from packets import CNP, READ_ANSWERS, packets
from test_v1 import Capture
from test_wire import (PEER, V4, V6, captured, counters, measure, roce, talk,  # noqa: F401
                       wire, SEND)


@pytest.fixture(scope="module")
def half(build):
    """Of two hosts b alone takes part in congestion control."""
    lab = hosts.Lab(build)
    try:
        lab.a.serve("--netdev", "eth0", "--engine-opt", "gso=0,gro=0")
        lab.b.serve("--netdev", "eth0", "--engine-opt", "gso=0,gro=0,cc=1")
        yield lab
    finally:
        lab.close()


@pytest.fixture
def rules():
    """Rules for what leaves a host, in force for one test."""
    made = []

    def put(host, rule, hook="netdev"):
        where = {"netdev": "hook egress device eth0", "inet": "hook output"}[hook]
        host.nft(f"table {hook} counted {{ chain out {{ type filter {where} priority 0; "
                 f"{rule}; }}; }}")
        made.append((host, hook))
    yield put
    for host, hook in made:
        host.nft(f"delete table {hook} counted")


def moved(host, before):
    after = counters(host)
    return {k: after[k] - before[k] for k in after
            if after[k] != before[k] and "_prio" not in k}  # those: test_card.py


def mark(ip):
    return f"{'ip' if ip == V4 else 'ip6'} ecn set ce"


@pytest.mark.parametrize("ip", [V4, V6])
def test_marked_at_either(half, rules, ip):
    """All packets are marked, of both, and both answer with CNPs. b has a rate to
    lower, a the window of its path where a request is still on its way, and
    ignores the others."""
    for host in half.a, half.b:
        rules(host, f"udp dport 4791 {mark(ip)}")
    before = [counters(h) for h in (half.a, half.b)]

    def ends():
        return [moved(h, x) for h, x in zip((half.a, half.b), before)]

    def settled():
        """Each CNP has come: the last of them are behind what the programs wait for."""
        sent, took = [sum(end.get(c, 0) for end in ends() for c in names) for names in (
            ["np_cnp_sent"], ["rp_cnp_handled", "rp_cnp_ignored"])]
        return sent == took
    requests, answers = captured(half, "stays", ip, settled)
    a, b = ends()
    cnps = [p for p in requests + answers if p.opcode == CNP]
    data = [p for p in requests if p.opcode != CNP]
    to_a = [p for p in cnps if p.dqpn == answers[0].dqpn]
    to_b = [p for p in cnps if p.dqpn == data[0].dqpn]
    assert to_a and to_b and len(to_a) + len(to_b) == len(cnps)
    assert {p.psn for p in cnps} == {0}
    # A CNP is not answered with one, marked though it is.
    handled, ignored = a.get("rp_cnp_handled", 0), a.get("rp_cnp_ignored", 0)
    assert b["np_cnp_sent"] == len(to_a) == handled + ignored and handled
    assert a["np_cnp_sent"] == len(to_b) == b["rp_cnp_handled"]
    assert b["np_ecn_marked_roce_packets"] == len(data)
    assert a["np_ecn_marked_roce_packets"] == len(answers)
    assert "rp_cnp_ignored" not in b


def test_stray_notification(wire):  # noqa: F811
    """A CNP for a queue pair that is not there."""
    data = roce(wire.a.addr4, wire.b.addr4,
                bytes([CNP]) + b"\x00\xff\xff\x40\x7f\xff\xff" + bytes(4 + 16))
    before = counters(wire.b)
    p = wire.a.bare("/usr/bin/python3", "-c", SEND, data.hex(), wire.b.addr4)
    assert p.wait() == 0, p.report()
    wait_for("the counter", lambda: moved(wire.b, before))
    assert moved(wire.b, before) == {"rp_cnp_ignored": 1, "rcvd_pkts": 1}


def test_flushed(wire):  # noqa: F811
    """Three sends at once, the first of which is too long for its receive."""
    asker, server, _, _ = measure(wire, "flushed")
    assert (asker["req_cqe_error"], asker["req_cqe_flush_error"]) == (1, 2)
    assert (server["resp_cqe_error"], server["resp_cqe_flush_error"]) == (1, 2)
    assert asker["req_remote_invalid_request"] == server["resp_local_length_error"] == 1


def test_lost_answers(wire, rules):  # noqa: F811
    """Of READs' answers: the next one says that one is missing. There are 36, and a
    rule that drops one in fewer can drop the same one each time all are asked for."""
    codes = ", ".join(str(c) for c in READ_ANSWERS)
    rules(wire.b, f"udp dport 4791 @th,64,8 {{ {codes} }} numgen inc mod 37 == 2 drop")
    implied = 0
    for _ in range(5):
        asker, server, requests, answers = measure(wire, "reads")
        implied = asker.get("implied_nak_seq_err", 0)
        # Not each of them led to asking again: that may just have been done.
        assert 0 < asker["completer_retry_err"] <= implied + \
            asker.get("roce_adp_retrans", 0) + asker.get("local_ack_timeout_err", 0)
        assert server["sent_pkts"] > len(answers) == asker["rcvd_pkts"]
        assert asker["sent_pkts"] == len(requests)
        assert server["rx_read_requests"] == 12
        assert server["duplicate_request"] == len(requests) - 12
        # On a slow machine a probe may be first, and the answers behind go with it.
        if implied:
            break
    assert implied


def test_refused_by_host(wire, rules):  # noqa: F811
    """The host's own filter: the system call fails, no packet leaves."""
    before = counters(wire.a)
    rules(wire.a, "udp dport 4791 drop", "inet")
    requests, answers = captured(wire, "timeout")
    assert not requests and not answers
    asker = moved(wire.a, before)
    assert asker["send_err"] == 4 + asker.get("roce_adp_retrans", 0)
    assert asker["local_ack_timeout_err"] == 4


@pytest.mark.parametrize("place", ["apart", "process"])
def test_loop(wire, monkeypatch, place):  # noqa: F811
    """Programs of one device send each other packets, of which the wire sees none."""
    monkeypatch.setenv("UROCE_ENGINE", place)
    before = counters(wire.a)
    gid = wire.a.gid(wire.a.addr4)
    s = wire.a.start("/usr/bin/python3", PEER, "server", "sizes_send", "uroce0", gid)
    wait_for("the server", lambda: s.listens(7777) or not s.running())
    with Capture(wire.b) as cap:
        wire.a.run("/usr/bin/python3", PEER, "client", "sizes_send", "uroce0", gid,
                   wire.a.addr4)
    assert s.wait() == 0, s.report()
    assert not packets(cap.frames)
    sizes = [0, 1, 2, 3, 4, 5, 6, 7, 1023, 1024, 1025, 2046, 2048, 3001]
    now = {k: n for k, n in moved(wire.a, before).items()
           if k not in ("roce_adp_retrans", "completer_retry_err", "duplicate_request")}
    went = {"rdma_sends": len(sizes), "rdma_recvs": len(sizes)}
    sent = now.get("sent_pkts", 0)
    # At least a packet of data and an answer for some of them.
    assert sent > sum(max(1, -(-n // 1024)) for n in sizes)
    went |= {"sent_pkts": sent, "rcvd_pkts": sent}
    assert now == went


def data(host):
    """port_xmit_data and port_rcv_data, in the words of four bytes that they
    count."""
    out = host.run("sh", "-c", "cd /sys/class/infiniband/uroce0/ports/1/counters && "
                   "cat port_xmit_data port_rcv_data")
    return [int(x) for x in out.split()]


@pytest.mark.parametrize("ip", [V4, V6])
def test_port_data(wire, ip):  # noqa: F811
    before = [data(h) for h in (wire.a, wire.b)]
    with Capture(wire.b) as cap:
        talk(wire, "sizes_write", ip)
    after = [data(h) for h in (wire.a, wire.b)]
    got = packets(cap.frames)
    words = [sum(p.bytes for p in got if p.answer == answer) // 4 for answer in (False, True)]
    xmit, rcv = ([y - x for x, y in zip(*pair)] for pair in zip(before, after))
    assert [xmit, rcv] == [words, words[::-1]]

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a stranger finds in our packets, and whether the counters that programs
read are true: packets between two hosts are captured and counted here, and the
files under ports/1/hw_counters are read as a program sees them."""
import os
import signal
import socket
import zlib

import pytest

import hosts
from hosts import wait_for
from packets import CNP, OPENS_ATOMIC, OPENS_READ, OPENS_WRITE, PAUSES, SENDS, packets
from pairs import run_pair
from rules import leaving
from test_v1 import Capture

PEER = os.path.join(hosts.TOP, "tests", "interop", "peer.py")
V4, V6 = 4, 6


@pytest.fixture(scope="module")
def wire(build):
    """Packets leave one by one: a capture shows what the cable carries. No window of the
    path asks for an answer sooner where the peer is slow."""
    lab = hosts.Lab(build)
    try:
        for host in lab.a, lab.b:
            host.serve("--netdev", "eth0", "--engine-opt",
                       "gso=0,gro=0,cc=1,one_port=0,path=0")
        yield lab
    finally:
        lab.close()


@pytest.fixture
def plain(build):
    lab = hosts.Lab(build)
    try:
        lab.serve()
        yield lab
    finally:
        lab.close()


def once(requests):
    """Without what a slow machine made the requester send again."""
    seen = {}
    for p in requests:
        seen.setdefault((p.dqpn, p.psn), p)
    return list(seen.values())


def talk(lab, scenario, ip=V4, settled=None):
    """a asks, b answers. settled: of a scenario that stays, whether it may end."""
    gid = [h.gid(h.addr4 if ip == V4 else h.addr6) for h in (lab.a, lab.b)]
    s = lab.b.start("/usr/bin/python3", PEER, "server", scenario, "uroce0", gid[1])
    wait_for("the server", lambda: s.listens(7777) or not s.running())
    c = lab.a.start("/usr/bin/python3", PEER, "client", scenario, "uroce0", gid[0], lab.b.addr4)
    if settled:
        wait_for("all to settle", lambda: not (c.running() and s.running()) or
                 all('"mem"' in p.text() for p in (c, s)) and settled())
        for p in c, s:
            p.kill(signal.SIGUSR1)
    assert c.wait() == 0 and s.wait() == 0, c.report() + s.report()


def captured(lab, scenario, ip=V4, settled=None):
    """(requests of a, answers of b)"""
    with Capture(lab.b) as cap:
        talk(lab, scenario, ip, settled)
    got = packets(cap.frames)
    return [p for p in got if not p.answer], [p for p in got if p.answer]


@pytest.mark.parametrize("ip", [V4, V6])
def test_route(wire, ip):
    requests, answers = captured(wire, "route", ip)
    requests = once(requests)
    label = 0x12345
    for p in requests + answers:
        assert p.ttl == 33
        assert p.tos == 0x6a  # DSCP 26, ECT(0)
        assert p.sport == 0xc000 | (label & 0x3fff) ^ (label >> 14)
        assert p.pkey == 0xffff
        assert not p.migreq  # as Soft-RoCE
    assert len(answers) >= 6
    # SE is on the last packet of what asked for it, and nowhere else.
    sends = [p for p in requests if p.opcode in SENDS]
    assert [p.se for p in sends] == [True] + 3 * [False] + [False, False, True]
    assert not any(p.se for p in requests + answers if p not in sends)
    # The last of a message and what has an answer of its own ask for one.
    assert all(p.ackreq == (p.opcode not in PAUSES) for p in requests)
    assert not any(p.ackreq for p in answers)


@pytest.mark.parametrize("ip", [V4, V6])
def test_source_port(wire, ip):
    """Without a flow label: of the two QP numbers, the same both ways."""
    requests, answers = captured(wire, "sizes_send", ip)
    v = requests[0].dqpn * answers[0].dqpn
    v ^= v >> 20 ^ v >> 40
    want = 0xc000 | (v & 0x3fff) ^ (v >> 14 & 0x3f)
    assert {p.sport for p in requests + answers} == {want}
    assert {p.ttl for p in requests + answers} == {64}


@pytest.mark.parametrize("place", ["apart", "process"])
def test_one_port(plain, monkeypatch, place):
    """Between veths no path is chosen by the port: all connections of an engine to a peer
    have the same one, so that their packets leave together."""
    monkeypatch.setenv("UROCE_ENGINE", place)
    ports = []
    for _ in range(2):
        with Capture(plain.b) as cap:
            run_pair(plain.b, plain.a, ["ib_write_bw", "-q", "4", "-n", "20", "-F"], flag="-x")
        got = packets(cap.frames)
        ways = [[p for p in got if p.answer == answer] for answer in (False, True)]
        assert [len({p.dqpn for p in way}) for way in ways] == [4, 4]
        ports.append([{p.sport for p in way} for way in ways])
    assert [len(p) for p in ports[0] + ports[1]] == 4 * [1]
    assert ports[0] != ports[1]


def test_credits(wire):
    """A responder with receives tells how many; one without tells nothing."""
    _, answers = captured(wire, "sizes_send")
    acks = [p.syndrome for p in answers if p.syndrome is not None]
    assert acks and all(s < 0x1f for s in acks) and acks == sorted(acks, reverse=True)


def test_ack_request(wire):
    """Of any 128 packets of a long message one asks for an acknowledgement."""
    with Capture(wire.b) as cap:
        gid = [h.gid(h.addr4) for h in (wire.a, wire.b)]
        port = str(wire.next_port())
        args = ["ib_write_bw", "-F", "-n", "5", "-s", "1048576", "-p", port, "-m", "1024", "-x"]
        s = wire.b.start(*args, gid[1])
        wait_for("the server", lambda: s.listens(int(port)) or not s.running())
        wire.a.run(*args, gid[0], wire.b.addr4)
        assert s.wait() == 0, s.report()
    run = longest = 0
    for p in packets(cap.frames):
        if not p.answer and str(p.src) == wire.a.addr4:
            run = 0 if p.ackreq else run + 1
            longest = max(longest, run)
    assert 0 < longest < 128


# ---- counters ----


def counters(host):
    """{name: value} as a program reads them."""
    out = host.run("sh", "-c", "cd /sys/class/infiniband/uroce0/ports/1/hw_counters && "
                   "grep -H . *")
    return {k: int(v) for k, v in (line.split(":") for line in out.splitlines())}


def messages(requests, first):
    """Messages that begin with one of these opcodes, each once."""
    return len({(p.dqpn, p.psn) for p in requests if p.opcode in first})


def with_class(answers, bits, code=None):
    return sum(p.syndrome is not None and p.syndrome >> 5 == bits and
               (code is None or p.syndrome & 31 == code) for p in answers)


# What a scenario moves at the requester and at the responder besides what the
# capture says. As with Soft-RoCE a send is one of rdma_sends when it fails, and
# every message that takes a receive is one of rdma_recvs.
MOVES = {
    "sizes_send": ({"rdma_sends": 14}, {"rdma_recvs": 14}),
    "sizes_write": ({}, {}),
    "sizes_read": ({}, {}),
    "atomics": ({}, {}),
    "imm": ({"rdma_sends": 3}, {"rdma_recvs": 6}),
    "rnr": ({"rdma_sends": 1}, {"rdma_recvs": 1}),
    "rnr_exceeded": ({"retry_rnr_exceeded_err": 1, "req_rnr_retries_exceeded": 1,
                      "req_cqe_error": 1, "rdma_sends": 1}, {}),
    "bad_rkey_write": ({"req_remote_access_errors": 1, "req_cqe_error": 1,
                        "req_cqe_flush_error": 1}, {"resp_remote_access_errors": 1}),
    "bad_rkey_read": ({"req_remote_access_errors": 1, "req_cqe_error": 1},
                      {"resp_remote_access_errors": 1}),
    "no_perm_write": ({"req_remote_invalid_request": 1, "req_cqe_error": 1}, {}),
    "send_too_long": ({"req_remote_invalid_request": 1, "req_cqe_error": 1, "rdma_sends": 1},
                      {"resp_local_length_error": 1, "resp_cqe_error": 1, "bad_state": 2}),
    "timeout": ({"local_ack_timeout_err": 4, "retry_exceeded_err": 1,
                 "req_transport_retries_exceeded": 1, "completer_retry_err": 3,
                 "req_cqe_error": 1, "rdma_sends": 1},
                {"bad_state": 4, "duplicate_request": 0}),
}


def measure(lab, scenario):
    """Moved counters of both, but those by priority, and the packets."""
    before = [counters(h) for h in (lab.a, lab.b)]
    requests, answers = captured(lab, scenario)
    after = [counters(h) for h in (lab.a, lab.b)]
    return [{k: y[k] - x[k] for k in y if y[k] != x[k] and "_prio" not in k}
            for x, y in zip(before, after)] + [requests, answers]


def from_capture(requests, answers):
    """What packets alone say: of the requester, of the responder."""
    rnr, seq = with_class(answers, 1), with_class(answers, 3, 0)
    # Behind an RNR NAK comes the rest of its message, beyond what is expected.
    # None of it was kept: the connection has taken no packet yet, so it does not
    # know the peer's port. What comes after the wait is no duplicate.
    refused = {p.psn for p in answers if p.syndrome is not None and p.syndrome >> 5 == 1}
    rest = [p.psn for p in requests if refused and p.psn not in refused]
    again = 0 if refused else len(requests) - len(once(requests))
    asks = {"sent_pkts": len(requests), "rcvd_pkts": len(answers), "rcvd_rnr_err": rnr,
            "rcvd_seq_err": seq, "packet_seq_err": seq}
    serves = {"sent_pkts": len(answers), "rcvd_pkts": len(requests), "send_rnr_err": rnr,
              "out_of_buffer": rnr, "out_of_seq_request": seq,
              "duplicate_request": again,
              "out_of_sequence": len(rest) - len(set(rest))}
    return asks, serves


@pytest.mark.parametrize("scenario", MOVES)
def test_counters(wire, scenario):
    asker, server, requests, answers = measure(wire, scenario)
    asks, serves = from_capture(requests, answers)
    refused = scenario.startswith(("bad", "no_perm"))
    print(asker, server, asks, serves, sep="\n")
    asks.update(MOVES[scenario][0])
    serves.update(MOVES[scenario][1])
    # Of RNR NAKs all but the last too many led to a wait.
    asks["rnr_nak_retry_err"] = asks["rcvd_rnr_err"] - asks.get("retry_rnr_exceeded_err", 0)
    if not refused:
        serves["rx_write_requests"] = messages(requests, OPENS_WRITE)
    serves["rx_read_requests"] = messages(requests, OPENS_READ) - (scenario == "bad_rkey_read")
    serves["rx_atomic_requests"] = messages(requests, OPENS_ATOMIC)
    # On a slow machine an early probe may go out: it is counted as one.
    early = asker.get("roce_adp_retrans", 0)
    asks["roce_adp_retrans"] = early
    asks["completer_retry_err"] = asks.get("completer_retry_err", 0) + early
    # Nor has it read the last packet each time when the queue pair is destroyed.
    if scenario == "timeout" and (late := server.get("bad_qpn", 0)):
        serves.update(bad_qpn=late, bad_state=serves["bad_state"] - late)
    assert asker == {k: v for k, v in asks.items() if v}
    assert server == {k: v for k, v in serves.items() if v}


# ---- strange packets ----


def roce(src, dst, bth):
    """An UDP datagram of RoCE with its ICRC, which covers the IPv4 header that
    a socket with DF and without connection makes: identification 0."""
    udp = PORT.to_bytes(2, "big") + (4791).to_bytes(2, "big") + \
        (8 + len(bth) + 4).to_bytes(2, "big") + b"\xff\xff"
    ip = b"\x45\xff" + (20 + 8 + len(bth) + 4).to_bytes(2, "big") + b"\0\0\x40\0" + \
        b"\xff\x11\xff\xff" + socket.inet_aton(src) + socket.inet_aton(dst)
    masked = bytearray(bth)
    masked[4] = 0xff
    return bth + zlib.crc32(b"\xff" * 8 + ip + udp + masked).to_bytes(4, "little")


# Sent from a to b's port 4791: (name, BTH and what follows, ICRC as it should be).
PORT = 50000
RC_SEND = b"\x04\x00\xff\xff\x00\x7f\xff\xff\x00\x00\x00\x01"
UD_SEND = b"\x64\x00\xff\xff\x00\x00\x00\x01\x00\x00\x00\x01" + \
    b"\x12\x34\x56\x78\x00\x00\x00\x07" + bytes(256)
STRANGE = [
    ("bad_qpn", RC_SEND, True), ("rx_icrc_encapsulated", RC_SEND, False),
    ("bad_opcode", b"\x1f" + RC_SEND[1:], True),
    ("bad_opcode", RC_SEND[:1] + b"\x01" + RC_SEND[2:], True),  # header version 1
    ("bad_length", b"\x11" + RC_SEND[1:], True),  # an ACK without its AETH
    ("bad_length", RC_SEND[:1] + b"\x30" + RC_SEND[2:], True),  # pad of nothing
    ("bad_pkey", RC_SEND[:2] + b"\x12\x34" + RC_SEND[4:], True),
    ("bad_qkey", UD_SEND, True),
]
SEND = f"""
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER: DF, identification 0
s.bind(("", {PORT}))
s.sendto(bytes.fromhex(sys.argv[1]), (sys.argv[2], 4791))
"""


ICRC = 4


@pytest.mark.parametrize("number", range(len(STRANGE)),
                         ids=[f"{i}-{s[0]}" for i, s in enumerate(STRANGE)])
def test_refused(wire, number):
    """Each counts once, under its name and no other, and is said in the log."""
    name, bth, good = STRANGE[number]
    data = roce(wire.a.addr4, wire.b.addr4, bth)
    if not good:
        data = data[:-1] + bytes([data[-1] ^ 1])
    before, log = counters(wire.b), len(wire.b.device.text())

    def moved():
        after = counters(wire.b)
        return {k: after[k] - before[k] for k in after if after[k] != before[k]}

    def said():
        """A line may have been said within this second: ask again."""
        wire.a.bare("/usr/bin/python3", "-c", SEND, data.hex(), wire.b.addr4).wait()
        return f"packets refused: {name} " in wire.b.device.text()[log:]

    p = wire.a.bare("/usr/bin/python3", "-c", SEND, data.hex(), wire.b.addr4)
    assert p.wait() == 0, p.report()
    want = {name: 1}
    if good:
        want |= {"rcvd_pkts": 1, "rx_prio0_packets": 1, "rx_prio0_bytes": len(data) - ICRC}
    wait_for("the counter", moved)
    assert moved() == want
    if name != "bad_qpn":  # what every end of a connection may bring
        wait_for("the log", said, step=0.2)


TWICE = leaving("twice", "dup to eth0")
MARK = leaving("marked", "ip ecn set ce")
LOSE = leaving("lose", "numgen inc mod 7 == 3 counter drop")


@pytest.fixture
def rules(wire):
    """Rules for what leaves a, in force for one test."""
    made = []

    def put(text):
        wire.a.nft(text)
        made.append(text.split()[2])
    yield put
    for name in made:
        wire.a.nft(f"delete table netdev {name}")


def test_duplicates(wire, rules):
    rules(TWICE)
    asker, server, requests, answers = measure(wire, "sizes_send")
    again = len(requests) - len(once(requests))
    assert again >= len(requests) / 2
    assert server["duplicate_request"] == again
    assert server["rcvd_pkts"] == len(requests)
    assert asker["rcvd_pkts"] == server["sent_pkts"] == len(answers)
    assert len(once(requests)) <= asker["sent_pkts"] <= len(requests) / 2


def test_lost(wire, rules):
    """Messages of four packets and a loss of each seventh: wherever that is
    when the first leaves, some messages have a gap. A NAK tells of it, where
    the server gets to send that before an early probe fills the gap."""
    rules(LOSE)
    asker, server, requests, answers = measure(wire, "long_sends")
    naks = with_class(answers, 3, 0)
    assert server["out_of_sequence"] >= server.get("out_of_seq_request", 0) == naks
    assert asker.get("rcvd_seq_err", 0) == asker.get("packet_seq_err", 0) == naks
    out = wire.a.bare("nft", "list", "ruleset")
    out.wait()
    lost = int(out.text().split("counter packets ")[1].split()[0])
    assert asker["sent_pkts"] == len(requests) + lost
    # By a NAK, an early probe, or a timeout; not each of them led to asking
    # again: that may just have been done.
    assert 0 < asker["completer_retry_err"] <= naks + asker.get("roce_adp_retrans", 0) + \
        asker.get("local_ack_timeout_err", 0)


def test_marked(wire, rules):
    """ECN: what a switch marked, and what came of it."""
    rules(MARK)
    asker, server, requests, answers = measure(wire, "sizes_send")
    cnps = [p for p in requests + answers if p.opcode == CNP]
    marked = [p for p in requests if p.tos & 3 == 3]
    assert len(marked) == len(requests) - len(cnps) == server["np_ecn_marked_roce_packets"]
    assert cnps and all(str(p.src) == wire.b.addr4 for p in cnps)
    assert server["np_cnp_sent"] == asker["rp_cnp_handled"] == len(cnps)

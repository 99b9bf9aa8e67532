# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Corner cases and errors: what the applications on both sides see must be
what they see between two Soft-RoCE hosts, or differ for a stated reason."""
import json
import threading

import pytest

import grh
import guest as g
import races
from test_verbs import DIRECTIONS, direction_id

SUCCESS, LOC_LEN, LOC_QP_OP, WR_FLUSH = 0, 1, 2, 5
REM_INV_REQ, REM_ACCESS, REM_OP, RETRY_EXC, RNR_EXC = 9, 10, 11, 12, 13

# Scenario: statuses of the requester's completions, of the responder's.
GOOD = 14 * [SUCCESS]
EXPECT = {
    "sizes_send": (GOOD, GOOD),
    "sizes_write": (GOOD, []),
    "sizes_read": (GOOD, []),
    "imm": (6 * [SUCCESS], 6 * [SUCCESS]),
    "atomics": (3 * [SUCCESS], []),
    "mixed_batch": (6 * [SUCCESS], 2 * [SUCCESS]),
    "rnr": ([SUCCESS], [SUCCESS]),
    "rnr_exceeded": ([RNR_EXC], []),
    "bad_rkey_write": ([REM_ACCESS, WR_FLUSH], []),
    "bad_rkey_read": ([REM_ACCESS], []),
    "oob_write": ([REM_ACCESS], []),
    "oob_read": ([REM_ACCESS], []),
    "no_perm_write": ([SUCCESS, REM_INV_REQ], []),
    "retry_exceeded": ([RETRY_EXC], []),
}
# A message longer than the receive: Soft-RoCE answers remote operational error
# and completes the receive with a QP operation error. Ours: invalid request, as
# Linux's hfi1 and qib, and a local length error, which is for just that.
TOO_LONG = {"rxe": ([REM_OP], [LOC_QP_OP]), "uroce": ([REM_INV_REQ], [LOC_LEN])}

# What else than packets Soft-RoCE's counters count: of the requester, of the
# responder. Both devices must count it so, whichever part they have.
SCHEDULE = ("completer_retry_err", "duplicate_request", "ack_deferred")
COUNTED = {
    "sizes_send": ({"rdma_sends": 14}, {"rdma_recvs": 14}),
    "imm": ({"rdma_sends": 3}, {"rdma_recvs": 6}),
    "mixed_batch": ({"rdma_sends": 2}, {"rdma_recvs": 2}),
    "rnr_exceeded": ({"rdma_sends": 1, "rcvd_rnr_err": 3, "retry_rnr_exceeded_err": 1},
                     {"send_rnr_err": 3}),
    "retry_exceeded": ({"rdma_sends": 1, "retry_exceeded_err": 1}, {}),
    "send_too_long": ({"rdma_sends": 1}, {}),
}


def check_counters(name, direction, moved):
    asks, serves = (moved[direction[i]] for i in (1, 0))
    packets = {}
    for who in direction:
        packets[who] = [moved[who].pop(n, 0) for n in ("sent_pkts", "rcvd_pkts")]
    # What comes to a queue pair in error Soft-RoCE does not count.
    assert packets[direction[0]][0] == packets[direction[1]][1], packets
    assert packets[direction[1]][0] >= packets[direction[0]][1], packets
    if name == "rnr":
        # As many as the wait took; then the rest of the message was beyond.
        assert asks.pop("rcvd_rnr_err") == serves.pop("send_rnr_err")
        for who, names in (asks, ["rcvd_seq_err"]), (serves, ["out_of_seq_request"]):
            for n in names:
                who.pop(n, 0)
        assert (asks, serves) == ({"rdma_sends": 1}, {"rdma_recvs": 1})
    else:
        assert (asks, serves) == COUNTED.get(name, ({}, {}))


def lines(out):
    return [json.loads(x) for x in out.splitlines() if x.startswith("{")]


def path(program):
    return {"rxe": f"/uroce/tests/interop/{program}", "uroce": f"{g.HERE}/{program}"}


def run(hosts, direction, name, ip):
    server, client = (hosts[h] for h in direction)
    peer = path("peer.py")
    cmd = "/usr/bin/python3 {} {{}} " + name + " {} {} {}"
    s = cmd.format(peer[server.kind], server.device, server.gid[ip], "").format("server")
    c = cmd.format(peer[client.kind], client.device, client.gid[ip],
                   server.addr[4]).format("client")
    src, sout, crc, cout = g.pair(server, client, s, c, 7777)
    assert src == 0 and crc == 0, f"client {crc}:\n{cout}\nserver {src}:\n{sout}"
    return lines(sout), lines(cout)


def statuses(ls):
    return [x["status"] for x in ls if "status" in x]


@pytest.mark.parametrize("ip", [4, 6])
@pytest.mark.parametrize("direction", DIRECTIONS, ids=direction_id)
@pytest.mark.parametrize("name", list(EXPECT) + ["send_too_long"])
def test_corner(hosts, name, direction, ip):
    want = EXPECT.get(name) or TOO_LONG[direction[0]]
    before = {k: h.counters() for k, h in hosts.items() if ip == 4}
    slines, clines = run(hosts, direction, name, ip)
    after = {k: h.counters() for k, h in hosts.items() if ip == 4}
    assert not any("lost" in x for x in clines), clines
    assert statuses(clines) == want[0], clines
    assert statuses(slines) == want[1], slines
    if name == "imm":
        got = [(x["len"], x["imm"]) for x in slines if "status" in x][:5]
        assert [i for _, i in got] == [0xabcd0000 + i for i in range(5)], got
    if name == "atomics":
        # The swap of the first operation, plus 5.
        assert int.from_bytes(bytes.fromhex(slines[-1]["mem"])[:8], "little") == \
            0x1122334455667788 + 5
    if ip == 4 and after["rxe"]["frames_lost"] == before["rxe"]["frames_lost"]:
        known = set(after["rxe"]) & set(after["uroce"]) - set(SCHEDULE)
        check_counters(name, direction, {
            k: {n: after[k][n] - before[k][n] for n in known if after[k][n] != before[k][n]}
            for k in hosts})


def datagram(server, client, ip):
    ud = path("ud.py")
    cmd = "/usr/bin/python3 {} {} {} {} {}"
    src, sout, crc, cout = g.pair(
        server, client, cmd.format(ud[server.kind], "server", server.device, server.gid[ip], ""),
        cmd.format(ud[client.kind], "client", client.device, client.gid[ip], server.addr[4]), 7778)
    assert src == 0 and crc == 0, f"client {crc}:\n{cout}\nserver {src}:\n{sout}"
    return sout, cout


@pytest.mark.parametrize("ip", [4, 6])
@pytest.mark.parametrize("direction", DIRECTIONS, ids=direction_id)
def test_datagram(hosts, clean_wire, direction, ip):
    """The 40 bytes before a datagram's payload, and an answer by a handle that
    is made of them. Soft-RoCE sends no flow label, and Linux takes the hop
    limit of its route."""
    server, client = (hosts[h] for h in direction)
    sout, cout = g.unless_lost([hosts["rxe"]], lambda: datagram(server, client, ip))
    ours = client.kind == "uroce"
    grh.check(sout, ip, client.addr[ip], server.addr[ip], label=ours * grh.LABEL,
              hops=grh.HOPS if ours else 64, sl=None if server.kind == "uroce" else 0)
    grh.check(cout, ip, server.addr[ip], client.addr[ip], label=0, hops=64,
              sl=None if ours else 0)


SILENT = 10


def silent(device, done, seen):
    """Ask once a second, until done, how many packets have come."""
    while not done.wait(1):
        seen.append(device.counters().get("rcvd_pkts", 0))


def run_watched(hosts, direction):
    """The scenario of loss; and whether Soft-RoCE, as requester, sent nothing
    for SILENT seconds and more before its program gave up without an error.
    A requester repeats what is not answered after its timeout (here 134 ms), so
    that is Soft-RoCE's own end: seen where an acknowledgement of packets that
    we had kept came in the middle of its repeating them."""
    done, seen = threading.Event(), []
    watch = threading.Thread(target=silent, args=(hosts["uroce"], done, seen))
    watch.start()
    try:
        slines, clines = run(hosts, direction, "loss", 4)
    finally:
        done.set()
        watch.join()
    got = statuses(clines)
    last = seen[-SILENT:]
    stuck = (direction[1] == "rxe" and len(got) < 40 and not any(got) and
             len(last) == SILENT and len(set(last)) == 1)
    return slines, clines, stuck


@pytest.mark.parametrize("direction", DIRECTIONS, ids=direction_id)
def test_loss(hosts, direction):
    """A fifth of the frames that the guest sends to port 4791 is lost."""
    rxe = hosts["rxe"]
    rc, out = rxe.run(
        "modprobe sch_netem sch_prio cls_u32; modprobe sch_prio; modprobe cls_u32; "
        "tc qdisc add dev eth0 root handle 1: prio && "
        "tc qdisc add dev eth0 parent 1:3 handle 30: netem loss 20% && "
        "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 "
        "match ip dport 4791 0xffff flowid 1:3")
    assert rc == 0, out
    try:
        for _ in range(races.TRIES):
            slines, clines, stuck = run_watched(hosts, direction)
            if not stuck:
                break
            print("Soft-RoCE fell silent; once more")
        assert statuses(clines) == 40 * [SUCCESS]
        assert statuses(slines) == 10 * [SUCCESS]
    finally:
        rxe.run("tc qdisc del dev eth0 root")


def cell(params):
    return {"program": "peer.py " + params["name"], "args": "", "server": params["direction"][0],
            "ip": params["ip"]}


def shows(params):
    """Each side's answers once, whichever operation has them."""
    name = params["name"]
    if name.startswith(("bad_rkey", "oob")):
        name = "access"
    elif name.startswith("sizes"):
        name = "sizes"
    return {**params, "name": name}.items()


test_corner.cell = cell
test_corner.shows = shows
test_datagram.shows = dict.items
test_datagram.cell = lambda params: cell({"name": "", **params}) | {"program": "ud.py"}

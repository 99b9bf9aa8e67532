#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""RC corner cases between two hosts through pyverbs.

    peer.py server NAME DEVICE GID_INDEX
    peer.py client NAME DEVICE GID_INDEX SERVER_ADDRESS

The client posts the scenario's work requests one by one and prints each
completion as a line of JSON; the server posts receives and prints its own.
A scenario that stays keeps its queue pair on both sides until SIGUSR1."""
import json
import random
import signal
import socket
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

SEND, SEND_IMM = e.IBV_WR_SEND, e.IBV_WR_SEND_WITH_IMM
WRITE, WRITE_IMM = e.IBV_WR_RDMA_WRITE, e.IBV_WR_RDMA_WRITE_WITH_IMM
READ, INV = e.IBV_WR_RDMA_READ, e.IBV_WR_SEND_WITH_INV
CAS, FAA = e.IBV_WR_ATOMIC_CMP_AND_SWP, e.IBV_WR_ATOMIC_FETCH_AND_ADD
ALL = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ |
       e.IBV_ACCESS_REMOTE_ATOMIC)
SIZE = 1 << 16
LENGTHS = [0, 1, 2, 3, 4, 5, 6, 7, 1023, 1024, 1025, 2046, 2048, 3001]
# Those of the messages in tests/golden/rc_sizes_*.pcap.
GOLDEN = [0, 1, 2, 3, 4, 1023, 1024, 1025, 2048, 3001]
CAS_OP, FAA_OP = {"cmp": 0, "swap": 0x1122334455667788}, {"cmp": 5, "swap": 0}

# recv: sizes of the receives; ops: (opcode, length, extra)
SCENARIOS = {
    "sizes_send": dict(recv=[4096] * len(LENGTHS), ops=[(SEND, n, {}) for n in LENGTHS]),
    "stays": dict(recv=[4096] * len(LENGTHS), ops=[(SEND, n, {}) for n in LENGTHS], stays=True),
    "long_sends": dict(recv=[4096] * 10, ops=[(SEND, 4096, {})] * 10),
    "sizes_write": dict(ops=[(WRITE, n, {}) for n in LENGTHS]),
    "sizes_read": dict(ops=[(READ, n, {}) for n in LENGTHS]),
    "golden_send": dict(recv=[4096] * len(GOLDEN), ops=[(SEND, n, {}) for n in GOLDEN]),
    "golden_write": dict(ops=[(WRITE, n, {}) for n in GOLDEN]),
    "golden_read": dict(ops=[(READ, n, {}) for n in GOLDEN]),
    "imm": dict(recv=[4096] * 6, ops=[
        (SEND_IMM, 10, {}), (SEND_IMM, 3000, {}), (WRITE_IMM, 0, {}), (WRITE_IMM, 10, {}),
        (WRITE_IMM, 3000, {}), (SEND, 4, {"flags": e.IBV_SEND_SOLICITED})]),
    "atomics": dict(ops=[(CAS, 8, CAS_OP), (CAS, 8, {"cmp": 1, "swap": 2}), (FAA, 8, FAA_OP)]),
    "mixed_batch": dict(batch=True, recv=[4096] * 2, ops=[
        (SEND, 100, {}), (WRITE, 3000, {}), (READ, 3000, {}), (FAA, 8, FAA_OP), (READ, 8, {}),
        (SEND_IMM, 3000, {})]),
    "rnr": dict(recv=[4096], delay=0.4, ops=[(SEND, 3000, {})], min_rnr_timer=22),
    "rnr_exceeded": dict(ops=[(SEND, 64, {})], rnr_retry=2, min_rnr_timer=18),
    "bad_rkey_write": dict(ops=[(WRITE, 64, {"rkey": 0x1234}), (WRITE, 8, {})]),
    "bad_rkey_read": dict(ops=[(READ, 64, {"rkey": 0x1234})]),
    "oob_write": dict(ops=[(WRITE, 3000, {"addr": SIZE - 2000})]),
    "oob_read": dict(ops=[(READ, 3000, {"addr": SIZE - 2000})]),
    "no_perm_write": dict(access=e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ,
                          ops=[(READ, 64, {}), (WRITE, 64, {})]),
    "send_too_long": dict(recv=[100], ops=[(SEND, 3000, {})]),
    "retry_exceeded": dict(ops=[(SEND, 64, {})], dead=True, timeout=14, retry_cnt=3),
    # The first fails; what is behind it is flushed on both sides.
    "flushed": dict(batch=True, recv=[100, 4096, 4096], ops=[(SEND, 3000, {})] * 3),
    "reads": dict(batch=True, ops=[(READ, 3000, {})] * 12),
    # What stands around the packets, as the address handle asks for it.
    "route": dict(recv=[4096] * 3, ops=[
        (SEND, 100, {"flags": e.IBV_SEND_SOLICITED}), (SEND, 3000, {}), (WRITE, 3000, {}),
        (READ, 3000, {}), (FAA, 8, FAA_OP), (SEND, 3000, {"flags": e.IBV_SEND_SOLICITED})],
        route=dict(traffic_class=0x6a, flow_label=0x12345, hop_limit=33)),
    # As route, of a traffic class that no other scenario has.
    "held": dict(recv=[4096], ops=[(SEND, 3000, {})],
                 route=dict(traffic_class=0x20, flow_label=0x2345, hop_limit=33)),
    "timeout": dict(ops=[(SEND, 64, {})], dead=True, timeout=8, retry_cnt=3),
    "loss": dict(recv=[4096] * 10, timeout=15, ops=(
        [(WRITE, 8192, {})] * 10 + [(READ, 8192, {})] * 10 + [(SEND, 3000, {})] * 10 +
        [(FAA, 8, FAA_OP)] * 10)),
}


def pattern(server):
    return bytes(8) + bytes((i * 7 + (1 if server else 101)) & 255 for i in range(8, 4096))


def say(**what):
    print(json.dumps(what), flush=True)


def main():
    role, name, device, gid_index = sys.argv[1:5]
    gid_index = int(gid_index)
    scene = SCENARIOS[name]
    server = role == "server"
    if scene.get("stays"):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    if server:
        listener = socket.create_server(("", 7777))
        sock, _ = listener.accept()
    else:
        for _ in range(200):
            try:
                sock = socket.create_connection((sys.argv[5], 7777))
                break
            except OSError:
                time.sleep(0.1)
    chan = sock.makefile("rw")

    def tell(x):
        chan.write(json.dumps(x) + "\n")
        chan.flush()

    def hear():
        return json.loads(chan.readline())

    ctx = Context(name=device)
    pd, cq = PD(ctx), CQ(ctx, 128)
    access = scene.get("access", ALL) if server else ALL
    mr = MR(pd, SIZE, access)
    mr.write(pattern(server), 4096, 0 if server else 4096)
    init = QPAttr(port_num=1)
    init.qp_access_flags = access
    cap = QPCap(max_send_wr=64, max_recv_wr=64, max_send_sge=1, max_recv_sge=1)
    qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=cap, sq_sig_all=1), init)
    me = dict(qpn=qp.qp_num, psn=random.getrandbits(24), gid=str(ctx.query_gid(1, gid_index)),
              rkey=mr.rkey, addr=mr.buf)
    tell(me)
    you = hear()
    attr = QPAttr(port_num=1)
    attr.qp_access_flags = access
    attr.path_mtu = e.IBV_MTU_1024
    attr.dest_qp_num, attr.rq_psn, attr.sq_psn = you["qpn"], you["psn"], me["psn"]
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 4
    attr.min_rnr_timer = scene.get("min_rnr_timer", 12)
    attr.timeout = scene.get("timeout", 18)
    attr.retry_cnt = scene.get("retry_cnt", 7)
    attr.rnr_retry = scene.get("rnr_retry", 7)
    route = GlobalRoute(dgid=GID(you["gid"]), sgid_index=gid_index,
                        **scene.get("route", {"hop_limit": 64}))
    attr.ah_attr = AHAttr(port_num=1, is_global=1, gr=route)
    if not (server and scene.get("dead")):
        qp.to_rts(attr)

    def poll(n, seconds):
        got, end = 0, time.monotonic() + seconds
        while got < n and time.monotonic() < end:
            k, wcs = cq.poll(16)
            for w in wcs:
                say(id=w.wr_id, status=w.status, opcode=w.opcode, len=w.byte_len,
                    flags=w.wc_flags, imm=w.imm_data)
            got += k
            if not k:
                time.sleep(0.0005)  # the emulated one has the same processors
        return got

    def stay():
        if scene.get("stays"):
            signal.sigwait([signal.SIGUSR1])

    def receives():
        for i, n in enumerate(scene.get("recv", [])):
            qp.post_recv(RecvWR(wr_id=1000 + i, num_sge=1,
                                sg=[SGE(mr.buf + 8192 + 4096 * (i % 10), n, mr.lkey)]))

    def post(i, op, n, extra):
        wr = SendWR(wr_id=i, opcode=op, num_sge=1, imm_data=0xabcd0000 + i,
                    send_flags=e.IBV_SEND_SIGNALED | extra.get("flags", 0),
                    sg=[SGE(mr.buf + 4096, n, mr.lkey)])
        rkey, addr = extra.get("rkey", you["rkey"]), you["addr"] + extra.get("addr", 0)
        if op in (WRITE, WRITE_IMM, READ):
            wr.set_wr_rdma(rkey, addr)
        if op in (CAS, FAA):
            wr.set_wr_atomic(rkey, addr, extra["cmp"], extra["swap"])
        qp.post_send(wr)

    if server:
        if not scene.get("delay"):
            receives()
        tell("go")
        if scene.get("delay"):
            time.sleep(scene["delay"])
            receives()
        hear()
        poll(len(scene.get("recv", [])), 1)
        say(mem=mr.read(32, 0).hex())
        stay()
        return
    hear()
    for i, (op, n, extra) in enumerate(scene["ops"]):
        try:
            post(i, op, n, extra)
        except PyverbsError as ex:
            say(id=i, post=str(ex))
            break
        if not scene.get("batch") and not poll(1, 20):
            say(id=i, lost=True)
            break
    if scene.get("batch"):
        poll(len(scene["ops"]), 20)
    say(mem=mr.read(16, 4096).hex())
    tell("bye")
    stay()


main()

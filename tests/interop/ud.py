#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A datagram and its answer, as verbs show them; through pyverbs.

    ud.py server DEVICE GID_INDEX
    ud.py client DEVICE GID_INDEX SERVER_ADDRESS

The client sends with every field of the address handle set. The server answers
through a handle that ibv_create_ah_from_wc() makes of what came. Each prints
its completion and the 40 bytes before the payload as a line of JSON."""
import json
import socket
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AH, GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

ROUTE = dict(traffic_class=0x6a, flow_label=0x54321, hop_limit=33)
SL, QKEY, PORT, GRH, BYTES = 3, 0x1234567, 7778, 40, 77


def connect(address):
    for _ in range(200):
        try:
            return socket.create_connection((address, PORT))
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{address} does not listen")


def main():
    server = sys.argv[1] == "server"
    gid_index = int(sys.argv[3])
    sock = socket.create_server(("", PORT)).accept()[0] if server else connect(sys.argv[4])
    chan = sock.makefile("rw")

    def tell(x):
        chan.write(json.dumps(x) + "\n")
        chan.flush()

    def hear():
        return json.loads(chan.readline())

    ctx = Context(name=sys.argv[2])
    pd, cq = PD(ctx), CQ(ctx, 16)
    mr = MR(pd, 8192, e.IBV_ACCESS_LOCAL_WRITE)
    mr.write(b"\xaa" * 8192, 8192)
    cap = QPCap(max_send_wr=4, max_recv_wr=4, max_send_sge=1, max_recv_sge=1)
    qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_UD, scq=cq, rcq=cq, cap=cap, sq_sig_all=1))
    attr = QPAttr(port_num=1)
    attr.qkey = QKEY
    qp.to_rts(attr)
    qp.post_recv(RecvWR(wr_id=1, num_sge=1, sg=[SGE(mr.buf, 4096, mr.lkey)]))

    came = {}

    def poll(wr_id):
        # The answer may be here before the completion of what it answers.
        end = time.monotonic() + 10
        while wr_id not in came:
            if time.monotonic() > end:
                raise SystemExit(f"no completion {wr_id}, only {list(came)}")
            for wc in cq.poll(1)[1]:
                assert wc.status == 0, wc
                came[wc.wr_id] = wc
        return came[wr_id]

    def receive():
        wc = poll(1)
        print(json.dumps({
            "wc": {n: getattr(wc, n) for n in (
                "opcode", "byte_len", "imm_data", "qp_num", "src_qp", "wc_flags",
                "pkey_index", "slid", "sl", "dlid_path_bits")},
            "grh": mr.read(GRH, 0).hex(), "data": mr.read(BYTES, GRH).hex()}), flush=True)
        return wc

    def send(ah, qpn):
        mr.write(bytes(range(1, BYTES + 1)), BYTES, 4096)
        wr = SendWR(wr_id=2, opcode=e.IBV_WR_SEND_WITH_IMM, num_sge=1, imm_data=0xabcd1234,
                    send_flags=e.IBV_SEND_SIGNALED, sg=[SGE(mr.buf + 4096, BYTES, mr.lkey)])
        wr.set_wr_ud(ah, qpn, QKEY)
        qp.post_send(wr)
        poll(2)

    tell({"qpn": qp.qp_num, "gid": str(ctx.query_gid(1, gid_index))})
    you = hear()
    print(json.dumps({"me": qp.qp_num, "you": you["qpn"]}), flush=True)
    if server:
        wc = receive()
        send(AH(pd, wc=wc, grh=mr.buf, port_num=1), wc.src_qp)
        hear()
        return
    route = GlobalRoute(dgid=GID(you["gid"]), sgid_index=gid_index, **ROUTE)
    send(AH(pd, attr=AHAttr(port_num=1, is_global=1, sl=SL, gr=route)), you["qpn"])
    receive()
    tell("bye")


if __name__ == "__main__":
    main()

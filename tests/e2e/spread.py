# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A queue pair that spreads frames over work queues: run with pyverbs on a
host. Says "ready", takes as many frames as asked for, and prints a JSON list:
for each work queue the source ports of its frames, in order.

    spread.py MAC FIELDS LOG_SIZE FRAMES"""
import json
import sys

import pyverbs.enums as e
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.flow import Flow, FlowAttr
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QPEx, QPInitAttrEx
from pyverbs.spec import EthSpec
from pyverbs.wq import (WQ, RwqIndTable, RwqIndTableInitAttr, RxHashConf,
                        WQAttr, WQInitAttr)
from pyverbs.wr import SGE, RecvWR

KEY = [0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d,
       0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4,
       0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b,
       0xbe, 0xac, 0x01, 0xfa]
BYTES = 2048


def ports_of(mr, slot):
    """Of a frame of IPv4 without options."""
    return int.from_bytes(mr.read(2, slot * BYTES + 34), "big")


def main(mac, fields, log_size, frames):
    ctx = Context(name="uroce0")
    caps = ctx.query_device_ex().rss_caps
    assert caps.supported_qpts == 1 << e.IBV_QPT_RAW_PACKET, caps.supported_qpts
    assert caps.rx_hash_function == e.IBV_RX_HASH_FUNC_TOEPLITZ
    assert caps.rx_hash_fields_mask & fields == fields
    assert caps.max_rwq_indirection_table_size >= 1 << log_size
    pd, size = PD(ctx), 1 << log_size
    cqs = [CQ(ctx, frames) for _ in range(size)]
    mr = MR(pd, size * frames * BYTES, e.IBV_ACCESS_LOCAL_WRITE)
    queues = [WQ(ctx, WQInitAttr(wq_context=None, wq_pd=pd, wq_cq=cq,
                              wq_type=e.IBV_WQT_RQ, max_wr=frames, max_sge=1,
                              comp_mask=0, create_flags=0)) for cq in cqs]
    for i, wq in enumerate(queues):
        wq.modify(WQAttr(attr_mask=e.IBV_WQ_ATTR_STATE, wq_state=e.IBV_WQS_RDY))
        for slot in range(i * frames, (i + 1) * frames):
            wq.post_recv(RecvWR(wr_id=slot, num_sge=1, sg=[
                SGE(mr.buf + slot * BYTES, BYTES, mr.lkey)]), None)
    table = RwqIndTable(ctx, RwqIndTableInitAttr(log_size, queues))
    mask = (e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_RX_HASH |
            e.IBV_QP_INIT_ATTR_IND_TABLE)
    # pyverbs takes the key along when this goes.
    conf = RxHashConf(rx_hash_function=e.IBV_RX_HASH_FUNC_TOEPLITZ,
                      rx_hash_key_len=len(KEY), rx_hash_key=KEY,
                      rx_hash_fields_mask=fields)
    qp = QPEx(ctx, QPInitAttrEx(qp_type=e.IBV_QPT_RAW_PACKET, comp_mask=mask,
                                pd=pd, ind_table=table, hash_conf=conf))
    attr = FlowAttr(num_of_specs=1, port=1)
    attr.specs.append(EthSpec(dst_mac=mac, ether_type=0x800))
    flow = Flow(qp, attr)
    print("ready", flush=True)
    got = [[] for _ in range(size)]
    while sum(map(len, got)) < frames:
        for i, cq in enumerate(cqs):
            for wc in cq.poll(frames)[1]:
                assert wc.status == e.IBV_WC_SUCCESS, wc.status
                got[i].append(ports_of(mr, wc.wr_id))
    print(json.dumps(got), flush=True)
    flow.close()
    qp.close()
    table.close()
    for wq in queues:
        wq.close()


main(sys.argv[1], *map(int, sys.argv[2:]))

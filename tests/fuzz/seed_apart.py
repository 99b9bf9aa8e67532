#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Seeds for fuzz_apart: short lives of contexts of an engine process, in the form that fuzz_apart.c reads.
usage: seed_apart.py FOLDER"""
import sys

(BEGIN, HAS_GID, USE_GID, HAS_RING, USE_RING, SET_ASYNC, CREATE_CQ, MODIFY_CQ, RESIZE_CQ, DESTROY_CQ, CREATE_SRQ,
 RESIZE_SRQ, LIMIT_SRQ, QUERY_SRQ, DESTROY_SRQ, CREATE_AH, DESTROY_AH, CREATE_QP, OPEN_QP, MAY_MODIFY_QP, MODIFY_QP,
 QUERY_QP, MCAST, DESTROY_QP, REG_MR, REREG_MR, DEREG_MR, ALLOC_MW, DEALLOC_MW, CLAIMED, SET_PARENT, HAS_RAW,
 USE_RAW, MODIFY_WQ, CREATE_FLOW, READ_FLOW, DESTROY_FLOW, DRAIN) = range(1, 39)
ALL_SEALED, SOCKETS, PACKETS = 0x80 | 1 << 3, 0x80 | 3 << 3, 0x80 | 4 << 3
RAW, WORK, SPREAD = 0x80, 0xc0, 0xa0
# Offsets of struct uroce_call_msg.
QP_TYPE, QP_PDN, QP_XRCDN, QP_RECV, MR_FLAGS = 16, 24, 56, 116, 28


def step(kind, context):
    return bytes([3 * kind + context])


def begin(context, told=0, kib=255):
    """A context with all descriptors, and told regions of keys 1 to 4."""
    return step(1, context) + bytes([told, 0, kib]) + (b"\0" if told else b"")


def msg(context, op, number=0, value=0, other=0, fds=0, patches=(), n_wqs=()):
    out = step(5, context) + bytes([op, fds, number, value, other, len(patches)])
    for where, what in patches:
        out += bytes([where, len(what) - 1]) + what
    return out + bytes(n_wqs)


def word(n):
    return n.to_bytes(4, "little")


def hang_up(context):
    return step(0, context)


def bind(context):
    return step(2, context) + b"\0"


def fail(how):
    return step(3, 0) + bytes([how])


QUEUES = begin(0) + msg(0, BEGIN) + msg(0, CREATE_CQ, 7, 9, fds=SOCKETS | 2)
SEEDS = {
    "rings": begin(0) + msg(0, BEGIN) + msg(0, HAS_GID) + msg(0, USE_GID, fds=SOCKETS | 1) + msg(0, USE_GID)
    + msg(0, HAS_RING, 0, 3) + msg(0, USE_RING, fds=ALL_SEALED | 3) + msg(0, USE_RING, fds=3)
    + msg(0, SET_ASYNC, fds=SOCKETS | 3),
    "queues": QUEUES + msg(0, CREATE_SRQ, 0, 0, 4) + msg(0, CREATE_QP, 1, 2, 4) + msg(0, MODIFY_CQ, 1, 5)
    + msg(0, RESIZE_CQ, 1, 5) + msg(0, RESIZE_SRQ, 2, 5) + msg(0, LIMIT_SRQ, 2, 5) + msg(0, QUERY_SRQ, 2)
    + msg(0, MAY_MODIFY_QP, 3) + msg(0, MODIFY_QP, 3) + msg(0, QUERY_QP, 3) + msg(0, DESTROY_CQ, 1)
    + msg(0, DESTROY_SRQ, 2) + msg(0, DRAIN) + msg(0, DESTROY_QP, 3) + msg(0, DESTROY_SRQ, 2) + msg(0, DESTROY_CQ, 1),
    "xrc": QUEUES + msg(0, CREATE_SRQ, 0, 1, 4)
    + msg(0, CREATE_QP, patches=[(QP_TYPE, word(10)), (QP_PDN, word(0)), (QP_XRCDN, word(1))])
    + msg(0, OPEN_QP, patches=[(QP_TYPE, word(10)), (QP_XRCDN, word(1))])
    + msg(0, CREATE_QP, 1, patches=[(QP_TYPE, word(9)), (QP_RECV, word(0))]),
    "groups": QUEUES + msg(0, CREATE_QP, 1, 0, 1) + msg(0, MCAST, 2, 1, 5) + msg(0, MCAST, 2, 1, 5)
    + msg(0, MCAST, 2, 1, 6) + msg(0, MCAST, 2, 0, 5) + msg(0, DESTROY_QP, 2) + msg(0, MCAST, 2, 0, 6)
    + msg(0, DESTROY_QP, 2),
    "regions": begin(0) + msg(0, REG_MR, 0, 7, 1) + msg(0, ALLOC_MW, 0, 1, 1) + bind(0) + msg(0, DEREG_MR, 1)
    + msg(0, REREG_MR, 1, 7, 2) + bind(0) + msg(0, REREG_MR, 1, 7, 2) + msg(0, DEALLOC_MW, 2) + msg(0, DEREG_MR, 1)
    + msg(0, CREATE_AH, 0, 0, 1) + msg(0, DESTROY_AH, 1),
    "parent": begin(0) + msg(0, REG_MR, 0, 7, 1, patches=[(MR_FLAGS, word(32))]) + msg(0, SET_PARENT, 0, 1, fds=1)
    + msg(0, SET_PARENT, 0, 1, fds=1) + msg(0, SET_PARENT) + msg(0, REG_MR, 0, 7, 1, patches=[(MR_FLAGS, word(32))]),
    "told": begin(0, 4) + msg(0, REG_MR, 0, 2, 1) + msg(0, REG_MR, 0, 2, 1) + msg(0, ALLOC_MW, 0, 0, 1) + bind(0)
    + msg(0, CLAIMED) + msg(0, CLAIMED),
    "files": b"".join(begin(i, 2) for i in range(3)) + b"".join(msg(i, REG_MR, 0, 9, 1) for i in range(3))
    + b"".join(msg(i, CREATE_AH, 0, 0, d) for i in range(3) for d in range(3)) + hang_up(1) + msg(0, REG_MR, 0, 1, 1)
    + begin(1) + msg(1, CREATE_AH, 0, 0, 1) + hang_up(0) + hang_up(1) + begin(0) + msg(0, CREATE_AH, 0, 0, 1),
    "ends": begin(0) + begin(2) + step(4, 0) + b"\1" + begin(1) + msg(1, CREATE_AH, 0, 0, 1) + hang_up(0)
    + step(4, 0) + b"\0" + msg(2, CREATE_AH, 0, 0, 1) + fail(1) + begin(0) + begin(0, kib=3) + msg(0, REG_MR, 0, 1, 1)
    + fail(4) + msg(0, REG_MR, 0, 1, 1) + msg(0, CREATE_CQ, 1) + msg(0, CREATE_QP, 2) + msg(0, REG_MR, 0, 1, 1),
    "long": begin(0) + msg(0, BEGIN, fds=6) + (208 + 4).to_bytes(2, "little") + msg(0, BEGIN),
    "raw": QUEUES + msg(0, HAS_RAW) + msg(0, USE_RAW) + msg(0, USE_RAW, fds=SOCKETS | 2)
    + msg(0, USE_RAW, fds=PACKETS | 2) + msg(0, USE_RAW, fds=PACKETS | 2) + msg(0, HAS_RAW)
    + msg(0, CREATE_QP, 1, 0, RAW) + msg(0, CREATE_FLOW, 2, 0) + msg(0, CREATE_FLOW, 2, 3) + msg(0, CREATE_FLOW, 2, 4)
    + msg(0, CREATE_FLOW, 1) + msg(0, READ_FLOW, 3) + msg(0, READ_FLOW, 2) + msg(0, DESTROY_QP, 2)
    + msg(0, DESTROY_FLOW, 3) + msg(0, DESTROY_FLOW, 3) + msg(0, MODIFY_WQ, 2, 1),
    "spread": QUEUES + msg(0, CREATE_QP, 1, 0, WORK) + msg(0, CREATE_QP, 1, 0, WORK) + msg(0, MODIFY_WQ, 2, 1)
    + msg(0, MODIFY_WQ, 2, 3) + msg(0, CREATE_QP, 1, 4, SPREAD, n_wqs=[2, 3, 3, 2])
    + msg(0, CREATE_QP, 1, 3, SPREAD, n_wqs=[2, 3, 3]) + msg(0, CREATE_QP, 1, 2, SPREAD, n_wqs=[2, 4])
    + msg(0, CREATE_QP, 1, 1, SPREAD, n_wqs=[9]) + msg(0, MODIFY_QP, 2) + msg(0, CREATE_FLOW, 2) + msg(0, CREATE_FLOW, 4)
    + msg(0, DESTROY_QP, 3) + fail(1) + msg(0, CREATE_QP, 1, 1, SPREAD, n_wqs=[2]),
    "lies": begin(0) + msg(0, 0) + step(5, 0) + bytes([BEGIN, 6, 0, 1, 0, 0, 0, 0]) + begin(0)
    + msg(0, CREATE_CQ, fds=5) + step(5, 0) + bytes([CLAIMED, 7, 255, 0, 0, 0, 0, 0]),
    # A region is claimed that the program has destroyed by its number; another object has that number then.
    "told_destroyed": begin(0, 4) + msg(0, DEREG_MR, 2) + msg(0, REG_MR, 0, 2, 1),
    "told_replaced": begin(0, 4) + msg(0, DEREG_MR, 2) + msg(0, CREATE_CQ, 1) + msg(0, REG_MR, 0, 2, 1)
    + msg(0, CLAIMED),
    # Was charged beyond the limit, and with a full table ended the process.
    "open_without_room": begin(0, kib=0) + msg(0, OPEN_QP, patches=[(QP_TYPE, word(10)), (QP_XRCDN, word(1))]),
}
for name, steps in SEEDS.items():
    for options in (0, 1, 15) if name == "files" else (0,):
        with open(f"{sys.argv[1]}/{name}" + (str(options) if options else ""), "wb") as f:
            f.write(bytes([options]) + steps)

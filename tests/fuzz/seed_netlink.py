#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Seeds for fuzz_netlink: what `rdma` of iproute2, libibverbs and librdmacm send, and
some that nobody should. usage: seed_netlink.py FOLDER"""
import struct
import sys

ADMIN, USER = b"\1", b"\0"
ACK, DUMP = 1, 2
# <rdma/rdma_netlink.h>
(GET, SET, NEWLINK, DELLINK, PORT_GET, SYS_GET, SYS_SET) = range(1, 8)
(RES_GET, RES_QP, RES_CM_ID, RES_CQ, RES_MR, RES_PD, CHARDEV) = range(9, 16)
STAT_SET, STAT_GET, STAT_DEL, QP_RAW, CQ_RAW, MR_RAW, CTX, SRQ, STAT_STATUS = range(16, 25)
INDEX, NAME, PORT, NDEV, TYPE = 1, 2, 3, 51, 65
TYPE_CHARDEV, STAT_RES, MODE, LIST_QP, LIST_MR = 69, 75, 66, 19, 40
# What an object is asked for by.
NUMBERS = {RES_QP: 21, RES_CM_ID: 63, RES_CQ: 61, RES_MR: 62, RES_PD: 60, CTX: 64, SRQ: 90}


def small(kind, v):
    return bytes([kind, 0, v])


def byte(kind, v):
    return bytes([kind, 8, v])


def told(kind, n):
    return bytes([kind, 2, n])


def text(kind, n):
    return bytes([kind, 3, n])


def raw(kind, data, nested=0):
    return bytes([kind, 4 | nested << 4, len(data)]) + data


DEV = bytes([INDEX, 1, 0])
P1 = small(PORT, 1)
HEAR = b"\2"


def msg(op, *attrs, how=ACK, more=0):
    return bytes([3 | more << 3, how, op, len(attrs)]) + b"".join(attrs)


def bind(port, groups, flags):
    return bytes([1, port, groups, flags])


def seeds():
    yield "get", ADMIN + msg(GET, DEV) + msg(GET, how=DUMP)
    yield "port", ADMIN + msg(PORT_GET, DEV, P1) + msg(PORT_GET, DEV, how=DUMP)
    yield "sys", ADMIN + msg(SYS_GET) + msg(SYS_SET, byte(MODE, 1)) + msg(SYS_SET, byte(MODE, 0))
    yield "chardev", ADMIN + msg(CHARDEV, text(TYPE_CHARDEV, 4), DEV) + msg(CHARDEV, text(TYPE_CHARDEV, 5))
    yield "summary", USER + msg(RES_GET, DEV) + msg(RES_GET, how=DUMP)
    for who, uid in (("admin", ADMIN), ("user", USER)):
        dumps = b"".join(msg(op, DEV, how=DUMP)
                         for op in NUMBERS)
        yield "lists_" + who, uid + dumps
        for op, number in NUMBERS.items():
            one = b"".join(msg(op, DEV, *([P1] if op in (RES_QP, RES_CM_ID) else []), told(number, n))
                           for n in range(14))
            yield f"one_{op}_{who}", uid + msg(op, DEV, how=DUMP) + HEAR + one
    yield "rename", ADMIN + msg(SET, DEV, text(NAME, 6)) + msg(GET, how=DUMP)
    yield "rename_user", USER + msg(SET, DEV, text(NAME, 6))
    yield "rename_bad", ADMIN + msg(SET, DEV, raw(NAME, b"../x\0")) + msg(SET, DEV, raw(NAME, b"\0"))
    yield "dellink", ADMIN + bind(7, 8, 3) + msg(DELLINK, DEV) + msg(GET, how=DUMP)
    yield "newlink", ADMIN + msg(NEWLINK, text(NAME, 6), text(TYPE, 2), text(NDEV, 1))
    yield "dellink_newlink", ADMIN + bind(7, 8, 3) + msg(DELLINK, DEV) + \
        msg(NEWLINK, text(NAME, 6), text(TYPE, 2), text(NDEV, 1)) + msg(GET, how=DUMP)
    yield "statistic", ADMIN + msg(STAT_GET, DEV, P1) + msg(STAT_STATUS, DEV, P1) + \
        msg(STAT_GET, DEV, P1, small(STAT_RES, LIST_QP), how=DUMP) + \
        msg(STAT_GET, DEV, P1, small(STAT_RES, LIST_MR), how=DUMP) + msg(STAT_SET, DEV, P1, raw(80, b"", 1))
    yield "raw", ADMIN + msg(QP_RAW, DEV) + msg(CQ_RAW, DEV, how=DUMP) + msg(MR_RAW, DEV)
    yield "why", ADMIN + bind(1, 0, 3) + msg(GET, raw(INDEX, b"x")) + msg(SET, DEV, small(200, 1))
    yield "several", ADMIN + msg(SYS_GET, more=1) + msg(GET, DEV, more=1) + msg(SYS_GET)
    yield "lies", ADMIN + bytes([3, 0x10, GET, 0]) + struct.pack("<H", 500) + \
        bytes([3, 0, GET, 1, INDEX, 0x20, 1]) + struct.pack("<H", 300)
    yield "garbage", USER + b"\0" + bytes([40]) + bytes(range(40))
    yield "all", ADMIN + b"".join(msg(op, DEV, P1) for op in range(30))
    yield "long", ADMIN + b"".join(msg(GET, raw(200, bytes(250)), raw(200, bytes(250)), raw(200, bytes(250)),
                                       raw(200, bytes(250)), more=1) for _ in range(7)) + msg(SYS_GET)


for seed, content in seeds():
    with open(f"{sys.argv[1]}/{seed}", "wb") as f:
        f.write(content)

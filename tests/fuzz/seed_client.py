#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Seeds for fuzz_client: conversations as libibverbs and librdmacm have them, and
some that end badly. usage: seed_client.py FOLDER
With REPLAY_VERBOSE=1, replay_client tells what each command returned."""
import struct
import sys

ARENA = 0x10000000
UVERBS, CMA = 0, 1
RESPONSE = 8  # the first field is the response's address


def legacy(number, fmt, *values, out=64, how=2 | RESPONSE, udata=b""):
    """A legacy write command. fmt: without the response pointer if there is one."""
    payload = (bytes(8) if how & RESPONSE else b"") + struct.pack("<" + fmt, *values) + udata
    return struct.pack(">BBH", how, number, len(payload)) + payload + bytes([out])


def plain(number, fmt, *values):
    return legacy(number, fmt, *values, how=2, out=0)


def extended(number, fmt, *values, out=16):
    payload = struct.pack("<" + fmt, *values)
    payload += bytes(-len(payload) % 8)
    return struct.pack(">BBH", 4, number, len(payload)) + payload + bytes([out])


def attr(ident, length, kind, value=0, flags=1):
    head = struct.pack(">HHBB", ident, length, flags, kind)
    if kind == 0:
        return head + bytes([value])
    if kind == 2:
        return head + value
    return head


def ioctl(obj, method, *attrs):
    return bytes([0]) + struct.pack(">HHB", obj, method, len(attrs)) + b"".join(attrs)


def scribble(at, data):
    return bytes([6]) + struct.pack(">HB", at, len(data)) + data


def message(op, which=0):
    return bytes([7, op, which])


# Handles count from 1 in each file; GET_CONTEXT's event file takes the first.
GET_CONTEXT = legacy(0, "", out=2)
ALLOC_PD = legacy(3, "", out=3)
CHANNEL = legacy(17, "", out=1)


def reg_mr(pd, length=4096, access=7, start=ARENA):
    return legacy(9, "QQQII", start, length, start, pd, access, out=3,
                  udata=struct.pack("<IiQQ", 0, -1, 0, 0))


def create_cq(cqe=16, channel=-1):
    return legacy(18, "QIIii", 5, cqe, 0, channel, 0, out=2 + 10, udata=bytes(8))


def create_qp(pd, cq, kind=2, srq=0, wr=8):
    return legacy(24, "QIIIIIIIIIBBBB", 6, pd, cq, cq, srq, wr, 0 if srq else wr, 2, 2, 64, 0, kind,
                  1 if srq else 0, 0, out=12 + 16, udata=bytes(8))


def modify_qp(qp, mask, state, port=1, kind=2, gid=0):
    # dest: 16 dgid, flow label, dlid, reserved, sgid index, hop limit, traffic class, sl, ...
    dest = struct.pack("<16sIHHBBBBBBBB", bytes([0] * 10 + [255, 255, 127, 0, 0, 1]), 0, 0, 0, gid,
                       64, 0, 0, 0, 0, 1, port)
    return plain(26, "32s32sIIIIIIIHHBBBBBBBBBBBBBBBB", dest, bytes(32), qp, mask, 0x11111111,
                 0, 0, 0x11, 0xF, 0, 0, state, 0, 3, 0, 0, 1, 1, 12, port, 14, 7, 7, 0, 0, 0, 0)


INIT_RC, INIT_UD = 0x1 | 8 | 16 | 32, 0x1 | 16 | 32 | 64
RTR = 1 | 1 << 7 | 1 << 8 | 1 << 20 | 1 << 12 | 1 << 17 | 1 << 15
RTS = 1 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 16 | 1 << 13


def open_all():
    """With an engine. Handles: 1 events, 2 PD, 3 MR, 4 channel, 5 CQ."""
    return GET_CONTEXT + ioctl(0, 0x1001, attr(0x1000, 512, 3)) + ALLOC_PD + reg_mr(2) + CHANNEL + create_cq()


def uverbs():
    yield "get_context", GET_CONTEXT
    yield "get_context_twice", GET_CONTEXT * 2
    yield "no_context", ALLOC_PD + create_cq()
    yield "query", GET_CONTEXT + legacy(1, "", out=44) + legacy(2, "B7s", 1, bytes(7), out=10) + \
        extended(1, "IIQ", 0, 0, 0, out=40)
    yield "objects", open_all()
    yield "destroy_in_order", open_all() + plain(13, "I", 3) + legacy(20, "II", 5, 0, out=2) + plain(4, "I", 2)
    yield "destroy_used", open_all() + create_qp(2, 5) + plain(4, "I", 2) + legacy(20, "II", 5, 0, out=2) + \
        plain(13, "I", 3)
    yield "handle_of_other_type", open_all() + plain(13, "I", 2) + plain(4, "I", 3) + create_qp(5, 2)
    yield "rc_to_rts", open_all() + create_qp(2, 5) + modify_qp(6, INIT_RC, 1) + modify_qp(6, RTR, 2) + \
        modify_qp(6, RTS, 3) + legacy(25, "II", 6, 0x1FFFFF, out=32) + modify_qp(6, 1, 6) + \
        legacy(27, "II", 6, 0, out=1)
    yield "ud_ah_mcast", open_all() + create_qp(2, 5, 4) + modify_qp(6, INIT_UD, 1) + modify_qp(6, 1, 2) + \
        modify_qp(6, 1 | 1 << 16, 3) + \
        legacy(5, "QII16sIBBBBHBBBBBB", 7, 2, 0, bytes([0] * 10 + [255, 255, 127, 0, 0, 1]), 0, 0, 64,
               0, 0, 0, 0, 0, 1, 1, 0, 0, out=3) + \
        plain(30, "16sIHH", bytes([0] * 10 + [255, 255, 239, 1, 2, 3]), 6, 0xC000, 0) + \
        legacy(27, "II", 6, 0, out=1) + \
        plain(31, "16sIHH", bytes([0] * 10 + [255, 255, 239, 1, 2, 3]), 6, 0xC000, 0) + plain(8, "I", 7)
    yield "uc", open_all() + create_qp(2, 5, 3) + modify_qp(6, INIT_RC, 1)
    yield "srq", open_all() + legacy(32, "QIIII", 8, 2, 16, 2, 0, out=4 + 12) + \
        create_qp(2, 5, 2, 6) + plain(33, "IIII", 6, 2, 0, 4) + legacy(34, "II", 6, 0, out=4) + \
        plain(33, "IIII", 6, 1, 64, 0) + legacy(35, "II", 6, 0, out=1) + legacy(27, "II", 7, 0, out=1) + \
        legacy(35, "II", 6, 0, out=1)
    yield "mw", open_all() + legacy(14, "IB3s", 2, 1, bytes(3), out=2) + \
        legacy(14, "IB3s", 2, 2, bytes(3), out=2) + plain(16, "I", 6)
    yield "xrc", open_all() + legacy(37, "iI", -1, 0o100, out=1) + \
        legacy(39, "QIIIIIIII", 9, 1, 2, 16, 2, 0, 6, 5, 0, out=4 + 12) + create_qp(6, 0, 10) + \
        create_qp(2, 5, 9) + plain(38, "I", 6)
    yield "xrcd_file", GET_CONTEXT + legacy(37, "iI", 3, 0o100, out=1)[:-1] + bytes([1, 1])
    yield "resize_cq", open_all() + legacy(19, "II", 5, 500, out=1 + 10) + plain(23, "II", 5, 0) + \
        legacy(19, "II", 5, 1, out=1 + 10)
    yield "cq_channel", GET_CONTEXT + ALLOC_PD + CHANNEL + create_cq(16, 100) + message(4, 1)
    yield "rereg_mr", open_all() + legacy(11, "IIQQQII", 3, 1, ARENA + 64, 1024, ARENA + 64, 2, 7, out=2) + \
        legacy(11, "IIQQQII", 3, 6, 0, 0, 0, 2, 1, out=2)
    for name, start, length in (("null", 0, 4096), ("wrap", 2**64 - 4096, 8192), ("huge", ARENA, 2**63),
                                ("all", 0, 2**64 - 1), ("unmapped", 0x1000, 4096), ("zero", ARENA, 0)):
        yield "mr_" + name, GET_CONTEXT + ALLOC_PD + reg_mr(2, length, 7, start)
    yield "huge_cq", GET_CONTEXT + create_cq(0xFFFFFFFF) + create_cq(0) + create_cq(1 << 22)
    yield "huge_qp", open_all() + create_qp(2, 5, 2, 0, 0xFFFFFFFF) + create_qp(2, 5, 2, 0, 1 << 15)
    yield "lies_about_length", bytes([2 | 0x20, 3, 0, 8]) + bytes(8) + bytes([3]) + bytes([255, 255])
    yield "one_byte", bytes([5, 1, 3])
    yield "events", open_all() + message(4, 0) + message(4, 1) + message(4, 200)
    yield "sync_status", message(5) + message(7) + message(9)
    rings = open_all() + create_qp(2, 5) + modify_qp(6, INIT_RC, 1) + modify_qp(6, RTR, 2) + modify_qp(6, RTS, 3)
    yield "scribble_doorbells", rings + scribble(0, bytes([0, 0, 0, 0] * 16 + [255] * 8)) + \
        scribble(128, bytes([255] * 64)) + message(5)
    for page in (4096, 8192, 12288, 16384):
        yield f"scribble_{page}", rings + scribble(page, bytes([255] * 128)) + \
            scribble(64, b"\xff" * 8) + scribble(128, b"\xff" * 64) + message(5) * 4
    # ioctl
    context = ioctl(1, 1)
    yield "ioctl_context", ioctl(0, 1) + context
    yield "ioctl_query", GET_CONTEXT + ioctl(0, 2, attr(0, 4, 0, 1), attr(1, 64, 3)) + \
        ioctl(0, 4, attr(0, 8, 0, 32), attr(1, 4, 0, 0), attr(2, 1024, 3), attr(3, 8, 3)) + \
        ioctl(0, 5, attr(0, 4, 0, 1), attr(1, 4, 0, 0), attr(2, 4, 0, 0), attr(3, 32, 3))
    yield "ioctl_cq", GET_CONTEXT + ioctl(3, 0, attr(0, 0, 0), attr(1, 4, 0, 16), attr(2, 8, 0, 5),
                                          attr(4, 4, 0, 0), attr(6, 4, 3), attr(0x1001, 48, 3, flags=0)) + \
        ioctl(3, 1, attr(0, 0, 0, 2), attr(1, 8, 3))
    yield "ioctl_write", GET_CONTEXT + ioctl(0, 0, attr(2, 8, 0, 3), attr(0, 8, 0), attr(1, 4, 3))
    yield "ioctl_doubled", GET_CONTEXT + ioctl(0, 2, attr(0, 4, 0, 1), attr(0, 4, 0, 1), attr(1, 64, 3))
    yield "ioctl_unknown", ioctl(77, 1) + ioctl(0, 99, attr(1, 1, 1))
    yield "ioctl_async", GET_CONTEXT + ioctl(16, 0, attr(0, 0, 0)) + ioctl(17, 0, attr(0, 0, 0))


def sockaddr(port, a, b, c, d):
    return struct.pack("<H", 2) + struct.pack(">H4B8s", port, a, b, c, d, bytes(8))


LO = sockaddr(7471, 127, 0, 0, 1)
ANY = sockaddr(0, 0, 0, 0, 0)
EVENT = legacy(12, "", out=100)


def create_id(ps=0x106, qp_type=2):
    return legacy(0, "QQHB5s", 1, 0, ps, qp_type, bytes(5), out=1, how=2 | 0x10)


def bind(ident, addr=LO):
    return plain(20, "IHH128s", ident, 16, 0, addr + bytes(112))


def resolve(ident, addr=LO):
    return plain(21, "IIHHI128s128s", ident, 1000, 0, 16, 0, bytes(128), addr + bytes(112))


def conn_param(qpn=0x11, data=b"hello"):
    return struct.pack("<II256s8B", qpn, 0, data, len(data), 0, 1, 1, 0, 7, 7, 1)


def connect(ident):
    return plain(6, "272sIIQ", conn_param(), ident, 0, 0)


def accept(ident):
    return plain(8, "Q272sIIQ", 9, conn_param(), ident, 0, 0)


def cma_seeds():
    listen = create_id() + bind(0) + plain(7, "II", 0, 4)
    active = create_id() + resolve(1) + EVENT * 3 + plain(4, "II", 1, 1000) + EVENT * 3
    yield "create_id", create_id()
    yield "create_ud", create_id(0x111, 4)
    yield "listen", listen
    yield "listen_twice", listen + create_id() + bind(1) + plain(7, "II", 1, 4)
    yield "bind_ip", create_id() + legacy(2, "28sI", LO + bytes(12), 0, out=0)
    yield "resolve", create_id() + resolve(0) + EVENT * 4
    yield "resolve_ip", create_id() + plain(3, "28s28sII", ANY + bytes(12), LO + bytes(12), 0, 1000) + \
        EVENT * 2 + plain(4, "II", 0, 1000) + EVENT * 2 + legacy(5, "II", 0, 0, out=68)
    yield "no_listener", create_id() + resolve(0) + EVENT * 2 + plain(4, "II", 0, 1000) + EVENT * 2 + \
        connect(0) + EVENT * 4
    yield "whole_life", listen + active + connect(1) + EVENT * 4 + legacy(11, "II", 2, 1, out=36) + \
        accept(2) + EVENT * 4 + legacy(11, "II", 1, 2, out=36) + plain(10, "II", 1, 0) + EVENT * 6 + \
        legacy(1, "II", 1, 0, out=1) + legacy(1, "II", 2, 0, out=1) + legacy(1, "II", 0, 0, out=1)
    yield "reject", listen + active + connect(1) + EVENT * 4 + plain(9, "IBB2s256s", 2, 0, 28, bytes(2), b"no") + EVENT * 4
    yield "death_in_connect", listen + active + connect(1)
    yield "death_of_listener", listen + active + connect(1) + legacy(1, "II", 0, 0, out=1) + EVENT * 4
    yield "events", create_id() + EVENT * 3
    yield "destroy", create_id() + legacy(1, "II", 0, 0, out=1) * 2
    yield "two", create_id() * 2 + legacy(1, "II", 1, 0, out=1)
    yield "not_there", legacy(1, "II", 9999, 0, out=1) + plain(7, "II", 9999, 4)
    yield "option", create_id() + plain(14, "QIIII", ARENA, 0, 0, 0, 1) + plain(14, "QIIII", ARENA, 0, 0, 3, 1)
    yield "query", create_id() + bind(0) + legacy(19, "II", 0, 0, out=68) + legacy(19, "II", 0, 1, out=68) + \
        legacy(19, "II", 0, 2, out=68)
    group = sockaddr(0, 239, 1, 2, 3)
    yield "multicast", create_id(0x111, 4) + bind(0) + \
        legacy(22, "QIHH128s", 5, 0, 16, 0, group + bytes(112), out=1) + EVENT * 3 + legacy(17, "II", 0, 0, out=1)
    yield "join_ip", create_id(0x111, 4) + bind(0) + legacy(16, "Q28sI", 5, group + bytes(12), 0, out=1) + EVENT * 2
    yield "connect_early", create_id() + connect(0) + accept(0) + plain(10, "II", 0, 0)
    yield "notify", create_id() + plain(15, "II", 0, 4)
    yield "migrate", create_id() + legacy(18, "II", 0, 1, out=2)
    yield "too_short", bytes([5, 1, 0])


for kind, prefix, seeds in ((UVERBS, "", uverbs()), (CMA, "cma_", cma_seeds())):
    for name, data in seeds:
        with open(f"{sys.argv[1]}/{prefix}{name}", "wb") as f:
            f.write(bytes([kind]) + data)

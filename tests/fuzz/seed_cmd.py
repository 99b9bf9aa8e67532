#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Write the seeds of corpus/cmd: short lives of an uverbs file in the form
that fuzz_cmd.c reads. usage: seed_cmd.py FOLDER"""
import struct
import sys


# Legacy commands whose first field is no response pointer.
NO_RESPONSE = {4, 8, 13, 16, 23, 26, 30, 31, 33, 38}


def write(command, core, ex=False, provider=b""):
    core += b"\0" * (-len(core) % (8 if ex else 4))
    assert len(provider) % 8 == 0
    if not ex:
        core += provider
        provider = b""
    flags = 1 if ex else 4 if command in NO_RESPONSE else 0
    return bytes([0, command, flags, len(provider) // 8,
                  len(core) // 4]) + core + provider


def ioctl(obj, method, *attrs):
    out = bytes([2, obj, method, len(attrs)])
    for a in attrs:
        out += a
    return out


def attr_id(i):
    return 0x80 | (i & 15) if i >= 0x1000 else i


def num(i, v, flags=1):
    return bytes([attr_id(i), flags, 0]) + struct.pack("<H", v)


def scalar(i, v, n=8):
    return bytes([attr_id(i), 0xc1, n]) + struct.pack("<Q", v)


def data(i, b):
    return bytes([attr_id(i), 0x81, len(b)]) + b


def out(i, n=64):
    return bytes([attr_id(i), 0x41, n // 8])


def known(step, fd, cookie, kind):
    """The command of a client that says what the descriptor is."""
    return bytes([step[0] | 0x80]) + struct.pack("<HBB", fd, cookie, kind) + step[1:]


def cq_of_channel(number):
    return write(18, R + struct.pack("<QIIiI", 7, 16, 0, number, 0))


R = struct.pack("<Q", 0)
CONTEXT = ioctl(0, 3, out(0, 8), out(1, 8), data(0x1000, b"\0" * 16),
                out(0x1001))
ASYNC = ioctl(16, 0, num(0, 0))
PD = write(3, R)


def cq_legacy(n):
    return write(18, R + struct.pack("<QIIiI", 7, n, 0, -1, 0))


def cq_ioctl(n):
    return ioctl(3, 0, num(0, 0), scalar(1, n, 4), scalar(2, 9),
                 scalar(4, 0, 4), out(6, 8), data(0x1000, b"\0" * 8),
                 out(0x1001))


def qp(kind, pd, scq, rcq, srq=0):
    return write(24, R + struct.pack("<QIIIIIIIIIBBBB", 5, pd, scq, rcq, srq,
                                     16, 16, 2, 2, 64, 1, kind,
                                     1 if srq else 0, 0))


def qp_ioctl(kind, pd, scq, rcq):
    return ioctl(4, 0, num(0, 0), num(2, pd), num(4, scq), num(5, rcq),
                 scalar(7, 3), data(8, struct.pack("<IIIII", 16, 16, 1, 1, 0)),
                 scalar(9, kind), out(13, 24), out(14, 8),
                 data(0x1000, b"\0" * 8), out(0x1001, 128))


def modify(handle, mask, state, port=1, mtu=3):
    dest = bytes(10) + b"\xff\xff\x7f\0\0\1" + struct.pack(
        "<IHHBBBBBBBB", 0, 0, 0, 0, 64, 0, 0, 0, 0, 1, 1)
    return write(26, dest + dest + struct.pack(
        "<IIIIIIIHHBBBBBBBBBBBBBB2x", handle, mask, 0x11111111, 0, 0, 17, 7,
        0, 0, state, state, mtu, 0, 0, 1, 1, 12, port, 14, 7, 7, 0, 0))


def mr(pd, length):
    return write(9, R + struct.pack("<QQQII", 0x10000000, length, 0x10000000, pd, 7),
                 provider=struct.pack("<IiQQ", 0, -1, 0, 0))


def changes(*what):
    """The optional attribute of ENGINE_QP: (mask, state) of each change."""
    dest = bytes(10) + b"\xff\xff\x7f\0\0\1" + struct.pack(
        "<IHHBBBBBBBB", 0, 0, 0, 0, 64, 0, 0, 0, 0, 1, 1)
    return data(0x1002, b"".join(dest + dest + struct.pack(
        "<IIIIIIIHHBBBBBBBBBBBBBB2x", 4, mask, 0, 0, 0, 17, 7, 0, 0, state, 0, 3, 0, 0, 1, 1, 12,
        1, 14, 7, 7, 0, 0) for mask, state in what))


def engine_qp(*attrs):
    return ioctl(4, 0x81, num(0x1000, 3), out(0x1001, 256), *attrs)


ENGINE = ioctl(0, 0x81, out(0x1000, 512))
APART = ioctl(0, 0x87, out(0x1000, 8))
FLOW = write(50, struct.pack("<IIIHHBBBBI", 0, 3, 0, 40, 0, 1, 0, 0, 1, 0)
             + struct.pack("<IHH32x", 0x20, 40, 0), ex=True)

SEEDS = {
    "device": CONTEXT + ASYNC + write(1, R) + write(1, b"\0" * 8, True)
    + write(2, R + b"\1" + b"\0" * 7) + ioctl(0, 2, scalar(0, 1), out(1))
    + ioctl(0, 5, scalar(0, 32), scalar(1, 0, 4), out(2, 2040), out(3, 8))
    + ioctl(0, 6, scalar(0, 1), scalar(1, 0), scalar(2, 0, 4), out(3, 32)),
    "legacy": write(0, R, provider=b"\0" * 16) + PD + cq_legacy(16)
    + write(19, R + struct.pack("<II", 3, 64)) + write(17, R)
    + write(20, R + struct.pack("<II", 3, 0)),
    "rc": CONTEXT + ENGINE + ASYNC + PD + cq_ioctl(64) + mr(2, 4096)
    + qp(2, 2, 3, 3) + modify(5, 0x39, 1) + modify(5, 0x129181, 2)
    + modify(5, 0x12e01, 3) + write(25, R + struct.pack("<II", 5, 0xfffff))
    + modify(5, 1, 6) + ioctl(4, 1, num(0, 5), out(1, 8))
    + write(13, struct.pack("<I", 4)) + ioctl(3, 1, num(0, 3), out(1, 8))
    + ioctl(1, 0, num(0, 2)),
    "ud": CONTEXT + ENGINE + ASYNC + PD + cq_ioctl(64) + qp_ioctl(4, 2, 3, 3)
    + modify(4, 0x71, 1) + modify(4, 1, 2) + modify(4, 0x10001, 3)
    + write(30, b"\xff\x0e" + bytes(13) + b"\1" + struct.pack("<IHH", 4, 0, 0))
    + write(31, b"\xff\x0e" + bytes(13) + b"\1" + struct.pack("<IHH", 4, 0, 0))
    + write(5, R + struct.pack("<QII", 0, 2, 0) + bytes(10)
            + b"\xff\xff\x7f\0\0\1" + struct.pack("<IBBBB", 0, 0, 64, 0, 0)
            + struct.pack("<HBBBBBB", 0, 0, 0, 0, 1, 1, 0)),
    "srq": CONTEXT + ENGINE + PD + cq_legacy(8)
    + write(32, R + struct.pack("<QIIII", 1, 1, 32, 2, 0))
    + write(33, struct.pack("<IIII", 3, 2, 0, 4))
    + write(34, R + struct.pack("<II", 3, 0)) + qp(2, 1, 2, 2, 3)
    + ioctl(5, 1, num(0, 3), out(1, 8)) + write(27, R
                                                + struct.pack("<II", 4, 0))
    + ioctl(5, 1, num(0, 3), out(1, 8)),
    "xrc": CONTEXT + ENGINE + PD + cq_legacy(8)
    + write(37, R + struct.pack("<iI", -1, 0x40))
    + write(39, R + struct.pack("<QIIIIIIII", 1, 1, 1, 16, 1, 0, 0, 3, 2))
    + qp(10, 3, 0, 0) + qp(9, 1, 2, 0)
    + write(40, R + struct.pack("<QIIB7x", 1, 3, 17, 10))
    + write(38, struct.pack("<I", 3)),
    "mr": CONTEXT + PD + mr(1, 8192)
    + write(11, R + struct.pack("<IIQQQII", 2, 7, 0x10002000, 4096, 0x10002000, 1,
                                1), provider=struct.pack("<IiQQ", 0, -1, 0, 0))
    + write(14, R + struct.pack("<IB3x", 1, 2))
    + ioctl(7, 3, num(0, 2), out(1, 8), out(2, 8), out(3, 8), out(4, 8))
    + ioctl(7, 2, num(0, 1), scalar(1, 0), scalar(2, 1, 4),
            data(3, struct.pack("<QII", 0x10002000, 64, 0)))
    + ioctl(7, 4, num(0, 0), num(1, 1), scalar(2, 0), scalar(3, 4096),
            scalar(4, 0), scalar(5, 5, 4), scalar(6, 1, 4), out(7, 8),
            out(8, 8)) + write(16, struct.pack("<I", 3)),
    "dm": CONTEXT + PD
    + ioctl(14, 0, num(0, 0), scalar(1, 4096), scalar(2, 6, 4), out(0x1001))
    + ioctl(7, 0, num(0, 0), scalar(1, 0), scalar(2, 64), num(3, 1),
            scalar(4, 0x21, 4), num(5, 2), out(6, 8), out(7, 8))
    + ioctl(14, 1, num(0, 2)) + ioctl(14, 0x80, num(0x1000, 2), out(0x1001))
    + ioctl(7, 1, num(0, 3)) + ioctl(14, 1, num(0, 2)),
    "flow": CONTEXT + ENGINE + PD + cq_legacy(8) + qp(8, 1, 2, 2)
    + ioctl(15, 0, num(0, 0))
    + write(50, struct.pack("<IIIHHBBBBI", 0, 3, 0, 96, 0, 3, 0, 0, 1, 0)
            + struct.pack("<IHH32x", 0x20, 40, 0)
            + struct.pack("<IHH24x", 0x30, 32, 0)
            + struct.pack("<IHHII", 0x1003, 16, 0, 3, 0)
            + struct.pack("<IHH", 0x1001, 8, 0), ex=True)
    + write(50, struct.pack("<IIIHHBBBBI", 0, 3, 3, 0, 0, 0, 0, 0, 1, 0), ex=True)
    + ioctl(15, 2, num(0, 3), out(1, 16), scalar(2, 0, 4))
    + write(51, struct.pack("<II", 0, 4), ex=True)
    + ioctl(9, 0, num(0, 5)) + ioctl(15, 1, num(0, 3)),
    "engine_open": CONTEXT + ENGINE + ENGINE + ioctl(0, 0x82, scalar(0x1000, 0, 4), out(0x1001))
    + ioctl(0, 0x83, out(0x1000)) + ioctl(0, 0x84, scalar(0x1000, 2, 4), out(0x1001))
    + ioctl(0, 0x85, data(0x1000, struct.pack("<II", 1, 0)), out(0x1001, 8)),
    "engine_raw": CONTEXT + ENGINE + ioctl(0, 0x86, out(0x1000)) + PD + cq_legacy(8)
    + qp(8, 1, 2, 2) + ioctl(0, 0x86, out(0x1000)),
    "engine_flow": CONTEXT + ENGINE + PD + cq_legacy(8) + qp(8, 1, 2, 2) + FLOW
    + ioctl(9, 0x81, num(0x1000, 4), out(0x1001, 1024))
    + ioctl(9, 0x81, num(0x1000, 3), out(0x1001, 8)) + ioctl(9, 0, num(0, 4)),
    "engine_qp": CONTEXT + ENGINE + PD + cq_legacy(8) + qp(2, 1, 2, 2) + engine_qp()
    + engine_qp(changes((0x39, 1))) + engine_qp(changes((0x129181, 2), (0x12e01, 3)))
    + engine_qp(changes((0x40, 1))) + engine_qp(changes((1, 6), (1, 99))),
    "engine_share": CONTEXT + ENGINE + ASYNC + ioctl(0, 0x83, out(0x1000))
    + ioctl(0, 0x88, scalar(0x1000, 0, 4), out(0x1001, 8)) + PD + cq_legacy(8)
    + write(37, R + struct.pack("<iI", 9, 0x40)) + qp(10, 5, 0, 0)
    + ioctl(0, 0x82, scalar(0x1000, 1 << 31, 4), out(0x1001))
    + ioctl(0, 0x84, scalar(0x1000, 1 << 31 | 2, 4), out(0x1001))
    + ioctl(0, 0x88, scalar(0x1000, 5, 4), out(0x1001, 8)),
    "engine_room": CONTEXT + APART + ioctl(0, 0x89, out(0x1000, 8)) + ASYNC
    + ioctl(0, 0x83, out(0x1000)) + ioctl(0, 0x89, out(0x1000, 8)),
    "engine_apart": CONTEXT + APART + ENGINE + APART + PD + cq_legacy(8) + qp(2, 1, 2, 2) + APART,
    "invoke": CONTEXT + ioctl(0, 0, scalar(2, 1, 8)) + ioctl(
        0, 0, scalar(2, 0x80000001, 8), scalar(0, 0, 8), out(1, 304))
    + ioctl(0, 0, scalar(2, 3, 8), scalar(0, 0, 8), out(1, 8), out(0x1001, 8))
    + ioctl(0, 1, scalar(0, 1), out(1, 8), out(2, 64)),
    "known": CONTEXT + write(17, R)
    + known(cq_of_channel(8), 8, 1, 3) + known(cq_of_channel(8), 8, 2, 3)
    + known(cq_of_channel(8), 8, 1, 4) + known(cq_of_channel(8), 6, 1, 3)
    + bytes([3 | 1 << 2]) + known(cq_of_channel(8), 8, 1, 3),
    "lies": bytes([0, 1, 2, 0, 2]) + R + b"\xff\xff\xff\xff\xff\xff"
    + bytes([0, 1, 3, 0, 2]) + R + b"\1\0\xff\xff\x20\0"
    + bytes([2, 3, 0, 31]) + b"\xff" * 200,
}

for name, seed in SEEDS.items():
    with open(f"{sys.argv[1]}/{name}", "wb") as f:
        f.write(seed)

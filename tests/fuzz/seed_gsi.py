#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Seeds for fuzz_gsi: what QP1 takes, and each reason to refuse. usage: seed_gsi.py FOLDER"""
import struct
import sys

V1, REALM, SLOT, FIX = 1, 2, 4, 8
CM, PERF = 7, 4


def packet(cls=CM, sqpn=1, opcode=0x64, pkey=0xFFFF, qkey=0x80010000, length=256, pad=0):
    bth = struct.pack(">BBHII", opcode, pad << 4, pkey, 1, 5)
    deth = struct.pack(">II", qkey, sqpn)
    mad = bytes([1, cls, 2, 3]) + bytes(range(252))
    return bth + deth + (b"\0\0\0\x09" if opcode == 0x65 else b"") + mad[:length] + bytes(pad)


def seeds():
    own = 3 << 19 | 9
    yield "cm", 0, 0, 0, packet()
    yield "cm_v1", V1, 3, 0, packet()
    yield "cm_marked", 0, 3, 0, packet()
    yield "cm_imm", 0, 0, 0, packet(opcode=0x65)
    yield "cm_from_another", 0, 0, 0, packet(sqpn=own)
    yield "cm_from_slot", SLOT, 0, 3, packet(sqpn=own)
    yield "qp1_from_slot", SLOT, 0, 3, packet()
    yield "perf_from_slot", SLOT, 0, 3, packet(PERF, own)
    yield "perf_from_small_slot", SLOT, 0, 0x803, packet(PERF, 0x803 << 11 | 9)
    yield "realm", REALM, 0, 0, packet()
    yield "limited", 0, 0, 0, packet(pkey=0x7FFF)
    yield "pkey", 0, 0, 0, packet(pkey=0x8001)
    yield "qkey", 0, 0, 0, packet(qkey=0x11111111)
    yield "rc", 0, 0, 0, packet(opcode=4)
    yield "short", 0, 0, 0, packet(length=252)
    yield "padded", 0, 0, 0, packet(length=253, pad=3)
    yield "bth", 0, 0, 0, packet()[:12]
    yield "nothing", FIX, 0, 0, b"\0"
    yield "fixed", FIX, 0, 0, bytes(276)


for name, mode, tos, slot, data in seeds():
    with open(f"{sys.argv[1]}/{name}", "wb") as f:
        f.write(struct.pack(">BBH", mode, tos, slot) + data)

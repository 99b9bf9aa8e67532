#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Seeds for fuzz_ring: good requests of every opcode on every service, and
the classic lies. usage: seed_ring.py FOLDER"""
import struct
import sys

IOVA = 0x10000
MR, MR_OPS, MW1, MW2, UD_QPN, SRQN = (0x4B455930 + i for i in range(6))
INLINE = 8
SEND_SIDE, RUN = 0, 6  # how: the send ring, three turns of the port
OPS = ["nop", "send", "send_imm", "send_inv", "write", "write_imm", "read", "cmp_swap",
       "fetch_add", "mask_cmp_swap", "mask_fetch_add", "bind_mw", "local_inv",
       "atomic_write", "flush"]


def sge(length, key=MR, addr=IOVA):
    return struct.pack("<IIQ", length, key, addr)


def wqe(op, service, body=None, flags=1, ds=None, imm=MW2):
    """A send WQE; body: what follows the address vector."""
    raddr = struct.pack("<QII", IOVA + 1024, MR_OPS, 0)
    if body is None:
        head = {"cmp_swap": raddr + struct.pack("<QQ", 1, 2), "bind_mw":
                struct.pack("<QQIIII", IOVA, 4096, MW2, MW2, MR, 0x0E),
                "flush": raddr + struct.pack("<IIQ", 1, 0, 64)}
        head["fetch_add"] = head["cmp_swap"]
        head["mask_cmp_swap"] = raddr + struct.pack("<QQQQ", 1, 2, 2**64 - 1, 2**64 - 1)
        head["mask_fetch_add"] = raddr + struct.pack("<QQQQ", 1, 2, 0, 0)
        for name in ("write", "write_imm", "read", "atomic_write"):
            head[name] = raddr
        name = OPS[op]
        body = head.get(name, b"")
        length = 8 if "cmp" in name or "add" in name or name == "atomic_write" else 600
        if service == 2:
            length = 64
        if name not in ("bind_mw", "local_inv", "flush", "nop"):
            body += sge(length)
    av = struct.pack("<IIII", 1, UD_QPN, 0x11111111, SRQN) if service >= 2 else b""
    if ds is None:
        ds = (16 + len(av) + len(body)) // 16
    return struct.pack("<BBBBIQ", op, flags, ds & 255, 0, imm, 77) + av + body


def record(data, how=RUN, add=None):
    bbs = max(1, (len(data) + 63) // 64)
    data += bytes(-len(data) % (64 if len(data) else 1))
    return bytes([how, bbs if add is None else add, len(data) // 16]) + data


def inline(text, count=None):
    data = struct.pack("<I", len(text) if count is None else count) + text
    return data + bytes(-len(data) % 16)


def seeds():
    for service, letter in enumerate(("rc", "uc", "ud", "xrc")):
        for op, name in enumerate(OPS):
            yield service, f"{letter}_{name}", record(wqe(op, service))
        yield service, f"{letter}_inline", record(wqe(1, service, inline(b"hello, world"), 9))
        yield service, f"{letter}_inline_lie", record(wqe(1, service, inline(b"hello", 60000), 9))
        yield service, f"{letter}_inline_wraps", record(b"", add=0) + b"".join(
            record(wqe(1, service, inline(bytes(range(200))), 9)) for _ in range(20))
    many = b"".join(sge(16, MR, IOVA + 64 * i) for i in range(32))
    yield 0, "sges_32", record(wqe(1, 0, many))
    yield 0, "sges_33", record(wqe(1, 0, many + sge(1)))
    yield 0, "ds_0", record(wqe(1, 0, sge(1), ds=0))
    yield 0, "ds_255", record(wqe(1, 0, sge(1), ds=255), add=64)
    yield 0, "longer_than_posted", record(wqe(1, 0, many), add=1)
    yield 0, "opcode_99", record(wqe(1, 0, sge(1))[:0] + b"\x63" + wqe(1, 0, sge(1))[1:])
    yield 0, "prod_beyond_ring", record(wqe(1, 0, sge(1)), add=0x83)
    yield 0, "prod_backwards", record(wqe(1, 0, sge(1))) + record(b"", add=0xFF)
    yield 0, "changed_in_flight", record(wqe(1, 0, inline(b"x" * 40), 9), how=0) + record(
        b"\xff" * 64, how=RUN, add=0)
    recv = struct.pack("<QII", 5, 2, 0) + sge(64) + sge(64)
    yield 0, "recv", record(recv, how=1, add=1)
    yield 0, "recv_33_sges", record(struct.pack("<QII", 5, 33, 0) + sge(64), how=1, add=1)
    yield 0, "recv_prod", record(recv, how=1, add=9)


for i, (service, name, data) in enumerate(seeds()):
    with open(f"{sys.argv[1]}/{name}", "wb") as f:
        f.write(bytes([service << 5 | (i % 32)]) + data)

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Seeds for fuzz_peer: messages of every kind to queue pairs of every kind, in the ring, apart and in files that
are shown, answers to what we send, and what a neighbour should not write.
usage: seed_peer.py FOLDER"""
import hashlib
import struct
import sys

RC, RC_IDLE, UC, UD = range(4)
SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, SEND_ONLY, SEND_ONLY_IMM = range(6)
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM, WRITE_ONLY, WRITE_ONLY_IMM = range(6, 12)
READ, RESP_FIRST, RESP_MIDDLE, RESP_LAST, RESP_ONLY, ACK, ATOMIC_ACK, CMP_SWAP, FETCH_ADD = range(12, 21)
REMOTE, LOCAL, CLOSED, SENT, FILE = range(5)
SMALL, LARGE, TO_READ, CUT, HUGE, TO_WRITE, PIPE, DEVICE, PROGRAM, GONE = range(10)
MAIN, STRANGER, INIT, NEGATIVE, ZERO, MORTAL = range(6)
TURN, REFUSES, SKIP, READS, REGISTERS, LATER = b"\x08", b"\x0c", b"\x07", b"\x0e", b"\x0f", b"\x21"
# A process of the neighbour's begins, ends, ends while a file of it is mapped, and is who maps files.
BEGINS, ENDS, ENDS_MAPPED, MAPS = (bytes([12 + 17 * n]) for n in range(1, 5))
REGISTERS_NAMED = b"\x20"
RING = b"\x18"  # the other one from now on: the network's, and his again
PLACED = {WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM, READ}
ANSWERS = set(range(RESP_FIRST, ATOMIC_ACK + 1))


def message(qp, op, n=1, size=64, apart=False, shown=None, at=256, length=0, key=REMOTE, syndrome=0, psn=0,
            delta=None, ack=True, place=0, patches=(), way=None):
    """at: in the region, in units of 2 bytes, from 512 bytes before it on."""
    what = qp | 4 * (apart or shown is not None) | 8 * (shown is not None) | 16 | 64 * (delta is not None)
    what |= 128 * bool(patches) | 32 * (way is not None)
    out = bytes([0, what, op | 64 * ack, n - 1]) + struct.pack("<H", size)
    if op in ANSWERS:
        out += struct.pack("b", psn)
    if delta is not None:
        out += struct.pack("b", delta)
    if op in PLACED:
        out += struct.pack("<HBB", at, length, key)
    if op in (CMP_SWAP, FETCH_ADD):
        out += struct.pack("<HBB", at, 0, key)
    if op in (ACK, RESP_FIRST, RESP_LAST, RESP_ONLY, ATOMIC_ACK):
        out += bytes([syndrome])
    if way is not None:
        out += bytes([way])
    if shown is not None:
        out += bytes([shown]) + struct.pack("<H", place)
    if patches:
        out += bytes([len(patches)]) + b"".join(struct.pack("<HB", w, v) for w, v in patches)
    return out


def came(qp, op, sport=0xc001, **how):
    """The same by the network."""
    out = message(qp, op, **how)
    return out + struct.pack("<H", sport)


def show(file, place=0, pages=16, who=MAIN, offset=None, size=None, proof=None, patches=()):
    what = file | 16 * (proof is not None) | 32 * (offset is not None) | 64 * (size is not None) | 128 * bool(patches)
    out = bytes([3, what, place | who << 5, pages])
    if proof is not None:
        out += bytes([proof])
    if offset is not None:
        out += struct.pack("<H", offset)
    if size is not None:
        out += bytes(size)
    if patches:
        out += bytes([len(patches)]) + b"".join(struct.pack("<HB", w, v) for w, v in patches)
    return out


def word(which, value, whose=1):
    return bytes([6, whose, which]) + value.to_bytes(4, "big")


def post(qp, op, n=1, length=64, file=False):
    return bytes([10, qp | op << 2 | file << 5, n - 1]) + struct.pack("<H", length)


def name(how):
    return bytes([14 + 17 * (how + 1)])


def big(*rounds):
    """Messages of ours from the file, by RC alone, each of 64 packets and answered."""
    out = b""
    for i in rounds:
        psn = 64 * i + 63
        out += post(RC, 2, length=65000, file=True) + READS + TURN + message(
            RC, ACK, psn=min(psn, 127), delta=min(psn - 127, 127) if psn > 127 else None, size=0, syndrome=31) + TURN
    return out


def record(length, seg=64, flags=2, bulk=0):
    return b"\x04" + (struct.pack("<IIIIIHHBBBB", 0, length, 0, bulk, 0, seg, 0, 0, 0, 64, flags)
                      + (bytes(10) + b"\xff\xff\x7f\0\0\1") * 2).ljust(64, b"\0")


def write(qp, middles, **how):
    return (message(qp, WRITE_FIRST, size=1024, length=2 * middles + 4) +
            message(qp, WRITE_MIDDLE, n=middles, size=1024, ack=False, **how) + message(qp, WRITE_LAST, size=1024))


def seeds():
    for qp in RC, UC:
        yield b"\1" + message(qp, SEND_ONLY) + message(qp, SEND_ONLY_IMM, n=3) + TURN
        yield b"\0" + (message(qp, SEND_FIRST, size=1024) + message(qp, SEND_MIDDLE, size=1024) +
                       message(qp, SEND_LAST, size=4)) + TURN
        yield b"\0" + message(qp, WRITE_ONLY, n=4, size=1000) + message(qp, WRITE_ONLY_IMM) + TURN
        for refuses in b"", REFUSES:
            yield b"\0" + refuses + write(qp, 8) + TURN
            yield b"\0" + refuses + write(qp, 30, apart=True) + TURN
            yield b"\1" + refuses + show(LARGE) + write(qp, 12, shown=0) + TURN
            yield b"\1" + refuses + (message(qp, SEND_FIRST, size=1024) + show(LARGE) +
                                     message(qp, SEND_MIDDLE, size=1024, shown=0, place=64)) + TURN
    yield b"\0" + message(UD, SEND_ONLY) + message(UD, SEND_ONLY_IMM, n=3, size=1024) + TURN
    for at in 0, 200, 255, 256, 50200, 60000:
        yield b"\0" + message(RC, WRITE_ONLY, at=at, size=1024) + message(RC, READ, at=at, size=1024) + TURN
        yield b"\0" + message(RC, READ, at=at, size=0, length=8) + message(RC, CMP_SWAP, at=at, size=0) + TURN
    for key in range(8):
        yield b"\0" + message(RC, WRITE_ONLY, key=key) + TURN + message(UC, WRITE_ONLY, key=key) + TURN
        yield b"\0" + message(RC, READ, key=key, size=64) + TURN + message(RC_IDLE, FETCH_ADD, key=key, size=0) + TURN
    yield b"\0" + message(RC, READ, size=0, length=160) + TURN * 3
    yield b"\2" + message(RC, SEND_ONLY) + TURN + b"\x09\x04\0\1" + message(RC, SEND_ONLY, delta=-1) + TURN
    # What we send, and its answers.
    for op in range(8):
        for answer in (message(RC, ACK, psn=0, size=0, syndrome=31), message(RC, ACK, psn=0, size=0, syndrome=0x60),
                       message(RC, ATOMIC_ACK, psn=0, size=0), message(RC, RESP_ONLY, psn=0, size=64)):
            yield b"\0" + post(RC, op, length=64) + TURN + answer + TURN
        yield b"\0" + post(RC, op, length=20000, n=4) + TURN + message(RC, ACK, psn=9, size=0, syndrome=31) + TURN
        yield b"\1" + post(RC, op, length=60000, n=8, file=True) * 2 + word(10, 1) + post(RC, op, n=8, length=60000,
                                                                                          file=True) + TURN
        yield b"\0" + post(UC, op, length=3000) + post(UD, op, length=1000) + TURN
    yield b"\0" + post(RC, 4, length=5000) + TURN + (message(RC, RESP_FIRST, size=1024) + message(
        RC, RESP_MIDDLE, n=3, psn=1, size=1024, apart=True) + message(RC, RESP_LAST, psn=4, size=904)) + TURN
    # Words about our ring.
    for which in range(11):
        for value in 0, 1, 0x40000000, 0xffffffff, 0x05000001:
            yield b"\1" + word(which, value) + post(RC, 2, length=60000, n=3, file=which > 7) + word(
                which, value, 0) + message(RC, SEND_ONLY) + TURN
    for value in 0, 64, 0x7fff0:
        yield b"\1" + post(RC, 0, n=60, length=60000) + word(0, value) + word(1, value) + post(UC, 2, length=60000,
                                                                                                 n=40) + TURN
    many = post(UC, 0, n=64, length=1000)
    yield b"\0" + many * 12 + TURN
    yield b"\0" + (many + READS) * 12 + many * 9 + word(0, 5) + many + TURN
    yield b"\0" + (post(UC, 2, n=8, length=65000) + READS) * 8 + word(1, 0x30000) + post(UC, 2, n=40, length=65000) + TURN
    # What we show: looked for, shown, seen, sent from there, and taken away.
    for number in 1, 2:
        yield b"\1" + big(0) + word(10, number) + big(1, 2) + REGISTERS + big(3) + TURN
    yield b"\1" + big(0) + word(10, 1) + big(1) + post(RC, 2, length=65000, n=3, file=True) + b"\x0d" + TURN + big(0)
    yield b"\1" + word(9, 1) + big(0) + TURN + b"".join(REGISTERS + b"\x0d" + big(0) for _ in range(10)) + TURN
    # Files.
    for file in range(10):
        yield b"\1" + show(file) + TURN + message(UC, WRITE_FIRST, size=1024, length=20) + message(
            UC, WRITE_MIDDLE, n=4, size=1024, shown=0) + TURN
        yield b"\1" + b"".join(show(file, place) for place in range(18)) + TURN + show(file, 3, pages=0) + TURN
    for who in MAIN, STRANGER, INIT, NEGATIVE, ZERO:
        yield b"\1" + show(SMALL, pages=1, who=who) + TURN + show(LARGE, 1) + TURN
    for proof in 0, 1, 3, 255:
        yield b"\1" + show(SMALL, pages=1, proof=proof) + TURN + show(LARGE, 1) + TURN
    # A process ends that shows some, and another one shows.
    for end in ENDS, ENDS_MAPPED, ENDS + BEGINS, LATER + ENDS:
        yield b"\1" + BEGINS + show(LARGE, who=MORTAL) + TURN + write(UC, 12, shown=0) + end + TURN + show(
            SMALL, 1, pages=1, who=MORTAL) + TURN + write(UC, 12, shown=0) + TURN
        yield b"\1" + BEGINS + end + show(LARGE, who=MORTAL) + show(CUT, 1, who=MORTAL) + TURN * 2
    for who in MAIN, STRANGER, ZERO, NEGATIVE:
        yield b"\1" + BEGINS + show(LARGE, who=MORTAL) + TURN + show(SMALL, 1, pages=1, who=who) + TURN + ENDS + TURN
        yield b"\1" + BEGINS + show(LARGE, who=who) + TURN + show(GONE, 1, who=MORTAL) + TURN + ENDS + TURN
    yield b"\1" + BEGINS + show(LARGE, who=MORTAL) + TURN + LATER + write(UC, 12, shown=0) + ENDS + TURN + ENDS + TURN
    yield b"\1" + BEGINS + MAPS + big(0) + word(10, 1) + big(1) + ENDS + big(2, 3) + TURN
    # Ours have names, and he has been there.
    for how in range(12):
        yield b"\1" + REGISTERS_NAMED + name(how) + big(0) + word(10, 1) + big(1) + TURN
        yield b"\1" + REGISTERS_NAMED + big(0) + word(10, 1) + name(how) + big(1, 2) + REGISTERS_NAMED + big(3) + TURN
        yield b"\1" + name(0) + name(how) + REGISTERS_NAMED + big(0) + word(10, 1) + big(1)
        yield b"\1" + name(5) + name(how) + REGISTERS_NAMED + big(0) + word(10, 1) + big(1)
    for size in (1, 0), (1, 40), (255, 32), (1, 63), (255, 56), (5, 12):
        yield b"\1" + show(HUGE, size=size) + show(HUGE, 1, size=size) + show(SMALL, 2, size=size, offset=9) + TURN
    yield b"\0" + show(LARGE) + TURN
    yield b"\1" + show(CUT) + TURN + b"\x0b\1" + write(UC, 12, shown=0) + TURN + write(RC, 4, shown=0) + TURN
    for place in 0, 16, 255:
        yield b"\1" + show(LARGE) + write(UC, 12, shown=place, place=4095) + TURN
    # Taken back, while it is copied too.
    yield b"\1" + show(LARGE) + write(UC, 12, shown=0) + word(7, 0x10000) + TURN
    yield b"\1" + show(LARGE) + LATER + write(UC, 12, shown=0) + TURN + word(7, 0x10000) + b"\x0b\0" + TURN
    yield b"\0" + LATER + write(RC, 20, apart=True) + TURN + b"\x05\0\0\x40" + b"\xff" * 64 + word(5, 9) + TURN
    # Ways that are none, and rings.
    for way in range(16):
        yield b"\0" + message(RC, SEND_ONLY, way=way) + TURN + message(UC, SEND_ONLY) + TURN
    for length, seg, flags, bulk in ((0, 64, 2, 0), (65537, 64, 2, 0), (64, 0, 2, 0), (65, 1, 2, 0), (64, 64, 0, 0),
                                     (64, 64, 3, 0xffffffc0), (64, 66, 3, 0), (56, 1, 10, 0), (57, 1, 10, 0),
                                     (64, 65532, 7, 0), (16, 4, 3, 0), (15, 4, 3, 0), (1040, 64, 3, 0)):
        yield b"\0" + record(length, seg, flags, bulk) + TURN + message(RC, SEND_ONLY) + TURN
    yield b"\0" + (message(RC, SEND_ONLY) + TURN + SKIP) * 3 + SKIP + TURN
    # By the network.
    for qp in RC, UC, UD:
        yield b"\0" + RING + came(qp, SEND_ONLY) + came(qp, SEND_ONLY_IMM, n=3) + TURN + RING + message(qp, SEND_ONLY) + TURN
        yield b"\0" + RING + came(qp, WRITE_ONLY, n=4, size=1000) + came(qp, WRITE_ONLY, at=60000) + TURN
        yield b"\0" + RING + came(qp, SEND_FIRST, size=1024) + SKIP + came(qp, SEND_LAST, size=4, sport=9) + TURN
    yield b"\0" + RING + came(RC, READ, size=0, length=160) + came(RC, CMP_SWAP, size=0) + TURN * 3
    for op in 0, 2, 4, 5:
        yield b"\0" + post(RC, op, length=5000) + TURN + RING + came(RC, ACK, psn=0, size=0, syndrome=31) + came(
            RC, RESP_FIRST, size=1024) + came(RC, ATOMIC_ACK, psn=0, size=0) + TURN
    for way in 0, 1, 2, 3, 5, 10:
        yield b"\0" + RING + came(UD, SEND_ONLY, way=way) + came(RC, SEND_ONLY, way=way) + TURN
    for which in range(10):
        for value in 0, 64, 0x7fff0, 0xffffffff:
            yield b"\0" + RING + came(UC, SEND_ONLY) + TURN + word(which, value, 0) + word(which, value) + came(
                UC, SEND_ONLY) + TURN
    for length, seg, flags in (0, 64, 2), (65537, 64, 2), (64, 0, 2), (65, 1, 2), (64, 64, 3), (64, 64, 6), (64, 64, 10):
        yield b"\0" + RING + record(length, seg, flags) + TURN + came(RC, SEND_ONLY) + TURN + RING + message(
            RC, SEND_ONLY) + TURN
    yield b"\0" + message(UC, WRITE_MIDDLE, n=60, size=1024) * 10 + TURN * 4
    for patch in 0x2600, 0x0a18, 0x0216, 0x8118, 0x7f0e:
        yield b"\0" + message(RC, WRITE_ONLY, patches=[(patch & 0xff, patch >> 8)]) + TURN
    yield b"\0" + message(RC, SEND_ONLY, delta=5) + message(RC, SEND_ONLY, delta=-3) + TURN + b"\x0d" + TURN


for seed in seeds():
    with open(f"{sys.argv[1]}/{hashlib.sha1(seed).hexdigest()}", "wb") as f:
        f.write(seed)

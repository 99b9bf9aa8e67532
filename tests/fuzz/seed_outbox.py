#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Seeds for fuzz_outbox: messages of every kind that may leave, those that nearly may, and rings that are none.
usage: seed_outbox.py FOLDER"""
import hashlib
import struct
import sys

OWN_V4, OWN_V6, ALIEN_V4, PEER_V4, PEER_V6, GROUP_V4, GROUP_V6, HOST_V4, HOST_V6, ANY, ALL, LINK = range(12)
RC, READ, UC, UD, UD_IMM, CNP, ACK = range(7)
TURN, RESUME, SKIP = b"\x07", b"\x0a", b"\x06"
RESUME_RELAY = b"\x16"


def message(src=OWN_V4, dst=PEER_V4, kind=RC, n=1, seg=64, short=False, says=True, flow=None,
            patches=(), **fields):
    out = bytes([0, src | dst << 2 | says << 7])
    bits = kind
    tail = b""
    for bit, name in (8, "first"), (16, "tos"), (32, "ttl"):
        if name in fields:
            bits |= bit
            tail += bytes([fields[name]])
    if flow is not None:
        bits |= 64
        tail += flow.to_bytes(3, "big")
    if patches:
        bits |= 128
        tail += bytes([len(patches)])
        tail += b"".join(struct.pack("<HB", where, value) for where, value in patches)
    size = (seg - 16) // 4 if seg % 4 == 0 and seg >= 16 else 0x8000 | seg
    return out + bytes([bits, n - 1 | short << 7]) + struct.pack("<H", size) + tail


def wake(slot, src=OWN_V4, dst=OWN_V4):
    return bytes([2, src | dst << 2, slot << 3])


def record(length, seg=64, flags=2, src=10):
    way = bytes(10) + b"\xff\xff" + bytes([10, 77, 0, 1]) + bytes(10) + b"\xff\xff" + bytes([10, 77, 0, 2])
    return b"\x03" + (struct.pack("<IIIIIHHBBBB", 0, length, 0, 0xfffffff0, 0, seg, 0, 0, 0, 64, flags)
                      + way).ljust(64, b"\0")


def word(which, value, whose=1):
    return bytes([5, whose, which]) + value.to_bytes(4, "big")


def answers(*numbers):
    return bytes([9 + 12 * (len(numbers) - 1)]) + bytes(numbers)


def scribble(where, data):
    return b"\x04" + struct.pack("<HB", where // 8, len(data)) + data


def good():
    for src, dst in (OWN_V4, PEER_V4), (OWN_V6, PEER_V6), (OWN_V4, OWN_V4), (OWN_V6, LINK):
        for kind in range(7):
            yield message(src, dst, kind)
        yield message(src, dst, n=64, seg=1044)
        yield message(src, dst, n=5, short=True, says=False)
    yield message(OWN_V4, GROUP_V4, UD, n=3)
    yield message(OWN_V6, GROUP_V6, UD_IMM, ttl=3)
    yield message(OWN_V6, PEER_V6, flow=0xfffff, tos=2, first=7)
    yield message(first=0x80)


def bad():
    for dst in HOST_V4, ANY, ALL, GROUP_V4, PEER_V6:
        yield message(dst=dst)
    for dst in HOST_V6, GROUP_V6, PEER_V4:
        yield message(OWN_V6, dst)
    yield message(ALIEN_V4)
    yield message(3)
    for group in 0x40, 0x41:
        yield message(group, PEER_V4 + group % 2)
        yield message(group, PEER_V4 + group % 2, UD)
    yield message(ttl=0)
    yield message(OWN_V6, PEER_V6, flow=0x100000)
    for first in 8, 0x40:
        yield message(first=first)
    for kind in RC, UC, UD, CNP:
        for number in (0, 0, 0), (0, 0, 1), (255, 255, 255):
            yield message(kind=kind, patches=[(64 + 5 + i, byte) for i, byte in enumerate(number)])
    yield message(kind=UD, patches=[(64 + 12, 0x80)])
    yield message(kind=UD, patches=[(64 + 17, 0x08)])
    yield message(kind=UD, n=3, patches=[(128 + 17, 0x08)])
    for opcode in 0x40, 0x60, 0x66, 0x80, 0xa0, 0xc0:
        yield message(kind=RC, patches=[(64, opcode)])
    for length in 62, 60, 8:
        yield message(patches=[(4, length)])
        yield message(n=3, patches=[(4, 128 + length)])
    for seg in 12, 18, 4148, 5000, 3:
        yield message(seg=seg)


def seeds():
    every = list(good())
    for options in range(8):
        yield bytes([options]) + b"".join(every[options::8]) + TURN
    for i in range(0, len(every), 6):
        yield b"\1" + b"".join(every[i:i + 6]) + TURN + b"".join(m + TURN for m in every[i:i + 6])
    mean = list(bad())
    for i in range(0, len(mean), 5):
        yield b"\1" + b"".join(m + message() for m in mean[i:i + 5]) + TURN
    # Several that are one datagram, and some that are not.
    yield b"\0" + message(n=4) * 6 + message(n=2, short=True) + message() + TURN
    yield b"\2" + message(n=20, seg=1044) * 2 + message(tos=3) + message(OWN_V6, PEER_V6) * 2 + TURN
    # Around the end of the ring.
    yield b"\0" + message() + SKIP + message() + SKIP + SKIP + TURN + message() + TURN
    yield b"\0" + message(n=62, seg=1044) * 9 + TURN * 2 + message(n=62, seg=1044) * 2 + TURN
    for place in 0x0007ffc0, 0x0007ff80, 0xffffffc0, 0x7fffffc1:
        yield b"\0" + word(0, place) + RESUME + message() + TURN + message(n=3) + TURN
    # What the kernel says to it.
    for number in range(2, 10):
        yield b"\0" + answers(number) + message(n=3) + TURN + message(OWN_V6, PEER_V6, n=3, flow=5) + TURN
        yield b"\0" + answers(0, number, number, 0) + message(n=9, flow=9, src=OWN_V6, dst=PEER_V6) * 3 + TURN * 2
    # Others are woken.
    for slot in 0, 1, 2, 3, 31:
        yield b"\0" + wake(slot) + wake(slot, OWN_V6, OWN_V6) + wake(slot, OWN_V4, PEER_V4) + TURN
        yield b"\0" + wake(slot, ALIEN_V4) + wake(slot, OWN_V6) + TURN + b"\2\x80\x08\1\x04\0\x10" + TURN
    # What comes for it.
    for options in 0, 1:
        for to in range(4):
            some = b"\x0b" + struct.pack("<HB", 30000, 7 | to << 3)
            yield bytes([options]) + b"\x0b" + struct.pack("<HB", 48, 3 | to << 3) + TURN + some * 5 + TURN
            yield bytes([options]) + word(3, 1, 0) + word(0, 0x7ff00, 0) + some * 4 + word(0, 0x60000, 0) + some + TURN
            few = b"\x0b" + struct.pack("<HB", 4, 3 | to << 3)
            yield bytes([options]) + (few + RESUME_RELAY) * 3
            yield bytes([options]) + b"".join(some + RESUME_RELAY + word(0, 0x33000 * n, 0) for n in range(1, 6)) + some
            yield bytes([options]) + some + word(0, 0x7ff00, 0) + some + RESUME_RELAY + some + word(5, 9, 0) + RESUME_RELAY
    # While it leaves, memory changes.
    yield b"\0" + message(n=8) + b"\x20" + scribble(0, b"\xff" * 200) + word(0, 0x1000) + message() + TURN + TURN
    yield b"\0" + b"\x14" + message(HOST_V4) + word(6, 7) + message() * 2 + TURN + TURN
    # No ring.
    for length, seg, flags in ((0, 64, 2), (65537, 64, 2), (0xfffffff0, 64, 2), (64, 0, 2), (65, 1, 2),
                               (64, 64, 3), (64, 16, 1), (56, 1, 10), (64, 64, 7), (16, 65535, 3), (64, 64, 0)):
        yield b"\0" + record(length, seg, flags) + message() + TURN
        yield b"\4" + message() + record(length, seg, flags) + TURN + message() + TURN
    # Its words.
    for which in range(11):
        for value in 0, 1, 0x80000000, 0xffffffff:
            yield b"\4" + word(which, value) + message() + TURN + word(which, value, 0) + b"\x0b\x40\0\3" + TURN


for seed in seeds():
    with open(f"{sys.argv[1]}/{hashlib.sha1(seed).hexdigest()}", "wb") as f:
        f.write(seed)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Write the seeds of corpus/umad: conversations in the form that fuzz_umad.c
reads. usage: seed_umad.py FOLDER"""
import os
import sys

FILE = {0: 0, 1: 0x80}
PING, TRAP = 1, 5


def ioctl(file, which, body=b""):
    return bytes([FILE[file], which]) + body.ljust(40, b"\0")


def register(file, mgmt_class, method):
    return bytes([FILE[file] | 1, mgmt_class, method])


def mad(mgmt_class, method, attr=0, rest=b"", version=1):
    head = bytes([1, mgmt_class, version, method]) + bytes(4) + bytes(7) + b"\x09"
    head += attr.to_bytes(2, "big") + bytes(6)
    return (head + rest).ljust(64, b"\0")


def write(file, agent, body, timeout=0x11, flags=0):
    return bytes([FILE[file] | 3, agent | flags, timeout, len(body)]) + body


def rx(body, flags=3):
    return bytes([5, flags]) + body + b"\x01\x02"


READ = bytes([6]), bytes([0x86])
EXPIRE = bytes([7]), bytes([0x87])
VENDOR = bytes(12) + b"\0\x01\x02\x03"

SEEDS = {
    "conversation": register(0, 0x32, PING) + ioctl(1, 3) + register(1, 0, 0) +
    write(1, 0, mad(0x32, PING, rest=VENDOR)) + READ[0] +
    rx(mad(0x32, PING, rest=VENDOR)) + READ[0] + READ[1],
    "nobody": register(0, 0, 0) + write(0, 0, mad(0x32, TRAP, rest=VENDOR)) * 2 +
    EXPIRE[0] * 3 + READ[0],
    "counters": register(0, 0, 0) + b"".join(
        write(0, 0, mad(4, m, attr)) for m in (1, 2) for attr in (1, 0x12, 0x1d, 0x10)) + READ[0],
    "wire": register(0, 3, 0x80 | PING) + register(0, 0x32, PING) + b"".join(
        rx(mad(c, m, 1)) for c in (0, 1, 3, 4, 5, 7, 0x10, 0x32, 0x81, 0xff)
        for m in (1, 2, 3, 5, 7, 0x81)) + READ[0],
    "segments": register(0, 3, 0x80 | PING) +
    write(0, 0, mad(3, PING, rest=b"\x01\x01\x01\0")) +
    rx(mad(3, PING, rest=b"\x01\x01\x01\0")) + READ[0],
    "registrations": b"".join(register(f, c, m) for f in (0, 1)
                              for c in (1, 7, 0x32, 0x4f, 0x50, 0x81) for m in (1, 3, 0x41)) +
    b"".join(ioctl(0, w, bytes([i] * 40)) for w in (0, 1, 2, 3, 64, 128) for i in (0, 1, 255)),
    "short": register(0, 0, 0) + b"".join(
        bytes([3, 32, 0x11, n]) + bytes(n) for n in (0, 55, 91, 92, 100, 255)) +
    bytes([3, 16, 0, 64]) + b"\xff" * 64 + bytes(64),
}

for name, data in SEEDS.items():
    with open(os.path.join(sys.argv[1], name), "wb") as f:
        f.write(data)

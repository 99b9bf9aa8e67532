#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Seeds for fuzz_record: good records of every kind, packets, and the classic lies.
usage: seed_record.py FOLDER"""
import hashlib
import struct
import sys

OWN, PACKETS = 0x200005, (3, 4)
ALL = 2**64 - 1


def record(kind, qpn=OWN, ns=5000, status=0, length=64):
    return struct.pack("<QBBBBIIIII", ns, kind, 1, status, 0, qpn, 4, 5, 7,
                       length).ljust(64, b"\0")


def packet(kind, **kw):
    return record(kind, **{"status": 24, "length": 1048, **kw}) + bytes(64)


def ring(slots, head=None, tail=0):
    n = len(slots) // 64
    return struct.pack("<QQQQ", 1, 0, n if head is None else head, tail).ljust(64, b"\0") + slots


def seeds():
    good = b"".join(packet(k) if k in PACKETS else record(k) for k in range(1, 12))
    yield ring(good)
    for kind in PACKETS:
        yield ring(packet(kind)[:64] + record(1))
        for status, length in ((11, 16), (49, 64), (24, 23), (12, 8193), (255, 2**32 - 1)):
            yield ring(packet(kind, status=status, length=length))
    for qpn in 0, 1, 0x1fffff, 0x400000, 0xffffff, 2**32 - 1:
        yield ring(record(1, qpn) + packet(3, qpn=qpn))
    for ns in 0, 2**63, ALL:
        yield ring(record(1, ns=ns))
    for head, tail in ((ALL, 0), (0, ALL), (300, 2), (256, 256), (1 << 63, 1), (3, 2**63)):
        yield ring(good, head, tail)


for seed in seeds():
    with open(f"{sys.argv[1]}/{hashlib.sha1(seed).hexdigest()}", "wb") as f:
        f.write(seed)

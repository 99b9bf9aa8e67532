# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""usage: cm_flood.py SOURCE TARGET PORT COUNT
Throws COUNT datagrams at QP1 of TARGET: one in two a well-formed REQ for PORT
that nobody will follow up, the others damaged in every way: random bytes for a
MAD, short ones, unknown attributes, wrong ICRCs."""
import os
import random
import socket
import struct
import sys
import time
import zlib

from packets import UD_SEND

ROCE = 4791
GSI_QKEY = 0x80010000


def icrc(src, dst, sport, payload):
    """As a stranger computes it: the fields that routers change are ones."""
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0xff, 28 + len(payload) + 4, 0,
                     0x4000, 0xff, 17, 0xffff, src, dst)
    udp = struct.pack("!HHHH", sport, ROCE, 8 + len(payload) + 4, 0xffff)
    masked = payload[:4] + b"\xff" + payload[5:]
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip + udp + masked))


def gsi(psn, mad):
    bth = struct.pack("!BBHIBBH", UD_SEND, 0, 0xffff, 1, 0x80, psn >> 16 & 0xff,
                      psn & 0xffff)
    return bth + struct.pack("!II", GSI_QKEY, 1) + mad


def mad(attr, body):
    head = struct.pack("!BBBBHHQHHI", 1, 7, 2, 3, 0, 0,
                       random.getrandbits(64), attr, 0, 0)
    return (head + body).ljust(256, b"\0")[:256]


def gid(address):
    return b"\0" * 10 + b"\xff\xff" + address


def req(src, dst, port, n):
    body = bytearray(232)
    struct.pack_into("!I", body, 0, n + 1)                 # comm id
    struct.pack_into("!Q", body, 8, 0x1060000 | port)      # service id
    struct.pack_into("!Q", body, 16, 0x0123456789abcdef)   # GUID
    struct.pack_into("!I", body, 32, (n & 0xffffff) << 8)  # QPN
    body[43] = body[47] = 20 << 3
    body[50], body[51] = 3 << 4, 15 << 4
    body[56:72], body[72:88] = gid(src), gid(dst)
    body[93] = 64
    body[141] = 0x40
    struct.pack_into("!H", body, 142, n & 0xffff)
    body[156:160], body[172:176] = src, dst
    return mad(0x10, bytes(body))


def main():
    source, target, port, count = sys.argv[1:5]
    src, dst = socket.inet_aton(source), socket.inet_aton(target)
    random.seed(1)
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_IP, 10, 2)  # IP_MTU_DISCOVER = DO: id 0, DF
    s.setsockopt(socket.SOL_SOCKET, 11, 1)  # SO_NO_CHECK
    s.bind((source, 0))
    sport = s.getsockname()[1]
    for n in range(int(count)):
        kind = n % 8
        if kind < 4:
            m = req(src, dst, int(port), n)
        elif kind == 4:
            m = mad(random.choice(range(0x10, 0x1b)), os.urandom(232))
        elif kind == 5:
            m = os.urandom(256)
        elif kind == 6:
            m = os.urandom(random.randrange(0, 256) & ~3)
        else:
            m = mad(random.getrandbits(16), os.urandom(232))
        p = gsi(n, m)
        check = icrc(src, dst, sport, p)
        if kind == 7 and n & 8:
            check = os.urandom(4)
        try:
            s.sendto(p + check, (target, ROCE))
        except OSError:
            time.sleep(0.001)
        if n % 64 == 0:
            time.sleep(0.0005)


if __name__ == "__main__":
    main()

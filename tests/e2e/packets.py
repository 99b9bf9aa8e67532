# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is in a RoCEv2 packet: read with the offsets of the specification, not
with our own code."""
import ipaddress

# Opcodes, IBTA table 38: RC, but for the last two.
SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, SEND_ONLY = range(5)
WRITE_FIRST, WRITE_MIDDLE, WRITE_ONLY, WRITE_ONLY_IMM = 6, 7, 0x0a, 0x0b
READ_REQUEST, READ_FIRST, READ_ONLY, ACK, ATOMIC_ACK = 0x0c, 0x0d, 0x10, 0x11, 0x12
CMP_SWAP, FETCH_ADD = 0x13, 0x14
UD_SEND, CNP = 0x64, 0x81
SENDS = SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY
PAUSES = SEND_FIRST, SEND_MIDDLE, WRITE_FIRST, WRITE_MIDDLE  # more of the message follows
OPENS_WRITE, OPENS_READ = (WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM), (READ_REQUEST,)
OPENS_ATOMIC = CMP_SWAP, FETCH_ADD
READ_ANSWERS = range(READ_FIRST, READ_ONLY + 1)


def packets(frames):
    """The RoCEv2 packets among Ethernet frames."""
    return [p for p in map(Packet, frames) if p.roce]


class Packet:
    """A frame with Ethernet, IPv4 or IPv6, and UDP to port 4791."""

    def __init__(self, frame):
        ip = frame[14:]
        kind = int.from_bytes(frame[12:14], "big")
        self.roce = False
        if kind == 0x0800 and ip[9] == 17:
            self.tos, self.ttl = ip[1], ip[8]
            self.src, udp = ipaddress.ip_address(ip[12:16]), ip[20:]
        elif kind == 0x86dd and ip[6] == 17:
            self.tos, self.ttl = int.from_bytes(ip[:2], "big") >> 4 & 255, ip[7]
            self.src, udp = ipaddress.ip_address(ip[8:24]), ip[40:]
            self.label = int.from_bytes(ip[1:4], "big") & 0xfffff
        else:
            return
        self.sport, dport = (int.from_bytes(udp[i:i + 2], "big") for i in (0, 2))
        self.roce = dport == 4791
        if not self.roce:
            return
        bth = udp[8:]
        self.bytes = int.from_bytes(udp[4:6], "big") - 12  # BTH to pad
        self.raw = bth[:self.bytes]
        self.opcode, flags = bth[0], bth[1]
        self.se, self.migreq = bool(flags & 0x80), bool(flags & 0x40)
        self.pkey = int.from_bytes(bth[2:4], "big")
        self.dqpn = int.from_bytes(bth[5:8], "big")
        self.ackreq = bool(bth[8] & 0x80)
        self.psn = int.from_bytes(bth[9:12], "big")
        self.answer = READ_FIRST <= self.opcode <= ATOMIC_ACK
        self.syndrome = bth[12] if self.opcode == ACK else None

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Seeds for fuzz_qp: one conversation for each operation of each service,
plain, with loss and with duplicates. usage: seed_qp.py FOLDER"""
import sys

# Operation bytes of fuzz_qp.c's step().
PACKET, POST, RECV, TX, TIME, MODIFY = 1, 3, 4, 5, 6, 7
LOST, CHANGED, TWICE, MARKED, FINE = 0, 1, 2, 3, 4
TIMEOUT = [TIME, 0x80]
OPS = ["nop", "send", "send_imm", "send_inv", "write", "write_imm", "read", "cmp_swap",
       "fetch_add", "mask_cmp_swap", "mask_fetch_add", "bind_mw", "local_inv",
       "atomic_write", "flush"]


def post(side, op, length=64, mr=1):
    """One signalled request with one SGE of 16 * length bytes."""
    return [POST, side, op, 1, 1, 0, mr, 1, 1, 0, length, mr ^ 1]


def tx(how, count=15):
    return [TX, count, how]


def conversations():
    # Also what a service does not have: the ring may say anything.
    for side, service in ((0, "rc"), (2, "uc"), (4, "ud"), (6, "xrc")):
        for op in range(len(OPS)):
            length = 0 if OPS[op] == "nop" else {4: 2, 2: 64, 0: 64, 6: 64}[side]
            if "cmp" in OPS[op] or "add" in OPS[op] or OPS[op] == "atomic_write":
                length = 1
            start = [RECV, side ^ 1, 7] + post(side, op, length)
            name = f"{service}_{OPS[op]}"
            yield name, start + tx(FINE) * 4
            yield name + "_loss", start + tx(LOST) + TIMEOUT * 2 + tx(FINE) * 4
            yield name + "_twice", start + tx(TWICE) * 4
    many = [RECV, 1, 7] + sum((post(0, op, 40) for op in (1, 4, 6, 1, 4, 6)), [])
    yield "rc_many", many + tx(FINE, 3) * 12
    yield "rc_many_gap", many + tx(FINE, 0) + tx(LOST, 0) + tx(FINE, 3) * 8 + TIMEOUT + tx(FINE) * 4
    yield "rc_many_marked", many + tx(MARKED, 3) * 12
    yield "rc_rnr", post(0, 1) + tx(FINE) * 2 + [RECV, 1, 7] + TIMEOUT + tx(FINE) * 4
    yield "rc_silence", post(0, 4) + (tx(LOST) + TIMEOUT) * 8
    yield "rc_reset", many + tx(FINE, 2) + [MODIFY, 0, 0, MODIFY, 0, 1, MODIFY, 1, 1] + many + tx(FINE) * 6
    yield "rc_cq_full_late", many + tx(FINE, 3) * 2 + [MODIFY, 2, 0x83] + tx(FINE, 3) * 3 + TIMEOUT * 4 + tx(FINE) * 4
    yield "rc_cq_full", [MODIFY, 0, 0x83] + many + tx(FINE) * 6
    yield "both_ways", many + post(1, 4, 60) + [RECV, 0, 7] + post(1, 1, 50) + tx(FINE, 2) * 16
    # A window of type 2 (its key: 0x41): bound, used, invalidated by SEND.
    bind = [POST, 1, 11, 1, 0, 0, 0, 4, 1]
    use = [POST, 0, 4, 1, 1, 0, 0x41, 1, 1, 0, 2, 0]
    yield "rc_window", [RECV, 1, 7] + bind + tx(FINE) + use + tx(FINE) * 2 + post(0, 3, 1) + tx(FINE) * 3 + use + tx(FINE) * 3
    yield "multicast", [RECV, 4, 7, RECV, 5, 7, PACKET, 0x24, 0x64, 8, 0, 0, 64]
    yield "gsi", [PACKET, 0x44, 0x64, 8, 0, 1, 0]
    # Packets from nowhere: an ACK, a NAK, a WRITE_ONLY and a READ_REQ.
    yield "stray_ack", post(0, 1) + tx(LOST) + [PACKET, 0, 0x11, 11, 0, 0x1F, 1] + tx(FINE)
    yield "stray_nak", post(0, 1) + tx(LOST) + [PACKET, 0, 0x11, 8, 0, 0x62, 0] + tx(FINE)
    yield "stray_write", [PACKET, 1, 0x0A, 8, 1, 0, 0, 16, 0, 0, 1, 0] + tx(FINE)
    yield "stray_read", [PACKET, 1, 0x0C, 8, 1, 0, 0, 127, 0, 0] + tx(LOST) * 3


for i, (name, steps) in enumerate(conversations()):
    with open(f"{sys.argv[1]}/{name}", "wb") as f:
        f.write(bytes([i % 32] + steps))

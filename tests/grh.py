# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The 40 bytes before a datagram's payload, and its completion, against what
verbs promise. What tests/interop/ud.py prints is checked here."""
import ipaddress
import json

RECV, WITH_IMM, GRH_FLAG = 128, 2, 1
# tests/interop/ud.py
TCLASS, LABEL, HOPS, BYTES = 0x6a, 0x54321, 33, 77


def said(text):
    """(queue pair numbers, completion and GRH) that one end printed."""
    rows = [json.loads(x) for x in text.splitlines() if x.startswith("{")]
    return rows[0], rows[1]


def checksum(header):
    total = sum(int.from_bytes(header[i:i + 2], "big") for i in range(0, 20, 2))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def check(text, ip, source, own, sl=None, label=LABEL, hops=HOPS, v1=False):
    """One end's output: what came from source to own, addresses of the IP
    version. No packet carries a service level; uroce has the kind of packet
    there, as Mellanox's cards, and Soft-RoCE 0."""
    if sl is None:
        sl = 0 if v1 else 10 if ip == 4 else 9
    qpns, got = said(text)
    wc, grh = got["wc"], bytes.fromhex(got["grh"])
    assert wc == {"opcode": RECV, "byte_len": 40 + BYTES, "imm_data": 0xabcd1234,
                  "qp_num": qpns["me"], "src_qp": qpns["you"],
                  "wc_flags": WITH_IMM | GRH_FLAG, "pkey_index": 0, "slid": 0,
                  "sl": sl, "dlid_path_bits": 0}, wc
    assert bytes.fromhex(got["data"]) == bytes(range(1, BYTES + 1))
    # UDP, BTH, DETH, immediate, payload and pad, ICRC
    udp = 8 + 12 + 8 + 4 + 80 + 4
    ends = [ipaddress.ip_address(a).packed for a in (source, own)]
    if v1:
        assert int.from_bytes(grh[:4], "big") == 6 << 28 | TCLASS << 20 | label, grh.hex()
        assert int.from_bytes(grh[4:6], "big") == udp - 8
        assert (grh[6], grh[7]) == (0x1b, hops)
        mapped = [bytes(10) + b"\xff\xff" + e if len(e) == 4 else e for e in ends]
        assert [grh[8:24], grh[24:]] == mapped
        return
    if ip == 6:
        assert int.from_bytes(grh[:4], "big") == 6 << 28 | TCLASS << 20 | label, grh.hex()
        assert int.from_bytes(grh[4:6], "big") == udp
        assert (grh[6], grh[7]) == (17, hops)
        assert [grh[8:24], grh[24:]] == ends
        return
    header = grh[20:]
    assert header[:2] == bytes([0x45, TCLASS])
    assert int.from_bytes(header[2:4], "big") == 20 + udp
    assert (header[6] & 0xbf, header[7]) == (0, 0)  # not a fragment
    assert (header[8], header[9]) == (hops, 17)
    assert [header[12:16], header[16:]] == ends
    assert checksum(header) == 0

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Have a stranger read the packets of `emit`.

usage: witness.py tshark|scapy EMIT

tshark: every field of every packet as emitted, nothing malformed.
scapy: recomputes the ICRC of the IPv4 packets, and BTH fields.
Exit 77 where the program is not installed.
"""
import shutil
import subprocess
import sys
import tempfile

def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def known_to_tshark(opcode):
    """Wireshark 4.0 shows only the BTH of CNP, XRC, FLUSH and ATOMIC WRITE."""
    return opcode < 0x80 and opcode & 0x1F not in (0x1C, 0x1D)


def emit(program, path):
    """Run emit; the list of (kind, {field: value}) it says it wrote."""
    out = subprocess.run([program, path], check=True, capture_output=True, text=True).stdout
    packets = []
    for line in out.splitlines():
        kind, *fields = line.split("\t")
        packets.append((kind, {k: int(v) for k, v in (f.split("=") for f in fields)}))
    return packets


def number(name, text):
    flags = {"True": 1, "False": 0}
    if text in flags:
        return flags[text]
    return int(text.replace(":", ""), 16 if name in ("immdt", "ieth") else 0)


def tshark(program):
    if not shutil.which("tshark"):
        skip("no tshark")
    with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
        packets = emit(program, f.name)
        names = sorted({n for _, fields in packets for n in fields})
        command = ["tshark", "-r", f.name, "-T", "fields", "-E", "separator=/t",
                   "-E", "occurrence=f", "-e", "_ws.malformed"]
        # Payload is ours to choose; without this it is guessed at as EoIB,
        # RPC and others, and found malformed.
        for protocol in ("infiniband.eoib", "infiniband_sdp", "ipoib", "fcoib",
                         "rpcordma", "iser", "smb_direct", "nvme-rdma"):
            command += ["--disable-protocol", protocol]
        for name in names:
            command += ["-e", "infiniband." + name]
        rows = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = rows.rstrip("\n").split("\n")
    assert len(rows) == len(packets), f"{len(rows)} rows for {len(packets)} packets"
    bad = compared = 0
    for i, (row, (kind, want)) in enumerate(zip(rows, packets), 1):
        malformed, *cells = row.split("\t")
        got = dict(zip(names, cells))
        known = known_to_tshark(want["bth.opcode"])
        if malformed and known:
            print(f"packet {i} ({kind} opcode {want['bth.opcode']:#x}): malformed")
            bad += 1
        for name, value in want.items():
            if not known and not name.startswith("bth."):
                continue
            compared += 1
            if got[name] == "" or number(name, got[name]) != value:
                print(f"packet {i} ({kind} opcode {want['bth.opcode']:#x}): {name} is "
                      f"{got[name]!r}, not {value:#x}")
                bad += 1
    print(f"tshark: {len(packets)} packets, {compared} fields, {bad} differences")
    return bad


def scapy(program):
    try:
        from scapy.contrib import roce
        from scapy.layers.inet import IP
        from scapy.utils import rdpcap
    except ImportError:
        skip("no scapy")
    with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
        packets = emit(program, f.name)
        frames = rdpcap(f.name)
    bad = compared = 0
    for i, (frame, (kind, want)) in enumerate(zip(frames, packets), 1):
        if kind != "v4":
            continue
        bth = frame[IP][roce.BTH]
        compared += 1
        got = {"bth.opcode": bth.opcode, "bth.destqp": bth.dqpn, "bth.psn": bth.psn,
               "bth.padcnt": bth.padcount, "bth.a": bth.ackreq}
        right = int.from_bytes(bth.compute_icrc(b""), "big")
        if right != want["invariant.crc"] or bth.icrc != right:
            print(f"packet {i}: ICRC {bth.icrc:#x}, scapy says {right:#x}")
            bad += 1
        for name, value in got.items():
            if value != want[name]:
                print(f"packet {i}: {name} is {value:#x}, not {want[name]:#x}")
                bad += 1
    print(f"scapy: {compared} packets, {bad} differences")
    return bad + (compared == 0)


if len(sys.argv) != 3 or sys.argv[1] not in ("tshark", "scapy"):
    sys.exit(__doc__)
sys.exit(1 if {"tshark": tshark, "scapy": scapy}[sys.argv[1]](sys.argv[2]) else 0)

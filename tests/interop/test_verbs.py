# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Stock verbs programs between uroce and the kernel's Soft-RoCE, each side
once as server, over IPv4 and IPv6."""
import re

import pytest

from guest import pair, unless_lost

DIRECTIONS = [("uroce", "rxe"), ("rxe", "uroce")]


def direction_id(d):
    return f"{d[0]}-server"


PINGPONG = [
    ("ibv_rc_pingpong", "-c"), ("ibv_rc_pingpong", "-c -s 1 -n 200"),
    ("ibv_rc_pingpong", "-c -s 1048575 -n 5"), ("ibv_rc_pingpong", "-c -e"),
    ("ibv_rc_pingpong", "-c -m 256 -n 100"), ("ibv_rc_pingpong", "-c -m 512 -s 4095 -n 100"),
    ("ibv_uc_pingpong", "-c"), ("ibv_uc_pingpong", "-c -s 3001 -n 100"),
    ("ibv_ud_pingpong", "-c -s 1024"), ("ibv_ud_pingpong", "-c -s 1 -n 200"),
    ("ibv_srq_pingpong", "-c -q 4 -n 200"),
]
X = "-F -n 100"
PERF = [
    ("ib_send_bw", "-s 4096"), ("ib_send_bw", "-s 1"), ("ib_send_bw", "-s 1021 -I 64"),
    ("ib_send_bw", "-c UC -s 4096"), ("ib_send_bw", "-c UD -s 512"),
    ("ib_send_bw", "-b -s 2048"), ("ib_send_bw", "-q 16 -s 1024"),
    ("ib_send_bw", "--use-srq -q 4 -s 1024"), ("ib_send_bw", "-e -s 1024"),
    ("ib_send_lat", "-s 2"), ("ib_send_lat", "-s 4096"), ("ib_send_lat", "-c UC -s 64"),
    ("ib_send_lat", "-c UD -s 64"),
    ("ib_write_bw", "-s 65536"), ("ib_write_bw", "-s 1048576 -n 10"), ("ib_write_bw", "-s 3"),
    ("ib_write_bw", "-s 1022"), ("ib_write_bw", "-s 1023"), ("ib_write_bw", "-c UC -s 4096"),
    ("ib_write_lat", "-s 2"), ("ib_write_lat", "-s 4097"), ("ib_write_lat", "-c UC -s 64"),
    ("ib_read_bw", "-s 65536"), ("ib_read_bw", "-s 1"), ("ib_read_bw", "-s 4098"),
    ("ib_read_bw", "-s 1048576 -n 10"), ("ib_read_lat", "-s 2"), ("ib_read_lat", "-s 8191"),
    ("ib_atomic_bw", "-A FETCH_AND_ADD"), ("ib_atomic_bw", "-A CMP_AND_SWAP"),
    ("ib_atomic_lat", "-A FETCH_AND_ADD"), ("ib_atomic_lat", "-A CMP_AND_SWAP"),
]


def ids(progs):
    return [f"{p} {a}".strip().replace(" ", "_") for p, a in progs]


def check(r):
    src, sout, crc, cout = r
    assert crc == 0 and src == 0, f"client {crc}:\n{cout}\nserver {src}:\n{sout}"


def run(hosts, server, client, scmd, ccmd):
    """Both to their end, which must be good."""
    def attempt():
        check(pair(server, client, scmd, ccmd, 18515))

    if re.search("_u[cd]_|-c U[CD]", scmd):
        unless_lost([hosts["rxe"]], attempt)
    else:
        attempt()


def cell(params):
    prog, args = params["prog"]
    return {"program": prog, "args": args, "server": params["direction"][0], "ip": params["ip"]}


def over_ipv4_only(params):
    """IPv6 with one program of each kind is enough."""
    return params["ip"] == 6 and params["prog"][0] in {p for p, _ in PERF} - {
        "ib_send_bw", "ib_write_lat", "ib_read_bw", "ib_atomic_lat"}


def shows(params):
    """Each program, each option whatever its number (all sizes come with
    `full`), each role and family."""
    if over_ipv4_only(params):
        return set()
    name, args = params["prog"]
    options = re.findall(r"-+[a-zA-Z][a-z-]*(?: [A-Z_]+)?", args)
    return {("program", name), ("server", params["direction"][0]), ("ip", params["ip"])} | {
        ("option", o) for o in options if o not in ("-s", "-n")}


@pytest.mark.parametrize("ip", [4, 6])
@pytest.mark.parametrize("direction", DIRECTIONS, ids=direction_id)
@pytest.mark.parametrize("prog", PINGPONG, ids=ids(PINGPONG))
def test_pingpong(hosts, clean_wire, prog, direction, ip):
    server, client = (hosts[h] for h in direction)
    name, args = prog
    cmd = f"{name} {args}" if "-n" in args else f"{name} -n 300 {args}"
    run(hosts, server, client, f"{cmd} -d {server.device} -g {server.gid[ip]}",
        f"{cmd} -d {client.device} -g {client.gid[ip]} {server.addr[4]}")


@pytest.mark.parametrize("ip", [4, 6])
@pytest.mark.parametrize("direction", DIRECTIONS, ids=direction_id)
@pytest.mark.parametrize("prog", PERF, ids=ids(PERF))
def test_perftest(hosts, clean_wire, prog, direction, ip):
    server, client = (hosts[h] for h in direction)
    name, args = prog
    if over_ipv4_only({"prog": prog, "ip": ip}):
        pytest.skip("IPv6 with one program of each kind is enough")
    n = "" if "-n" in args else "-n 100"
    # Beside others an emulated machine may be silent for half a second.
    cmd = f"{name} -F -u 17 {n} {args}"
    run(hosts, server, client, f"{cmd} -d {server.device} -x {server.gid[ip]}",
        f"{cmd} -d {client.device} -x {client.gid[ip]} {server.addr[4]}")


test_pingpong.shows = test_perftest.shows = shows
test_pingpong.cell = cell
test_perftest.cell = cell

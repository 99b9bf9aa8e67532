# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""rdma_cm programs between uroce's CM and the one in the Linux kernel."""
import pytest

import races
from guest import pair, unless_lost
from test_verbs import DIRECTIONS, check, direction_id

# name, server command, client command ({s}: the server's address, {c}: the client's)
CM = [
    ("rping", "rping -s -a {s} -C 20 -V", "rping -c -a {s} -C 20 -V"),
    ("rping-big", "rping -s -a {s} -C 5 -V -S 60000", "rping -c -a {s} -C 5 -V -S 60000"),
    ("ucmatose", "ucmatose -b {s}", "ucmatose -s {s}"),
    ("udaddy", "udaddy -b {s}", "udaddy -s {s}"),
    ("rdma_client", "rdma_server -s {s}", "rdma_client -s {s}"),
    ("rdma_xclient", "rdma_xserver", "rdma_xclient -s {s}"),
    ("rstream", "rstream -b {s} -T r -S 4096 -C 20", "rstream -s {s} -T r -S 4096 -C 20"),
    ("riostream", "riostream -b {s} -S 4096 -C 20", "riostream -s {s} -b {c} -S 4096 -C 20"),
    ("ib_write_bw_R", "ib_write_bw -R -F -n 50 -s 4096", "ib_write_bw -R -F -n 50 -s 4096 {s}"),
    ("ib_send_lat_R", "ib_send_lat -R -F -n 50", "ib_send_lat -R -F -n 50 {s}"),
    ("cmtime", "cmtime -b {s} -c 50", "cmtime -s {s} -c 50"),
]
ONLY_V4 = {"rdma_client": "the program resolves names itself", "rdma_xclient": "as rdma_client",
           "ib_write_bw_R": "perftest 4.5 resolves IPv4 only with -R",
           "ib_send_lat_R": "as ib_write_bw_R"}


@pytest.mark.parametrize("ip", [4, 6])
@pytest.mark.parametrize("direction", DIRECTIONS, ids=direction_id)
@pytest.mark.parametrize("prog", CM, ids=[p[0] for p in CM])
def test_cm(hosts, clean_wire, prog, direction, ip):
    server, client = (hosts[h] for h in direction)
    name, scmd, ccmd = prog
    if ip == 6 and name in ONLY_V4:
        pytest.skip(f"{name}: {ONLY_V4[name]}")
    addr = {"s": server.addr[ip], "c": client.addr[ip]}
    ccmd = ccmd.format(**addr)
    # An rdma_cm server listens where nobody outside can see it: the client
    # tries again while it is refused, but not after a crash.
    retry = (f"bash -c 'for i in $(seq 40); do {ccmd}; rc=$?; "
             "[ $rc = 0 -o $rc = 139 ] && exit $rc; sleep 0.5; done; exit 1'")

    def attempt():
        for _ in range(races.TRIES):
            r = pair(server, client, scmd.format(**addr), retry, stays=name == "cmtime")
            if not races.lost_race(ccmd, r[2], r[3]):
                break
            print("lost its race:", r[3])
        if name == "cmtime":
            assert r[2] == 0, r
        else:
            check(r)

    if name == "udaddy":
        unless_lost([hosts["rxe"]], attempt)
    else:
        attempt()


def shows(params):
    """Each program, however it is called, each role and family."""
    name = params["prog"][0]
    if params["ip"] == 6 and name in ONLY_V4:
        return set()
    return {("program", name.split("-")[0]), ("server", params["direction"][0]),
            ("ip", params["ip"])}


def cell(params):
    return {"program": params["prog"][0], "args": "rdma_cm", "server": params["direction"][0],
            "ip": params["ip"]}


test_cm.shows = shows
test_cm.cell = cell

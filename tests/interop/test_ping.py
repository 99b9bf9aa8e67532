# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""`uroce ping` asks kernel Soft-RoCE: datagrams, then packets on a connection
to Debian's rping, which lives on."""
import json
import os
import re
import time

import guest as g

UROCE = os.path.join(g.BUILD, "bin", "uroce")


def ask(host, *words):
    rc, out = host.run(" ".join((UROCE, "ping", "--json", "--run-dir", host.tmp, *words)))
    return rc, json.loads(re.search(r"^\{.*^\}", out, re.M | re.S)[0])


def test_datagrams(hosts):
    def three(version):
        rc, found = ask(hosts["uroce"], hosts["rxe"].addr[version])
        assert rc == 0 and found["cause"] == "ok" and len(found["answers_us"]) == 3, found

    for version in 4, 6:
        g.unless_lost([hosts["rxe"]], lambda: three(version))


def test_nobody_listens(hosts):
    rc, found = ask(hosts["uroce"], "--rc", "7471", hosts["rxe"].addr[4])
    assert rc == 1 and found["cause"] == "no-service", found


def test_connection(hosts):
    rxe, uroce = hosts["rxe"], hosts["uroce"]
    server = rxe.start(f"rping -s -P -a {rxe.addr[4]}", 120)
    try:
        deadline = time.monotonic() + 30
        while True:
            rc, found = ask(uroce, "--rc", "7174", rxe.addr[4])
            if found["cause"] != "no-service" or time.monotonic() > deadline:
                break
        assert rc == 0 and found["cause"] == "ok", found
        assert len(found["rc_answers_us"]) == 3 and found["path_mtu"] == 1024, found
        rc, out = uroce.run(f"{UROCE} run --run-dir {uroce.tmp} -- rping -c -a {rxe.addr[4]} "
                            "-C 3 -V")
        assert rc == 0, out
    finally:
        rxe.end(server, "rping")
        server.communicate(timeout=30)

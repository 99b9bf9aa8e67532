# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs that connect through rdma_cm: wait for the listener, run both."""
import json

import races
from hosts import sh, wait_for


def cm_state(host):
    """What `uroce cm` says: ids and counters."""
    return json.loads(sh(host.lab.bin("uroce"), "cm", "--json", "--run-dir",
                         host.run_dir).stdout)


def listens(host, port):
    return any(i["state"] == "LISTEN" and i["src"].endswith(f":{port}")
               for i in cm_state(host)["cm_ids"])


def start_server(host, port, *cmd, **kw):
    s = host.start(*cmd, **kw)
    wait_for(f"{cmd[0]} to listen", lambda: not s.running() or
             listens(host, port))
    assert s.running(), s.report()
    return s


def run_cm_pair(server, client, scmd, ccmd, port, limit=60, persistent=False):
    """Both to their end, which must be good; their output. A persistent
    server is ended once the client is done."""
    for _ in range(races.TRIES):
        s = start_server(server, port, *map(str, scmd))
        c = client.start(*map(str, ccmd))
        got = c.wait(limit)
        end = 0 if persistent else s.wait(10 if got == 0 else 1)
        report = c.report() + s.report()
        if not (c.lost_race() or s.lost_race()):
            break
        print("lost its race:", report)
        s.kill()
    if persistent:
        assert s.running(), report
        s.kill()
    for host in {server, client}:
        assert host.device.running(), host.device.report() + report
    assert (got, end) == (0, 0), report
    return s.text(), c.text()

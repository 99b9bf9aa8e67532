# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""`uroce doctor --fabric` between Soft-RoCE and ours, each asking: in the guest it
finds no device of its own and takes the kernel's."""
import json
import re
import time

import pytest

import guest as g


def doctor(host, words):
    """The command as it is typed there."""
    if host.kind == "rxe":
        return f"/uroce/build/bin/uroce doctor --fabric {words}"
    return f"{g.BUILD}/bin/uroce doctor --run-dir {host.tmp} --fabric {words}"


def ask(asks, peer):
    """Asks until somebody listens there: {check: finding}."""
    deadline = time.monotonic() + 30
    while True:
        _, out = asks.run(doctor(asks, f"--json {peer}"))
        found = re.search(r"^\[.*^\]", out, re.M | re.S)
        assert found, out
        found = {f["check"]: f for f in json.loads(found[0])}
        if len(found) > 1 or time.monotonic() > deadline:
            return found


@pytest.mark.parametrize("ip", [4, 6])
@pytest.mark.parametrize("who", ["rxe", "uroce"])
def test_path(hosts, who, ip):
    asks = hosts[who]
    listens = hosts["uroce" if who == "rxe" else "rxe"]
    listener = listens.start(doctor(listens, ""), 120)
    try:
        found = ask(asks, listens.addr[ip])
    finally:
        listens.end(listener, "uroce-path")
        listener.communicate(timeout=30)
    # A guest's machine loses of bursts and may lose at other times: the classes
    # and sizes are sent again then.
    assert {c: found[c]["state"] for c in ("peer", "ecn", "dscp", "mtu")} == {
        "peer": "ok", "ecn": "ok", "dscp": "ok", "mtu": "ok"}, found
    assert found["queue"]["state"] in ("ok", "note"), found
    assert "packets of 1024 bytes" in found["mtu"]["what"], found

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""`rdma` of iproute2: what it prints of the guest's Soft-RoCE is what
tests/rdma_form.py says, to which tests/e2e/test_rdma.py holds our device; and the
two side by side, field by field."""
import json
import time

import pytest

from rdma_form import RXE

# Two connections with rdma_cm, and queue pairs with a shared receive queue.
PORT, SRQ = "7175", "18777"


def ask(host, what):
    rc, out = host.run(f"rdma -d -j {what}")
    assert rc == 0, out
    return json.loads(out)


def wait_for(what, condition):
    deadline = time.monotonic() + 60
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


@pytest.fixture(scope="module")
def busy(hosts):
    """Both with an rdma_cm connection to each other, and a program with an SRQ."""
    rxe, uroce = hosts["rxe"], hosts["uroce"]
    started = []

    def start(host, program, cmd):
        started.append((host, host.start(cmd, 300), program))
    start(rxe, "rping", f"rping -s -p {PORT} -a {rxe.addr[4]}")
    wait_for("rping to listen", lambda: [x for x in ask(rxe, "res show cm_id")
                                         if x["state"] == "LISTEN"])
    start(uroce, "rping", f"rping -c -p {PORT} -C 100000000 -a {rxe.addr[4]}")
    for host in rxe, uroce:
        start(host, "ibv_srq_pingpong", f"ibv_srq_pingpong -d {host.device} "
              f"-g {host.gid[4]} -q 4 -p {SRQ}")
    for host in rxe, uroce:
        wait_for("all of it", lambda h=host: ask(h, "res show srq") and "RTS" in [
            x["state"] for x in ask(h, "res show qp")])
    try:
        yield hosts
    finally:
        for host, proc, program in reversed(started):
            host.end(proc, program)


@pytest.mark.parametrize("what", ["dev", "link", "res", *(
    f"res show {x}" for x in ("qp", "cq", "pd", "mr", "cm_id", "ctx", "srq"))])
def test_form(busy, what):
    theirs, ours = (ask(busy[k], what) for k in ("rxe", "uroce"))
    assert theirs and ours

    def forms(entries):
        """Of each kind of entry: a listening identifier has no queue pair. The
        kernel's own objects, which have no process, are left out, and so is the
        firmware, which cards have and Soft-RoCE has not."""
        return {tuple(k for k in e if k != "fw") for e in entries
                if not what.startswith("res show") or "pid" in e}
    assert tuple(RXE[what]) in forms(theirs)
    assert forms(ours) <= forms(theirs)
    assert tuple(RXE[what]) in forms(ours)
    for k in RXE[what]:
        kinds = [{type(e[k]) for e in entries if k in e} for entries in (theirs, ours)]
        assert kinds[0] == kinds[1], (k, kinds)


def test_statistic(busy):
    """Its counters by its names first, in its order, then those of cards."""
    theirs, ours = (ask(busy[k], "stat")[0] for k in ("rxe", "uroce"))
    assert list(theirs) == RXE["stat"] == list(ours)[:len(RXE["stat"])]

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Management datagrams between the kernel's umad, of Soft-RoCE, and ours: the
program of tests/e2e/test_umad.py on both sides. perfquery asks neither: it
registers an agent of QP0 first, which the kernel refuses on RoCE ports. Over IPv4
nobody can ask with the kernel's umad: it holds an answer's GRH against the GID
that asked (rcv_has_same_gid()), and in its place there is an IPv4 header."""
import pytest

import guest as g

THERE, HERE = "/uroce/build/bin/mads", f"{g.BUILD}/bin/mads"


def test_asked_by_soft_roce(hosts, clean_wire):
    rxe, uroce = hosts["rxe"], hosts["uroce"]
    rc, out = rxe.run(f"test -x {THERE}")
    if rc:
        pytest.skip("built without libibumad, or not in build/")
    server = uroce.start(f"{HERE} serve {uroce.device} 20")
    try:
        assert any("serving" in line for line in server.stdout)
        rc, out = rxe.run(f"{THERE} ask {rxe.device} {rxe.gid[6]} {uroce.addr[6]} 20")
        assert rc == 0 and "answered 20" in out, out
        assert server.wait(60) == 0
    finally:
        if server.poll() is None:
            uroce.end(server, "mads")

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The checker on another card than ours: the whole lab on Soft-RoCE, in a guest whose
programs have nothing of uroce. Debian's kernels are built without siw, the other driver
that needs no hardware (`# CONFIG_RDMA_SIW is not set`)."""
import os
import re
import subprocess

import pytest

import guest as g

# What tests/lab/card.py may leave out, with the reason that it prints.
CANNOT = {"UR-MR-06"}


@pytest.fixture
def rxe(hosts):
    return hosts["rxe"]


def test_lab(rxe):
    """Without UROCE_FULL every eighth mistake."""
    listed = subprocess.run([f"{g.BUILD}/bin/lab", "--list"], stdout=subprocess.PIPE, text=True,
                            check=True).stdout.split()
    whole = bool(os.environ.get("UROCE_FULL"))
    if not whole:
        listed = listed[::8]
    rc, out = rxe.run("python3 /uroce/tests/lab/card.py /build eth0 rxe " +
                      ("" if whole else " ".join(listed)), 900)
    assert rc == 0, out
    print(out)
    shown = set(re.findall("^(UR-[A-Z]+-[0-9]+): named, and its twin silent$", out, re.M))
    assert shown >= set(listed) - CANNOT, out
    assert len(shown) >= (43 if whole else 6)


def test_no_device(rxe):
    """A stock program on the device, and one that finds none."""
    rc, out = rxe.run("/build/bin/rdma-check -- ibv_devinfo -d rxe0 && rdma link del rxe0 && "
                      "/build/bin/rdma-check -- ibv_devinfo; rdma link add rxe0 type rxe netdev eth0")
    found, _, none = out.partition("No IB devices found")
    assert "hca_id:\trxe0" in found and "rdma-check" not in found, out
    assert "rdma-check: the program opened no RDMA device" in out, out

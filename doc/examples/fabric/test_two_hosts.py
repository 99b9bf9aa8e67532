# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""An example: ib_write_bw between two hosts, whose link loses packets."""
import subprocess
import time

import pytest

WRITES = "ib_write_bw", "-F", "-s", "4096", "-n", "500"


def test_writes(fabric):
    fabric.up(2, "--link", "1gbit", "--loss", "1%")
    server = fabric.start("node1", *WRITES, stdout=subprocess.DEVNULL)
    for _ in range(100):
        try:
            out = fabric.run("node2", *WRITES, "node1")
            break
        except subprocess.CalledProcessError:
            time.sleep(0.1)  # the server does not listen yet
    assert "4096" in out and server.wait(30) == 0


def test_cable(fabric):
    fabric.up(2)
    fabric.link("node2", "down")
    with pytest.raises(subprocess.CalledProcessError):
        fabric.run("node1", "uroce", "ping", "-c", "1", "node2")
    fabric.link("node2", "up")
    fabric.run("node1", "uroce", "ping", "node2")

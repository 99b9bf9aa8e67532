# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A pytest fixture: hosts on this machine with an RDMA device each, as an ordinary user.

    def test_mine(fabric):
        fabric.up(2, "--loss", "0.1%")
        server = fabric.start("node1", "./server")
        fabric.run("node2", "./client", "node1")

The fabric ends with the test, and all that runs in it."""
import os
import subprocess

import pytest

UROCE = os.environ.get("UROCE_COMMAND", "uroce")


class Fabric:
    def __init__(self):
        self.name = f"pytest-{os.getpid()}"

    def uroce(self, *words, timeout=60):
        """The output of 'uroce fabric'; CalledProcessError where it fails."""
        return subprocess.run([UROCE, "fabric", "--name", self.name, *words], check=True,
                              text=True, stdout=subprocess.PIPE, timeout=timeout).stdout

    def up(self, hosts, *options):
        self.uroce("up", str(hosts), *options)

    def run(self, host, *program, **kw):
        """The output of a program in a host."""
        return self.uroce("run", host, "--", *program, **kw)

    def start(self, host, *program, **kw):
        """The running program (subprocess.Popen)."""
        return subprocess.Popen([UROCE, "fabric", "--name", self.name, "run", host, "--",
                                 *program], text=True, **kw)

    def link(self, host, *traits):
        self.uroce("link", host, *traits)


@pytest.fixture
def fabric():
    made = Fabric()
    yield made
    subprocess.run([UROCE, "fabric", "--name", made.name, "down"], check=False,
                   stderr=subprocess.DEVNULL)

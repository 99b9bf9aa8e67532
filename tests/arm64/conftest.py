# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A host of this machine's architecture beside one of arm64, whose programs
qemu-user runs. mixed.sh says where these are; without it there is nothing to
run here."""
import os
import sys

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path[:0] = [TOP + "/tests/e2e", TOP + "/tests"]
from fixtures import *  # noqa: E402,F401,F403
import fixtures  # noqa: E402
import hosts  # noqa: E402

ROOT = os.environ.get("UROCE_ARM64_ROOT")
# The network's own /sys goes into the root with the program.
ENTER = 'mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"'


class Arm64(hosts.Host):
    """A host like any other; what runs on it is of arm64."""

    def own(self):
        return ["sh", "-c", ENTER, ROOT]


class Mixed(hosts.Lab):
    """a is of this machine's architecture, b of arm64."""

    kinds = hosts.Host, Arm64


@pytest.fixture(scope="session")
def mixed(build):
    if not ROOT:
        pytest.skip("tests/arm64/mixed.sh runs these")
    lab = Mixed(build)
    try:
        for host in lab.a, lab.b:
            host.serve("--netdev", "eth0", "--engine-opt", "gso=0,gro=0,one_port=0,path=0")
        yield lab
    finally:
        lab.close()


def pytest_configure(config):
    config.addinivalue_line("markers", "long: only with UROCE_FULL")
    config.addinivalue_line("markers", "newer: with rdma-core 56 on both hosts")
    fixtures.pytest_configure(config)

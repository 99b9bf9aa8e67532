# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Memory of GPUs, over a stand-in for CUDA's library whose memory the processor cannot touch: tests/gpu. Between two
hosts, and between two programs of one."""
import os

import pytest

from test_guest_engine import engines, pair  # pylint: disable=unused-import
from test_guest_host import As, host  # pylint: disable=unused-import
from test_guests import finish, start


@pytest.fixture(autouse=True)
def in_program(monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "process")
    monkeypatch.setenv("QP_TIMEOUT", "16")


def run(lab, mode):
    return finish(*start(lab, mode, program=lab.bin("gpu_matrix")), limit=280)


class Near:
    """Two programs of that host."""
    def __init__(self, host):
        self.a = self.b = As(host, "process")
        self.bin, self.next_port = host.lab.bin, host.lab.next_port


def test_two_hosts(pair):
    run(pair, "standin")


def test_one_host(host):
    run(Near(host), "standin")


@pytest.mark.parametrize("env", [{"UROCE_GPU": "off"}, {"UROCE_ENGINE": "device"}, {"UROCE_ENGINE": "apart"}],
                         ids=lambda env: "".join(env.values()))
def test_no(pair, env):
    """Whoever asks is told so."""
    p = pair.a.start(pair.bin("gpu_matrix"), "off", env={**os.environ, **env})
    assert p.wait(60) == 0, p.report()
    assert "done 0" in p.text()

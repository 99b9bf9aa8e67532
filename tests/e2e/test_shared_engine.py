# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""An engine that contexts of several processes of one user have together, in his engine process: XRC domains of files
(restart/xrc.c)."""
import json
import os
import signal

import pytest

from hosts import wait_for
from test_cli import NOBODY
from test_engine_process import gone, processes
from test_guest_engine import GUESTS
from test_guest_host import As
from test_guests import finish
from test_restart import go_on, kill, pair  # pylint: disable=unused-import
from test_restart_xrc import left, running


@pytest.fixture
def file(tmp_path, monkeypatch):
    tmp_path.chmod(0o777)
    for folder in tmp_path.parents[:3]:
        folder.chmod(folder.stat().st_mode | 0o011)
    path = tmp_path / "domain"
    monkeypatch.setenv("XRC_FILE", str(path))
    return path


def stop(programs, cross=True):
    for p in programs if cross else programs[1:]:
        p.kill(signal.SIGUSR1)
    finish(*programs)


def engines(host, pid):
    qps = json.loads(host.run(host.lab.bin("uroce"), "res", "qp", "--json"))
    return {q["type"]: q["engine"] for q in qps if q.get("pid") == pid}


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("on", ["one host", "two hosts"])
def test_traffic(pair, file, on, cross, monkeypatch):
    """On one host the domain is that of both: each sends by the target of the other process to its own queue."""
    if cross and on == "two hosts":
        pytest.skip("each has a domain of its own")
    if cross:
        monkeypatch.setenv("XRC_CROSS", "1")
    with running(pair, "more", on) as programs:
        assert len(processes(pair.a)) == 1
        assert engines(pair.a, programs[0].proc.pid) == {"XRC_TGT": "process", "XRC_INI": "program"}
        go_on(programs)
        stop(programs, cross)
    assert not left(pair.a), left(pair.a)
    gone(pair.a)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""An engine that contexts of several processes of one user have together, in his engine process: XRC domains of files
(restart/xrc.c)."""
import json
import os
import signal
import time

import pytest

from hosts import wait_for
from test_cli import NOBODY
from test_engine_process import gone, processes
from test_guest_engine import GUESTS
from test_guest_host import As
from test_guests import finish
from test_restart import counters, go_on, kill, pair  # pylint: disable=unused-import
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


@pytest.mark.parametrize("mode", ["rounds", "more"])
@pytest.mark.parametrize("cross", [False, True])
def test_uroced_is_killed(pair, file, mode, cross, monkeypatch):
    """Both go on, and with the next one, in the same process; no byte is lost."""
    if cross:
        monkeypatch.setenv("XRC_CROSS", "1")
    with running(pair, mode, "one host") as programs:
        had = processes(pair.a)
        for n in range(3):
            kill(pair.a)
            if mode == "rounds":
                go_on(programs, f"kill {n}\n")
            pair.a.serve(*GUESTS)
            go_on(programs, f"serve {n}\n")
            assert processes(pair.a) == had
        stop(programs, cross)
    assert not left(pair.a), left(pair.a)
    gone(pair.a)


def test_process_is_killed(pair, file, monkeypatch):
    """It takes its contexts along, and another user's go on."""
    with running(pair, "rounds", "two hosts") as ours:
        monkeypatch.setenv("XRC_FILE", f"{file}.other")
        with running(pair, "rounds", "one host",
                     of=lambda host: As(host, "process", *NOBODY)) as others:
            pids = {uid: pid for pid, uid in processes(pair.a).items()}
            assert len(pids) == 2, pids
            os.kill(pids[0], signal.SIGKILL)
            wait_for("the end", lambda: not ours[0].running(), limit=5)
            go_on(others)
            stop(others, False)


# A local ACK timeout of 14 is 67 ms, or up to four times that, and comes seven times before the end.
LATE_S = 1.2


@pytest.mark.parametrize("cross", [False, True])
def test_process_is_late(pair, file, cross, monkeypatch):
    """It waits for a processor longer than the shortest timeouts last. What it has not read is not lost."""
    if cross:
        monkeypatch.setenv("XRC_CROSS", "1")
    with running(pair, "rounds", "one host") as programs:
        (pid, _), = processes(pair.a).items()
        go_on(programs)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(LATE_S)
        os.kill(pid, signal.SIGCONT)
        go_on(programs)
        assert not counters(pair.a)["retry_exceeded_err"]
        stop(programs, cross)


JOIN = """
import os, sys
import pyverbs.enums as e
from pyverbs.device import Context
from pyverbs.xrcd import XRCD, XRCDInitAttr
fd = os.open(sys.argv[1], os.O_RDWR)
ctx = Context(name="uroce0")
print("opened", XRCD(ctx, XRCDInitAttr(
    e.IBV_XRCD_INIT_ATTR_FD | e.IBV_XRCD_INIT_ATTR_OFLAGS, os.O_CREAT, fd)), flush=True)
"""


def test_another_user(pair, file):
    """He may open the file, and not the domain: his engine is another one."""
    with running(pair, "rounds", "one host") as programs:
        file.chmod(0o666)
        own = pair.a.run("/usr/bin/python3", "-c", JOIN, str(file))
        assert "opened" in own, own
        his = As(pair.a, "process", *NOBODY).start("/usr/bin/python3", "-c", JOIN, str(file))
        assert his.wait() and "Operation not permitted" in his.text(), his.report()
        go_on(programs)
        stop(programs, False)

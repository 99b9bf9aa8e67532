# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What uroced gives up before it serves, seen from outside, and that it still does
all it did. What a confined process is refused is in unit.confine."""
import glob
import json
import os

import pytest

from hosts import wait_for
from pairs import run_pair
from test_cli import uroce
from test_doctor import ask

NET_ADMIN, NET_RAW = 1 << 12, 1 << 13


def threads(pid):
    """What each says in /proc/PID/task/TID/status."""
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        try:
            lines = open(path).read().splitlines()
        except OSError:
            continue  # it has ended
        yield dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def check_threads(host, caps):
    seen = list(threads(host.device.pid))
    assert len(seen) >= 2, seen
    for t in seen:
        assert (t["NoNewPrivs"], t["Seccomp"]) == ("1", "2"), t
        for name in "CapPrm", "CapEff":
            assert int(t[name], 16) == caps, (name, t)
        # Who had no right to begin with may not empty the bounding set either.
        for name in ("CapInh", "CapAmb", *(["CapBnd"] if caps else [])):
            assert int(t[name], 16) == 0, (name, t)


def confinement(lab, host):
    """What doctor says of it."""
    _, found = ask(lab, host, "doctor")
    return next(f for f in found if f["check"] == "confinement")


def test_every_thread(lab):
    """Also those of devices and programs that come later."""
    lab.second_cable()
    lab.serve()
    uroce(lab.a, "link", "add", "eth1")
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-c"])
    check_threads(lab.a, NET_ADMIN)
    got = confinement(lab, lab.a)
    assert got["state"] == "ok" and "net_admin" in got["what"], got
    # Nobody but root looks into it, and it has no core.
    assert os.stat(f"/proc/{lab.a.device.pid}/environ").st_uid == 0
    uroce(lab.a, "link", "del", "uroce1")
    lab.a.stop()


@pytest.mark.part("ROCE_V1")
def test_raw_sockets(lab):
    """RoCEv1 keeps CAP_NET_RAW, also for a device that comes later."""
    lab.second_cable()
    lab.a.serve("--netdev", "eth0", "--roce-v1")
    uroce(lab.a, "link", "add", "eth1")
    check_threads(lab.a, NET_ADMIN | NET_RAW)
    link = json.loads(uroce(lab.a, "link", "--json"))
    assert all(any("v1" in g["type"] for g in d["gids"]) for d in link), link


def test_switched_off(lab):
    lab.a.serve("--netdev", "eth0", "--confine", "no")
    for t in threads(lab.a.device.pid):
        assert (t["NoNewPrivs"], t["Seccomp"]) == ("0", "0"), t
    got = confinement(lab, lab.a)
    assert got["state"] == "note", got


def test_ordinary_user(lab, monkeypatch):
    """Without any right to begin with: what needs none holds all the same."""
    os.chmod(lab.tmp, 0o777)
    lab.a.device = lab.a.bare("setpriv", "--reuid", "65534", "--regid", "65534",
                              "--clear-groups", lab.bin("uroced"), "--run-dir",
                              lab.a.run_dir, "--netdev", "eth0")
    wait_for("uroced", lambda: "ready" in lab.a.device.text().split() or
             not lab.a.device.running())
    assert lab.a.device.running(), lab.a.device.report()
    check_threads(lab.a, 0)
    # Root uses no device of another user unless it says whose.
    monkeypatch.setenv("UROCE_TRUST_UID", "65534")
    run_pair(lab.a, lab.a, ["ibv_rc_pingpong", "-c"])
    assert confinement(lab, lab.a)["state"] == "ok"


def test_under_the_front_end(lab):
    """Started by a program that itself runs with a device present."""
    lab.a.serve("--netdev", "eth0")
    inner = lab.tmp + "/inner"
    p = lab.a.start(lab.bin("uroced"), "--run-dir", inner, "--netdev", "lo")
    wait_for("ready", lambda: "ready" in p.text() or not p.running())
    assert p.running(), p.report()
    assert "uroce0: netdev lo" in uroce(lab.a, "link", run_dir=inner)

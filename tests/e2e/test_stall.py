# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A user whose memory makes his engine wait, and what root waits meanwhile: stall/."""
import json
import os
import signal
import time

import pytest

import hosts
from hosts import wait_for
from test_cli import NOBODY

SECOND = 1000000000


def said(p):
    assert p.wait(60) == 0, p.report()
    return json.loads(p.text().splitlines()[-1])


@pytest.fixture(scope="module")
def device(build):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor")
    lab = hosts.Lab(build)
    try:
        lab.a.serve()
        os.chmod(lab.a.run_dir, 0o755)
        yield lab.a
    finally:
        lab.close()


def attack(host, kind):
    """As another user, for two seconds."""
    return host.bare(*NOBODY, host.lab.bin("uroce"), "run", "--engine", "device", "--run-dir", host.run_dir,
                     "--", host.lab.bin("stall"), kind, "2")


def beside(host, kind, what="watch"):
    """How long the longest WRITE of the one who does it took, and of root's WRITEs
    or settings."""
    watch = host.start(host.lab.bin("stall"), what)
    wait_for("root's", lambda: "began" in watch.text() or not watch.running())
    nobody = attack(host, kind)
    while nobody.running() and "longest_ns" not in nobody.text():
        if what == "settings":
            # A GID comes and goes, for which the control thread calls each engine.
            for verb in "add", "del":
                host.ip("addr", verb, "10.99.0.1/32", "dev", "eth0")
        time.sleep(0.05)
    watch.kill(signal.SIGTERM)
    roots = said(watch)["longest_ns"]
    nobody.kill(signal.SIGTERM)
    return said(nobody)["longest_ns"], roots


def tried(host, kind, what):
    tries = []
    # The thread that holds his memory may get a processor after all, and root none for
    # so long. With one engine for both root waits as long as he does, each time.
    while len(tries) < 5:
        tries.append(beside(host, kind, what))
        own, roots = tries[-1]
        if own > SECOND and roots < own / 3:
            return
    assert False, tries


@pytest.mark.parametrize("kind", ["page", "region", "ring"])
def test_another_users_memory(device, kind):
    """His engine waits for seconds, for a page that does not come; root has another
    engine, and waits for a processor at most."""
    tried(device, kind, "watch")


@pytest.mark.parametrize("kind", ["page", "region"])
def test_settings(device, kind):
    """That engine gets root's settings, and addresses, when it goes on; control does
    not wait for it."""
    tried(device, kind, "settings")


def waits(host, what):
    """A program of another user whose engine waits. Returns it and the process that
    keeps it waiting."""
    p = host.bare(host.lab.bin("uroce"), "run", "--engine", "device", "--run-dir", host.run_dir,
                  "--", host.lab.bin("waits"), what, "65534")
    wait_for("an engine that waits", lambda: p.text() or not p.running())
    if "skipped" in p.text():
        pytest.skip("no FUSE")
    return p, json.loads(p.text().splitlines()[0])["other"]


def count(host, *where):
    out = json.loads(host.run(host.lab.bin("uroce"), "res", *where, "--json"))
    return len(out)


@pytest.mark.parametrize("what", ["exit", "settle", "destroy", "modify", "dereg",
                                  "create"])
def test_nobody_waits_for_his_commands(device, what):
    """Whatever he asks for while his engine waits, and when he ends, root's commands
    and settings, and looks at his objects, take no longer than without him. When the
    engine goes on, all that he had ends."""
    wait_for("an empty device", lambda: not count(device, "qp"))
    watches = [device.start(device.lab.bin("stall"), w) for w in ("commands", "settings")]
    for w in watches:
        wait_for("root's", lambda w=w: "began" in w.text() or not w.running())
    p, other = waits(device, what)
    try:
        for _ in range(10):
            device.run(device.lab.bin("uroce"), "res", "qp")
            device.run(device.lab.bin("uroce"), "why")
            time.sleep(0.1)
        assert "done" not in p.text()
        # uroced waits for no engine with what it has of a program that ends, which waits for a second.
        if what not in ("exit", "settle"):
            assert count(device, "qp") > 2 * len(watches), "his are still there"
        for w in watches:
            w.kill(signal.SIGTERM)
        for w in watches:
            assert said(w)["longest_ns"] < 0.4 * SECOND
    finally:
        os.kill(other, signal.SIGKILL)
        for w in watches:
            if w.running():
                w.kill()
    p.wait(20)
    wait_for("the end of what he had", lambda: not count(device, "qp"))


def test_nothing_is_left(device):
    """What ends while its engine waits is his until then, and no longer: a user who
    does that again and again runs out of nothing. What a slot has stays for the next one who gets it:
    there are 29."""
    had = []
    for i in range(62):
        p, other = waits(device, ("exit", "destroy", "dereg")[i % 3])
        os.kill(other, signal.SIGKILL)
        p.wait(20)
        if i % 31 == 30: # all slots have been somebody's
            wait_for("the end of what he had", lambda: not count(device, "qp"))
            had.append((memory(device), fds(device)))
    assert had[1][0] - had[0][0] < 4 << 20 and had[1][1] <= had[0][1], had


def test_stop(build):
    """A stop does not wait for such an engine, and the next uroced serves at once."""
    lab = hosts.Lab(build)
    try:
        lab.a.serve()
        os.chmod(lab.a.run_dir, 0o755)
        p, other = waits(lab.a, "exit")
        old = lab.a.device
        old.kill(signal.SIGTERM)
        wait_for("its end", lambda: gone(old), 5)
        lab.a.serve()
        os.kill(other, signal.SIGKILL)
        assert old.wait(20) == 0, old.report()
    finally:
        lab.close()


def gone(device):
    """It has ended, but for a thread that waits in the kernel."""
    status = open(f"/proc/{device.pid}/status").read()
    return "State:\tZ" in status


def memory(host):
    """Of the device, in bytes."""
    pages = open(f"/proc/{host.device.pid}/statm").read().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def fds(host):
    return len(os.listdir(f"/proc/{host.device.pid}/fd"))

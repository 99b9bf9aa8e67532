# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Registered memory stays what it is, whoever else has a hand in a program's
memory: UCX's hooks, libfabric's monitors, other allocators. As root and as an
ordinary user (memory/*.c)."""
import os
import re
import signal

import pytest

from hosts import wait_for

USERS = {"root": [],
         "nobody": ["setpriv", "--reuid", "65534", "--regid", "65534",
                    "--clear-groups"]}
PRELOAD = {"glibc": "", "jemalloc": "libjemalloc.so.2",
           "tcmalloc": "libtcmalloc_minimal.so.4",
           "ucm": "libucm.so.0 libucs.so.0", "hooks": "libucm.so.0 libucs.so.0"}


def run(labs, user, preload, env, *cmd):
    """In front of the device's own library, as if the program linked with it."""
    script = 'LD_PRELOAD="$LIBS $LD_PRELOAD" exec "$@"'
    p = labs(1500).a.start(*USERS[user], "sh", "-c", script, "-", *cmd,
                           env={**os.environ, "LIBS": preload, **env})
    assert p.wait(120) == 0, p.report()
    assert "cannot be preloaded" not in p.text(), p.text()
    return p.text()


@pytest.mark.parametrize("name,user,engine", [
    *((name, user, "process") for name in PRELOAD for user in USERS),
    *(("hooks", user, "device") for user in USERS)])
def test_registered(labs, name, user, engine):
    program = labs(1500).a.lab.bin("registered_memory")
    out = run(labs, user, PRELOAD[name], {"UROCE_ENGINE": engine}, program, "100",
              *(["hooks"] if name == "hooks" else []))
    assert "100 rounds" in out, out


@pytest.mark.parametrize("case,user", [
    ("pages", "root"), ("pages", "nobody"), ("arena", "root"),
    ("filelock", "root"), ("futex", "root"), ("psem", "nobody"),
    ("read", "nobody"), ("near_read", "nobody"), ("near_cond", "nobody"),
    ("near_sem", "nobody")])
def test_undisturbed(labs, user, case):
    """What a card's registration leaves alone, this one does: neither fork nor
    waiters nor system calls notice."""
    program = labs(1500).a.lab.bin("undisturbed_memory")
    out = run(labs, user, "", {}, program, case)
    assert f"{case}: undisturbed" in out, out


# Without a privilege userfaultfd is not libfabric's to have.
@pytest.mark.parametrize("monitor,user", [
    ("memhooks", "root"), ("memhooks", "nobody"), ("userfaultfd", "root"),
    ("disabled", "root"), ("disabled", "nobody")])
def test_registration_cache(labs, monitor, user):
    """libfabric keeps registrations until its monitor says that the memory
    went away, and only then."""
    program = labs(1500).a.lab.bin("cached_memory")
    out = run(labs, user, "", {"FI_MR_CACHE_MONITOR": monitor}, program, "50")
    kept = int(re.search(r"50 rounds, (\d+) kept", out).group(1))
    assert kept == (0 if monitor == "disabled" else 50), out


@pytest.mark.parametrize("how,user", [
    ("setuid", "root"), ("listed", "root"), ("opened", "root"),
    ("seteuid", "root"), ("prctl", "nobody")])
def test_undumpable(labs, how, user):
    """A process that may not open /proc/self/mem has the device too; what cannot
    be reached is refused, and why is told."""
    host = labs(1500).a
    p = host.start(*USERS[user], host.lab.bin("undumpable"), how)
    wait_for("the program", lambda: f"{how}: fine" in p.text() or
             not p.running())
    assert p.running(), p.report()
    found = host.bare(host.lab.bin("uroce"), "doctor", "--json", "--run-dir",
                      host.run_dir)
    found.wait(60)
    told = "undumpable" in found.text() and "EACCES" in found.text()
    assert told == (how != "opened"), found.text()
    p.proc.send_signal(signal.SIGTERM)
    assert p.wait(20) == 0, p.report()


@pytest.mark.parametrize("user,asked,want", [
    ("nobody", "1", "limited"), ("nobody", "0", "free"), ("nobody", "", "free"),
    ("root", "1", "free")])
def test_memlock(labs, user, asked, want):
    """ulimit -l holds where it is asked for, as with a card."""
    env = {"UROCE_MEMLOCK": asked} if asked else {}
    out = run(labs, user, "", env, labs(1500).a.lab.bin("memlock"), want)
    assert f"{want}: right" in out, out

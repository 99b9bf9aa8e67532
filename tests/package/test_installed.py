# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The attacks of tests/e2e on the service as installed: its unit's user, options and
confinement, under a systemd that is process 1, with other users of the same root."""
import os
import re
import shutil
import sys

import pytest

from conftest import TOP

sys.path[1:1] = [f"{TOP}/tests/e2e", f"{TOP}/tests"]
pytest.register_assert_rewrite("test_attacks", "test_forged")
from hosts import wait_for  # noqa: E402
from machine import Machine  # noqa: E402
from pairs import start_pair  # noqa: E402
from test_attacks import (  # noqa: E402,F401
    test_false_memory, test_foreign_rights, test_large_queues, test_lingering_sockets,
    test_spoofed_peer, test_stopped_programs, test_unread_answers, test_writes_from_here, victim)
from test_forged import test_by_another_user  # noqa: E402,F401
from user_namespaces import user_namespaces  # noqa: E402,F401


@pytest.fixture(scope="module")
def machine(root):
    if root.path == "/" or not shutil.which("systemd-nspawn"):
        pytest.skip("no root of its own, or systemd-nspawn is not installed")
    config = root.path + "/etc/uroce/uroce.conf"
    with open(config) as f:
        before = f.read()
    with open(config, "w") as f:
        f.write("netdev = eth0\n")
    made = Machine(root)
    try:
        if made.nspawn.poll() is not None:
            pytest.skip("no systemd here: " + made.console())
        yield made
    finally:
        made.close()
        with open(config, "w") as f:
            f.write(before)


@pytest.fixture
def lab(machine):
    machine.between()
    return machine


@pytest.fixture
def served(lab):
    return lab


def test_as_installed(lab):
    """What is attacked below has what the unit gives it, and no more."""
    pid = lab.a.device.show("MainPID")
    with open(f"{lab.a.root}/proc/{pid}/status") as f:
        status = f.read()
    for line in "CapEff:\t0000000000001000", "Seccomp:\t2", "NoNewPrivs:\t1":
        assert line in status, status
    assert os.readlink(f"{lab.a.root}/proc/{pid}/exe") == "/usr/sbin/uroced"
    with open(f"{lab.a.root}/proc/{pid}/cmdline") as f:
        assert f.read().split("\0")[1:5] == ["--config", "/etc/uroce/uroce.conf",
                                             "--run-dir", "/run/uroce"]


def processors_of_threads(lab):
    """Of each thread of the service, those it may run on."""
    tasks = f"{lab.a.root}/proc/{lab.a.device.show('MainPID')}/task"
    found = []
    for task in os.listdir(tasks):
        try:
            with open(f"{tasks}/{task}/status") as f:
                found.append(re.search(r"Cpus_allowed_list:\t(.*)", f.read())[1])
        except OSError:
            pass  # it has ended
    return found


def test_follows_programs(lab):
    """The unit lets the threads that answer commands go to the processor of their programs."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("one processor")
    for cpu in cpus[0], cpus[-1]:
        pair = start_pair(lab.a, lab.a, ["taskset", "-c", str(cpu), "ibv_rc_pingpong", "-e", "-n", "100000000"])
        # Of two connections at least.
        wait_for(f"two threads on processor {cpu}",
                 lambda: processors_of_threads(lab).count(str(cpu)) >= 2, 30, 0.01)
        for p in pair:
            p.close()

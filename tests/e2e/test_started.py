# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""How our programs are started: with which descriptors, and beside whom."""
import os
import socket

import pytest

from hosts import wait_for


def start_closed(host, *cmd, start):
    """Without descriptors 0, 1 and 2."""
    return start("sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *cmd)


def standard(p):
    return [os.readlink(f"/proc/{p.pid}/fd/{fd}") for fd in range(3)]


def test_daemon_without_standard_descriptors(lab):
    """Its messages go into none of its own files."""
    p = start_closed(lab.a, lab.bin("uroced"), "--netdev", "eth0", "--run-dir", lab.a.run_dir,
                     start=lab.a.bare)
    lab.a.device = p
    lab.a.gid(lab.a.addr4)
    assert standard(p) == ["/dev/null"] * 3
    lab.a.run("ibv_devinfo")


def holders(path):
    """The processes that have the file open."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found |= {int(pid) for fd in os.listdir(f"/proc/{pid}/fd")
                      if os.readlink(f"/proc/{pid}/fd/{fd}") == path}
        except OSError:
            pass
    return found


def test_nobody_else_has_the_lock(lab, monkeypatch):
    """A uroced that is killed as soon as it serves leaves its lock to none of the processes that outlive it, which
    may not have run yet."""
    monkeypatch.setenv("LD_PRELOAD", lab.bin("../lib/liblate.so"))
    for _ in range(2):
        lab.a.serve("--netdev", "eth0")
        assert holders(f"{lab.a.run_dir}/lock") == {lab.a.device.pid}
        lab.a.device.kill()


def test_command_without_standard_descriptors(lab):
    """While it waits for the device, which is slow here."""
    os.mkdir(lab.a.run_dir)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as device:
        device.bind(os.path.join(lab.a.run_dir, "uroced.sock"))
        device.listen()
        device.settimeout(20)
        p = start_closed(lab.a, lab.bin("uroce"), "link", "--run-dir", lab.a.run_dir, start=lab.a.bare)
        with device.accept()[0] as client:
            client.settimeout(20)
            assert client.recv(4096)
            assert standard(p) == ["/dev/null"] * 3


@pytest.mark.parametrize("program", [("uroce-rcping", "listen", "7471"), ("uroce-path", "listen")], ids=lambda p: p[0])
def test_companion_without_standard_descriptors(lab, program):
    """An RDMA program of ours."""
    lab.a.serve("--netdev", "eth0")
    p = start_closed(lab.a, lab.bin(program[0]), *program[1:], start=lab.a.start)
    wait_for("listener", lambda: "LISTEN" in lab.a.run(lab.bin("uroce"), "res", "cm_id"))
    assert standard(p) == ["/dev/null"] * 3


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_run_leaves_closed_what_was(lab, closed):
    """The program has what `uroce run` was given, and no file of the device in its place."""
    lab.a.serve("--netdev", "eth0")
    out = os.path.join(lab.tmp, "out")
    look = (f"import os; f = os.open({out!r}, os.O_CREAT | os.O_WRONLY)\n"
            "for fd in range(3):\n"
            "    try: t = os.readlink(f'/proc/self/fd/{fd}')\n"
            "    except OSError: t = 'closed'\n"
            "    os.write(f, (t + '\\n').encode())")
    p = lab.a.bare("sh", "-c", f'exec "$@" {closed}', "sh", lab.bin("uroce"), "run", "-q", "--run-dir",
                   lab.a.run_dir, "--", "/usr/bin/python3", "-c", look)
    assert p.wait() == 0, p.report()
    got = open(out).read().split("\n")[:3]
    # Python's file is the first that it opens.
    for fd, sign in enumerate(("<&-", ">&-", "2>&-")):
        if sign in closed.split():
            assert got[fd] in ("closed", out), got
        else:
            assert got[fd] != "closed" and "socket" not in got[fd], got

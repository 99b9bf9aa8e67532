# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Memory that is a file in memory is read by the neighbour there (engine/local/udp_shown.h), in programs of one
user: tests/e2e/shown. The bytes are exact, whatever becomes of the file and of either program."""
import signal

import pytest

from test_guest_host import RAW, As, host  # pylint: disable=unused-import
from test_guests import finish, start


@pytest.fixture(autouse=True)
def in_program(monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "process")
    monkeypatch.setenv("QP_TIMEOUT", "12")


class Lab:
    """Two programs of that host, by those users."""
    def __init__(self, host, *by):
        self.a = As(host, "process", *(by[0] if by else ()))
        self.b = As(host, "process", *(by[1] if by else ()))
        self.bin, self.next_port = host.lab.bin, host.lab.next_port

    def run(self, mode):
        return start(self, mode, program=self.bin("shown"))


@pytest.mark.parametrize("by", [((), ()), (RAW, RAW)], ids=["root", "user"])
def test_exact(host, by):
    """Each has the other's file mapped, before a message is longer than what was said to be seen; after
    deregistration it has not."""
    finish(*Lab(host, *by).run("seen"))


@pytest.mark.parametrize("by", [((), RAW), (RAW, ())], ids=["server", "client"])
def test_another_user(host, by):
    finish(*Lab(host, *by).run("unseen"))


def test_no_address_space_to_spare(host):
    """Who says how much he may have keeps it."""
    finish(*Lab(host, *2 * [("prlimit", f"--as={8 << 30}")]).run("unseen"))


def test_copies_by_system_calls(host, monkeypatch):
    monkeypatch.setenv("UROCE_COPY", "syscalls")
    finish(*Lab(host).run("unseen"))


def test_stopped(host):
    """A request has failed, and its memory is the program's again, before it is read."""
    finish(*Lab(host).run("stopped"))


def test_killed(host):
    s, c = Lab(host).run("killed")
    assert (c.wait(60), s.wait(10)) == (0, -signal.SIGKILL), s.report() + c.report()
    assert "done 0" in c.text()

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a turn of the engine takes of a program's thread: little stack, and nothing that grows with the program
(engine/inproc/chores.h). tests/e2e/memory/stack.c."""
import re

import pytest

from test_guest_engine import pair  # pylint: disable=unused-import
from test_guest_host import host  # pylint: disable=unused-import
from test_guests import finish, start

# All that the thread has used: about half of that is the thread's own, and the dynamic linker's.
STACK = 8 << 10
# An eventfd now and then; the shortest file of /proc has more.
READ = 256


class Lab:
    """Two programs of that host."""
    def __init__(self, host):
        self.a = self.b = host
        self.bin, self.next_port = host.lab.bin, host.lab.next_port


def run(lab, mode):
    for lines in finish(*start(lab, mode, program=lab.bin("small_stack"))):
        used, read = map(int, re.search(r"used (\d+) read (\d+)", "\n".join(lines)).groups())
        assert used <= STACK and read <= READ, (used, read)


@pytest.fixture(params=["device", "process"])
def engine(request, monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", request.param)
    # What the dynamic linker saves on the stack is the processor's registers, whatever they are.
    monkeypatch.setenv("LD_BIND_NOW", "1")
    return request.param


def test_between_hosts(pair, engine):
    run(pair, "plain")


@pytest.mark.parametrize("memory", ["plain", "file"])
def test_on_a_host(host, engine, memory):
    run(Lab(host), memory)

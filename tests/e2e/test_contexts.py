# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs with several contexts, each with an engine in the program."""
import contextlib
import ctypes
import ipaddress
import os
import signal

from hosts import wait_for
from test_guest_engine import pair, process  # pylint: disable=unused-import

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17  # ptrace(2)
WALL = 0x40000000
EPOLL_PWAIT2 = "441"


def ptrace(request, task):
    return ctypes.CDLL(None).ptrace(*(ctypes.c_long(x) for x in (request, task, 0, 0)))


def let_go(task):
    if ptrace(DETACH, task):
        os.waitpid(task, WALL)  # it has ended


@contextlib.contextmanager
def stopped(tasks):
    with contextlib.ExitStack() as stack:
        for task in tasks:
            assert ptrace(SEIZE, task) == 0
            stack.callback(let_go, task)
            assert ptrace(INTERRUPT, task) == 0
            os.waitpid(task, WALL)
        yield


def sleeps(program, task):
    return open(f"/proc/{program.pid}/task/{task}/syscall").read().split()[0] == EPOLL_PWAIT2


@contextlib.contextmanager
def two_contexts(host, *words):
    """The program, and the threads of its engines, which sleep; it ends well."""
    gid = ipaddress.ip_address(f"::ffff:{host.addr4}").exploded
    program = host.start(host.lab.bin("contexts"), host.gid(host.addr4), gid, *words)
    try:
        wait_for("ready", lambda: "ready" in program.text() or not program.running())
        tasks = sorted(int(t) for t in os.listdir(f"/proc/{program.pid}/task"))
        tasks.remove(program.pid)
        assert len(tasks) == 2, program.report()
        for task in tasks:
            wait_for("a thread that sleeps", lambda task=task: sleeps(program, task))
        yield program, tasks
        assert program.wait(20) == 0 and "done" in program.text(), program.report()
    finally:
        program.kill()


def go_on(program, said):
    os.kill(program.pid, signal.SIGUSR1)
    # A program that has ended is there as long as a thread of it is stopped.
    wait_for(said, lambda: said in program.text() or "failed" in program.text() or not program.running())
    assert said in program.text(), program.report()


def test_one_thread(pair, process):
    """Who waits for one of two that talk to each other runs the other as well: the
    engines' own threads stand still meanwhile."""
    with two_contexts(pair.a) as (program, tasks):
        with stopped(tasks):
            go_on(program, "sent")
        os.kill(program.pid, signal.SIGUSR1)


def test_end_behind_an_acknowledgement(pair, process):
    """It has arrived, but no thread has looked: the message was sent before the queue pair is in ERR."""
    with two_contexts(pair.a, "end") as (program, (ours, theirs)):
        with stopped([ours]):
            go_on(program, "sent")
            wait_for("the acknowledgement", lambda: sleeps(program, theirs))
            go_on(program, "polled")
        os.kill(program.pid, signal.SIGUSR1)

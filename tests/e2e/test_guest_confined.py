# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs that forbid themselves system calls once they are connected (guest/confined.c): in the
strict mode of seccomp, or with a filter that refuses all else. And programs whose threads end
one by one, which in strict mode is the only end."""
import pytest

from hosts import wait_for
from test_guest_engine import pair  # pylint: disable=unused-import
from test_guests import engine, finish, in_program, start  # pylint: disable=unused-import


@pytest.fixture
def patient(monkeypatch):
    """A peer may wait for a processor, and who gives up says so to nobody: the other one waits."""
    monkeypatch.setenv("QP_TIMEOUT", "16")  # 270 ms, eight times


@pytest.fixture(params=["one host", "two hosts"])
def on(request, pair):
    return pair.a, pair.a if request.param == "one host" else pair.b


@pytest.mark.parametrize("sleeps", ["", "_sleeps"])
@pytest.mark.parametrize("way", ["strict", "eperm", "enosys"])
def test_goes_on(pair, on, engine, patient, way, sleeps):
    """Polls, or waits at its channel by read(); every byte is verified. Who polls never lets go of its processor,
    and the engine's thread has what the scheduler leaves it."""
    finish(*start(pair, way + sleeps, on), 120)


test_goes_on.shows = lambda params: [
    (name, (params[name], params["way"])) for name in ("on", "sleeps")
    if params["engine"] == "process"] or [("engine", "device")]


def test_filter_is_not_told(pair, on, in_program):
    """One that is made past the C library, as root's may be: polls end with an error. Whoever needed no system
    call on one host then waits for a message that nobody sends, as with a card."""
    programs = start(pair, "unseen", on)
    wait_for("an end", lambda: not all(p.running() for p in programs), limit=30)
    report = "".join(p.report() for p in programs)
    ended = [p for p in programs if not p.running()]
    failed = ended[0].wait(1)
    assert failed in (0, 1), report
    for p in programs:
        if failed:
            p.kill()
        assert failed or p.wait(30) == 0, p.report()


def test_threads_end(pair, on, engine, patient):
    """The first thread long before the last one, and the process with that."""
    finish(*start(pair, "parts", on), 30)

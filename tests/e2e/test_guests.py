# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What programs do that libraries must bear: tests/e2e/guest. With the engine in
the device, and in the program (UROCE_ENGINE=process)."""
import errno
import fcntl
import glob
import ipaddress
import os
import re
import shutil
import signal
import subprocess

import pytest

import hosts
from hosts import wait_for
from pairs import run_pair
from test_guest_engine import GUESTS, engines, pair  # pylint: disable=unused-import
from test_guest_host import As


@pytest.fixture(params=["device", "process"])
def engine(request, monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", request.param)
    return request.param


def start(pair, mode, on=None, program=None):
    """(server, client) of the program, a path or the words of a command."""
    command = [program or pair.bin("guest")] if not isinstance(program, list) else program
    port = str(pair.next_port())
    programs = []
    for host in on or (pair.a, pair.b):
        gid = ipaddress.ip_address(f"::ffff:{host.addr4}").exploded
        peer = [pair.a.addr4] if programs else []
        programs.append(host.start(*command, mode, host.gid(host.addr4), gid, port, *peer))
        wait_for("the server", lambda: programs[0].listens(int(port)) or
                 len(programs) > 1 or not programs[0].running())
    return programs


def finish(server, client, limit=60):
    got = client.wait(limit), server.wait(10)
    report = server.report() + client.report()
    assert got == (0, 0), report
    assert "done 0" in server.text() and "done 0" in client.text(), report
    return server.text().splitlines(), client.text().splitlines()


def switches(pid):
    """How often its threads were put on a processor."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        total += int(open(f"/proc/{pid}/task/{task}/schedstat").read().split()[2])
    return total


def test_idle(pair, engine):
    """Who sleeps at a completion channel is not woken while nothing comes."""
    s, c = start(pair, "idle")
    try:
        for p in s, c:
            wait_for("idle", lambda p=p: "idle" in p.text() or not p.running())
        counts = []

        def quiet():
            counts.append((switches(s.pid), switches(c.pid)))
            return len(counts) > 1 and counts[-1] == counts[-2]

        wait_for("two looks with nothing between them", quiet, step=0.5)
        finish(s, c)
    finally:
        for p in s, c:
            p.kill()


@pytest.mark.parametrize("mode", ["exec", "vfork", "threads", "cancel", "signals", "masked",
                                  "handler"])
def test_goes_on(pair, engine, mode):
    finish(*start(pair, mode))


@pytest.mark.parametrize("on", ["one host", "two hosts"])
@pytest.mark.parametrize("mode,status", [("exit", 0), ("abort", -signal.SIGABRT)])
def test_ends_in_traffic(pair, in_program, mode, status, on):
    """By exit() or abort() in one thread while another polls: the peer is told, and the engine's
    place is free again."""
    s, c = start(pair, mode, (pair.a, pair.a if on == "one host" else pair.b))
    assert (c.wait(60), s.wait(10)) == (0, status), s.report() + c.report()
    assert "send 12" in c.text(), c.report()  # IBV_WC_RETRY_EXC_ERR
    finish(*start(pair, "masked"))


# A plugin host, which has no libibverbs of its own.
OPENS = """
import _ctypes, ctypes, os, threading
def look():
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
def once():
    lib = ctypes.CDLL("libibverbs.so.1")
    lib.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
    lib.ibv_open_device.restype = ctypes.c_void_p
    devices = lib.ibv_get_device_list(None)
    context = lib.ibv_open_device(ctypes.c_void_p(devices[0]))
    assert context and not lib.ibv_close_device(ctypes.c_void_p(context))
    lib.ibv_free_device_list(devices)
    _ctypes.dlclose(lib._handle)
once()
before = look()
for _ in range(TIMES):
    once()
assert look() == before, (before, look())
print("the same")
"""


def test_opened_again_and_again(pair, in_program):
    """dlopen(), a context, dlclose(): no descriptor and no thread is left. With UROCE_FULL
    1,000 times."""
    times = 1000 if os.environ.get("UROCE_FULL") else 50
    p = pair.a.start("/usr/bin/python3", "-c", OPENS.replace("TIMES", str(times)))
    assert p.wait(100) == 0 and "the same" in p.text(), p.report()


@pytest.mark.parametrize("library", ["libjemalloc.so.2", "libtcmalloc_minimal.so.4",
                                     "libmimalloc.so.2"])
def test_allocator(pair, in_program, library):
    """In front of the C library's, as programs are that link with it."""
    if not glob.glob("/usr/lib/*/" + library):
        pytest.skip(f"{library} is not installed")

    def before(host):
        return As(host, "process", "sh", "-c", f'LD_PRELOAD="{library} $LD_PRELOAD" exec "$@"', "-")
    ends = run_pair(before(pair.a), before(pair.b), ["ibv_rc_pingpong", "-e", "-c", "-n", "300"])
    assert not any("cannot be preloaded" in text for text in ends), ends


@pytest.mark.parametrize("gib", [1, 4])
def test_limit_of_addresses(pair, gib):
    """ulimit -v: a program without room for an engine has one in an engine process."""
    limited = [As(host, "", "prlimit", f"--as={gib << 30}") for host in (pair.a, pair.b)]
    run_pair(*limited, ["ibv_rc_pingpong", "-c", "-n", "100"])


def test_under_gdb(pair, in_program):
    if not shutil.which("gdb"):
        pytest.skip("gdb is not installed")
    before = ["gdb", "-q", "-batch", "-return-child-result", "-ex", "run", "--args"]
    run_pair(*2 * [As(pair.a, "process", *before)], ["ibv_rc_pingpong", "-c", "-n", "100"])


@pytest.mark.parametrize("options, on", [(["-s", "3000"], "one host"), (["-e"], "two hosts")],
                         ids=["polls", "sleeps"])
def test_under_valgrind(pair, engine, build, options, on):
    """It has nothing to say of a program without faults."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    before = ["valgrind", "-q", "--trace-children=yes", "--error-exitcode=9"]
    hosts_of = (pair.a, pair.a if on == "one host" else pair.b)
    with hosts.code_of(build + "/lib/liburoce-engine.so", fcntl.LOCK_SH):
        texts = run_pair(*(As(h, engine, *before) for h in hosts_of),
                         ["ibv_rc_pingpong", "-c", "-n", "20", *options])
    assert not re.search(r"^(==|--)\d+", "\n".join(texts), re.M), texts


test_under_valgrind.shows = dict.items


@pytest.mark.parametrize("on", ["one host", "two hosts"])
@pytest.mark.parametrize("way", ["processor", "syscalls"])
def test_memory_goes_away(pair, monkeypatch, way, on):
    """Under traffic: its requests fail, and no handler of the programs is called. Copies are
    made by the processor, or by system calls (UROCE_COPY)."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    monkeypatch.setenv("UROCE_COPY", way)
    on = pair.a, pair.a if on == "one host" else pair.b
    for lines in finish(*start(pair, "gone", on)):
        assert f"behind {int(way == 'processor')}" in lines


def compiled(folder, compiler, *options):
    """The path of tests/e2e/guest made by that compiler."""
    here = os.path.join(os.path.dirname(__file__), "guest")
    program = str(folder / "guest")
    subprocess.run([compiler, *options, "-D_GNU_SOURCE", "-I", hosts.TOP, "-o", program,
                    *glob.glob(here + "/*.c"), "-libverbs", "-lpthread"], check=True)
    return program


# With ThreadSanitizer a program has an engine process (test_sanitizers.py).
@pytest.mark.parametrize("sanitizer", ["address"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_memory_goes_away_under_a_sanitizer(pair, monkeypatch, tmp_path, compiler, sanitizer):
    """Its runtime has handlers of its own, and wrappers of the same functions."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    monkeypatch.setenv("UROCE_ENGINE", "process")
    program = compiled(tmp_path, compiler, "-fsanitize=" + sanitizer)
    finish(*start(pair, "gone", (pair.a, pair.a), program))


@pytest.fixture
def in_program(monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "process")


def refusals(text):
    """What the verbs of a child say: EIO, and that its channel has ended."""
    return [x for x in text.splitlines() if x.split()[0] in ("poll", "post",
                                                             "sleep")]


REFUSED = [f"poll {-errno.EIO}", f"post {errno.EIO}", f"sleep {-errno.ENODATA}"]


def test_child(pair, in_program):
    """A child of fork is refused all that needs its parent's engine; the parent
    goes on."""
    s, _ = finish(*start(pair, "fork"))
    assert refusals("\n".join(s)) == REFUSED


def finish_daemon(s, c):
    """The server's child ends it."""
    assert s.wait(20) == 0 and c.wait(60) == 0, s.report() + c.report()
    wait_for("the child", lambda: "done 0" in s.text())
    assert "done 0" in c.text()


def test_parent_that_goes_on(pair, in_program):
    """So is one whose parent has ended after its engine had done something; the peer's requests
    fail."""
    s, c = start(pair, "daemon_late")
    finish_daemon(s, c)
    assert refusals(s.text()) == REFUSED
    assert "send 12" in c.text()  # IBV_WC_RETRY_EXC_ERR


@pytest.mark.parametrize("when", ["after", "amid", "before", "twice", "sleeps", "makes"])
def test_daemon(pair, in_program, when):
    """A server opens the device, or has a connection already, and becomes a daemon: the child
    goes on, whether its peer has sent before, sends meanwhile, or afterwards."""
    finish_daemon(*start(pair, f"daemon_{when}"))


@pytest.mark.parametrize("when", ["after", "amid", "before", "twice", "sleeps"])
def test_daemon_near(pair, in_program, when):
    """The same with a client on the same host, and rings between the two."""
    finish_daemon(*start(pair, f"daemon_{when}", (pair.a, pair.a)))


def test_generations(pair, in_program):
    """The engine goes from each process to its child, and none leaves a descriptor behind: of sockets less than one for
    each. A class of traffic that comes first on a busy machine, as that of notifications, has two of its own."""
    s, c = start(pair, "daemon_again")
    finish_daemon(s, c)
    found = dict(line.split() for line in s.text().splitlines())
    assert int(found["more"]) < int(found["generations"]), s.report()
    assert found["no-sockets"] == "0", s.report()


def test_daemon_is_shown(pair, in_program):
    """As the one who has the queue pair, while it sleeps."""
    wait_for("an empty device", lambda: not engines(pair.a))
    s, c = start(pair, "daemon_before")
    assert s.wait(20) == 0, s.report()
    wait_for("the child", lambda: engines(pair.a) and s.pid not in engines(pair.a))
    assert list(engines(pair.a).values()) == ["program"]
    finish_daemon(s, c)


def test_child_makes(pair, engine):
    """A child has what it makes itself with the context of a parent that lives, and so has the
    parent."""
    finish(*start(pair, "child_makes"))


@pytest.mark.parametrize("near", [False, True])
def test_serves_and_forks(pair, engine, near, monkeypatch):
    """A server whose children stay goes on serving, at once: its client's requests last 134 ms
    with their retries, and it forks each 50 ms."""
    monkeypatch.setenv("QP_TIMEOUT", "12")
    finish(*start(pair, "serves", (pair.a, pair.a) if near else None))


def test_closes_all(pair, in_program):
    """Who closes all descriptors has no engine any more, and nobody touches what
    he opens then. The peer's requests fail, the next program's do not."""
    s, c = finish(*start(pair, "close"))
    assert refusals("\n".join(s)) == REFUSED[:2]
    assert "send 12" in c  # IBV_WC_RETRY_EXC_ERR
    finish(*start(pair, "signals"))


def test_device_is_gone(lab, engine):
    """Who sleeps when the device ends is told; one that is killed ends no engine
    (test_restart.py)."""
    for host in lab.a, lab.b:
        host.serve(*GUESTS)
    s, c = start(lab, "idle")
    try:
        wait_for("idle", lambda: "idle" in s.text() or not s.running())
        lab.a.device.kill(signal.SIGTERM)
        assert s.wait(20) == 1, s.report()
        assert "rounds: Input/output error" in s.text()
    finally:
        c.kill()

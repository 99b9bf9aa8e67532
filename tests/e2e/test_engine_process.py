# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Engines in a process of their own (UROCE_ENGINE=apart): one for each user, as that user.
Its contexts outlive uroced, and end with it alone."""
import ctypes
import errno
import json
import os
import signal
import subprocess

import pytest

import cgroups
from cm import run_cm_pair
from engine_processes import processes, status
from hosts import wait_for
from pairs import run_pair
from test_guest_engine import GUESTS, granting
from test_guest_host import As
from test_guests import start
from test_restart import IBV_EVENT_DEVICE_FATAL, connected, end, go_on, kill

OTHERS = {uid: ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"]
          for uid in ("65534", "54534")}
NO_GROUP = "65534"
KILLS = 100 if os.environ.get("UROCE_FULL") else 2
PTRACE_ATTACH = 16
PTRACE_DETACH = 17
WALL = 0x40000000
SYS_PIDFD_GETFD = 438


@pytest.fixture
def pair(build, monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "apart")
    with granting(build) as lab:
        yield lab


def gone(host):
    wait_for("no engine process", lambda: not processes(host))


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("by", ["root", "65534"])
@pytest.mark.parametrize("program", [["ibv_rc_pingpong", "-e", "-c"],
                                     ["ibv_ud_pingpong", "-s", "1024", "-c"]], ids=" ".join)
def test_pingpong(pair, program, by, on):
    """Its process goes when nobody has an engine in it."""
    client = As(pair.a if on == "one host" else pair.b, "apart", *OTHERS.get(by, []))
    run_pair(As(pair.a, "apart", *OTHERS.get(by, [])), client, [*program, "-n", "50"])
    gone(pair.a)


def test_rping(pair):
    """It sleeps until its last receive is flushed; librdmacm's attributes have fields that nobody set."""
    port = str(pair.next_port())
    run_cm_pair(pair.a, pair.b,
                ["rping", "-s", "-a", pair.a.addr4, "-p", port, "-V", "-C", "10"],
                ["rping", "-c", "-a", pair.a.addr4, "-p", port, "-V", "-C", "10"], port)


def test_limits_are_kept(pair):
    """A context's rings get more room than the process was begun with."""
    pair.a.run(pair.a.lab.bin("verbs_corners"), "limits")


@pytest.mark.parametrize("on", ["two hosts", "one host"])
@pytest.mark.parametrize("mode", ["restart", "restart_sleeps"])
def test_uroced_is_killed(pair, mode, on):
    with connected(pair, mode, on) as programs:
        had = processes(pair.a)
        assert had
        for n in range(KILLS):
            kill(pair.a)
            go_on(programs, f"kill {n}\n")
            pair.a.serve(*GUESTS)
            go_on(programs, f"serve {n}\n")
            assert processes(pair.a) == had
        end(*programs)
    gone(pair.a)


# batch, sources and order of doc/adverse.md.
HOSTILE = "1:1c"


@pytest.mark.parametrize("on", ["two hosts", "one host"])
def test_hostile_card(pair, monkeypatch, on):
    """Is its user's engine process's without being asked for, and outlives uroced as it is."""
    monkeypatch.delenv("UROCE_ENGINE")
    monkeypatch.setenv("UROCE_ADVERSE", HOSTILE)
    with connected(pair, "restart_sleeps", on) as programs:
        had = processes(pair.a)
        assert list(had.values()) == [0]
        for n in range(2):
            kill(pair.a)
            go_on(programs, f"kill {n}\n")
            pair.a.serve(*GUESTS)
            go_on(programs, f"serve {n}\n")
            assert processes(pair.a) == had
        end(*programs)
    gone(pair.a)


def as_user(host, uid):
    return As(host, "apart", *OTHERS[uid])


def watch(host):
    """Says what asynchronous events its context gets."""
    p = host.start("stdbuf", "-oL", "ibv_asyncwatch", "-d", "uroce0")
    wait_for("a context", lambda: "FD" in p.text() or not p.running())
    return p


def is_fatal(watcher):
    """Addresses that come are events, too."""
    text = watcher.text().partition("FD")[2].lower()
    return f"event_type {IBV_EVENT_DEVICE_FATAL}" in text or "fatal" in text


def test_process_is_killed(pair):
    """Its user's contexts get IBV_EVENT_DEVICE_FATAL within a second, and no other's. He gets another one."""
    others = start(pair, "restart_sleeps", (pair.a, pair.b))
    his = start(pair, "restart_sleeps", (as_user(pair.a, "54534"), as_user(pair.b, "54534")))
    watchers = {uid: watch(as_user(pair.a, uid)) for uid in OTHERS}
    try:
        go_on(others)
        go_on(his)
        ours = {uid: pid for pid, uid in processes(pair.a).items()}
        assert set(ours) == {0, 54534, 65534}
        os.kill(ours[54534], signal.SIGKILL)
        wait_for("its end", lambda: is_fatal(watchers["54534"]), limit=5)
        wait_for("its programs", lambda: not his[0].running(), limit=5)
        go_on(others)
        assert not is_fatal(watchers["65534"]), watchers["65534"].report()
        run_pair(as_user(pair.a, "54534"), as_user(pair.b, "54534"),
                 ["ibv_rc_pingpong", "-c", "-n", "20"])
        end(*others)
    finally:
        for p in [*others, *his, *watchers.values()]:
            p.kill()


def test_process_is_confined(pair):
    with connected(pair, "restart_sleeps") as programs:
        (pid, uid), = processes(pair.a).items()
        has = status(pid)
        assert uid == 0 and not has["Groups"].split() and set(has["Gid"].split()) == {NO_GROUP}
        assert {has[k].strip() for k in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb")} == \
            {"0" * 16}
        assert has["Seccomp"].strip() == "2" and has["NoNewPrivs"].strip() == "1"
        assert open(f"/proc/{pid}/environ").read() == ""
        assert os.readlink(f"/proc/{pid}/cwd") == "/"
        assert {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in range(3)} == {"/dev/null"}
        end(*programs)


def test_process_has_no_group_of_a_program(pair):
    """A setgid program's is not that of the user's other programs."""
    setgid = As(pair.a, "apart", "setpriv", "--reuid", "54534", "--regid", "42", "--groups", "43")
    watcher = watch(setgid)
    try:
        (pid, uid), = processes(pair.a).items()
        has = status(pid)
        assert uid == 54534 and not has["Groups"].split()
        assert set(has["Gid"].split()) == {NO_GROUP}
    finally:
        watcher.kill()


def test_process_is_closed_from_its_first_instruction(build, tmp_path):
    """Its user, whose gid it may even have, sees nothing of it before it is confined."""
    os.chmod(tmp_path.parent.parent, 0o755)
    os.chmod(tmp_path.parent, 0o755)
    os.chmod(tmp_path, 0o755)
    waits = tmp_path / "waits.so"  # the dynamic linker opens it, and waits
    os.mkfifo(waits, 0o644)
    p = subprocess.Popen([*OTHERS["54534"], "env", f"LD_PRELOAD={waits}",
                          os.path.join(build, "bin", "uroce-engine")])
    try:
        wait_for("the dynamic linker", lambda: os.path.exists(f"/proc/{p.pid}/comm") and
                 open(f"/proc/{p.pid}/comm").read() == "uroce-engine\n")
        assert status(p.pid)["Seccomp"].strip() == "0"
        assert set(tries(54534, p.pid).split(",")) <= {"", "signal"}
    finally:
        p.kill()
        p.wait()


MEMORY = 200 << 20


def test_rings_are_charged(pair, monkeypatch):
    """Users together have half of uroced's memory, one of them half of that; each context begins with 8 MiB of it."""
    pair.a.stop()
    with cgroups.limited(f"ur-e2e-{os.getpid()}", MEMORY) as (enter, _):
        begin = pair.a.bare
        monkeypatch.setattr(pair.a, "bare",
                            lambda *cmd, **kw: begin(*cmd, **kw, preexec_fn=enter))
        pair.a.serve(*GUESTS)
        monkeypatch.undo()
        monkeypatch.setenv("UROCE_ENGINE", "apart")
        watchers = [as_user(pair.a, "65534").start("stdbuf", "-oL", "ibv_asyncwatch", "-d", "uroce0")
                    for _ in range(8)]
        try:
            wait_for("contexts", lambda: all("FD" in p.text() or not p.running()
                                             for p in watchers))
            assert 3 < sum(p.running() for p in watchers) < 7, [p.report() for p in watchers]
            his = watch(as_user(pair.a, "54534"))
            assert his.running(), his.report()
            his.kill()
        finally:
            for p in watchers:
                p.kill()
            pair.a.stop()


def tries(uid, pid):
    """What somebody gets of a process: names of what is not refused."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        libc = ctypes.CDLL(None, use_errno=True)
        got = []
        for name in "mem", "maps", "environ", "fd/3", "syscall":
            try:
                os.close(os.open(f"/proc/{pid}/{name}", os.O_RDONLY))
                got.append(name)
            except OSError:
                pass
        if not libc.ptrace(PTRACE_ATTACH, pid, None, None):
            got.append("ptrace")
        pidfd = os.pidfd_open(pid)
        for fd in range(64):
            if libc.syscall(SYS_PIDFD_GETFD, pidfd, fd, 0) >= 0:
                got.append(f"descriptor {fd}")
        if uid and not libc.kill(pid, 0) and uid != os.stat(f"/proc/{pid}").st_uid:
            got.append("signal")
        os.write(into, ",".join(got).encode())
        os._exit(0)
    os.close(into)
    os.waitpid(child, 0)
    with os.fdopen(out) as f:
        return f.read()


def test_process_is_closed_to_users(pair):
    """Another user, and its own, who is no more than that, see nothing of it."""
    with connected(pair, "restart_sleeps") as programs:
        s, c = start(pair, "restart_sleeps", (as_user(pair.a, "54534"), as_user(pair.b, "54534")))
        try:
            go_on((s, c))
            pids = {uid: pid for pid, uid in processes(pair.a).items()}
            assert tries(65534, pids[54534]) == ""
            assert tries(65534, pids[0]) == ""
            assert tries(54534, pids[0]) == ""
            assert set(tries(54534, pids[54534]).split(",")) <= {"", "signal"}
            go_on((s, c))
        finally:
            s.kill()
            c.kill()
        end(*programs)


ISOLATED = [*GUESTS, "--isolation", "user"]


def isolated_processes(host):
    """Their owner is uroced's, not the user whose engines they have."""
    found = processes(host)
    assert set(found.values()) <= {os.getuid()}
    return set(found)


def test_users_are_kept_apart(lab, monkeypatch):
    """By engine processes of uroced's own user, one for each user: they outlive uroced; who has one reaches neither it
    nor another's; and its end is its user's alone."""
    monkeypatch.delenv("UROCE_ENGINE", raising=False)
    for host in lab.a, lab.b:
        host.serve(*ISOLATED)
        os.chmod(host.run_dir, 0o755)
    # Packets of who has no right to sockets wait for uroced.
    raw = ["--inh-caps", "+net_raw", "--ambient-caps", "+net_raw"]

    def user(uid):
        return [As(host, "process", *OTHERS[uid], *raw) for host in (lab.a, lab.b)]
    his = start(lab, "restart_sleeps", user("54534"))
    others = []
    try:
        go_on(his)
        first = isolated_processes(lab.a)
        others = start(lab, "restart_sleeps", user("65534"))
        go_on(others)
        second = isolated_processes(lab.a) - first
        assert len(first) == len(second) == 1
        for pid in (*first, *second):
            assert tries(54534, pid) == tries(65534, pid) == ""
        kill(lab.a)
        go_on(his, "kill\n")
        lab.a.serve(*ISOLATED)
        os.chmod(lab.a.run_dir, 0o755)
        go_on(his, "serve\n")
        go_on(others, "serve\n")
        go_on(his, "still\n")
        assert isolated_processes(lab.a) == first | second
        os.kill(*first, signal.SIGKILL)
        wait_for("its programs", lambda: not his[0].running(), limit=10)
        go_on(others)
        end(*others)
    finally:
        for p in [*others, *his]:
            p.kill()


OPEN_ALL = """
import resource
from pyverbs.device import Context
from pyverbs.pyverbs_error import PyverbsRDMAError
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
kept = []
try:
    while len(kept) < 600:
        kept.append(Context(name="uroce0"))
except PyverbsRDMAError as err:
    print(len(kept), err.error_code)
"""


@pytest.mark.parametrize("place", ["apart", ""])
def test_no_slot_left(pair, monkeypatch, place):
    """Opening the device fails then, and uroced says why; an engine of uroced's is no way out."""
    monkeypatch.setenv("UROCE_ENGINE", place)
    p = pair.a.start("/usr/bin/python3", "-c", OPEN_ALL)
    assert p.wait(300) == 0, p.report()
    made, err = map(int, p.text().split())
    assert made > 200 and err == errno.EBUSY, p.text()
    assert "gets no engine: no slot is left" in pair.a.device.text()


LEAVES_OBJECTS = """
import os, signal
from pyverbs.cq import CQ
from pyverbs.device import Context
signal.signal(signal.SIGUSR1, lambda *_: 0)
ctx = Context(name="uroce0")
cq = CQ(ctx, 4)
print("waits", flush=True)
signal.pause()
os._exit(0)
"""


def test_program_ends_beside_a_stopped_process(pair):
    """It waits for a limited time until what it posted last is sent."""
    p = pair.a.start("/usr/bin/python3", "-c", LEAVES_OBJECTS)
    wait_for("a context", lambda: "waits" in p.text() or not p.running())
    pid, = processes(pair.a)
    os.kill(pid, signal.SIGSTOP)
    try:
        p.kill(signal.SIGUSR1)
        assert p.wait(20) == 0, p.report()
    finally:
        os.kill(pid, signal.SIGCONT)
    gone(pair.a)


def cpu_ticks(pid, tid):
    """User and system time of a thread."""
    with open(f"/proc/{pid}/task/{tid}/stat") as f:
        return sum(map(int, f.read().rpartition(")")[2].split()[11:13]))


def threads(pid):
    return set(map(int, os.listdir(f"/proc/{pid}/task")))


def stop_in_turn(pid):
    """Stops the thread that takes the turns in the middle of one. Returns its number, when another has its work."""
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    before = threads(pid)
    tid = max(before, key=lambda t: cpu_ticks(pid, t))
    for _ in range(50):
        ticks = cpu_ticks(pid, tid)
        wait_for("turns", lambda: cpu_ticks(pid, tid) > ticks)
        assert not ptrace(PTRACE_ATTACH, tid, None, None)
        os.waitpid(tid, WALL)
        try:
            wait_for("another thread", lambda: threads(pid) - before, limit=0.25)
            return tid
        except AssertionError:  # it was between two turns
            assert not ptrace(PTRACE_DETACH, tid, None, None)
    raise AssertionError("no other thread has taken over")


def sent_packets(host):
    out = host.run(host.lab.bin("uroce"), "stat", "--json")
    return json.loads(out)[0]["counters"]["sent_pkts"]


def test_turn_that_does_not_end(pair):
    """Holds up its own engine alone, though the others have had the same thread. One pair goes on; the other one
    repeats a packet seven times at most."""
    programs = []
    for _ in range(2):
        port = str(pair.next_port())
        argv = ["ibv_rc_pingpong", "-g", "1", "-n", "100000000", "-p", port]
        programs.append(pair.a.start(*argv))
        wait_for("the server", lambda: programs[-1].listens(int(port)))
        programs.append(pair.a.start(*argv, pair.a.addr4))
    pid, = wait_for("its process", lambda: processes(pair.a))
    wait_for("turns", lambda: max(cpu_ticks(pid, t) for t in threads(pid)) > 20)
    tid = stop_in_turn(pid)
    try:
        before = sent_packets(pair.a)
        wait_for("more packets", lambda: sent_packets(pair.a) > before + 1000)
    finally:
        ctypes.CDLL(None).ptrace(PTRACE_DETACH, tid, None, None)
    for p in programs:
        p.kill()
    gone(pair.a)


def test_memory_that_nobody_may_open(pair, monkeypatch):
    """Is in an engine process of uroced's user, beside that of the program's: it is mapped there."""
    monkeypatch.delenv("UROCE_ENGINE")
    by = OTHERS["65534"]
    plain = As(pair.a, "apart", *by).start("ibv_rc_pingpong", "-d", "uroce0", "-p",
                                           str(pair.next_port()))
    wait_for("one of its user", lambda: set(processes(pair.a).values()) == {65534} or
             not plain.running())
    p = pair.a.start(*by, pair.bin("undumpable"), "prctl")
    wait_for("the program", lambda: "prctl: fine" in p.text() or not p.running())
    assert sorted(processes(pair.a).values()) == [0, 65534], p.report()
    p.kill(signal.SIGTERM)
    assert p.wait(20) == 0, p.report()
    wait_for("its end", lambda: set(processes(pair.a).values()) == {65534})
    plain.kill()
    gone(pair.a)

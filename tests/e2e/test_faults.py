# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A bad network, and processes that die."""
import json
import os
import re
import signal
import time

import pytest

import rules
from engine_processes import processes
from hosts import wait_for
from pairs import run_pair, start_pair

CUT = rules.arriving("bad", "drop")
# Each packet or burst that leaves may leave a second time.
TWICE = rules.leaving("twice", f"{rules.some(20)} counter dup to eth0")
# One of the three bands of a queue for each: they overtake one another.
MIXED = rules.sent("mixed", "meta priority set numgen random mod 3 map "
                   "{ 0 : 0:6, 1 : 0:0, 2 : 0:2 }")


def ask(host, command, *words):
    p = host.bare(host.lab.bin("uroce"), command, "--run-dir", host.run_dir,
                  "--json", *words)
    assert p.wait() == 0, p.report()
    return json.loads(p.text())


def counter(host, name):
    return ask(host, "stat")[0]["counters"][name]


def wait_traffic(lab):
    """The programs print when they end: look at the cable instead."""
    def count():
        link = json.loads(lab.b.ip("-j", "-s", "link", "show", "eth0"))[0]
        return min(link["stats64"][d]["packets"] for d in ("rx", "tx"))
    start = count()
    wait_for("traffic", lambda: count() > start + 100)


def dropped(lab):
    """Packets that the DROP rules of both hosts took."""
    total = 0
    for host in lab.a, lab.b:
        p = host.bare("nft", "list", "ruleset")
        assert p.wait() == 0, p.report()
        total += int(re.search(r"counter packets (\d+)", p.text()).group(1))
    return total


def children(pid):
    try:
        return [int(p) for p in
                open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []


def find(program, name):
    """The pid of the program below `uroce run`."""
    def look():
        todo = [program.pid]
        while todo:
            pid = todo.pop()
            todo += children(pid)
            try:
                if open(f"/proc/{pid}/comm").read().strip() == name[:15]:
                    return pid
            except OSError:
                pass
        return None
    return wait_for(name, look)


LAST_ACK = {"local_ack_timeout_err": 8, "req_transport_retries_exceeded": 1}


def lost_last_ack(left, stayed, before, report):
    """The one pingpong whose failure is no fault of the device.

    The side that is done first takes its queue pair away. Where the
    acknowledgement of the other's last message was lost, that one can only
    fail, on any network. It has then waited as often as ibv_rc_pingpong asks
    for (retry_cnt 7), in vain because nobody was there any more.
    """
    return ("retry counter exceeded (12) for wr_id 2" in report and
            all(counter(stayed, name) - before[stayed][name] >= by
                for name, by in LAST_ACK.items()) and
            counter(left, "bad_qpn") > before[left]["bad_qpn"])


@pytest.mark.parametrize("percent", [1, 10])
@pytest.mark.parametrize("size", [1000, 20000])
def test_loss(lab, percent, size):
    """Every byte arrives once and in order (-c), at both ends."""
    lab.serve()
    for host in lab.a, lab.b:
        host.nft(rules.drop(percent))
    for _ in range(5):
        before = {h: ask(h, "stat")[0]["counters"] for h in (lab.a, lab.b)}
        s, c = start_pair(lab.a, lab.b,
                          ["ibv_rc_pingpong", "-c", "-s", str(size), "-n",
                           "100" if percent > 1 else "500"])
        got = c.wait(120), s.wait(20)
        if got == (0, 0):
            break
        report = c.report() + s.report()
        assert 0 in got, report
        # the server runs on a
        left, stayed = (lab.b, lab.a) if got[0] == 0 else (lab.a, lab.b)
        assert lost_last_ack(left, stayed, before, report), report
    assert got == (0, 0), report
    assert dropped(lab), "nothing was dropped"
    for host in lab.a, lab.b:
        assert counter(host, "completer_retry_err") > 0


def run_all(lab):
    """Data checked by the first two; the others have windows full of it."""
    for cmd in (["ibv_rc_pingpong", "-c", "-s", "20000", "-n", "200"],
                ["ibv_srq_pingpong", "-c", "-q", "8", "-n", "200"]):
        run_pair(lab.a, lab.b, cmd)
    for cmd in (["ib_write_bw", "-s", "1000", "-n", "1000"],
                ["ib_send_bw", "-s", "65536", "-n", "100"],
                ["ib_read_bw", "-s", "8192", "-n", "100"],
                ["ib_atomic_bw", "-n", "100"]):
        run_pair(lab.a, lab.b, [*cmd, "-F"], 4, "-x")


def test_duplicates(lab):
    lab.serve()
    for host in lab.a, lab.b:
        host.nft(TWICE)
    run_all(lab)
    assert counter(lab.a, "duplicate_request") > 0


def test_reordering(lab):
    lab.serve()
    for host in lab.a, lab.b:
        # Slow enough that something waits, or there is nothing to overtake;
        # with room for all of it, or a last acknowledgement may be lost.
        host.ip("link", "set", "eth0", "txqueuelen", "100000")
        for where in (["root", "handle", "1:", "tbf", "rate", "400mbit",
                       "burst", "16k", "limit", "64m"],
                      ["parent", "1:1", "pfifo_fast"]):
            host.tc("qdisc", "add", "dev", "eth0", *where)
        host.nft(MIXED)
    run_all(lab)
    assert counter(lab.a, "out_of_sequence") > 0
    for host in lab.a, lab.b:
        queues = json.loads(host.tc("-j", "-s", "qdisc", "show", "dev", "eth0"))
        assert [q["drops"] for q in queues] == [0, 0], queues


def test_loss_reads(lab):
    lab.serve()
    for host in lab.a, lab.b:
        host.nft(rules.drop(1))
    for op in "read", "write", "atomic":
        run_pair(lab.a, lab.b, [f"ib_{op}_bw", "-F", "-n", "50"] +
                 (["-s", "16384"] if op != "atomic" else []), 4, "-x",
                 limit=60)


def test_kill_client(lab):
    """The server learns of it, and the device serves on."""
    lab.serve()
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000"])
    pid = find(c, "ibv_rc_pingpong")
    wait_traffic(lab)
    os.kill(pid, signal.SIGKILL)
    assert c.wait(20) == -signal.SIGKILL, c.report()
    # A ping-pong that waits to receive has nothing outstanding to fail, and
    # may wait for ever.
    s.kill()
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-c", "-n", "100"])


@pytest.mark.parametrize("program", [["ib_write_bw", "-s", "65536"],
                                     ["ib_read_bw", "-s", "65536"]])
def test_kill_server(lab, program):
    """One that always has work outstanding fails with retries exceeded."""
    lab.serve()
    s, c = start_pair(lab.a, lab.b, [*program, "-F", "-n", "100000000", "-N"],
                      4, "-x")
    wait_traffic(lab)
    pid = find(s, program[0])
    os.kill(pid, signal.SIGKILL)
    got = c.wait(30)
    assert got not in (0, None), c.report()
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-c", "-n", "100"])


def test_peer_gone(lab):
    """The cable is cut: an error after the time the attributes say."""
    lab.serve()
    s, c = start_pair(lab.a, lab.b, ["ib_write_bw", "-F", "-n", "100000000",
                                     "-N", "-u", "12"], 4, "-x")
    wait_traffic(lab)
    lab.a.nft(CUT)
    lab.b.nft(CUT)
    start = time.monotonic()
    got = c.wait(30)
    took = time.monotonic() - start
    assert got not in (0, None), c.report()
    # 4.096 us * 2^12, at most four times that, eight tries: 0.13 to 0.54 s;
    # the rest is room for a busy machine.
    assert took < 5, took


@pytest.fixture
def engines(monkeypatch):
    """Engines in engine processes. Contexts outlive uroced (test_restart.py), not these."""
    monkeypatch.setenv("UROCE_ENGINE", "apart")


def kill_engines(host):
    found = processes(host)
    assert found
    for pid in found:
        os.kill(pid, signal.SIGKILL)


def test_kill_engines(lab, engines):
    """Applications get an error and end; a new engine process starts clean."""
    lab.serve()
    s, c = start_pair(lab.a, lab.b, ["ib_write_bw", "-F", "-n", "100000000",
                                     "-N"], 4, "-x")
    wait_traffic(lab)
    kill_engines(lab.b)
    got = c.wait(30)
    assert got not in (0, None), c.report()
    s.close()
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-c", "-n", "100"])


def test_kill_engines_asleep(lab, engines):
    """One that sleeps on events is woken."""
    lab.serve()
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-e", "-n",
                                     "100000000"])
    wait_traffic(lab)
    kill_engines(lab.b)
    got = c.wait(30)
    assert got not in (0, None), c.report()


def test_kill_device(lab):
    """A new device starts clean where the old one left its socket."""
    lab.serve()
    lab.b.stop(signal.SIGKILL)
    assert os.path.exists(lab.b.run_dir + "/uroced.sock")
    lab.b.serve("--netdev", "eth0")
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-c", "-n", "100"])


def test_restart(lab):
    lab.serve()
    for _ in range(3):
        lab.a.stop()
        lab.a.serve("--netdev", "eth0")
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-c", "-n", "100"])


def test_many_deaths(lab):
    """kill -9 at any moment leaves nothing behind."""
    lab.serve()
    for n in range(20):
        p = lab.a.start("ibv_rc_pingpong", "-g", "0", "-p",
                        str(lab.next_port()))
        if n % 4:
            pid = find(p, "ibv_rc_pingpong")
            for _ in range((n % 4) * 2000):
                pass
            os.kill(pid, signal.SIGKILL)
        p.kill()
    assert lab.a.device.running(), lab.a.device.report()
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-c", "-n", "100"])


def test_bystander(lab):
    """Programs die in full traffic; the neighbours do not notice."""
    lab.serve()
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-c", "-e", "-n", "20000"])
    for n in range(6):
        op = ["ib_write_bw", "ib_read_bw", "ib_send_bw"][n % 3]
        vs, vc = start_pair(lab.a, lab.b, [op, "-F", "-N", "-n", "100000000",
                                           "-s", "16384", "-q", "4"], 4, "-x")
        wait_traffic(lab)
        victim = (vs, vc)[n % 2]
        os.kill(find(victim, op), signal.SIGKILL)
        assert victim.wait(20) == -signal.SIGKILL, victim.report()
        (vc, vs)[n % 2].kill()
    got = c.wait(300), s.wait(20)
    assert got == (0, 0), c.report() + s.report()
    for host in lab.a, lab.b:
        # Nothing of the dead is left.
        wait_for("the objects to go", lambda: ask(
            host, "res", "qp") == ask(host, "res", "mr") == [])

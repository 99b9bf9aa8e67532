# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroced is killed many times in a row under what people run: 100 times with UROCE_FULL. Beside
perftest, which looks at no byte, two programs run that look at each; rping (-V) and the MPI
program do so themselves. With `-s` it prints how long there was no uroced, and what programs
noticed of it."""
import os
import random
import re
import shutil
import statistics
import time

import pytest

from hosts import wait_for
from pairs import start_pair
from ranks import Ranks
from test_guest_engine import GUESTS, octets
from test_guests import start
from test_restart import counters, end, go_on, kill, pair  # pylint: disable=unused-import

HERE = os.path.dirname(os.path.abspath(__file__))
KILLS = 100 if os.environ.get("UROCE_FULL") else 3
MOST_PAUSE = 0.1  # of uroced, in seconds, beside its start
EVENTS = "local_ack_timeout_err", "packet_seq_err", "out_of_sequence", "bad_qpn"


def kill_many(lab, moves, programs, name):
    """At any moment of the traffic. Then it goes on, with the next uroced."""
    rng = random.Random(name)
    away = []
    before = counters(lab.a)

    def goes_on(n):
        for p in programs:
            assert p.running(), f"kill {n}\n" + "".join(q.report() for q in programs)

    moves(goes_on, "to begin with")
    for n in range(KILLS):
        time.sleep(rng.random() * 0.1)
        kill(lab.a)
        begin = time.monotonic()
        time.sleep(rng.random() * MOST_PAUSE)
        lab.a.serve(*GUESTS)
        away.append(time.monotonic() - begin)
        moves(goes_on, n)
    now = counters(lab.a)
    print(f"\n{name}: {KILLS} kills; no uroced for {statistics.median(away):.2f} s in the median, "
          f"{max(away):.2f} s at most; " + ", ".join(f"{e} {now[e] - before[e]}" for e in EVENTS))


def by_octets(lab, least):
    def moves(goes_on, n):
        before = octets(lab.a)
        wait_for(f"traffic, {n}", lambda: goes_on(n) or octets(lab.a) - before > least)
        goes_on(n)
    return moves


@pytest.mark.parametrize("tool", ["ib_write_bw", "ib_send_bw"])
def test_perftest(pair, tool):
    beside = start(pair, "restart_more")
    go_on(beside)
    loud = start_pair(pair.a, pair.b, [tool, "-s", "65536", "-n", "100000000", "-F"], flag="-x")
    try:
        # Before, it may have no engine yet.
        wait_for("perftest", lambda: re.search(f"comm {tool} .*state RTS", pair.b.run(
            pair.bin("uroce"), "res", "qp")) or not loud[1].running())
        kill_many(pair, by_octets(pair, 50e6), [*loud, *beside], tool)
        go_on(beside)
    finally:
        for p in loud:
            p.kill()
    end(*beside)


def test_rping(pair):
    port = str(pair.next_port())
    args = ["-a", pair.a.addr4, "-p", port, "-V", "-C", "100000000", "-S", "60000"]
    s = pair.a.start("rping", "-s", *args)
    wait_for("rping to listen", lambda: "LISTEN" in pair.a.run(pair.bin("uroce"), "res", "cm_id"))
    c = pair.b.start("rping", "-c", *args)
    try:
        kill_many(pair, by_octets(pair, 1e6), [s, c], "rping")
        for p in c, s:
            assert "error" not in p.text(), p.report()
    finally:
        for p in c, s:
            p.kill()


@pytest.mark.skipif(not shutil.which("mpirun.openmpi"), reason="no Open MPI")
def test_mpi(pair, tmp_path):
    """One rank on each of two hosts, and nothing but the device between. It registers memory while
    there is no uroced, and makes queue pairs."""
    done = tmp_path / "done"
    p = Ranks(pair, tmp_path, (pair.a, pair.b), 1).openmpi(
        {"pml": "ucx", "osc": "ucx", "btl": "self"},
        {"UCX_TLS": "rc_v,self", "UCX_NET_DEVICES": "uroce0:1", "UROCE_ENGINE": "process"},
        "/usr/bin/python3", os.path.join(HERE, "mpi_rounds.py"), str(done))

    def count():
        return int(([0] + re.findall(r"^rounds (\d+)", p.text(), re.M))[-1])

    def moves(goes_on, n):
        before = count()
        wait_for(f"rounds, {n}", lambda: goes_on(n) or count() >= before + 3)
        goes_on(n)

    kill_many(pair, moves, [p], "mpi")
    done.touch()
    assert p.wait(30) == 0 and "good 2" in p.text(), p.report()
    print(f"mpi: {count()} rounds, {re.findall('longest .*', p.text())[-1]} s")

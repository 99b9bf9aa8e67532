# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs that start (verbs/start.c): how long that takes beside the device's engine, and
that it ends whichever system call a filter refuses."""
import errno
import json

import pytest

ROUNDS = 25
# Measured: 1.4; 4 with a socket at whose end the kernel waits for all processors.
MOST = 2.5

MEASURE = f"""
import json, os, subprocess, sys, time

took = {{"process": [], "device": []}}
for _ in range({ROUNDS}):
    for engine, times in took.items():
        begin = time.perf_counter()
        subprocess.run(sys.argv[1:], check=True, env=dict(os.environ, UROCE_ENGINE=engine))
        times.append(time.perf_counter() - begin)
print(json.dumps({{engine: min(times) for engine, times in took.items()}}))
"""
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


@pytest.mark.parametrize("lead", [[], NOBODY], ids=["root", "nobody"])
def test_start_takes_no_longer(labs, lead):
    """The quickest of programs in turn, each with one pair of queue pairs."""
    host = labs(1500).a
    p = host.start(*lead, "/usr/bin/python3", "-c", MEASURE, host.lab.bin("verbs_start"))
    assert p.wait(60) == 0, p.report()
    took = json.loads(p.text())
    assert took["process"] < MOST * took["device"], took


@pytest.mark.parametrize("engine, number, when", [
    ("process", errno.EPERM, []), ("device", errno.ENOSYS, []), ("process", errno.EPERM, ["late"])],
    ids=["process", "device", "late"])
def test_no_refused_call_stops_it(labs, engine, number, when):
    """A filter refuses one system call after the other, from the beginning or once queue pairs
    are connected: the program is refused what it asks for or not, and ends."""
    host = labs(1500).a
    p = host.start("env", f"UROCE_ENGINE={engine}", host.lab.bin("verbs_start"),
                   str(int(number)), *when)
    assert p.wait(120) == 0, p.report()

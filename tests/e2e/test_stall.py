# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A user whose memory makes his engine wait, and what root waits meanwhile: stall/."""
import json
import os
import signal

import pytest

import hosts
from hosts import wait_for
from test_cli import NOBODY

SECOND = 1000000000


def said(p):
    assert p.wait(60) == 0, p.report()
    return json.loads(p.text().splitlines()[-1])


@pytest.fixture(scope="module")
def device(build):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor")
    lab = hosts.Lab(build)
    try:
        lab.a.serve()
        os.chmod(lab.a.run_dir, 0o755)
        yield lab.a
    finally:
        lab.close()


def beside(host, kind):
    """How long the longest WRITE of the one who does it took, and of root's."""
    watch = host.start(host.lab.bin("stall"), "watch")
    wait_for("root's WRITEs", lambda: "began" in watch.text() or not watch.running())
    nobody = host.bare(*NOBODY, host.lab.bin("uroce"), "run", "--run-dir", host.run_dir,
                       "--", host.lab.bin("stall"), kind, "2")
    own = said(nobody)["longest_ns"]
    watch.kill(signal.SIGTERM)
    return own, said(watch)["longest_ns"]


@pytest.mark.parametrize("kind", ["page", "region", "ring"])
def test_another_users_memory(device, kind):
    """His engine waits for seconds, for a page that does not come; root has another
    engine, and waits for a processor at most."""
    tries = []
    # The thread that holds his memory may get a processor after all, and root none for
    # so long. With one engine for both root waits as long as he does, each time.
    while len(tries) < 5:
        tries.append(beside(device, kind))
        own, roots = tries[-1]
        if own > SECOND and roots < own / 3:
            return
    assert False, tries

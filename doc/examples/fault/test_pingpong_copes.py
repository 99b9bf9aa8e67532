# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""An example: does ibv_rc_pingpong cope? Its own data check is -c."""
import subprocess
import time

import pytest


def pingpong(port):
    """(status, output) of the client."""
    cmd = ["ibv_rc_pingpong", "-g", "0", "-c", "-n", "500", "-p", str(port)]
    server = subprocess.Popen(cmd, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    try:
        for _ in range(200):
            client = subprocess.run([*cmd, "localhost"], timeout=60,
                                    stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True)
            if "Couldn't connect" not in client.stdout:
                break
            time.sleep(0.05)  # the server does not listen yet
        return client.returncode, client.stdout
    finally:
        server.kill()
        server.wait()


def test_loss(fault):
    """Lost packets are sent again."""
    rule = fault.add("drop op=send nth=50")
    status, out = pingpong(18601)
    assert status == 0, out
    assert fault.struck(rule) > 5


def test_refused(fault):
    """What is refused fails, and says what."""
    rule = fault.add("nak=rem_access op=send after=20 count=1")
    status, out = pingpong(18602)
    # Of the peer's request the peer hears, and here receives are flushed.
    assert status and ("remote access error" in out or "lushed" in out), out
    assert fault.struck(rule) == 1


def test_bad_rule(fault):
    with pytest.raises(ValueError, match="is no action"):
        fault.add("frob")
    assert fault.all() == {}


def test_hostile_card(hostile_card):
    status, out = pingpong(18603)
    assert status == 0, out

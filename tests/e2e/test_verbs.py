# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The verbs' corners through the stock libibverbs (verbs/*.c), on one host."""
import os
import re

import pytest

from hosts import Lab

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = [name for f in ("objects", "queues", "completions", "memory", "process",
                             "limits", "paging",
                            "regions", "parting", "target", "attributes", "later", "manual", "flags",
                            "event_files", "filters", "beside_queue", "beside_program",
                            "together", "statuses", "states", "domains")
         for name in re.findall(r'\{"(\w+)", \w+\}',
                                open(f"{HERE}/verbs/{f}.c").read())]


# What an engine in the program does not do: doc/features.md. It waits for pages.
DEVICES = {"held_pages"}


@pytest.mark.parametrize("device", [1, 0], ids=["device", "process"])
@pytest.mark.parametrize("name", NAMES)
def test_corner(request, labs, name, device, monkeypatch):
    """With an engine process, and with an engine in the program."""
    if device or name in DEVICES:
        monkeypatch.setenv("UROCE_ENGINE", "device")
    if name.endswith("_huge"):
        request.getfixturevalue("huge_pages")
    run_corner(labs(1500).a, name)


def run_corner(host, name):
    program = host.lab.bin("verbs_corners")
    p = host.start("env", "A=b", program, name)
    p.wait(60)
    out = p.text()
    if p.proc.returncode == 77:
        pytest.skip(out.strip())
    assert p.proc.returncode == 0, out


@pytest.fixture(scope="module")
def by_packets(build):
    """A host where what queue pairs of one engine send to each other are packets, too."""
    lab = Lab(build)
    try:
        lab.a.serve("--netdev", "eth0", "--engine-opt", "loop=0")
        yield lab.a
    finally:
        lab.close()


@pytest.mark.parametrize("engine", ["process", "apart"])
@pytest.mark.parametrize("name", ["srq_domain", "invalidate_refused", "write_imm_refused", "no_grh"])
def test_status(by_packets, name, engine, monkeypatch):
    """How work ends is decided in another place for packets."""
    monkeypatch.setenv("UROCE_ENGINE", engine)
    run_corner(by_packets, name)


NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
NO_RAW = ["setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"]


@pytest.mark.parametrize("lead, name", [
    ([], "qkey_with"), (NOBODY, "qkey_without"), (NO_RAW, "qkey_without")],
    ids=["root", "nobody", "root-without"])
def test_right(labs, lead, name):
    """What a program may by a capability, and not without it."""
    host = labs(1500).a
    p = host.start(*lead, host.lab.bin("verbs_corners"), name)
    p.wait(60)
    assert p.proc.returncode == 0, p.text()

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Memory of GPUs, over a stand-in for CUDA's library whose memory the processor cannot touch, and dma-bufs that can be
mapped, which stand-ins let the processor touch only where it has said so: tests/gpu. Between two hosts, and between two
programs of one."""
import json
import os
import signal

import pytest

from hosts import wait_for
from test_cli import NOBODY
from test_guest_engine import GUESTS, engines, pair, threads_cpu  # pylint: disable=unused-import
from test_guest_host import As, host  # pylint: disable=unused-import
from test_guests import finish, start
from test_record import uroce


@pytest.fixture(autouse=True)
def in_program(monkeypatch):
    monkeypatch.setenv("UROCE_ENGINE", "process")


def run(lab, mode):
    return finish(*start(lab, mode, program=lab.bin("gpu_matrix")), limit=280)


class Near:
    """Two programs of that host."""
    def __init__(self, host):
        self.a = self.b = As(host, "process")
        self.bin, self.next_port = host.lab.bin, host.lab.next_port


@pytest.mark.parametrize("mode", ["standin", "hostile", "dmabuf"])
def test_two_hosts(pair, mode):
    run(pair, mode)


@pytest.mark.parametrize("mode", ["standin", "dmabuf"])
def test_one_host(host, mode):
    run(Near(host), mode)


@pytest.mark.parametrize("mode", ["standin", "dmabuf"])
def test_restart(pair, mode):
    """Both devices are killed, and others come, while the programs register, connect and end."""
    programs = start(pair, mode, program=pair.bin("gpu_matrix"))
    before = [threads_cpu(p.pid) for p in programs]
    wait_for("work", lambda: all(threads_cpu(p.pid) > n + 5 or not p.running()
                                 for p, n in zip(programs, before)))
    assert all(p.running() for p in programs), programs[0].report() + programs[1].report()
    for host in pair.a, pair.b:
        host.stop(signal.SIGKILL)
        host.serve(*GUESTS)
    finish(*programs, limit=280)


@pytest.mark.parametrize("mode", ["standin", "dmabuf"])
def test_relayed(pair, mode):
    """Of a user whose packets uroced receives."""
    on = [As(host, "process", *NOBODY) for host in (pair.a, pair.b)]
    finish(*start(pair, mode, on=on, program=pair.bin("gpu_matrix")), limit=280)


@pytest.fixture
def lossy(pair):
    """Two hosts whose packets are lost, doubled and out of order, and whose flight recorders look on."""
    for host in pair.a, pair.b:
        uroce(host, "record", "start")
        for what, nth in ("drop", 97), ("dup", 61), ("reorder", 53):
            uroce(host, "fault", "add", what, f"nth={nth}")
    yield pair
    for host in pair.a, pair.b:
        rules = json.loads(uroce(host, "fault", "show", "--json"))
        uroce(host, "fault", "del", "all")
        uroce(host, "record", "stop")
        assert len(rules) == 3 and all(rule["done"] for rule in rules), rules


@pytest.mark.parametrize("mode", ["lossy", "dmabuf"])
def test_losses(lossy, mode):
    """Messages are read and written again from their middle."""
    run(lossy, mode)


def test_copies_by_calls(pair, monkeypatch):
    """Where the processor's own copies are not possible."""
    monkeypatch.setenv("UROCE_COPY", "syscalls")
    run(pair, "dmabuf")


@pytest.mark.parametrize("env", [{"UROCE_GPU": "off"}, {"UROCE_ENGINE": "device"}, {"UROCE_ENGINE": "apart"}],
                         ids=lambda env: "".join(env.values()))
def test_no(pair, env):
    """Whoever asks is told so."""
    says(pair, "off", env)


@pytest.mark.parametrize("where", ["device", "apart"])
def test_no_dmabuf(pair, where):
    """No engine but the program's own maps what a driver may take away."""
    says(pair, "off-dmabuf", {"UROCE_ENGINE": where})


@pytest.mark.parametrize("env,program,answer", [
    ({}, "gpu_probes", "yes"), ({}, "gpu_probes_alone", "no"),
    ({"STANDIN_GPUS": "0"}, "gpu_probes", "no"), ({"UROCE_GPU": "off"}, "gpu_probes", "no"),
    ({"UROCE_ENGINE": "device"}, "gpu_probes", "no"), ({"UROCE_ENGINE": "apart"}, "gpu_probes", "no")],
    ids=["here", "no-cuda", "no-gpu", "off", "device", "apart"])
def test_probes(pair, env, program, answer):
    """Programs' questions are answered by yes exactly where their registrations succeed."""
    says(pair, answer, env, program)


def test_script(pair):
    """What runs where there is a GPU, with the stand-in in its place; without one it is skipped, with one line."""
    build = os.path.dirname(os.path.dirname(pair.bin("uroced")))
    script = os.path.join(os.path.dirname(__file__), "../gpu/run.sh")
    if not os.path.exists("/dev/nvidiactl"):
        p = pair.a.bare(script, build)
        assert p.wait(10) == 77 and p.text() == "SKIP: no GPU of NVIDIA\n", p.report()
    p = pair.a.bare("env", f"UROCE_CUDA={build}/lib/gpu/libcuda.so.1", script, build)
    assert p.wait(200) == 0 and "READ 64 B: host" in p.text(), p.report()


def says(pair, mode, env, program="gpu_matrix"):
    p = pair.a.start(pair.bin(program), mode, env={**os.environ, **env})
    assert p.wait(60) == 0, p.report()
    assert "done 0" in p.text()

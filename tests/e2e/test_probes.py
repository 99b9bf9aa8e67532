# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The static probes (USDT): they are in the ELF notes, and the kernel's uprobes
see them where the kernel lets us."""
import fcntl
import os
import re
import subprocess

import pytest

from cm import run_cm_pair
from hosts import code_of, wait_for
from pairs import run_pair

TRACING = "/sys/kernel/tracing"
ENGINE = {"work_request": 5, "receive": 3, "packet_out": 5, "packet_in": 4,
          "retransmit": 4, "completion": 5, "qp_state": 3}
# uroced has rdma_cm, and no queue pair.
DEVICE = {"packet_out": 5, "packet_in": 4, "cm_event": 3}
PROVIDER = {"post_send": 3, "post_recv": 3, "process_completion": 5}


def notes(path):
    """[(provider, name, address, semaphore, arguments)]"""
    text = subprocess.run(["readelf", "-nW", path], text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    return [(p, n, int(at, 16), int(sem, 16), len(args.split()))
            for p, n, at, sem, args in re.findall(
                r"Provider: (\w+)\s+Name: (\w+)\s+Location: (\w+), Base: "
                r"\w+, Semaphore: (\w+)\s+Arguments:(.*)", text)]


def file_offset(path, address):
    text = subprocess.run(["readelf", "-lW", path], text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    for off, virt, size in re.findall(
            r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", text):
        at = address - int(virt, 16)
        if 0 <= at < int(size, 16):
            return at + int(off, 16)
    raise AssertionError(f"{path}: {address:#x} is in no segment")


@pytest.fixture
def programs(build):
    paths = {"device": build + "/bin/uroced", "process": build + "/lib/liburoce-engine.so",
             "provider": build + "/lib/liburoce-rdmav34.so"}
    if not notes(paths["device"]):
        pytest.skip("built without systemtap-sdt-dev: there are no probes")
    return paths


def test_notes(programs):
    for program, provider, want in (("device", "uroce", DEVICE), ("process", "uroce", ENGINE),
                                    ("provider", "rdma_core_uroce", PROVIDER)):
        found = notes(programs[program])
        assert {(n, args) for p, n, _, _, args in found if p == provider} == \
            set(want.items())
        for _, name, _, semaphore, _ in found:
            # A tool raises it, and the engine looks for it; the others are
            # where the arguments are at hand anyway.
            assert bool(semaphore) == (provider == "uroce" and
                                       name != "cm_event")


@pytest.fixture
def tracer(programs):
    """Uprobes on all probes, as bpftrace and perf set them; what they saw, as
    (program, probe)."""
    group = f"uroce_{os.getpid()}"
    instance = f"{TRACING}/instances/{group}"

    def command(text):
        # No seek to the end: the file has none.
        fd = os.open(TRACING + "/uprobe_events", os.O_WRONLY | os.O_APPEND)
        try:
            os.write(fd, text.encode() + b"\n")
        finally:
            os.close(fd)
    try:
        os.mkdir(instance)
        for program, path in programs.items():
            for p, name, at, sem, _ in notes(path):
                count = f"({file_offset(path, sem):#x})" if sem else ""
                command(f"p:{group}/{program}__{name}_{at:x} "
                        f"{path}:{file_offset(path, at):#x}{count}")
    except OSError as e:
        if os.path.isdir(instance):
            os.rmdir(instance)
        pytest.skip(f"no uprobes here: {e}")

    def enable(on):
        with open(f"{instance}/events/{group}/enable", "w") as f:
            f.write("1" if on else "0")

    def seen():
        with open(instance + "/trace") as f:
            return set(re.findall(r": (\w+)__(\w+)_[0-9a-f]+: \(0x", f.read()))
    with code_of(programs["process"], fcntl.LOCK_EX):
        yield enable, seen
        enable(False)
    with open(TRACING + "/uprobe_events") as f:
        mine = re.findall(rf"p:({group}/\S+)", f.read())
    for name in mine:
        command("-:" + name)
    os.rmdir(instance)


@pytest.mark.parametrize("place", ["apart", "process"])
def test_seen(labs, tracer, monkeypatch, place):
    """A tool that comes while the device runs sees all of them, and the device, and
    programs with engines, go on when it leaves."""
    monkeypatch.setenv("UROCE_ENGINE", place)
    enable, seen = tracer
    lab = labs(1500)
    a, b = lab.a, lab.b
    assert not seen()
    enable(True)
    p = a.bare(lab.bin("uroce"), "fault", "add", "drop", "op=send", "nth=50",
               "--run-dir", a.run_dir)
    assert p.wait(20) == 0, p.report()
    run_pair(b, a, ["ibv_rc_pingpong", "-c", "-n", "200"])
    p = a.bare(lab.bin("uroce"), "fault", "del", "all", "--run-dir", a.run_dir)
    assert p.wait(20) == 0, p.report()
    port = lab.next_port()
    run_cm_pair(b, a, ["rping", "-s", "-a", b.addr4, "-p", port, "-C", 3],
                ["rping", "-c", "-a", b.addr4, "-p", port, "-C", 3], port)
    # MADs and connections are the device's anyway.
    want = {("provider", name) for name in PROVIDER} | {("device", "cm_event")} | \
        {("process", name) for name in ENGINE}
    wait_for("all probes", lambda: seen() >= want or print(seen()))
    enable(False)
    run_pair(b, a, ["ibv_rc_pingpong", "-c", "-n", "200"])

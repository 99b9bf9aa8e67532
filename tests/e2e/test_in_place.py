# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Payloads that are sent from the memory of programs, without a copy (in_place of uroced(8)):
memory that changes, and memory that goes, while it is sent."""
import os
import tempfile
import threading

import pytest

import hosts
from hosts import wait_for
from pairs import gid_args
from test_perftest import perftest
from test_wire import counters


@pytest.fixture(scope="module")
def lab(build):
    both = hosts.Lab(build)
    try:
        for host in both.a, both.b:
            host.serve("--netdev", "eth0", "--engine-opt", "in_place=1")
        yield both
    finally:
        both.close()


FILE_BYTES = 4 << 20


@pytest.fixture
def buffer_file():
    """A buffer that others can write to and cut off, for --mmap."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        file.write(os.urandom(FILE_BYTES))
        file.flush()
        os.chmod(file.name, 0o666)
        yield file.name


def write_on(name, stop):
    with open(name, "r+b", buffering=0) as file:
        while not stop.is_set():
            file.seek(0)
            file.write(os.urandom(64) * (FILE_BYTES // 64))


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("op", ["read", "write", "send"])
def test_source_changes(lab, family, op, buffer_file):
    """Bytes that change between their CRC and their sending make packets that are lost; the
    message arrives all the same, since what is sent again is copied."""
    stop = threading.Event()
    writer = threading.Thread(target=write_on, args=(buffer_file, stop))
    writer.start()
    try:
        rows = perftest((lab.a, lab.b), op, "bw", "RC", "-s", str(1 << 20),
                        "--mmap=" + buffer_file, iters=500, family=family)
    finally:
        stop.set()
        writer.join()
    assert rows[-1][:2] == [str(1 << 20), "500"], rows


@pytest.mark.parametrize("op", ["write", "send"])
def test_source_goes(lab, op, buffer_file):
    """Memory that goes while it is sent fails the request, and neither the program nor the device."""
    before = counters(lab.b)["sent_pkts"]
    port = str(lab.a.lab.next_port())
    cmd = [f"ib_{op}_bw", "-F", "-d", "uroce0", "-p", port, "-D", "20", "-s", str(1 << 20)]
    s = lab.a.start(*cmd, *gid_args(lab.a, 4, "-x", "RoCE v2"))
    wait_for("the server to listen", lambda: s.listens(int(port)) or not s.running())
    c = lab.b.start(*cmd, *gid_args(lab.b, 4, "-x", "RoCE v2"), "--mmap=" + buffer_file,
                    lab.a.addr4)
    wait_for("traffic", lambda: counters(lab.b)["sent_pkts"] > before + 100000 or
             not c.running())
    os.truncate(buffer_file, 0)
    status = c.wait(30)
    s.kill()
    # perftest says "Completion with error at client", and "Failed status 4".
    assert status > 0 and "Failed status 4" in c.text(), c.report()
    for host in lab.a, lab.b:
        assert host.device.running(), host.device.report()

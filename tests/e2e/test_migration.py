# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A virtual machine moves from one host to the other: QEMU's migration over
RDMA, Debian's QEMU, unmodified."""
import json
import os
import socket

import pytest

from hosts import wait_for

# Where in the guest's memory what is looked at lies, and how much of it.
ADDR, BYTES = 32 << 20, 16 << 20


class Machine:
    """A stopped QEMU, and its monitor."""

    def __init__(self, host, path, *options):
        self.program = host.start(
            "qemu-system-x86_64", "-machine", "q35,accel=tcg", "-m", "96",
            "-display", "none", "-nodefaults", "-no-user-config", "-S",
            "-qmp", f"unix:{path},server=on,wait=off", *options)
        sock = socket.socket(socket.AF_UNIX)
        wait_for("QEMU's monitor", lambda: os.path.exists(path) and
                 sock.connect_ex(str(path)) == 0 or
                 not self.program.running())
        assert self.program.running(), self.program.report()
        self.lines = sock.makefile("rw")
        self.lines.readline()
        self.say("qmp_capabilities")

    def say(self, command, **arguments):
        json.dump({"execute": command, "arguments": arguments}, self.lines)
        self.lines.flush()
        while True:
            answer = json.loads(self.lines.readline())
            if "event" not in answer:
                assert "return" in answer, answer
                return answer["return"]


@pytest.mark.parametrize("pin", [False, True], ids=["chunks", "pinned"])
def test_migration(labs, tmp_path, pin):
    """The guest's memory arrives whole: chunks registered as they are needed
    and empty ones never sent, or all of it at once."""
    lab = labs(1500)
    data = os.urandom(BYTES // 2) + bytes(BYTES // 4) + os.urandom(BYTES // 4)
    (tmp_path / "data").write_bytes(data)
    a = Machine(lab.a, tmp_path / "a.qmp", "-device",
                f"loader,addr={ADDR},file={tmp_path}/data,force-raw=on")
    b = Machine(lab.b, tmp_path / "b.qmp", "-incoming", "defer")
    for m in a, b:
        m.say("migrate-set-capabilities",
              capabilities=[{"capability": "rdma-pin-all", "state": pin}])
    uri = f"rdma:{lab.b.addr4}:{lab.next_port()}"
    b.say("migrate-incoming", uri=uri)
    a.say("migrate", uri=uri)

    def ended():
        status = a.say("query-migrate").get("status")
        return status in ("completed", "failed") and status
    assert wait_for("migration", ended, 60) == "completed", a.program.report()
    wait_for("arrival", lambda: b.say("query-status")["status"] != "inmigrate")
    b.say("pmemsave", val=ADDR, size=BYTES, filename=str(tmp_path / "got"))
    assert (tmp_path / "got").read_bytes() == data
    for m in a, b:
        m.say("quit")
        assert m.program.wait(20) == 0, m.program.report()

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The whole product inside a guest: uroced on a stock distribution kernel, with
the build tree mounted at /uroce, programs in the guest. A guest can be given
either device: Soft-RoCE and uroce want the same UDP port."""
from guest import Guest

RUN_DIR = "/run/uroce"
UROCE = f"/uroce/build/bin/uroce run --run-dir {RUN_DIR} --"


class Inside:
    """One guest, with programs run on the device named: 'rxe' or 'uroce'."""

    def __init__(self, guest: Guest):
        self.guest, self.device, self.prefix = guest, None, ""

    def use(self, device, netdev="eth0", options=""):
        self.stop()
        if device == "uroce":
            rc, out = self.guest.run(
                "rdma link del rxe0 2>/dev/null; modprobe -r rdma_rxe 2>/dev/null; "
                f"mkfifo /tmp/ready; setsid /uroce/build/bin/uroced --netdev {netdev} {options} --run-dir "
                f"{RUN_DIR} >/tmp/ready 2>/tmp/uroced.log </dev/null & echo $! >/tmp/uroced.pid; "
                "timeout 20 grep -qm1 ready /tmp/ready || cat /tmp/uroced.log; rm -f /tmp/ready; "
                "kill -0 $(cat /tmp/uroced.pid)")
            assert rc == 0, out
            self.prefix, self.name, self.gid = UROCE + " ", "uroce0", 0
        else:
            rc, out = self.guest.run("modprobe rdma_rxe; rdma link | grep -q rxe0 || "
                                     f"rdma link add rxe0 type rxe netdev {netdev}; rdma link")
            assert rc == 0, out
            self.prefix, self.name, self.gid = "", "rxe0", 1
        self.device = device

    def stop(self):
        if self.device == "uroce":
            self.guest.run("kill $(cat /tmp/uroced.pid); "
                           "while kill -0 $(cat /tmp/uroced.pid); do sleep 0.05; done 2>/dev/null")
        self.device = None

    def cmd(self, program):
        return self.prefix + program.format(dev=self.name, gid=self.gid)


def pair(server: Inside, client: Inside, program, address, port=18515, timeout=120):
    """program: with {dev}, {gid}; the client gets the address appended."""
    s = server.guest.start(server.cmd(program), timeout)
    if port:
        server.guest.wait_listen(port, s)
    rc, out = client.guest.run(client.cmd(program) + f" {address}", timeout)
    sout, _ = s.communicate(timeout=timeout + 30)
    assert rc == 0 and s.returncode == 0, f"client {rc}:\n{out}\nserver {s.returncode}:\n{sout}"
    return out

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The clean root as a machine of its own, its systemd process 1: the service as
installed, entered as a host of tests/e2e, and another host joined to it."""
import os
import subprocess

from conftest import end_container
from hosts import Host, Lab, Program, sh, wait_for


class Service:
    """uroced as systemd runs it, in the place of a host's device."""

    def __init__(self, host):
        self.host = host

    def show(self, name):
        return sh(*self.host.enter(), "systemctl", "show", "-P", name, "uroced").stdout.strip()

    def running(self):
        return self.show("ActiveState") == "active"

    def wait(self, _=0):
        return 0 if self.show("Result") == "success" else 1

    def report(self):
        return sh(*self.host.enter(), "journalctl", "-u", "uroced", "-n", "40",
                  "--no-pager").stdout


class Inside(Host):
    """A host of the machine's programs and users; the first has its network."""

    def enter(self):
        return ["nsenter", "-t", str(self.lab.init), "-m", "-u", "-i", "-p", "-r", "-w",
                f"--net=/run/netns/{self.name}"]

    def bare(self, *cmd, **kw):
        return Program(self, cmd, [*self.enter(), *cmd], **kw)

    def start(self, *cmd, **kw):
        return Program(self, cmd, [*self.enter(), "uroce", "run", "--run-dir", self.run_dir,
                                   "--", *cmd], **kw)


class Served(Inside):
    def serve(self, *_):
        """As the unit says, whatever the test would rather have."""
        self.run_dir, self.root = "/run/uroce", f"/proc/{self.lab.init}/root"
        self.device = Service(self)
        sh(*self.enter(), "systemctl", "reset-failed", "uroced", check=False)
        sh(*self.enter(), "systemctl", "restart", "uroced")

    def stop(self):
        sh(*self.enter(), "systemctl", "stop", "uroced")


class Peer(Inside):
    def serve(self, *_):
        self.run_dir, self.root = "/run/peer", f"/proc/{self.lab.init}/root"
        super().serve("--netdev", "eth0")


class Machine(Lab):
    """Host a is the machine; b, with the same files and users, has another network."""

    kinds = Served, Peer

    def __init__(self, root):
        self.root, self.nspawn, self.init = root, None, 0
        super().__init__(None)

    def bin(self, name):
        return name

    def join(self):
        super().join()
        with open(self.root.path + "/etc/machine-id", "w"):
            pass
        self.log = open(os.path.join(self.tmp, "console"), "w+")
        self.nspawn = subprocess.Popen(
            self.root.boot("--machine=uroce-machine", "--capability=CAP_NET_ADMIN",
                           f"--network-namespace-path=/run/netns/{self.a.name}",
                           f"--bind={self.tmp}"),
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        # Its state is told where it runs.
        wait_for("systemd", lambda: self.nspawn.poll() is not None or self.booted(), 120, 0.1)

    def booted(self):
        pid = self.nspawn.pid
        children = open(f"/proc/{pid}/task/{pid}/children").read().split()
        self.init = int(children[0]) if children else 0
        # degraded: a unit of the host's that cannot be had here
        return self.init and {"running", "degraded"} & set(
            sh(*self.a.enter(), "systemctl", "is-system-running", check=False).stdout.split())

    def console(self):
        self.log.seek(0)
        return self.log.read()[-1000:]

    def between(self):
        """What a test leaves ends with it; the devices begin anew."""
        for p in reversed(self.programs):
            p.close()
        self.programs.clear()
        for host in self.a, self.b:
            host.serve()

    def close(self):
        # Those whose parents are out here would hold up its end.
        for p in reversed(self.programs):
            p.close()
        self.programs.clear()
        if self.nspawn:
            self.nspawn.terminate()
            try:
                self.nspawn.wait(60)
            finally:
                end_container(self.nspawn)
        super().close()

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Hosts for end-to-end tests: a network namespace with a uroced in it each.

Everything made here is noted, and Lab.close() takes it away again, whatever
happened in between. Waiting is always for a condition, with a limit.
"""
import contextlib
import fcntl
import glob
import ipaddress
import os
import signal
import subprocess
import tempfile
import time

import races

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PREFIX = "ur-e2e-"
# Of a build tree's programs: uroced_strict ends at a system call too many.
DAEMON = os.environ.get("UROCE_DAEMON", "uroced")


def sh(*cmd, check=True, **kw):
    return subprocess.run(cmd, check=check, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **kw)


def batch(net, *lines):
    """One process for all of these commands of ip(8)."""
    sh("ip", "-n", net, "-batch", "-", input="\n".join(lines))


@contextlib.contextmanager
def code_of(library, how):
    """Hold a library's lock (fcntl.LOCK_SH, LOCK_EX). Where the kernel has a probe each program
    that maps the library has a breakpoint, and one that reads instructions, as valgrind, dies of it."""
    with open(library, "rb") as f:
        fcntl.flock(f, how)
        yield


def wait_for(what, condition, limit=20.0, step=0.01):
    """Poll until condition() is true; fail with `what` after limit seconds."""
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited {limit} s for {what}"
        time.sleep(step)


class Program:
    """A program on a host, with its output in a file."""

    def __init__(self, host, cmd, argv, **kw):
        self.host, self.cmd = host, cmd
        self.out = tempfile.TemporaryFile("w+")
        # A session of its own: the whole of it can be ended at once.
        self.proc = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                     stdout=self.out, stderr=self.out,
                                     start_new_session=True, **kw)
        self.pid = self.proc.pid
        host.lab.programs.append(self)

    def text(self):
        # The program writes where the file's position is, which is not ours
        # to move.
        fd = self.out.fileno()
        return os.pread(fd, os.fstat(fd).st_size, 0).decode(errors="replace")

    def report(self):
        return (f"--- {self.host.name}: {' '.join(self.cmd)}\n"
                f"    status {self.proc.poll()}\n{self.text()}")

    def running(self):
        return self.proc.poll() is None

    def lost_race(self):
        """Whether it ended by a race of its own."""
        return races.lost_race(" ".join(map(str, self.cmd)), self.proc.poll(),
                               self.text())

    def wait(self, limit=60):
        """Its exit status; after limit seconds it is killed and None."""
        try:
            return self.proc.wait(limit)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self, sig=signal.SIGKILL):
        """The program and all its children (they share a session)."""
        try:
            os.killpg(self.pid, sig)
        except ProcessLookupError:
            pass
        if sig == signal.SIGKILL:
            self.proc.wait()

    def listens(self, port):
        """True when something in the program's namespace listens on port."""
        for name in "tcp", "tcp6":
            try:
                lines = open(f"/proc/{self.pid}/net/{name}").readlines()[1:]
            except OSError:
                return False
            for line in lines:
                local, state = line.split()[1], line.split()[3]
                if state == "0A" and int(local.split(":")[1], 16) == port:
                    return True
        return False

    def close(self):
        if self.running():
            self.kill()
        self.out.close()


class Host:
    """A network namespace and, after serve(), a device in it."""

    def __init__(self, lab, letter):
        self.lab = lab
        self.name = f"{PREFIX}{os.getpid()}-{lab.serial}{letter}"
        self.run_dir = os.path.join(lab.tmp, letter)
        self.run_options = []  # of `uroce run`
        self.root = ""  # where its files are, seen from here
        self.device = None
        self.addr4 = self.addr6 = None
        self.programs = self.name  # where they are started
        sh("ip", "netns", "add", self.name)
        lab.namespaces.append(self.name)

    def ip(self, *args):
        return sh("ip", "-n", self.name, *args).stdout

    def ip_all(self, *lines):
        batch(self.name, *lines)

    def tc(self, *args):
        return sh("ip", "netns", "exec", self.name, "tc", *args).stdout

    def nft(self, rules):
        sh("ip", "netns", "exec", self.name, "nft", "-f", "-", input=rules)

    def own(self):
        """What starts the host's own programs, its device among them; tools
        that look at its network are the machine's."""
        return []

    def bare(self, *cmd, **kw):
        """Start a program without the device."""
        return Program(self, cmd, ["ip", "netns", "exec", self.name, *cmd],
                       **kw)

    def start(self, *cmd, **kw):
        """Start a program with the device present."""
        return Program(self, cmd, ["ip", "netns", "exec", self.programs,
                                   *self.own(),
                                   self.lab.bin("uroce"), "run", "--run-dir",
                                   self.run_dir, *self.run_options, "--",
                                   *cmd], **kw)

    def run(self, *cmd, limit=60, status=0):
        """Run a program with the device present; its output."""
        for _ in range(races.TRIES):
            p = self.start(*cmd)
            got = p.wait(limit)
            if not p.lost_race():
                break
        assert got == status, p.report()
        return p.text()

    def serve(self, *args):
        """Start uroced and wait until it serves."""
        args = list(args)
        if opt := os.environ.get("UROCE_ENGINE_OPT"):
            # The last one counts.
            own = [b for a, b in zip(args, args[1:]) if a == "--engine-opt"]
            args += ["--engine-opt", ",".join([*own, opt])]
        self.device = self.bare(*self.own(), self.lab.bin(DAEMON), "--run-dir",
                                self.run_dir, *args)
        wait_for("uroced", lambda: "ready" in self.device.text().split() or
                 not self.device.running())
        assert self.device.running(), self.device.report()

    def stop(self, sig=signal.SIGTERM):
        self.device.kill(sig)
        assert self.device.wait(20) is not None, self.device.report()

    def gids(self):
        """{index: (address, type)} as sysfs says, empty entries left out."""
        port = f"{self.root}{self.run_dir}/sys/class/infiniband/uroce0/ports/1/"
        result = {}
        for name in glob.glob(port + "gids/*"):
            index = os.path.basename(name)
            try:
                gid = ipaddress.IPv6Address(open(name).read().strip())
                kind = open(port + "gid_attrs/types/" + index).read().strip()
            except (OSError, ValueError):
                continue
            if int(gid):
                result[int(index)] = (gid.ipv4_mapped or gid, kind)
        return result

    def gid(self, address, kind="RoCE v2"):
        """The index of an address in the GID table, waited for."""
        want = (ipaddress.ip_address(address), kind)
        found = wait_for(f"GID {address} on {self.name}",
                         lambda: [str(i) for i, g in self.gids().items()
                                  if g == want])
        return found[0]


class Lab:
    """Two hosts, a and b, joined by a cable of the given MTU."""

    serials = 0
    kinds = Host, Host

    def __init__(self, build, mtu=1500):
        Lab.serials += 1
        self.serial = Lab.serials
        self.build = build
        self.mtu = mtu
        self.programs, self.namespaces = [], []
        self.port = 20000
        self.tmp = tempfile.mkdtemp(prefix="uroce-e2e-")
        os.chmod(self.tmp, 0o755)
        try:
            self.join()
        except BaseException:
            self.close()
            raise

    def bin(self, name):
        return os.path.join(self.build, "bin", name)

    def join(self):
        self.a, self.b = (kind(self, letter)
                          for kind, letter in zip(self.kinds, "ab"))
        for n, host in enumerate((self.a, self.b), 1):
            host.addr4, host.addr6 = f"10.77.0.{n}", f"fd77::{n}"
        self.cable(self.a.name, self.b.name)
        if os.environ.get("UROCE_AWAY"):
            self.part()

    def part(self):
        """Programs are in network namespaces of their own, as those of containers, which have another cable between
        them and the addresses of their hosts: what they agree about by TCP goes there."""
        for host in self.a, self.b:
            host.programs += "-w"
            sh("ip", "netns", "add", host.programs)
            self.namespaces.append(host.programs)
        self.cable(self.a.programs, self.b.programs)

    def cable(self, a, b):
        """Joins those namespaces, which have the addresses of the hosts."""
        add = f"link add eth0 type veth peer name eth0 netns {b}"
        for net, host in (a, self.a), (b, self.b):
            batch(net, *[add] * (net == a), "link set lo up", f"link set eth0 mtu {self.mtu} up",
                  f"addr add {host.addr4}/24 dev eth0", f"addr add {host.addr6}/64 dev eth0 nodad")

    def serve(self):
        for host in self.a, self.b:
            host.serve("--netdev", "eth0")

    def second_cable(self):
        """eth1 on both hosts, 10.78.0.1 and 10.78.0.2, no device on it yet."""
        self.a.ip("link", "add", "eth1", "type", "veth", "peer", "name", "eth1",
                  "netns", self.b.name)
        for n, host in enumerate((self.a, self.b), 1):
            host.ip("link", "set", "eth1", "up")
            host.ip("addr", "add", f"10.78.0.{n}/24", "dev", "eth1")

    def next_port(self):
        self.port += 1
        return self.port

    def close(self):
        for p in reversed(self.programs):
            p.close()
        for name in self.namespaces:
            sh("ip", "netns", "del", name, check=False)
        sh("rm", "-rf", self.tmp, check=False)


def sweep():
    """Take away namespaces of earlier runs that were killed."""
    for line in sh("ip", "netns", "list").stdout.splitlines():
        name = line.split()[0]
        if name.startswith(PREFIX):
            pid = name[len(PREFIX):].split("-")[0]
            if not os.path.exists(f"/proc/{pid}"):
                sh("ip", "netns", "del", name, check=False)

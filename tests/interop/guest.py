# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A QEMU guest with Debian's stock kernel and Soft-RoCE, and beside it, in a
network namespace of the host on the same bridge, a uroce device."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("UROCE_BUILD", os.path.join(TOP, "build"))
GUEST_DIR = os.environ.get("UROCE_GUEST_DIR", os.path.join(TOP, "build", "guest"))
RUN = os.path.join(HERE, "guest", "run.sh")
ENV = dict(os.environ, UROCE_GUEST_DIR=GUEST_DIR)


def missing():
    """Why the guest cannot run here, or None."""
    for tool in ("qemu-system-x86_64", "mmdebstrap", "mke2fs", "busybox"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    if os.geteuid() != 0:
        return "needs root (network namespaces, tap)"
    return None


def build_image():
    """Fetch the kernel and make the root image once per build folder."""
    r = subprocess.run([os.path.join(HERE, "guest", "make.sh")], env=ENV,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if r.returncode:
        raise RuntimeError(f"guest/make.sh failed:\n{r.stdout[-2000:]}")


class Host:
    """Something programs run on: name, addresses by IP version, device, and
    GID index by IP version."""

    def start(self, cmd, timeout=60):
        raise NotImplementedError

    def run(self, cmd, timeout=60):
        p = self.start(cmd, timeout)
        out, _ = p.communicate(timeout=timeout + 30)
        return p.returncode, out

    def end(self, proc, program):
        """End what start() started, and the program of it."""
        raise NotImplementedError


# What the guest's system says of frames and packets that it lost.
LOST = ("rx_dropped", "rx_missed_errors", "rx_errors", "tx_dropped", "softnet", "Udp:InErrors",
        "Ip:InDiscards", "Ip:OutDiscards", "Udp6InErrors", "Ip6InDiscards", "Ip6OutDiscards")
# Without a process of its own for anything: each costs an emulated machine some 0.2 s.
COUNTERS = """
each() { local f n; for f; do read -r n <$f && echo $f $n; done; }
cd /sys/class/infiniband/rxe0/ports/1/hw_counters 2>/dev/null && each *
cd /sys/class/net/eth0/statistics && each rx_dropped rx_missed_errors rx_errors tx_dropped
while read -r _ drop _; do echo softnet $((0x$drop)); done </proc/net/softnet_stat
while read -r kind names; do
	read -r _ values
	set -- $values
	for n in $names; do echo $kind$n $1; shift; done
done </proc/net/snmp
while read -r name n; do echo $name $n; done </proc/net/snmp6
"""


class Guest(Host):
    kind = "rxe"

    def __init__(self, name, netns, octet, mtu=1500, rxe=True, volumes=(), cpus=2):
        self.name, self.netns, self.octet = name, netns, octet
        self.addr = {4: f"10.77.0.{octet}", 6: f"fd77::{octet}"}
        self.device = "rxe0"
        self.rxe = rxe
        self.args = [RUN, "-k", "-N", name, "-n", netns, "-a", f"{self.addr[4]}/24",
                     "-M", str(mtu), "-c", str(cpus)]
        for v in volumes:
            self.args += ["-v", v]
        if not rxe:
            self.args += ["-A", "vm.norxe=1"]
        self.boot()

    def boot(self):
        r = subprocess.run(self.args + [f"ip addr add {self.addr[6]}/64 dev eth0 nodad; "
                                        "ip addr show dev eth0"], env=ENV, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=180)
        assert not r.returncode, f"status {r.returncode}: {r.stdout}"
        self.gid = {}
        if self.rxe:
            want = {4: f"0000:0000:0000:0000:0000:ffff:0a4d:00{self.octet:02x}",
                    6: f"fd77:0000:0000:0000:0000:0000:0000:{self.octet:04x}"}
            _, out = self.run("for i in 0 1 2 3 4; do echo $i "
                              "$(cat /sys/class/infiniband/rxe0/ports/1/gids/$i); done")
            for line in out.splitlines():
                i, gid = line.split()
                for v in want:
                    if gid == want[v]:
                        self.gid[v] = int(i)

    def start(self, cmd, timeout=60):
        return subprocess.Popen([RUN, "-N", self.name, "-t", str(timeout), cmd], env=ENV,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def end(self, proc, program):
        self.run(f"pkill -x {program[:15]}")

    def wait_listen(self, port, proc, seconds=20):
        self.run(f"SECONDS=0; while ((SECONDS < {seconds})); do for f in /proc/net/tcp{{,6}}; do "
                 "while read -r _ local _ state _; do "
                 f"[[ $local:$state == *:{int(port):04X}:0A ]] && exit 0; done <$f; done; "
                 "sleep 0.1; done; exit 1", 0)

    def counters(self):
        """Soft-RoCE's hw_counters, and frames_lost: what the guest's system
        and its tap dropped, either way."""
        _, out = self.run(COUNTERS, 0)
        tap = subprocess.run(
            ["ip", "netns", "exec", self.netns, "sh", "-c",
             f"cd /sys/class/net/tap-{self.name}/statistics && cat tx_dropped rx_dropped"],
            stdout=subprocess.PIPE, text=True, check=True).stdout
        count = {"frames_lost": sum(map(int, tap.split()))}
        for line in out.splitlines():
            name, n = (line.split() + ["", ""])[:2]
            if not n.isdigit():
                continue  # the console's own
            if name in LOST:
                count["frames_lost"] += int(n)
            elif ":" not in name and name[0].islower():
                count[name] = int(n)
        return count

    def die(self):
        """The power goes off: nothing in there can say goodbye."""
        with open(os.path.join(GUEST_DIR, "run", self.name, "pid")) as f:
            pid = int(f.read())
        os.kill(pid, signal.SIGKILL)
        while os.path.exists(f"/proc/{pid}"):
            time.sleep(0.02)

    def stop(self):
        subprocess.run([RUN, "-s", "-N", self.name], env=ENV, timeout=60)


class Uroce(Host):
    kind = "uroce"

    def __init__(self, netns, netdev="br0", env=None, addr="10.77.0.1"):
        self.netns, self.device = netns, "uroce0"
        net = addr.split(".")[1]
        self.addr = {4: addr, 6: f"fd{net}::1"}
        self.tmp = tempfile.mkdtemp(prefix="uroce-interop-")
        subprocess.run(["ip", "-n", netns, "addr", "add", f"{self.addr[6]}/64", "dev", netdev,
                        "nodad"], stderr=subprocess.DEVNULL)
        self.env = dict(os.environ, **(env or {}))
        self.daemon = None
        self.netdev = netdev
        self.start_daemon()

    def start_daemon(self):
        self.daemon = subprocess.Popen(
            ["ip", "netns", "exec", self.netns, os.path.join(BUILD, "bin", "uroced"),
             "--netdev", self.netdev, "--run-dir", self.tmp],
            stdout=subprocess.PIPE, stderr=open(os.path.join(self.tmp, "log"), "a"),
            text=True, env=self.env)
        for line in self.daemon.stdout:
            if "ready" in line:
                break
        else:
            raise RuntimeError(open(os.path.join(self.tmp, "log")).read())
        self.gid = {}
        want = {4: "0000:0000:0000:0000:0000:ffff:"
                   "{:02x}{:02x}:{:02x}{:02x}".format(*map(int, self.addr[4].split("."))),
                6: self.addr[6].replace("::1", ":0000:0000:0000:0000:0000:0000:0001")}
        deadline = time.monotonic() + 10
        gids = os.path.join(self.tmp, "sys/class/infiniband/uroce0/ports/1/gids")
        while len(self.gid) < 2 and time.monotonic() < deadline:
            for i in os.listdir(gids):
                g = open(os.path.join(gids, i)).read().strip()
                for v in want:
                    if g == want[v]:
                        self.gid[v] = int(i)
            time.sleep(0.05)

    def start(self, cmd, timeout=60):
        full = (f"timeout -k 5 {timeout} {os.path.join(BUILD, 'bin', 'uroce')} run "
                f"--run-dir {self.tmp} -- {cmd}")
        return subprocess.Popen(["ip", "netns", "exec", self.netns, "bash", "-c", full],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env=self.env)

    def end(self, proc, program):
        proc.terminate()

    def wait_listen(self, port, proc, seconds=20):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and proc.poll() is None:
            r = subprocess.run(["ip", "netns", "exec", self.netns, "ss", "-Hltn",
                                f"sport = :{port}"], stdout=subprocess.PIPE, text=True)
            if r.stdout.strip():
                return
            time.sleep(0.05)

    def counters(self):
        """The device's own hw_counters, brought up to date by reading them
        as a program would."""
        rc, out = self.run("bash -c 'cd /sys/class/infiniband/uroce0/ports/1/hw_counters && "
                           "grep -H . *'")
        return {k: int(v) for k, v in (line.split(":") for line in out.splitlines()
                                       if line.count(":") == 1)}

    def cm(self):
        """The connection manager's ids and counters."""
        return json.loads(subprocess.run(
            [os.path.join(BUILD, "bin", "uroce"), "cm", "--run-dir", self.tmp, "--json"],
            stdout=subprocess.PIPE, text=True, check=True).stdout)

    def die(self):
        """The power goes off: the engine processes, which outlive uroced, go as well."""
        self.daemon.kill()
        self.daemon.wait()
        for pid in subprocess.run(["ip", "netns", "pids", self.netns], stdout=subprocess.PIPE,
                                  text=True, check=True).stdout.split():
            try:
                with open(f"/proc/{pid}/comm") as f:
                    if f.read().startswith("uroce-engine"):
                        os.kill(int(pid), signal.SIGKILL)
            except (FileNotFoundError, ProcessLookupError):
                pass

    def boot(self):
        self.start_daemon()

    def stop(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
            try:
                self.daemon.wait(10)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
        shutil.rmtree(self.tmp, ignore_errors=True)


def pair(server, client, server_cmd, client_cmd, port=None, timeout=60, stays=False):
    """Run server_cmd, wait until it listens on TCP port (None: until the
    client, which then retries, gets through), run client_cmd. Returns
    (server status, server output, client status, client output). stays: the server
    does not end by itself."""
    s = server.start(server_cmd, timeout)
    try:
        if port:
            server.wait_listen(port, s)
        crc, cout = client.run(client_cmd, timeout)
        try:
            if stays:
                server.end(s, server_cmd.split()[0])
            sout, _ = s.communicate(timeout=timeout + 30 if crc == 0 else 5)
        except subprocess.TimeoutExpired:
            # A server whose client failed may wait for ever.
            server.end(s, server_cmd.split()[0])
            sout, _ = s.communicate(timeout=timeout + 30)
        return s.returncode, sout, crc, cout
    finally:
        if s.poll() is None:
            s.terminate()
            s.wait()


def unless_lost(guests, attempt):
    """attempt(), of programs whose packets nobody sends again (UD, UC): once
    more where it fails and the machine of a guest says that it lost a frame
    meanwhile, and only then. A packet that we lose is counted by none of them."""
    for _ in range(3):
        before = [x.counters()["frames_lost"] for x in guests]
        try:
            return attempt()
        except AssertionError as e:
            if [x.counters()["frames_lost"] for x in guests] == before:
                raise
            print("a guest's machine lost frames; once more after:", e)
    return attempt()

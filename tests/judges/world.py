# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Where a judge's programs run: a network with one cable, and a device of their own for
each of them. enter() is called first, by a process that has nothing yet."""
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

BUILD = os.environ.get("UROCE_BUILD", os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))) + "/build")
INSIDE = "UROCE_JUDGE_INSIDE"


def stop(*_):
    """Clean up, also where SIGINT is ignored, as in the background of a script."""
    raise KeyboardInterrupt


def enter():
    """Goes on in namespaces of network and processes: suites end processes by name, and
    whatever they leave ends with us. Their files are in a folder that goes, too."""
    if os.environ.get(INSIDE):
        return
    signal.signal(signal.SIGTERM, stop)
    with tempfile.TemporaryDirectory(prefix="uroce-judge-") as tmp:
        apart = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        p = subprocess.Popen([*apart, sys.executable, *sys.argv],
                             env={**os.environ, INSIDE: tmp})
        try:
            status = p.wait()
        finally:
            p.kill()  # it ignores SIGTERM
            p.wait()
    sys.exit(status)


def sh(*cmd):
    subprocess.run(cmd, check=True)


class World:
    address = "10.77.0.1"

    def __init__(self, device, engine):
        self.device = device
        self.tmp = tempfile.mkdtemp(dir=os.environ[INSIDE])
        self.env = {**os.environ, "UROCE_ENGINE": engine}
        self.daemon, self.count = None, 0

    @staticmethod
    def cable():
        sh("ip", "link", "set", "lo", "up")
        sh("ip", "link", "add", "e0", "mtu", "9000", "type", "veth", "peer", "name", "e1", "mtu", "9000")
        # An address that comes later is an event of the device.
        for end in "e0", "e1":
            sh("ip", "link", "set", end, "addrgenmode", "none")
        sh("ip", "addr", "add", World.address + "/24", "dev", "e0")
        sh("ip", "addr", "add", "fd77::1/64", "dev", "e0", "nodad")
        for end in "e0", "e1":
            sh("ip", "link", "set", end, "up")

    def command(self, cmd):
        """What starts a program on a device that nothing has used."""
        self.away()
        self.count += 1
        run_dir = os.path.join(self.tmp, f"run{self.count}")
        self.log = open(os.path.join(self.tmp, "uroced.log"), "w+")
        self.daemon = subprocess.Popen(
            [f"{BUILD}/bin/uroced", "--run-dir", run_dir, "--netdev", "e0", "--name", self.device],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        if not any("ready" in line for line in self.daemon.stdout):
            self.log.seek(0)
            raise SystemExit("uroced did not start:\n" + self.log.read())
        return [f"{BUILD}/bin/uroce", "run", "-q", "-r", run_dir, "--", *cmd]

    def away(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.terminate()
            try:
                self.daemon.wait(20)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
        self.daemon = None

    def link(self, path):
        """Shows a file of the suite's where its programs are started."""
        os.symlink(path, os.path.join(self.tmp, os.path.basename(path)))

    def text(self, cmd):
        """What a program prints that ends by itself."""
        return subprocess.run(self.command(cmd), cwd=self.tmp, env=self.env, text=True,
                              errors="replace", timeout=120, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def follow(self, cmd, line, limit):
        """Hands each line to line(), which says whether it counts. Returns stuck where none
        that counts came for limit seconds, else crashed: one that ends between tests is
        asked for none. What a program prints is kept where UROCE_JUDGE_LOG says."""
        p = subprocess.Popen(self.command(cmd), cwd=self.tmp, env=self.env, text=True,
                             errors="replace", start_new_session=True, bufsize=1,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        lines, how = queue.Queue(), "crashed"
        threading.Thread(target=self.feed, args=(p, lines), daemon=True).start()
        log = open(os.environ.get("UROCE_JUDGE_LOG", os.devnull), "a", buffering=1)
        until = time.monotonic() + limit
        while True:
            try:
                s = lines.get(timeout=max(0, until - time.monotonic()))
            except queue.Empty:
                how = "stuck"
                break
            if s is None:
                break
            log.write(s)
            if line(s):
                until = time.monotonic() + limit
        log.close()
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()
        return how

    @staticmethod
    def feed(p, lines):
        for s in p.stdout:
            lines.put(s)
        lines.put(None)

    def close(self):
        self.away()
        shutil.rmtree(self.tmp, ignore_errors=True)

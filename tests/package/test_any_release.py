# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One device, and programs of other releases of Debian, each with the libibverbs of its
own image: nothing of uroce is in these but what `uroce cdi` mounts."""
import json
import os
import re
import signal
import subprocess
import time

import pytest

from conftest import TOP, sh
from test_packages import PRIVATE_ABIS

RELEASES = ["trixie", "sid"]
PORT = {"trixie": "18601", "sid": "18602"}


@pytest.fixture(scope="module")
def images(work, root):
    """{release: folder} of images with libibverbs and its programs alone."""
    if root.path == "/":
        pytest.skip("no root of its own")
    found = {}
    for release in RELEASES:
        folder = os.path.join(work, "image-" + release)
        sources = sh(TOP + "/tests/apt_sources.sh", release)
        sh("mmdebstrap", "--mode=root", "--variant=extract", "--components=main",
           "--include=ibverbs-utils,dash,coreutils", "--aptopt=Acquire::Check-Valid-Until \"false\"",
           release, folder, "-", input=sources)
        # Extracted, not installed: what a base system makes itself is missing.
        for name in "proc", "dev", "tmp", "opt", "run":
            os.makedirs(f"{folder}/{name}", exist_ok=True)
        for name in "bin", "lib", "lib64":
            if not os.path.lexists(f"{folder}/{name}"):
                os.symlink("usr/" + name, f"{folder}/{name}")
        with open(folder + "/etc/hosts", "w") as f:
            f.write("127.0.0.1 localhost\n")
        found[release] = folder
    return found


@pytest.fixture(scope="module")
def device(root):
    """A device of the installed packages, for everybody in the namespace."""
    d = root.start("root", "uroced", "--netdev", "lo", "--run-dir", "/run/uroce")
    for line in d.stdout:
        if "ready" in line:
            break
    deadline = time.monotonic() + 30
    while "gid 0" not in root.run("root", "uroce", "link", "--run-dir", "/run/uroce").stdout:
        assert time.monotonic() < deadline and d.poll() is None
        time.sleep(0.1)
    yield json.loads(root.run("root", "uroce", "cdi", "--run-dir", "/run/uroce").stdout)
    d.terminate()
    d.wait(10)


class Image:
    """A container of an image, with what the device's specification gives to it."""

    def __init__(self, root, folder, spec):
        self.root, self.folder = root, folder
        edits = spec["devices"][0]["containerEdits"]
        self.env = edits["env"]
        self.mounts = "".join(
            f"mkdir -p {self.inside(m)} && mount --rbind {root.path}{m['hostPath']} "
            f"{self.inside(m)}\n" if os.path.isdir(root.path + m["hostPath"]) else
            f"mkdir -p $(dirname {self.inside(m)}) && : >{self.inside(m)} && "
            f"mount --bind {root.path}{m['hostPath']} {self.inside(m)}\n"
            for m in edits["mounts"])

    def inside(self, mount):
        return self.folder + mount["containerPath"]

    def start(self, *cmd, **env):
        script = (f"set -e\nmount -t tmpfs tmpfs {self.folder}/opt\n"
                  f"mount -t tmpfs tmpfs {self.folder}/run\n{self.mounts}mount -t proc proc {self.folder}/proc\n"
                  f"mount --rbind /dev {self.folder}/dev\n"
                  f"exec chroot {self.folder} env -i PATH=/usr/bin:/bin " +
                  " ".join([*self.env, *(f"{k}={v}" for k, v in env.items()), *cmd]))
        return subprocess.Popen(
            ["ip", "netns", "exec", self.root.netns, "unshare", "--mount", "sh", "-c", script],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)


def listens(root, port):
    out = sh("ip", "netns", "exec", root.netns, "ss", "-Hltn", f"sport = :{port}")
    return bool(out.strip())


def serve(root, image, port):
    """A server in a container of that image, which listens; the words for its client."""
    pingpong = "ibv_rc_pingpong", "-g", "0", "-c", "-n", "200", "-p", port
    server = image.start(*pingpong, UROCE_ENGINE="process")
    deadline = time.monotonic() + 30
    while not listens(root, port):
        if server.poll() is not None or time.monotonic() > deadline:
            end(server)
            raise AssertionError(server.stdout.read())
        time.sleep(0.05)
    return server, [*pingpong, "localhost"]


def end(program):
    if program.poll() is None:
        os.killpg(program.pid, signal.SIGKILL)


@pytest.mark.parametrize("release", RELEASES)
def test_other_rdma_core(root, images, device, release):
    """A program of the release that the device was installed on, with one of another, both
    with their engines in themselves; data are verified."""
    server, client = serve(root, Image(root, images[release], device), PORT[release])
    try:
        r = root.run("root", "env", "UROCE_ENGINE=process", "uroce", "run", "--run-dir", "/run/uroce",
                     "--", *client)
        out, _ = server.communicate(timeout=30)
    finally:
        end(server)
    assert r.returncode == 0 and server.returncode == 0, r.stdout + out
    assert "200 iters" in r.stdout and "200 iters" in out, r.stdout + out


def test_two_containers(root, images, device):
    """A program of each of two other releases, on the device of a third."""
    server, words = serve(root, Image(root, images["trixie"], device), "18603")
    client = Image(root, images["sid"], device).start(*words, UROCE_ENGINE="process")
    try:
        said = [p.communicate(timeout=60)[0] for p in (client, server)]
    finally:
        end(client)
        end(server)
    assert (client.returncode, server.returncode) == (0, 0), said
    assert all("200 iters" in text for text in said), said


def private_abi(folder):
    with open(os.path.realpath(folder + "/usr/lib/x86_64-linux-gnu/libibverbs.so.1"), "rb") as f:
        return int(re.search(rb"\0IBVERBS_PRIVATE_(\d+)\0", f.read())[1])


def test_newest_rdma_core(images):
    """Debian's next libibverbs has a private ABI for which there is a plugin."""
    abi = private_abi(images["sid"])
    assert abi in PRIVATE_ABIS, f"rdma-core of Debian unstable has private ABI {abi}"


def test_unknown_rdma_core(root, images, device, tmp_path):
    """Without a plugin for it, the program and `uroce doctor` say so, and not just nothing."""
    abi = private_abi(images["sid"])
    mounts = device["devices"][0]["containerEdits"]["mounts"]
    less = [m for m in mounts if not m["containerPath"].endswith(f"rdmav{abi}.so")]
    assert len(less) == len(mounts) - 1
    spec = {"devices": [{"containerEdits": {
        **device["devices"][0]["containerEdits"], "mounts": less}}]}
    out, _ = Image(root, images["sid"], spec).start("ibv_devices").communicate(timeout=30)
    assert f"has private ABI {abi}, and this uroce has plugins for 34" in out, out

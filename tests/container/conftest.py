# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Images and Podman as the user that ci.sh made."""
import json
import os
import subprocess
import time

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
WORK, USER = os.environ.get("UROCE_CT_WORK"), os.environ.get("UROCE_CT_USER")
NODE = "192.0.2.1"  # what ci.sh called the host
BUILD = os.environ.get("UROCE_BUILD", TOP + "/build")


def sh(*cmd, status=0, **kw):
    r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, **kw)
    assert r.returncode == status, \
        f"{' '.join(cmd)}: status {r.returncode}\n{r.stdout[-4000:]}"
    return r.stdout


def wait_for(what, condition, limit=30):
    end = time.monotonic() + limit
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {limit} s for {what}"
        time.sleep(0.05)
    return value


class Podman:
    """As an ordinary user, with storage of its own. The runtime directory's
    name is short: after a container Podman 4.3 takes no longer one than 50
    characters with what it adds, and each would be waited for 20 s."""

    def __init__(self):
        self.env = {"HOME": WORK + "/home", "XDG_RUNTIME_DIR":
                    WORK + "/run", "TMPDIR": WORK + "/home",
                    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        # By kernel and Debian's version: crun of 12 knows no hybrid control
        # groups, older kernels no overlay of a user.
        self.options = ["--cgroup-manager", "cgroupfs"]

    def cmd(self, *args):
        return ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups",
                "podman", *self.options, *args]

    def __call__(self, *args, status=0, timeout=120):
        return sh(*self.cmd(*args), status=status, env=self.env, cwd="/",
                  timeout=timeout)

    def tried(self, *args):
        """(status, output), for what may be refused."""
        r = subprocess.run(self.cmd(*args), env=self.env, cwd="/", text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=120)
        return r.returncode, r.stdout

    def choose(self, option, values, *args):
        """The first value of an option with which this works here. Where none
        does, rootless Podman cannot work on this machine, and says why."""
        options = self.options
        for value in values:
            self.options = [*options, option, value]
            status, out = self.tried(*args)
            if status == 0:
                return
        pytest.skip(f"rootless Podman does not work here with any of "
                    f"{', '.join(values)}: {out.strip()[-400:]}")

    def start(self, name, *args):
        """A container that stays."""
        self("run", "-d", "--name", name, *args)

    def ended(self, name):
        """(status, output) of a started one, waited for."""
        status = int(self("wait", name).split()[-1])
        return status, self("logs", name)

    def remove(self, *names):
        self.tried("rm", "-f", "-t", "0", *names)


def install(root):
    """The build, where container/Dockerfile and the packages put it."""
    sh("cmake", "--install", BUILD, "--strip", "--prefix", "/usr", cwd=TOP,
       env={**os.environ, "DESTDIR": root})
    triplet = sh("cc", "-print-multiarch").strip()
    os.rename(root + "/usr/lib/uroce", f"{root}/usr/lib/{triplet}/uroce")
    os.rename(root + "/usr/etc/libibverbs.d", root + "/etc/libibverbs.d")
    os.symlink(triplet + "/uroce", root + "/usr/lib/uroce")


def image(podman, name):
    """Of the root as it is now, without a registry."""
    changes = ["ENV PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
    if name == "uroce":
        changes.append("ENV UROCE_RUN_DIR=/tmp/uroce")
    tar = f"{WORK}/{name}.tar"
    sh("tar", "-C", WORK + "/root", "--exclude=./dev/*", "-cf", tar, ".")
    os.chmod(tar, 0o644)
    podman("import", "-q", *[w for c in changes for w in ("--change", c)],
           tar, "localhost/" + name, timeout=300)
    os.unlink(tar)


@pytest.fixture(scope="session")
def podman():
    """With the images `bare`, with nothing of uroce, and `uroce`."""
    if not WORK:
        pytest.skip("tests/container/ci.sh makes user, network and images")
    p = Podman()
    p.choose("--storage-driver", ["overlay", "vfs"], "images")
    sh("rm", "-rf", "--one-file-system", WORK + "/root")
    sh("cp", "-a", os.environ["UROCE_CT_ROOT"], WORK + "/root")
    image(p, "bare")
    p.choose("--runtime", ["crun", "runc"], "run", "--rm", "--network=none",
             "localhost/bare", "true")
    install(WORK + "/root")
    image(p, "uroce")
    print("podman", *p.options)
    yield p
    p.tried("rm", "-fa", "-t", "0")
    # Ends the process that keeps the user's namespaces.
    p.tried("system", "migrate")


@pytest.fixture(scope="session")
def node(podman):
    """The host's device, of users who do not reach each other, with its CDI
    specification where Podman looks."""
    run_dir = WORK + "/node"
    d = subprocess.Popen([BUILD + "/bin/uroced", "--run-dir", run_dir,
                          "--isolation", "user", "--name", "mlx5_0"],
                         stdout=subprocess.PIPE, text=True)
    spec = f"/run/cdi/uroce-test-{USER}.json"
    try:
        assert d.stdout.readline() == "ready\n"
        text = sh(BUILD + "/bin/uroce", "cdi", "--run-dir", run_dir)
        assert json.loads(text)["kind"] == "uroce.io/nic"
        os.makedirs("/run/cdi", exist_ok=True)
        with open(spec, "w") as f:
            f.write(text)
        yield run_dir
    finally:
        if os.path.exists(spec):
            os.unlink(spec)
        d.terminate()
        d.wait(20)

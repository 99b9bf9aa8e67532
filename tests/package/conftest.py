# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Both kinds of packages, built once from what git tracks, and a clean Debian
root with the Debian ones installed: the host's release, or the root that
UROCE_PACKAGE_ROOT names, which is then for nothing else."""
import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
FULL = bool(os.environ.get("UROCE_FULL"))
VERSION = re.search(r"project\(uroce VERSION ([\d.]+)", open(f"{TOP}/CMakeLists.txt").read())[1]


# Its folder's name is another each time: what is compiled there is found again.
CACHE = "CCACHE_BASEDIR"
# What whoever installs uroced has of it.
INSTALLED = "liburoce-preload", "uroce-ibverbs-provider", "uroced"
INSTALL = "DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends"


def sh(*cmd, **kw):
    r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kw)
    assert r.returncode == 0, f"{' '.join(cmd)}: status {r.returncode}\n{r.stdout[-4000:]}"
    return r.stdout


def in_root(path, script):
    """As root of it. The folder for temporary files that this run has is not in there."""
    return sh("chroot", path, "env", "-u", "TMPDIR", "sh", "-c", script)


@pytest.fixture(scope="session")
def work():
    d = tempfile.mkdtemp(prefix="uroce-pkg-")
    os.chmod(d, 0o755)
    yield d
    shutil.rmtree(d, ignore_errors=True)


@pytest.fixture(scope="session")
def source(work):
    """A source tree named as release archives are."""
    tree = os.path.join(work, f"uroce-{VERSION}")
    tar = os.path.join(work, f"uroce-{VERSION}.tar.gz")
    files = sh("git", "-c", f"safe.directory={TOP}", "-C", TOP, "ls-files", "-z")
    with open(os.path.join(work, "list"), "w") as f:
        f.write(files)
    sh("tar", "-C", TOP, "--null", "-T", os.path.join(work, "list"), "--transform",
       f"s,^,uroce-{VERSION}/,", "-czf", tar)
    sh("tar", "-C", work, "-xzf", tar)
    return tree


@pytest.fixture(scope="session")
def debs(work):
    sh(TOP + "/tests/debs.sh", work)
    return {os.path.basename(p).split("_")[0]: p for p in glob.glob(work + "/*.deb")}


def rpmbuild(work, source, folder, *options):
    """{name: file} of Fedora's packages, made in that folder of work."""
    top = os.path.join(work, folder)
    rpm = "/usr/lib/rpm"
    macros = ":".join([rpm + "/macros", *glob.glob(rpm + f"/platform/{os.uname().machine}-*/macros"),
                       rpm + "/fileattrs/*.attr", os.path.join(HERE, "fedora.macros")])
    flags = {} if FULL else {"CFLAGS": sh(TOP + "/tests/deb_cflags.sh").strip(),
                             "CMAKE_BUILD_TYPE": "None"}
    sh("rpmbuild", "--macros", macros, "--define", f"_topdir {top}", *options, "--nodeps", "-bb",
       "--define", f"_sourcedir {work}", os.path.join(source, "redhat", "uroce.spec"),
       env={**os.environ, **flags, CACHE: work, "UROCE_LINK_WHOLE": "ON" if FULL else "OFF"})
    return {os.path.basename(p).rsplit("-", 2)[0]: p for p in glob.glob(top + "/RPMS/*/*.rpm")}


@pytest.fixture(scope="session")
def rpms(work, source):
    return rpmbuild(work, source, "rpm")


class Root:
    """A clean root, entered in a network namespace of its own."""

    def __init__(self, path, netns):
        self.path, self.netns = path, netns

    def cmd(self, user, *cmd):
        ids = {"root": "0:0", "user": "1234:1234"}[user]
        return ["ip", "netns", "exec", self.netns, "chroot", f"--userspec={ids}", self.path,
                "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp",
                "XDG_RUNTIME_DIR=/run/user/1234" if user == "user" else "A=1", *cmd]

    def run(self, user, *cmd, timeout=60):
        return subprocess.run(self.cmd(user, *cmd), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=timeout)

    def boot(self, *options):
        """What starts its systemd as process 1, which mounts /dev and the like itself."""
        away = " ".join(f"'{self.path}{m}'" for m in ("/run", "/dev", "/proc"))
        return ["unshare", "-m", "sh", "-c", f"umount {away}; exec \"$@\"", "sh",
                "systemd-nspawn", "-q", "-D", self.path, "--boot", "--register=no",
                "--keep-unit", *options]

    def start(self, user, *cmd):
        return subprocess.Popen(self.cmd(user, *cmd), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, start_new_session=True)


def end_container(nspawn):
    """What Root.boot() started, if it still runs, with all that is inside."""
    if nspawn.poll() is None:
        for child in open(f"/proc/{nspawn.pid}/task/{nspawn.pid}/children").read().split():
            os.kill(int(child), signal.SIGKILL)
        nspawn.kill()
        nspawn.wait()


# What somebody types who has another card, or none, and nothing of uroce.
TYPED = """dpkg -l '*uroce*' 'rdma-check' | grep -c ^ii
rdma-check -- ibv_devinfo
rdma-check -- ib_write_bw -d mlx5_0
rdma-check -- rping -c -a 127.0.0.1
rdma-check -- sh -c 'exit 7'
rdma-check -- passwd
rdma-check -- ldconfig
rdma-check --list
/tmp/autopkgtest
ldd /usr/bin/rdma-check /usr/lib/*/rdma-check/librdma-check.so
""".splitlines()


def stranger(root, deb):
    """{line: (status, output)} in a root that has rdma-check alone, and what is left of it
    after its end."""
    shutil.copy(deb, root.path + "/root")
    shutil.copy(f"{TOP}/debian/tests/rdma-check", root.path + "/tmp/autopkgtest")
    in_root(root.path, f"{INSTALL} /root/*.deb")
    found = {}
    for line in TYPED:
        r = root.run("user", "sh", "-c", line)
        found[line] = r.returncode, r.stdout
    in_root(root.path, "dpkg --purge rdma-check; rm /root/*.deb /tmp/autopkgtest")
    r = root.run("root", "sh", "-c", "find /etc /usr /var -xdev -name '*rdma-check*'")
    found["left"] = r.returncode, r.stdout
    return found


@pytest.fixture(scope="session")
def root(work, debs):
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        pytest.skip("needs root and mmdebstrap")
    path = os.environ.get("UROCE_PACKAGE_ROOT") or os.path.join(work, "root")
    release = re.search(r"^VERSION_CODENAME=(\w+)", open("/etc/os-release").read(), re.M)[1]
    netns = f"uroce-pkg-{os.getpid()}"
    if path != "/":
        sh(TOP + "/tests/fresh/minimal.sh", release, path)
        shutil.copy("/etc/resolv.conf", path + "/etc/resolv.conf")
    with open(path + "/etc/hosts", "w") as f:
        f.write("127.0.0.1 localhost\n")
    try:
        for name in INSTALLED:
            shutil.copy(debs[name], path + "/tmp")
        for args in (["-t", "proc", "proc", path + "/proc"], ["--bind", "/dev", path + "/dev"],
                     ["-t", "tmpfs", "tmpfs", path + "/run"]):
            if path != "/":
                sh("mount", *args)
        os.makedirs(path + "/run/user/1234", exist_ok=True)
        os.chown(path + "/run/user/1234", 1234, 1234)
        if path != "/":
            in_root(path, f"apt-get -q update && {INSTALL} ibverbs-utils rdmacm-utils perftest "
                    "python3 iproute2 ibverbs-providers systemd-sysv dbus sudo cron")
        sh("ip", "netns", "add", netns)
        sh("ip", "-n", netns, "link", "set", "lo", "up")
        made = Root(path, netns)
        made.stranger = stranger(made, debs["rdma-check"])
        out = in_root(path, f"apt-get -q update >/dev/null 2>&1; {INSTALL} /tmp/*.deb")
        assert "uroced" in out
        yield made
    finally:
        subprocess.run(["ip", "netns", "del", netns], stderr=subprocess.DEVNULL)
        for m in ("/run", "/dev", "/proc") if path != "/" else ():
            subprocess.run(["umount", path + m], stderr=subprocess.DEVNULL)


def pytest_configure(config):
    """A stage that is told to end cleans up as one that is interrupted. Not by
    SIGINT: who was started in the background ignores that."""
    def stop(*_):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, stop)

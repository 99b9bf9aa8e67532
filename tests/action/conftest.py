# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Clean Debian roots with nothing of uroce, an ordinary user with sudo as CI runners
have, and this tree in /src. What is made here goes with the namespaces
that ci.sh made for it."""
import os
import re
import shutil
import subprocess
import tempfile

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
HOME = "/home/runner"
FULL = bool(os.environ.get("UROCE_FULL"))
RELEASE = re.search(r"^VERSION_CODENAME=(\w+)", open("/etc/os-release").read(), re.M)[1]


def sh(*cmd, **kw):
    r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, **kw)
    assert r.returncode == 0, f"{' '.join(cmd)}:\n{r.stdout[-4000:]}"
    return r.stdout


def tree(folder):
    """What a clone of the tree as it is would have, in that new folder."""
    os.makedirs(folder)
    files = sh("git", "-c", f"safe.directory={TOP}", "-C", TOP, "ls-files",
               "-z", "--cached", "--others", "--exclude-standard")
    sh("tar", "-C", TOP, "--null", "-T", "-", "--ignore-failed-read", "-cf",
       folder + ".tar", input=files)
    sh("tar", "-C", folder, "-xf", folder + ".tar")
    os.unlink(folder + ".tar")


def clean_root(release, packages):
    """A root of that release with these packages."""
    folder = os.environ.get("UROCE_ACTION_ROOT")
    if not folder:
        pytest.skip("tests/action/ci.sh makes the folder")
    path = tempfile.mkdtemp(dir=folder)
    os.chmod(path, 0o755)
    sh(TOP + "/tests/fresh/minimal.sh", release, path)
    with open(path + "/etc/hosts", "w") as f:
        f.write(f"127.0.0.1 localhost {os.uname().nodename}\n")
    sh("cp", "/etc/resolv.conf", path + "/etc/resolv.conf")
    for args in (["-t", "proc", "proc", path + "/proc"],
                 ["-t", "sysfs", "sysfs", path + "/sys"],
                 ["--rbind", "/dev", path + "/dev"],
                 ["-t", "tmpfs", "tmpfs", path + "/run"]):
        sh("mount", *args)
    # The folder for temporary files that this run has is not in there.
    sh("chroot", path, "env", "-u", "TMPDIR", "sh", "-c", "apt-get -q update && "
       "DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends " + packages)
    with open(path + "/etc/sudoers.d/runner", "w") as f:
        f.write("runner ALL=(ALL) NOPASSWD: ALL\n")
    sh("chroot", path, "useradd", "-m", "-u", "1001", "runner")
    tree(path + "/src")
    return path


@pytest.fixture(scope="session")
def root():
    """With node, which a runner brings."""
    return clean_root("bookworm", "sudo iproute2 nodejs")


@pytest.fixture(scope="session", params=["bookworm", "trixie", "sid"])
def prebuilt(request):
    """A root without a compiler, where the files of a release are in /release."""
    if not FULL and "UROCE_RELEASE_FILES" not in os.environ and request.param != RELEASE:
        pytest.skip("files for another release take minutes: UROCE_FULL=1")
    files = request.getfixturevalue("release_files")
    path = clean_root(request.param, "sudo iproute2")
    shutil.copytree(files, path + "/release")
    return path


@pytest.fixture(scope="session")
def release_files():
    """The folder that debian/release.sh made; UROCE_RELEASE_FILES: one that it made before.
    Without UROCE_FULL the packages of this machine, which `package` tests."""
    if "UROCE_RELEASE_FILES" in os.environ:
        return os.environ["UROCE_RELEASE_FILES"]
    folder = os.path.join(os.environ["UROCE_ACTION_ROOT"], "release")
    if FULL:
        sh(TOP + "/debian/release.sh", folder)
        return folder
    os.mkdir(folder)
    sh(TOP + "/tests/debs.sh", folder)
    for name in os.listdir(folder):
        if "-dbgsym_" in name:
            os.unlink(f"{folder}/{name}")
    return folder


@pytest.fixture(scope="session")
def netns():
    sh("ip", "netns", "add", "runner")
    sh("ip", "-n", "runner", "link", "set", "lo", "up")
    yield "runner"
    sh("ip", "netns", "del", "runner")

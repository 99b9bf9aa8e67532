# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Packages come and go as a stranger's machine sees it: installed, upgraded, removed and
purged in a root that has what they depend on, and nothing is left. With UROCE_FULL
piuparts and lintian of Debian unstable as well."""
import hashlib
import os
import re
import shutil
import stat
import subprocess

import pytest

from conftest import INSTALL, INSTALLED, TOP, in_root, rpmbuild, sh
from test_packages import next_version

# What dpkg, apt and rpm keep for themselves, and file systems of others.
OTHERS = ("/dev", "/proc", "/run", "/sys", "/tmp", "/var/cache", "/var/lib/apt", "/var/lib/dpkg",
          "/var/lib/rpm", "/var/log")
CONFIG = "/etc/uroce/uroce.conf"
# debhelper's notes on units, until the purge.
UNITS = "/var/lib/systemd"
full = pytest.mark.skipif(not os.environ.get("UROCE_FULL"), reason="takes minutes: UROCE_FULL=1")


def snapshot(root):
    """{path: what it is} of the whole root."""
    found = {}
    for folder, folders, files in os.walk(root):
        inside = folder[len(root):]
        folders[:] = [f for f in folders if f"{inside}/{f}" not in OTHERS]
        for name in folders + files:
            path = os.path.join(folder, name)
            st = os.lstat(path)
            what = [oct(st.st_mode), st.st_uid, st.st_gid]
            if stat.S_ISLNK(st.st_mode):
                what.append(os.readlink(path))
            elif stat.S_ISREG(st.st_mode):
                with open(path, "rb") as f:
                    what.append(hashlib.sha1(f.read()).hexdigest())
            found[f"{inside}/{name}"] = what
    # Linked anew whenever a package brings libraries.
    found.pop("/etc/ld.so.cache", None)
    return found


def differ(before, after):
    return sorted(p for p in {**before, **after} if before.get(p) != after.get(p))


def chrooted(root, script):
    return sh("unshare", "--mount", "--pid", "--net", "--fork", "--kill-child=KILL", "sh", "-c",
              'mount -t proc proc "$0/proc" && ip link set lo up && '
              'exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp sh -c "$1"',
              root, script)


@pytest.fixture
def own_root():
    """Roots are made beside each other, by root."""
    if os.environ.get("UROCE_PACKAGE_ROOT") == "/" or os.geteuid() or not shutil.which("mmdebstrap"):
        pytest.skip("no roots of their own here")


@pytest.fixture
def bare(debs, own_root, tmp_path_factory):
    """A root with what the packages depend on, a program, and none of them."""
    path = str(tmp_path_factory.mktemp("bare") / "root")
    release = re.search(r"^VERSION_CODENAME=(\w+)", open("/etc/os-release").read(), re.M)[1]
    sh(TOP + "/tests/fresh/minimal.sh", release, path)
    shutil.copy("/etc/resolv.conf", path + "/etc/resolv.conf")
    with open(path + "/etc/hosts", "w") as f:
        f.write("127.0.0.1 localhost\n")
    os.mkdir(path + "/root/new")
    for name in (*INSTALLED, "rdma-check"):
        shutil.copy(debs[name], path + "/root/new")
    in_root(path, f"""set -e
        apt-get -q update
        needs=$(apt-get -s -q install --no-install-recommends /root/new/*.deb |
            awk '$1 == "Inst" && $2 !~ /uroce|rdma-check/ {{ print $2 }}')
        {INSTALL} $needs ibverbs-utils ibverbs-providers""")
    os.makedirs(path + "/dev/shm", exist_ok=True)
    yield path
    shutil.rmtree(path)


WORKS = """
uroce run --run-dir /tmp/uroce -- ibv_rc_pingpong -g 0 -c & server=$!
until uroce run --run-dir /tmp/uroce -- ibv_rc_pingpong -g 0 -c localhost; do
	kill -0 $server || exit 1; sleep 0.1
done
wait $server"""


def test_debian_packages_go(bare, debs, tmp_path):
    """From a lower version to this one with a configuration file that somebody has changed,
    then removed, then purged."""
    with open(bare + "/usr/bin/mknod", "rb"):
        chrooted(bare, "test -e /dev/null || mknod -m 666 /dev/null c 1 3; "
                 "mknod -m 666 /dev/urandom c 1 9 || :")
    before = snapshot(bare)
    next_version(debs, str(tmp_path / "trees"), bare + "/root/old", "0.0.1-1")
    chrooted(bare, "dpkg -i /root/old/*.deb")
    with open(bare + CONFIG, "a") as f:
        f.write("# somebody's\n")
    chrooted(bare, "dpkg -i /root/new/*.deb" + WORKS)
    versions = chrooted(bare, "dpkg-query -W -f '${Version}\\n' " + " ".join(INSTALLED))
    assert "0.0.1" not in versions, versions
    with open(bare + CONFIG) as f:
        assert f.read().endswith("# somebody's\n")
    # What dpkg knows of is all that came.
    known = chrooted(bare, "dpkg -L rdma-check " + " ".join(INSTALLED)).split("\n")
    came = [p for p in differ(before, snapshot(bare)) if not p.startswith(("/root/", UNITS))]
    merged = {re.sub("^/(lib|bin|sbin)/", r"/usr/\1/", p) for p in known}
    assert set(came) <= merged, set(came) - merged
    chrooted(bare, "uroce enable --host; dpkg --remove rdma-check " + " ".join(INSTALLED))
    left = [p for p in differ(before, snapshot(bare)) if not p.startswith(("/root/", UNITS))]
    assert left == ["/etc/libibverbs.d/uroce.driver", "/etc/uroce", CONFIG], left
    # What is left says nothing to others' programs.
    assert "uroce" not in chrooted(bare, "ibv_devices 2>&1; true")
    chrooted(bare, "dpkg --purge rdma-check " + " ".join(INSTALLED))
    left = [p for p in differ(before, snapshot(bare)) if not p.startswith("/root/")]
    assert not left, left
    assert "uroce" not in chrooted(bare, "cat /var/lib/dpkg/status")


# In the place of systemd's, which a root without a system has no use for.
SYSTEMCTL = "#!/bin/sh\necho \"$@\" >>/tmp/systemctl\n"


def rpm(root, *args):
    return sh("rpm", "--root", root, "--define", "_dbpath /var/lib/rpm", *args)


def scriptlets(root):
    path = root + "/tmp/systemctl"
    with open(path) as f:
        text = f.read()
    os.unlink(path)
    return text


def test_rpm_goes(bare, rpms, source, work):
    """No distribution of RPMs is among Debian's archives, so rpm works on a root of
    Debian's, and runs what the packages bring for it to run."""
    with open(bare + "/usr/bin/systemctl", "w") as f:
        f.write(SYSTEMCTL)
    os.chmod(bare + "/usr/bin/systemctl", 0o755)
    chrooted(bare, "test -e /dev/null || mknod -m 666 /dev/null c 1 3; "
             "mknod -m 666 /dev/urandom c 1 9 || :")
    os.makedirs(bare + "/var/lib/rpm", exist_ok=True)
    before = snapshot(bare)
    # Names of Fedora's packages are none of Debian's.
    rpm(bare, "--nodeps", "-i", *rpms.values())
    assert "preset uroced.service" in scriptlets(bare)
    names = rpm(bare, "-qa").split()
    assert len(names) == len(rpms), names
    assert rpm(bare, "--nodeps", "-Va") == ""
    chrooted(bare, WORKS)
    if os.environ.get("UROCE_FULL"):
        newer = rpmbuild(work, source, "rpm-next", "--define", "dist .next")
        with open(bare + CONFIG, "a") as f:
            f.write("# somebody's\n")
        chrooted(bare, "uroce enable --host")
        rpm(bare, "--nodeps", "-U", *newer.values())
        assert "disable" not in scriptlets(bare)
        assert os.path.exists(bare + "/etc/ld.so.preload")
        names = rpm(bare, "-qa").split()
        assert len(names) == len(rpms) and all(".next" in name for name in names), names
        with open(bare + CONFIG) as f:
            assert f.read().endswith("# somebody's\n")
    chrooted(bare, "uroce enable --host")
    rpm(bare, "-e", *names)
    assert "disable --now uroced.service" in scriptlets(bare)
    # Folders that Fedora's package filesystem has stay.
    left = [p for p in differ(before, snapshot(bare)) if "uroce" in p or "rdma" in p or
            not os.path.isdir(bare + p)]
    # rpm keeps what somebody changed.
    kept = ["/etc/uroce", CONFIG + ".rpmsave"] if os.environ.get("UROCE_FULL") else []
    assert left == kept, left


@full
def test_piuparts(debs, own_root, tmp_path):
    """Debian's own test of that, with an archive that has a lower version."""
    if not shutil.which("piuparts"):
        pytest.skip("piuparts is not installed")
    repository = str(tmp_path / "archive")
    next_version(debs, str(tmp_path / "trees"), repository, "0.0.1-1", INSTALLED + ("rdma-check",))
    with open(repository + "/Packages", "w") as f:
        f.write(sh("dpkg-scanpackages", "-m", ".", cwd=repository).split("dpkg-scanpackages:")[0])
    release = re.search(r"^VERSION_CODENAME=(\w+)", open("/etc/os-release").read(), re.M)[1]
    base = str(tmp_path / "base")
    sh(TOP + "/tests/fresh/minimal.sh", release, base)
    with open(base + "/etc/apt/sources.list.d/lower.list", "w") as f:
        f.write(f"deb [trusted=yes] file://{repository} ./\n")
    out = subprocess.run(
        ["piuparts", "--existing-chroot", base, "--keep-sources-list", "-d", release, "--no-eatmydata",
         "--bindmount", repository,
         *(debs[name] for name in (*INSTALLED, "rdma-check"))],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1500)
    print(out.stdout[-3000:])
    assert out.returncode == 0 and "Can't test upgrade" not in out.stdout, out.stdout[-6000:]


@full
def test_lintian_of_unstable(debs, own_root, tmp_path):
    path = str(tmp_path / "root")
    sh(TOP + "/tests/fresh/minimal.sh", "sid", path)
    shutil.copy("/etc/resolv.conf", path + "/etc/resolv.conf")
    os.mkdir(path + "/debs")
    for name, deb in debs.items():
        if "dbgsym" not in name:
            shutil.copy(deb, path + "/debs")
    in_root(path, f"apt-get -q update && {INSTALL} lintian")
    out = chrooted(path, "useradd -m lint && exec setpriv --reuid lint --clear-groups env HOME=/tmp "
                   "lintian --pedantic --display-info --suppress-tags initial-upload-closes-no-bugs "
                   "--fail-on error,warning,info,pedantic /debs/*.deb")
    print(out)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is in the packages, and that a clean Debian root works with them."""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import INSTALLED, TOP, end_container, in_root, sh


def test_debian_packages(debs):
    assert {"uroced", "uroce-ibverbs-provider", "liburoce-preload", "rdma-check"} <= set(debs)
    # The checker is for every card: nothing of ours is needed with it.
    assert "librdma-check.so" in sh("dpkg-deb", "-c", debs["rdma-check"])
    depends = sh("dpkg-deb", "-f", debs["rdma-check"], "Depends", "Recommends", "Pre-Depends")
    assert "libdw1" in depends and "uroce" not in depends, depends
    listing = sh("dpkg-deb", "-c", debs["uroced"])
    for f in ("usr/bin/uroce", "usr/sbin/uroced", "uroced.service", "man/man8/uroced.8",
              "man/man1/uroce.1", "etc/uroce/uroce.conf", "bash-completion"):
        assert f in listing, f


def test_contents(debs):
    """The same files as on every architecture (tests/arm64/packages.sh)."""
    with open(f"{TOP}/tests/package/contents") as f:
        want = "".join(line for line in f if not line.startswith("#"))
    assert sh(f"{TOP}/tests/package/contents.sh",
              *[p for n, p in sorted(debs.items()) if "dbgsym" not in n]) == want


# Each has a plugin of its own (providers/uroce/README.md).
PRIVATE_ABIS = 34, 57, 59, 64, 65


def test_every_private_abi(debs):
    """One package for each release of libibverbs: all plugins, and a driver file for all."""
    depends = sh("dpkg-deb", "-f", debs["uroce-ibverbs-provider"], "Depends")
    assert "libibverbs1 (>= 39)" in depends and depends.count("libibverbs1") == 1, depends
    archive = sh("dpkg-deb", "-c", debs["uroce-ibverbs-provider"])
    for abi in PRIVATE_ABIS:
        assert f"/uroce/liburoce-rdmav{abi}.so" in archive, archive


def test_lintian(debs, tmp_path):
    if not shutil.which("lintian"):
        pytest.skip("lintian is not installed")
    # There is no wish for a package (ITP) yet that its first version could end. What confines
    # the daemon is in its unit, without which no init script shall start it; lintian of Debian
    # unstable asks for none any more.
    sh("lintian", "--allow-root", "--pedantic", "--display-info", "--suppress-tags",
       "initial-upload-closes-no-bugs,package-supports-alternative-init-but-no-init.d-script",
       "--fail-on", "error,warning,info,pedantic",
       *[p for n, p in debs.items() if "dbgsym" not in n],
       env={**os.environ, "TMPDIR": str(tmp_path)})  # it leaves files there


def test_reproducible(debs, source, work):
    """Built once more in another folder, and without what was compiled before: bit by bit
    the same."""
    if not os.environ.get("UROCE_FULL"):
        pytest.skip("another build takes minutes: UROCE_FULL=1")
    folder = os.path.join(work, "another", "folder")
    os.makedirs(folder)
    sh("cp", "-a", source, folder + "/tree")
    sh("dpkg-buildpackage", "-b", "-uc", "-us", cwd=folder + "/tree",
       env={**os.environ, "CCACHE_DISABLE": "1", "UROCE_WERROR": "ON", "TZ": "Asia/Tokyo"})
    again = glob.glob(folder + "/*.deb")
    assert len(again) >= 8
    for deb in again:
        sh("cmp", deb, os.path.join(work, os.path.basename(deb)))


def test_rpm_packages(rpms, tmp_path):
    files = sh("rpm", "-qpl", rpms["uroce"], rpms["uroce-libs"])
    for f in ("/usr/bin/uroce", "/usr/sbin/uroced", "/usr/lib/systemd/system/uroced.service",
              "/etc/libibverbs.d/uroce.driver", "/usr/lib64/uroce/liburoce-preload.so",
              "/usr/lib64/uroce/liburoce-engine.so", "/usr/lib64/uroce/uroce-engine", "/etc/uroce/uroce.conf",
              *(f"/usr/lib64/uroce/liburoce-rdmav{n}.so" for n in PRIVATE_ABIS)):
        assert f in files, f
    files = sh("rpm", "-qpl", rpms["rdma-check"])
    assert "/usr/bin/rdma-check" in files and "librdma-check.so" in files, files
    assert "uroce" not in sh("rpm", "-qp", "--requires", rpms["rdma-check"])
    needs = sh("rpm", "-qp", "--requires", rpms["uroce-libs"])
    # By name alone: no libibverbs has the private symbols of all plugins.
    assert "libibverbs.so.1" not in needs, needs
    assert "libibverbs(" in needs and ">= 39" in needs, needs
    scripts = sh("rpm", "-qp", "--scripts", rpms["uroce"])
    assert "systemctl" in scripts and "uroce disable --host" in scripts
    # As preload/table_last.sh leaves it, after strip: ELF header's e_phoff, and its sizes.
    with open(tmp_path / "archive", "wb") as f:
        subprocess.run(["rpm2cpio", rpms["uroce-libs"]], stdout=f, check=True)
    library = (tmp_path / "archive").read_bytes()
    library = library[library.index(b"\x7fELF", library.index(b"liburoce-preload.so")):]
    at, size, count = (int.from_bytes(library[i:i + n], sys.byteorder)
                       for i, n in ((32, 8), (54, 2), (56, 2)))
    assert at % 65536 == 0 and library[at + size * count:][:4] == b"0707"


def test_rpmlint(rpms, source):
    if not shutil.which("rpmlint"):
        pytest.skip("rpmlint is not installed")
    out = subprocess.run(["rpmlint", "-r", f"{source}/redhat/uroce.rpmlintrc",
                          f"{source}/redhat/uroce.spec", *rpms.values()], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    assert "3 packages and 1 specfiles checked" in out, out
    # Debian 12's and 13's rpmlint differ in which of the filters they need.
    found = [line for line in out.splitlines() if re.search(": [EW]: ", line) and
             "unused-rpmlintrc-filter" not in line]
    assert not found, out


@pytest.mark.parametrize("page", ["rdma-check.1", "uroce.1", "uroced.8", "uroce.conf.5", "uroce.7",
                                  "uroce-fault.7"])
def test_manual_renders(page):
    r = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", f"{TOP}/doc/man/{page}"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert r.returncode == 0 and not r.stderr, r.stderr
    assert len(r.stdout) > 500


def test_manual_lint():
    """mandoc finds nothing but lines that are long in the source."""
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is not installed")
    out = subprocess.run(["mandoc", "-Tlint", *glob.glob(f"{TOP}/doc/man/*.[1-9]")], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    found = [line for line in out.splitlines() if "input text line longer than 80 bytes" not in line]
    assert not found, "\n".join(found)


def pair(root, user, server, client, pattern=None):
    s = root.start(user, *server)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        # The server may not listen yet, or not where anybody can see it.
        c = root.run(user, *client)
        if c.returncode == 0 or s.poll() is not None:
            break
        time.sleep(0.2)
    try:
        out, _ = s.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(s.pid, signal.SIGKILL)
        out, _ = s.communicate()
    assert c.returncode == 0 and s.returncode == 0, f"client:\n{c.stdout}\nserver:\n{out}"
    return out


def test_ordinary_user(root):
    """No daemon, no root, nothing configured: the README's two terminals."""
    r = root.run("user", "uroce", "run", "--", "ibv_devinfo")
    assert r.returncode == 0 and "uroce0" in r.stdout, r.stdout
    pp = ["uroce", "run", "--", "ibv_rc_pingpong", "-g", "0", "-c"]
    pair(root, "user", pp, pp + ["localhost"])
    rping = ["uroce", "run", "--", "rping", "-a", "127.0.0.1", "-C", "5", "-V"]
    pair(root, "user", rping + ["-s"], rping + ["-c"])


def test_rdma_check_alone(root):
    """Installed without anything of uroce, on a machine without a device: the programs do
    what they do, and what was not checked is said."""
    found = root.stranger
    nothing = "rdma-check: the program opened no RDMA device: there was nothing to look at\n"
    said = {line.split("-- ")[-1]: it for line, it in found.items()}
    assert said["dpkg -l '*uroce*' 'rdma-check' | grep -c ^ii"][1].endswith("1\n"), found
    for program in "ibv_devinfo", "ib_write_bw -d mlx5_0", "rping -c -a 127.0.0.1":
        status, out = said[program]
        assert status and out.endswith(nothing) and out.count("rdma-check") == 1, (program, out)
    assert "IB devices" in said["ibv_devinfo"][1], said["ibv_devinfo"]
    assert said["sh -c 'exit 7'"] == (7, ""), said["sh -c 'exit 7'"]
    status, out = said["passwd"]
    assert status == 125 and "more rights than you have" in out, out
    status, out = said["ldconfig"]
    assert (status == 125 and "statically linked" in out) or "cannot run" in out, out
    assert said["/tmp/autopkgtest"] == (0, ""), said["/tmp/autopkgtest"]
    assert len(said["rdma-check --list"][1].splitlines()) >= 45
    libraries = found["ldd /usr/bin/rdma-check /usr/lib/*/rdma-check/librdma-check.so"][1]
    assert "libdw" in libraries and "not found" not in libraries
    assert "ibverbs" not in libraries and "uroce" not in libraries, libraries
    assert found["left"][1] == "", found["left"]


@pytest.mark.parametrize("name", ["run-pingpong", "run-rdmacm", "perftest"])
def test_autopkgtest(root, source, name):
    """What Debian runs on the installed packages (debian/tests)."""
    shutil.copy(f"{source}/debian/tests/{name}", root.path + "/tmp")
    r = root.run("user", "/tmp/" + name, timeout=300)
    assert r.returncode == 0, r.stdout


def test_service(root):
    """The daemon as the service starts it, used by an ordinary user."""
    d = root.start("root", "uroced", "--config", "/etc/uroce/uroce.conf", "--netdev", "lo",
                   "--run-dir", "/run/uroce")
    try:
        for line in d.stdout:
            if "ready" in line:
                break
        # The device of the test before may hold the port a moment longer.
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and "gid 0" not in root.run(
                "user", "uroce", "link", "--run-dir", "/run/uroce").stdout:
            time.sleep(0.1)
        pp = ["uroce", "run", "--run-dir", "/run/uroce", "--", "ibv_rc_pingpong", "-g", "0", "-c"]
        pair(root, "user", pp, pp + ["localhost"])
    finally:
        d.terminate()
        d.wait(10)


def test_unit_file(source, tmp_path):
    """What systemd itself says of the unit, where it is here to say it."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    text = open(f"{source}/device/uroced.service.in").read()
    for must in ("FileDescriptorStoreMax=", "Type=notify", "WatchdogSec=", "NoNewPrivileges=yes", "RuntimeDirectory=uroce"):
        assert must in text, must
    unit = tmp_path / "uroced.service"
    unit.write_text(re.sub("@[A-Z_]+@", "/usr", text))
    # In tenths: what is left is the host's network with CAP_NET_ADMIN, other users'
    # processes to be seen, and the choice of a processor.
    p = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=18",
                        str(unit)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert p.returncode == 0, p.stdout


# For both scripts below: waits end when the programs do whose progress they wait for.
WAITS = """listens() { until ss -Hltn 'sport = :18515' | grep -q .; do kill -0 $server || break; sleep 0.1; done; }
both() { kill -0 $server && kill -0 $client; }
"""
# Run by systemd in the root, as its last unit: two users' view of the service.
UNDER_SYSTEMD = """#!/bin/bash
exec >/found 2>&1
as() { setpriv --reuid "$1" --regid "$1" --groups "$2" "${@:3}"; }
group=$(getent group card | cut -d: -f3)
. /waits.sh
pingpong="uroce run --run-dir /run/uroce -- ibv_rc_pingpong -d uroce0 -g 0 -c"
systemctl show -p ActiveState,NRestarts,MainPID uroced
grep -E '^(Uid|CapEff|CapBnd|Seccomp):' "/proc/$(systemctl show -p MainPID --value uroced)/status"
uroce doctor --run-dir /run/uroce | grep confinement
as 1234 "$group" $pingpong & server=$!
listens
as 1234 "$group" $pingpong localhost; echo "client=$?"
wait $server; echo "server=$?"
as 1235 1235 uroce link --run-dir /run/uroce; echo "stranger=$?"
# A service that may little has the device as if it were plugged in.
systemctl start plugged; echo "before=$(cat /var/lib/plugged/seen)"
uroce enable --service plugged; echo "enable=$?"
systemctl start plugged; echo "plugged=$(cat /var/lib/plugged/seen)"
uroce doctor --run-dir /run/uroce | grep plugged
uroce disable --service plugged; echo "disable=$?"
systemctl start plugged; echo "after=$(cat /var/lib/plugged/seen)"
/enable-service; echo "autopkgtest=$?"; systemctl start uroced
systemctl reload uroced; echo "reload=$?"
# Two programs with their engines in them look at every byte, and notice no end of uroced but
# that of the service.
export UROCE_ENGINE=process
nice $pingpong -n 1000000000 & server=$!
listens
nice $pingpong -n 1000000000 localhost & client=$!
count() { uroce stat --run-dir /run/uroce uroce0 | awk '$1 == "rcvd_pkts" { print $2 }'; }
goes_on() {
	before=$(count); before=${before:-0}
	for i in $(seq 100); do ! both || [ "0$(count)" -gt "$before" ] && break; sleep 0.1; done
	both && [ "0$(count)" -gt "$before" ] && echo "$1=goes on" ||
		echo "$1: $before $(count) $(systemctl show -P ActiveState uroced)"
}
main() { systemctl show -P MainPID uroced; }
another() { until [ "$(main)" != "$1" ] && systemctl -q is-active uroced; do sleep 0.1; done; }
goes_on before
for n in 1 2 3; do
	pid=$(main); kill -KILL $pid; another $pid; goes_on "killed$n"
	pid=$(main); systemctl kill -s KILL uroced; another $pid; goes_on "all_killed$n"
	systemctl restart uroced; echo "restart=$?"; goes_on "restarted$n"
done
echo "more=$($pingpong -n 1000 -p 18516 >/dev/null & sleep 1; $pingpong -n 1000 -p 18516 localhost \
	>/dev/null; echo $?; wait)"
systemctl stop uroced; systemctl show -p Result,NFileDescriptorStore uroced
wait $server; echo "server_stopped=$?"; wait $client; echo "client_stopped=$?"
cat /proc/[0-9]*/comm 2>/dev/null | grep ^uroced; echo "processes=$?"
journalctl -u uroced --no-pager
uroce enable --host; echo "host=$?"
mv /plugged.sh /inside.sh; systemctl reboot --force
"""
# Run in its place after the machine has started anew: nobody types anything before his
# programs.
PLUGGED_HOST = """#!/bin/bash
exec >/plugged 2>&1
echo "127.0.0.1 $(hostname)" >>/etc/hosts
. /waits.sh
sees() { grep -c PORT_ACTIVE; }
echo "root=$(ibv_devinfo | sees)"
echo "sudo=$(sudo ibv_devinfo | sees)"
echo "sudo_user=$(sudo -u anna ibv_devinfo | sees)"
su - anna -c "ibv_rc_pingpong -d uroce0 -g 0 -c" & server=$!
listens
sudo -iu carl ibv_rc_pingpong -d uroce0 -g 0 -c localhost; echo "client=$?"
wait $server; echo "server=$?"
su - bert -c "ibv_devinfo -d uroce0"; echo "stranger=$?"
# One who may not has the rights of one who may, and says where and by which provider.
install -m 4755 /usr/bin/ibv_devinfo /usr/local/bin/as-root
echo "set_uid=$(sudo -u bert env UROCE_RUN_DIR=/tmp RDMAV_DRIVERS=/tmp/his as-root | sees)"
systemctl start plugged; echo "service=$(cat /var/lib/plugged/seen)"
# Those of @reboot run once after each start of the machine, which cron asks of a file.
echo '@reboot anna ibv_devinfo -d uroce0 >/tmp/by-cron' >/etc/cron.d/plugged
rm -f /run/crond.reboot; systemctl restart cron
for i in $(seq 100); do [ -s /tmp/by-cron ] && break; sleep 0.1; done
echo "cron=$(sees </tmp/by-cron)"
systemd-run -q -p User=anna -p StandardOutput=file:/run/by-timer --on-active=1ms \
	--timer-property=AccuracySec=1ms ibv_devinfo
for i in $(seq 100); do [ -s /run/by-timer ] && break; sleep 0.1; done
echo "timer=$(sees </run/by-timer)"
uroce doctor | grep ' host '
sudo -u anna uroce link
# The next version, while two programs exchange messages and others start.
moved() { sudo -u anna uroce stat uroce0 | awk '$1 == "rcvd_pkts" { print $2 }'; }
sudo -u anna ibv_rc_pingpong -d uroce0 -g 0 -c -n 100000000 & server=$!
listens
sudo -u anna ibv_rc_pingpong -d uroce0 -g 0 -c -n 100000000 localhost & client=$!
(until [ -e /run/upgraded ]; do sh -c /bin/true || echo broken; done) >/run/others 2>&1 & others=$!
while both && [ "0$(moved)" -le 1000 ]; do sleep 0.1; done
daemon=$(systemctl show -p MainPID --value uroced)
dpkg -i /next/*.deb
echo "upgrade=$? $(dpkg-query -W -f '${Version} ' uroced uroce-ibverbs-provider liburoce-preload)"
touch /run/upgraded; wait $others; echo "others=$(sort -u /run/others)."
[ "$daemon" = "$(systemctl show -p MainPID --value uroced)" ] && echo "daemon=same"
before=$(moved); for i in $(seq 100); do ! both || [ "$(moved)" -gt "$before" ] && break; sleep 0.1; done
both && [ "$(moved)" -gt "$before" ] && echo "traffic=goes on"
echo "old_daemon=$(sudo -u anna ibv_devinfo | sees)"
kill $server $client; wait $server $client
systemctl restart uroced; echo "new_daemon=$(sudo -u anna ibv_devinfo | sees)"
uroce disable --host; echo "disable=$? $(ls /etc/ld.so.preload 2>&1)"
echo "after=$(ibv_devinfo 2>&1 | sees)"
uroce enable --host; echo "again=$?"
dpkg --purge uroced uroce-ibverbs-provider liburoce-preload; echo "purge=$? $(systemctl is-active uroced)"
echo "left=$(ls -d /etc/ld.so.preload /etc/uroce /etc/libibverbs.d/uroce* /run/uroce* \
	/usr/lib/*/uroce /usr/libexec/uroce /var/lib/*/*uroce* 2>/dev/null | xargs)"
echo "silent=$(sudo -u anna sh -c true 2>&1)."
systemctl poweroff --force
"""
PLUGGED = """[Service]
Type=oneshot
ExecStart=/bin/sh -c "ibv_devinfo | grep -c PORT_ACTIVE >/var/lib/plugged/seen; true"
DynamicUser=yes
SupplementaryGroups=card
StateDirectory=plugged
CapabilityBoundingSet=
NoNewPrivileges=yes
PrivateDevices=yes
PrivateTmp=yes
ProtectHome=yes
ProtectSystem=strict
ProtectControlGroups=yes
MemoryDenyWriteExecute=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
"""


def next_version(debs, folder, into, version=None, names=INSTALLED):
    """The same packages once more, of that version, else of a higher one."""
    os.makedirs(folder, exist_ok=True)
    os.makedirs(into)
    for name in names:
        tree = os.path.join(folder, name)
        sh("dpkg-deb", "-R", debs[name], tree)
        control = os.path.join(tree, "DEBIAN", "control")
        with open(control) as f:
            text = f.read()
        own = re.search(r"^Version: (.*)$", text, re.M)[1]
        with open(control, "w") as f:
            f.write(text.replace(own, version or own + "+next"))
        sh("dpkg-deb", "-Zgzip", "-z1", "-b", tree, into)


def booted_to_the_end(root):
    """What it says. A container goes on without who started it: what is its process 1
    takes it along."""
    with subprocess.Popen(root.boot("--private-network", "--machine=uroce-inside"),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as nspawn:
        try:
            return nspawn.communicate(timeout=200)[0]
        finally:
            end_container(nspawn)


@pytest.fixture(scope="module")
def started_twice(root, debs, tmp_path_factory):
    """What a systemd that is process 1 found, and once more after it has started anew."""
    if root.path == "/" or not shutil.which("systemd-nspawn"):
        pytest.skip("no root of its own, or systemd-nspawn is not installed")
    put = {"/etc/uroce/uroce.conf": "netdev = lo\ngroup = card\n",
           "/inside.sh": UNDER_SYSTEMD, "/plugged.sh": PLUGGED_HOST, "/waits.sh": WAITS,
           "/etc/systemd/system/inside.service":
           "[Unit]\nAfter=uroced.service\nWants=uroced.service\n"
           "[Service]\nType=oneshot\nExecStart=/bin/bash /inside.sh\n"
           "[Install]\nWantedBy=multi-user.target\n", "/etc/machine-id": "",
           "/etc/systemd/system/plugged.service": PLUGGED}
    for name, text in put.items():
        with open(root.path + name, "w") as f:
            f.write(text)
    shutil.copy(f"{TOP}/debian/tests/enable-service", root.path)
    next_version(debs, tmp_path_factory.mktemp("next"), root.path + "/next")
    in_root(root.path, "groupadd -r card; for user in anna bert carl; do useradd -m $user; done; "
            "usermod -aG card anna; usermod -aG card carl; systemctl enable inside.service")
    found = []
    for name in "/found", "/plugged":
        out = booted_to_the_end(root)
        if not os.path.exists(root.path + name):
            said = out.decode(errors="replace")[-400:]
            assert not found, said
            pytest.skip("no systemd here: " + said)
        with open(root.path + name) as f:
            found.append(f.read())
    return found


def test_under_systemd(started_twice):
    """The service as installed: a member of its group is served, another user is not."""
    found = started_twice[0]
    for line in ("ActiveState=active", "NRestarts=0", "CapEff:\t0000000000001000",
                 "Seccomp:\t2", "client=0", "server=0", "stranger=1", "reload=0", "restart=0",
                 "before=0", "enable=0", "plugged=1", "disable=0", "after=0",
                 "autopkgtest=0", "Result=success", "host=0", "before=goes on",
                 *(f"{what}{n}=goes on" for what in ("killed", "all_killed", "restarted")
                   for n in (1, 2, 3)), "more=0", "NFileDescriptorStore=0", "server_stopped=1",
                 "client_stopped=1", "processes=1"):
        assert line in found, f"{line}\n{found}"
    assert re.search(r"ok +confinement .*system calls filtered", found), found
    assert re.search(r"ok +service +plugged.service sees the device", found), found
    assert int(re.search(r"Uid:\t(\d+)", found)[1]) >= 61184, found  # a dynamic one


def test_plugged(started_twice):
    """After `uroce enable --host` and a start of the machine, the programs of all see the
    device; the packages' removal leaves nothing of it."""
    found = started_twice[1].splitlines()
    for line in ("root=1", "sudo=1", "sudo_user=1", "client=0", "server=0", "set_uid=1",
                 "service=1", "cron=1", "timer=1", "others=.", "daemon=same", "traffic=goes on",
                 "old_daemon=1", "new_daemon=1", "after=0", "again=0", "purge=0 inactive", "left=",
                 "silent=."):
        assert line in found, (line, found)
    upgraded, = [line for line in found if line.startswith("upgrade=")]
    assert upgraded.startswith("upgrade=0 ") and upgraded.count("+next ") == len(INSTALLED), upgraded
    text = "\n".join(found)
    assert re.search(r"stranger=[1-9]", text), text
    assert re.search(r"ok +host +every dynamic program sees the device", text), text
    assert re.search(r"disable=0 ls: cannot access", text), text
    assert "uroce0: netdev lo state ACTIVE" in text, text
    assert "ld.so: object" not in text, text

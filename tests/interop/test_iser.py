# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The kernel's iSER initiator (ib_iser over Soft-RoCE, and Debian's open-iscsi) with
tgtd on uroce: a file system on its disk, and files written to that while the target,
the cable or uroced is away."""
import hashlib
import os
import shutil
import subprocess

import pytest

from guest import BUILD
from test_reboot import wait_for

TARGET, ME = "iqn.2026-11.test:disk", "iqn.2026-11.test:me"
PORT = 3260
DISK_BYTES = 64 << 20
# A file's number is there when its bytes are on the target's disk.
WRITER = """rm -f /tmp/written
for i in $(seq {}); do
	head -c 1048576 /dev/urandom >/tmp/f$i
	cp /tmp/f$i /mnt/f$i && sync /mnt/f$i || exit 1
	echo $i >/tmp/written
done"""


class Target:
    """tgtd with one disk, a file of the host."""

    def __init__(self, uroce, disk):
        self.uroce, self.disk, self.proc = uroce, disk, None

    def start(self):
        control = ["-C", str(os.getpid())]
        self.proc = subprocess.Popen(
            ["ip", "netns", "exec", self.uroce.netns, f"{BUILD}/bin/uroce", "run", "--run-dir",
             self.uroce.tmp, "--", "tgtd", "-f", *control], env=self.uroce.env,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.uroce.wait_listen(PORT, self.proc)
        for words in (f"target --op new -T {TARGET}",
                      f"logicalunit --op new --lun 1 -b {self.disk}",
                      "target --op bind -I ALL", f"target --op bind -Q {ME}"):
            r = subprocess.run(["tgtadm", *control, "--lld", "iser", "--tid", "1", "--mode",
                                *words.split()], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
            assert r.returncode == 0, r.stdout

    def kill(self):
        self.proc.kill()
        self.proc.wait()


class Initiator:
    """open-iscsi in the guest."""

    def __init__(self, rxe, portal):
        self.rxe = rxe
        self.node = f"iscsiadm -m node -T {TARGET} -p {portal}:{PORT} -I iser"

    def does(self, cmd):
        rc, out = self.rxe.run("set -e\n" + cmd, 240)
        assert rc == 0, out
        return out

    def log_in(self):
        self.does(f"""modprobe -a ib_iser sd_mod crc32c
mkdir -p /run/lock/iscsi
echo InitiatorName={ME} >/etc/iscsi/initiatorname.iscsi
pgrep -x iscsid >/dev/null || iscsid
dmesg -C
{self.node} -o new
{self.node} -l
for i in $(seq 100); do grep -q ' sda$' /proc/partitions && break; sleep 0.2; done""")

    def clean_up(self):
        self.rxe.run(f"umount /mnt; {self.node} -u; {self.node} -o delete; "
                     "rm -f /tmp/f[0-9]* /tmp/written", 120)

    def session(self):
        """LOGGED_IN; FAILED while it is recovered; "" if there is none."""
        return self.rxe.run("cat /sys/class/iscsi_session/*/state 2>/dev/null", 0)[1].strip()

    def written(self):
        return int(self.rxe.run("cat /tmp/written 2>/dev/null || echo 0", 0)[1])

    def log(self):
        """The kernel's, since the login."""
        return self.rxe.run("dmesg", 0)[1]


@pytest.fixture
def disk(hosts, tmp_path):
    """An initiator with a file system of its target on /mnt, and that target."""
    if not shutil.which("tgtd"):
        pytest.skip("tgtd is not installed")
    file = tmp_path / "disk"
    with open(file, "wb") as f:
        f.truncate(DISK_BYTES)
    target = Target(hosts["uroce"], file)
    initiator = Initiator(hosts["rxe"], hosts["uroce"].addr[4])
    try:
        target.start()
        initiator.log_in()
        initiator.does("mkfs.ext4 -q -E nodiscard /dev/sda; mkdir -p /mnt; "
                       "mount /dev/sda /mnt")
        yield initiator, target
        print(initiator.log())
    finally:
        initiator.clean_up()
        target.kill()


def digest(target, name):
    """A file's, as the host finds it on the disk."""
    return hashlib.sha256(subprocess.run(
        ["debugfs", "-R", f"cat {name}", target.disk], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, check=True).stdout).hexdigest()


def holds(initiator, target, count):
    """The guest reads from the disk what it wrote, and logs out; the host finds the same
    there, and a sound file system."""
    out = initiator.does(f"""umount /mnt; mount /dev/sda /mnt
for i in $(seq {count}); do sha256sum </tmp/f$i; sha256sum </mnt/f$i; done
umount /mnt
{initiator.node} -u""")
    sums = [line.split()[0] for line in out.splitlines() if line.endswith("  -")]
    assert len(set(sums)) == count and sums[::2] == sums[1::2], out
    assert initiator.session() == ""
    r = subprocess.run(["e2fsck", "-fn", target.disk], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    assert r.returncode == 0, r.stdout
    assert [digest(target, f"f{i + 1}") for i in range(count)] == sums[::2]


def test_file_system(hosts, clean_wire, disk):
    """Formatted, mounted, written, read, unmounted, logged out: by RDMA of both kinds."""
    initiator, target = disk
    assert initiator.session() == "LOGGED_IN"
    assert initiator.does("cat /sys/class/scsi_host/host*/proc_name") == "iscsi_iser\n"
    before, count = hosts["uroce"].counters(), 4
    initiator.does(WRITER.format(count))
    holds(initiator, target, count)
    after = hosts["uroce"].counters()
    # tgtd reads what is written and writes what is read, in packets of 1 KiB.
    for way in "sent_pkts", "rcvd_pkts":
        assert after[way] - before[way] > count << 10, (way, before, after)


def target_dies(hosts, target):
    target.kill()
    yield
    target.start()


def cable_is_off(hosts, target):
    tap = ["ip", "-n", hosts["uroce"].netns, "link", "set", f"tap-{hosts['rxe'].name}"]
    subprocess.run([*tap, "down"], check=True)
    try:
        yield
    finally:
        subprocess.run([*tap, "up"], check=True)


def uroced_dies(hosts, target):
    """tgtd has its engine in itself: nobody else has anything to notice."""
    hosts["uroce"].die()
    hosts["uroce"].boot()
    return iter(())


@pytest.mark.parametrize("outage", [target_dies, cable_is_off, uroced_dies])
def test_outage(hosts, disk, outage):
    """In mid-write: the initiator notices, logs in again, and nothing is lost."""
    initiator, target = disk
    count, noticed = 8, outage is not uroced_dies
    writer = hosts["rxe"].start(WRITER.format(count), 300)
    wait_for("a file", initiator.written)
    away = outage(hosts, target)
    next(away, None)
    if noticed:
        wait_for("the initiator to notice", lambda: initiator.session() == "FAILED", 60)
        assert initiator.written() < count and writer.poll() is None
        next(away, None)
        wait_for("the session", lambda: initiator.session() == "LOGGED_IN", 60)
    out, _ = writer.communicate(timeout=330)
    assert writer.returncode == 0, out
    assert ("detected conn error" in initiator.log()) == noticed
    holds(initiator, target, count)


# Without `full` one of them: each takes the emulated machine half a minute.
test_outage.shows = lambda params: {("outage", "any")}


def row(args):
    return {"program": "ib_iser, tgtd", "args": args, "server": "uroce", "ip": 4}


test_file_system.cell = lambda params: row("mkfs, write, read")
test_outage.cell = lambda params: row(params["outage"].__name__.replace("_", " "))

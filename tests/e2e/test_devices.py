# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What programs see of the device before they use it."""
import os
import re
import subprocess
import tempfile
import time

import pytest

from hosts import wait_for
from pairs import run_pair
from test_cli import NOBODY

ACTIVE_MTU = {1500: 1024, 9000: 4096}


@pytest.mark.parametrize("mtu", ACTIVE_MTU)
def test_devinfo(labs, mtu):
    host = labs(mtu).a
    out = host.run("ibv_devinfo", "-v")
    assert re.search(r"hca_id:\s+uroce0", out)
    assert re.search(r"transport:\s+InfiniBand \(0\)", out)
    assert re.search(r"state:\s+PORT_ACTIVE \(4\)", out)
    assert re.search(r"link_layer:\s+Ethernet", out)
    assert re.search(rf"active_mtu:\s+{ACTIVE_MTU[mtu]} ", out)
    assert "::ffff:10.77.0.1, RoCE v2" in out
    assert "fd77::1, RoCE v2" in out


def test_devices(labs):
    out = labs(1500).a.run("ibv_devices")
    assert re.search(r"uroce0\s+[0-9a-f]{16}", out)


def test_ibstat(labs):
    out = labs(1500).a.run("ibstat")
    assert "CA 'uroce0'" in out
    assert re.search(r"State: Active", out)
    assert re.search(r"Link layer: Ethernet", out)


def test_no_stall(labs):
    """A wrong st_rdev shows as libibverbs waiting five seconds at open."""
    start = time.monotonic()
    labs(1500).a.run("ibv_devinfo")
    assert time.monotonic() - start < 4


def calls(host, *cmd):
    """How many system calls a program and its children make."""
    with tempfile.NamedTemporaryFile("r") as f:
        subprocess.run(["ip", "netns", "exec", host.name, "strace", "-f",
                        "-qq", "-o", f.name, *cmd], check=True,
                       stdout=subprocess.DEVNULL)
        return sum("resumed>" not in line for line in f)


def test_size_and_start(lab):
    """Counts, as time depends on the machine: doc/performance.md has that."""
    with open(lab.bin("uroced"), "rb") as f:
        if b"libasan" in f.read():
            pytest.skip("a sanitizer has its own memory")
    bare = calls(lab.a, "/bin/true")
    # Before there is another: whose port 4791 is would be asked of all of /proc.
    start = calls(lab.a, lab.bin("uroce"), "run", "--run-dir", lab.tmp + "/own",
                  "--netdev", "lo", "--", "/bin/true")
    assert start - bare <= 4000, start
    lab.serve()
    with open(f"/proc/{lab.a.device.pid}/status") as f:
        kib = int(re.search(r"VmRSS:\s+(\d+) kB", f.read())[1])
    assert kib <= 6 * 1024, kib
    run = calls(lab.a, lab.bin("uroce"), "run", "--run-dir", lab.a.run_dir,
                "--", "/bin/true")
    assert run - bare <= 200, (run, bare)


ASK = """
import os
for name in "uverbs0", "rdma_cm":
    for effective in False, True:
        print(name, [os.access("/dev/infiniband/" + name, mode, effective_ids=effective)
                     for mode in (os.R_OK, os.R_OK | os.W_OK, os.X_OK)])
"""


def test_access(lab):
    """An ordinary user is told that he may write to what stat() shows so. UCX
    asks before it opens a device."""
    os.chmod(lab.tmp, 0o777)
    p = lab.a.bare(*NOBODY, lab.bin("uroce"), "run", "--run-dir", lab.tmp + "/own",
                   "--netdev", "eth0", "--", "/usr/bin/python3", "-c", ASK)
    assert p.wait() == 0, p.report()
    for name in "uverbs0", "rdma_cm":
        assert p.text().count(f"{name} [True, True, False]\n") == 2, p.text()


def test_guids_differ(labs):
    guid = [re.search(r"node_guid:\s+(\S+)", h.run("ibv_devinfo")).group(1)
            for h in (labs(1500).a, labs(1500).b)]
    assert guid[0] != guid[1]


def test_gids_follow_addresses(lab):
    lab.serve()
    host = lab.a
    host.ip("addr", "add", "10.78.0.1/24", "dev", "eth0")
    host.gid("10.78.0.1")
    host.ip("addr", "del", "10.78.0.1/24", "dev", "eth0")
    wait_for("the GID to go", lambda: "10.78.0.1" not in
             [str(g) for g, _ in host.gids().values()])
    out = host.run("ibv_devinfo", "-v")
    assert "10.78.0.1" not in out and "10.77.0.1" in out


def test_link_and_stat(labs):
    host = labs(1500).a
    uroce = [labs(1500).bin("uroce")]
    p = host.bare(*uroce, "link", "--run-dir", host.run_dir)
    assert p.wait() == 0, p.report()
    assert "uroce0: netdev eth0" in p.text(), p.text()
    assert host.addr4 in p.text(), p.text()
    run_pair(host, labs(1500).b, ["ibv_rc_pingpong", "-n", "10"])
    p = host.bare(*uroce, "stat", "--run-dir", host.run_dir, "--json")
    assert p.wait() == 0, p.report()


def as_nobody(lab, host, *cmd):
    home = lab.tmp + "/nobody"
    if not os.path.isdir(home):
        os.mkdir(home)
        os.chown(home, 65534, 65534)
    env = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": home}
    return host.bare("setpriv", "--reuid", "65534", "--regid", "65534",
                     "--clear-groups", lab.bin("uroce"), "run", "--", *cmd,
                     env=env)


def test_on_demand_without_root(lab):
    """Two terminals of an ordinary user; nothing was started before."""
    if os.stat(lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    host = lab.a
    s = as_nobody(lab, host, "ibv_rc_pingpong", "-g", "0")
    wait_for("the server", lambda: s.listens(18515) or not s.running())
    c = as_nobody(lab, host, "ibv_rc_pingpong", "-g", "0", "localhost")
    got = c.wait(), s.wait(10)
    assert got == (0, 0), c.report() + s.report()
    # Gone when unused, and its port with it.
    wait_for("the device to end", lambda: not os.path.exists(
        lab.tmp + "/nobody/uroce/uroced.sock"), limit=30)


def test_port_taken(lab):
    """Who has the port, and what to do, in the words of the device."""
    lab.a.serve("--netdev", "eth0")
    p = lab.a.bare(lab.bin("uroce"), "run", "--run-dir", lab.tmp + "/other",
                   "--netdev", "eth0", "--", "true")
    assert p.wait(20) == 125, p.report()
    assert "4791" in p.text() and "taken by uroced" in p.text(), p.report()

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Management datagrams: programs of libibumad (umad/mads.c) between two hosts,
Debian's infiniband-diags and ibacm, which say here what they say of any RoCE
port: it has no QP0, no LID and no subnet manager."""
import os
import re
import shutil
import stat

import pytest

from hosts import wait_for
from test_wire import counters

pytestmark = pytest.mark.part("UMAD")


@pytest.fixture
def mads(labs):
    lab = labs(1500)
    if not os.path.exists(lab.bin("mads")):
        pytest.skip("built without libibumad")
    return lab


def ask(lab, client, server, family, what, *rest):
    """Runs mads on client, about server."""
    own, other = [getattr(h, f"addr{family}") for h in (client, server)]
    gid = other if family == 6 else "::ffff:" + other
    return client.run(lab.bin("mads"), what, "uroce0", client.gid(own), gid, *rest)


@pytest.mark.parametrize("family", [4, 6])
def test_conversation(mads, family):
    server = mads.b.start(mads.bin("mads"), "serve", "uroce0", "20")
    wait_for("the server", lambda: "serving" in server.text() or not server.running())
    assert "answered 20" in ask(mads, mads.a, mads.b, family, "ask", "20")
    assert server.wait() == 0, server.report()


def test_nobody(mads):
    assert "nobody" in ask(mads, mads.a, mads.b, 4, "vain")


def test_old_interface(mads):
    assert "as before" in ask(mads, mads.a, mads.b, 4, "old")


def words(text):
    return {k: int(v) for k, v in (line.split() for line in text.splitlines())}


def test_counters(mads):
    """What b's agent tells a of b is what sysfs tells b: the next question finds
    the answer to the one before, and itself, counted."""
    first = words(ask(mads, mads.a, mads.b, 4, "counters"))
    here = counters(mads.b)
    second = words(ask(mads, mads.a, mads.b, 4, "counters"))
    assert here["sent_pkts"] == first["port_xmit_packets"] + 1
    assert here["rcvd_pkts"] == first["port_rcv_packets"]
    assert second["port_xmit_packets"] == here["sent_pkts"]
    assert second["port_rcv_packets"] == here["rcvd_pkts"] + 1
    # 12 + 8 + 256 bytes, in words.
    assert second["port_xmit_data"] - first["port_xmit_data"] == 276 / 4
    # Of oneself.
    own = words(ask(mads, mads.b, mads.b, 6, "counters"))
    assert own["port_xmit_packets"] >= second["port_xmit_packets"] + 1


def test_names(mads):
    """As libibumad, and people, look for them."""
    host = mads.a
    out = host.run("ls", "-l", "/dev/infiniband/umad0")
    assert re.match(r"crw------- .* 231, +0 .* /dev/infiniband/umad0", out), out
    assert host.run("cat", "/sys/class/infiniband_mad/abi_version",
                    "/sys/class/infiniband_mad/umad0/ibdev",
                    "/sys/class/infiniband_mad/umad0/port") == "5\nuroce0\n1\n"
    # What access() asks instead of the node: who may write to it may open that.
    assert stat.S_IMODE(os.stat(f"{host.run_dir}/dev/infiniband/umad0").st_mode) == 0o644
    host.run("test", "!", "-e", "/dev/infiniband/issm0")


def test_stranger(mads):
    """As with the kernel's node, which is root's."""
    p = mads.a.start("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                     "dd", "if=/dev/infiniband/umad0", "count=1")
    assert p.wait()
    assert "Permission denied" in p.text(), p.report()


def tool(name):
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    return name


def test_ibstat(mads):
    """It asks sysfs alone."""
    out = mads.a.run(tool("ibstat"), "-p")
    assert re.fullmatch(r"0x[0-9a-f]{16}\n", out) and int(out, 16), out
    assert "CA 'uroce0'" in mads.a.run("ibstat")


# What they say of any RoCE port. No QP0: the kernel refuses agents of class 1.
NO_QP0 = "client_register for mgmt 1 failed"
# No LIDs, and they send to nothing else (libibmad has no GRH for them).
NO_LID = "send failed; Invalid argument"


@pytest.mark.parametrize("argv, said", [
    (["perfquery"], NO_QP0), (["perfquery", "-x", "1", "1"], NO_QP0), (["ibaddr"], NO_QP0),
    (["sminfo"], NO_QP0), (["smpquery", "nodeinfo", "1"], NO_QP0),
    (["smpquery", "-D", "nodeinfo", "0"], NO_QP0), (["ibsysstat", "1"], NO_QP0),
    (["ibping", "-c", "1", "-L", "1"], NO_LID), (["vendstat", "-N", "1"], NO_LID),
    (["ibping", "-c", "1", "-G", "1"], "only lid routes are supported"),
    (["saquery"], "[Ff]ailed")], ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_needs_infiniband(mads, argv, said):
    tool(argv[0])
    p = mads.a.start(*argv)
    assert p.wait(20) is not None, p.report()
    assert re.search(said, p.text()), p.report()
    if argv[0] != "ibping":
        assert p.proc.returncode, p.report()


def test_ibping_serves(mads):
    """Its half that needs no address: it has the class, so another has not."""
    server = mads.a.start("stdbuf", "-oL", tool("ibping"), "-S", "-d")
    wait_for("ibping -S", lambda: "starting to serve" in server.text() or
             not server.running())
    p = mads.a.start("ibping", "-S")
    assert p.wait(20), p.report()
    assert "can't serve class 50" in p.text()
    assert server.running(), server.report()
    server.kill()


def test_ibacm(mads):
    """Debian's daemon finds the device and its port, and takes none but
    InfiniBand's."""
    tool("ibacm")
    at = os.path.join(mads.tmp, "acm")
    os.makedirs(at, exist_ok=True)
    with open(at + "/opts", "w") as f:
        f.write(f"log_file stdout\nlog_level 2\nlock_file {at}/pid\nserver_mode loop\n"
                f"support_ips_in_addr_cfg 1\n")
    with open(at + "/addr", "w") as f:
        f.write(f"{mads.a.addr4} uroce0 1 default\n")
    p = mads.a.start("ibacm", "-P", "-A", at + "/addr", "-O", at + "/opts")
    assert p.wait(20) is not None, p.report()
    assert "uroce0 port 1 is not an InfiniBand port" in p.text(), p.report()

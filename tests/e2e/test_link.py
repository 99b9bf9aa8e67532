# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce link add and del: devices come and go while others serve."""
import json
import os
import re
import signal

import pytest

from away import Away
from cm import cm_state, start_server
from hosts import wait_for
from pairs import run_pair, start_pair
from test_cli import NOBODY, uroce
from test_faults import ask, wait_traffic
from test_guest_host import As

TOPOLOGY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "topology.py")


@pytest.fixture
def cables(lab):
    """A second cable, eth1, with addresses; devices on the first only."""
    lab.second_cable()
    lab.serve()
    return lab


def devices(host):
    return re.findall(r"^\s+(\S+)\s+[0-9a-f]{16}$", host.run("ibv_devices"),
                      re.M)


def test_add(cables):
    """Programs that look find it, and a listener everywhere listens there."""
    a, b = cables.a, cables.b
    port = cables.next_port()
    s = start_server(a, port, "rping", "-s", "-P", "-a", "0.0.0.0", "-p",
                     str(port))
    out = uroce(a, "link", "add", "eth1", "rdma-b")
    assert re.match(r"rdma-b: netdev eth1 state ACTIVE .*\n"
                    r"    gid 0 ::ffff:10.78.0.1 RoCE v2 netdev eth1\n", out)
    assert "uroce1: netdev eth1" in uroce(b, "link", "add", "eth1")
    assert sorted(devices(a)) == ["rdma-b", "uroce0"]
    assert sorted(devices(b)) == ["uroce0", "uroce1"]
    assert "10.78.0.1, RoCE v2" in a.run("ibv_devinfo", "-v", "-d", "rdma-b")
    b.run("rping", "-c", "-a", "10.78.0.1", "-p", str(port), "-v", "-C", "5")
    b.run("rping", "-c", "-a", a.addr4, "-p", str(port), "-v", "-C", "5")
    s.kill()
    other = cables.next_port()
    s = a.start("ib_write_bw", "-d", "rdma-b", "-F", "-p", str(other), "-x",
                "0")
    wait_for("the server", lambda: s.listens(other))
    b.run("ib_write_bw", "-d", "uroce1", "-F", "-p", str(other), "-x", "0",
          "10.78.0.1")
    assert s.wait() == 0, s.report()


def topology(host):
    """What tests/e2e/topology.py finds, {name: ...}."""
    return json.loads(host.run("/usr/bin/python3", TOPOLOGY))


def test_topology(cables):
    """Each device is a function on a bus of its own, found by every way that topology code
    goes, and none of these shows the run directory."""
    a = cables.a
    before = set(os.listdir(a.run_dir + "/sys/class/pci_bus"))
    uroce(a, "link", "add", "eth1", "rdma-b")
    found = topology(a)
    assert set(found) == {"uroce0", "rdma-b"}
    assert len({d["nccl"]["card"] for d in found.values()}) == 2, found
    with open("/sys/devices/system/cpu/online") as f:
        online = f.read().strip()
    for name, netdev in ("uroce0", "eth0"), ("rdma-b", "eth1"):
        d = found[name]
        address = d["mooncake"]["bus"]
        assert re.fullmatch(r"7572:[0-9a-f]{2}:00\.0", address), d
        assert (d["nccl"]["card"], d["hwloc"]["parent"]) == (address, address), d
        assert (d["nccl"]["node"], d["mooncake"]["node"]) == ("0", "0"), d
        assert d["nccl"]["class"] == "0x020000" and d["nccl"]["ids"][0] == "0x726f", d
        assert (d["nccl"]["speed"], d["nccl"]["width"]) == ("16.0 GT/s PCIe", "16"), d
        assert (d["hwloc"]["subsystem"], d["hwloc"]["driver"], d["hwloc"]["bus"]) == (
            "pci", "uroce", True), d
        assert d["net"] == [netdev], d
        assert d["verbs"].startswith(f"/sys/devices/pci7572:00/{address}/infiniband_verbs/"), d
        assert d["rate"] >= 10, d
        assert (d["ucx"]["function"], d["ucx"]["gts"], d["ucx"]["width"]) == (address, 16, 16), d
        assert d["ucx"]["cpus"] == d["hwloc"]["cpus"], d
        if not os.path.exists("/sys/devices/system/node/node1"):
            assert d["hwloc"]["cpulist"] == online, d
            assert int(d["hwloc"]["cpus"].replace(",", ""), 16).bit_count() >= 1, d
    uroce(a, "link", "del", "rdma-b")
    assert set(os.listdir(a.run_dir + "/sys/class/pci_bus")) == before
    assert cables.tmp not in json.dumps(found), found


def test_speed(lab):
    """Programs choose cards by what ports say."""
    lab.a.serve("--netdev", "eth0", "--speed", "100000")
    assert topology(lab.a)["uroce0"]["rate"] == 100
    assert re.search(r"active_width:\s+4X .*\n\s+active_speed:\s+25.0 Gbps",
                     lab.a.run("ibv_devinfo", "-v"))
    assert json.loads(uroce(lab.a, "link", "--json"))[0]["netdev"] == "eth0"


def test_del(cables):
    """Its names and its port are free at once, whoever had it open."""
    a = cables.a
    for _ in range(3):
        uroce(a, "link", "add", "eth1")
        assert sorted(devices(a)) == ["uroce0", "uroce1"]
        holder = a.start("ibv_asyncwatch", "-d", "uroce1")
        wait_for("it to open", lambda: '"uroce1"' in uroce(
            a, "res", "--json", "session"))
        assert uroce(a, "link", "del", "uroce1") == ""
        assert devices(a) == ["uroce0"]
        assert "10.78" not in uroce(a, "link")
        assert not os.path.exists(a.run_dir + "/dev/infiniband/uverbs1")
        holder.kill()
    # A device of another process takes the address.
    p = a.bare(cables.bin("uroce"), "run", "--run-dir", cables.tmp + "/other",
               "--netdev", "eth1", "--", "ibv_devinfo", "-v")
    assert p.wait() == 0, p.report()
    assert "10.78.0.1, RoCE v2" in p.text(), p.report()
    # All of them; then one again.
    uroce(a, "link", "del", "uroce0")
    assert devices(a) == []
    assert json.loads(uroce(a, "link", "--json")) == []
    uroce(a, "link", "add", "eth0")
    # A user's and another namespace's programs get their packets through uroced.
    for host in a, As(a, "process", *NOBODY), Away(a, to=cables.b):
        run_pair(cables.b, host, ["ibv_rc_pingpong", "-c", "-n", "100"])


def test_sysfs_of_ordinary_user(lab):
    """What changes is changed in the files of a daemon without privilege."""
    if os.stat(lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    a = lab.a
    os.mkdir(a.run_dir)
    os.chown(a.run_dir, 65534, 65534)
    a.device = a.bare("setpriv", "--reuid", "65534", "--regid", "65534",
                      "--clear-groups", lab.bin("uroced"), "--run-dir",
                      a.run_dir, "--netdev", "eth0")
    wait_for("uroced", lambda: "ready" in a.device.text().split())
    a.gid(a.addr4)
    a.ip("addr", "add", "10.77.0.99/24", "dev", "eth0")
    a.gid("10.77.0.99")
    a.ip("addr", "del", "10.77.0.99/24", "dev", "eth0")
    wait_for("the GID to go", lambda: "10.77.0.99" not in str(a.gids()))
    port = a.run_dir + "/sys/class/infiniband/uroce0/ports/1/"
    assert os.stat(port + "gids/0").st_mode & 0o777 == 0o444
    a.ip("link", "set", "eth0", "down")
    wait_for("the state", lambda: "DOWN" in open(port + "state").read())


def test_del_until_sighup(lab):
    """What the configuration names comes back, the rest does not."""
    lab.second_cable()
    conf = lab.tmp + "/uroce.conf"
    with open(conf, "w") as f:
        f.write("netdev = eth0\n")
    lab.a.serve("--config", conf)
    uroce(lab.a, "link", "add", "eth1")
    for name in "uroce0", "uroce1":
        uroce(lab.a, "link", "del", name)
    assert json.loads(uroce(lab.a, "link", "--json")) == []
    lab.a.device.kill(signal.SIGHUP)
    wait_for("the device", lambda: [
        d["netdev"] for d in json.loads(uroce(lab.a, "link", "--json"))] ==
        ["eth0"])


def test_del_in_traffic(cables):
    """Both sides of it fail and end; those on another device do not notice."""
    a, b = cables.a, cables.b
    for host in a, b:
        uroce(host, "link", "add", "eth1")
    s, c = start_pair(a, b, ["ibv_rc_pingpong", "-c", "-n", "6000"])
    port = cables.next_port()
    vs = a.start("ib_write_bw", "-d", "uroce1", "-F", "-N", "-n", "100000000",
                 "-s", "65536", "-p", str(port), "-x", "0")
    wait_for("the server", lambda: vs.listens(port))
    vc = b.start("ib_write_bw", "-d", "uroce1", "-F", "-N", "-n", "100000000",
                 "-s", "65536", "-p", str(port), "-x", "0", "10.78.0.1")

    def sent():
        return ask(b, "stat", "uroce1")[0]["counters"]["sent_pkts"]
    wait_for("writes", lambda: sent() > 1000)
    uroce(b, "link", "del", "uroce1")
    assert vc.wait(20) not in (0, None), vc.report()
    vs.kill()
    uroce(a, "link", "del", "uroce1")
    # Four threads take turns 6,000 times: that is 27 s at load 12 on two processors.
    got = c.wait(400), s.wait(20)
    assert got == (0, 0), c.report() + s.report()
    # Nothing of it is left in the daemon.
    for host in a, b:
        wait_for("its engine to end", lambda: threads(host) == 1)
    uroce(a, "link", "add", "eth1")
    assert host.device.running(), host.device.report()


def threads(host):
    """Engines, of which each has an epoll of its own beside the loop's."""
    pid = host.device.pid
    links = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            pass
    return links.count("anon_inode:[eventpoll]") - 1


def test_del_asleep(lab):
    """Peers that wait for events wake up, on both sides."""
    lab.serve()
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-e", "-n",
                                     "100000000"])
    wait_traffic(lab)
    uroce(lab.b, "link", "del", "uroce0")
    assert c.wait(30) not in (0, None), c.report()


def test_program_sees(cables):
    """DEVICE_FATAL and EIO, DEVICE_REMOVAL and EIO: see removed.py."""
    a = cables.a
    uroce(a, "link", "add", "eth1")
    p = a.start("/usr/bin/python3", os.path.join(os.path.dirname(__file__),
                                                 "removed.py"),
                "uroce1", "10.78.0.1")
    wait_for("it to open", lambda: "open" in p.text() or not p.running())
    uroce(a, "link", "del", "uroce1")
    assert p.wait(20) == 0, p.report()
    assert "seen" in p.text(), p.report()


def test_removal_tells_rping(lab):
    """librdmacm's own event, in a stock program; its peer is disconnected."""
    lab.serve()
    a, b, port = lab.a, lab.b, lab.next_port()
    s = start_server(a, port, "rping", "-s", "-a", a.addr4, "-p", str(port),
                     "-v")
    c = b.start("rping", "-c", "-a", a.addr4, "-p", str(port), "-v", "-C",
                "100000000")
    wait_for("pings", lambda: "rdma-ping-5:" in c.text())
    uroce(b, "link", "del", "uroce0")
    assert c.wait(20) is not None, c.report()
    assert "device removal" in c.text(), c.report()
    assert s.wait(20) is not None, s.report()
    wait_for("no ids", lambda: not cm_state(a)["cm_ids"])
    wait_for("no ids", lambda: not cm_state(b)["cm_ids"])


def test_refused(cables):
    a = cables.a

    def refused(why, *args, status=1, **kw):
        out = uroce(a, "link", *args, status=status, **kw)
        assert why in out, out
    refused("no network interface eth7", "add", "eth7")
    refused("no network interface an-interface-of-too-long-a-name", "add",
            "an-interface-of-too-long-a-name")
    refused("has a device already", "add", "eth0")
    refused("has a device already", "add", "eth1", "uroce0")
    for name in "n" * 32, "../x", "a b", "-x", "0", "n" * 40, "":
        refused("cannot be the name", "add", "--", "eth1", name)
    refused("no device eth0", "del", "eth0")
    refused("link add: NETDEV", "add", status=2)
    refused("link del: DEVICE", "del", status=2)
    os.chmod(a.run_dir, 0o755)
    other = ("setpriv", "--reuid", "65534", "--regid", "65534",
             "--clear-groups")
    if os.stat(cables.build).st_mode & 0o5 == 0o5:
        refused("only the user that runs the device", "del", "uroce0",
                wrap=other)
        refused("only the user that runs the device", "add", "eth1",
                wrap=other)
    assert json.loads(uroce(a, "link", "--json"))[0]["name"] == "uroce0"


def test_link_downed(lab):
    """What a port counts when its cable is pulled."""
    lab.serve()

    def downs():
        return ask(lab.a, "stat")[0]["counters"]["link_downed"]
    assert downs() == 0
    lab.b.ip("link", "set", "eth0", "down")
    wait_for("one", lambda: downs() == 1)
    lab.b.ip("link", "set", "eth0", "up")
    wait_for("it to be up", lambda: "state ACTIVE" in uroce(lab.a, "link"))
    assert downs() == 1


def test_full_run_directory(lab):
    """What is full is named."""
    lab.second_cable()
    os.mkdir(lab.a.run_dir)
    p = lab.a.bare("unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size=16m t {lab.a.run_dir} && "
                   f"exec {lab.bin('uroced')} --run-dir {lab.a.run_dir} --netdev eth0")
    lab.a.device = p
    wait_for("ready", lambda: "ready" in p.text() or not p.running())
    assert p.running(), p.report()
    seen = f"/proc/{p.pid}/root{lab.a.run_dir}"
    with pytest.raises(OSError), open(seen + "/fill", "wb", buffering=0) as f:
        while f.write(bytes(65536)):
            pass
    out = uroce(lab.a, "link", "add", "eth1", status=1, run_dir=seen)
    assert "is full" in out and lab.a.run_dir in out, out
    os.unlink(seen + "/fill")
    uroce(lab.a, "link", "add", "eth1", run_dir=seen)

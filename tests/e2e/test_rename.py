# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Netdevs get other names under their devices, which follow them."""
import json
import os
import subprocess

import pytest

from hosts import wait_for
from pairs import run_pair, start_pair
from test_cli import uroce
from test_faults import wait_traffic


def rename(host, old, new):
    """As the link is, up or down."""
    try:
        host.ip("link", "set", old, "name", new)
    except subprocess.CalledProcessError:
        if float(".".join(os.uname().release.split(".")[:2])) < 6.2:
            pytest.skip("this kernel renames no interface that is up")
        raise


def add_netdev(host, name, address):
    """One that is up and has an address."""
    host.ip("link", "add", name, "type", "veth", "peer", "name", "p" + name)
    host.ip("addr", "add", address + "/24", "dev", name)
    for end in name, "p" + name:
        host.ip("link", "set", end, "up")


def port(host, name="uroce0"):
    return f"{host.run_dir}/sys/class/infiniband/{name}/ports/1/"


def table(host, name="uroce0"):
    """{index: (GID, netdev)} as sysfs says."""
    attrs = port(host, name) + "gid_attrs/ndevs/"
    return {i: (open(port(host, name) + "gids/" + i).read().strip(),
                open(attrs + i).read().strip()) for i in os.listdir(attrs)}


def settled(host, name="uroce0"):
    """table(), once the kernel has tried its link-local address, the last to come."""
    wait_for("the link-local address", lambda: any(
        g.startswith("fe80:") for g, _ in table(host, name).values()))
    return table(host, name)


def netdevs(host):
    """{device: netdev} as status says."""
    return {d["name"]: d["netdev"]
            for d in json.loads(uroce(host, "link", "--json"))}


def wait_named(host, **names):
    wait_for(f"the names {names}", lambda: netdevs(host) == names)


def check_files(host, netdev, name="uroce0", gone=()):
    """What names the netdev names this one, wherever it is."""
    net = host.run_dir + "/sys/class/net/"
    device = f"{host.run_dir}/sys/class/infiniband/{name}/"
    assert os.listdir(device + "device/net") == [netdev]
    assert open(device + "node_desc").read() == f"{name} on {netdev}\n"
    assert {n for _, n in table(host, name).values()} == {netdev}
    assert os.path.isdir(net + netdev)
    for old in gone:
        assert not os.path.exists(net + old)
    assert f"netdev {netdev} " in host.run("rdma", "link", "show",
                                           f"{name}/1") + " "


def test_connection_stays(lab):
    """Under traffic: no event, no GID moves, no packet is lost to it."""
    lab.serve()
    a = lab.a
    a.gid(a.addr6)
    before = settled(a)
    watcher = a.start("stdbuf", "-oL", "ibv_asyncwatch", "-d", "uroce0")
    wait_for("it to watch", lambda: '"uroce0"' in uroce(
        a, "res", "--json", "session"))
    s, c = start_pair(a, lab.b, ["ibv_rc_pingpong", "-c", "-n", "1000000"])
    wait_traffic(lab)
    for old, new in ("eth0", "zz0"), ("zz0", "yy0"), ("yy0", "xx0"):
        rename(a, old, new)
    wait_named(a, uroce0="xx0")
    check_files(a, "xx0", gone=("eth0", "zz0", "yy0"))
    assert table(a) == {i: (gid, "xx0") for i, (gid, _) in before.items()}
    wait_traffic(lab)
    assert s.running() and c.running(), s.report() + c.report()
    s.kill()
    c.kill()
    run_pair(a, lab.b, ["ibv_rc_pingpong", "-c", "-n", "100"])
    # The first that is heard of the port is its end.
    a.ip("link", "set", "xx0", "down")
    wait_for("an event", lambda: "PORT_ERR" in watcher.text())
    told = [line for line in watcher.text().splitlines() if "event_type" in line]
    assert told and "PORT_ERR" in told[0], watcher.text()


def test_while_down(lab):
    """It comes up again under its new name; also where a new interface has
    the old one by then."""
    lab.serve()
    a = lab.a
    for old, new in ("eth0", "zz0"), ("zz0", "yy0"):
        a.ip("link", "set", old, "down")
        wait_for("the port to go down",
                 lambda: "DOWN" in open(port(a) + "state").read())
        a.ip("link", "set", old, "name", new)
        add_netdev(a, old, "10.79.0.1")
        a.ip("link", "set", new, "up")
        wait_named(a, uroce0=new)
        wait_for("the port", lambda: "ACTIVE" in open(port(a) +
                                                      "state").read())
        check_files(a, new)
        assert "10.79" not in str(a.gids())
        assert a.gid(a.addr4)
        run_pair(a, lab.b, ["ibv_rc_pingpong", "-c", "-n", "100"])
        # It is free for a device of its own.
        uroce(a, "link", "add", old, "other")
        wait_named(a, uroce0=new, other=old)
        check_files(a, old, "other")
        uroce(a, "link", "del", "other")
        check_files(a, new, gone=(old,))


def test_swap(lab):
    """Two devices whose netdevs change names."""
    lab.second_cable()
    lab.serve()
    a = lab.a
    uroce(a, "link", "add", "eth1")
    wait_named(a, uroce0="eth0", uroce1="eth1")
    gids = {d: [g for g, _ in settled(a, d).values()]
            for d in ("uroce0", "uroce1")}
    for first, second in ("eth1", "eth0"), ("eth0", "eth1"):
        rename(a, second, "tmp0")
        rename(a, first, second)
        rename(a, "tmp0", first)
        wait_named(a, uroce0=first, uroce1=second)
        check_files(a, first, "uroce0", gone=("tmp0",))
        check_files(a, second, "uroce1")
        for d, was in gids.items():
            assert [g for g, _ in table(a, d).values()] == was
        run_pair(a, lab.b, ["ibv_rc_pingpong", "-c", "-n", "100"])


def test_gone(lab):
    """Its interface is deleted; another device's that gets the name is not
    taken from it, one that is made under the name is followed."""
    lab.serve()
    a = lab.a
    rename(a, "eth0", "zz0")
    add_netdev(a, "dm0", "10.79.0.1")
    uroce(a, "link", "add", "dm0", "other")
    wait_named(a, uroce0="zz0", other="dm0")
    a.ip("link", "del", "zz0")
    wait_for("the port to go down",
             lambda: "DOWN" in open(port(a) + "state").read())
    rename(a, "dm0", "zz0")
    wait_named(a, uroce0="zz0", other="zz0")
    check_files(a, "zz0", "other", gone=("dm0",))
    assert a.gids() == {}
    rename(a, "zz0", "dm0")
    wait_named(a, uroce0="zz0", other="dm0")
    check_files(a, "dm0", "other")
    add_netdev(a, "zz0", "10.80.0.1")
    a.gid("10.80.0.1")  # has its address before it is up
    wait_for("the port to be up",
             lambda: "ACTIVE" in open(port(a) + "state").read())

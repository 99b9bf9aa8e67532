# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The `rdma` of iproute2, as it comes with Debian, under `uroce run`: by RDMA
netlink. That its output has the form of Soft-RoCE's is in RXE, taken from a
guest with Debian's kernel 6.1."""
import json
import re

from hosts import wait_for

# What `rdma -d -j` prints of Soft-RoCE: names in their order.
RXE = {
    "dev": ["ifindex", "ifname", "node_type", "node_guid", "sys_image_guid",
            "adaptive-moderation", "caps"],
    "link": ["ifindex", "ifname", "port", "state", "physical_state", "netdev",
             "netdev_index"],
}


def rdma(host, *args, status=0):
    return host.run("rdma", *args, status=status)


def ask(host, *args):
    return json.loads(rdma(host, "-d", "-j", *args))


def guid(host):
    return re.search(r"node_guid:\s+(\S+)", host.run("ibv_devinfo")).group(1)


def test_dev(labs):
    host = labs(1500).a
    assert rdma(host, "dev") == (
        f"0: uroce0: node_type ca fw {ask(host, 'dev')[0]['fw']} "
        f"node_guid {guid(host)} sys_image_guid {guid(host)} \n")
    assert rdma(host, "dev", "show", "uroce0") == rdma(host, "dev")
    dev, = ask(host, "dev")
    # Soft-RoCE has no firmware; cards have.
    assert [k for k in dev if k != "fw"] == RXE["dev"]
    assert dev["adaptive-moderation"] is False
    assert {"MEM_WINDOW", "XRC", "SYS_IMAGE_GUID"} <= set(dev["caps"])
    assert "Wrong device name" in rdma(host, "dev", "show", "rxe0", status=1)


def test_link(labs):
    host = labs(1500).a
    assert rdma(host, "link") == ("link uroce0/1 state ACTIVE physical_state "
                                  "LINK_UP netdev eth0 \n")
    assert rdma(host, "link", "show", "uroce0/1") == rdma(host, "link")
    link, = ask(host, "link")
    assert list(link) == RXE["link"]
    index = json.loads(host.ip("-j", "link", "show", "eth0"))[0]["ifindex"]
    assert index == link["netdev_index"]
    # What every test of pyverbs asks.
    out = json.loads(rdma(host, "link", "show", "-j"))
    assert [(d["ifname"], d["port"], d["netdev"]) for d in out] == [
        ("uroce0", 1, "eth0")]


def test_link_down(lab):
    """The port is down with its cable."""
    lab.serve()
    lab.a.ip("link", "set", "eth0", "down")
    wait_for("a port that is down", lambda: ask(lab.a, "link")[0]["state"] ==
             "DOWN")
    assert ask(lab.a, "link")[0]["physical_state"] == "DISABLED"


def test_several(lab):
    lab.second_cable()
    lab.a.serve("--netdev", "eth0", "--netdev", "eth1")
    assert [d["ifname"] for d in ask(lab.a, "dev")] == ["uroce0", "uroce1"]
    assert [d["netdev"] for d in ask(lab.a, "link")] == ["eth0", "eth1"]
    assert ask(lab.a, "link", "show", "uroce1/1")[0]["netdev"] == "eth1"


def test_system(labs):
    host = labs(1500).a
    assert rdma(host, "system") == "netns shared copy-on-fork on\n"


def test_enumeration(labs):
    """libibverbs asks netlink first, and then looks at no class in sysfs."""
    host = labs(1500).a
    out = host.run("strace", "-f", "-e", "trace=openat", "ibv_devices")
    assert re.search(r"uroce0\s+[0-9a-f]{16}", out)
    assert '/infiniband_verbs"' not in out, out
    assert "uroce0" in host.run("ibv_devinfo")

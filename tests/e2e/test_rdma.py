# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The `rdma` of iproute2, as it comes with Debian, under `uroce run`: by RDMA
netlink. The form of its output is Soft-RoCE's: rdma_form.py."""
import json
import os
import re

import pytest

from hosts import wait_for
from rdma_form import RXE


def rdma(host, *args, status=0):
    return host.run("rdma", *args, status=status)


def ask(host, *args):
    return json.loads(rdma(host, "-d", "-j", *args))


def guid(host):
    return re.search(r"node_guid:\s+(\S+)", host.run("ibv_devinfo")).group(1)


def test_dev(labs):
    host = labs(1500).a
    assert rdma(host, "dev") == (
        f"{ask(host, 'dev')[0]['ifindex']}: uroce0: node_type ca "
        f"fw {ask(host, 'dev')[0]['fw']} "
        f"node_guid {guid(host)} sys_image_guid {guid(host)} \n")
    assert rdma(host, "dev", "show", "uroce0") == rdma(host, "dev")
    dev, = ask(host, "dev")
    # Soft-RoCE has no firmware; cards have.
    assert [k for k in dev if k != "fw"] == RXE["dev"]
    assert dev["adaptive-moderation"] is False
    assert {"MEM_WINDOW", "XRC", "SYS_IMAGE_GUID"} <= set(dev["caps"])
    assert "Wrong device name" in rdma(host, "dev", "show", "rxe0", status=1)


def test_another_device_has_another_index(lab):
    """libibverbs would take it for the one it has seen, with its GUID."""
    lab.second_cable()
    lab.a.serve()
    seen = [ask(lab.a, "dev")[0]["ifindex"]]
    for _ in range(2):
        rdma(lab.a, "link", "add", "rxe0", "type", "rxe", "netdev", "eth1")
        seen += [d["ifindex"] for d in ask(lab.a, "dev")
                 if d["ifname"] == "rxe0"]
        rdma(lab.a, "link", "delete", "rxe0")
    assert len(set(seen)) == 3, seen


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


@pytest.fixture
def busy(lab):
    """A listener and a connection of rping, and a shared receive queue."""
    lab.serve()
    host = lab.a
    port = str(lab.next_port())
    s = host.start("rping", "-s", "-a", host.addr4, "-p", port, "-S", "4096")
    wait_for("a listener", lambda: ask(host, "res", "show", "cm_id"))
    c = host.start("rping", "-c", "-a", host.addr4, "-p", port, "-S", "4096",
                   "-C", "100000000")
    q = host.start("ibv_srq_pingpong", "-g", "0", "-q", "4", "-p",
                   str(lab.next_port()))
    wait_for("all of them", lambda: ask(host, "res", "show", "srq") and
             [x["state"] for x in ask(host, "res", "show", "qp")].count("RTS")
             == 2)
    yield host
    for p in c, s, q:
        p.kill()


def test_resource(busy):
    host = busy
    assert list(ask(host, "res")[0]) == RXE["res"]
    lists = {}
    for what in "qp", "cq", "pd", "mr", "cm_id", "ctx", "srq":
        lists[what] = ask(host, "res", "show", what)
        for entry in lists[what]:
            want = RXE[f"res show {what}"]
            if what == "cm_id" and entry["state"] == "LISTEN":
                want = [k for k in want if k not in ("lqpn", "qp-type")]
            assert list(entry) == want, entry
    assert {k: len(v) for k, v in lists.items()} == {
        k: v for k, v in ask(host, "res")[0].items() if k in lists}
    assert {x["comm"] for x in lists["ctx"]} == {"rping", "ibv_srq_pingpon"}
    # They name each other.
    pds = {x["pdn"] for x in lists["pd"]}
    assert {x["pdn"] for x in lists["mr"] + lists["qp"]} <= pds
    ctxs = {x["ctxn"] for x in lists["ctx"]}
    assert {x["ctxn"] for x in lists["pd"] + lists["cq"]} == ctxs
    two = [x for x in lists["qp"] if x["state"] == "RTS"]
    assert two[0]["lqpn"] == two[1]["rqpn"] and two[1]["lqpn"] == two[0]["rqpn"]
    ids = [x for x in lists["cm_id"] if x["state"] == "CONNECT"]
    assert {x["lqpn"] for x in ids} == {x["lqpn"] for x in two}
    assert ids[0]["src-addr"] == ids[1]["dst-addr"]
    srq, = lists["srq"]
    assert {int(n) for n in srq["lqpn"]} == {
        x["lqpn"] for x in lists["qp"] if x["pid"] == srq["pid"]}
    assert srq["type"] == "BASIC"


def test_resource_filters(busy):
    host = busy
    qp = ask(host, "res", "show", "qp")[0]
    assert [x["lqpn"] for x in ask(host, "res", "show", "qp", "lqpn",
                                   str(qp["lqpn"]))] == [qp["lqpn"]]
    assert len(ask(host, "res", "show", "qp", "link", "uroce0/1")) == 6
    assert {x["state"] for x in ask(host, "res", "show", "qp", "link",
                                    "uroce0/1", "state", "INIT")} == {"INIT"}
    mr = ask(host, "res", "show", "mr")[0]
    assert ask(host, "res", "show", "mr", "mrn", str(mr["mrn"]))[0] == mr
    assert "Invalid argument" in rdma(host, "res", "show", "qp", "-r",
                                      status=1)


def test_others_objects(busy):
    """How many there are, and whose, and no more."""
    host = busy
    if os.stat(host.lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    os.chmod(host.run_dir, 0o755)

    def theirs(*args, status=0):
        return host.run("setpriv", "--reuid", "65534", "--regid", "65534",
                        "--clear-groups", "rdma", "-d", "-j", *args,
                        status=status)
    assert json.loads(theirs("res"))[0]["qp"] == 6
    for what in "qp", "cq", "pd", "mr", "cm_id", "srq":
        assert json.loads(theirs("res", "show", what)) == [], what
    assert len(json.loads(theirs("res", "show", "ctx"))) == 3
    for change in (["link", "delete", "uroce0"],
                   ["link", "add", "x", "type", "rxe", "netdev", "eth0"],
                   ["dev", "set", "uroce0", "name", "x"],
                   ["system", "set", "netns", "shared"]):
        assert "not permitted" in theirs(*change, status=1)


def test_statistic(busy):
    host = busy
    before, = ask(host, "stat")
    assert list(before)[:len(RXE["stat"])] == RXE["stat"]
    wait_for("more", lambda: ask(host, "stat")[0]["rdma_sends"] >
             before["rdma_sends"])
    assert len(ask(host, "stat", "show", "mr")) == ask(host, "res")[0]["mr"]
    assert ask(host, "stat", "qp", "show") == []
    out = rdma(host, "stat", "qp", "set", "link", "uroce0/1", "auto", "type",
               "on", status=1)
    assert "not supported" in out


def test_link_add(lab):
    """The line that scripts for Soft-RoCE begin with."""
    lab.second_cable()
    lab.serve()
    host = lab.a
    rdma(host, "link", "add", "rxe0", "type", "rxe", "netdev", "eth1")
    assert [(x["ifname"], x["netdev"]) for x in ask(host, "link")] == [
        ("uroce0", "eth0"), ("rxe0", "eth1")]
    assert "hca_id:\trxe0" in host.run("ibv_devinfo", "-d", "rxe0")
    for why, *args in (
            ("File exists", "rxe1", "type", "rxe", "netdev", "eth1"),
            ("No such device", "rxe1", "type", "rxe", "netdev", "eth9"),
            ("Invalid argument", "rxe1", "type", "siw", "netdev", "eth1")):
        assert why in rdma(host, "link", "add", *args, status=1)
    rdma(host, "link", "delete", "rxe0")
    assert [x["ifname"] for x in ask(host, "dev")] == ["uroce0"]
    assert "Wrong device name" in rdma(host, "link", "delete", "rxe0",
                                       status=1)


def test_dev_set(lab):
    lab.serve()
    host = lab.a
    rdma(host, "dev", "set", "uroce0", "name", "mine")
    assert ask(host, "dev")[0]["ifname"] == "mine"
    assert re.search(r"mine\s+[0-9a-f]{16}", host.run("ibv_devices"))
    host.run("ibv_devinfo", "-d", "mine")
    assert "not supported" in rdma(host, "dev", "set", "mine",
                                   "adaptive-moderation", "on", status=1)
    rdma(host, "system", "set", "netns", "shared")
    assert "not supported" in rdma(host, "system", "set", "netns",
                                   "exclusive", status=1)


# What `rdma monitor` of newer iproute2 does: a member of RDMA_NL_GROUP_NOTIFY.
LISTEN = """
import socket, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 20)
s.bind((0, 1 << 3))
print("listening", flush=True)
while True:
    data = s.recv(4096)
    at, event, name = 16, None, None
    while at + 4 <= len(data):
        n, kind = (int.from_bytes(data[at + i:at + i + 2], "little")
                   for i in (0, 2))
        if kind == 102:
            event = data[at + 4]
        if kind == 2:
            name = data[at + 4:at + n - 1].decode()
        at += n + 3 & ~3
    print(event, name, flush=True)
"""


def test_monitor(lab):
    lab.second_cable()
    lab.serve()
    host = lab.a
    p = host.start("/usr/bin/python3", "-c", LISTEN)
    wait_for("the listener", lambda: "listening" in p.text())
    rdma(host, "link", "add", "rxe0", "type", "rxe", "netdev", "eth1")
    rdma(host, "dev", "set", "rxe0", "name", "rxe1")
    rdma(host, "link", "delete", "rxe1")
    wait_for("its end", lambda: "1 rxe1" in p.text())
    p.kill()
    assert p.text().split("\n")[1:5] == ["0 rxe0", "2 rxe0", "4 rxe1",
                                         "1 rxe1"]

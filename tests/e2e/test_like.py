# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroced --like: what a card looks like to programs that choose by it, and its limits kept;
and --node."""
import ctypes
import ctypes.util
import json
import os
import re
import subprocess
import xml.etree.ElementTree as ET

import pytest

from hosts import sh, wait_for
from test_cli import uroce
from test_link import TOPOLOGY, topology

CARDS = {
    "cx7": {"name": "mlx5_0", "vendor_id": "0x02c9", "vendor_part_id": "4129",
            "fw_ver": "28.39.1002-uroce", "pci": ["0x15b3", "0x1021"], "gts": 32,
            "max_qp": "131072", "max_qp_wr": "32768", "max_sge": "30", "max_qp_rd_atom": "16"},
    "bnxt": {"name": "bnxt_re0", "vendor_id": "0x14e4", "vendor_part_id": "5984",
             "fw_ver": "238.1.138-uroce", "pci": ["0x14e4", "0x1760"], "gts": 32,
             "max_qp": "131073", "max_qp_wr": "4351", "max_sge": "13", "max_qp_rd_atom": "126"},
    "irdma": {"name": "irdma0", "vendor_id": "0x8086", "vendor_part_id": "5522",
              "fw_ver": "1.54.0-uroce", "pci": ["0x8086", "0x1592"], "gts": 16,
              "max_qp": "65533", "max_qp_wr": "4063", "max_sge": "13",
              "max_qp_rd_atom": "127"},
}
SEEN = ("vendor_id", "vendor_part_id", "fw_ver", "max_qp", "max_qp_wr", "max_sge",
        "max_qp_rd_atom")


def default_gid(host):
    """The interface has the link-local address that its MAC makes."""
    wait_for("the link-local address",
             lambda: "fe80" in sh("ip", "-n", host.name, "-6", "-o", "addr", "show", "dev", "eth0",
                                  "scope", "link", "-tentative").stdout)


def attributes(host):
    """{name: value} of ibv_devinfo -v."""
    return dict(re.findall(r"^\s*(\w+):\s+(\S+)$", host.run("ibv_devinfo", "-v"), re.M))


def gids(host, name):
    """{index: (address, version)} as show_gids has them."""
    return {int(i): (gid, version) for i, gid, version in re.findall(
        rf"^{name}\t1\t(\d+)\t(\S+)\t.*\t(v\d)\teth0$", host.run("show_gids"), re.M)}


@pytest.mark.part("ROCE_V1")
@pytest.mark.parametrize("card", CARDS)
def test_looks_like_it(lab, card):
    """Programs and discovery code find the card's names, numbers, limits and GIDs."""
    want, a = CARDS[card], lab.a
    default_gid(a)
    a.serve("--netdev", "eth0", "--like", card, "--node", "1")
    seen = attributes(a)
    assert {k: seen[k] for k in SEEN} == {k: want[k] for k in SEEN}, seen
    assert seen["phys_port_cnt"] == "1" and seen["fw_ver"].endswith("-uroce")
    d = topology(a)[want["name"]]
    assert d["nccl"]["ids"][:2] == d["ucx"]["ids"] == want["pci"], d
    assert (d["ucx"]["gts"], d["ucx"]["width"]) == (want["gts"], 16), d
    assert (d["nccl"]["node"], d["mooncake"]["node"]) == ("1", "1"), d
    assert d["hwloc"]["driver"] == "uroce" and d["rate"] >= 10, d
    each = 1 if card == "irdma" else 2
    places = gids(a, want["name"])
    assert sorted(places) == list(range(len(places))), places
    for index, (gid, version) in places.items():
        assert version == ("v2" if each == 1 or index % 2 else "v1"), places
        assert gid.startswith("fe80:") == (index < each), places
    # The index that everybody writes down for mlx5: IPv4, RoCEv2.
    assert d["nccl_gid"] == d["ucx_gid"] == 2 * each - 1, d
    assert places[2 * each - 1][0].startswith("0000:0000:0000:0000:0000:ffff:"), places
    status = json.loads(uroce(a, "link", "--json"))[0]
    assert (status["like"], status["numa_node"]) == (card, 1)
    assert re.search(rf"{want['name']}: .* fw {want['fw_ver']} ", a.run("rdma", "dev"))
    assert f"{want['name']} port 1 ==> eth0 (Up)" in a.run("ibdev2netdev")


@pytest.mark.part("ROCE_V1")
def test_serves(lab):
    """Traffic between two of them, by the index that scripts have; UCX takes the device
    as any verbs device, not as mlx5's, whose library says that it is none of its own."""
    for host in lab.a, lab.b:
        default_gid(host)
        host.serve("--netdev", "eth0", "--like", "cx7")
    port = lab.next_port()
    words = ["ibv_rc_pingpong", "-d", "mlx5_0", "-g", "3", "-c", "-n", "100", "-p", str(port)]
    s = lab.a.start(*words)
    wait_for("the server", lambda: s.listens(port))
    lab.b.run(*words, lab.a.addr4)
    assert s.wait() == 0, s.report()
    found = lab.a.run("ucx_info", "-d")
    assert "Transport: rc_verbs" in found and "mlx5_0:1" in found, found
    assert "rc_mlx5" not in found and "dc_mlx5" not in found, found
    if ctypes.util.find_library("mlx5"):
        out = lab.a.run("/usr/bin/python3", "-c", """
import ctypes
v, m = ctypes.CDLL("libibverbs.so.1"), ctypes.CDLL("libmlx5.so.1")
v.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
v.ibv_get_device_name.restype = ctypes.c_char_p
m.mlx5dv_is_supported.restype = ctypes.c_bool
d = ctypes.c_void_p(v.ibv_get_device_list(None)[0])
print(v.ibv_get_device_name(d).decode(), m.mlx5dv_is_supported(d))
""")
        assert out == "mlx5_0 False\n", out


@pytest.mark.parametrize("card", CARDS)
def test_limits_are_kept(lab, card):
    """One more than the attributes tell is refused, as the card would; as many are not."""
    a = lab.a
    default_gid(a)
    a.serve("--netdev", "eth0", "--like", card)
    most = int(CARDS[card]["max_qp_wr"])
    assert "Couldn't create QP" in a.run("ibv_rc_pingpong", "-g", "1", "-r", str(most + 1),
                                         status=1)
    p = a.start("ibv_rc_pingpong", "-g", "1", "-r", str(most))
    wait_for("it to have the queue pair", lambda: f'"max_recv_wr":{most}' in uroce(
        a, "res", "--json", "qp"))
    if card != "irdma":  # whose two numbers of READs differ, and which has little inline data
        for name in "limits", "limits_rd_atomic":
            a.run(lab.bin("verbs_corners"), name)


def test_without_the_right(lab):
    """An ordinary user's device has no RoCEv1, and says so: its places are empty, and what is
    RoCEv2 is where the card has it."""
    if os.stat(lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    a = lab.a
    default_gid(a)
    os.mkdir(a.run_dir)
    os.chown(a.run_dir, 65534, 65534)
    device = a.bare("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                    lab.bin("uroced"), "--run-dir", a.run_dir, "--netdev", "eth0", "--like", "cx7")
    wait_for("uroced", lambda: "ready" in device.text().split())
    port = a.run_dir + "/sys/class/infiniband/mlx5_0/ports/1"

    def read(name, index):
        with open(f"{port}/{name}/{index}") as f:
            return f.read().strip()

    for index in range(8):
        assert read("gid_attrs/types", index) in ("", "RoCE v2" if index % 2 else ""), index
        assert (read("gid_attrs/types", index) == "") == (
            set(read("gids", index)) == {"0", ":"}), index
    assert read("gids", 1).startswith("fe80:") and read("gid_attrs/ndevs", 3) == "eth0"
    assert read("gids", 3).startswith("0000:0000:0000:0000:0000:ffff:")


def test_empty_entry(lab):
    """Where an address was, NCCL finds an entry without a type, not an error."""
    a = lab.a
    default_gid(a)
    a.serve("--netdev", "eth0")
    a.run("ip", "-4", "addr", "flush", "dev", "eth0")
    types = a.run_dir + "/sys/class/infiniband/uroce0/ports/1/gid_attrs/types/0"
    wait_for("the entry to go", lambda: not open(types).read())
    assert topology(a)["uroce0"]["nccl_gid6"] >= 0


def test_two_nodes(lab):
    """Two devices on two nodes, by option, link add and rename; a device that has failed
    comes back on its own."""
    a = lab.a
    lab.second_cable()
    a.serve("--netdev", "eth0", "--node", "0")
    uroce(a, "link", "add", "eth1", "rail1", "node=1")
    nodes = {n: (d["nccl"]["node"], d["mooncake"]["node"]) for n, d in topology(a).items()}
    assert nodes == {"uroce0": ("0", "0"), "rail1": ("1", "1")}
    uroce(a, "fault", "add", "dev=rail1", "device-fatal")
    assert topology(a)["rail1"]["nccl"]["node"] == "1"
    for words in ["node=1024"], ["node="], ["node=-1"], ["node=1", "node=1"]:
        p = a.bare(lab.bin("uroce"), "link", "--run-dir", a.run_dir, "add", "eth1", *words)
        assert p.wait() == 1, p.report()


def test_run(lab, tmp_path):
    """uroce run starts such a device, and does not take another for it."""
    a = lab.a
    default_gid(a)

    def run(*words, where="x"):
        p = a.bare(lab.bin("uroce"), "run", "-q", "--run-dir", str(tmp_path / where), *words)
        p.wait(60)
        return p

    p = run("--netdev", "eth0", "--like", "cx7", "--node", "1", "--", "sh", "-c",
            f"ls /sys/class/infiniband; cat /sys/class/infiniband/*/device/numa_node; "
            f"{lab.bin('uroce')} run --run-dir {tmp_path}/x --like bnxt -- true; "
            f"{lab.bin('uroce')} run --run-dir {tmp_path}/x --node 0 -- true")
    assert p.text().startswith("mlx5_0\n1\n"), p.report()
    assert "is like cx7, not like bnxt" in p.text() and "on node 1, not on node 0" in p.text(), (
        p.report())
    p = run("--netdev", "eth0", "--like", "cx9", "--", "true")
    assert p.proc.returncode == 2 and "cx7|bnxt|irdma" in p.text(), p.report()
    p = run("--devices", "2", "--like", "bnxt", "--", "ls", "/sys/class/infiniband", where="y")
    assert p.text() == "bnxt_re0\nbnxt_re1\n", p.report()


def test_mounted(lab, tmp_path):
    """With --mount scans of the PCI bus find it: node-feature-discovery's, NIXL's, hwloc's."""
    p = lab.a.bare(lab.bin("uroce"), "run", "-q", "--run-dir", str(tmp_path / "x"), "--netdev",
                   "eth0", "--like", "cx7", "--mount", "--", "/usr/bin/python3", TOPOLOGY,
                   "functions")
    assert p.wait(60) == 0, p.report()
    found = json.loads(p.text())
    ours = [f for address, f in found["functions"].items() if address.startswith("7572:")]
    assert ours == [{"class": "0200", "vendor": "15b3", "device": "1021",
                     "subsystem_vendor": "15b3", "subsystem_device": "0041"}], found
    assert found["rdma.capable"] and found["nixl"] == 0, found
    if subprocess.run(["which", "lstopo-no-graphics"], stdout=subprocess.DEVNULL,
                      check=False).returncode:
        pytest.skip("no hwloc")
    p = lab.a.bare(lab.bin("uroce"), "run", "-q", "--run-dir", str(tmp_path / "x"), "--netdev",
                   "eth0", "--like", "cx7", "--mount", "--", "lstopo-no-graphics", "--of", "xml")
    assert p.wait(60) == 0, p.report()
    tree = ET.fromstring(p.text()[p.text().index("<?xml"):])
    card = [o for o in tree.iter("object") if o.get("type") == "PCIDev" and
            o.get("pci_busid").startswith("7572:")]
    assert len(card) == 1 and "[15b3:1021]" in card[0].get("pci_type"), p.report()
    assert [o.get("name") for o in card[0] if o.get("type") == "OSDev"] == ["mlx5_0"], p.report()

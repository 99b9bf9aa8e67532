#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Prints, as JSON, where a program finds each RDMA device on the machine, by the rules of
libraries that choose devices by it; with "functions" what scans of the PCI bus find."""
import errno
import glob
import ipaddress
import json
import os
import stat
import subprocess
import sys


def text(path):
    with open(path) as f:
        return f.read().strip()


def real(path):
    """As realpath(3) has it; Python's own asks for each part of a name."""
    found = subprocess.run(["realpath", "-e", path], text=True, stdout=subprocess.PIPE,
                           check=True).stdout.strip()
    assert found == os.path.realpath(path), (path, found)
    return found


def nccl(name):
    """getPciPath() of net_ib and ncclTopoGetXmlFromSys(): the function by the device's link;
    its ports and its virtual functions are one; the same function by its bus; attributes."""
    path = real(f"/sys/class/infiniband/{name}/device")
    address = os.path.basename(path)
    bus = real(f"/sys/class/pci_bus/{address[:7]}/../../{address}")
    assert bus == path, (bus, path)
    root = os.path.basename(os.path.dirname(path))
    assert root.startswith("pci") and root.count(":") == 1, root
    card = address[:-4] + "00.0"
    return {"card": card, "node": text(path + "/numa_node"), "class": text(path + "/class"),
            "ids": [text(f"{path}/{n}") for n in ("vendor", "device", "subsystem_vendor",
                                                  "subsystem_device")],
            "speed": text(path + "/max_link_speed"), "width": text(path + "/max_link_width")}


def gid(name, index):
    return ipaddress.IPv6Address(text(f"/sys/class/infiniband/{name}/ports/1/gids/{index}"))


def kind(name, index):
    """The type of an entry; "" where reading it fails with EINVAL, as the kernel has it, or
    gives nothing. A file that is not there is an error."""
    try:
        return text(f"/sys/class/infiniband/{name}/ports/1/gid_attrs/types/{index}")
    except OSError as e:
        assert e.errno == errno.EINVAL, e
        return ""


def nccl_gid(name, ipv4):
    """ncclIbGetGidIndex() for RoCEv2: entry 0 until another of the family takes its place."""
    chosen = 0
    for index in range(1, 256):
        was, new = gid(name, chosen), gid(name, index)
        if bool(new.ipv4_mapped) != ipv4:
            continue
        if bool(was.ipv4_mapped) != ipv4:
            chosen = index
        elif int(new) and not new.is_link_local:
            kinds = kind(name, chosen), kind(name, index)
            if kinds[1] == "RoCE v2" and (kinds[0] != kinds[1] or was.is_link_local or
                                          not int(was)):
                chosen = index
    return chosen


def ucx_gid(name):
    """uct_ib_device_select_gid(): RoCEv2 first, and in it IPv4; no link-local ones."""
    for want, ipv4 in (("RoCE v2", True), ("RoCE v2", False), ("IB/RoCE v1", True),
                       ("IB/RoCE v1", False)):
        for index in range(256):
            address = gid(name, index)
            if int(address) and kind(name, index) == want and \
                    bool(address.ipv4_mapped) == ipv4 and not address.is_link_local:
                return index
    return None


def ucx(name):
    """ucs_topo_resolve_sysfs_path() and what is read there: a function is two steps up, and
    has a file "device"."""
    path = os.path.dirname(os.path.dirname(real(f"/sys/class/infiniband/{name}")))
    assert os.path.exists(path + "/device"), path
    speed, unit = text(path + "/current_link_speed").split()[:2]
    assert unit == "GT/s", unit
    return {"function": os.path.basename(path), "ids": [text(f"{path}/{n}")
                                                        for n in ("vendor", "device")],
            "gts": float(speed), "width": int(text(path + "/current_link_width")),
            "cpus": text(f"/sys/class/infiniband/{name}/device/local_cpus")}


def functions():
    """detectPci() of node-feature-discovery, which wants all five of every function, and
    hwInfo() of NIXL, which counts cards in InfiniBand's class."""
    base, found, cards = "/sys/bus/pci/devices", {}, 0
    for address in sorted(os.listdir(base)):
        attrs = {n: text(f"{base}/{address}/{n}").removeprefix("0x")
                 for n in ("class", "vendor", "device", "subsystem_vendor", "subsystem_device")}
        attrs["class"] = attrs["class"][:4]
        cards += (attrs["vendor"], attrs["class"]) == ("15b3", "0207")
        found[address] = attrs
    return {"functions": found, "nixl": cards,
            "rdma.capable": any(a["vendor"] == "15b3" for a in found.values())}


def mooncake(name):
    """The bus by the way up from the device of the class, the node beside it; the device
    file is one of characters, for reading and writing."""
    node = os.path.basename(glob.glob(
        f"/sys/class/infiniband/{name}/device/infiniband_verbs/*")[0])
    assert stat.S_ISCHR(os.stat("/dev/infiniband/" + node).st_mode), node
    assert os.access("/dev/infiniband/" + node, os.R_OK | os.W_OK), node
    path = real(f"/sys/class/infiniband/{name}/../..")
    return {"bus": os.path.basename(path), "node": text(path + "/numa_node")}


def hwloc(name):
    """The parent by the link, its subsystem, and the processors beside it."""
    path = f"/sys/class/infiniband/{name}/device"
    return {"subsystem": os.path.basename(os.readlink(path + "/subsystem")),
            "driver": os.path.basename(os.readlink(path + "/driver")),
            "cpus": text(path + "/local_cpus"), "cpulist": text(path + "/local_cpulist"),
            "parent": os.path.basename(real(path)),
            "bus": real(f"/sys/bus/pci/devices/{os.path.basename(real(path))}") == real(path)}


def rate(name):
    """In Gb/s, as NIXL, UCX and others read it."""
    return float(text(f"/sys/class/infiniband/{name}/ports/1/rate").split()[0])


if sys.argv[1:] == ["functions"]:
    print(json.dumps(functions()))
    sys.exit()
print(json.dumps({name: {"ucx": ucx(name), "nccl_gid": nccl_gid(name, True),
                         "nccl_gid6": nccl_gid(name, False), "ucx_gid": ucx_gid(name),
                         "nccl": nccl(name), "mooncake": mooncake(name), "hwloc": hwloc(name),
                         "rate": rate(name), "net": os.listdir(
                             f"/sys/class/infiniband/{name}/device/net"),
                         "verbs": os.path.realpath(glob.glob(
                             f"/sys/class/infiniband/{name}/device/infiniband_verbs/*")[0])}
                  for name in sorted(os.listdir("/sys/class/infiniband"))}))

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Prints, as JSON, where a program finds each RDMA device on the machine, by the rules of
libraries that choose devices by it."""
import glob
import json
import os
import subprocess


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


def mooncake(name):
    """The bus by the way up from the device of the class, the node beside it."""
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


print(json.dumps({name: {"nccl": nccl(name), "mooncake": mooncake(name), "hwloc": hwloc(name),
                         "rate": rate(name), "net": os.listdir(
                             f"/sys/class/infiniband/{name}/device/net"),
                         "verbs": os.path.realpath(glob.glob(
                             f"/sys/class/infiniband/{name}/device/infiniband_verbs/*")[0])}
                  for name in sorted(os.listdir("/sys/class/infiniband"))}))

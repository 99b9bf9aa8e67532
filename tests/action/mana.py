# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A broken RDMA device of the machine's own, as runners at GitHub have one: libibverbs
and librdmacm, as they are, find mana_0 with an active port and the address of eth0, and
get an error from its files. In sysfs nothing can be made, so /sys/class of the root is
a tmpfs with the classes of before and mana_0's; /dev is one with device nodes of
drivers that answer so."""
import os
import subprocess

# Opens, and refuses every command (/dev/full): what is written to it is ENOSPC.
REFUSES = "1:7"
# No driver has this number: open() is ENXIO.
ABSENT = "120:7"
# A provider is chosen by the card's modalias where the kernel's netlink does not name
# its driver: that of this card is in every rdma-core.
MODALIAS = "pci:v000015ADd00000820sv000015ADsd00000820bc02sc07i00"
GID = "0000:0000:0000:0000:0000:ffff:0a02:0004"
ADDRESS = "10.2.0.4"
NODES = {"null": "1:3", "zero": "1:5", "full": "1:7", "random": "1:8", "urandom": "1:9",
         "tty": "5:0"}


def sh(*cmd):
    subprocess.run(cmd, check=True)


def write(files, folder):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text + "\n")


def node(path, number):
    sh("mknod", "-m", "666", path, "c", *number.split(":"))


class Mana:
    def __init__(self, root, netns, answers):
        self.root, self.netns = root, netns
        self.sysfs(root + "/sys/class", answers)
        self.dev(root + "/dev", answers)
        ip = "ip", "-n", netns
        sh(*ip, "link", "add", "eth0", "type", "veth", "peer", "name", "azure0")
        sh(*ip, "addr", "add", ADDRESS + "/20", "dev", "eth0")
        for name in "azure0", "eth0":
            sh(*ip, "link", "set", name, "up")

    @staticmethod
    def sysfs(folder, answers):
        before = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        sh("mount", "-t", "tmpfs", "tmpfs", folder)
        for name in os.listdir(before):
            os.mkdir(f"{folder}/{name}")
            if name != "misc":
                subprocess.run(["mount", "--bind", f"/proc/self/fd/{before}/{name}",
                                f"{folder}/{name}"], check=True, pass_fds=[before])
        os.close(before)
        write({"device/modalias": MODALIAS, "node_type": "1: CA", "fw_ver": "0.0.0",
               "node_guid": "0022:48ff:fe00:0001", "sys_image_guid": "0022:48ff:fe00:0001",
               "ports/1/state": "4: ACTIVE", "ports/1/link_layer": "Ethernet",
               "ports/1/gids/0": GID, "ports/1/gid_attrs/types/0": "RoCE v2",
               "ports/1/gid_attrs/ndevs/0": "eth0"}, folder + "/infiniband/mana_0")
        write({"device/modalias": MODALIAS, "device/vendor": "0x15ad", "device/device": "0x0820",
               "ibdev": "mana_0", "abi_version": "3", "dev": answers},
              folder + "/infiniband_verbs/uverbs0")
        write({"abi_version": "6"}, folder + "/infiniband_verbs")
        write({"abi_version": "4", "dev": answers}, folder + "/misc/rdma_cm")

    @staticmethod
    def dev(folder, answers):
        pts = os.open(folder + "/pts", os.O_RDONLY | os.O_DIRECTORY)
        sh("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", folder)
        for name in "infiniband", "pts", "shm":
            os.mkdir(f"{folder}/{name}")
        sh("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", folder + "/shm")
        subprocess.run(["mount", "--bind", f"/proc/self/fd/{pts}", folder + "/pts"],
                       check=True, pass_fds=[pts])
        os.close(pts)
        for name, number in {**NODES, "infiniband/uverbs0": answers,
                             "infiniband/rdma_cm": answers}.items():
            node(f"{folder}/{name}", number)
        for name, fd in ("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2"):
            os.symlink("/proc/self/fd" + fd, f"{folder}/{name}")

    def close(self):
        sh("ip", "-n", self.netns, "link", "del", "eth0")
        for name in "/dev", "/sys/class":
            sh("umount", "--lazy", self.root + name)

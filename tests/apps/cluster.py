# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A Ceph cluster: a monitor and two OSDs that keep objects in memory, spread
over the hosts of a place."""
import json
import os
import shutil
import uuid

from cm import listens
from hosts import wait_for

CONF = """
[global]
fsid = {fsid}
mon_host = [v2:{mon}:{port}/0]
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_bind_ipv4 = {ipv4}
ms_bind_ipv6 = {ipv6}
{messenger}
admin_socket = {folder}/$name.asok
run_dir = {folder}
crash_dir = {folder}
pid_file =
log_file = {folder}/$name.log
keyring = {folder}/keyring
setuser_match_path =
osd_pool_default_size = 2
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_crush_chooseleaf_type = 0
osd_objectstore = memstore
memstore_device_bytes = 4294967296
osd_memory_target = 939524096
mon_data = {folder}/mon
osd_data = {folder}/osd$id
mon_allow_pool_size_one = true
mon_osd_min_down_reporters = 1
mon_data_avail_crit = 1
osd_heartbeat_grace = {grace}
"""
# What the daemons' defaults want of memory is for hundreds of connections.
RDMA = """ms_type = async+rdma
ms_async_rdma_device_name = uroce0
ms_async_rdma_gid_idx = {gid}
ms_async_rdma_send_buffers = 256
ms_async_rdma_receive_buffers = 1024
ms_async_rdma_receive_queue_len = 256
{more}"""
MONITOR = "a"


class Cluster:
    """variant: "tcp", "ib" (queue pairs that meet over TCP) or "iwarp"
    (connections of rdma_cm)."""

    def __init__(self, place, folder, variant):
        self.place, self.folder, self.variant = place, folder, variant
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self.hosts = [place.server, place.client]
        self.osds = {}
        fsid = str(uuid.uuid4())
        mon = place.address(place.server)
        self.port = place.lab.next_port()
        if ":" in mon:
            mon = f"[{mon}]"
        for host in self.hosts:
            self.conf(host).write_text(CONF.format(
                fsid=fsid, mon=mon, port=self.port, folder=folder, grace=20,
                ipv4=str(place.cell.family == 4).lower(),
                ipv6=str(place.cell.family == 6).lower(),
                messenger=self.messenger(host)))
        self.call("monmaptool", "--create", "--fsid", fsid, "--addv", MONITOR,
                  f"[v2:{mon}:{self.port}]", str(folder / "monmap"))
        self.call("ceph-mon", "--mkfs", "-i", MONITOR, "--monmap",
                  str(folder / "monmap"))
        self.mon = self.start(self.hosts[0], "ceph-mon", "-f", "-i", MONITOR)
        # Retried by whoever asks first; but what ends says why.
        wait_for("the monitor", lambda: not self.mon.running() or
                 (listens(place.server, self.port) if variant == "iwarp"
                  else self.mon.listens(self.port)))
        self.ceph("osd", "set", "noautoscale", check=False)
        for n, host in enumerate(self.hosts):
            name = str(uuid.uuid4())
            said = self.ceph("osd", "new", name)
            assert str(n) in said.split("\n"), said + self.report()
            (folder / f"osd{n}").mkdir()
            self.call("ceph-osd", "-i", str(n), "--mkfs", "--osd-uuid", name,
                      "--no-mon-config")
            self.start_osd(n)
        self.wait_up(2)

    def conf(self, host):
        return self.folder / f"{host.name}.conf"

    def messenger(self, host):
        if self.variant == "tcp":
            return "ms_type = async+posix"
        more = ("ms_async_rdma_type = iwarp\nms_async_rdma_cm = true"
                if self.variant == "iwarp" else "")
        return RDMA.format(gid=self.place.gid(host), more=more)

    def start(self, host, program, *words):
        return (host.bare if self.variant == "tcp" else host.start)(
            program, "-c", str(self.conf(host)), *words)

    def run(self, host, program, *words, limit=60, check=True):
        p = self.start(host, program, *words)
        got = p.wait(limit)
        assert got == 0 or not check, p.report() + self.report()
        return p.text()

    def call(self, program, *words):
        """What needs no network."""
        p = self.hosts[0].bare(program, "-c", str(self.conf(self.hosts[0])),
                               *words)
        assert p.wait() == 0, p.report()

    def ceph(self, *words, **kw):
        """From the last host, so that it goes over the cable."""
        return self.run(self.hosts[-1], "ceph", *words, **kw)

    def rados(self, *words, **kw):
        return self.run(self.hosts[-1], "rados", *words, **kw)

    def start_osd(self, n):
        address = self.place.address(self.hosts[n])
        self.osds[n] = self.start(
            self.hosts[n], "ceph-osd", "-f", "-i", str(n), "--public-addr",
            address, "--cluster-addr", address)

    def up(self):
        said = self.ceph("osd", "stat", "-f", "json")
        # Before and after it may be what libraries have to say.
        return json.JSONDecoder().raw_decode(
            said, said.index("{"))[0]["num_up_osds"]

    def wait_up(self, count, limit=60):
        wait_for(f"{count} OSDs", lambda: self.up() == count, limit, 0.2)

    def report(self):
        text = ""
        for p in self.mon, *self.osds.values():
            text += p.report()[-3000:]
        for name in os.listdir(self.folder):
            if name.endswith(".log"):
                text += name + ":\n" + (self.folder / name).read_text(
                    errors="replace")[-3000:]
        return text

    def close(self):
        for p in *self.osds.values(), self.mon:
            p.close()

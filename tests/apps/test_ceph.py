# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Ceph's messenger over RDMA: objects that come back as they went, and an OSD
that is killed meanwhile."""
import os
import re

from cells import LOSS, ONE, TWO, TWO6, runs
from cluster import Cluster

POOL = "p"
SIZES = (1, 70001, 6 << 20)
# What goes to both OSDs and back, at least, where one of them is elsewhere.
MOVED = 20 << 20

VARIANTS = {"queue pairs over TCP": "ib", "rdma_cm": "iwarp"}


def measure(cluster):
    """MB/s written, two seconds of it, or as much as an OSD has room for."""
    out = cluster.rados("-p", POOL, "bench", "2", "write", "-b", "1048576",
                        "-t", "8", "--no-cleanup", "--max-objects", "600")
    cluster.rados("-p", POOL, "bench", "2", "seq", "-t", "8")
    found = re.search(r"^Bandwidth \(MB/sec\): +([\d.]+)", out, re.M)
    assert found, out
    return float(found.group(1))


def put(cluster, path, name):
    cluster.rados("-p", POOL, "put", name, str(path / name))


def same(cluster, path, name):
    cluster.rados("-p", POOL, "get", name, str(path / "got"))
    return (path / "got").read_bytes() == (path / name).read_bytes()


def kill_and_return(cluster, path, names):
    """What is written while an OSD is away is there, and when it is back."""
    cluster.osds[1].kill()
    cluster.wait_up(1)
    (path / "alone").write_bytes(os.urandom(1 << 20))
    put(cluster, path, "alone")
    assert same(cluster, path, names[-1])
    cluster.start_osd(1)
    cluster.wait_up(2)
    put(cluster, path, names[0])
    for name in "alone", *names:
        assert same(cluster, path, name), name


@runs(("queue pairs over TCP", [TWO], [ONE, LOSS, TWO6]),
      ("rdma_cm", [], [ONE, TWO]))
def test_ceph(place, variant, compare, tmp_path):
    names = [str(size) for size in SIZES]
    for size in SIZES:
        (tmp_path / str(size)).write_bytes(os.urandom(size))

    def run(folder, kind, and_kill):
        cluster = Cluster(place, tmp_path / folder, kind)
        try:
            cluster.ceph("osd", "pool", "create", POOL, "8", "8")
            for name in names:
                put(cluster, tmp_path, name)
                assert same(cluster, tmp_path, name), name
            rate = measure(cluster)
            if and_kill:
                kill_and_return(cluster, tmp_path, names)
            return rate
        finally:
            cluster.close()

    def ours():
        with place.carrying(MOVED):
            return run("ours", VARIANTS[variant], True)

    def tcp():
        with place.over_tcp():
            return run("tcp", "tcp", False)
    compare("Ceph, rados bench write", variant, place, ours, tcp)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What programs are built on: UCX, libfabric, uDAPL, MPI; and storage: fio,
iSER. Debian's, unmodified."""
import os
import re
import shutil

import pytest

from cm import run_cm_pair, start_server
from hosts import wait_for
from ranks import Ranks

DTEST_PORT = 15828  # cannot be chosen
HERE = os.path.dirname(__file__)


def tcp_pair(labs, server, client, env, port=None):
    """Both programs, which meet over TCP at PORT; the client's output."""
    lab = labs(1500)
    port = str(port or lab.next_port())
    env = {**os.environ, **env}

    def fill(cmd):
        return [w.replace("PORT", port).replace("ADDR", lab.a.addr4)
                for w in cmd.split()]
    s = lab.a.start(*fill(server), env=env)
    wait_for("the server", lambda: s.listens(int(port)) or not s.running())
    c = lab.b.start(*fill(client), env=env)
    got = c.wait(60)
    got = got, s.wait(10 if got == 0 else 2)
    assert got == (0, 0), c.report() + s.report()
    return c.text()


@pytest.mark.parametrize("tls,test,size", [
    ("ud", "tag_lat", 8), ("ud", "tag_bw", 65536), ("rc", "tag_lat", 64),
    ("rc", "tag_bw", 65536), ("rc", "stream_bw", 4096),
    ("rc", "ucp_put_bw", 1 << 20), ("rc", "ucp_get", 65536),
    ("rc", "ucp_fadd", 8), ("rc", "ucp_cswap", 8)])
def test_ucx(labs, tls, test, size):
    cmd = f"ucx_perftest -t {test} -n 500 -s {size} -p PORT"
    out = tcp_pair(labs, cmd, cmd + " ADDR",
                   {"UCX_TLS": tls, "UCX_NET_DEVICES": "uroce0:1"})
    assert re.search(r"Final: +500 ", out), out


@pytest.mark.parametrize("provider,endpoint", [
    ("verbs", "msg"), ("verbs", "dgram"), ("verbs;ofi_rxm", "rdm"),
    ("verbs;ofi_rxd", "rdm")])
def test_libfabric(labs, provider, endpoint):
    """The data is looked at (-c). Who ends first disconnects while the other one may not have
    polled its last completions yet; and rxm, when it looks after its connections before it
    polls, destroys the queue pair, with which a card's completions go too. It looks every
    10 ms, and a program on a busy machine does not run for longer: once a second here."""
    cmd = f"fi_pingpong -p {provider} -e {endpoint} -c"
    out = tcp_pair(labs, cmd + " -B PORT", cmd + " -P PORT ADDR",
                   {"FI_OFI_RXM_CM_PROGRESS_INTERVAL": "1000000"})
    assert re.search(r"^1k +10 +=10 ", out, re.M), out


@pytest.mark.skipif(not shutil.which("dtest"),
                    reason="no uDAPL here: Debian 13 has none")
def test_dapl(labs, tmp_path):
    """dtest tells what the other one wrote to it and let it read."""
    conf = tmp_path / "dat.conf"
    conf.write_text("ofa-v2-ur u2.0 nonthreadsafe default libdaplofa.so.2 "
                    'dapl.2.0 "eth0 0" ""\n')
    cmd = "dtest -P ofa-v2-ur -b 4096 -B 10"
    out = tcp_pair(labs, cmd, cmd + " -h ADDR", {"DAT_OVERRIDE": str(conf)},
                   DTEST_PORT)
    assert "write buffer contains: server RDMA write data" in out, out
    assert "read buffer contains: server RDMA read data" in out, out
    assert "DAPL Test Complete. PASSED" in out, out


@pytest.mark.parametrize("tls", ["rc", "ud"])
def test_mpi(labs, tls, tmp_path):
    """Two ranks on each of two hosts, and nothing but the device between."""
    lab = labs(1500)
    p = Ranks(lab, tmp_path, (lab.a, lab.b), 2).openmpi(
        {"pml": "ucx", "osc": "ucx", "btl": "self"},
        {"UCX_TLS": f"{tls},self", "UCX_NET_DEVICES": "uroce0:1"},
        "/usr/bin/python3", os.path.join(HERE, "mpi_ring.py"))
    assert p.wait() == 0, p.report()
    out = p.text()
    assert "good [0, 1, 2, 3]" in out, out


@pytest.mark.parametrize("verb", ["write", "read"])
def test_fio(labs, verb):
    """Not send: fio asks for no RNR retries and sends faster than it posts."""
    lab = labs(1500)
    a, b, port = lab.a, lab.b, lab.next_port()
    common = ["fio", "--ioengine=rdma", f"--port={port}", "--bs=64k",
              "--size=16m"]
    out = run_cm_pair(
        a, b, [*common, "--name=server", "--rw=read", "--iodepth=16"],
        [*common, "--name=client", f"--hostname={a.addr4}", f"--verb={verb}",
         "--rw=write", "--iodepth=8"], port)[1]  # to it, write is the client
    assert re.search(r"issued rwts: total=.*\b256\b", out), out


def test_iser(labs, tmp_path, huge_pages):
    """iSCSI over RDMA: tgtd's disk, libiscsi's tools."""
    lab = labs(1500)
    disk = tmp_path / "disk"
    disk.write_bytes(os.urandom(8 << 20))
    start_server(lab.a, 3260, "tgtd", "-f", "-C", "77", "--iser",
                 "pool_sz_mb=16")
    iqn, me = "iqn.2026-11.test:disk", "iqn.2026-11.test:me"
    for words in (
            f"target --op new -T {iqn}", f"logicalunit --op new --lun 1 -b {disk}",
            # of iSER it wants both to allow
            "target --op bind -I ALL", f"target --op bind -Q {me}"):
        p = lab.a.bare("tgtadm", "-C", "77", "--lld", "iser", "--tid", "1",
                       "--mode", *words.split())
        assert p.wait() == 0, p.report()
    url = f"iser://{lab.a.addr4}/{iqn}/1"
    assert "VIRTUAL-DISK" in lab.b.run("iscsi-inq", "-i", me, url)
    assert f"Total size:{8 << 20}\n" in lab.b.run("iscsi-readcapacity16", "-i",
                                                 me, url)
    out = lab.b.run("iscsi-perf", "-i", me, "-t", "1", url)
    assert int(re.findall(r"iops average (\d+)", out)[-1]) > 0, out

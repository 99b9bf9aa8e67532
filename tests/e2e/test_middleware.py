# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What programs are built on: UCX, libfabric, MPI; and fio, a storage tool.
Debian's, unmodified."""
import os
import re

import pytest

from cm import run_cm_pair
from hosts import wait_for

HERE = os.path.dirname(__file__)


def tcp_pair(labs, server, client, env):
    """Both programs, which meet over TCP at PORT; the client's output."""
    lab = labs(1500)
    port = str(lab.next_port())
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
    """The data is looked at (-c)."""
    cmd = f"fi_pingpong -p {provider} -e {endpoint} -c"
    out = tcp_pair(labs, cmd + " -B PORT", cmd + " -P PORT ADDR", {})
    assert re.search(r"^1k +10 +=10 ", out, re.M), out


AGENT = """#!/bin/sh
# HOST COMMAND...: the other host has a name of its own, as real ones have
shift
unset LD_PRELOAD
exec ip netns exec {netns} unshare --uts sh -c 'hostname beta; exec "$@"' - \\
	{uroce} run --run-dir {run_dir} -- sh -c "$*"
"""


@pytest.mark.parametrize("tls", ["rc", "ud"])
def test_mpi(labs, tls, tmp_path):
    """Two ranks on each of two hosts, and nothing but the device between."""
    lab = labs(1500)
    agent = tmp_path / "agent"
    agent.write_text(AGENT.format(netns=lab.b.name, uroce=lab.bin("uroce"),
                                  run_dir=lab.b.run_dir))
    agent.chmod(0o755)
    out = lab.a.run(
        "mpirun", "--allow-run-as-root", "--mca", "plm_rsh_agent", str(agent),
        "--host", f"{lab.a.addr4}:2,{lab.b.addr4}:2", "-np", "4",
        "--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "btl", "self",
        "-x", f"UCX_TLS={tls},self", "-x", "UCX_NET_DEVICES=uroce0:1",
        "/usr/bin/python3", os.path.join(HERE, "mpi_ring.py"))
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

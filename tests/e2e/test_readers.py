# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Readers that the front-end does not reach: files of counters below the run
directory, node-exporter, and static programs under `uroce run --mount`."""
import json
import os
import re
import shutil
import subprocess
import time

import pytest

from hosts import sh, wait_for
from pairs import run_pair, start_pair
from test_cli import NOBODY, uroce
from test_faults import wait_traffic


def stat(host):
    return json.loads(uroce(host, "stat", "--json"))[0]["counters"]


def port(host):
    return f"{host.run_dir}/sys/class/infiniband/uroce0/ports/1"


def files(host):
    """As a plain cat reads them."""
    out = sh("sh", "-c", f"cd {port(host)}/hw_counters && grep -H . *").stdout
    return {k: int(v) for k, v in (row.split(":") for row in out.splitlines())
            if k != "lifespan"}


def said(host):
    """The same of the device itself."""
    return {k: v for k, v in stat(host).items()
            if k not in ("port_xmit_data", "port_rcv_data")}


def agree(host):
    wait_for("files that say what the device says",
             lambda: files(host) == said(host), limit=5)


def state(host):
    """When a file changed last, and how often the control thread, which has the
    timer, has waited."""
    d = f"{port(host)}/hw_counters"
    text = open(f"/proc/{host.device.pid}/status").read()
    return (max(os.stat(f"{d}/{n}").st_mtime_ns for n in os.listdir(d)),
            re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", text)[1])


def at_rest(host):
    """Wait until nothing has happened for more than three intervals."""
    def rests():
        before = state(host)
        time.sleep(0.7)
        return before == state(host) and before
    return wait_for("rest", rests)


def test_cat(lab):
    """After traffic, after a pause, and while it goes on."""
    lab.serve()
    for _ in range(2):
        before = files(lab.a)["sent_pkts"]
        run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "50"])
        agree(lab.a)
        agree(lab.b)
        assert files(lab.a)["sent_pkts"] > before
        data = int(open(f"{port(lab.a)}/counters/port_xmit_data").read())
        assert data == stat(lab.a)["port_xmit_data"]
        at_rest(lab.a)  # the next one is noticed all the same
    s, c = start_pair(lab.a, lab.b, ["ib_write_bw", "-D", "30", "-F"], flag="-x")
    wait_traffic(lab)
    seen = [files(lab.b)["sent_pkts"]]
    for _ in range(3):
        seen.append(wait_for("a new number", lambda: (lambda n: n != seen[-1] and n)(
            files(lab.b)["sent_pkts"]), limit=5))
    assert seen == sorted(seen)
    c.kill()
    s.kill()


@pytest.mark.parametrize("place", ["apart", "process"])
def test_within_an_engine(lab, monkeypatch, place):
    """What goes through an engine, without packets, is counted, too; and a device's new
    name."""
    monkeypatch.setenv("UROCE_ENGINE", place)
    lab.a.serve("--netdev", "eth0")
    lab.a.run(lab.bin("verbs_corners"), "resize_cq")
    agree(lab.a)
    assert files(lab.a)["loop_msgs"]
    lab.a.run("rdma", "dev", "set", "uroce0", "name", "card0")
    new = f"{lab.a.run_dir}/sys/class/infiniband/card0/ports/1/hw_counters/loop_msgs"
    assert int(open(new).read()) == stat(lab.a)["loop_msgs"]


def test_idle_writes_nothing(lab):
    """The timer ends while nothing moves: with it there would be no such rest."""
    lab.serve()
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "50"])
    agree(lab.a)
    at_rest(lab.a)


def test_node_exporter(lab):
    """Its infiniband collector, with --path.sysfs below the run directory."""
    exporter = shutil.which("prometheus-node-exporter")
    if not exporter:
        pytest.skip("prometheus-node-exporter is not installed")
    lab.serve()
    p = lab.a.bare(exporter, f"--path.sysfs={lab.a.run_dir}/sys",
                   "--collector.disable-defaults", "--collector.infiniband",
                   "--web.listen-address=127.0.0.1:9100")
    wait_for("node-exporter", lambda: p.listens(9100) or not p.running())
    assert p.running(), p.report()

    def metrics():
        q = lab.a.bare("/usr/bin/python3", "-c", "import urllib.request as u; print(u.urlopen("
                       "'http://127.0.0.1:9100/metrics').read().decode())")
        assert q.wait() == 0, q.report()
        return {k: float(v) for k, v in re.findall(
            r'^node_infiniband_(\w+)\{device="uroce0",port="1"\} (\S+)$', q.text(), re.M)}
    first = metrics()
    assert first["state_id"] == 4 and first["physical_state_id"] == 5
    assert first["rate_bytes_per_second"] > 0
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "50"])

    def follows():
        now, ours = metrics(), stat(lab.a)
        return now["port_data_transmitted_bytes_total"] == 4 * ours["port_xmit_data"] and \
            now["port_packets_received_total"] == ours["rcvd_pkts"]
    wait_for("what the device says", follows, limit=5)
    assert metrics()["port_data_transmitted_bytes_total"] > \
        first["port_data_transmitted_bytes_total"]


CAT = r"""
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(int n, char **v)
{
	char buf[4096];
	for (int i = 1; i < n; i++) {
		int fd = open(v[i], O_RDONLY);
		ssize_t len = fd < 0 ? -1 : read(fd, buf, sizeof(buf));
		if (len < 0) {
			perror(v[i]);
			return 1;
		}
		if (write(1, buf, len) != len)
			return 1;
	}
	return 0;
}
"""

SYS = "/sys/class/infiniband/uroce0/"


@pytest.fixture(scope="module")
def static_cat(tmp_path_factory):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    d = tmp_path_factory.mktemp("static")
    for parent in d, d.parent, d.parent.parent:
        os.chmod(parent, 0o755)
    (d / "cat.c").write_text(CAT)
    subprocess.run(["cc", "-static", "-o", d / "cat", d / "cat.c"], check=True)
    return str(d / "cat")


def run(host, *cmd, options=("--mount",), wrap=()):
    p = host.bare(*wrap, host.lab.bin("uroce"), "run", "--run-dir", host.run_dir, *options,
                  "--", *cmd)
    return p.wait(), p.text()


def test_static_program(lab, static_cat):
    lab.serve()
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "50"])
    agree(lab.a)
    status, out = run(lab.a, static_cat, SYS + "node_type", options=())
    assert status and "No such file" in out, out
    assert run(lab.a, static_cat, SYS + "node_type", SYS + "ports/1/counters/port_xmit_data",
               "/sys/class/infiniband_verbs/abi_version") == (
        0, f"1: CA\n{stat(lab.a)['port_xmit_data']}\n6\n")
    # The rest of the host's classes are there, and so are their links.
    assert run(lab.a, static_cat, "/sys/class/net/eth0/mtu") == (0, "1500\n")
    # Others see none of it, and dynamic programs see what they saw.
    assert not os.path.exists(SYS)
    status, out = run(lab.a, "ibv_devices")
    assert status == 0 and "uroce0" in out, out


def test_another_user(lab, static_cat, user_namespaces):
    """By a user namespace, in which he is who he was."""
    if os.stat(lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    lab.a.serve("--netdev", "eth0")
    os.chmod(lab.a.run_dir, 0o755)
    assert run(lab.a, static_cat, SYS + "node_type", wrap=NOBODY) == (0, "1: CA\n")
    assert run(lab.a, "id", "-u", wrap=NOBODY) == (0, "65534\n")
    # Programs with the front-end have the device, their memory included.
    status, out = run(lab.a, "sh", "-c", "ibv_rc_pingpong -d uroce0 -g 0 -n 10 & "
                      "until ibv_rc_pingpong -d uroce0 -g 0 -n 10 localhost; do sleep 0.1; done; "
                      "wait", wrap=NOBODY)
    assert status == 0 and "10 iters" in out, out


def test_no_namespace(lab, user_namespaces):
    """Where it cannot be had, a sentence and no program."""
    lab.a.serve("--netdev", "eth0")
    os.chmod(lab.a.run_dir, 0o755)
    limit = "/proc/sys/user/max_user_namespaces"
    status, out = run(lab.a, "true", wrap=("unshare", "-Ur", "sh", "-c",
                                           f"echo 0 > {limit}; exec setpriv "
                                           "--bounding-set=-sys_admin --inh-caps=-sys_admin "
                                           '"$@"', "sh"))
    assert status == 125, (status, out)
    assert "--mount needs a mount namespace" in out, out

# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""uroce's commands, and ten prepared failures that it must name."""
import json
import os
import re
import shutil
import subprocess

import pytest

from hosts import wait_for
from pairs import run_pair, start_pair

FILTER = """
table inet f {{
	chain c {{
		type filter hook {hook} priority 0;
		udp dport 4791 drop
	}}
}}
"""


def uroce(host, *args, status=0, run_dir=None, wrap=(), env=None):
    cmd, rest = args[0], args[1:]
    p = host.bare(*wrap, host.lab.bin("uroce"), cmd, "--run-dir",
                  run_dir or host.run_dir, *rest,
                  env={**os.environ, **(env or {})})
    assert p.wait(30) == status, p.report()
    return p.text()


NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def test_shows_programs(lab):
    lab.serve()
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000"])
    wait_for("both in RTS", lambda: "RTS" in uroce(lab.a, "res", "qp"))
    qp = json.loads(uroce(lab.a, "res", "--json", "qp"))
    assert len(qp) == 1 and qp[0]["comm"] == "ibv_rc_pingpong"
    assert qp[0]["type"] == "RC"
    assert "uroce0: qp 1 cq 1 mr 1 " in uroce(lab.a, "res")
    assert "ibv_rc_pingpong" in uroce(lab.a, "res", "session")
    uroce(lab.a, "res", "what", status=2)
    top = json.loads(uroce(lab.a, "top", "--json", "0.3", "1"))
    assert top[0]["device"] == "uroce0" and top[0]["tx pkt/s"] > 0
    assert "ibv_rc_pingpong" in uroce(lab.a, "top", "0.1", "2")


def test_metrics(lab):
    lab.serve()
    text = uroce(lab.a, "metrics")
    assert "\nuroce_up 1\n" in text
    assert 'uroce_port_active{device="uroce0",netdev="eth0"} 1\n' in text
    line = re.compile(r'(# (HELP|TYPE) uroce_\w+ .+|'
                      r'uroce_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? \d+)')
    for row in text.splitlines():
        assert line.fullmatch(row), row
    assert "\nuroce_up 0" in uroce(lab.a, "metrics", status=1,
                                   run_dir=lab.tmp + "/none")


def test_doctor_well(lab):
    lab.serve()
    text = uroce(lab.a, "doctor", "/bin/ls")
    assert "problem" not in text
    assert "uroce0 on eth0, MTU 1024" in text


def test_doctor_not_running(lab):
    text = uroce(lab.a, "doctor", "--netdev", "eth0")
    assert "no device is running" in text and "uroce run" in text
    assert "no device at" in uroce(lab.a, "link", status=1)


def test_doctor_run_dir(lab):
    os.mkdir(lab.tmp + "/closed", 0o700)
    text = uroce(lab.a, "doctor", run_dir=lab.tmp + "/closed", status=1,
                 wrap=NOBODY)
    assert re.search(r"problem +run-dir .*Permission denied", text), text


def test_doctor_libibverbs(lab):
    if not shutil.which("cc"):
        pytest.skip("no compiler")
    lib = lab.tmp + "/lib"
    os.mkdir(lib)
    subprocess.run(["cc", "-shared", "-o", lib + "/libibverbs.so.1", "-x",
                    "c", "-"], check=True, text=True,
                   input="void verbs_register_driver_78(void);"
                         "void verbs_register_driver_78(void) {}")
    text = uroce(lab.a, "doctor", status=1, env={"LD_LIBRARY_PATH": lib})
    assert "no provider for this libibverbs (private ABI 78)" in text, text


def test_doctor_static(lab):
    if not shutil.which("cc"):
        pytest.skip("no compiler")
    subprocess.run(["cc", "-static", "-o", lab.tmp + "/still", "-x", "c", "-"],
                   check=True, text=True, input="int main(void) { return 0; }")
    text = uroce(lab.a, "doctor", lab.tmp + "/still", status=1)
    assert "statically linked" in text, text


def test_doctor_no_address(lab):
    lab.a.ip("link", "add", "bare0", "type", "veth", "peer", "name", "bare0p")
    lab.a.ip("link", "set", "bare0p", "up")
    assert "bare0 is down" in uroce(lab.a, "doctor", "--netdev", "bare0",
                                    status=1)
    lab.a.ip("link", "set", "bare0", "addrgenmode", "none", "up")
    assert "bare0 has no address" in uroce(lab.a, "doctor", "--netdev",
                                           "bare0", status=1)
    assert "no interface bare1" in uroce(lab.a, "doctor", "--netdev", "bare1",
                                         status=1)


def test_doctor_twin(lab):
    """Another device has the addresses already."""
    lab.a.serve("--netdev", "eth0")
    text = uroce(lab.a, "doctor", "--netdev", "eth0", status=1,
                 run_dir=lab.tmp + "/other")
    assert re.search(r"UDP port 4791 of eth0 is taken by uroced \(process",
                     text), text


def test_doctor_memlock(lab):
    text = uroce(lab.a, "doctor", status=1, run_dir=lab.tmp + "/none",
                 wrap=("prlimit", "--memlock=16384:16384", *NOBODY))
    assert re.search(r"problem +memlock", text) and "ulimit -l" in text, text


def test_doctor_small_mtu(lab):
    lab.a.ip("link", "set", "eth0", "mtu", "1280")
    lab.a.ip("-6", "addr", "flush", "dev", "eth0")
    lab.a.ip("link", "set", "eth0", "mtu", "600")
    lab.a.serve("--netdev", "eth0")
    text = uroce(lab.a, "doctor", status=1)
    assert "carries only packets of 512" in text, text


def test_ping(lab):
    lab.serve()
    for address in lab.b.addr4, lab.b.addr6, lab.a.addr4:
        assert f"{address}: answer in" in uroce(lab.a, "ping", address, "1")
    assert len(json.loads(uroce(lab.a, "ping", "--json", lab.b.addr4,
                                "2"))) == 2


def test_ping_filtered(lab):
    lab.serve()
    lab.b.nft(FILTER.format(hook="input"))
    text = uroce(lab.a, "ping", lab.b.addr4, "1", status=1)
    assert "answers, its UDP port 4791 does not: filtered" in text, text
    lab.a.nft(FILTER.format(hook="output"))
    text = uroce(lab.a, "ping", lab.b.addr4, "1", status=1)
    assert "this machine's firewall" in text, text


def test_ping_nobody_there(lab):
    lab.a.serve("--netdev", "eth0")
    text = uroce(lab.a, "ping", lab.b.addr4, "1", status=1)
    assert "nothing has its UDP port 4791" in text, text
    text = uroce(lab.a, "ping", "10.77.0.99", "1", status=1)
    assert "10.77.0.99" in text and "down" in text, text
    text = uroce(lab.a, "ping", "192.0.2.1", "1", status=1)
    assert "no route to 192.0.2.1" in text, text


def test_ping_wrong_gid(lab):
    """The route to the peer begins at an address that is no GID."""
    for host, n in (lab.a, 1), (lab.b, 2):
        host.ip("link", "add", "other0", "type", "veth", "peer", "name",
                "other0p")
        host.ip("link", "set", "other0", "up")
        host.ip("addr", "add", f"10.79.{n}.1/24", "dev", "other0")
    lab.serve()
    lab.a.ip("route", "add", "10.79.2.0/24", "via", lab.b.addr4, "src",
             "10.79.1.1")
    text = uroce(lab.a, "ping", "10.79.2.1", "1", status=1)
    assert "is no GID of the device" in text, text


def test_ping_small_mtu(lab):
    """A path that carries less than the two ends believe."""
    lab.serve()
    lab.b.ip("-6", "addr", "flush", "dev", "eth0")
    lab.b.ip("link", "set", "eth0", "mtu", "900")
    text = uroce(lab.a, "ping", lab.b.addr4, "1", status=1)
    assert "those of 1024 bytes do not" in text, text


def dumping(host, *args):
    """Start a dump and wait until it has its socket."""
    p = host.bare(host.lab.bin("uroce"), "dump", *args)
    wait_for("the packet socket", lambda: "eth0" in open(
        f"/proc/{p.pid}/net/dev").read() and len(open(
            f"/proc/{p.pid}/net/packet").readlines()) > 1)
    return p


def test_dump(lab):
    """Bursts are shown as the packets that they are, with good checksums."""
    lab.serve()
    p = dumping(lab.b, "--netdev", "eth0", "--json", "200")
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-s", "20000", "-n", "10"])
    assert p.wait(20) == 0, p.report()
    rows = [json.loads(r) for r in p.text().splitlines()]
    assert len(rows) == 200
    assert {r["direction"] for r in rows} == {"in", "out"}
    assert {r["verdict"] for r in rows} == {rows[0]["verdict"]}
    text = p.text()
    assert "RC SEND_FIRST" in text and "RC SEND_MIDDLE" in text
    assert "10.77.0.1 > 10.77.0.2" in text


def test_dump_pcapng(lab):
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    lab.serve()
    name = lab.tmp + "/x.pcapng"
    p = dumping(lab.a, "--netdev", "eth0", "50", name)
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-s", "20000", "-n", "10"])
    assert p.wait(20) == 0, p.report()
    out = subprocess.run(["tshark", "-r", name, "-T", "fields", "-e",
                          "_ws.col.Protocol", "-e", "_ws.malformed"],
                         text=True, check=True, capture_output=True).stdout
    assert out.split() == ["RRoCE"] * 50, out

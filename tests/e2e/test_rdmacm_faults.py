# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""rdma_cm with MADs lost, peers that die, and floods."""
import os
import signal

import pytest

from cm import cm_state, listens, run_cm_pair, start_server
from hosts import wait_for
from test_engine_process import processes
from test_faults import dropped, find, wait_traffic

# A CM datagram is UDP with 280 bytes of payload and ICRC, and nearly nothing
# else is: the data of these programs is smaller or larger.
DROP_MADS = """
table inet bad {
	chain in {
		type filter hook input priority 0;
		udp dport 4791 udp length 288 numgen random mod 100 < 10 counter drop
	}
}
"""


def counter(host, name):
    return cm_state(host)["cm"][name]


@pytest.fixture
def served(lab):
    lab.serve()
    return lab


def test_lost_mads(served):
    """10 % of the MADs in each direction: all 100 connections come and go."""
    a, b = served.a, served.b
    for host in a, b:
        host.nft(DROP_MADS)
    port = served.next_port()
    run_cm_pair(a, b, ["cmtime", "-p", port, "-c", 100],
                ["cmtime", "-p", port, "-c", 100, "-s", a.addr4], port,
                limit=120, persistent=True)
    assert dropped(served) > 10
    assert counter(b, "retransmitted") > 0


@pytest.mark.skipif("UROCE_FULL" not in os.environ,
                    reason="74 s of waiting for retries; with full")
def test_unreachable(served):
    """The host is there, its device is not: reported, after all retries."""
    a, b = served.a, served.b
    a.stop()
    c = b.start("ucmatose", "-s", a.addr4)
    # 16 requests, 4.6 s apart.
    assert c.wait(100) not in (0, None), c.report()
    assert "UNREACHABLE, error: -110" in c.text(), c.report()


@pytest.mark.parametrize("side", ["client", "server"])
def test_killed(served, side):
    """The program dies: the other one is told, the ids are gone."""
    a, b = served.a, served.b
    port = served.next_port()
    s = start_server(a, port, "rping", "-s", "-a", a.addr4, "-p", str(port),
                     "-v")
    c = b.start("rping", "-c", "-a", a.addr4, "-p", str(port), "-v", "-C",
                "100000000")
    wait_for("pings", lambda: "rdma-ping-5:" in c.text())
    victim, other = (c, s) if side == "client" else (s, c)
    os.kill(find(victim, "rping"), signal.SIGKILL)
    assert other.wait(20) is not None, other.report()
    # By a DREQ; the program may see its flushed queue pair first.
    assert counter(a if side == "client" else b, "rx_DREQ") == 1
    for host in a, b:
        wait_for("no ids", lambda: not cm_state(host)["cm_ids"])
        assert host.device.running(), host.device.report()


def test_device_killed(served, monkeypatch):
    """The server's device dies without a word, and its engine with it: the client runs out of
    retries."""
    monkeypatch.setenv("UROCE_ENGINE", "device")
    a, b = served.a, served.b
    port = served.next_port()
    cmd = ["ib_write_bw", "-R", "-F", "-D", "60", "-p", str(port)]
    start_server(a, port, *cmd)
    c = b.start(*cmd, a.addr4)
    wait_traffic(served)
    engines = processes(a)
    assert engines
    a.stop(signal.SIGKILL)
    for pid in engines:
        os.kill(pid, signal.SIGKILL)
    assert c.wait(50) not in (0, None), c.report()
    assert b.device.running(), b.device.report()
    # And again, with a new device.
    a.serve("--netdev", "eth0")
    run_cm_pair(a, b, ["rping", "-s", "-a", a.addr4, "-p", port, "-C", 5],
                ["rping", "-c", "-a", a.addr4, "-p", port, "-C", 5], port)


def test_device_stopped(served):
    """The server's device is told to stop: it says goodbye."""
    a, b = served.a, served.b
    port = served.next_port()
    start_server(a, port, "rping", "-s", "-a", a.addr4, "-p", str(port))
    c = b.start("rping", "-c", "-a", a.addr4, "-p", str(port), "-v", "-C",
                "100000000")
    wait_for("pings", lambda: "rdma-ping-5:" in c.text())
    a.stop()
    assert c.wait(30) is not None, c.report()
    assert "DISCONNECT EVENT" in c.text(), c.report()


def test_two_devices(lab):
    """One daemon, two netdevs: a wildcard listener hears both, and the
    devices reach each other."""
    a, b = lab.a, lab.b
    lab.second_cable()
    for host in a, b:
        host.serve("--netdev", "eth0", "--netdev", "eth1")
    port = lab.next_port()
    ping = ["rping", "-c", "-p", port, "-C", 5, "-v", "-a"]
    for listen, client, to in (("0.0.0.0", b, "10.78.0.1"),
                               ("0.0.0.0", b, a.addr4),
                               ("0.0.0.0", a, "10.78.0.1"),
                               ("10.78.0.1", b, "10.78.0.1")):
        run_cm_pair(a, client, ["rping", "-s", "-a", listen, "-p", port, "-C",
                                5, "-v"], [*ping, to], port)
    run_cm_pair(a, a, ["rping", "-s", "-a", "10.78.0.1", "-p", port, "-C", 5],
                [*ping, "10.78.0.1", "-I", a.addr4], port)


def rss_kib(host):
    pid = find(host.device, "uroced")
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def test_flood(served):
    """Garbage and requests that nobody follows up: what they can take is
    bounded, and other listeners do not notice."""
    a, b = served.a, served.b
    flooded, port = served.next_port(), served.next_port()
    s = start_server(a, flooded, "rping", "-s", "-a", a.addr4, "-p",
                     str(flooded))
    # A server that looks at no request.
    os.kill(find(s, "rping"), signal.SIGSTOP)

    def flood(count):
        f = b.bare("python3", os.path.join(os.path.dirname(__file__),
                                           "cm_flood.py"),
                   b.addr4, a.addr4, str(flooded), str(count))
        assert f.wait(60) == 0, f.report()
    flood(20000)
    before = rss_kib(a)
    state = cm_state(a)["cm"]
    assert state["rx_REQ"] > 2000 and state["rx_malformed"] > 500, state
    assert state["dropped_backlog"] > 500, state
    assert 0 < state["pending"] <= 1100 and state["ids"] <= 1200, state
    flood(40000)
    assert rss_kib(a) < before + 2048
    assert cm_state(a)["cm"]["ids"] <= 1200
    start_server(a, port, "rping", "-s", "-P", "-a", a.addr4, "-p", str(port))
    for _ in range(3):
        b.run("rping", "-c", "-a", a.addr4, "-p", str(port), "-v", "-C", "5")
    assert listens(a, flooded)

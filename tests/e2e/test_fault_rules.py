# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce fault: each rule is seen by a program that then copes, or fails as the
rule says, and the rule has counted it."""
import json
import os
import re
import subprocess

import pytest

from cm import run_cm_pair, start_server
from hosts import wait_for
from pairs import run_pair, start_pair
from test_wire import counters

PINGPONG = ["ibv_rc_pingpong", "-c", "-n", "1000"]


def uroce(host, *words, status=0):
    p = host.bare(host.lab.bin("uroce"), "fault", "--run-dir", host.run_dir,
                  *words)
    assert p.wait(20) == status, p.report()
    return p.text()


def shown(host):
    return {r["id"]: r for r in json.loads(uroce(host, "--json"))}


@pytest.fixture
def hosts_(labs):
    """Both hosts, with a way to add a rule; no rule is left behind."""
    lab = labs(1500)

    def add(host, *words):
        return int(uroce(host, "add", *words) or 0)
    yield lab.a, lab.b, add
    for host in lab.a, lab.b:
        uroce(host, "del", "all")
        assert not shown(host)


# What loses packets stops in time: who has all answers leaves, and where the
# last acknowledgement that it sent is lost nobody answers its peer again.
LOSSY = ["drop prob=0.01 seed=1 count=6", "drop dir=in prob=0.01 seed=2 count=6",
         "drop op=ack nth=7 count=20", "dup nth=5", "dup dir=in nth=5",
         "delay=300 nth=50", "reorder nth=9", "corrupt nth=40 count=10",
         "corrupt dir=in nth=40 count=10", "drop op=send prob=0.02 count=3",
         "delay=300 dir=in nth=50", "reorder dir=in nth=9",
         "stall=30 dir=in after=50 op=send", "slow=200 dir=in"]


@pytest.mark.parametrize("where", ["two", "one"])
@pytest.mark.parametrize("rule", LOSSY)
def test_coped_with(hosts_, rule, where):
    """The data is right, and the rule has struck: between hosts, and inside a
    device, where there would be no packets without it."""
    a, b, add = hosts_
    number = add(a, *rule.split())
    before = counters(b), counters(a)
    run_pair(b if where == "two" else a, a, PINGPONG)
    got = shown(a)[number]
    assert got["rule"] == rule
    assert 0 < got["done"] <= got["matched"]
    assert got["done"] > 1
    if rule.startswith("drop op=send"):
        # Each program counts for itself.
        assert got["done"] == (6 if where == "one" else 3)
    if rule.startswith("corrupt"):
        receiver = b if where == "two" and "dir=in" not in rule else a
        bad = counters(receiver)["rx_icrc_encapsulated"] - \
            before[receiver is a]["rx_icrc_encapsulated"]
        assert bad == got["done"]


def test_ends_before_its_answer_left(hosts_):
    """Each acknowledgement is late. The program whose last one is so has ended by then: it
    leaves all the same."""
    a, b, add = hosts_
    add(a, "delay=20000", "op=ack")
    run_pair(b, a, ["ibv_rc_pingpong", "-c", "-n", "20"])


def fails(server, client, cmd=PINGPONG):
    s, c = start_pair(server, client, cmd)
    assert c.wait(60), c.report()
    text = c.report()
    s.kill()
    return text


STATUSES = {"loc_prot_err": "local protection error",
            "rem_op_err": "remote operation error",
            "retry_exc_err": "transport retry counter exceeded",
            "rnr_retry_exc_err": "RNR retry counter exceeded"}


@pytest.mark.parametrize("status", STATUSES)
def test_completion_status(hosts_, status):
    a, b, add = hosts_
    number = add(a, f"wc={status}", "op=send", "after=100", "count=1")
    assert f"Failed status {STATUSES[status]}" in fails(b, a)
    assert shown(a)[number]["done"] == 1


@pytest.mark.parametrize("nak,text", [
    ("inv_req", "remote invalid request error"),
    ("rem_access", "remote access error"),
    ("rem_op", "remote operation error")])
@pytest.mark.parametrize("where", ["two", "one"])
def test_nak(hosts_, nak, text, where):
    a, b, add = hosts_
    add(a, f"nak={nak}", "after=50", "count=1")
    assert f"Failed status {text}" in fails(a, b if where == "two" else a)


def test_rnr(hosts_):
    a, b, add = hosts_
    number = add(a, "rnr", "nth=100")
    before = counters(b)["rcvd_rnr_err"]
    run_pair(a, b, PINGPONG)
    done = shown(a)[number]["done"]
    assert done > 0
    # A NAK of what is told again meanwhile is none that the peer waits for.
    assert done / 2 < counters(b)["rcvd_rnr_err"] - before <= done


def test_one_queue_pair(hosts_):
    """A rule for a queue pair that there is not strikes nobody."""
    a, b, add = hosts_
    number = add(a, "drop", "qp=2")
    run_pair(b, a, PINGPONG)
    assert shown(a)[number] | {"matched": 0, "done": 0} == shown(a)[number]


def test_peer(hosts_):
    a, b, add = hosts_
    number = add(a, "drop", f"peer={b.addr4}", "nth=100")
    other = add(a, "drop", "peer=10.1.2.3")
    run_pair(b, a, PINGPONG)
    assert shown(a)[number]["done"] > 0
    assert not shown(a)[other]["matched"]


def test_slow(hosts_):
    """Twice as fast a link, twice as much."""
    a, b, add = hosts_
    got = []
    for mbps in 10, 20:
        number = add(a, f"slow={mbps}")
        _, out = run_pair(b, a, ["ib_write_bw", "-s", "65536", "-n", "16"],
                          flag="-x")
        got.append(float(re.findall(r"^ *65536 +\d+ +[\d.]+ +([\d.]+)", out,
                                    re.M)[0]) * 8 * 1.048576)
        uroce(a, "del", str(number))
    assert got[0] <= 10 and got[1] <= 20
    assert got[1] > 1.4 * got[0]


def test_registration(hosts_):
    a, _, add = hosts_
    number = add(a, "reg-enomem", "count=1")
    p = a.start("ibv_rc_pingpong", "-g", "0")
    assert p.wait(20) not in (None, 0), p.report()
    assert "Couldn't register MR" in p.report()
    assert shown(a)[number]["done"] == 1


@pytest.mark.parametrize("reason,said", [("", 28), ("=4", 4)])
def test_cm_reject(hosts_, reason, said):
    """The client hears the reason, the server nothing; the next one gets in."""
    a, b, add = hosts_
    port = str(a.lab.next_port())
    number = add(b, f"cm-reject{reason}", "count=1")
    s = start_server(b, port, "rping", "-s", "-P", "-v", "-a", b.addr4, "-p",
                     port)
    c = a.start("rping", "-c", "-C", "1", "-a", b.addr4, "-p", port)
    assert c.wait(20), c.report()
    assert "REJECTED" in c.report() and f"error {said}" in c.report(), \
        c.report()
    assert shown(b)[number]["done"] == 1
    c = a.start("rping", "-c", "-C", "1", "-a", b.addr4, "-p", port)
    assert c.wait(20) == 0, c.report() + s.report()
    s.kill()


@pytest.mark.parametrize("rule", ["cm-drop count=1", "cm-drop dir=in count=1"])
def test_cm_drop(hosts_, rule):
    """The lost message is sent again."""
    a, b, add = hosts_
    port = str(a.lab.next_port())
    number = add(b, *rule.split())
    run_cm_pair(b, a, ["rping", "-s", "-C", "3", "-a", b.addr4, "-p", port],
                ["rping", "-c", "-C", "3", "-a", b.addr4, "-p", port], port)
    assert shown(b)[number]["done"] == 1


def test_overrun(hosts_):
    a, b, add = hosts_
    number = add(b, "cq-overrun", "after=100", "count=1")
    s, c = start_pair(b, a, ["ibv_rc_pingpong", "-n", "1000000"])

    def state():
        p = b.bare(b.lab.bin("uroce"), "res", "qp", "--run-dir", b.run_dir)
        assert p.wait(20) == 0, p.report()
        return "ERR" in p.text()
    wait_for("the queue pair to fail", state)
    assert shown(b)[number]["done"] == 1
    for p in s, c:
        p.kill()


def test_events(lab):
    """What a program hears of its device."""
    lab.a.serve("--netdev", "eth0")
    a = lab.a
    watch = a.start("stdbuf", "-oL", "ibv_asyncwatch", "-d", "uroce0")
    wait_for("ibv_asyncwatch", lambda: "async" in watch.text())
    uroce(a, "add", "gid-change")
    wait_for("it", lambda: re.search("GID_CHANGE", watch.text()))
    uroce(a, "add", "port-error")
    wait_for("it", lambda: re.search("PORT_ACTIVE", watch.text()))
    assert "PORT_ACTIVE" in a.run("ibv_devinfo")
    assert not shown(a)
    number = uroce(a, "add", "link-down").strip()
    wait_for("it", lambda: watch.text().count("PORT_ERR") == 2)
    assert "PORT_DOWN" in a.run("ibv_devinfo")
    uroce(a, "del", number)
    wait_for("it", lambda: watch.text().count("PORT_ACTIVE") == 2)
    assert "PORT_ACTIVE" in a.run("ibv_devinfo")
    uroce(a, "add", "link-down=300")
    wait_for("the end", lambda: watch.text().count("PORT_ACTIVE") == 3)
    assert not shown(a)
    uroce(a, "add", "device-fatal")
    wait_for("it", lambda: re.search("DEVICE_FATAL", watch.text()))
    watch.kill()
    assert "PORT_ACTIVE" in a.run("ibv_devinfo")


FAULT_EXAMPLES = os.path.join(os.path.dirname(__file__), "../../doc/examples/fault")


def test_header(labs):
    """uroce-fault.h: what its example counts on."""
    a = labs(1500).a
    p = a.start(a.lab.bin("fault_registers"),
                env={**os.environ, "UROCE_COMMAND": a.lab.bin("uroce")})
    assert p.wait(20) == 0 and "it survives" in p.text(), p.report()
    assert not shown(a)


def test_header_in_cxx(tmp_path):
    """As C++, and as the oldest C that programs are still in."""
    for compiler in ["c++", "-std=c++11"], ["cc", "-std=gnu99"]:
        source = tmp_path / ("x.cc" if "++" in compiler[0] else "x.c")
        source.write_text('#include "uroce-fault.h"\n'
                          "int main(void) { return (int)uroce_fault_add(0); }\n")
        subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", "-I",
                        os.path.join(FAULT_EXAMPLES, "../../../cli"), "-c", "-o",
                        "/dev/null", str(source)], check=True)


def test_fixtures(labs):
    """The pytest example for users passes and leaves no rule behind."""
    a = labs(1500).a
    p = a.start("/usr/bin/python3", "-m", "pytest", "-q", "-p",
                "no:cacheprovider", FAULT_EXAMPLES,
                env={**os.environ, "UROCE_COMMAND": a.lab.bin("uroce")})
    assert p.wait(60) == 0 and "5 passed" in p.text(), p.report()
    assert not shown(a)


def test_who_may(lab):
    lab.a.serve("--netdev", "eth0")
    a = lab.a
    p = subprocess.run(
        ["setpriv", "--reuid=65534", "--clear-groups", lab.bin("uroce"),
         "fault", "--run-dir", a.run_dir, "add", "drop"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert p.returncode and "only the user" in p.stdout
    assert not shown(a)


def test_said_at_the_start(lab):
    """uroced --fault, and uroce run --fault."""
    a = lab.a
    a.serve("--netdev", "eth0", "--fault", "drop nth=1000000",
            "--fault", "dev=uroce0 dup op=read")
    assert [r["rule"] for r in shown(a).values()] == ["drop nth=1000000",
                                                     "dup op=read"]
    a.stop()
    p = a.bare(lab.bin("uroced"), "--run-dir", a.run_dir, "--netdev", "eth0",
               "--fault", "drop prob=2")
    assert p.wait(20) and "'prob=2' is not from 0 to 1" in p.report()
    a.serve("--netdev", "eth0")
    run = [lab.bin("uroce"), "run", "--run-dir", a.run_dir]
    p = a.bare(*run, "--fault", "drop nth=9", "--", "ibv_devices")
    assert p.wait(20) == 0, p.report()
    assert [r["rule"] for r in shown(a).values()] == ["drop nth=9"]
    p = a.bare(*run, "--fault", "drip", "--", "ibv_devices")
    assert p.wait(20) and "'drip' is no action" in p.report()


@pytest.mark.parametrize("word,why", [
    ("drop prob=3", "'prob=3' is not from 0 to 1"),
    ("drip", "'drip' is no action"),
    ("dev=mlx5_0 drop", "no such device"),
    ("", "ACTION")])
def test_said(hosts_, word, why):
    a = hosts_[0]
    p = a.bare(a.lab.bin("uroce"), "fault", "--run-dir", a.run_dir, "add",
               *word.split())
    assert p.wait(20) in (1, 2), p.report()
    assert why in p.report()


def test_as_many_as_there_can_be(hosts_):
    a, _, add = hosts_
    for _ in range(64):
        add(a, "drop", "qp=2")
    p = a.bare(a.lab.bin("uroce"), "fault", "--run-dir", a.run_dir, "add",
               "drop")
    assert p.wait(20) == 1 and "as many rules" in p.report()
    assert len(shown(a)) == 64

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce's commands; doctor and ping are in test_doctor.py."""
import json
import os
import re
import shutil
import signal
import subprocess

import pytest

import rules
from hosts import TOP, wait_for
from pairs import run_pair, start_pair
from test_faults import find


NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def uroce(host, *args, status=0, run_dir=None, wrap=(), env=None):
    cmd, rest = args[0], args[1:]
    p = host.bare(*wrap, host.lab.bin("uroce"), cmd, "--run-dir",
                  run_dir or host.run_dir, *rest,
                  env={**os.environ, **(env or {})})
    assert p.wait(30) == status, p.report()
    return p.text()


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
    uroce(lab.a, "top", "-i", "0", status=2)
    out = uroce(lab.a, "top", "-i", "0.3", "-c", "1")
    row = [r for r in out.splitlines() if "ibv_rc_ping" in r][0].split()
    assert float(row[-3]) > 0 and float(row[-2]) > 0, out


def test_top_trouble(lab):
    """The first screen says what is wrong, and that nothing is."""
    lab.serve()

    def trouble(host):
        return " | ".join(json.loads(uroce(host, "top", "--json", "0.3", "1"))[0]["trouble"])

    assert "\nno trouble: " in uroce(lab.a, "top", "0.1", "1")
    server, client = start_pair(lab.a, lab.b, ["ib_write_bw", "-D", "100", "-F"], flag="-x")
    lab.a.nft(rules.drop(5))
    wait_for("losses there", lambda: "% of its packets are sent again | " in trouble(lab.b) and
             "lost on the way to its peers" in trouble(lab.b))
    wait_for("losses here", lambda: "lost on the way here" in trouble(lab.a))
    lab.a.nft(rules.arriving("more", "drop"))
    wait_for("the silent one", lambda: re.search(
        rf"1 queue pair without an answer, .* of ib_write_bw \(pid {client.pid}\) from "
        rf"{lab.a.addr4}: 'uroce ping {lab.a.addr4}'", trouble(lab.b)))
    assert client.wait(60)
    wait_for("the failure", lambda: re.search(
        rf"1 failed in 10 minutes \('uroce why'\), \d+ s ago ib_write_bw \(pid {client.pid}\): "
        r"WRITE .*: transport retry counter exceeded", uroce(lab.b, "top", "0.1", "1")))
    theirs = uroce(lab.b, "top", "--json", "0.1", "1", wrap=NOBODY)
    assert json.loads(theirs)[0]["trouble"] == []
    lab.a.ip("link", "set", "eth0", "down")
    wait_for("the port", lambda: "the port is DOWN: 'ip link show eth0'" in trouble(lab.a))
    assert json.loads(uroce(lab.a, "top", "--json", "0.1", "1"))[0]["state"] == "DOWN"


def test_res_text(lab):
    """Keys as programs print them, and a word where there is nothing."""
    lab.serve()
    for kind in "qp", "cq", "mr", "pd", "cm_id":
        assert uroce(lab.a, "res", kind) == f"{kind}: none\n"
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000"])
    wait_for("both in RTS", lambda: "RTS" in uroce(lab.a, "res", "qp"))
    mr, = json.loads(uroce(lab.a, "res", "--json", "mr"))
    assert f" key {mr['key']:#x} " in uroce(lab.a, "res", "mr") + " "


def test_run_says_netdev(lab):
    """Once, where it starts a device and nobody has named an interface."""
    def run(name, *options):
        p = lab.a.bare(lab.bin("uroce"), "run", "--run-dir", f"{lab.tmp}/{name}",
                       *options, "--", "true")
        assert p.wait() == 0, p.report()
        return p.text()
    assert "uroce0 is on lo, since no interface has a default route: it reaches " \
        "this host only" in run("first")
    assert run("first") == ""
    lab.a.ip("route", "add", "default", "via", lab.b.addr4)
    assert run("second") == "uroce: uroce0 is on eth0, which has the default route\n"


def test_others_objects(lab):
    """Another user sees that there is something, and not what: with a key, an
    address and a number he could write into that memory."""
    if os.stat(lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    lab.serve()
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000"])
    wait_for("both in RTS", lambda: "RTS" in uroce(lab.a, "res", "qp"))
    lab.a.start("rping", "-s", "-P", "-a", lab.a.addr4)
    wait_for("rping", lambda: "LISTEN" in uroce(lab.a, "res", "cm_id"))
    os.chmod(lab.a.run_dir, 0o755)

    def theirs(*args, **kw):
        return uroce(lab.a, *args, wrap=NOBODY, **kw)
    assert "uroce0: qp 1 cq 1 mr 1 " in theirs("res")
    for kind in "qp", "mr", "cq", "pd", "cm_id":
        n = uroce(lab.a, "res", kind).count("device uroce0")
        assert n
        assert theirs("res", kind) == f"{kind}: {n} of other users, not shown\n"
        all_of_it = json.loads(theirs("res", "--json", kind))
        assert len(all_of_it) == n
        for one in all_of_it:
            assert set(one) == {"device", "session", "hidden"}, one
            assert one["hidden"] is True
    assert "\nqp: 1 of other users, not shown\n" in theirs("stat", "qp")
    assert "RTS" not in theirs("stat", "qp", "-i", "0.1")
    assert theirs("cm").startswith("cm_id: 1 of other users, not shown\n")
    row = [r for r in theirs("top", "-i", "0.1", "-c", "1").splitlines()
           if "ibv_rc_ping" in r][0].split()
    assert row[-4:] == ["1", "-", "-", "-"]
    assert "uroce_qps 1\n" in theirs("metrics")
    # Not in one reading: the link-local address comes when the kernel has tried it.
    wait_for("the same link", lambda: theirs("link") == uroce(lab.a, "link"))


def rates(host, *args):
    return json.loads(uroce(host, "stat", "--json", "-i", "0.3", *args))


def test_stat_rates(lab):
    """Per second, of devices and of queue pairs; the same numbers in both."""
    lab.serve()
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000"])
    wait_for("both in RTS", lambda: "RTS" in uroce(lab.a, "res", "qp"))
    dev = rates(lab.a)[0]
    assert 0.2 < dev["seconds"] < 5
    assert dev["rates"]["sent_pkts"] > 0 and dev["rates"]["link_downed"] == 0
    qp, = rates(lab.a, "qp")
    assert qp["comm"] == "ibv_rc_pingpong" and qp["rates"]["sent_bytes"] > 0
    out = uroce(lab.a, "stat", "-i", "0.2", "-c", "2")
    assert len(re.findall(r"uroce0: netdev eth0, per second over 0\.\d\d s",
                          out)) == 2
    assert re.search(r" sent_pkts +\d+ [1-9]\d*\.\d$", out, re.M), out
    out = uroce(lab.a, "stat", "qp", "-i", "0.2", "uroce0")
    assert re.search(rf"^uroce0 +{qp['qpn']} RC +RTS +ibv_rc_pingpong +"
                     rf"{qp['pid']} +[1-9]", out, re.M), out
    uroce(lab.a, "stat", "qp", "eth7", status=1)


def counters(host, *what):
    return json.loads(uroce(host, "stat", "--json", *what))


@pytest.mark.parametrize("place", ["apart", "process"])
def test_stat_qp(lab, monkeypatch, place):
    """What a device has sent and received is what its queue pairs have."""
    monkeypatch.setenv("UROCE_ENGINE", place)
    lab.serve()

    def sums(host, name):
        return sum(q["counters"][name] for q in counters(host, "qp"))

    def agree(host, before=None):
        dev = counters(host)[0]["counters"]
        if before:
            dev = {n: dev[n] - before[n] for n in dev}
        qps = {n: sums(host, n) for n in ("sent_pkts", "rcvd_pkts",
                                          "sent_bytes", "loop_msgs")}
        return qps["sent_pkts"] and (
            qps["sent_pkts"], qps["rcvd_pkts"]) == (
                dev["sent_pkts"], dev["rcvd_pkts"]) and \
            abs(qps["sent_bytes"] - 4 * dev["port_xmit_data"]) <= \
            3 * dev["sent_pkts"]

    def signal_both(number):
        for p in s, c:
            os.kill(find(p, "ibv_rc_pingpong"), number)

    def wait_stopped(hosts, before=None):
        """An engine in a program may be stopped in the middle of a packet: again then."""
        def stopped():
            signal_both(signal.SIGSTOP)
            done = all(agree(host, before) for host in hosts)
            if not done:
                signal_both(signal.SIGCONT)
            return done
        wait_for("the counts to agree", stopped)
        assert not any(sums(host, "loop_msgs") for host in hosts)
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000",
                                     "-s", "5000"])
    wait_for("packets", lambda: sums(lab.a, "rcvd_pkts") > 1000)
    wait_stopped((lab.a, lab.b))
    for p in s, c:
        p.kill()
    # On one host.
    wait_for("their end", lambda: not counters(lab.a, "qp"))
    before = counters(lab.a)[0]["counters"]
    s, c = start_pair(lab.a, lab.a, ["ibv_rc_pingpong", "-n", "100000000"])
    wait_for("packets to each other", lambda: sums(lab.a, "rcvd_pkts") > 1000)
    wait_stopped((lab.a,), before)


def test_stat_qp_retries(lab):
    """A lossy cable is seen on the queue pair that suffers."""
    lab.serve()
    for host in lab.a, lab.b:
        host.nft(rules.drop(10))
    s, c = start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000",
                                     "-s", "20000"])
    for host in lab.a, lab.b:
        wait_for("retries", lambda: [
            q for q in counters(host, "qp")
            if q["counters"]["resent_pkts"] and q["counters"]["duplicates"]])


def exposition(text):
    """Read Prometheus' text form, version 0.0.4, by its rules: {family: (type,
    {labels: value})}."""
    assert text.endswith("\n")
    name, value = r"[a-zA-Z_:][a-zA-Z0-9_:]*", r"[-+]?(\d+(\.\d*)?(e[-+]?\d+)?)"
    label = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
    families, current, helped = {}, None, set()
    for row in text.splitlines():
        m = re.fullmatch(rf"# (HELP|TYPE) ({name}) (.*)", row)
        if m and m[1] == "HELP":
            assert m[2] not in helped and m[2] not in families, row
            helped.add(m[2])
            continue
        if m:
            assert m[2] not in families, row
            assert m[3] in ("counter", "gauge"), row
            assert m[3] != "counter" or m[2].endswith("_total"), row
            current = m[2]
            families[current] = (m[3], {})
            continue
        m = re.fullmatch(rf"({name})(?:\{{({label}(?:,{label})*)\}})? ({value})",
                         row)
        # Samples stand behind their TYPE, all of a family together.
        assert m and m[1] == current, row
        labels = tuple(tuple(x.split("=", 1)) for x in
                       re.findall(label, m[2] or ""))
        labels = tuple((k, json.loads(v)) for k, v in labels)
        assert labels not in families[current][1], row
        families[current][1][labels] = float(m[3])
    assert helped <= set(families)
    return families


# Members that uroce(1) promises, by what prints them.
DEVICE = "name netdev state netdev_mtu active_mtu node_guid speed_mbps gids " \
    "counters"
QP = "device pid comm qpn type state path_mtu counters dest_qpn dgid"
PROMISED = {
    "link": DEVICE, "stat": DEVICE, "stat -i 0.1": DEVICE + " seconds rates",
    "stat qp": QP, "stat -i 0.1 qp": QP + " seconds rates", "res qp": QP,
    "res": "device qp cq mr pd cm_id session",
    "res cq": "device pid comm handle entries",
    "res mr": "device pid comm handle key iova length access",
    "res pd": "device pid comm handle users",
    "res cm_id": "pid comm device port_space state src",
    "res session": "id pid uid comm file",
    "top -i 0.1 -c 1": "device,tx MB/s,rx MB/s,loop MB/s,tx pkt/s,rx pkt/s,"
                       "retries/s,naks/s,state,trouble",
}


def test_json(lab):
    """All that is documented is there, and all that is there is JSON."""
    lab.serve()
    start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000"])
    lab.a.start("rping", "-s", "-P", "-a", lab.a.addr4)
    wait_for("both programs", lambda: "RTS" in uroce(lab.a, "res", "qp") and
             "LISTEN" in uroce(lab.a, "res", "cm_id"))
    text = open(TOP + "/doc/man/uroce.1").read()
    page = text[text.index(".SH JSON"):text.index(".SH EXIT STATUS")]
    for words, members in PROMISED.items():
        command, *args = words.split()
        found = json.loads(uroce(lab.a, command, "--json", *args))
        assert found, words
        members = members.split("," if "," in members else None)
        for row in found:
            assert set(members) <= set(row), (words, row)
        for m in members:
            assert m in page, (words, m)
    cm = json.loads(uroce(lab.a, "cm", "--json"))
    assert cm["cm_ids"][0]["state"] == "LISTEN" and cm["cm"]["ids"] == 1


def test_metrics(lab):
    lab.serve()
    text = uroce(lab.a, "metrics")
    assert "\nuroce_up 1\n" in text
    assert 'uroce_port_active{device="uroce0",netdev="eth0"} 1\n' in text
    families = exposition(text)
    assert families["uroce_qps"] == ("gauge", {(): 0})
    kind, samples = families["uroce_sent_pkts_total"]
    assert kind == "counter"
    assert list(samples) == [(("device", "uroce0"), ("netdev", "eth0"))]
    assert "\nuroce_up 0" in uroce(lab.a, "metrics", status=1,
                                   run_dir=lab.tmp + "/none")


def watching(host, *args):
    """Start a trace or dump and wait until it has its socket."""
    p = host.bare(host.lab.bin("uroce"), *args)
    wait_for("the packet socket", lambda: "eth0" in open(
        f"/proc/{p.pid}/net/dev").read() and len(open(
            f"/proc/{p.pid}/net/packet").readlines()) > 1)
    return p


def test_trace(lab):
    """Bursts are shown as the packets that they are, with good checksums."""
    lab.serve()
    p = watching(lab.b, "trace", "--netdev", "eth0", "--json", "-c", "200")
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-s", "20000", "-n", "10"])
    assert p.wait(20) == 0, p.report()
    rows = [json.loads(r) for r in p.text().splitlines()]
    assert len(rows) == 200
    assert {r["direction"] for r in rows} == {"in", "out"}
    assert {r["verdict"] for r in rows} == {rows[0]["verdict"]}
    text = p.text()
    assert "RC SEND_FIRST" in text and "RC SEND_MIDDLE" in text
    assert "10.77.0.1 > 10.77.0.2" in text


def test_trace_selects(lab):
    """By address, and by queue pair: what it gets and what it sends."""
    lab.serve()
    pairs = [start_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-n", "100000000"])
             for i in range(2)]
    qps = wait_for("four queue pairs in RTS", lambda: (lambda q: len(q) == 2 and
                   all(x["state"] == "RTS" for x in q) and q)(
                       json.loads(uroce(lab.a, "res", "--json", "qp"))))
    mine, far = (hex(qps[0][n]) for n in ("qpn", "dest_qpn"))

    def trace(*args):
        out = uroce(lab.a, "trace", "-c", "100", "--json", *args)
        return [json.loads(row) for row in out.splitlines()]

    def to(rows):
        return {(r["direction"], re.search(r"dqpn (0x\w+)", r["packet"])[1])
                for r in rows}
    # A hundred packets may all be of one pair, when the other has no turn.
    for args in [], ["--peer", lab.b.addr4]:
        wait_for("both ways of both", lambda: len(to(trace(*args))) == 4)
    assert to(trace("--qpn", str(qps[0]["qpn"]))) == {("in", mine),
                                                     ("out", far)}
    assert to(trace("--qpn", mine, "--peer", "::ffff:" + lab.b.addr4)) == {
        ("in", mine), ("out", far)}
    p = watching(lab.a, "trace", "--peer", lab.b.addr6)
    uroce(lab.a, "ping", "-c", "1", lab.b.addr6)
    wait_for("a packet over IPv6", lambda: ":2 > fd77:" in p.text())
    assert lab.b.addr4 not in p.text()
    for bad in (["--qpn", "x"], ["file"], ["-c", "0"]):
        uroce(lab.a, "trace", *bad, status=2)
    uroce(lab.a, "trace", "--peer", "no.such.name.invalid", status=1)
    uroce(lab.a, "dump", status=2)


def test_dump_pcapng(lab):
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    lab.serve()
    name = lab.tmp + "/x.pcapng"
    p = watching(lab.a, "dump", "--netdev", "eth0", "-c", "50", name)
    run_pair(lab.a, lab.b, ["ibv_rc_pingpong", "-s", "20000", "-n", "10"])
    assert p.wait(20) == 0, p.report()
    out = subprocess.run(["tshark", "-r", name, "-T", "fields", "-e",
                          "_ws.col.Protocol", "-e", "_ws.malformed"],
                         text=True, check=True, capture_output=True).stdout
    assert out.split() == ["RRoCE"] * 50, out

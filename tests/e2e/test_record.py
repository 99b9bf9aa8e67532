# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The flight recorder: what two hosts and one have recorded, told only to whose
it is, in the forms that other tools read."""
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess

import pytest

from cm import run_cm_pair
from hosts import wait_for
from pairs import run_pair, start_pair
from test_counters import rules  # pylint: disable=unused-import

PINGPONG = ["ibv_rc_pingpong", "-c", "-n", "100"]
NAMES = {"rc": "ibv_rc_pingpong", "ud": "ibv_ud_pingpong",
         "uc": "ibv_uc_pingpong"}


def uroce(host, *words, status=0):
    p = host.bare(host.lab.bin("uroce"), *words, "--run-dir", host.run_dir)
    assert p.wait(30) == status, p.report()
    return p.text()


def data_of(host, *files):
    return json.loads(uroce(host, "record", "show", "--json", *files))


@pytest.fixture(params=["process", "apart"])
def place(request, monkeypatch):
    """Where the engines are: in the programs, or in engine processes."""
    monkeypatch.setenv("UROCE_ENGINE", request.param)
    return request.param


@pytest.fixture
def recorded(labs):
    lab = labs(1500)
    for host in lab.a, lab.b:
        uroce(host, "record", "start")
    yield lab.a, lab.b
    for host in lab.a, lab.b:
        uroce(host, "fault", "del", "all")
        uroce(host, "record", "stop")


def joined(a, b, tmp_path):
    """One report of what both hosts have."""
    files = []
    for host in a, b:
        files.append(str(tmp_path / os.path.basename(host.run_dir)))
        uroce(host, "record", "save", files[-1])
    return files


def of_kind(data, kind):
    return [e for e in data["events"] if e["kind"] == kind]


@pytest.mark.parametrize("kind", NAMES)
def test_requests_packets_completions(recorded, tmp_path, kind, place):
    """Each SEND has its completion and its packet, and each packet came in."""
    a, b = recorded
    run_pair(b, a, [NAMES[kind], "-n", "100", "-s", "512"])
    data = data_of(a, *joined(a, b, tmp_path))
    sends = of_kind(data, "send")
    assert len(sends) == 200
    assert all("SEND" in e["text"] and "done" in e for e in sends)
    out = [e for e in of_kind(data, "out") if "SEND_ONLY" in e["text"]]
    # A busy machine is late now and then, and a packet goes again.
    mine = [e for e in out if "send" in e and "resent" not in e]
    assert len(mine) == 200
    assert {e["send"] for e in mine} == {i for i, e in
                                         enumerate(data["events"])
                                         if e["kind"] == "send"}
    for e in mine:
        assert data["events"][e["send"]]["qp"] == e["qp"]
        other = data["events"][e["other"]]
        assert other["kind"] == "in" and other["psn"] == e["psn"]
        assert data["qps"][other["qp"]]["comm"] == NAMES[kind]
    done = [e for e in of_kind(data, "completion") if "wr_id" in e]
    assert len(done) == 400 and not any(e["status"] for e in done)
    assert not data["stories"]
    states = [e["text"] for e in of_kind(data, "state")]
    assert states.count("state RTS, was RTR") == 2
    if kind != "ud":
        pair = [qp for qp in data["qps"] if qp["sends"]]
        assert {data["qps"][qp["peer"]]["qpn"] for qp in pair} == \
            {qp["qpn"] for qp in pair}


def test_inside_an_engine(recorded, place):
    """Between its queue pairs go no packets, but the messages are there."""
    a, _ = recorded
    a.run(a.lab.bin("verbs_corners"), "resize_posted")
    data = data_of(a)
    sends = of_kind(data, "send")
    # The ring is full of them.
    assert len(sends) > 3000
    assert abs(len(of_kind(data, "loop")) - len(sends)) <= 1
    assert not of_kind(data, "out") and not of_kind(data, "in")
    assert all("done" in e for e in sends)


def test_inside_a_device(recorded, place):
    """Its programs' packets are recorded, which no wire sees."""
    a, _ = recorded
    run_pair(a, a, PINGPONG)
    data = data_of(a)
    sends = of_kind(data, "send")
    assert len(sends) == 200 and all("done" in e for e in sends)
    out = [e for e in of_kind(data, "out") if "SEND" in e["text"] and "resent" not in e]
    assert {e["send"] for e in out} == {i for i, e in enumerate(data["events"])
                                        if e["kind"] == "send"}
    assert all(data["events"][e["other"]]["kind"] == "in" for e in out)


def test_of_several_processes(recorded):
    """An engine of several processes records whose each message is."""
    a, _ = recorded
    run_pair(a, a, ["ibv_xsrq_pingpong", "-n", "100"])
    data = data_of(a)
    pids = {data["qps"][e["qp"]]["pid"] for e in of_kind(data, "send")}
    assert len(pids) == 2
    for kind in "send", "receive":
        for pid in pids:
            assert sum(data["qps"][e["qp"]]["pid"] == pid
                       for e in of_kind(data, kind)) == 100, (kind, pid)
    assert {qp["comm"] for qp in data["qps"] if qp["pid"] in pids} == {"ibv_xsrq_pingpo"}


def test_lost_and_sent_again(recorded, tmp_path, place):
    a, b = recorded
    uroce(a, "fault", "add", "drop", "op=send", "nth=10", "count=5")
    run_pair(b, a, PINGPONG)
    data = data_of(a, *joined(a, b, tmp_path))
    lost = [e for e in data["events"] if e.get("vanished")]
    assert len(lost) == 5 and all("SEND" in e["text"] for e in lost), lost
    again = [e for e in data["events"] if e.get("resent")]
    assert {e["psn"] for e in lost} <= {e["psn"] for e in again}
    assert of_kind(data, "retry")


def test_notified_of_congestion(recorded, tmp_path, rules):
    """A notification has no PSN: the packets after it are not sent again. Half of the PSNs that connections begin with
    are behind 0."""
    a, b = recorded
    for host in a, b:
        rules(host, "udp dport 4791 ip ecn set ce")
    for _ in range(4):
        run_pair(b, a, PINGPONG)
    out = of_kind(data_of(a, *joined(a, b, tmp_path)), "out")
    notes = [e for e in out if "CNP" in e["text"]]
    assert notes and not any("send" in e or "resent" in e for e in notes)
    sends = [e for e in out if "SEND" in e["text"]]
    for qp in {e["qp"] for e in sends}:
        again = ["resent" in e for e in sends if e["qp"] == qp]
        # A busy machine is late now and then.
        assert len(again) >= 400 and sum(again) < len(again) / 2, (sum(again), len(again))


def test_a_long_read(recorded, tmp_path):
    """The packets of the answer belong to the request."""
    a, b = recorded
    run_pair(b, a, ["ib_read_bw", "-s", "65536", "-n", "5"], flag="-x")
    data = data_of(a, *joined(a, b, tmp_path))
    reads = {i: e for i, e in enumerate(data["events"])
             if e["kind"] == "send" and "READ" in e["text"]}
    assert len(reads) == 5
    answers = [e for e in of_kind(data, "in") if "READ_RESP" in e["text"]]
    packets = 65536 // 1024
    # A slow device may be asked again.
    answers = {(e["send"], e["psn"]) for e in answers}
    assert len(answers) == 5 * packets
    assert sorted(i for i, _ in answers) == \
        sorted(i for i in reads for _ in range(packets))


def test_story_of_a_failure(recorded, tmp_path, place):
    """A key that is none: both ends tell, and a file is written."""
    a, b = recorded
    uroce(b, "fault", "add", "nak=rem_access", "after=50", "count=1")
    s, c = start_pair(b, a, PINGPONG)
    assert c.wait(30) not in (None, 0), c.report()
    s.kill()
    path = wait_for("the file", lambda: re.findall(
        rf"recorded in (\S+/record/uroce0-\d) \(a work request failed\)",
        a.device.text()))[-1]
    assert os.stat(path).st_mode & 0o777 == 0o600
    files = joined(a, b, tmp_path)
    data = data_of(a, files[0], files[1])
    story = next(s for s in data["stories"] if "remote access error" in
                 s["title"])
    lines = "\n".join(story["lines"])
    assert "takes SEND wr_id" in lines
    assert "NAK: remote access error" in lines
    assert "ibv_rc_pingpong" in story["title"]
    alone = data_of(a, path)
    assert any("remote access error" in s["title"] for s in alone["stories"])


def test_written_on_a_signal(recorded):
    a, _ = recorded
    before = a.device.text().count("(asked for)")
    os.kill(a.device.pid, signal.SIGUSR1)
    wait_for("the file", lambda: a.device.text().count("(asked for)") > before)


def test_rdma_cm(recorded):
    a, b = recorded
    port = a.lab.next_port()
    run_cm_pair(b, a, ["rping", "-s", "-a", b.addr4, "-p", port, "-C", 3],
                ["rping", "-c", "-a", b.addr4, "-p", port, "-C", 3], port)
    for host, events in ((a, ("ADDR_RESOLVED", "ROUTE_RESOLVED",
                              "CONNECT_RESPONSE")),
                         (b, ("CONNECT_REQUEST", "ESTABLISHED"))):
        data = data_of(host)
        told = [e["text"] for e in of_kind(data, "cm")]
        for event in events:
            assert any(event in t for t in told), told
        # The messages themselves, to and from QP1.
        mads = [e for e in of_kind(data, "in") if "UD SEND_ONLY" in e["text"]]
        assert any(data["qps"][e["qp"]]["qpn"] == 1 for e in mads)


@pytest.mark.skipif(not shutil.which("tshark"), reason="no tshark")
def test_pcapng(recorded, tmp_path):
    """Wireshark's dissector reads the packets and the comments."""
    a, b = recorded
    run_pair(b, a, [*PINGPONG, "-s", "512"])
    path = str(tmp_path / "x.pcapng")
    uroce(a, "record", "save", path, *joined(a, b, tmp_path))
    text = subprocess.run(
        ["tshark", "-r", path, "-T", "fields", "-e", "frame.comment", "-e",
         "infiniband.bth.opcode", "-e", "infiniband.bth.psn", "-e", "ip.src"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=True).stdout.splitlines()
    sends = [line.split("\t") for line in text if line.split("\t")[1] == "4"]
    assert len(sends) >= 400  # each left, and came in
    pids = {f"pid={qp['pid']}" for qp in data_of(a)["qps"] if qp["sends"]}
    for comment, _, psn, src in sends:
        assert psn and src in (a.addr4, b.addr4)
        assert "comm=ibv_rc_pingpong qp=0x" in comment
        if " out" in comment:
            assert comment.startswith("wr_id=2 pid=")
    assert any(p in line for p in pids for line in text)
    bad = subprocess.run(["tshark", "-r", path, "-Y", "_ws.malformed"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True, check=True).stdout
    assert not bad


@pytest.mark.parametrize("late", [False, True])
def test_trace_json(recorded, tmp_path, late):
    """The form of Chrome's trace events: each has what its phase needs, and a
    flow that ends has begun, also where answers come once more after that."""
    a, b = recorded
    if late:
        uroce(b, "fault", "add", "dup", "op=ack")
    run_pair(b, a, PINGPONG)
    path = str(tmp_path / "x.json")
    uroce(a, "record", "save", path)
    with open(path) as f:
        events = json.load(f)["traceEvents"]
    flows, open_slices = {}, set()
    for e in events:
        assert e["ph"] in "MXstfbe" and isinstance(e["name"], str)
        assert isinstance(e["pid"], int) and isinstance(e["tid"], int)
        assert isinstance(e["ts"], (int, float)) and e["ts"] >= 0
        if e["ph"] == "X":
            assert e["dur"] > 0
        elif e["ph"] in "stf":
            flows.setdefault(e["id"], []).append(e["ph"])
        elif e["ph"] == "b":
            open_slices.add(e["id"])
        elif e["ph"] == "e":
            open_slices.remove(e["id"])
    assert not open_slices
    assert not [f for f in flows.values() if "f" in f[:-1] or f[0] != "s"]
    assert len([f for f in flows.values() if f[0] == "s" and f[-1] == "f" and
                "t" in f]) >= 100


def test_report(recorded, tmp_path):
    """The page's data are those of `record show`, nothing in them ends their
    element, and it loads nothing."""
    a, b = recorded
    run_pair(b, a, PINGPONG)
    path = str(tmp_path / "x.html")
    files = joined(a, b, tmp_path)
    uroce(a, "report", path, *files)
    page = open(path).read()
    assert os.stat(path).st_mode & 0o77 == 0
    data = re.search(r'<script type="application/json" id="data">(.*?)'
                     r'</script>', page, re.S).group(1)
    assert not set("<>&") & set(data)
    assert json.loads(data) == data_of(a, *files)
    assert "default-src 'none'" in page
    assert not re.search(r'(src|href)\s*=\s*["\']?(https?:)?//', page)


def test_told_to_whom_it_is(lab, tmp_path, place):
    """Another user is told of his own alone."""
    a = lab.a
    a.serve("--netdev", "eth0", "--record")
    run_pair(a, a, PINGPONG)
    other = ["setpriv", "--reuid=65534", "--clear-groups"]
    p = subprocess.run([*other, lab.bin("uroce"), "record", "--json",
                        "--run-dir", a.run_dir], stdout=subprocess.PIPE,
                       text=True, check=True)
    data = json.loads(p.stdout)
    assert not data["events"] and not data["qps"]
    assert data["devices"][0]["hidden"] > 500
    run_pair(a, a, [*other, *PINGPONG])
    p = subprocess.run([*other, lab.bin("uroce"), "record", "--json",
                        "--run-dir", a.run_dir], stdout=subprocess.PIPE,
                       text=True, check=True)
    own = json.loads(p.stdout)
    assert len(of_kind(own, "send")) == 200
    everything = data_of(a)
    assert len(of_kind(everything, "send")) == 400
    mine = {qp["pid"] for qp in own["qps"]}
    assert not mine & {qp["pid"] for qp in everything["qps"]} - mine
    p = subprocess.run([*other, lab.bin("uroce"), "record", "stop",
                        "--run-dir", a.run_dir], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    assert p.returncode and "only the user" in p.stdout


def test_begun_anew(lab):
    """What a failure has written stays, whatever begins the recorder anew meanwhile,
    until four newer ones are there."""
    a = lab.a
    a.serve("--netdev", "eth0", "--record=256")
    uroce(a, "fault", "add", "wc=general_err", "op=send")

    def files():
        return re.findall(r"recorded in (\S+/record/uroce0-\d) ",
                          a.device.text())

    def fail():
        s, c = start_pair(a, a, PINGPONG)
        assert c.wait(30) not in (None, 0), c.report()
        s.kill()

    def write():
        n = len(files())
        os.kill(a.device.pid, signal.SIGUSR1)
        wait_for("the file", lambda: len(files()) > n)

    fail()
    wait_for("the file", files)
    # Until a file is due when it is begun anew: not each failure asks for one.
    while len(files()) < 2:
        fail()
        uroce(a, "record", "start", "uroce0", "512")
    uroce(a, "fault", "del", "all")
    write()
    uroce(a, "record", "stop")
    uroce(a, "record", "start")
    write()
    kept = {(p, os.stat(p).st_mtime_ns) for p in files()}
    assert len(kept) == 4
    uroce(a, "link", "del", "uroce0")
    uroce(a, "link", "add", "eth0")
    uroce(a, "record", "start")
    write()
    assert len(kept & {(p, os.stat(p).st_mtime_ns) for p in files()}) == 3
    assert [p[-2:] for p in files()] == ["-1", "-2", "-3", "-4", "-1", "-2"][:len(files())]


def test_bounded(lab, place):
    """A small ring keeps the last, however much there was. Each program's engine has one."""
    a = lab.a
    a.serve("--netdev", "eth0", "--record=16")
    run_pair(a, a, ["ibv_rc_pingpong", "-n", "2000"])
    data = data_of(a)
    most = 16 * 1024 // 64
    for pid in {data["qps"][e["qp"]]["pid"] for e in data["events"]}:
        own = [e for e in data["events"] if data["qps"][e["qp"]]["pid"] == pid]
        assert 0 < len(own) <= most, pid
    assert data["devices"][0]["lost"] > 5000
    assert "state ERR" in str(data["events"][-20:]) or \
        of_kind(data, "completion")
    assert uroce(a, "link", "set", "uroce0").split("record ")[1].split()[0] \
        == "16"
    for value, status in (("1", 1), ("x", 1), ("1000000", 1), ("32", 0)):
        p = a.bare(lab.bin("uroce"), "record", "start", "uroce0", value,
                   "--run-dir", a.run_dir)
        assert p.wait(20) == status, p.report()
    uroce(a, "record", "stop")
    p = a.bare(lab.bin("uroce"), "record", "--run-dir", a.run_dir)
    assert p.wait(20) == 1 and "nothing is recorded" in p.text()


def test_hostile_files(build, tmp_path):
    """What is no record, or lies about itself, is refused or harmless, and names
    of programs cannot do anything on the page."""
    evil = b"</script><b>\x1b[31m\xff"

    def section(slots, n_slots, owners, n_owners):
        h = (b"urocRec1" + bytes(24) + n_slots.to_bytes(4, "little") +
             n_owners.to_bytes(4, "little") + bytes(8))
        h += evil.ljust(32, b"\0") + b"eth0".ljust(32, b"\0")
        return h + owners + slots
    owner = (7).to_bytes(4, "little") + bytes(4) + evil.ljust(24, b"\0")
    send = (bytes(8) + bytes([1, 1, 0, 6]) + (5).to_bytes(4, "little") +
            bytes(4) + (7).to_bytes(4, "little")).ljust(64, b"\xff")
    fail = (bytes(8) + bytes([5, 0, 12, 0]) + (5).to_bytes(4, "little") +
            bytes(4) + (7).to_bytes(4, "little")).ljust(64, b"\xff")
    packet = (bytes(8) + bytes([3, 255, 48, 255]) + b"\xff" * 16 +
              (60).to_bytes(4, "little")).ljust(128, b"\xff")
    good = section(send + fail + packet, 4, owner, 1)
    run = [build + "/bin/uroce", "record"]

    def show(raw, *words):
        path = tmp_path / "r"
        path.write_bytes(raw)
        return subprocess.run([*run, *words, str(path)], text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    p = show(good, "show")
    assert p.returncode == 0 and "\x1b" not in p.stdout, p.stdout
    assert "retry counter exceeded" in p.stdout
    page = tmp_path / "x.html"
    for name in "x.html", "x.json", "x.pcapng":
        p = show(good, "save", str(tmp_path / name))
        assert p.returncode == 0, p.stdout
    assert page.read_text().count("</script>") == 2
    json.loads((tmp_path / "x.json").read_text())
    for bad in (good[:-1], good[:100], b"", b"x" * 200,
                section(send, 0xffffffff, owner, 1),
                section(send, 1, owner, 0xffffffff),
                section(packet[:64], 1, owner, 1),
                section(packet[:10] + b"\xf0" + packet[11:], 2, owner, 1)):
        p = show(bad, "show")
        assert p.returncode in (0, 1), (bad[:20], p)
        assert p.returncode == 1 or bad == b"", p.stdout


def test_many_queue_pairs(build, tmp_path):
    """Four times as many queue pairs, each with a peer that is not there, take
    about four times as long to read, and not sixteen times."""
    def cost(count):
        head = (b"urocRec1" + bytes(24) + count.to_bytes(4, "little") +
                bytes(12) + b"uroce0".ljust(32, b"\0") + b"eth0".ljust(32, b"\0"))
        path = tmp_path / "r"
        path.write_bytes(head + b"".join(
            struct.pack("<QBBBBIIIIIQQIIII", 1000 + i, 1, 1, 0, 0, 17 + i // 2, 0, 7,
                        0, 5, i, 0, 0, 1, 0x800000 + i // 2, 0)
            for i in range(count)))
        out = tmp_path / "out"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with out.open("wb") as to:
            subprocess.run([build + "/bin/uroce", "record", "show", str(path)],
                           stdout=to, check=True, timeout=60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        lines = [line.split() for line in out.read_text().splitlines()]
        assert len(lines) == count
        assert all(line[2] == f"0x{17 + i // 2:06x}" for i, line in enumerate(lines))
        return after.ru_utime - before.ru_utime
    few, many = cost(1 << 14), cost(1 << 16)
    assert many < 9 * max(few, 0.01), (few, many)


BROWSER = shutil.which("chromium") or shutil.which("chromium-headless-shell")


@pytest.mark.skipif(not os.environ.get("UROCE_FULL"),
                    reason="a browser: only with UROCE_FULL")
@pytest.mark.skipif(not BROWSER, reason="no chromium")
def test_page_in_a_browser(recorded, tmp_path):
    """What the page's own code makes of the data, and that it has no error."""
    a, b = recorded
    uroce(a, "fault", "add", "drop", "op=send", "nth=7", "count=2")
    uroce(b, "fault", "add", "nak=rem_access", "after=30", "count=1")
    s, c = start_pair(b, a, ["ibv_rc_pingpong", "-n", "100", "-s", "512"])
    assert c.wait(30) not in (None, 0), c.report()
    s.kill()
    path = str(tmp_path / "x.html")
    uroce(a, "report", path, *joined(a, b, tmp_path))
    dom = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
         f"--user-data-dir={tmp_path}/profile", "--dump-dom",
         "file://" + path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, check=True, timeout=120).stdout
    assert 'data-ready="yes"' in dom
    body = re.sub(r"<script.*?</script>", "", dom, flags=re.S)
    assert "remote access error" in body and 'class="story"' in body
    assert body.count('class="arrow') > 20
    assert 'class="arrow lost' in body and 'class="arrow again' in body
    assert 'id="histogram"' in body and "median" in body

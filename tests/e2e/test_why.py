# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce why: the story of each failure, with both ends where both are ours."""
import json
import os
import re

import pytest

from hosts import wait_for
from pairs import start_pair
from test_isolation import ALICE, BOB, as_user

# mistake: status of the completion, what the story says with the other end,
# and what it says without
RANGE = r"the rkey 0x\w+ is for 0x\w+ to 0x\w+"
NAKS = {
    "range": (10, RANGE + ": 1 byte beyond"),
    "swapped": (10, RANGE + r".*it went without be64toh\(\)"),
    "cut": (10, RANGE + ".*the address lost its upper 32 bits"),
    "key": (10, r"no region or window has the rkey 0x\w+"),
    "mr-right": (10, r"has IBV_ACCESS_LOCAL_WRITE and lacks IBV_ACCESS_REMOTE_WRITE"),
    "qp-right": (9, "qp_access_flags of its queue pair has no access flags and lacks "
                    "IBV_ACCESS_REMOTE_WRITE"),
    "short": (9, "wr_id 0x3, has room for 8 bytes, and (4096|1024) or more came"),
}
SILENCES = {
    "qpn": r"there is no queue pair 0x\w+ on uroce0",
    "psn": "sq_psn here and rq_psn there differ",
    "init": "is in INIT, and answers nobody",
}


def why(host, *words, uid=0):
    p = host.bare(*as_user(uid, host.lab.bin("uroce"), "why", "--run-dir", host.run_dir,
                           *map(str, words)))
    assert p.wait(20) == 0, p.report()
    return p.text()


def ends(server, client, mistake, users=(0, 0), gids=None, options=()):
    """Runs both. Returns the server, the client, and the client's QPN and status."""
    lab = server.lab
    lab.port += 1
    name = f"{lab.tmp}/why{lab.port}-"
    tool = lab.bin("why_mistakes")
    gids = gids or [host.gid(host.addr4) for host in (server, client)]
    s = server.start(*as_user(users[0], tool, "server", mistake, gids[0], name + "s",
                              name + "c"))
    c = client.start(*as_user(users[1], tool, "client", mistake, gids[1], name + "c",
                              name + "s"), **dict(options))
    assert c.wait(30) == 0, c.report() + s.report()
    found = re.search(r"qpn (\d+) status (\d+)", c.text())
    return s, c, int(found[1]), int(found[2])


@pytest.fixture
def pair(labs, topology):
    return topology(labs(1500))


@pytest.mark.parametrize("mistake", NAKS)
def test_refused(pair, mistake):
    server, client = pair
    s, c, qpn, status = ends(server, client, mistake)
    assert status == NAKS[mistake][0], c.report()
    own, other = why(client, qpn), [] if server is client else [server.run_dir]
    both = why(client, qpn, *other)
    s.kill()
    assert "wr_id 0x7, 4096 bytes" in own, own
    # What the other daemon knows it says itself.
    assert bool(re.search(NAKS[mistake][1], own)) == (server is client), own
    assert re.search(NAKS[mistake][1], both, re.S), both
    assert f"of pid {s.pid}" in both or "of pid" in both, both


def test_known(pair):
    """A READ that UCX makes of its own accord is named at both ends; others are not."""
    server, client = pair
    s, c, qpn, status = ends(server, client, "fence")
    assert status == 10, c.report()
    line = "known:  UCX's strong fence"
    own, theirs = why(client, qpn), why(server)
    s.kill()
    assert "8 bytes from 0x0 with rkey 0xff" in own and line in own, own
    assert line in theirs and "refused a request of its peer" in theirs, theirs
    for other in "key", "no fence":
        s, c, qpn, _ = ends(server, client, other)
        own = why(client, qpn)
        s.kill()
        assert "no longer" in own or "no region" in own, own
        assert line not in own, own


@pytest.mark.parametrize("mistake", SILENCES)
def test_silence(pair, mistake):
    server, client = pair
    s, c, qpn, status = ends(server, client, mistake)
    assert status == 12, c.report()
    text = why(client, qpn)
    s.kill()
    assert re.search(r"tries:  3 in \d+ ms \(timeout 12: 16.8 ms, retry_cnt 2\)", text), text
    if server is client:
        assert re.search(SILENCES[mistake], text), text
    else:
        assert "nothing ever came from its peer" in text or SILENCES[mistake] in text, text
        assert "is not refused" in text, text


def test_rnr(pair):
    s, c, qpn, status = ends(*pair, "rnr")
    text = why(pair[1], qpn)
    s.kill()
    assert status == 13 and "had no receive posted" in text, text
    assert "tries:  3 in" in text and "(rnr_retry 2)" in text, text


@pytest.mark.parametrize("rule", ["nak=rem_access after=50 count=1", "drop op=send after=50"])
def test_xrc(lab, rule):
    """The target of an XRC domain of both programs tells its end, while it is there and after that."""
    host = lab.a
    lab.serve()
    p = host.bare(lab.bin("uroce"), "fault", "add", *rule.split(), "--run-dir", host.run_dir)
    assert p.wait(20) == 0, p.report()
    s, c = start_pair(host, host, ["ibv_xsrq_pingpong", "-n", "1000"])
    if rule.startswith("drop"):
        wait_for("the failure", lambda: "retry counter" in why(host))
        assert "answered before, and then no more" in why(host), why(host)
    else:
        assert c.wait(30) not in (None, 0), c.report()
        text = why(host)
        target, = re.findall(r"refused a request of its peer.*\n  of:     queue pair (0x\w+) of pid", text)
        assert f"its peer, queue pair {target} of pid" in text and "a fault rule made it" in text, text
    s.kill()
    c.kill()


def test_mtu(labs):
    """Only packets can have another length than the receiver's."""
    lab = labs(1500)
    s, c, qpn, status = ends(lab.a, lab.b, "mtu")
    text = why(lab.b, qpn, lab.a.run_dir)
    s.kill()
    assert status == 9, c.report()
    assert "a packet of 1024 bytes does not go with its path MTU, 256" in text, text


def test_own_memory(pair):
    s, c, qpn, status = ends(*pair, "lkey")
    text = why(pair[1], qpn)
    s.kill()
    assert status == 4 and re.search(r"its own memory: no region or window has the lkey", text), text


def test_no_listener(lab):
    """The other host is there, and its device is not; then it is silent."""
    for host in lab.a, lab.b:
        host.serve("--netdev", "eth0")
    a, b = lab.a, lab.b
    lab.port += 1
    name = f"{lab.tmp}/why{lab.port}-"
    tool = lab.bin("why_mistakes")
    s = a.start(tool, "server", "none", a.gid(a.addr4), name + "s", name + "c")
    wait_for("the server", lambda: os.path.exists(name + "s"))
    c = b.start(tool, "client", "none", b.gid(b.addr4), name + "c", name + "s")
    wait_for("the client", lambda: os.path.exists(name + "c"))
    s.kill()
    a.stop()
    os.link(name + "s", name + "R")
    assert c.wait(30) == 0, c.report()
    text = why(b)
    assert "status 12" in text and "nothing ever came" in text, text
    assert "ICMP port unreachable" in text, text
    a.nft("table inet t { chain i { type filter hook input priority 0; "
          "udp dport 4791 drop; }; }")
    text = why(b)
    assert "is not refused" in text, text
    b.nft("table inet t { chain o { type filter hook output priority 0; "
          "udp dport 4791 drop; }; }")
    gid = b.gid(b.addr4)
    lab.port += 1
    name2 = f"{lab.tmp}/why{lab.port}-"
    os.link(name + "s", name2 + "s")
    os.link(name + "s", name2 + "R")
    c = b.start(tool, "client", "none", gid, name2 + "c", name2 + "s")
    assert c.wait(30) == 0, c.report()
    text = why(b)
    assert "a firewall of this host drops UDP port 4791" in text, text


@pytest.mark.part("ROCE_V1")
def test_gid_type(lab):
    """One end is RoCE v1 and the other v2."""
    lab.a.serve("--netdev", "eth0", "--roce-v1")
    a = lab.a
    gids = [a.gid(a.addr4, "RoCE v2"), a.gid(a.addr4, "IB/RoCE v1")]
    s, c, qpn, status = ends(a, a, "type", gids=gids)
    text = why(a, qpn)
    s.kill()
    assert status == 12, c.report()
    assert "is connected by RoCE v2 and this one by RoCE v1" in text, text


def test_other_user(lab):
    """What a card would tell is told, and no key or address of somebody else."""
    lab.a.serve("--netdev", "eth0")
    a = lab.a
    for folder in a.run_dir, lab.tmp:
        os.chmod(folder, 0o777)
    s, c, qpn, status = ends(a, a, "range", (ALICE, BOB))
    assert status == 10
    alice, bob, root = why(a, uid=ALICE), why(a, uid=BOB), why(a)
    s.kill()
    assert "its peer refused the memory (NAK, remote access error)" in bob, bob
    assert "1 of other users, not shown" in bob and "byte beyond" not in bob, bob
    assert "why_mistakes) on" in bob and "refused a request of its peer" not in bob, bob
    assert "1 byte beyond" in alice and "wr_id" not in alice, alice
    assert f"0x{qpn:06x} of pid" not in alice, alice
    assert root.count("1 byte beyond") == 2, root
    listed = json.loads(why(a, "--json", uid=BOB))
    assert [f["qpn"] for f in listed] == [qpn], listed
    s, c, qpn, status = ends(a, a, "init", (ALICE, BOB))
    bob, root = why(a, qpn, uid=BOB), why(a, qpn)
    s.kill()
    assert "no queue pair of this user's" in bob and "INIT" not in bob, bob
    assert "is in INIT" in root, root


def test_rdma_cm(labs):
    lab = labs(1500)
    a, b = lab.a, lab.b
    c = b.start("ucmatose", "-s", a.addr4, "-p", str(lab.next_port()))
    assert c.wait(30), c.report()
    text = why(b)
    assert "was rejected" in text and "nobody listens on that port there" in text, text


def test_bounded(labs):
    """The oldest is forgotten."""
    lab = labs(1500)
    for _ in range(3):
        c = lab.b.start("sh", "-c", f"for i in $(seq 22); do ucmatose -s {lab.a.addr4} "
                        f"-p {lab.next_port()}; done")
        c.wait(60)
    assert len(json.loads(why(lab.b, "--json"))) <= 64

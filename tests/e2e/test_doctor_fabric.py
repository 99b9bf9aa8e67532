# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""`uroce doctor --fabric`: paths that keep everything, and paths that do not."""
import json

import pytest

from hosts import Host, wait_for

# Of the classes that the command sends: ECN bits at DSCP 0.
NFT = ("table inet f {{\n chain c {{\n  type filter hook {hook} priority -150; "
       "udp dport 4791 {rule}\n }}\n}}\n")


def listening(lab, host):
    p = host.bare(lab.bin("uroce"), "doctor", "--run-dir", host.run_dir,
                  "--fabric")
    wait_for("the listener", lambda: "listening" in p.text() or
             not p.running())
    assert p.running(), p.report()
    return p


def begin(lab, host, peer):
    return host.bare(lab.bin("uroce"), "doctor", "--json", "--run-dir",
                     host.run_dir, "--fabric", peer)


def finish(p, limit=30):
    """{check: finding}, with the exit status that belongs to it."""
    status = p.wait(limit)
    assert status in (0, 1), p.report()
    found = {f["check"]: f for f in json.loads(p.text())}
    assert status == any(f["state"] == "problem" for f in found.values()), found
    for f in found.values():
        assert f["state"] != "problem" or f["todo"], f
    return found


def ask(lab, host, peer):
    return finish(begin(lab, host, peer))


def states(found):
    return {check: f["state"] for check, f in found.items()}


# Bits before bytes of struct ur_path_message: behind UDP, BTH and DETH.
BYTES_AT = 8 * (8 + 12 + 8 + 18)


def spoil(host, hook, rule):
    host.nft(NFT.format(hook=hook, rule=rule))


def mend(host):
    host.nft("delete table inet f\n")


@pytest.fixture(scope="module")
def path(labs):
    """A lab whose second host waits for probes."""
    lab = labs(1500)
    lab.listener = listening(lab, lab.b)
    yield lab
    lab.listener.kill()


def test_clean(path):
    found = ask(path, path.a, path.b.addr4)
    checks = states(found)
    # A receiver that gets no processor for a while loses of a long burst.
    assert checks.pop("queue") in ("ok", "note"), found
    assert checks == {c: "ok" for c in ("peer", "ecn", "dscp", "mtu",
                                        "drops")}, found
    assert "1024 bytes" in found["mtu"]["what"], found


def test_text(path):
    p = path.a.bare(path.bin("uroce"), "doctor", "--run-dir", path.a.run_dir,
                    "--fabric", path.b.addr6)
    assert p.wait(30) == 0, p.report()
    lines = p.text().splitlines()
    assert [w.split()[1] for w in lines if not w.startswith(" ")] == [
        "peer", "ecn", "dscp", "mtu", "queue", "drops"], p.report()


# Rule of nftables, at the peer's input; findings that are problems; what a
# sentence must say.
PATHS = {
    "bleached": ("ip ecn set not-ect", {"ecn"},
                 {"ecn": ["there: ECT(0) becomes Not-ECT",
                          "there: CE becomes Not-ECT"]}),
    "marking-lost": ("ip ecn ce drop", {"ecn"}, {"ecn": ["there: CE is lost"]}),
    "ect-lost": ("ip ecn ect0 drop", {"ecn", "drops"},
                 {"ecn": ["there: ECT(0) is lost"],
                  "drops": ["(0 of ", "Not-ECT"]}),
}


@pytest.mark.parametrize("name", PATHS)
def test_path(path, name):
    rule, problems, sentences = PATHS[name]
    spoil(path.b, "input", rule)
    try:
        found = ask(path, path.a, path.b.addr4)
    finally:
        mend(path.b)
    assert {c for c, s in states(found).items()
            if s == "problem"} == problems, found
    for check, words in sentences.items():
        for word in words:
            assert word in found[check]["what"], found
        assert "back:" not in found[check]["what"], found


def test_each_way(path):
    """DSCP is rewritten there, ECN on the way back."""
    spoil(path.a, "input", "ip ecn set not-ect")
    spoil(path.b, "input", "ip dscp set cs0")
    try:
        found = ask(path, path.a, path.b.addr4)
    finally:
        mend(path.a)
        mend(path.b)
    ecn, dscp = found["ecn"], found["dscp"]
    assert ecn["state"] == dscp["state"] == "problem", found
    assert "back: CE becomes Not-ECT" in ecn["what"], found
    assert "there: DSCP 26 becomes DSCP 0" in dscp["what"], found
    assert "there: DSCP 46 becomes DSCP 0" in dscp["what"], found
    assert "there:" not in ecn["what"] and "back:" not in dscp["what"], found
    assert "device here sends the bits as asked" in ecn["todo"], found


def test_marking(path):
    """What marks ECT packets is a queue at work, not a fault."""
    spoil(path.b, "input", "ip ecn ect0 ip ecn set ce")
    try:
        found = ask(path, path.a, path.b.addr4)
    finally:
        mend(path.b)
    assert found["ecn"]["state"] == "note", found
    assert "marks" in found["ecn"]["what"], found
    assert "marked from 1 packets on" in found["queue"]["what"], found


def test_drops(path):
    """Every tenth packet of a small probe's length: UDP, BTH, DETH, 200 bytes
    and ICRC."""
    spoil(path.b, "input", "udp length 232 numgen inc mod 10 0 drop")
    try:
        found = ask(path, path.a, path.b.addr4)
    finally:
        mend(path.b)
    assert found["drops"]["state"] == "problem", found
    words = found["drops"]["what"].split()
    lost = int(words[words.index("lost") - 2])
    assert 60 < lost < 140, found  # a train of packets is one to the filter
    # Both kinds are hit, not by a pattern of their own.
    assert "(0 of" not in found["drops"]["what"], found
    assert f"of {1000 - lost} echoes 0 are" in found["drops"]["what"], found
    assert found["ecn"]["state"] == "ok", found


def test_short_queue(path):
    """A policer passes bursts of 64 KiB, of probes that say so: a train of small ones, which an
    asker sends that has waited for a processor, is one long packet to the filter, too."""
    spoil(path.b, "input", f"udp length > 600 @th,{BYTES_AT},16 > 600 "
          "limit rate over 10 kbytes/second burst 64 kbytes drop")
    try:
        found = ask(path, path.a, path.b.addr4)
    finally:
        mend(path.b)
    assert found["queue"]["state"] == "note", found
    whole = int(found["queue"]["what"].split()[2])
    assert 8 <= whole <= 64, found
    assert f"of {2 * whole} arrive" in found["queue"]["what"], found
    assert found["drops"]["state"] == "ok", found


def test_small_mtu_between(lab):
    """Hosts of 9000 with a router's cable of 1500 between them; at first nobody
    listens."""
    router = Host(lab, "r")
    router.ip("link", "add", "left", "type", "veth", "peer", "name", "eth2",
              "netns", lab.a.name)
    router.ip("link", "add", "right", "type", "veth", "peer", "name", "eth2",
              "netns", lab.b.name)
    for n, (host, cable) in enumerate([(lab.a, "left"), (lab.b, "right")], 1):
        router.ip("link", "set", cable, "mtu", "1500", "up")
        router.ip("addr", "add", f"10.79.{n}.254/24", "dev", cable)
        host.ip("link", "set", "eth2", "mtu", "9000", "up")
        host.ip("addr", "add", f"10.79.{n}.1/24", "dev", "eth2")
        host.ip("route", "add", f"10.79.{3 - n}.0/24", "via",
                f"10.79.{n}.254", "dev", "eth2")
        host.serve("--netdev", "eth2")
    router.bare("sysctl", "-w", "net.ipv4.ip_forward=1").wait()
    found = ask(lab, lab.a, "10.79.2.1")
    assert list(found) == ["peer"], found
    assert "nobody" in found["peer"]["what"], found
    assert "doctor --fabric" in found["peer"]["todo"], found
    listening(lab, lab.b)
    found = ask(lab, lab.a, "10.79.2.1")
    assert found["mtu"]["state"] == "problem", found
    assert "packets of 1024 bytes cross, of 2048 do not come there" in \
        found["mtu"]["what"], found
    assert "routers on the way there: 1" in found["peer"]["what"], found
    assert found["ecn"]["state"] == found["dscp"]["state"] == "ok", found


def test_strangers(path):
    """Others let themselves in and send nonsense; they get no more back than
    they sent, and the listener goes on, and takes the next one."""
    nowhere = begin(path, path.a, "10.77.0.9")
    before = path.listener.text().count("served")
    text = path.a.run(path.bin("path_stranger"), path.b.addr4)
    # Where the token is right and the fields are, there is an answer.
    assert 0 < int(text.split()[1]) <= 300, text
    assert "longer 0 error 0" in text, text
    # He has gone without a word: until his time is over nobody else is let in.
    found = ask(path, path.a, path.b.addr4)
    assert list(found) == ["peer"], found
    assert "somebody else" in found["peer"]["what"], found
    wait_for("his end",
             lambda: path.listener.text().count("served") > before)
    served = path.listener.text().split("served ")[-1].split()
    assert int(served[2]) >= 200, path.listener.report()
    assert ask(path, path.a, path.b.addr4)["ecn"]["state"] == "ok"
    assert path.listener.running()
    found = finish(nowhere)
    assert list(found) == ["peer"], found
    assert "does not answer" in found["peer"]["what"], found

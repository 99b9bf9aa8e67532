# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Prepared failures: `uroce doctor` and `uroce ping` name the cause of each."""
import json
import os
import shutil
import subprocess

import pytest

from hosts import wait_for

NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def ask(lab, host, *words, run_dir=None, before=(), env=None, limit=60):
    """Exit status and the JSON of one uroce command."""
    command, *rest = words
    p = host.bare(*before, lab.bin("uroce"), command, "--json", "--run-dir",
                  run_dir or host.run_dir, *rest, env=env)
    status = p.wait(limit)
    assert status in (0, 1), p.report()
    text = p.text()
    start = min(i for i in (text.find("{"), text.find("[")) if i >= 0)
    return status, json.JSONDecoder().raw_decode(text[start:])[0]


def doctor(lab, host, *words, **kw):
    """The checks that found a problem, each with its sentence."""
    status, found = ask(lab, host, "doctor", *words, **kw)
    problems = {f["check"]: f["what"] for f in found
                if f["state"] == "problem"}
    assert status == bool(problems), found
    for f in found:
        assert f["state"] != "problem" or f["todo"], f
    return problems


def ping(lab, host, peer, **kw):
    """The cause, and the sentence that goes with it."""
    status, found = ask(lab, host, "ping", "-c", "2", peer, **kw)
    assert status == (found["cause"] != "ok"), found
    return found["cause"], found["text"]


def listening(lab, host, port="7471"):
    """Something at the peer that answers RC packets."""
    p = host.bare(lab.bin("uroce"), "ping", "--run-dir", host.run_dir,
                  "--listen", port)
    wait_for("the listener", lambda: "listening" in p.text() or
             not p.running())
    assert p.running(), p.report()
    return p


def ping_rc(lab, host, peer, port="7471"):
    """All that is said of an RC connection."""
    status, found = ask(lab, host, "ping", "-c", "2", "--rc", port, peer)
    assert status == (found["cause"] != "ok"), found
    return found


def refuse(host, hook, rules):
    host.nft("table inet f {\n chain c {\n  type filter hook "
             f"{hook} priority 0; {rules}\n }}\n}}\n")


def netdev(host, name, address=None):
    """One more interface, with a cable to nowhere."""
    host.ip("link", "add", name, "type", "veth", "peer", "name", name + "p")
    host.ip("link", "set", name + "p", "up")
    host.ip("link", "set", name, "addrgenmode", "none", "up")
    if address:
        host.ip("addr", "add", address, "dev", name)


def test_nothing_wrong(lab):
    lab.serve()
    assert doctor(lab, lab.a, "ibv_devinfo") == {}
    assert ping(lab, lab.a, lab.b.addr4) == ("ok", "")
    assert ping(lab, lab.a, lab.b.addr6) == ("ok", "")
    assert ping(lab, lab.a, "::ffff:" + lab.b.addr4) == ("ok", "")
    out = lab.a.bare(lab.bin("uroce"), "ping", "--run-dir", lab.a.run_dir,
                     lab.b.addr4)
    assert out.wait(60) == 0, out.report()
    assert out.text().count("answer in") == 3, out.report()


def test_lost_on_the_way(lab):
    """Two requests lost, of 308 bytes each, are no filter."""
    lab.serve()
    refuse(lab.b, "input", "udp dport 4791 quota until 700 bytes drop")
    status, found = ask(lab, lab.a, "ping", "-c", "2", lab.b.addr4)
    assert status == 0 and found["cause"] == "ok", found
    assert found["answers_us"][:2] == [None, None] and found["answers_us"][2], found


@pytest.mark.parametrize("verdict", ["drop", "reject"])
def test_port_filtered_at_peer(lab, verdict):
    lab.serve()
    refuse(lab.b, "input", f"udp dport 4791 {verdict}")
    cause, text = ping(lab, lab.a, lab.b.addr4)
    # A rejection looks as if nobody had the port.
    assert cause == ("filtered" if verdict == "drop" else "no-device"), text
    assert "4791" in text
    found = doctor(lab, lab.b)
    assert "filtered" in found["port"] or "cannot be" in found["port"], found
    assert "nftables has the rule" in found["filter"]


def test_port_filtered_on_the_way_out(lab):
    lab.serve()
    refuse(lab.a, "output", "udp dport 4791 drop")
    cause, text = ping(lab, lab.a, lab.b.addr4)
    assert cause == "filtered" and "this machine" in text
    assert "output" in doctor(lab, lab.a)["port"]


def test_port_filtered_by_policy(lab):
    """Probes of this host to itself pass, packets of others do not."""
    lab.serve()
    refuse(lab.b, "input", "policy drop; iif lo accept; "
           "meta l4proto { icmp, ipv6-icmp } accept")
    assert "by default" in doctor(lab, lab.b)["filter"]
    cause, text = ping(lab, lab.a, lab.b.addr4)
    assert cause == "filtered", text


def test_wrong_gid_of_peer(lab):
    """The address is the peer's, but of another of its interfaces."""
    lab.serve()
    netdev(lab.b, "other", "10.99.0.1/24")
    lab.a.ip("route", "add", "10.99.0.0/24", "via", lab.b.addr4)
    cause, text = ping(lab, lab.a, "10.99.0.1")
    assert cause == "no-device" and "GID" in text, text


def test_wrong_gid_of_ours(lab):
    """The way to the peer leaves by an interface without a device."""
    lab.serve()
    netdev(lab.a, "other", "10.99.0.1/24")
    cause, text = ping(lab, lab.a, "10.99.0.2")
    assert cause == "gid" and "GID" in text, text


def test_address_unreachable(lab):
    lab.serve()
    assert ping(lab, lab.a, "10.77.0.200")[0] == "address"
    assert ping(lab, lab.a, "192.0.2.1")[0] == "route"


def test_mtu_of_netdev(lab):
    lab.a.ip("link", "set", "eth0", "mtu", "900")
    lab.a.serve("--netdev", "eth0")
    found = doctor(lab, lab.a)
    assert "512" in found["device"] and "eth0" in found["device"], found


def test_mtu_of_path(lab):
    """The cable's other end takes no packets as large as ours sends."""
    lab.b.ip("link", "set", "eth0", "mtu", "600")
    lab.a.ip("link", "set", "eth0", "mtu", "4200")
    lab.serve()
    cause, text = ping(lab, lab.a, lab.b.addr4)
    assert cause == "mtu" and "4096" in text, text


@pytest.mark.parametrize("topology", ["two", "one"])
def test_rc(lab, topology):
    """Small packets and full ones on a connection, over either protocol."""
    lab.serve()
    to = lab.b if topology == "two" else lab.a
    listening(lab, to)
    for address in to.addr4, to.addr6:
        found = ping_rc(lab, lab.a, address)
        assert found["cause"] == "ok", found
        assert len(found["rc_answers_us"]) == 2, found
        assert found["path_mtu"] == 1024, found
    p = lab.a.bare(lab.bin("uroce"), "ping", "--run-dir", lab.a.run_dir,
                   "--rc", "7471", to.addr4)
    assert p.wait(60) == 0, p.report()
    assert p.text().count("RC answer in") == 3, p.report()
    assert "RC packets of 1024 bytes cross" in p.text(), p.report()


def test_rc_stock_service(lab):
    """Any rdma_cm service will do, and lives on."""
    lab.serve()
    s = lab.b.start("rping", "-s", "-P", "-a", lab.b.addr4)
    wait_for("rping to listen", lambda: ping_rc(
        lab, lab.a, lab.b.addr4, "7174")["cause"] == "ok")
    c = lab.a.start("rping", "-c", "-a", lab.b.addr4, "-C", "3", "-V")
    assert c.wait(60) == 0, c.report()
    assert s.running(), s.report()


def test_rc_nobody_listens(lab):
    lab.serve()
    found = ping_rc(lab, lab.a, lab.b.addr4)
    assert found["cause"] == "no-service", found
    assert "7471" in found["text"] and "--listen" in found["text"], found


def test_rc_filtered(lab):
    """Connection management crosses, RC packets (opcodes 0 to 31) do not."""
    lab.serve()
    listening(lab, lab.b)
    refuse(lab.b, "input", "udp dport 4791 @th,64,8 < 32 drop")
    found = ping_rc(lab, lab.a, lab.b.addr4)
    assert found["cause"] == "rc" and "4791" in found["text"], found
    assert found["rc_answers_us"] == [], found


def test_rc_mtu(lab):
    """Neither an echo nor the connection manager's packets show this."""
    lab.serve()
    listening(lab, lab.b)
    refuse(lab.b, "input", "udp dport 4791 udp length > 600 drop")
    assert ping(lab, lab.a, lab.b.addr4) == ("ok", "")
    found = ping_rc(lab, lab.a, lab.b.addr4)
    assert found["cause"] == "mtu" and "1024" in found["text"], found
    assert len(found["rc_answers_us"]) == 2, found


def test_rc_causes_of_before(lab):
    """What fails before any connection has the cause it always had."""
    lab.a.serve("--netdev", "eth0")
    assert ping_rc(lab, lab.a, lab.b.addr4)["cause"] == "no-device"
    assert ping_rc(lab, lab.a, "192.0.2.1")["cause"] == "route"
    p = lab.a.bare(lab.bin("uroce"), "ping", "")
    assert p.wait(20) == 1, p.report()
    for words in (["--rc", "0", "10.77.0.2"], ["--rc", "7471"],
                  ["--listen", "70000"], ["--listen", "7471", "10.77.0.2"]):
        p = lab.a.bare(lab.bin("uroce"), "ping", *words)
        assert p.wait(20) == 2, p.report()


def test_daemon_not_running(lab):
    lab.a.serve("--netdev", "eth0")
    cause, text = ping(lab, lab.a, lab.b.addr4)
    assert cause == "no-device" and "no device is running" in text, text
    status, found = ask(lab, lab.b, "doctor", "--netdev", "eth0")
    daemon = [f for f in found if f["check"] == "daemon"]
    assert "no device is running" in daemon[0]["what"]
    assert "uroced" in daemon[0]["todo"]


def test_daemon_died(lab):
    lab.a.serve("--netdev", "eth0")
    lab.a.device.kill()
    status, found = ask(lab, lab.a, "doctor", "--netdev", "eth0")
    daemon = [f for f in found if f["check"] == "daemon"]
    assert "died" in daemon[0]["what"], found


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_run_dir_permissions(lab, mode):
    """A directory that we may not enter, and one that we may not write in."""
    if os.stat(lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    path = lab.tmp + "/private"
    os.mkdir(path, mode)
    os.chmod(path, mode)
    found = doctor(lab, lab.a, "--netdev", "eth0", run_dir=path, before=NOBODY)
    said = found.get("run-dir", "") + found.get("daemon", "")
    assert "ermission denied" in said, found
    assert path in said


def test_run_dir_group(lab):
    """A device for a group that we are not in."""
    if os.stat(lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    lab.a.serve("--netdev", "eth0", "--group", "root")
    found = doctor(lab, lab.a, before=NOBODY)
    assert "refuses" in found["daemon"], found


FAKE = """void ibv_get_device_list(void) {}
void verbs_register_driver_%d(void) {}
"""


def fake_verbs(lab, number):
    """A directory with a libibverbs of that private ABI."""
    path = lab.tmp + "/lib"
    os.mkdir(path)
    with open(path + "/fake.c", "w") as f:
        f.write(FAKE % number)
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libibverbs.so.1",
                    "-o", path + "/libibverbs.so.1", path + "/fake.c"],
                   check=True)
    return {**os.environ, "LD_LIBRARY_PATH": path}


needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")


@needs_cc
def test_libibverbs_unsupported(lab):
    found = doctor(lab, lab.a, "--netdev", "eth0", env=fake_verbs(lab, 77))
    assert "private ABI 77" in found["libibverbs"], found


@needs_cc
def test_static_program(lab):
    source, program = lab.tmp + "/p.c", lab.tmp + "/p"
    with open(source, "w") as f:
        f.write("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", "-o", program, source], check=True)
    found = doctor(lab, lab.a, "--netdev", "eth0", program)
    assert "statically linked" in found["program"], found


def test_setuid_program(lab):
    program = lab.tmp + "/true"
    shutil.copy("/bin/true", program)
    os.chmod(program, 0o4755)
    found = doctor(lab, lab.a, "--netdev", "eth0", program, before=NOBODY)
    assert "more rights" in found["program"], found


def test_no_address(lab):
    netdev(lab.a, "bare")
    found = doctor(lab, lab.a, "--netdev", "bare")
    assert "no address" in found["netdev"], found
    lab.a.serve("--netdev", "bare")
    assert "no address" in doctor(lab, lab.a)["device"]


def test_netdev_missing_or_down(lab):
    assert "no interface" in doctor(lab, lab.a, "--netdev", "eth9")["netdev"]
    lab.a.ip("link", "set", "eth0", "down")
    assert "down" in doctor(lab, lab.a, "--netdev", "eth0")["netdev"]


def test_duplicate_device(lab):
    """A second run directory on the same interface."""
    lab.a.serve("--netdev", "eth0")
    found = doctor(lab, lab.a, "--netdev", "eth0",
                   run_dir=lab.tmp + "/second")
    assert "taken by uroced (process" in found["port"], found


def test_port_of_one_not_to_look_into(lab):
    """uroced lets no user look into it, its own neither: that user and its uroced are
    named all the same."""
    if os.stat(lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    path = lab.tmp + "/theirs"
    os.mkdir(path)
    os.chown(path, 65534, 65534)
    p = lab.a.bare(*NOBODY, lab.bin("uroced"), "--netdev", "eth0", "--run-dir", path + "/run")
    wait_for("ready", lambda: "ready" in p.text() or not p.running())
    found = doctor(lab, lab.a, "--netdev", "eth0", run_dir=path + "/other", before=NOBODY)
    assert "taken by nobody, most likely its uroced (process" in found["port"], found


def test_memlock(lab):
    if os.stat(lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    path = lab.tmp + "/nobody"
    os.mkdir(path)
    os.chown(path, 65534, 65534)
    found = doctor(lab, lab.a, "--netdev", "eth0", run_dir=path,
                   before=["prlimit", "--memlock=16384", *NOBODY])
    assert "16384" in found["memlock"], found


def memlock_of(found, program):
    """State and sentence of the finding about a program's limit."""
    got = [(f["state"], f["what"]) for f in found
           if f["check"] == "memlock" and program in f["what"]]
    assert len(got) <= 1, found
    return got[0] if got else None


def test_memlock_of_programs(lab):
    """Those that run already: with little, with more, and root's."""
    if os.stat(lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    lab.a.serve("--netdev", "eth0")
    os.chmod(lab.a.run_dir, 0o755)
    for limit, state, user in (("16384", "problem", NOBODY),
                               ("100000", "note", NOBODY),
                               ("16384", None, [])):
        p = lab.a.bare("prlimit", f"--memlock={limit}", *user,
                       lab.bin("uroce"), "run", "--run-dir", lab.a.run_dir,
                       "--", "ibv_rc_pingpong")
        wait_for("the server", lambda: p.listens(18515) or not p.running())
        assert p.running(), p.report()
        found = ask(lab, lab.a, "doctor")[1]
        got = memlock_of(found, "ibv_rc_pingpon")
        if state:
            assert got and got[0] == state and limit in got[1], found
        else:
            assert got is None, found
        p.kill()


@pytest.mark.part("ROCE_V1")
def test_roce_v1_names_ports_once(lab):
    """A GID of v1 has no UDP port."""
    lab.a.serve("--netdev", "eth0", "--roce-v1")
    lab.a.gid(lab.a.addr6, "IB/RoCE v1")
    status, found = ask(lab, lab.a, "doctor")
    ports = [f["what"] for f in found if f["check"] == "port"]
    assert len(ports) == len(set(ports)) >= 2, ports
    assert len([p for p in ports if f" {lab.a.addr4} " in p]) == 1, ports


def test_opens_libraries(lab):
    """A program may open libibverbs past a preloaded library; the way round
    that uroce(7) names is one."""
    source, program = lab.tmp + "/d.c", lab.tmp + "/d"
    with open(source, "w") as f:
        f.write("#define _GNU_SOURCE\n#include <dlfcn.h>\n"
                "int main(void) { int n = 0; void *h = dlopen("
                '"libibverbs.so.1", RTLD_NOW | RTLD_DEEPBIND); '
                "void *(*list)(int *) = dlsym(h, \"ibv_get_device_list\"); "
                "list(&n); return n; }\n")
    subprocess.run(["cc", "-w", "-o", program, source, "-ldl"], check=True)
    for other, wanted in (program, 1), ("/bin/true", 0):
        _, found = ask(lab, lab.a, "doctor", "--netdev", "eth0", other)
        notes = [f["what"] for f in found if f["check"] == "dlopen"]
        assert len(notes) == wanted, found
        assert all("RTLD_DEEPBIND" in note for note in notes)
    lab.serve()
    lab.a.run(program, status=0)
    lab.a.run("sh", "-c", f'LD_PRELOAD="$LD_PRELOAD:libibverbs.so.1" {program}',
              status=1)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The switches of a card's administrator, written as on a real card, and seen
in packets: doc/card.md has the lines."""
import pytest

import hosts
from cm import start_server
from packets import packets
from pairs import run_pair, start_pair
from test_cli import uroce
from test_faults import wait_traffic
from test_v1 import Capture

TC = "/sys/class/infiniband/uroce0/tc/1/traffic_class"


@pytest.fixture(scope="module")
def two(build):
    lab = hosts.Lab(build)
    try:
        for host in lab.a, lab.b:
            host.serve("--netdev", "eth0", "--engine-opt", "gso=0,gro=0")
        yield lab
    finally:
        lab.close()


@pytest.fixture
def card(two):
    """What a test has set is as it was before the next one."""
    yield two
    for key, value in ("tclass", "tclass=-1"), ("ttl", "0"), ("ecn", "1"):
        uroce(two.a, "link", "set", "uroce0", key, value)
    sh(two.a, "cma_roce_tos -d uroce0 -t 0")


def sh(host, line, status=0):
    return host.run("sh", "-c", line, status=status)


def sent(card, *cmd, by=...):
    """The RoCE packets that a sends while the two talk; of both: by=None."""
    by = card.a if by is ... else by
    with Capture(card.b) as cap:
        run_pair(card.b, card.a, [*(cmd or ("ibv_rc_pingpong", "-n", "3"))])
    return [p for p in packets(cap.frames)
            if not by or str(p.src) in (by.addr4, by.addr6)]


def test_traffic_class(card):
    """bash writes with stdio, dash with write(): both arrive."""
    a = card.a

    def put(line, shell="bash"):
        return a.run(shell, "-c", f"echo {line} > {TC}; echo status $?; cat {TC}")
    assert put("106") == "status 0\nGlobal tclass=106\n"
    rule = f"tclass=16,src_ip={a.addr4},dst_ip={card.b.addr4}/24"
    text = f"src_ip={a.addr4},dst_ip={card.b.addr4}/24,tclass=16\n"
    # The one for all goes first.
    assert put(rule, "sh") == "status 0\nGlobal tclass=106\n" + text
    assert {p.tos for p in sent(card)} == {106}
    assert put("tclass=-1", "sh") == "status 0\n" + text
    both = sent(card, by=None)
    # It asks for no ECN, which is ECT(0) then, as what a card's hardware sends.
    assert {p.tos for p in both if str(p.src) == a.addr4} == {16 | 2}
    # Its peer's are its own.
    assert {p.tos for p in both if str(p.src) == card.b.addr4} == {2}
    assert put(rule.replace("16", "-1", 1)) == "status 0\n"


def test_errors(card):
    a = card.a
    out = sh(a, f"printf 256 > {TC}", status=1)
    assert "Invalid argument" in out or "I/O error" in out, out
    for wrong in "300", "x", "tclass=16,src_ip=1.1.1", "src_ip=1.1.1.1", \
            "tclass=1,src_ip=1.1.1.1,dst_ip6=::1":
        out = a.run("/usr/bin/python3", "-c",
                    f"import os; f = os.open('{TC}', os.O_WRONLY)\n"
                    f"try: os.write(f, b'{wrong}')\n"
                    f"except OSError as e: print(e.errno)")
        assert out == "22\n", out
    assert a.run("cat", TC) == ""
    # Nobody else's business, and not those of others.
    p = a.start("setpriv", "--reuid", "65534", "--clear-groups", "sh", "-c", f"echo 1 > {TC}")
    assert p.wait() and "ermission denied" in p.text(), p.report()
    out = sh(a, "echo 1 > /sys/class/infiniband/uroce0/node_guid", status=2)
    assert "ermission denied" in out


def test_live_and_ttl(card):
    """A connection that is there already takes the new value. It sends no
    faster than tcpdump reads on a busy machine."""
    a, b = card.a, card.b
    s, c = start_pair(b, a, ["ib_write_bw", "-D", "30", "-s", "256", "-F",
                             "--rate_limit_type=SW", "--rate_limit=1000",
                             "--rate_units=p", "--burst_size=8"], flag="-x")
    try:
        wait_traffic(card)
        with Capture(b) as cap:
            sh(a, f"echo 104 > {TC}; echo 7 > /sys/class/infiniband/uroce0/tc/1/ttl")
        got = [p for p in packets(cap.frames) if str(p.src) == a.addr4]
        assert (2, 255) in {(p.tos, p.ttl) for p in got}
        assert (got[-1].tos, got[-1].ttl) == (104 | 2, 7)
    finally:
        c.kill()
        s.kill()
    assert "ttl 7" in uroce(a, "link", "set", "uroce0")
    assert sh(a, "cat /sys/class/infiniband/uroce0/ttl/1/ttl") == "7\n"
    uroce(a, "link", "set", "uroce0", "ttl", "0")
    uroce(a, "link", "set", "uroce0", "tclass", "tclass=-1")
    assert {(p.tos, p.ttl) for p in sent(card)} == {(2, 64)}
    assert "cannot be 'x'" in uroce(a, "link", "set", "uroce0", "ttl", "x", status=1)
    assert "no setting" in uroce(a, "link", "set", "uroce0", "none", "x", status=1)


CONFIG = "/sys/kernel/config/rdma_cm"


def test_configfs(card):
    """As the scripts of a card do it: looks for the mount, makes a directory,
    writes, reads."""
    a, b = card.a, card.b
    out = sh(a, f"grep -c '{CONFIG.rsplit('/', 1)[0]}' /proc/mounts && "
             f"mkdir {CONFIG}/uroce0 && cd / && cat {CONFIG}/uroce0/ports/1/*")
    assert out == "1\nRoCE v2\n0\n"
    d = f"{CONFIG}/uroce0/ports/1"
    assert "File exists" in sh(a, f"mkdir {CONFIG}/uroce0", status=1)
    assert "No such device" in sh(a, f"mkdir {CONFIG}/mlx5_0", status=1)
    assert sh(a, f"echo 106 > {d}/default_roce_tos; cat {d}/default_roce_tos") == "106\n"
    # There are no GIDs of v1.
    out = sh(a, f"printf 'IB/RoCE v1' > {d}/default_roce_mode || echo no")
    assert out.endswith("I/O error\nno\n")  # all that dash says
    assert sh(a, f"echo RoCE v2 > {d}/default_roce_mode; cat {d}/default_roce_mode") == "RoCE v2\n"
    assert sh(a, f"rmdir {CONFIG}/uroce0; ls {CONFIG}") == ""
    # The value stays, as in the kernel.
    assert sh(a, "cma_roce_tos -d uroce0 -p 1") == "106\n"
    assert sh(a, "cma_roce_mode -d uroce0 -p 1 -m 2") == "RoCE v2\n"

    def tos(*own):
        with Capture(b) as cap:
            port = card.next_port()
            cmd = ["ib_send_bw", "-d", "uroce0", "-R", "-n", "5", "-F", "-p", str(port), *own]
            server = start_server(b, port, *cmd)
            a.run(*cmd, b.addr4)
            assert server.wait() == 0, server.report()
        return {p.tos for p in packets(cap.frames)
                if str(p.src) == a.addr4 and p.opcode < 0x20}
    assert tos() == {106}
    # The program's own goes first; it has another connection that sets none.
    assert tos("--tos=64") == {64 | 2, 106}
    assert sh(a, "cma_roce_tos -d uroce0 -t 0") == "0\n"


def test_tools(card):
    """Programs of a card, in its output format."""
    a = card.a
    assert sh(a, "ibdev2netdev") == "uroce0 port 1 ==> eth0 (Up)\n"
    out = sh(a, "show_gids").splitlines()
    assert out[0].split() == ["DEV", "PORT", "INDEX", "GID", "IPv4", "VER", "DEV"]
    assert out[-1] == f"n_gids_found={len(out) - 3}"
    mapped = [line.split("\t") for line in out if a.addr4 in line]
    assert [(f[0], f[1], *f[4:]) for f in mapped] == [
        ("uroce0", "1", a.addr4 + "  ", "v2", "eth0")]
    other = [line.split("\t") for line in out if ":fd77:" in line or "\tfd77:" in line]
    assert [(f[0], f[1], *f[4:]) for f in other] == [("uroce0", "1", "", "", "v2", "eth0")]
    out = sh(a, "show_counters uroce0").splitlines()
    assert out[0] == "Port 1 hw counters:" and "Port 1 counters:" in out
    assert "lifespan: 10" in out and "" in out and any(
        line.startswith("out_of_sequence: ") for line in out)
    assert "usage" in sh(a, "cma_roce_mode", status=1)


# As doc/card.md has them.
NP = {"min_time_between_cnps": 50, "cnp_dscp": 48, "cnp_802p_prio": 6}
RP = {
    "rpg_time_reset": 55, "rpg_byte_reset": 156250, "rpg_threshold": 5, "rpg_ai_rate": 40,
    "rpg_hai_rate": 400, "rpg_min_rate": 1, "rpg_max_rate": 0, "rpg_min_dec_fac": 50,
    "rpg_gd": 11, "dce_tcp_g": 1020, "dce_tcp_rtt": 55, "initial_alpha_value": 1023,
    "rate_to_set_on_first_cnp": 0, "rate_reduce_monitor_period": 0, "clamp_tgt_rate": 1,
    "clamp_tgt_rate_after_time_inc": 1,
}


def test_ecn(card):
    """What is not ECT cannot be marked; the parameters of DCQCN by their names."""
    a = card.a
    ecn = "/sys/class/net/eth0/ecn"
    uc = "ibv_uc_pingpong", "-n", "3"
    setting = "/sys/class/infiniband/uroce0/tc/1/ecn"
    # RC is ECT(0) at first; UC where the peer has sent a CNP, which it may have.
    assert sh(a, f"cat {setting}") == "1\n"
    assert {p.tos for p in sent(card)} == {2}
    assert sh(a, f"echo 2 > {setting}") == ""
    assert {p.tos for p in sent(card, *uc)} == {2}
    uroce(a, "link", "set", "uroce0", "ecn", "0")
    assert {p.tos for p in sent(card) + sent(card, *uc)} == {0}
    uroce(a, "link", "set", "uroce0", "ecn", "1")
    assert "cannot be '3'" in uroce(a, "link", "set", "uroce0", "ecn", "3", status=1)
    assert sh(a, f"cat {ecn}/roce_np/enable/3 {ecn}/roce_rp/enable/3") == "1\n0\n"
    assert sh(a, f"echo 1 > {ecn}/roce_rp/enable/3; cat {ecn}/roce_rp/enable/3") == "1\n"
    assert sh(a, f"echo 4 > {ecn}/roce_np/min_time_between_cnps; "
              f"cat {ecn}/roce_np/min_time_between_cnps") == "4\n"
    out = sh(a, f"cd {ecn} && grep -H . roce_np/[!e]* roce_rp/[!e]*")
    shown = dict(line.split(":") for line in out.splitlines())
    assert shown == {**{"roce_rp/" + k: str(v) for k, v in RP.items()},
                     **{"roce_np/" + k: str(v) for k, v in NP.items()},
                     "roce_np/min_time_between_cnps": "4"}
    # Each can be set, by file and by command, and is checked.
    for k, v in RP.items():
        assert sh(a, f"echo {v} > {ecn}/roce_rp/{k}; cat {ecn}/roce_rp/{k}") == f"{v}\n"
        uroce(a, "link", "set", "uroce0", k, str(v))
        assert "cannot be" in uroce(a, "link", "set", "uroce0", k, "9999999", status=1)
    out = sh(a, f"printf 1024 > {ecn}/roce_rp/dce_tcp_g || cat {ecn}/roce_rp/dce_tcp_g")
    assert out.endswith("\n1020\n")
    assert "dce_tcp_g 1020" in uroce(a, "link", "set", "uroce0")
    # The rest of the interface's directory is the host's.
    assert sh(a, "cat /sys/class/net/eth0/mtu") == "1500\n"

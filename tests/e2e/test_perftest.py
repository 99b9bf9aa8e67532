# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""perftest with its own socket exchange. It does not look at the data (the
ping-pongs do); it drives deep queues, many queue pairs, all sizes."""
import pytest

from pairs import run_pair

TRANSPORTS = {"send": ["RC", "UC", "UD", "XRC"], "write": ["RC", "UC", "XRC"],
              "read": ["RC", "XRC"], "atomic": ["RC", "XRC"]}
CASES = [(op, kind, c) for op, cs in TRANSPORTS.items()
         for kind in ("bw", "lat") for c in cs]


def perftest(hosts, op, kind, c, *options, family=4, iters=100, limit=60):
    cmd = [f"ib_{op}_{kind}", "-F", "-n", str(iters), *options]
    if c != "RC":
        cmd += ["-c", c]
    s, out = run_pair(*hosts, cmd, family, "-x", limit)
    rows = [line.split() for line in out.splitlines()
            if line.strip() and line.split()[0].isdigit()]
    assert rows, out
    return rows


@pytest.mark.parametrize("mtu", [1500])
@pytest.mark.parametrize("op,kind,c", CASES)
def test_plain(labs, mtu, topology, op, kind, c):
    perftest(topology(labs(mtu)), op, kind, c)


@pytest.mark.parametrize("mtu", [9000])
@pytest.mark.parametrize("op,kind,c", [c for c in CASES if c[1] == "bw"])
def test_ipv6(labs, mtu, topology, op, kind, c):
    perftest(topology(labs(mtu)), op, kind, c, family=6)


# perftest samples the processor's clock for half a second at each of the 23
# sizes, so not every combination.
ALL_SIZES = [(1500, "send", "bw", "RC"), (1500, "send", "bw", "UC"),
             (1500, "send", "bw", "UD"), (1500, "write", "bw", "RC"),
             (1500, "read", "bw", "RC"), (1500, "send", "lat", "RC"),
             (9000, "write", "bw", "RC"), (9000, "write", "bw", "UC")]


@pytest.mark.parametrize("mtu,op,kind,c", ALL_SIZES)
def test_all_sizes(labs, mtu, topology, op, kind, c):
    rows = perftest(topology(labs(mtu)), op, kind, c, "-a", iters=5,
                    limit=120)
    if c != "UD":
        assert rows[-1][0] == "8388608"


def shows(params):
    """Each operation, MTU and topology: the sizes are the same whether bandwidth or
    latency is measured, and that takes ten seconds; messages of UC are cut into packets
    as those of RC."""
    return {(n, str(v)) for n, v in params.items() if n not in ("kind", "c")}


test_all_sizes.shows = shows


OPTIONS = [("send", ["-q", "16"]), ("send", ["-b"]), ("send", ["--use-srq"]),
           ("send", ["-e"]), ("send", ["-I", "64", "-s", "64"]),
           ("send", ["-q", "4", "--use-srq"]),
           ("write", ["-q", "16"]), ("write", ["-b"]),
           ("write", ["-I", "64", "-s", "64"]), ("write", ["-l", "5"]),
           ("read", ["-q", "16"]), ("read", ["-b"]), ("read", ["-o", "8"]),
           ("atomic", ["-q", "16"]), ("atomic", ["-b"]),
           ("atomic", ["-A", "CMP_AND_SWAP"])]


@pytest.mark.parametrize("mtu", [1500])
@pytest.mark.parametrize("op,options", OPTIONS,
                         ids=lambda v: v if isinstance(v, str) else
                         "".join(v))
def test_bw_options(labs, mtu, topology, op, options):
    perftest(topology(labs(mtu)), op, "bw", "RC", *options)


@pytest.mark.parametrize("mtu", [1500])
@pytest.mark.parametrize("op,options", [("send", ["-e"]),
                                        ("send", ["-I", "32", "-s", "32"]),
                                        ("write", ["-I", "32", "-s", "32"])],
                         ids=lambda v: v if isinstance(v, str) else
                         "".join(v))
def test_lat_options(labs, mtu, topology, op, options):
    perftest(topology(labs(mtu)), op, "lat", "RC", *options)

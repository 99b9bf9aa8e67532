# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""libfabric's providers over verbs: Debian's fi_pingpong, and rdm.c, whose
endpoints come and go."""
import re

from cells import LOSS, ONE, TWO, runs

PINGS = 100


@runs(("msg", [LOSS], [ONE, TWO]))
def test_pingpong(place, variant, compare):
    """A message there and one back, looked at (-c)."""
    def rate(provider, device):
        cmd = ["fi_pingpong", "-p", provider, "-e", variant, "-c", "-S",
               "65536", "-I", str(PINGS)]
        out = place.pair([*cmd, "-B", "PORT"],
                         [*cmd, "-P", "PORT", "PEER"], device)
        found = re.search(rf"^64k +{PINGS} +={PINGS} +\S+ +\S+ +([\d.]+)", out,
                          re.M)
        assert found, out
        return float(found.group(1))

    def ours():
        with place.carrying(PINGS * 65536):
            return rate("verbs", True)

    def tcp():
        with place.over_tcp():
            return rate("tcp", False)
    compare("libfabric, fi_pingpong", variant, place, ours, tcp)


def rdm(place, program, provider, end, rounds, device=True):
    cmd = [program, provider, end, str(rounds), "MINE", "PORT"]
    out = place.pair(cmd, [*cmd, "PEER"], device)
    found = re.search(rf"^good {rounds} rounds, ([\d.]+) MB/s", out, re.M)
    assert found, out
    return float(found.group(1))


@runs(("rxm", [TWO], [ONE, LOSS]), ("rxd", [ONE, TWO], [LOSS]))
def test_rdm(place, variant, compiled, compare):
    """rxm's messages go over connections, whose end by the other side takes
    what was not looked at yet: it has to end in order. rxd acknowledges by
    itself, and what it sent last before it was closed has to leave. Where
    packets get lost that may be, so it ends in order as well."""
    program = compiled("rdm.c", "rdm", "cc", "-lfabric")
    end = "abrupt" if variant == "rxd" and not place.cell.loss else "orderly"

    def ours():
        with place.carrying(10 << 20):
            return rdm(place, program, f"verbs;ofi_{variant}", end,
                       20 if end == "abrupt" else 5)

    def tcp():
        with place.over_tcp():
            return rdm(place, program, "tcp;ofi_rxm", "orderly", 2, False)
    compare("libfabric, reliable datagrams", variant, place, ours, tcp)

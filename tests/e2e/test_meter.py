# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A way that marks all beyond a rate and lets nothing wait (a meter): only marks say how much it is to carry. A busy
machine sends less than that, so the bound holds there as well."""
import time

import pytest

from hosts import Lab
from pairs import start_pair
from test_guest_engine import octets

LIMIT = 40_000_000  # bytes a second
RULE = ("table ip m {{ chain c {{ type filter hook prerouting priority -300; udp dport 4791 "
        "limit rate over {} bytes/second ip ecn set ce; }}\n}}\n")
SETTLED = 3 * LIMIT  # bytes: the meter marks nothing of the first LIMIT
RUN = 3  # seconds


@pytest.fixture(params=["process", "apart"])
def two(build, monkeypatch, request):
    monkeypatch.setenv("UROCE_ENGINE", request.param)
    lab = Lab(build)
    try:
        lab.serve()
        yield lab
    finally:
        lab.close()


def test_meter(two):
    two.b.nft(RULE.format(LIMIT))
    s, c = start_pair(two.b, two.a, ["ib_write_bw", "-D", "60", "-s", "65536", "-F"], flag="-x")
    try:
        while octets(two.a) < SETTLED and c.running():
            time.sleep(0.1)
        sent, began = octets(two.a), time.monotonic()
        time.sleep(RUN)
        rate = (octets(two.a) - sent) / (time.monotonic() - began)
        assert c.running() and s.running(), c.report() + s.report()
    finally:
        c.kill()
        s.kill()
    assert rate <= 2 * LIMIT, f"{rate / LIMIT:.2f} of the meter's rate"

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs with another clock in front of the C library's (libfaketime): one that stands still, and ones that go faster and
slower. An engine in them goes by the kernel's."""
import glob

import pytest

from pairs import run_pair
from test_guest_engine import pair  # pylint: disable=unused-import
from test_guest_host import As

CLOCKS = {"stands": "2020-01-01 00:00:00", "fast": "+0 x1000", "slow": "+0 x0.001"}


class Faked(As):
    """A host on which programs have that clock."""
    def __init__(self, host, clock):
        super().__init__(host, "process")
        library = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
        if not library:
            pytest.skip("no libfaketime")
        self.by = ["sh", "-c", 'LD_PRELOAD="$LD_PRELOAD:$0" FAKETIME="$1" '
                   'UROCE_ENGINE=process; export LD_PRELOAD FAKETIME UROCE_ENGINE; shift; exec "$@"',
                   library[0], clock]


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("program", [["ibv_rc_pingpong", "-s", "100000"], ["ibv_rc_pingpong", "-e"]],
                         ids=["polls", "sleeps"])
def test_pingpong(pair, program, clock):
    """Verified."""
    run_pair(Faked(pair.a, CLOCKS[clock]), Faked(pair.b, CLOCKS[clock]),
             [*program, "-c", "-n", "100"])

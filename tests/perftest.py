# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A race in perftest itself, which has nothing to do with the device."""

# How often a pair that lost the race is run anew.
TRIES = 4


def lost_race(cmd, status, output):
    """Whether a client `cmd` (a string) that ended with `status`, as a shell
    or as subprocess has it, fell into perftest's own race.

    With -R, perftest (4.5, create_rdma_cm_connection()) shakes hands on its
    first connection before the server resolves, binds and listens for those
    of the queue pairs. A client that is faster is rejected, rightly, and
    perftest, which means to try ten times, then crashes on what it has just
    freed, while its server waits for ever. Nothing else may end like this."""
    return (" -R" in cmd and cmd.startswith("ib_") and status in (139, -11) and
            "Event: RDMA_CM_EVENT_REJECTED; error: 8" in output)

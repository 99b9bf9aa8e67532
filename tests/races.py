# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Races in stock programs themselves, which have nothing to do with the
device: each known by its exact output, so that nothing else passes for it."""
import re

# How often a program that lost its race is run anew.
TRIES = 4


def lost_race(cmd, status, output):
    """Whether `cmd` (a string) that ended with `status`, as a shell or as
    subprocess has it, fell into a race of its own."""
    if cmd.startswith("ib_"):
        return perftest(cmd, status, output) or clock(status, output)
    if cmd.startswith("raw_ethernet_"):
        return clock(status, output)
    if cmd.startswith("fi_pingpong "):
        return fi_pingpong(status, output)
    if cmd.startswith("riostream "):
        return riostream(status, output)
    return cmd.startswith("rping ") and rping(status, output)


def perftest(cmd, status, output):
    """With -R, perftest (4.5, create_rdma_cm_connection()) shakes hands on its
    first connection before the server resolves, binds and listens for those
    of the queue pairs. A client that is faster is rejected, rightly, and
    perftest, which means to try ten times, then crashes on what it has just
    freed, while its server waits for ever."""
    return (" -R" in cmd and status in (139, -11) and
            "Event: RDMA_CM_EVENT_REJECTED; error: 8" in output)


def clock(status, output):
    """perftest (4.5, get_cpu_mhz()) measures how fast the processor counts, and
    where something came between and its samples are no line it has measured all
    and says nothing."""
    return (status == 1 and "Correlation coefficient r^2:" in output and
            "Can't produce a report" in output)


def rping(status, output):
    """rping (44, cm_thread()) closes its event channel at its end while its
    thread still asks for events, and that thread, when it asks after the
    close, ends the program with the error."""
    return (status == 255 and " DISCONNECT EVENT..." in output and
            "rdma_get_cm_event: Bad file descriptor" in output and
            "failed" not in output)


def riostream(status, output):
    """riostream (44, server_connect()) sets the options of its socket after rlisten(),
    whose thread accepts already: a client that comes in between, by one try in a row of
    them, is granted no mapping, and then waits for ever."""
    return (status == 124 and "rpoll: Connection refused" in output and
            "riomap: Cannot allocate memory" in output)


def fi_pingpong(status, output):
    """fi_pingpong (libfabric 1.17, pp_finalize()) ends when its own last message
    is acknowledged and the other's last one has come. Where packets are lost that
    may be the acknowledgement of the other's, and nobody is left to send it again:
    the other has its whole table, and then an error."""
    return (status == 5 and "transport retry counter exceeded" in output and
            re.search(r"^\d+k? +(\d+) +=\1 ", output, re.M) is not None)

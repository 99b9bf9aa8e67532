# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fixtures: one Soft-RoCE guest and one uroce device on one bridge, counters
held to account around every test, and the table for doc/interop.md."""
import json
import os
import signal
import subprocess
import sys

import pytest

sys.path.append(os.path.dirname(os.path.dirname(__file__)))

import guest as g  # noqa: E402
from representative import pytest_collection_modifyitems  # noqa: E402,F401

NETNS = f"uroce-io-{os.getpid()}"
RESULTS = []

# What Soft-RoCE counts when its peer does something wrong. Not
# completer_retry_err: an emulated guest is slow enough to time out by itself.
BAD = ("out_of_seq_request", "rcvd_seq_err", "retry_exceeded_err", "retry_rnr_exceeded_err",
       "send_err")
# What uroce counts when it refuses a packet of its peer.
REFUSED = ("bad_opcode", "bad_length", "bad_pkey", "bad_qkey", "bad_gid", "rx_icrc_encapsulated")


@pytest.fixture(scope="session")
def hosts():
    why = g.missing()
    if why:
        pytest.skip(why)
    g.build_image()
    rxe = uroce = None
    try:
        rxe = g.Guest(f"io{os.getpid() % 100000}", NETNS, 2,
                      volumes=[f"{g.BUILD}:/build", f"{g.TOP}:/uroce"])
        uroce = g.Uroce(NETNS)
        yield {"rxe": rxe, "uroce": uroce}
    finally:
        if uroce:
            uroce.stop()
        if rxe:
            rxe.stop()
        subprocess.run(["ip", "netns", "del", NETNS], stderr=subprocess.DEVNULL)


@pytest.fixture
def clean_wire(request, hosts):
    """The test must make neither side count an error of the other."""
    before = {k: h.counters() for k, h in hosts.items()}
    request.node.counted = hosts, before
    yield
    after = {k: h.counters() for k, h in hosts.items()}
    # What follows a packet that was refused for want of a receive, and what
    # follows a frame that the emulated machine lost, is a gap to Soft-RoCE,
    # one each; any more would be of our making.
    excused = sum(after["rxe"][k] - before["rxe"][k] for k in ("send_rnr_err", "frames_lost"))
    after["rxe"]["out_of_seq_request"] = max(
        before["rxe"]["out_of_seq_request"], after["rxe"]["out_of_seq_request"] - excused)
    for who, names in (("rxe", BAD), ("uroce", REFUSED)):
        grew = {k: after[who][k] - before[who][k] for k in names
                if after[who].get(k, 0) != before[who].get(k, 0)}
        assert not grew, f"{who} counted errors: {grew}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed and hasattr(item, "counted"):
        # Who lost what.
        hosts, before = item.counted
        for k, h in hosts.items():
            moved = {n: v - before[k].get(n, 0) for n, v in h.counters().items()}
            report.sections.append((f"what {k} counted", str({n: v for n, v in moved.items() if v})))
    cell = getattr(item.function, "cell", None)
    if cell and (report.when == "call" or report.failed):
        spec = getattr(item, "callspec", None)
        RESULTS.append(dict(cell(spec and spec.params), outcome=report.outcome))


def pytest_sessionfinish(session):
    out = os.environ.get("UROCE_INTEROP_TABLE")
    if out and RESULTS:
        with open(out, "w") as f:
            json.dump(RESULTS, f, indent=1)


def pytest_configure(config):
    """A stage that is told to end cleans up as one that is interrupted. Not by
    SIGINT: who was started in the background ignores that."""
    def stop(*_):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, stop)

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Where programs run: on one host or two, over which IP, with what loss."""
import contextlib
import os
from typing import NamedTuple

import pytest

import races
from hosts import wait_for
from rules import drop
from test_faults import counter, dropped

# Set: every program everywhere. Else: what is most unlike the rest.
FULL = os.environ.get("UROCE_FULL") == "1"


class Cell(NamedTuple):
    name: str  # a column of the table
    hosts: int
    family: int  # of IP
    loss: int  # of 100 packets between the hosts


ONE = Cell("one host", 1, 4, 0)
TWO = Cell("two hosts", 2, 4, 0)
LOSS = Cell("1 % loss", 2, 4, 1)
TWO6 = Cell("two hosts, IPv6", 2, 6, 0)
LOSS6 = Cell("1 % loss, IPv6", 2, 6, 1)


def runs(*wanted):
    """Parametrize a test by variant and place. Of (variant, usual cells,
    cells of a full run only), a cell may be missing."""
    return pytest.mark.parametrize("variant,place", [
        pytest.param(variant, cell, id=f"{variant}-{cell.name}".replace(
            " ", "_")) for variant, usual, more in wanted
        for cell in (*usual, *(more if FULL else ()))], indirect=["place"])


def use_cubic(host):
    """TCP is as Linux has it by default, whatever this machine has. By routes: a
    namespace cannot choose what the machine does not allow to everybody."""
    for family, table in ("-4", "main"), ("-4", "local"), ("-6", "main"):
        for route in host.ip(family, "route", "show", "table", table).splitlines():
            words = [w for w in route.split() if w not in ("linkdown", "pref", "medium")]
            if words[0] != "broadcast" and "eth0" in words and "congctl" not in words:
                host.ip(family, "route", "change", *words, "table", table,
                        "congctl", "lock", "cubic")


class Place:
    def __init__(self, lab, cell):
        self.lab, self.cell = lab, cell
        self.server = lab.a
        self.client = lab.b if cell.hosts == 2 else lab.a
        self.hosts = [lab.a, lab.b][:cell.hosts]
        for host in self.hosts:
            use_cubic(host)
        self.addr = self.address(lab.a)

    def address(self, host):
        return host.addr6 if self.cell.family == 6 else host.addr4

    def gid(self, host):
        return host.gid(self.address(host))

    def pair(self, server, client, device=True):
        """Programs that meet over TCP, both to their end; what the client
        said. PORT, MINE and PEER stand for what they are."""
        for _ in range(races.TRIES):
            port = str(self.lab.next_port())

            def start(host, words, port=port):
                where = {"PORT": port, "PEER": self.addr,
                         "MINE": self.address(host)}
                return (host.start if device else host.bare)(
                    *[where.get(w, w) for w in words])
            s = start(self.server, server)
            wait_for("the server", lambda s=s, port=port:
                     s.listens(int(port)) or not s.running())
            c = start(self.client, client)
            got = c.wait(100)
            got = got, s.wait(10 if got == 0 else 2)
            if not c.lost_race() and not s.lost_race():
                break
            print("lost its race:", c.report() + s.report())
            c.kill()
            s.kill()
        assert got == (0, 0), c.report() + s.report()
        return c.text()

    @contextlib.contextmanager
    def losing(self, what):
        """Packets of the kind `what` are lost, if any are here."""
        if self.cell.loss:
            rules = drop(self.cell.loss)
            for host in self.hosts:
                host.nft(rules.replace("udp dport 4791", what))
        yield
        if self.cell.loss:
            assert dropped(self.lab), "nothing was dropped"
        self.restore()

    def restore(self):
        for host in self.hosts:
            host.nft("flush ruleset\n")

    @contextlib.contextmanager
    def carrying(self, least):
        """What runs inside moves at least so many bytes over the device: on
        one host within its engine, or between programs with their own, on two between
        them."""
        def count():
            return sum((counter(h, "loop_bytes") if self.cell.hosts == 1 else 0) +
                       4 * counter(h, "port_xmit_data") for h in self.hosts)
        before = count()
        with self.losing("udp dport 4791"):
            yield
        assert count() - before >= least

    @contextlib.contextmanager
    def over_tcp(self):
        with self.losing("meta l4proto tcp"):
            yield

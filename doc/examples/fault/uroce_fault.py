# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""pytest fixtures for tests of RDMA programs under faults.

Copy this file beside your conftest.py, which says

    pytest_plugins = ["uroce_fault"]

and start pytest under `uroce run`, or name the device's run directory with
UROCE_RUN_DIR. Only root and the user that runs the device may change its rules;
they strike all its programs, so tests that use them do not run in parallel on
one device. uroce-fault(7) has the rules.
"""
import json
import os
import subprocess

import pytest


class Faults:
    """The rules of a device."""

    def __init__(self):
        self.command = os.environ.get("UROCE_COMMAND", "uroce")
        self.added = []

    def ask(self, *words):
        p = subprocess.run([self.command, "fault", *words], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if p.returncode:
            raise ValueError(p.stderr.strip())
        return p.stdout

    def add(self, rule):
        """Adds a rule, e.g. "drop op=write nth=100". Its number, or None for one
        that acts at once."""
        number = self.ask("add", rule).strip()
        if not number:
            return None
        self.added.append(int(number))
        return int(number)

    def delete(self, number):
        self.ask("del", str(number))
        self.added.remove(number)

    def all(self):
        """{number: {"rule", "device", "matched", "done"}}"""
        return {r["id"]: r for r in json.loads(self.ask("show", "--json"))}

    def met(self, number):
        """How often the rule met what it matches."""
        return self.all()[number]["matched"]

    def struck(self, number):
        """How often it acted on it."""
        return self.all()[number]["done"]


@pytest.fixture
def fault():
    """Faults; what a test adds ends with the test."""
    faults = Faults()
    yield faults
    for number in list(faults.added):
        faults.delete(number)


@pytest.fixture(params=[1, 2])
def hostile_card(request, monkeypatch):
    """The programs that the test starts with `uroce run` or, under it, by
    themselves have a legal but hostile card, here without its small limits."""
    p = subprocess.run([os.environ.get("UROCE_COMMAND", "uroce"), "run",
                        f"--adverse={request.param}:-limits", "--",
                        "printenv", "UROCE_ADVERSE"],
                       text=True, stdout=subprocess.PIPE, check=True)
    monkeypatch.setenv("UROCE_ADVERSE", p.stdout.strip())
    return request.param

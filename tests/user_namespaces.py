# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Whether programs may make user namespaces here: for e2e and package tests."""
import subprocess

import pytest


@pytest.fixture(scope="session")
def user_namespaces():
    """For a test whose program makes one, as an ordinary user."""
    p = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                        "unshare", "-Urmn", "true"], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, check=False)
    if p.returncode:
        pytest.skip(f"no user namespaces here: {p.stdout.strip()}")

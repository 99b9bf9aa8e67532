# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The verbs' corners through the stock libibverbs (verbs/*.c), on one host."""
import os
import re

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = [name for f in ("objects", "queues", "completions", "memory", "process",
                             "limits", "paging",
                            "regions", "parting", "target", "attributes", "later")
         for name in re.findall(r'\{"(\w+)", \w+\}',
                                open(f"{HERE}/verbs/{f}.c").read())]


@pytest.mark.parametrize("shared", [1, 0], ids=["shared", "copied"])
@pytest.mark.parametrize("name", NAMES)
def test_corner(request, labs, name, shared):
    """Registered memory mapped by the device, and reached the other way."""
    if name.endswith("_huge"):
        request.getfixturevalue("huge_pages")
    host = labs(1500).a
    program = host.lab.bin("verbs_corners")
    p = host.start("env", f"UROCE_MR_SHARED={shared}", program, name)
    p.wait(60)
    out = p.text()
    if p.proc.returncode == 77:
        pytest.skip(out.strip())
    assert p.proc.returncode == 0, out

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The blocks of doc/recipes.md, as they stand, by an ordinary user of a uroce fabric."""
import json
import os
import re
import shlex
import shutil
import subprocess

import pytest

from hosts import TOP, wait_for
from test_fabric import person, user  # noqa: F401  # fixtures

# What each of them moves at least, headers left out.
MOVED = 100000


def recipes():
    """{name: [line, ...]}, continued ones joined."""
    with open(f"{TOP}/doc/recipes.md") as f:
        text = re.search(r"^## Recipes\n(.*?)^## ", f.read(), re.M | re.S)[1]
    found = re.findall(r"^### ([^\n]+)\n(?:(?!^### ).)*?^```sh\n(.*?)^```$", text, re.M | re.S)
    assert len(found) == text.count("\n### ") == text.count("```sh")
    return {name: block.replace("\\\n", " ").splitlines() for name, block in found}


RECIPES = recipes()
# What a program comes in; Debian 13 has no package of some.
PROGRAMS = ("mpirun.openmpi", "mpicc.mpich", "ucx_perftest", "fi_pingpong", "ib_write_bw", "fio")
HEADERS = {"-lgloo": "/usr/include/gloo", "-lrpma": "/usr/include/librpma.h"}


def absent(lines):
    """What is not installed here of what the lines call."""
    words = " ".join(lines).split()
    for program in PROGRAMS:
        if program in words and not shutil.which(program):
            return program
    return next((path for word, path in HEADERS.items()
                 if word in words and not os.path.exists(path)), None)


def sent(user):  # noqa: F811
    """Bytes that the devices of each host have sent."""
    return [sum(4 * d["counters"]["port_xmit_data"] for d in
                json.loads(user.run(host, "uroce", "stat", "--json")))
            for host in ("node1", "node2")]


def listens(user):  # noqa: F811
    """Whether a program of node1 waits for another, over TCP or rdma_cm."""
    return (user.run("node1", "ss", "-Hltn").strip() or
            "LISTEN" in user.run("node1", "uroce", "cm").upper())


@pytest.mark.parametrize("name", list(RECIPES))
def test_recipe(user, name):  # noqa: F811
    missing = absent(RECIPES[name])
    if missing:
        pytest.skip(f"no {missing} here")
    user.fabric("up", "2", "--devices", "2")
    os.symlink(f"{TOP}/tests", f"{user.tmp}/tests")
    files = set(os.listdir(user.tmp))
    before, servers, exported, said = sent(user), [], "", []
    try:
        for line in RECIPES[name]:
            if line.startswith("export "):
                exported += line + "\n"
                continue
            script = exported + "exec </dev/null; " + line.removesuffix("&")
            p = user.program("sh", "-ec", script)
            if line.endswith("&"):
                servers.append(p)
                # gloo's ranks meet by files.
                if "allreduce" not in line:
                    wait_for(line, lambda p=p: listens(user) or p.poll() is not None)
                continue
            said += [line, p.communicate(timeout=90)[0]]
            assert p.returncode == 0, said
        for p in servers:
            said.append(p.communicate(timeout=30)[0])
            assert p.returncode == 0, said
        moved = [b - a for a, b in zip(before, sent(user))]
        print(*said, sep="\n")
        assert max(moved) > MOVED and min(moved) > 0, moved
    finally:
        user.fabric("down")
        os.unlink(f"{user.tmp}/tests")
        for left in set(os.listdir(user.tmp)) - files:
            subprocess.run(["rm", "-rf", os.path.join(user.tmp, left)], check=True)


def test_page():
    """Each recipe of the page's table is one of its blocks, and each block is there."""
    with open(f"{TOP}/doc/recipes.md") as f:
        text = f.read()
    anchors = {re.sub(r"[^a-z0-9_ -]", "", name.lower()).replace(" ", "-") for name in RECIPES}
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) == anchors
    for path in re.findall(r"`(tests/[a-z0-9_/]+\.py)`", text):
        assert os.path.exists(f"{TOP}/{path}"), path
    assert all(shlex.split(line.removesuffix("&")) for lines in RECIPES.values() for line in lines)

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""usage: circles.py BUILD [--picture]

Which files of the product need each other in a circle: file A needs file B where
A's object uses a symbol that B's defines. Each circle has to be one of those in the
file `circles` beside this one, which says why it stays: a line
`FOLDER SIZE REASON` lets one of at most that many files lie in that folder. Fails on
a circle that is not there or has grown, and on a line without a circle.

--picture prints the folders, their lines and the folders that they need, too."""
import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
# Each folder is linked with these. preload/ and check/ define functions of the C
# library and of libibverbs, which others use without meaning them.
LINKED = {
    "transport": "transport util", "cm": "cm transport util",
    "engine": "engine transport util", "device": "device engine cm transport util",
    "providers": "providers engine transport util", "preload": "preload util",
    "check": "check util", "cli": "cli util", "util": "util",
}


def objects(build):
    """{source: object}, each source once."""
    found = {}
    for folder in LINKED:
        for where, _, names in os.walk(os.path.join(build, folder)):
            for name in sorted(names):
                path = os.path.join(where, name)
                m = re.match(r"(.*)/CMakeFiles/[^/]+\.dir/(.*)\.c\.o$",
                             os.path.relpath(path, build))
                if not m:
                    continue
                source = os.path.normpath(os.path.join(m[1], m[2].replace("__", "..")))
                if source.split("/")[0] in LINKED and os.path.exists(f"{TOP}/{source}.c"):
                    found.setdefault(source, path)
    return found


def needs(found):
    """{source: sources that define what it uses}"""
    defines, uses = collections.defaultdict(set), {source: set() for source in found}
    sources = {path: source for source, path in found.items()}
    out = subprocess.run(["nm", "--target=default", "-g", "-A", *sources], check=True, stdout=subprocess.PIPE,
                         text=True)
    for line in out.stdout.splitlines():
        path, _, symbol = line.partition(":")
        kind, name = symbol.split()[-2:]
        if kind == "U":
            uses[sources[path]].add(name)
        else:
            defines[name].add(sources[path])
    return {a: {b for name in names for b in defines[name]
                if b != a and b.split("/")[0] in LINKED[a.split("/")[0]].split()}
            for a, names in uses.items()}


def circles(graph):
    """Strongly connected parts of more than one (Tarjan, 1972)."""
    order, low, stack, found = {}, {}, [], []

    def visit(a):
        order[a] = low[a] = len(order)
        stack.append(a)
        for b in sorted(graph[a]):
            if b not in order:
                visit(b)
            if b in stack:
                low[a] = min(low[a], low[b])
        if low[a] == order[a]:
            at = stack.index(a)
            part = stack[at:]
            del stack[at:]
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(len(graph) + 1000)
    for a in sorted(graph):
        if a not in order:
            visit(a)
    return found


def allowed(folders):
    """[(folder, size, reason)], without those of folders that the build leaves out"""
    with open(os.path.join(HERE, "circles")) as f:
        lines = [line.split(None, 2) for line in f if line.strip() and line[0] != "#"]
    return [(folder, int(size), reason.strip()) for folder, size, reason in lines
            if folder in folders]


def judge(found, rules):
    wrong, left = [], list(rules)
    for circle in sorted(found, key=len, reverse=True):
        place = os.path.commonpath([os.path.dirname(a) for a in circle]) or "."
        fits = [r for r in left if r[0] == place and len(circle) <= r[1]]
        if fits:
            left.remove(min(fits, key=lambda r: r[1]))
        else:
            wrong.append(f"a circle of {len(circle)} in {place}: {' '.join(circle)}")
    return wrong + [f"no circle any more: {r[0]} {r[1]}" for r in left]


def picture(graph):
    lines, folders = collections.Counter(), collections.defaultdict(collections.Counter)
    for where, _, names in os.walk(TOP):
        here = os.path.relpath(where, TOP)
        if here.split("/")[0] in LINKED:
            for name in names:
                if name.endswith((".c", ".h")):
                    with open(os.path.join(where, name)) as f:
                        lines[here] += sum(1 for _ in f)
    for a, them in graph.items():
        for b in them:
            if os.path.dirname(a) != os.path.dirname(b):
                folders[os.path.dirname(a)][os.path.dirname(b)] += 1
    for folder in sorted(lines):
        print(f"{folder:24} {lines[folder]:6} lines  -> "
              + ", ".join(f"{b} {n}" for b, n in folders[folder].most_common()))


def main(build, *options):
    graph = needs(objects(build))
    if not graph:
        print(f"no objects in {build}")
        return 1
    found = circles(graph)
    if options:
        picture(graph)
    for circle in sorted(found, key=len):
        print(f"{len(circle)}: {' '.join(circle)}")
    # A circle that is planted must be found.
    planted = {**graph, "util/x": {"util/y"}, "util/y": {"util/x"}}
    assert len(circles(planted)) == len(found) + 1
    wrong = judge(found, allowed({"/".join(a.split("/")[:n])
                                  for a in graph for n in range(1, a.count("/") + 1)}))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

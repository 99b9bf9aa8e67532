#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""usage: names.py BUILD

A function that other files call has a name of its own in all of the product, also in
programs that are never linked with each other: whoever searches for it finds one. Fails
on a name that two files define."""
import collections
import subprocess
import sys

from circles import objects


def main(build):
    found = objects(build)
    sources = {path: source for source, path in found.items()}
    defined = collections.defaultdict(set)
    out = subprocess.run(["nm", "--target=default", "-g", "-A", "--defined-only", *sources],
                         check=True, stdout=subprocess.PIPE, text=True)
    for line in out.stdout.splitlines():
        path, _, symbol = line.partition(":")
        kind, name = symbol.split()[-2:]
        if kind == "T" and name != "main":
            defined[name].add(sources[path])
    twice = {name: files for name, files in defined.items() if len(files) > 1}
    for name, files in sorted(twice.items()):
        print(f"{name}: defined in {' and '.join(f'{f}.c' for f in sorted(files))}")
    return 1 if twice or not defined else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One name means one thing in the whole tree.

    names.py [FOLDER...]

The tag of a struct, union or enum is defined once in the product's sources, so that
ctags, gdb and a reader find one. A source's name, but main.c, is there once in a top
folder, so that a comment can name a file by it. With folders, those in place of the
sources: for a test of this one."""
import collections
import pathlib
import re
import subprocess
import sys

FOLDERS = ["check", "cli", "cm", "device", "engine", "kernel-abi", "preload", "providers",
           "transport", "util"]
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?\{")


def main():
    folders = sys.argv[1:] or FOLDERS
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard",
                            "--", *folders], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    places = collections.defaultdict(list)
    for name in sorted(f for f in files if f.endswith((".c", ".h", ".def"))):
        if not pathlib.Path(name).exists():
            continue
        text = COMMENT.sub(lambda m: "\n" * m[0].count("\n"), pathlib.Path(name).read_text())
        for m in TAG.finditer(text):
            places[m[1]].append(f"{name}:{text.count(chr(10), 0, m.start()) + 1}")
    wrong = [f"{tag} is defined {len(at)} times: {', '.join(at)}: one name, one meaning"
             for tag, at in sorted(places.items()) if len(at) > 1]
    names = collections.defaultdict(list)
    for name in map(pathlib.PurePath, files):
        if name.suffix in (".c", ".h") and name.name != "main.c":
            names[name.parts[0], name.name].append(str(name))
    wrong += [f"files of one name: {', '.join(at)}" for at in names.values() if len(at) > 1]
    if len(places) < (1 if sys.argv[1:] else 100):
        wrong.append("no tags found")
    print(f"{len(places)} tags")
    print("\n".join(wrong))
    return bool(wrong)


sys.exit(main())

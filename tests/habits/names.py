#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One name means one thing in the whole tree.

    names.py [FOLDER...]

The tag of a struct, union or enum is defined once in the product's sources, so that
ctags, gdb and a reader find one. The name of a static function, such as find(), is in
at most MOST files: beyond that it needs its object, as find_qp(). With folders, those
in place of the sources: for a test of this one."""
import collections
import pathlib
import re
import subprocess
import sys

MOST = 6
FOLDERS = ["check", "cli", "cm", "device", "engine", "kernel-abi", "preload", "providers",
           "transport", "util"]
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?\{")
ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)\s*")
STATIC = re.compile(r"^static\s[\w\s*]*?\b(\w+)\(", re.M)


def main():
    folders = sys.argv[1:] or FOLDERS
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard",
                            "--", *folders], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    places = collections.defaultdict(list)
    functions = collections.defaultdict(set)
    for name in sorted(f for f in files if f.endswith((".c", ".h", ".def"))):
        if not pathlib.Path(name).exists():
            continue
        text = COMMENT.sub(lambda m: "\n" * m[0].count("\n"), pathlib.Path(name).read_text())
        for m in TAG.finditer(text):
            places[m[1]].append(f"{name}:{text.count(chr(10), 0, m.start()) + 1}")
        for m in STATIC.finditer(ATTRIBUTE.sub("", text)):
            functions[m[1]].add(name)
    wrong = [f"{tag} is defined {len(at)} times: {', '.join(at)}: one name, one meaning"
             for tag, at in sorted(places.items()) if len(at) > 1]
    wrong += [f"{function}() is in {len(at)} files: {', '.join(sorted(at))}: name its object"
              for function, at in sorted(functions.items()) if len(at) > MOST]
    if len(places) < (1 if sys.argv[1:] else 100):
        wrong.append("no tags found")
    print(f"{len(places)} tags, {len(functions)} names of static functions")
    print("\n".join(wrong))
    return bool(wrong)


sys.exit(main())

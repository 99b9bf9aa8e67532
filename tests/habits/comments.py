#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""usage: comments.py SEED [COUNT [FOLDER...]]

Prints comments of the product, 60 at random unless said otherwise, for a reader who has
never seen them: each with its file and line and what it stands before. Read each once, and count
those that had to be read twice. The same seed gives the same comments of the same tree."""
import random
import re
import subprocess
import sys

FOLDERS = ["transport", "cm", "engine", "device", "kernel-abi", "util",
           "preload", "cli", "check", "providers"]
# Comments and literals, so that "//" in a string is none.
TOKEN = re.compile(
    r"/\*.*?\*/|(?://[^\n]*\n[ \t]*)*//[^\n]*"
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def comments(path):
    """Yields (line, comment, the line behind it)."""
    with open(path, encoding="utf-8") as f:
        source = f.read()
    for match in TOKEN.finditer(source):
        text = match.group()
        if text[0] in "\"'" or "SPDX-License-Identifier" in text:
            continue
        behind = source[match.end():].lstrip().partition("\n")[0]
        yield source.count("\n", 0, match.start()) + 1, text, behind


def main(seed, count="60", *folders):
    names = subprocess.run(["git", "ls-files", "--", *(folders or FOLDERS)], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split()
    found = [(name, *c) for name in names if name.endswith((".c", ".h")) for c in comments(name)]
    for name, line, text, behind in sorted(random.Random(seed).sample(
            found, min(int(count), len(found)))):
        print(f"{name}:{line}\n\t{text}\n\t{behind}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

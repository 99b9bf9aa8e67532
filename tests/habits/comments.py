#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Comments of the product and its tests are sentences, or phrases with a noun of their
own.

A sentence of a comment does not begin with "Of", "Who", "Whose", "What",
"That of" or "Those of", and one that begins with "Where" has a comma before
its main clause: a reader looks in vain for the verb of the others. "Told" and
its kin stand for report, log, notify and reply alike, so a comment names the
one it means.
"""
import re
import subprocess
import sys

FOLDERS = ["transport", "cm", "engine", "device", "kernel-abi", "util",
           "preload", "cli", "check", "providers", "tests", "doc/examples"]
# Comments and literals, so that "//" in a string is none.
TOKEN = re.compile(
    r"/\*.*?\*/|(?://[^\n]*\n[ \t]*)*//[^\n]*"
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
BEGIN = re.compile(r"(?:^|[.:;!?] )(?:---- )?"
                   r"((?:Of|Who|Whom|Whose|What|That of|Those of)\b"
                   r"|Where\b[^,.:;]*(?:[.:;]|$))")
# "told:" is an argument of that name.
WORD = re.compile(r"\b(told|tells|said|heard|hears)\b(?!:)")


def plain(comment):
    """Returns the words of a comment, without its marks and line ends."""
    if comment.startswith("/*"):
        text = re.sub(r"(?m)^[ \t]*\*", "", comment[2:-2])
    else:
        text = re.sub(r"(?m)^[ \t]*//", "", comment)
    return " ".join(text.split())


def faults(source):
    """Yields (line, what) for each comment that breaks a rule."""
    for match in TOKEN.finditer(source):
        if match.group()[0] in "\"'":
            continue
        text = plain(match.group())
        found = BEGIN.search(text) or WORD.search(text)
        if found:
            line = source.count("\n", 0, match.start()) + 1
            yield line, f"'{found.group(1)[:40]}' in '{text[:60]}'"


def check_rule():
    """The rule finds what it is for, and nothing else."""
    for bad in ("/* Of one queue pair. */", "/* x. What is left. */",
                "// Who is it?", "/* Where it lies. */", "/* It is told. */",
                "/*\n * Adds it. Those of\n * others stay.\n */"):
        assert list(faults(f"int a; {bad}\n")), bad
    for good in ("/* Where it lies, it stays. */", "/* told: by whom */",
                 'puts("/* Of */");', "/* the end of it; which is told_at */"):
        assert not list(faults(good + "\n")), good


def main():
    check_rule()
    files = subprocess.run(
        ["git", "ls-files", "--"]
        + [f"{d}/*.{e}" for d in FOLDERS for e in ("c", "h")],
        check=True, capture_output=True, text=True).stdout.split()
    if len(files) < 700:
        sys.exit(f"only {len(files)} files: the folders have moved")
    bad = 0
    for path in files:
        with open(path, encoding="utf-8") as f:
            for line, what in faults(f.read()):
                print(f"{path}:{line}: {what}")
                bad += 1
    if bad:
        sys.exit(f"{bad} comments are no sentences: doc/style.md, English")


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""debian/copyright by the rules of its format (DEP-5), and true: each file of the
project has the paragraph whose licence its own line names."""
import os
import re
import subprocess
import sys

try:
    from debian.copyright import Copyright
except ImportError:
    print("no python3-debian")
    sys.exit(77)

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# SPDX's name of a licence, Debian's.
NAMES = {"GPL-2.0-only": "GPL-2", "Linux-OpenIB": "Linux-OpenIB"}
LINE = re.compile(r"SPDX-License-Identifier: ((?:[\w.-]+(?: OR )?)+)")


def of_debian(text):
    """The set of licences that one may choose of."""
    return frozenset(re.split(r" (?:or|OR) ", text))


def main():
    os.chdir(TOP)
    with open("debian/copyright", encoding="utf-8") as f:
        copyright_ = Copyright(f, strict=True)
    texts = {p.license.synopsis for p in copyright_.all_license_paragraphs()}
    wrong = []
    for paragraph in copyright_.all_files_paragraphs():
        for name in of_debian(paragraph.license.synopsis) - texts:
            wrong.append(f"debian/copyright has no text of {name}")
    looked_at = 0
    names = subprocess.run(["git", "ls-files"], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    for name in filter(os.path.isfile, names):
        paragraph = copyright_.find_files_paragraph(name)
        if not paragraph:
            wrong.append(f"{name}: no paragraph of debian/copyright")
            continue
        with open(name, encoding="utf-8", errors="replace") as f:
            found = LINE.search(f.read(2000))
        if not found:
            continue
        looked_at += 1
        own = frozenset(NAMES.get(word, word) for word in of_debian(found[1].strip()))
        if own != of_debian(paragraph.license.synopsis):
            wrong.append(f"{name}: {found[1]}, debian/copyright {paragraph.license.synopsis}")
    print(*wrong, f"{looked_at} files looked at", sep="\n")
    sys.exit(1 if wrong or looked_at < 1000 else 0)


if __name__ == "__main__":
    main()

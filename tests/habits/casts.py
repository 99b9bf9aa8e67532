#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Nothing is taken for another kind unseen.

    casts.py [FOLDER...]

In the sources of the daemon and its protocols a list's entries are what the list is of,
so ur_list_entry() names no member within a member; and objects of uverbs are cast by
ur_obj_qp_of() and its like, which look at the type. With folders, those in place of
the sources: for a test of this one."""
import pathlib
import re
import subprocess
import sys

FOLDERS = ["cm", "transport", "engine", "device"]
WITHIN = re.compile(r"\bur_list_(?:entry|first)\(\s*[^;]*?,\s*struct \w+,\s*(\w+\.\w+)\s*\)")
CAST = re.compile(r"\((?:const )?struct ur_obj_\w+ \*\)")
# Where a queue pair is in its path's lists: both of one kind, of one module.
FINE = {"share.wait", "share.link"}


def main():
    folders = sys.argv[1:] or FOLDERS
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard",
                            "--", *folders], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    lines = 0
    wrong = []
    for name in sorted(f for f in files if f.endswith((".c", ".h"))):
        if not pathlib.Path(name).exists():
            continue
        text = pathlib.Path(name).read_text()
        lines += text.count("\n")
        for m in WITHIN.finditer(text):
            if m[1] not in FINE:
                wrong.append(f"{name}: an entry by {m[1]}: ask what it is first, as "
                             "ur_ufile_of() does")
        if not name.endswith("uverbs/objects.h"):
            wrong += [f"{name}: {m[0]}: ur_obj_..._of() looks at the type"
                      for m in CAST.finditer(text)]
    if not lines:
        wrong.append("no sources")
    print(f"{lines} lines")
    print("\n".join(wrong))
    return bool(wrong)


sys.exit(main())

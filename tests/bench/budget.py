#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Instructions per message, with a bound each: a regression shows on a noisy
machine too. Both sides of the transport together; copies are counted as
valgrind's memcpy has them.

    budget.py PROGRAM
"""
import re
import shutil
import subprocess
import sys
import tempfile

# Path, bytes, messages, most instructions per message.
BUDGET = (
    ("loop", 64, 2000, 1350),
    ("packets", 64, 2000, 2400),
    ("packets", 65536, 50, 42000),
)


def count(program, path, size, messages):
    with tempfile.NamedTemporaryFile() as out:
        text = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}",
             "--toggle-collect=measure", program, path, str(size),
             str(messages)],
            check=True, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT).stdout
    return int(re.search(r"Collected : (\d+)", text).group(1)) / messages


def main():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return 77
    over = 0
    for path, size, messages, most in BUDGET:
        got = count(sys.argv[1], path, size, messages)
        print(f"{path:8} {size:6} bytes: {got:9.0f} instructions a message, "
              f"at most {most}")
        over += got > most
    return over


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the command-line tests of this folder expect; what differs ends the test."""


def check(got, want):
    if got != want:
        raise SystemExit(f"{got!r} is not {want!r}")


def check_in(part, whole):
    if part not in whole:
        raise SystemExit(f"{part!r} is not in {whole!r}")

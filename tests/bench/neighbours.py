# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the large commands of one program cost another: 99.9 % of its WRITEs of 64 B,
one at a time, beside them, and beside nothing or a program that computes."""
import json
import subprocess

from lab import sh

KINDS = {"a CQ of 2^20 entries": "cq", "10,000 QPs": "qps", "a region of 4 GiB": "reg"}


def p999_ns(lab, seconds, beside):
    """beside: arguments of the program that runs meanwhile, or None."""
    def program(*args):
        return ["ip", "netns", "exec", lab.a.ns, *lab.a.uroce([lab.bin("neighbour"), *args])]
    other = beside and subprocess.Popen(program(*beside), text=True, stdout=subprocess.PIPE)
    try:
        if other:
            assert "began" in other.stdout.readline()
        return json.loads(sh(*program("latency", str(seconds))).splitlines()[-1])["p999_ns"]
    finally:
        if other:
            other.kill()
            other.wait()


def rows(t, o, lab):
    def beside(*args):
        return lambda: p999_ns(lab, o.seconds, args or None)
    for name, kind in list(KINDS.items())[:1 if o.tiny else None]:
        for yardstick, what in {"none": beside(), "one that computes": beside("spin", "100")}.items():
            t.ratio("one host", f"99.9 % of WRITE 64 B beside the maker of {name} / {yardstick}", 2,
                    beside(kind, "1000000"), what, higher=False, unit="us", scale=1e-3)

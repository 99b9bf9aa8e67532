#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""run_adverse.py BUILD SOURCE [NAME...]: each behaviour of --adverse makes the
program fail that counts on its contrary, and not the one that does not; the
same seed says the same."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

BUILD, SOURCE, WANTED = sys.argv[1], sys.argv[2], sys.argv[3:]

# A network namespace: one device has the UDP port of an address.
if os.environ.get("UROCE_TEST_NS") != "adverse":
    alone = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if os.geteuid():
        alone.insert(1, "-r")
    if subprocess.run([*alone, "true"], stderr=subprocess.DEVNULL).returncode:
        print("skipped: network namespaces are not allowed here")
        sys.exit(77)
    os.environ["UROCE_TEST_NS"] = "adverse"
    os.execvp(alone[0], [*alone, sys.executable, *sys.argv])

SEEDS = range(1, 21) if os.environ.get("UROCE_FULL") == "1" else (1, 2)


def lab(tmp, adverse, *args):
    option = [f"--adverse={adverse}"] if adverse else []
    p = subprocess.run([f"{BUILD}/bin/uroce", "run", "--run-dir", tmp, "--netdev", "lo",
                        *option, "--", f"{BUILD}/bin/lab_adverse", *args],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       timeout=60)
    return p.returncode, p.stdout


def try_one(tmp, name):
    bad = []

    def expect(what, condition, got):
        if not condition:
            bad.append(f"{name}: {what}: status {got[0]}\n{got[1]}")

    for seed in SEEDS:
        got = lab(tmp, f"{seed}:{name}", name, "wrong")
        expect(f"the mistake passes with seed {seed}",
               got[0] == 1 and "counted on: " in got[1], got)
        got = lab(tmp, f"{seed}:{name}", name, "right")
        expect(f"fails with seed {seed} without the mistake", got[0] == 0, got)
        if name not in ("limits", "rest"):
            got = lab(tmp, f"{seed}:-limits", name, "right")
            expect(f"fails with all of seed {seed}", got[0] == 0, got)
    got = lab(tmp, "", name, "right")
    expect("fails without --adverse", got[0] == 0, got)
    # What does not depend on time passes on an ordinary card, mistake or not.
    if name in ("poison", "limits", "rest", "rnr", "order"):
        got = lab(tmp, "", name, "wrong")
        expect("the mistake shows without --adverse", got[0] == 0, got)
    if name == "poison":
        said = [lab(tmp, f"{seed}:poison", name, "right")[1] for seed in (5, 5, 6)]
        if said[0] != said[1] or said[1] == said[2]:
            bad.append(f"poison: seeds 5, 5, 6 say {said}")
    return bad


def main():
    listed = subprocess.run([f"{BUILD}/bin/lab_adverse", "--list"], stdout=subprocess.PIPE,
                            text=True, check=True).stdout.split()
    doc = open(f"{SOURCE}/doc/adverse.md").read()
    abi = open(f"{SOURCE}/kernel-abi/uroce-abi.h").read()
    bad = [f"{name}: no program" for name in
           (n.lower() for n in re.findall(r"#define UROCE_ADVERSE_([A-Z]+) *\(1u", abi))
           if name not in listed]
    bad += [f"{name}: no section in doc/adverse.md" for name in listed
            if f"\n## {name}\n" not in doc]
    with tempfile.TemporaryDirectory(prefix="uroce-lab-") as tmp:
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for some in pool.map(lambda n: try_one(tmp, n),
                                 [n for n in listed if not WANTED or n in WANTED]):
                bad += some
    print("\n".join(bad) or f"{len(listed)} behaviours, seeds {list(SEEDS)}")
    return 1 if bad else 0


sys.exit(main())

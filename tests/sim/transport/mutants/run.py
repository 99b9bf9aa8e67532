#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Does the simulation notice mistakes? For each mutant of mutants.txt: copy
transport/, put the mistake in, build, run seeds until one finds it.

    run.py [--seeds N] [NAME ...]

Exit status 0 when every mutant was caught."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-DUROCE_WITH_RAW_PACKET=1", "-O1",
         "-fno-strict-aliasing", "-w"]


def read_mutants():
    for block in re.split(r"\n\s*\n", (HERE / "mutants.txt").read_text()):
        lines = [l for l in block.splitlines() if not l.startswith("#")]
        if not lines:
            continue
        name, why = lines[0].split(": ", 1)
        old = "\n".join(l[2:] for l in lines[2:] if l.startswith("- "))
        new = "\n".join(l[2:] for l in lines[2:] if l.startswith("+ "))
        yield name, why, lines[1].split()[1], old, new


def compile_all(sources, include, out):
    out.mkdir()
    objects = [out / (s.stem + ".o") for s in sources]
    jobs = [["cc", *FLAGS, "-I", str(include), "-I", str(ROOT), "-c", str(s),
             "-o", str(o)] for s, o in zip(sources, objects)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(lambda j: subprocess.run(j, check=True), jobs):
            pass
    return objects


def try_mutant(work, base, sim, mutant, seeds):
    name, why, file, old, new = mutant
    tree = work / name
    shutil.copytree(ROOT / "transport", tree / "transport")
    target = tree / "transport" / file
    target.write_text(target.read_text().replace(old, new))
    if file.endswith(".h"):
        objects = compile_all(sorted((tree / "transport").glob("*.c")), tree,
                              tree / "o")
    else:
        changed = compile_all([target], tree, tree / "o")[0]
        objects = [changed if o.name == changed.name else o for o in base]
    program = tree / "sim"
    subprocess.run(["cc", "-o", program, *sim, *objects, "-lisal"], check=True)
    # In portions: a mistake is mostly found at once.
    for first in range(1, seeds, 100):
        run = subprocess.run([program, "--seeds", f"{first}..{first + 99}"],
                             stdout=subprocess.PIPE, text=True)
        if run.returncode:
            found = re.search(r"^seed (.*)$", run.stdout, re.M)
            print(f"caught  {name}: {why}\n        seed {found.group(1)}",
                  flush=True)
            shutil.rmtree(tree)
            return None
    return f"{name}: {why}: not noticed by {seeds} seeds"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--seeds", type=int, default=3000)
    args.add_argument("names", nargs="*")
    args = args.parse_args()
    missed = []
    for name, _, file, old, _ in read_mutants():
        if (ROOT / "transport" / file).read_text().count(old) != 1:
            print(f"STALE   {name}: {file} no longer has its text")
            missed.append(name)
    if missed:
        return 1
    with tempfile.TemporaryDirectory() as tmp:
        work = pathlib.Path(tmp)
        base = compile_all(sorted((ROOT / "transport").glob("*.c")), ROOT,
                           work / "base")
        sim = compile_all([*sorted(HERE.parent.glob("*.c")),
                           ROOT / "util/os/assert.c"], ROOT, work / "sim")
        for mutant in read_mutants():
            if args.names and mutant[0] not in args.names:
                continue
            verdict = try_mutant(work, base, sim, mutant, args.seeds)
            if verdict:
                print("MISSED  " + verdict, flush=True)
                missed.append(mutant[0])
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

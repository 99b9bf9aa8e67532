#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""run.py BUILD [LAYOUT [ID...]]: the lab under rdma-check with a made-up libibverbs of each
release's layout and a made-up provider. Each mistake is named, each twin silent, nobody
writes beside what the release has; and what the checker cannot see it does not judge."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

BUILD, WANTED, IDS = os.path.abspath(sys.argv[1]), sys.argv[2:3], sys.argv[3:]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import trial  # noqa: E402

MADE = f"{BUILD}/tests/lab/made_up"
# The whole lab on the first and the last of them, and on the others what goes by a
# layout: entries of contexts, methods of extended queues and queue pairs.
LAYOUTS = ["39", "44", "50", "59", "62", "64", "65"]
WHOLE = ["39", "65"]
BY_LAYOUT = ["UR-CQ-04", "UR-CQ-05", "UR-CQ-06", "UR-SQ-02", "UR-SQ-04", "UR-SQ-09", "UR-RQ-04",
             "UR-QP-04", "UR-MR-05", "UR-MR-06", "UR-LEAK-01"]
# Before rdma-core 35 the library does not say, and before extended queues there are none.
OLD = ["UR-SQ-02", "UR-SQ-04", "UR-QP-04", "UR-MR-05", "UR-LEAK-01"]
OWN = r"fakecarddv_(?:create_cq|create_qp|poll_memory)"
NOTE = re.compile(rf"rdma-check: {OWN}, {OWN}, {OWN} of fakecard's own functions, linked into the "
                  r"program: what they make and do was not looked at\n")
STRANGE = "rdma-check: fakecard0: this libibverbs has contexts of a form that is not known here " \
          "(1000001 bytes): what is done with the device is not looked at\n"


def checked(tmp, layout, program, *words):
    json_file = f"{tmp}/{'-'.join((layout, program, *words))}.json"
    return trial.run([f"{BUILD}/bin/rdma-check", "--json", json_file, "--",
                      f"{BUILD}/bin/{program}", *words], json_file, words[0], 30,
                     LD_LIBRARY_PATH=f"{MADE}/{layout}:{MADE}")


def try_id(tmp, layout, name):
    wrong = trial.judge_wrong(name, *checked(tmp, layout, "lab_verbs", name, "wrong"),
                              module="lab_verbs")
    wrong += trial.judge_right(name, *checked(tmp, layout, "lab_verbs", name, "right"))
    return [f"{layout}: {text}" for text in wrong]


def try_vendors(tmp, layout):
    """Names nothing but that the vendor's functions are there, once."""
    wrong = []
    for case in "vendors-cq", "vendors-qp", "init-obj", "key", "comp-cntr", "reg-mr-ex":
        rc, out, found = checked(tmp, layout, "lab_vendors", case)
        rest, notes = NOTE.subn("", out)
        # Keys may be the vendor's, so that one of a region that is gone is not judged.
        if rc or notes != 1 or found or "rdma-check" in rest or not rest.endswith("done\n"):
            wrong.append(f"{layout}: {case}: status {rc}\n{out}")
        lacks = {"comp-cntr": 65, "reg-mr-ex": 59}.get(case, 0) > int(layout)
        if lacks != ("no ibv_" in out):
            wrong.append(f"{layout}: {case}: the function {'is there' if lacks else 'is missing'}"
                         f"\n{out}")
    return wrong


def try_open(tmp):
    rc, out, found = checked(tmp, "44", "lab_vendors", "open")
    return [] if not rc and [f["id"] for f in found] == ["UR-QP-01"] else \
        [f"open: status {rc}, {[f['id'] for f in found]}\n{out}"]


def try_hostile(tmp):
    """The mistake is in the file; nothing is where it does not belong, and nobody dies."""
    wrong = []
    for case in "descriptors", "broken-pipe", "threads":
        rc, out, found = checked(tmp, "44", "lab_vendors", case)
        pids = {f["pid"] for f in found if f["id"] == "UR-MR-04"}
        if rc or "done\n" not in out or {f["id"] for f in found} != {"UR-MR-04"} or \
                (len(pids) == 1) == (case == "threads"):
            wrong.append(f"{case}: status {rc}, {[f['id'] for f in found]}\n{out[-3000:]}")
    return wrong


def try_strange(tmp):
    """A context of no known form is left alone, and that is said."""
    rc, out, found = checked(tmp, "strange", "lab_verbs", "UR-SQ-02", "right")
    rest = out.replace(STRANGE, "", 1)
    return [] if not rc and not found and rest != out and "rdma-check" not in rest else \
        [f"strange: status {rc}\n{out}"]


def main():
    listed = subprocess.run([f"{BUILD}/bin/lab_verbs", "--list"], stdout=subprocess.PIPE,
                            text=True, check=True,
                            env={**os.environ, "LD_LIBRARY_PATH": f"{MADE}/44:{MADE}"}).stdout.split()
    trials = [(layout, name) for layout in LAYOUTS for name in listed
              if layout in WHOLE or name in BY_LAYOUT] + [("old", name) for name in OLD]
    trials = [(layout, name) for layout, name in trials
              if (not WANTED or layout in WANTED) and (not IDS or name in IDS)]
    failures = []
    with tempfile.TemporaryDirectory(prefix="rdma-check-") as tmp, \
            concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(try_id, tmp, *t) for t in trials]
        if not IDS:
            jobs += [pool.submit(try_vendors, tmp, layout) for layout in LAYOUTS
                     if not WANTED or layout in WANTED]
            jobs += [pool.submit(t, tmp) for t in (try_strange, try_open,
                                                       try_hostile)]
        for job in jobs:
            failures += job.result()
    print("\n".join(failures) or f"{len(trials)} mistakes named and twins silent, in "
          f"{len(LAYOUTS) + 1} layouts")
    return 1 if failures else 0


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""run.py BUILD SOURCE [ID...]: each mistake of check/ids.def is named with its
object and place, and its corrected twin is silent."""
import concurrent.futures
import ctypes
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile

import trial

BUILD, SOURCE, WANTED = sys.argv[1], sys.argv[2], sys.argv[3:]

# A network namespace: one device has the UDP port of an address.
ALONE = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
if os.environ.get("UROCE_TEST_NS") != "lab":
    unshare = ALONE if os.geteuid() == 0 else [ALONE[0], "-r", *ALONE[1:]]
    if subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL).returncode:
        print("skipped: network namespaces are not allowed here")
        sys.exit(77)
    os.environ["UROCE_TEST_NS"] = "lab"
    os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])

# The device tells its side of these too.
STORIES = {
    "UR-RQ-01": "had no receive posted",
    "UR-RQ-03": "has room for 8 bytes",
    "UR-MR-05": "lacks IBV_ACCESS_REMOTE_WRITE|the rkey 0x",
}

# No program can make these: each with the reason.
NOT_HERE = {
    "UR-CQ-03": "a queue that overruns is refused by what is posted first: see UR-CQ-02",
}

# These programs do nothing wrong here: each with the reason.
NO_MISTAKE = {
    "UR-MR-06": "the device says IBV_FORK_UNNEEDED; made_up/ has one that does not",
}


def lab(tmp, *args, how=("--check",), name="", mistake=None):
    # One of them takes its device away.
    apart = args[0] == "UR-CM-04"
    run = f"{tmp}/run" + ("-".join(args) if apart else "")
    os.makedirs(run, exist_ok=True)
    json_file = f"{tmp}/{'-'.join(args)}{name}.json"
    command = [*(ALONE if apart else []), f"{BUILD}/bin/uroce", "run", "--run-dir", run,
               "--netdev", "lo", *how, "--check-json", json_file, "--",
               f"{BUILD}/bin/lab", *args]
    return trial.run(command, json_file, mistake or args[0],
                     LAB_REMOVE=f"'{BUILD}/bin/uroce' link del uroce0 >/dev/null")


def try_id(tmp, name):
    if name in NO_MISTAKE:
        return trial.judge_right(name, *lab(tmp, name, "wrong"))
    return trial.judge_wrong(name, *lab(tmp, name, "wrong"), STORIES.get(name)) + \
        trial.judge_right(name, *lab(tmp, name, "right"))


def try_stop(tmp):
    """The trap comes in the call: nothing of the program's is after it."""
    wrong = []
    rc, out, found = lab(tmp, "UR-MR-04", "wrong", how=("--check=stop",), name="-stop")
    if rc != -signal.SIGTRAP or [f["id"] for f in found] != ["UR-MR-04"] or \
            "mistakes named" in out:
        wrong.append(f"stop: status {rc}, not by SIGTRAP in the call\n{out}")
    rc, out, found = lab(tmp, "UR-MR-04", "right", how=("--check=stop",), name="-stop")
    if rc or found:
        wrong.append(f"stop, right: status {rc}\n{out}")
    return wrong


def try_mute(tmp):
    """An id, or all, and a place: function, file, file with line, library."""
    wrong = []
    _, _, found = lab(tmp, "UR-SQ-08", "wrong", name="-loud")
    report = next(f for f in found if f["id"] == "UR-SQ-08")
    here = next(f for f in report["stack"] if f["file"] == "memory.c")
    place = f"{here['file']}:{here['line']}"
    cases = {"UR-SQ-08": True, "*": True, f"UR-SQ-08 {here['function']}": True,
             "UR-SQ-08 memory.c": True, f"UR-SQ-08 {place}": True, "UR-SQ-08 la": True,
             "# UR-SQ-08": False, "UR-SQ-09": False, "UR-SQ-08 queues.c": False,
             f"UR-SQ-08 memory.c:{here['line'] + 1}": False,
             f"UR-LEAK-01\nUR-SQ-08  {place}  # on purpose": True}
    for i, (text, muted) in enumerate(cases.items()):
        path = f"{tmp}/mute{i}"
        with open(path, "w") as f:
            f.write(text + "\n")
        rc, out, found = lab(tmp, "UR-SQ-08", "wrong", how=("--check", "--check-mute", path),
                             name=f"-mute{i}")
        named = any(f["id"] == "UR-SQ-08" for f in found)
        if rc or named == muted or named != ("check: UR-SQ-08" in out):
            wrong.append(f"mute {text!r}: status {rc}, {'named' if named else 'not named'}\n"
                         f"{out}")
    path = f"{tmp}/mute-why"
    with open(path, "w") as f:
        f.write("WHY\n")
    _, out, found = lab(tmp, "UR-RQ-01", "wrong", how=("--check", "--check-mute", path),
                        name="-why")
    if "check: why" in out or not found:
        wrong.append(f"mute WHY: a story\n{out}")
    return wrong


def try_fork(tmp):
    """A child's mistakes are its own, and what the parent made is no leak of it."""
    wrong = []
    rc, out, found = lab(tmp, "fork", "wrong", name="-fork")
    if rc or [f["id"] for f in found] != ["UR-LEAK-01"] or \
            f"pid {found[0]['pid']} is the child" not in out:
        wrong.append(f"fork: status {rc}, {[f['id'] for f in found]}\n{out}")
    rc, out, found = lab(tmp, "fork", "right", name="-fork")
    if rc or found or "rdma-check" in out:
        wrong.append(f"fork, right: status {rc}, {[f['id'] for f in found]}\n{out}")
    return wrong


def try_form(tmp, name, mistake):
    """Another form of a mistake that has a program."""
    wrong = []
    for how, ids in ("wrong", [mistake]), ("right", []):
        rc, out, found = lab(tmp, name, how)
        if rc or [f["id"] for f in found] != ids:
            wrong.append(f"{name} {how}: status {rc}, {[f['id'] for f in found]}\n{out}")
    return wrong


def try_long(tmp):
    return try_form(tmp, "long", "UR-SQ-06")


def try_async_qp(tmp):
    wrong = []
    rc, out, found = lab(tmp, "async-qp", "wrong", mistake="UR-EV-02")
    if rc or [f["id"] for f in found] != ["UR-EV-02"]:
        wrong.append(f"async-qp wrong: status {rc}, {[f['id'] for f in found]}\n{out}")
    return wrong + trial.judge_right("async-qp", *lab(tmp, "async-qp", "right"))


def may_break():
    """Do we get a breakpoint register that counts? Some virtual machines give one that never
    does. Of <linux/perf_event.h>: type PERF_TYPE_BREAKPOINT, size, exclude_kernel and
    exclude_hv, HW_BREAKPOINT_RW, 1 byte."""
    if os.uname().machine != "x86_64":
        return False
    here = ctypes.create_string_buffer(1)
    attr = struct.pack("=II5QIIQQ", 5, 72, 0, 0, 0, 0, 3 << 5, 0, 3, ctypes.addressof(here), 1)
    libc = ctypes.CDLL(None)
    fd = libc.syscall(298, attr, 0, -1, -1, 0)
    if fd < 0:
        return False
    here[0] = b"x"
    (count,) = struct.unpack("=Q", os.read(fd, 8))
    os.close(fd)
    return count > 0


def try_reads(tmp):
    """The program's own reads, where the processor may say so."""
    if not may_break():
        print("not seen here: reads of the program (perf_event_open(2) is not allowed, "
              "or the machine's breakpoint registers count nothing)")
        return []
    return try_form(tmp, "polls-memory", "UR-SQ-13") + try_form(tmp, "reads-on", "UR-RQ-04")


def main():
    ids = re.findall(r'"(UR-[A-Z]+-[0-9]+)"', open(f"{SOURCE}/check/ids.def").read())
    listed = subprocess.run([f"{BUILD}/bin/lab", "--list"], stdout=subprocess.PIPE,
                            text=True, check=True).stdout.split()
    failures = []
    doc = open(f"{SOURCE}/doc/check.md").read()
    for name in ids:
        if name not in listed and name not in NOT_HERE:
            failures.append(f"{name}: no program")
        if name in listed and name in NOT_HERE:
            failures.append(f"{name}: there is a program; take it out of NOT_HERE")
        if f"\n### {name}\n" not in doc:
            failures.append(f"{name}: no section in doc/check.md")
    failures += [f"{name}: not in ids.def" for name in listed if name not in ids]
    with tempfile.TemporaryDirectory(prefix="uroce-lab-") as tmp:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for wrong in pool.map(lambda n: try_id(tmp, n),
                                  [n for n in listed if not WANTED or n in WANTED]):
                failures += wrong
            if not WANTED:
                for wrong in pool.map(lambda t: t(tmp), [try_stop, try_mute, try_fork, try_long,
                                                try_async_qp, try_reads]):
                    failures += wrong
    print("\n".join(failures) or f"{len(listed)} mistakes named, {len(listed)} twins silent")
    return 1 if failures else 0


sys.exit(main())

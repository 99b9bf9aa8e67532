# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One program of the lab, run under the checker, and what is expected of it: the mistake
named with its place, the corrected twin silent."""
import json
import os
import re
import subprocess
import time


def run(command, json_file, mistake, seconds=30, **env):
    """Runs a command that writes what is named to json_file, to its end or until the
    program waits for ever and the mistake was named. Returns its status (or words in
    place of it), its output and the members of each line."""
    with open(json_file + ".out", "w") as out:
        p = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT,
                             env={**os.environ, **env})
    end = time.monotonic() + seconds

    def read():
        # At once, not by lines: the rest of a line that is being written would be one, too.
        found = open(json_file).read() if os.path.exists(json_file) else ""
        # The program writes where its descriptor is: not by that.
        with open(json_file + ".out") as said:
            text = said.read()
        return text, [json.loads(line) for line in found.split("\n")[:-1]]

    while p.poll() is None:
        text, found = read()
        # It has said all that it can.
        if "hangs\n" in text and any(f["id"] == mistake for f in found):
            p.kill()
            p.wait()
            return 0, text, found
        if time.monotonic() > end:
            p.kill()
            p.wait()
            return f"over {seconds} s", *read()
        time.sleep(0.02)
    return p.returncode, *read()


def judge_wrong(name, rc, out, found, story=None, module="lab"):
    """What is wrong with a program that makes the mistake: at most one thing."""
    report = next((f for f in found if f["id"] == name), None)
    if rc:
        return [f"{name} wrong: status {rc}\n{out}"]
    if not report:
        return [f"{name} wrong: not named\n{out}"]
    if not any(f["file"].endswith(".c") and f["line"] and f["module"] == module
               for f in report["stack"]):
        return [f"{name} wrong: no place in the program\n{out}"]
    if name not in out or report["advice"] not in out:
        return [f"{name} wrong: not on standard error\n{out}"]
    if story and (not re.search(story, out) or "rdma-check: why: " not in out):
        return [f"{name} wrong: no story of the device\n{out}"]
    return []


def judge_right(name, rc, out, found):
    # One of them has to fail to get an event: that has a story, and no name.
    if rc or found or re.search("rdma-check: (?!why: )", out):
        return [f"{name} right: status {rc}, named {[f['id'] for f in found]}\n{out}"]
    return []

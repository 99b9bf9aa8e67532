#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""usage: parts.py BUILD CHECK IBVERBS PART=REGEX...

The build with all parts left out (cmake/Parts.cmake), without building it all
anew: the sources of uroced that look at UROCE_WITH_PART, or include a header that
does, are compiled with it 0, warnings being errors; the others are taken from BUILD
but for those whose path the REGEX of a part matches. All together must link, so
nobody needs what is left out, and what it makes has to pass CHECK (device_parts).
The provider is compiled and linked in the same way, with the library IBVERBS."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DAEMON = "uroced", "ur_device", "ur_engine", "ur_transport", "ur_cm", "ur_util", "ur_os", "ur_assert"
PROVIDER = "uroce-rdmav34", "ur_provider", "ur_util", "ur_os", "ur_assert"
MODULES = "libnl-3.0", "libnl-route-3.0", "json-c", "libsystemd", "libseccomp", "libisal"


def commands(build):
    """{target: {source: (directory, words of the command, object)}}"""
    found = {}
    with open(os.path.join(build, "compile_commands.json")) as f:
        for c in json.load(f):
            words = shlex.split(c["command"])
            out = words[words.index("-o") + 1]
            m = re.search(r"CMakeFiles/([^/]+)\.dir/", out)
            source = os.path.relpath(os.path.join(c["directory"], c["file"]), TOP)
            if m and not source.startswith("tests/"):
                found.setdefault(m[1], {})[source] = (
                    c["directory"], words, os.path.join(c["directory"], out))
    return found


def read(path):
    with open(os.path.join(TOP, path)) as f:
        return f.read()


def headers_that_look():
    """Headers that look at a part."""
    out = subprocess.run(["grep", "-rlE", "--include=*.h", r"UROCE_WITH_[A-Z]", *FOLDERS],
                         cwd=TOP, stdout=subprocess.PIPE, text=True)
    return set(out.stdout.split())


FOLDERS = "device", "engine", "transport", "cm", "util", "providers"


def looks(source, headers):
    text = read(source)
    return "UROCE_WITH_" in text or any(f'#include "{h}"' in text for h in headers)


def compile_anew(job):
    directory, words, out, target = job
    words = [w for w in words if not w.startswith("-DUROCE_WITH_")]
    words[words.index("-o") + 1] = target
    words += [f"-DUROCE_WITH_{part}=0" for part in PARTS] + ["-Werror", "-fno-lto"]
    return subprocess.run(words, cwd=directory, stderr=subprocess.PIPE, text=True)


def link(found, targets, tmp, out, *more):
    headers, objects, jobs = headers_that_look(), [], []
    for target in targets:
        for source, (directory, words, made) in found.get(target, {}).items():
            if any(re.search(regex, "/" + source) for regex in PARTS.values()):
                continue
            if looks(source, headers):
                made = os.path.join(tmp, f"{len(jobs)}-{os.path.basename(made)}")
                jobs.append((directory, words, source, made))
            objects.append(made)
    with ThreadPoolExecutor(2) as pool:
        for job, done in zip(jobs, pool.map(compile_anew, jobs)):
            if done.returncode:
                print(f"{job[2]} without {' '.join(PARTS)}:\n{done.stderr}")
                return False
    print(f"{os.path.basename(out)}: {len(jobs)} of {len(objects)} files anew")
    # Each must have been looked for and found.
    assert jobs and len(objects) > len(jobs)
    done = subprocess.run(["cc", "-fno-lto", "-o", out, *objects, *more], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stderr)
    return not done.returncode


def main(build, check, ibverbs, *parts):
    for pair in parts:
        name, regex = pair.split("=", 1)
        # A list's items may be relative to a folder.
        if not regex.startswith("^") or "/" in regex:
            PARTS[name] = "|".join(filter(None, (PARTS.get(name), regex.replace("^", "/"))))
    found = commands(build)
    if "ur_device" not in found:
        print("no compile_commands.json of uroced")
        return 1
    libs = subprocess.run(["pkg-config", "--libs", *MODULES], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.split()
    with tempfile.TemporaryDirectory() as tmp:
        uroced = os.path.join(tmp, "uroced")
        if not link(found, DAEMON, tmp, uroced, *libs, "-pthread", "-ldl"):
            return 1
        if "ur_provider" in found and not link(
                found, PROVIDER, tmp, os.path.join(tmp, "provider.so"), "-shared",
                "-Wl,-z,defs", ibverbs, "-pthread", "-ldl"):
            return 1
        return subprocess.run([check, uroced, *PARTS]).returncode


PARTS = {}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

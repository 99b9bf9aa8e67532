#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Conformance: rdma-core's pyverbs suite, unedited, against a uroce device.

    suite.py [--write] [--xml FILE] [MODULE[.Class[.test]]...]

Every test's outcome is held against expected.toml; a difference in either
direction fails. --write records what was seen instead (look at the diff!).
Makes a network namespace with a device of its own; needs root."""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from xml.sax.saxutils import quoteattr

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("UROCE_BUILD", os.path.join(os.path.dirname(HERE), "build"))
SUITE = "/usr/share/doc/rdma-core/tests"
EXPECTED = os.path.join(HERE, "expected.toml")
PYTHON = "/usr/bin/python3"
MODULE_SECONDS = 180


def sh(*cmd, **kw):
    return subprocess.run(cmd, check=kw.pop("check", True), **kw)


def unpack(tmp):
    """The suite as Debian ships it, decompressed. Images that leave out
    /usr/share/doc get it from the package itself."""
    src = SUITE
    if not os.path.exists(os.path.join(src, "base.py.gz")):
        sh("apt-get", "-q", "download", "python3-pyverbs", cwd=tmp, stdout=subprocess.DEVNULL)
        deb = next(f for f in os.listdir(tmp) if f.endswith(".deb"))
        sh("dpkg", "-x", deb, "deb", cwd=tmp)
        src = os.path.join(tmp, "deb") + SUITE
    dst = os.path.join(tmp, "tests")
    shutil.copytree(src, dst)
    sh("gunzip", "-rf", dst)
    return dst


class World:
    """Two namespaces, one veth cable, a device in the first."""

    def __init__(self, tmp):
        self.tmp, self.ns = tmp, f"uroce-pv-{os.getpid()}"
        self.peer = self.ns + "p"
        for n in (self.ns, self.peer):
            sh("ip", "netns", "add", n)
        sh("ip", "-n", self.ns, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0",
           "netns", self.peer)
        for n, last in ((self.ns, 1), (self.peer, 2)):
            sh("ip", "-n", n, "link", "set", "lo", "up")
            sh("ip", "-n", n, "addr", "add", f"10.88.0.{last}/24", "dev", "eth0")
            sh("ip", "-n", n, "addr", "add", f"fd88::{last}/64", "dev", "eth0", "nodad")
            sh("ip", "-n", n, "link", "set", "eth0", "up")
        self.run_dir = os.path.join(tmp, "run")
        self.log = os.path.join(tmp, "uroced.log")
        self.daemon = subprocess.Popen(
            ["ip", "netns", "exec", self.ns, f"{BUILD}/bin/uroced", "--netdev", "eth0",
             "--run-dir", self.run_dir], stdout=subprocess.PIPE, stderr=open(self.log, "w"),
            text=True)
        for line in self.daemon.stdout:
            if "ready" in line:
                return
        raise SystemExit("uroced did not start:\n" + open(self.log).read())

    def run(self, cmd, **kw):
        return subprocess.Popen(["ip", "netns", "exec", self.ns, f"{BUILD}/bin/uroce", "run",
                                 "--run-dir", self.run_dir, "--"] + cmd, **kw)

    def alive(self):
        return self.daemon.poll() is None

    def close(self):
        if self.alive():
            self.daemon.terminate()
            try:
                self.daemon.wait(10)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
        for n in (self.ns, self.peer):
            sh("ip", "netns", "del", n, check=False)


def run_module(world, suite_dir, name, results):
    out = os.path.join(world.tmp, "out.jsonl")
    open(out, "w").close()
    log = open(os.path.join(world.tmp, "runner.log"), "w")
    p = world.run([PYTHON, os.path.join(HERE, "runner.py"), suite_dir, out, "uroce0", "1", "0",
                   name], stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    why = ""
    try:
        rc = p.wait(MODULE_SECONDS)
        if rc:
            why = f"runner ended with status {rc}"
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, 9)
        p.wait()
        why = f"not finished after {MODULE_SECONDS} s"
    seen, running = {}, None
    for line in open(out):
        test, outcome, reason = json.loads(line)
        if outcome == "start":
            running = test
            continue
        # A failure in a subtest or tear-down is not undone by a later pass.
        if seen.get(test, ("pass",))[0] in ("pass", "skip"):
            seen[test] = (outcome, reason)
        running = None
    if running and running not in seen:
        seen[running] = ("error", why or "the test process died")
    elif why and not seen:
        seen[name] = ("error", why + "\n" + open(log.name).read()[-1500:])
    results.update(seen)


def load_expected():
    with open(EXPECTED, "rb") as f:
        doc = tomllib.load(f)
    want = {t: ("pass", "") for t in doc.get("pass", {}).get("tests", [])}
    for group in doc.get("skip", []):
        want.update({t: ("skip", group["reason"]) for t in group["tests"]})
    for group in doc.get("fail", []):
        want.update({t: ("fail", group["reason"]) for t in group["tests"]})
    return want


def write_expected(results):
    groups = {}
    for t, (outcome, reason) in results.items():
        key = ("fail" if outcome in ("fail", "error") else outcome,
               "" if outcome == "pass" else reason.splitlines()[0] if reason else "")
        groups.setdefault(key, []).append(t)
    passed = sorted(groups.pop(("pass", ""), []))
    with open(EXPECTED, "w") as f:
        f.write("# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB\n"
                "# What each test of rdma-core 44's pyverbs suite does on a uroce device, held by\n"
                "# suite.py. Skips are for hardware that is not there, or a verb that is refused\n"
                "# with EOPNOTSUPP; the reason is the suite's own.\n\n")
        f.write(f"# {len(passed)} tests\n[pass]\ntests = [\n")
        f.writelines(f'    "{t}",\n' for t in passed)
        f.write("]\n")
        for (kind, reason), tests in sorted(groups.items(), key=lambda g: (g[0][0], -len(g[1]))):
            f.write(f"\n# {len(tests)} tests\n[[{kind}]]\nreason = {json.dumps(reason)}\n"
                    "tests = [\n")
            f.writelines(f'    "{t}",\n' for t in sorted(tests))
            f.write("]\n")


def write_xml(path, cases):
    with open(path, "w") as f:
        f.write('<?xml version="1.0"?>\n<testsuite name="conformance">\n')
        for name, verdict, text in cases:
            cls, _, short = name.rpartition(".")
            f.write(f"<testcase classname={quoteattr(cls)} name={quoteattr(short)}>")
            if verdict != "passed":
                tag = "skipped" if verdict == "skipped" else "failure"
                f.write(f"<{tag} message={quoteattr(text)}/>")
            f.write("</testcase>\n")
        f.write("</testsuite>\n")


def judge(results, want, partial):
    cases = []
    for t in sorted(set(results) | (set() if partial else set(want))):
        got, reason = results.get(t, ("missing", "did not run"))
        exp, _ = want.get(t, ("nothing", ""))
        kind = "fail" if got in ("fail", "error") else got
        if kind != exp:
            cases.append((t, "failed", f"{got} ({reason}), expected {exp}"))
        elif kind == "fail":
            cases.append((t, "failed", f"known failure: {reason}"))
        else:
            cases.append((t, "skipped" if kind == "skip" else "passed", reason))
    return cases


def main():
    ap = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--write", action="store_true")
    ap.add_argument("--xml")
    ap.add_argument("names", nargs="*")
    args = ap.parse_args()
    tmp = tempfile.mkdtemp(prefix="uroce-pv-")
    # Told to end, clean up as when interrupted.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    results, t0 = {}, time.monotonic()
    world = None
    try:
        suite_dir = unpack(tmp)
        names = args.names or sorted(f[:-3] for f in os.listdir(suite_dir)
                                     if f.startswith("test_") and f.endswith(".py"))
        world = World(tmp)
        for n in names:
            run_module(world, suite_dir, n, results)
            if not world.alive():
                print(f"uroced died in {n}:\n" + open(world.log).read()[-3000:])
                world.close()
                results[f"{n}.uroced"] = ("error", "uroced died")
                world = World(tmp)
    finally:
        if world:
            world.close()
        shutil.rmtree(tmp, ignore_errors=True)
    if args.write:
        write_expected(results)
        print(f"wrote {EXPECTED}")
    cases = judge(results, load_expected(), bool(args.names))
    for t, verdict, text in cases:
        if verdict == "failed":
            print(f"FAILED {t}: {text}")
    if args.xml:
        write_xml(args.xml, cases)
    n = {v: sum(c[1] == v for c in cases) for v in ("passed", "failed", "skipped")}
    print(f"{time.monotonic() - t0:.0f} s; {n['passed']} passed, {n['failed']} failed, "
          f"{n['skipped']} skipped")
    return 1 if n["failed"] or not n["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())

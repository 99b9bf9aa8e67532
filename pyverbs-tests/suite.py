#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Conformance: rdma-core's pyverbs suite, unedited, against a uroce device.

    suite.py [--mode MODE] [--some] [--write] [--xml FILE] [MODULE[.Class[.test]]...]

Every test's outcome is held against expected.toml; a difference in either
direction fails. --write records what was seen instead (look at the diff!).
--some runs one test of each class.
Makes network namespaces with devices of its own; needs root.

Modes, which say where the two players of a test are (apart.py):
  one          on one device, as the suite has it (the default), with engines where
               programs have them by themselves
  program      the same, with the engines in the players (UROCE_ENGINE=process)
  device       the same, with the device's (UROCE_ENGINE=device)
  wire, wire6  on two devices of one uroced, over IPv4 or IPv6
  wire-loss    the same, and each packet is dropped with 1 % probability
  hosts        in two processes, in two namespaces with a uroced each
  hosts-loss   the same under loss
  arm64        as hosts, and the second host is of arm64 (tests/arm64/mixed.sh)
  one-arm64    on one device, of a host of arm64 (the same)
The modes but the first three are held against expected-apart.toml. expected.toml is
that of rdma-core 44; of another release, expected-RELEASE.toml says what
differs."""
import argparse
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
from xml.sax.saxutils import quoteattr

import hugepages

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "tests"))
from once_more import FEW
from parts import has_part
BUILD = os.environ.get("UROCE_BUILD", os.path.join(os.path.dirname(HERE), "build"))
SUITE = "/usr/share/doc/rdma-core/tests"
EXPECTED = os.path.join(HERE, "expected.toml")
APART = os.path.join(HERE, "expected-apart.toml")
# Both players on one device.
TOGETHER = ("one", "program", "device")
PLACES = {"program": "process", "device": "device"}
MODES = (*TOGETHER, "wire", "wire6", "wire-loss", "hosts", "hosts-loss", "arm64", "one-arm64")
LOSS = """
table inet bad {
	chain in {
		type filter hook input priority 0;
		udp dport 4791 numgen random mod 100 < 1 counter drop
	}
}
"""
PYTHON = "/usr/bin/python3"
# A file for what --check names: e2e test_check.
CHECK = (["--check", "--check-json", os.environ["UROCE_TEST_CHECK"]]
         if os.environ.get("UROCE_TEST_CHECK") else [])
# Whose libraries and suite the players here use: empty for the machine's own.
NEAR_ROOT = os.environ.get("UROCE_NEAR_ROOT", "")
MODULE_SECONDS = int(os.environ.get("UROCE_MODULE_SECONDS", "180"))


def sh(*cmd, **kw):
    return subprocess.run(cmd, check=kw.pop("check", True), **kw)


def unpack(tmp):
    """The suite as Debian ships it, decompressed. Images that leave out
    /usr/share/doc get it from the package itself."""
    src = NEAR_ROOT + SUITE
    if not os.path.exists(os.path.join(src, "base.py.gz")):
        sh("apt-get", "-q", "download", "python3-pyverbs", cwd=tmp, stdout=subprocess.DEVNULL)
        deb = next(f for f in os.listdir(tmp) if f.endswith(".deb"))
        sh("dpkg", "-x", deb, "deb", cwd=tmp)
        src = os.path.join(tmp, "deb") + SUITE
    dst = os.path.join(tmp, "tests")
    shutil.copytree(src, dst)
    sh("gunzip", "-rf", dst)
    # For whoever imports it, above all an emulated processor.
    sh(*(["chroot", NEAR_ROOT] if NEAR_ROOT else []), PYTHON, "-m", "compileall", "-q", dst)
    return dst


class World:
    """Two namespaces and one veth cable. Players together: one device. Apart: a
    second device on the other end of a second cable, both in the first
    namespace, or a device on the same cable in the second one."""

    def __init__(self, tmp, mode):
        self.tmp, self.ns = tmp, f"uroce-pv-{os.getpid()}"
        self.mode, _, how = mode.partition("-")
        self.loss, self.foreign = how == "loss", how == "arm64"
        self.peer = self.ns + "p"
        self.run_dir = os.path.join(tmp, "run")
        self.far_run_dir = os.path.join(tmp, "far")
        self.log = os.path.join(tmp, "uroced.log")
        self.daemons = []
        try:
            self.make()
        except BaseException:
            self.close()
            raise

    def make(self):
        for n in (self.ns, self.peer):
            sh("ip", "netns", "add", n)
            sh("ip", "-n", n, "link", "set", "lo", "up")
        # Where the second player's device is: which namespace and netdev.
        far = self.ns if self.mode.startswith("wire") else self.peer
        second = "eth1" if far == self.ns else "eth0"
        sh("ip", "-n", self.ns, "link", "add", "eth0", "type", "veth", "peer", "name", second,
           "netns", far)
        for n, dev, last in ((self.ns, "eth0", 1), (far, second, 2)):
            sh("ip", "-n", n, "addr", "add", f"10.88.0.{last}/24", "dev", dev)
            sh("ip", "-n", n, "addr", "add", f"fd88::{last}/64", "dev", dev, "nodad")
            sh("ip", "-n", n, "link", "set", dev, "up")
            if self.loss:
                sh("ip", "netns", "exec", n, "nft", "-f", "-", input=LOSS, text=True)
        netdevs = ["eth0", "eth1"] if far == self.ns else ["eth0"]
        self.serve(self.ns, self.run_dir, netdevs, self.own(self.foreign))
        if self.mode in ("hosts", "arm64"):
            self.serve(self.peer, self.far_run_dir, netdevs, self.own(self.mode == "arm64"))

    @staticmethod
    def own(foreign):
        """What starts programs on a host, which is of arm64 or not."""
        root = os.environ["UROCE_ARM64_ROOT"] if foreign else NEAR_ROOT
        if not root:
            return []
        return ["sh", "-c", 'mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"', root]

    def serve(self, ns, run_dir, netdevs, own):
        d = subprocess.Popen(
            ["ip", "netns", "exec", ns, *own, f"{BUILD}/bin/uroced", "--run-dir", run_dir,
             "--raw-ethernet"] +
            [a for n in netdevs for a in ("--netdev", n)],
            stdout=subprocess.PIPE, stderr=open(self.log, "a"), text=True)
        self.daemons.append(d)
        for line in d.stdout:
            if "ready" in line:
                return
        raise SystemExit("uroced did not start:\n" + open(self.log).read())

    def gid(self):
        """The index of the GID that the players use."""
        return 1 if self.mode == "wire6" else 0

    def apart(self):
        """What apart.py wants to know; {}: the players are together."""
        if self.mode in TOGETHER:
            return {}
        hosts = self.mode in ("hosts", "arm64")
        places = [(self.run_dir, "uroce0"),
                  (self.far_run_dir, "uroce0") if hosts else (self.run_dir, "uroce1")]
        gids = [open(f"{d}/sys/class/infiniband/{dev}/ports/1/gids/{self.gid()}").read().strip()
                for d, dev in places]
        elsewhere = {}
        if self.mode == "arm64":
            elsewhere = {"own": ["ip", "netns", "exec", self.peer, *self.own(True),
                                 f"{BUILD}/bin/uroce", "run", "--run-dir", self.far_run_dir, "--"],
                         "options": ["uroce0", "1", str(self.gid())]}
        return {"mode": "hosts" if hosts else "wire", "gids": gids, **elsewhere,
                "addrs": ["10.88.0.1", "10.88.0.2"], "netns": self.peer,
                "run_dir": self.run_dir, "far_run_dir": places[1][0],
                "uroce": f"{BUILD}/bin/uroce"}

    def dropped(self):
        """How many packets the network lost."""
        total = 0
        for n in {self.ns, self.ns if self.mode != "hosts" else self.peer}:
            out = sh("ip", "netns", "exec", n, "nft", "-j", "list", "ruleset",
                     stdout=subprocess.PIPE).stdout
            total += sum(int(m) for m in re.findall(r'"packets": (\d+)', out.decode()))
        return total

    def run(self, cmd, **kw):
        if self.mode in PLACES:
            kw["env"] = {**os.environ, "UROCE_ENGINE": PLACES[self.mode]}
        return subprocess.Popen(["ip", "netns", "exec", self.ns, *self.own(self.foreign),
                                 f"{BUILD}/bin/uroce", "run", "--run-dir", self.run_dir, *CHECK,
                                 "--"] + cmd, **kw)

    def alive(self):
        return all(d.poll() is None for d in self.daemons)

    def close(self):
        for d in self.daemons:
            if d.poll() is None:
                d.terminate()
        for d in self.daemons:
            try:
                d.wait(10)
            except subprocess.TimeoutExpired:
                d.kill()
                d.wait()
        for n in (self.ns, self.peer):
            sh("ip", "netns", "del", n, check=False)


def run_module(world, suite_dir, names, results):
    out = os.path.join(world.tmp, "out.jsonl")
    open(out, "w").close()
    log = open(os.path.join(world.tmp, "runner.log"), "w")
    p = world.run([PYTHON, os.path.join(HERE, "runner.py"), suite_dir, out, "uroce0", "1",
                   str(world.gid()), json.dumps(world.apart()), *names],
                  stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    why = ""
    try:
        rc = p.wait(MODULE_SECONDS)
        if rc:
            why = f"runner ended with status {rc}"
    except subprocess.TimeoutExpired:
        why = f"not finished after {MODULE_SECONDS} s"
    finally:
        if p.poll() is None:
            os.killpg(p.pid, 9)
            p.wait()
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
        seen[running] = ("error", (why or "the test process died") + "\n" +
                         open(log.name).read()[-1500:])
    elif why and not seen:
        seen[names[0]] = ("error", why + "\n" + open(log.name).read()[-1500:])
    results.update(seen)


def load(path):
    with open(path, "rb") as f:
        return tomllib.load(f)


def release():
    """Of rdma-core, of which libibverbs is: 44, 56."""
    name, = glob.glob(f"{NEAR_ROOT}/usr/lib/{sysconfig.get_config_var('MULTIARCH')}/"
                      "libibverbs.so.1.*")
    return int(re.search(r"so\.1\.\d+\.(\d+)", name)[1])


def differences():
    """The file of what another release does otherwise, or None."""
    return None if release() == 44 else os.path.join(HERE, f"expected-{release()}.toml")


def read_outcomes(path, want):
    """Add what a file of expected outcomes says to {test: (outcome, reason)}."""
    doc = load(path)
    want.update({t: ("pass", "") for t in doc.get("pass", {}).get("tests", [])})
    for kind in ("skip", "fail"):
        for group in doc.get(kind, []):
            if kind == "skip" and not group.get("why"):
                raise SystemExit(f"{path}: why are there skips for {group['reason']!r}?")
            want.update({t: (kind, group["reason"]) for t in group["tests"]})
    for t in doc.get("gone", {}).get("tests", []):
        del want[t]
    return want


def load_expected(mode):
    """{test: (outcome, reason)}"""
    if mode in TOGETHER:
        want = read_outcomes(EXPECTED, {})
        other = differences()
        return read_outcomes(other, want) if other and os.path.exists(other) else want
    want = {t: ("pass", "") for t in load(EXPECTED)["pass"]["tests"]}
    other = load(differences()) if differences() else {}
    if mode == "arm64":  # what a release has more was not tried in the others
        want.update({t: ("pass", "") for t in other.get("pass", {}).get("tests", [])})
    over = load(APART)
    full = os.environ.get("UROCE_FULL")
    # A program of arm64 takes a second to start: only for its packets.
    skipped = ("long",) * (not full) + ("alone",) * (not full or mode == "arm64")
    for kind in ("alone", "fail", "left-out", "long"):
        for group in over.get(kind, []):
            if mode not in group.get("modes", MODES[len(TOGETHER):-1]):
                continue
            for t in group["tests"]:
                if want.get(t, ("",))[0] != "pass":
                    raise SystemExit(f"{APART}: {t} is said twice, or no test that passes")
                want[t] = ("left-out" if kind in skipped else "pass" if kind == "long" else kind,
                           group["reason"])
    for t in other.get("gone", {}).get("tests", []):
        want.pop(t, None)
    return want


def put_tests(f, head, tests):
    f.write(f"\n# {len(tests)} tests\n{head}tests = [\n")
    f.writelines(f'    "{t}",\n' for t in sorted(tests))
    f.write("]\n")


def write_expected(results):
    """Everything for 44, what differs from that for another release."""
    path, base, gone = EXPECTED, {}, []
    why = {g["reason"]: g.get("why", "") for g in load(EXPECTED).get("skip", [])}
    if differences():
        path, base = differences(), read_outcomes(EXPECTED, {})
        gone = [t for t in base if t not in results]
        if os.path.exists(path):
            why.update({g["reason"]: g.get("why", "") for g in load(path).get("skip", [])})
    groups = {}
    for t, (outcome, reason) in results.items():
        key = ("fail" if outcome in ("fail", "error") else outcome,
               "" if outcome == "pass" else reason.splitlines()[0] if reason else "")
        if base.get(t, ("",))[0] != key[0]:
            groups.setdefault(key, []).append(t)
    passed = groups.pop(("pass", ""), [])
    with open(path, "w") as f:
        f.write("# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB\n")
        if base:
            f.write(f"# What tests of rdma-core {release()}'s pyverbs suite do otherwise than\n"
                    "# expected.toml says, held by suite.py.\n")
        else:
            f.write("# What each test of rdma-core 44's pyverbs suite does on a uroce device, held by\n"
                    "# suite.py. The reason of a skip is the suite's own; 'why' says what is behind it.\n")
        put_tests(f, "[pass]\n", passed)
        for (kind, reason), tests in sorted(groups.items(), key=lambda g: (g[0][0], -len(g[1]))):
            head = f"[[{kind}]]\nreason = {json.dumps(reason)}\n"
            if kind == "skip":
                head += f"why = {json.dumps(why.get(reason, ''))}\n"
            put_tests(f, head, tests)
        if gone:
            put_tests(f, "[gone]\n", gone)


def once_more(world, suite_dir, results, want):
    """What failed, if it is not much, once more by itself: {test: what was wrong the
    first time} of those that pass then."""
    failed = [t for t, (got, _) in results.items()
              if got in ("fail", "error") and want.get(t, ("",))[0] == "pass"]
    flaky = {}
    if len(failed) > FEW:
        return flaky
    for t in failed:
        again = {}
        run_module(world, suite_dir, [t], again)
        if not world.alive():
            break
        if again.get(t, ("",))[0] == "pass":
            flaky[t], results[t] = results[t][1], again[t]
    return flaky


def write_xml(path, mode, cases, flaky):
    with open(path, "w") as f:
        f.write('<?xml version="1.0"?>\n<testsuite name="conformance">\n')
        prefix = "" if mode == "one" else f"{mode}."
        for name, verdict, text in cases:
            cls, _, short = name.rpartition(".")
            f.write(f"<testcase classname={quoteattr(prefix + cls)} name={quoteattr(short)}>")
            if verdict != "passed":
                tag = "skipped" if verdict == "skipped" else "failure"
                f.write(f"<{tag} message={quoteattr(text)}/>")
            elif name in flaky:
                f.write(f"<flakyFailure message={quoteattr(flaky[name])}/>")
            f.write("</testcase>\n")
        f.write("</testsuite>\n")


def judge(results, want, partial, huge):
    cases = []
    for t in sorted(set(results) | (set() if partial else set(want))):
        exp, why = want.get(t, ("nothing", ""))
        got, reason = results.get(t, ("missing", "did not run"))
        kind = "fail" if got in ("fail", "error") else got
        if exp == "left-out":
            cases.append((t, "skipped", why))
        elif kind == "skip" and reason == hugepages.REASON and not huge:
            cases.append((t, "skipped", "no huge pages can be had here"))
        elif kind != exp:
            cases.append((t, "failed", f"{got} ({reason}), expected {exp}"))
        elif kind == "pass":
            cases.append((t, "passed", reason))
        else:
            cases.append((t, "skipped", why or reason))
    return cases


def groups(suite_dir, names, want, mode, some):
    """What each run of the runner is given: a module, those of which nothing is
    expected but skips together; or apart, the tests of a module that are run at
    all; of some, all at once."""
    if some:
        classes = {}
        for t, (kind, _) in sorted(want.items()):
            if kind == "pass":
                classes.setdefault(t.rpartition(".")[0], t)
        return [list(classes.values())]
    if names:
        return [[n] for n in names]
    if mode in TOGETHER:
        modules = [f[:-3] for f in sorted(os.listdir(suite_dir))
                   if f.startswith("test_") and f.endswith(".py")]
        kinds = {}
        for t, (kind, _) in want.items():
            kinds.setdefault(t.split(".")[0], set()).add(kind)
        skipped = [m for m in modules if kinds.get(m) == {"skip"}]
        return [[m] for m in modules if m not in skipped] + [skipped] * bool(skipped)
    modules = {}
    for t, (kind, _) in sorted(want.items()):
        if kind != "left-out":
            modules.setdefault(t.split(".")[0], []).append(t)
    return list(modules.values())


def stop(*_):
    """Clean up, also where SIGINT is ignored, as in the background of a script."""
    raise KeyboardInterrupt


def main():
    ap = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--mode", choices=MODES, default="one")
    ap.add_argument("--some", action="store_true")
    ap.add_argument("--write", action="store_true")
    ap.add_argument("--xml")
    ap.add_argument("names", nargs="*")
    args = ap.parse_args()
    if not has_part(BUILD, "RAW_PACKET"):
        raise SystemExit("the expected outcomes are those of a build with UROCE_WITH_RAW_PACKET")
    tmp = tempfile.mkdtemp(prefix="uroce-pv-")
    # Told to end, clean up as when interrupted.
    signal.signal(signal.SIGTERM, stop)
    results, flaky, died, t0 = {}, {}, False, time.monotonic()
    want = load_expected(args.mode)
    world = None
    huge = hugepages.HugePages(32)
    got_huge = huge.got > 0
    try:
        suite_dir = unpack(tmp)
        world = World(tmp, args.mode)
        for group in groups(suite_dir, args.names, want, args.mode, args.some):
            run_module(world, suite_dir, group, results)
            if not world.alive():
                print(f"uroced died in {group[0]}:\n" + open(world.log).read()[-3000:])
                world.close()
                results[f"{group[0]}.uroced"] = ("error", "uroced died")
                died = True
                world = World(tmp, args.mode)
        if not args.write and not died:
            flaky = once_more(world, suite_dir, results, want)
        if world.loss:
            n = world.dropped()
            results[f"loss.{args.mode}"] = ("pass" if n else "fail", f"{n} packets dropped")
            want[f"loss.{args.mode}"] = ("pass", "")
    finally:
        if world:
            world.close()
        huge.close()
        shutil.rmtree(tmp, ignore_errors=True)
    if args.write:
        if args.mode == "one":
            write_expected(results)
            print(f"wrote {differences() or EXPECTED}")
            want = load_expected(args.mode)
        else:
            for t, (outcome, reason) in sorted(results.items()):
                if outcome != "pass":
                    print(f"{outcome:6} {t}: {reason}")
    cases = judge(results, want, args.some or bool(args.names), got_huge)
    for t, verdict, text in cases:
        if verdict == "failed":
            print(f"FAILED {t}: {text}")
        elif t in flaky:
            print(f"flaky: {t}: {flaky[t]}")
    if args.xml:
        write_xml(args.xml, args.mode, cases, flaky)
    n = {v: sum(c[1] == v for c in cases) for v in ("passed", "failed", "skipped")}
    print(f"{args.mode}: {time.monotonic() - t0:.0f} s; {n['passed']} passed, {n['failed']} failed, "
          f"{n['skipped']} skipped")
    return 1 if n["failed"] or not n["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())

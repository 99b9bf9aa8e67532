# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce against a device that is a few lines of Python.
usage: test_uroce.py BUILD_DIR"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

build = os.path.abspath(sys.argv[1])
here = os.path.dirname(os.path.abspath(__file__))
top = tempfile.mkdtemp(prefix="uroce-cli-")
os.makedirs(top + "/bin")
os.symlink(build + "/lib", top + "/lib")
shutil.copy(build + "/bin/uroce", top + "/bin/uroce")
shutil.copy(here + "/fake_uroced.py", top + "/bin/uroced")
run_dir = top + "/run"
os.environ.pop("LD_PRELOAD", None)
os.environ["UROCE_RUN_DIR"] = run_dir
UROCE = top + "/bin/uroce"


def uroce(*args, **kw):
    r = subprocess.run([UROCE, *args], text=True, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, **kw)
    # Where a uroce of another architecture is run by qemu-user, the programs that
    # it starts are the host's, whose loader says that the front-end is not theirs.
    r.stderr = re.sub(r"(?m)^ERROR: ld\.so: object .* from LD_PRELOAD cannot be preloaded .*\n",
                      "", r.stderr)
    return r


def check(got, want):
    if got != want:
        raise SystemExit(f"{got!r} is not {want!r}")


def test():
    # the command line
    check(uroce().returncode, 2)
    check(uroce("nothing").returncode, 2)
    check(uroce("run", "--what").returncode, 2)
    check(uroce("run", "--run-dir").returncode, 2)
    check(uroce("help").returncode, 0)
    # of one command: the same both ways, and only its own options
    for name in "run", "stat", "trace":
        r = uroce("help", name)
        check((r.returncode, r.stderr), (0, ""))
        assert r.stdout.startswith(f"usage: uroce {name} "), r.stdout
        check(uroce(name, "--help").stdout, r.stdout)
        check(uroce(name, "-h").stdout, r.stdout)
    assert "--mount" in uroce("help", "run").stdout
    assert "--mount" not in r.stdout and "--qpn N" in r.stdout, r.stdout
    check(uroce("help", "nothing").returncode, 2)
    # the reason is the last line, and all there is
    for words, want in ((("nothing",), "no command nothing; 'uroce help' lists them"),
                        (("help", "nothing"), "no command nothing; 'uroce help' lists them"),
                        (("--json",), "--json: no command; 'uroce help' lists them"),
                        (("run", "--qpn", "3", "true"),
                         "run: it takes no --qpn, which is of 'trace dump'"),
                        (("run", "-c", "3", "true"),
                         "run: it takes no --count, which is of 'stat top trace dump ping'"),
                        (("dump", "-i", "3", "x"),
                         "dump: it takes no --interval, which is of 'stat top why'"),
                        (("-j", "run", "true"),
                         "run: it takes no --json, which is of 'link fault fabric record why stat cm res "
                         "top doctor trace ping cdi'"),
                        (("stat", "-c", "2x"), "stat: --count 2x: not a number from 1 to 2147483647"),
                        (("stat", "-i", "abc"),
                         "stat: --interval abc: not a number of seconds from 0.05 to 3600"),
                        (("stat", "-i", "nan"),
                         "stat: --interval nan: not a number of seconds from 0.05 to 3600"),
                        (("top", "2x"),
                         "top: --interval 2x: not a number of seconds from 0.05 to 3600"),
                        (("top", "1", "1", "1"), "top: '1' is too many; see 'uroce help top'"),
                        (("run", "--devices", "2x", "true"),
                         "run: --devices 2x: not a number from 1 to 16"),
                        (("dump", "--qpn", "0x100000001", "x"),
                         "dump: --qpn 0x100000001: not a queue pair number, 0 to 0xffffff"),
                        (("run", "--check=loud", "true"), "run: --check loud: warn|stop"),
                        (("run", "--check-json", "x", "true"), "run: --check-json needs --check"),
                        (("ping", "--listen", "0"), "ping: --listen 0: not a number from 1 to 65535"),
                        (("run", "--name", "a", "--name", "b", "true"),
                         "run: --name b: the device has a name")):
        r = uroce(*words)
        check((r.returncode, r.stdout, r.stderr), (2, "", f"uroce: {want}\n"))
    # words that no command takes
    for words in (("cm", "x"), ("res", "qp", "x"), ("ping", "::1", "1", "x")):
        r = uroce(*words)
        check((r.returncode, r.stderr),
              (2, f"uroce: {words[0]}: 'x' is too many; see 'uroce help {words[0]}'\n"))
    # the daemon says the same way what it refuses, and nothing else
    for words, want in ((("--ready-fd", "abc"), "--ready-fd 'abc': not a number from 0 to 1048576"),
                        (("--cm-mode", "v3"), "--cm-mode 'v3': not one of v1|v2"),
                        (("--name", ""), "--name '': not a usable NAME, or too many of them"),
                        (("--group", ""), "--group '': empty, or longer than 63 bytes"),
                        (("--nothing=5",), "option --nothing is unknown; see 'uroced --help'"),
                        (("--user-engines",), "option --user-engines needs a value; see 'uroced --help'"),
                        (("--only=3",), "option --only takes no value; see 'uroced --help'"),
                        (("x",), "'x' is no option")):
        r = subprocess.run([build + "/bin/uroced", *words], text=True, capture_output=True, timeout=60)
        check((r.returncode, r.stdout, r.stderr), (2, "", f"uroced: {want}\n"))
    # and its pages have what its help has
    r = subprocess.run([build + "/bin/uroced", "--help"], text=True, capture_output=True)
    options = set(re.findall(r"--[a-z0-9-]+", r.stdout))
    page = open(f"{build}/man/uroced.8").read().replace("\\-", "-")
    check(options - set(re.findall(r"--[a-z0-9-]+", page)), set())
    assert len(options) >= 18, options
    # options before the command are as those behind it
    r = uroce("--run-dir", "/nonexistent/x", "--json", "link")
    check((r.returncode, r.stderr), (1, uroce("link", "-j", "-r", "/nonexistent/x").stderr))
    assert "/nonexistent/x" in r.stderr, r.stderr
    # the manual page has each command, with the options that it takes
    page = open(f"{build}/man/uroce.1").read().replace("\\-", "-").replace("\\:", "")
    commands = uroce("help", "--words").stdout.split()
    assert len(commands) >= 16 and commands[0] == "run", commands
    for name in commands:
        assert re.search(rf"(?m)^\.B[IR]? \"?{name}\b", page), f"uroce.1 lacks {name}"
        for word in uroce("help", "--words", name).stdout.split():
            if word.startswith("--"):
                assert re.search(rf"{word}\b", page), f"uroce.1 lacks {word}"
            elif word != "qp":
                assert re.search(rf"\b{word}\b", page), f"uroce.1 lacks {name} {word}"
    check(set(re.findall(r"--[a-z-]+[a-z]", page)) - {"--config", "--device"} <=
          {w for n in commands for w in uroce("help", "--words", n).stdout.split()}, True)
    # completion: what the table has, where it has it
    def complete(*typed):
        line = " ".join(["COMP_WORDS=(uroce", *(f"'{w}'" for w in typed), ")"])
        r = subprocess.run(["bash", "-c", f"PATH={top}/bin:$PATH; . {here}/../../../cli/uroce.bash; "
                            f"{line}; COMP_CWORD={len(typed)}; _uroce; printf '%s\\n' \"${{COMPREPLY[@]}}\""],
                           text=True, stdout=subprocess.PIPE, check=True)
        return set(r.stdout.split())
    check(complete("re"), {"res", "record", "report"})
    check(complete("--run-dir", "/x", "re"), {"res", "record", "report"})
    check(complete("trace", "--q"), {"--qpn"})
    check(complete("run", "--q"), {"--quiet"})
    check(complete("stat", "--qp"), set())
    check(complete("fault", "a"), {"add", "all"})
    # an option that is not known is named, and not what was given to it
    for words, want in ((("link", "--what=5"), "link: option --what is unknown"),
                        (("link", "-x"), "link: option -x is unknown"),
                        (("link", "-jx"), "link: option -x is unknown"),
                        (("stat", "--json=5"), "stat: option --json takes no value"),
                        (("link", "--mount"), "which is of 'run"),
                        (("enable", "--service", "--mount", "a"), "--mount is for this host"),
                        (("enable", "--host", "--mount", "--root", "/x"), "--mount is for this host"),
                        (("stat", "--count"), "stat: option --count needs a value")):
        r = uroce(*words)
        check(r.returncode, 2)
        assert want in r.stderr and "5" not in r.stderr, r.stderr
    r = uroce("link")
    check(r.returncode, 1)
    assert "no device at" in r.stderr and "uroce run" in r.stderr, r.stderr
    # a device that cannot start says why, and the program does not run
    r = uroce("run", "--", "touch", top + "/ran",
              env={**os.environ, "FAKE_ERROR": "port 4791 is taken by x"})
    check(r.returncode, 125)
    assert "port 4791 is taken by x" in r.stderr, r.stderr
    assert not os.path.exists(top + "/ran")
    # one on its way out is waited for
    open(run_dir + "/busy", "w").write("3")
    check(uroce("run", "--", "true").returncode, 0)
    check(open(run_dir + "/busy").read(), "0")
    for line in open(run_dir + "/started"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(line), signal.SIGKILL)
    os.unlink(run_dir + "/started")
    # many at once share one device
    many = [subprocess.Popen([UROCE, "run", "--", "sh", "-c",
                              "echo $UROCE_RUN_DIR; echo $LD_PRELOAD"],
                             stdout=subprocess.PIPE, text=True)
            for _ in range(8)]
    for p in many:
        out = p.communicate(timeout=60)[0].split()
        check(p.returncode, 0)
        check(out, [run_dir, os.path.realpath(build) +
                    "/lib/liburoce-preload.so"])
    check(len(open(run_dir + "/started").readlines()), 1)
    # statuses
    check(uroce("run", "sh", "-c", "exit 7").returncode, 7)
    check(uroce("run", "--", "sh", "-c", "kill -9 $$").returncode, -9)
    check(uroce("run", "--", "/nonexistent").returncode, 127)
    check(uroce("run", "--", top).returncode, 126)
    # no process stays in between: the program is the one that was started
    p = subprocess.Popen([UROCE, "run", "--", "sh", "-c",
                          "echo $$; exec cat"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    check(int(p.stdout.readline()), p.pid)
    p.kill()
    check(p.wait(60), -9)
    p.stdin.close()
    p.stdout.close()
    # nor has it a child that it did not make, where it started the device
    for line in open(run_dir + "/started"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(line), signal.SIGKILL)
    os.unlink(run_dir + "/started")
    r = uroce("run", "--", "python3", "-c", "import os\n"
              "try:\n  os.wait()\nexcept ChildProcessError:\n  print('none')")
    check((r.stdout, r.returncode), ("none\n", 0))
    # which interface it is on is said once, and not to those who know or do not care
    assert r.stderr.startswith("uroce: uroce0 is on lo, since no interface"), r.stderr
    check(uroce("run", "--", "true").stderr, "")
    for quiet in ["-q"], ["--netdev", "lo"]:
        for line in open(run_dir + "/started"):
            os.kill(int(line), signal.SIGKILL)
        os.unlink(run_dir + "/started")
        r = uroce("run", *quiet, "--", "true")
        check((r.returncode, r.stderr), (0, ""))
    # what is open in it are the three that were given
    r = uroce("run", "--", "ls", "/proc/self/fd")
    check(r.stdout.split(), ["0", "1", "2", "3"])  # 3: of ls itself
    # what it tells
    p = subprocess.Popen([UROCE, "run", "--", "cat"], stdin=subprocess.PIPE)
    r = uroce("run", "--netdev", "eth7", "--", "true")
    check(r.returncode, 125)
    assert "on lo, not on eth7" in r.stderr, r.stderr
    r = uroce("link")
    check(r.stdout, "uroce0: netdev lo state ACTIVE mtu 1500 "
          "active_mtu 1024\n    gid 0 ::ffff:10.0.0.1 RoCE v2 netdev lo\n")
    check(json.loads(uroce("link", "--json").stdout)[0]["name"], "uroce0")
    assert "tx_packets" in uroce("stat", "uroce0").stdout
    check(json.loads(uroce("stat", "--json", "lo").stdout)[0]["counters"],
          {"tx_packets": 12345678901})
    check(uroce("stat", "uroce9").returncode, 1)
    # a container gets what is there, and the run directory
    r = uroce("cdi")
    check((r.returncode, r.stderr), (0, ""))
    spec = json.loads(r.stdout)
    check((spec["kind"], spec["devices"][0]["name"]), ("uroce.io/nic", "all"))
    edits = spec["devices"][0]["containerEdits"]
    check(edits["env"], ["LD_PRELOAD=/opt/uroce/liburoce-preload.so",
                         "UROCE_RUN_DIR=/run/uroce"])
    mounts = {m["containerPath"]: m for m in edits["mounts"]}
    check(mounts["/run/uroce"]["hostPath"], run_dir)
    for name in ("preload", "engine", *(f"rdmav{abi}" for abi in (34, 57, 59, 64, 65))):
        assert f"/opt/uroce/liburoce-{name}.so" in mounts, mounts
    assert "/opt/uroce/libisal.so.2" in mounts, mounts
    for m in mounts.values():
        assert os.path.exists(m["hostPath"]) and "ro" in m["options"], m
    check(uroce("cdi", "what").returncode, 2)
    r = uroce("cdi", "--run-dir", top + "/none")
    check(r.returncode, 0)
    assert "no device serves" in r.stderr, r.stderr
    p.communicate()
    check(p.returncode, 0)
    test_unanswered()


def test_unanswered():
    """Nobody answers: because the device is of an older release, or because it died,
    which is not the same to whom it happens."""
    for what, why in (("older", "is of an older release"), ("dies", "ended before it answered"),
                      ("restarts", "ended before it answered")):
        for words in (["link", "add", "lo"], ["link", "del", "uroce0"],
                      ["link", "set", "uroce0", "ttl", "9"], ["fault", "add", "drop"],
                      ["fault", "del", "all"]):
            check(uroce("run", "-q", "--", "true").returncode, 0)
            with open(run_dir + "/unknown", "w") as f:
                f.write(what)
            r = uroce(*words)
            check(r.returncode, 1)
            assert why in r.stderr and run_dir in r.stderr and \
                r.stderr.count("\n") == 1, (what, words, r.stderr)


try:
    test()
    print("ok")
finally:
    if os.path.exists(run_dir + "/started"):
        for line in open(run_dir + "/started"):
            pid = int(line)
            try:
                if b"uroced" in open(f"/proc/{pid}/cmdline", "rb").read():
                    os.kill(pid, signal.SIGKILL)
            except (FileNotFoundError, ProcessLookupError):
                pass
    shutil.rmtree(top)

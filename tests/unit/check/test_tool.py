#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""test_tool.py BUILD: the command rdma-check, without any device: what it says of programs
that it cannot check, what it lets through, its options, page and completion."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.append(f"{TOP}/tests/unit/cli")
from checks import check  # noqa: E402
from own_host import architecture, skip  # noqa: E402

TOOL = f"{BUILD}/bin/rdma-check"
NOTHING = "rdma-check: the program opened no RDMA device: there was nothing to look at\n"


if architecture(TOOL) != architecture("/bin/true"):
    skip("the programs here are of another architecture")


def run(*words, **kw):
    return subprocess.run([TOOL, *words], text=True, capture_output=True, timeout=30, **kw)


def says(status, part, *words, **kw):
    r = run(*words, **kw)
    if r.returncode != status or part not in r.stderr or r.stdout:
        raise SystemExit(f"rdma-check {words}: {r}")


def try_options():
    listed = run("--list").stdout.splitlines()
    ids = re.findall(r'"(UR-[A-Z]+-[0-9]+)"', open(f"{TOP}/check/ids.def").read())
    check([line.split()[0] for line in listed], ids)
    check(run("--version").stdout.split()[0], "rdma-check")
    help_text, words = run("-h").stdout, run("--words").stdout.split()
    page = open(f"{BUILD}/man/rdma-check.1").read().replace("\\-", "-")
    for word in words:
        assert word in help_text and re.search(rf"{word}\b", page), word
    check(set(re.findall(r"--[a-z]+", page)) - set(words), {"--args"})  # gdb's
    says(2, "which program?")
    for words, want in ((("--what=5", "true"), "option --what is unknown"),
                        (("-x", "true"), "option -x is unknown"),
                        (("-sx", "true"), "option -x is unknown"),
                        (("--stop=5", "true"), "option --stop takes no value"),
                        (("--json",), "option --json needs a value"),
                        (("-m",), "option -m needs a value")):
        r = run(*words)
        check((r.returncode, r.stderr), (2, f"rdma-check: {want}; see 'rdma-check --help'\n"))


def try_environment(tmp):
    """Options of the program are the program's; files have absolute names; what was
    preloaded stays behind."""
    r = run("-j", "x.json", "-m", "m", "--", "sh", "-c", 'echo "$0 $RDMA_CHECK $RDMA_CHECK_JSON '
            '$RDMA_CHECK_MUTE"; echo "$LD_PRELOAD"', "-s", cwd=tmp,
            env={**os.environ, "LD_PRELOAD": "libdl.so.2"})
    first, preload = r.stdout.splitlines()
    check(first, f"-s warn {tmp}/x.json {tmp}/m")
    own, other = preload.split(":")
    assert own.endswith("/librdma-check.so") and other == "libdl.so.2", preload
    check(run("-s", "sh", "-c", "echo $RDMA_CHECK").stdout, "stop\n")
    # Once is enough.
    r = run(TOOL, "sh", "-c", "echo $LD_PRELOAD")
    check(r.stdout.count("librdma-check.so"), 1)
    check(run("-j", "x.json", "true", cwd=tmp).returncode, 0)
    check(open(f"{tmp}/x.json").read(), "")
    says(125, "/nonexistent: No such file", "--mute", "/nonexistent", "true")
    says(125, f"{tmp}/none/x: No such file", "--json", f"{tmp}/none/x", "true")


def try_programs(tmp):
    """The status and death are the program's; who opens no device is told, a launcher of
    others is not, and neither are those that it starts."""
    check((run("true").returncode, run("true").stderr), (0, NOTHING))
    check(run("sh", "-c", "exit 7").returncode, 7)
    check(run("sh", "-c", "kill -9 $$").returncode, -signal.SIGKILL)
    r = run("/usr/bin/python3", "-c", "import subprocess; subprocess.run(['true'])")
    check((r.returncode, r.stderr), (0, ""))
    r = run("/usr/bin/python3", "-c", "import os; os.fork()")
    check((r.returncode, r.stderr), (0, ""))
    says(127, "cannot run nosuch: No such file or directory", "nosuch")
    says(127, "cannot run : No such file", "")
    says(126, "cannot run /etc: Permission denied", "/etc")
    script = f"{tmp}/script"
    with open(script, "w") as f:
        f.write("#!/bin/sh\necho $RDMA_CHECK\n")
    says(126, "Permission denied", script)
    os.chmod(script, 0o755)
    check(run(script).stdout, "warn\n")
    check(run("script", env={**os.environ, "PATH": f"/nonexistent:{tmp}:/bin"}).stdout, "warn\n")
    # ELF headers: e_ident's class 1 is 32 bits; of 64 bits, without a dynamic linker.
    with open("/usr/bin/true", "rb") as f:
        true = f.read()
    for name, head, want in (
            ("narrow", true[:4] + b"\x01" + true[5:64], "is not for this machine's 64 bits"),
            ("alien", true[:18] + b"\xff\xfe" + true[20:64], "is not for this machine's 64 bits"),
            ("static", true[:56] + b"\0\0" + true[58:64], "is statically linked"),
            ("musl", true.replace(b"/lib64/ld-linux-x86-64", b"/lib64/ld-musl-x86-64_") if
             b"/lib64/ld-linux-x86-64" in true else
             true.replace(b"/ld-linux-", b"/ld-musl-a"), "is of another C library, musl"),
            ("short", true[:5], "is not for this machine's 64 bits")):
        with open(f"{tmp}/{name}", "wb") as f:
            f.write(head)
        os.chmod(f"{tmp}/{name}", 0o755)
        says(125, want, f"{tmp}/{name}")


def try_privileged(tmp):
    if os.geteuid():
        return print("not seen here: a set-uid program (needs root)")
    other = f"{tmp}/other"
    shutil.copy("/usr/bin/true", other)
    os.chown(other, 0, 0)
    os.chmod(other, 0o4755)
    os.chmod(tmp, 0o755)
    check(run(other).returncode, 0)  # root has no fewer rights
    says(125, "runs with more rights than you have", other, user=65534, group=65534,
         extra_groups=[])


def try_completion():
    def complete(*typed):
        line = " ".join(["COMP_WORDS=(rdma-check", *(f"'{w}'" for w in typed), ")"])
        r = subprocess.run(
            ["bash", "-c", f"PATH={BUILD}/bin:$PATH; . {TOP}/check/tool/rdma-check.bash; {line}; "
             f"COMP_CWORD={len(typed)}; _rdma_check; printf '%s\\n' \"${{COMPREPLY[@]}}\""],
            text=True, stdout=subprocess.PIPE, check=True)
        return set(r.stdout.split())
    check(complete("--s"), {"--stop"})
    check(complete("--json", f"{HERE}/test_to"), {f"{HERE}/test_tool.py"})
    assert "ls" in complete("--stop", "--", "l") and "ls" in complete("l")
    check(complete("-j", "x", "--v"), {"--version"})


with tempfile.TemporaryDirectory(prefix="rdma-check-") as folder:
    folder = os.path.realpath(folder)
    open(f"{folder}/m", "w").close()
    try_options()
    try_environment(folder)
    try_programs(folder)
    try_privileged(folder)
    try_completion()

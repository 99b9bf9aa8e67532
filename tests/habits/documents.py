#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The documents name what exists: files, tests, options, functions, constants,
programs and targets. What stands in `backquotes` or in an indented or fenced
block is looked at; prose is not.

    documents.py BUILD_DIR [DOCUMENT...]

Names of other people's things that look like ours are in FOREIGN."""
import fnmatch
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KINDS = "unit|scenario|sim|fuzz|abi|arch|order|device|threads|lab|bench|interop|habits"
ENDINGS = "c|h|md|py|sh|txt|in|toml|json|yml|def|service|pcap|spec|conf"
# Files that a build or a run makes, or that are on another's machine.
MADE = re.compile(r"^(build|new|out|debs|/|~|\$|\.\.|http|sys/|dev/|proc/|etc/|usr/|run/|var/|tmp/)")
FOREIGN = {"--preset", "--workflow", "--network", "--read-only", "--prefix", "vrb_ep_close",
           "--with-rdma", "--with-dpdk", "--with-isal", "--without-isal-crypto", "--without-crypto",
           "--dev-name", "--link-type", "--loadmodule", "--no-huge", "--no-pci"}
# Each must be found wrong, or this test sees nothing.
PLANTED = ("device/nothing.c", "unit.nothing", "ctest --test-dir build -R unit.nothing",
           "uroce run --nothing-such", "ur_nothing_such()", "UROCE_NOTHING_SUCH", "nothing_such()",
           "build/bin/nothing", "ninja -C build nothing")


def lines_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


def tree():
    """Every file of the project."""
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                         cwd=TOP, capture_output=True, text=True)
    if out.returncode == 0:
        files = out.stdout.splitlines()
    else:
        files = [os.path.relpath(os.path.join(d, f), TOP) for d, _, names in os.walk(TOP)
                 for f in names if not os.path.relpath(d, TOP).startswith("build")]
    return [f for f in files if os.path.isfile(os.path.join(TOP, f))]


class Project:
    def __init__(self, build):
        self.build = build
        self.files = tree()
        self.folders = {os.path.dirname(f) for f in self.files}
        for folder in list(self.folders):
            while folder:
                folder = os.path.dirname(folder)
                self.folders.add(folder)
        self.names = {os.path.basename(f) for f in self.files}
        self.tests, self.labels = self.read_tests()
        code = [f for f in self.files if "/corpus/" not in f and not f.endswith((".md", ".pcap"))
                and not f.startswith(("LICENSES/", "doc/man/")) and f != "tests/habits/documents.py"]
        self.code = "\n".join(open(os.path.join(TOP, f), errors="replace").read() for f in code)
        self.words = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", self.code))
        self.options = set(re.findall(r"--[a-z0-9][a-z0-9-]*", self.code))
        self.strings = set(re.findall(r'"([a-z0-9-]+)"', self.code))

    def read_tests(self):
        def ask(*words):
            return subprocess.run(["ctest", "--test-dir", self.build, "-N", *words],
                                  capture_output=True, text=True).stdout
        return (re.findall(r"Test +#\d+: (\S+)", ask()),
                re.findall(r"^  (\S+)$", ask("--print-labels"), re.M))

    def has_file(self, name, near):
        name = name.rstrip("/")
        for base in (name, os.path.normpath(os.path.join(near, name))):
            if base in self.files or base in self.folders:
                return True
            if "*" in base and fnmatch.filter(self.files, base):
                return True
        return "/" not in name and (name in self.names or
                                    any(fnmatch.filter(self.names, name)))


def code_of(path):
    """(line number, text) of each piece of code in a document."""
    fenced = False
    manual = not path.endswith(".md")
    for number, line in enumerate(lines_of(path), 1):
        if manual:
            yield number, re.sub(r"\\f[BIRP]|\\&", "", line).replace("\\-", "-"), True
        elif line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    ") and not line.lstrip().startswith(("|", "-", "*")):
            yield number, line.split(" #")[0].strip(), True
        else:
            for piece in re.findall(r"`([^`]+)`", line):
                yield number, piece, False


def paths_in(text):
    for word in re.split(r"[\s,;=()\[\]|'\"]+", text):
        word = re.sub(r":\d+$", "", word).rstrip(".:")
        if MADE.match(word) or "NAME" in word or "NN" in word or "<" in word or "$" in word or "{" in word:
            continue
        if re.fullmatch(rf"[\w*][\w.*/+-]*\.({ENDINGS})", word) or \
                re.fullmatch(r"(transport|cm|engine|device|preload|providers|cli|util|tests|doc|debian|redhat"
                             r"|container|kernel-abi|pyverbs-tests)/[\w./*-]*", word):
            yield word


def wrong(p, doc, text, block):
    near = os.path.dirname(doc)
    for path in paths_in(text):
        stem = path.split("::")[0]
        if not p.has_file(stem, near) and stem not in FOREIGN:
            yield f"no file {path}"
    for test in re.findall(rf"(?<![\w./-])((?:{KINDS})\.[a-z0-9_*]+)(?![\w./(])", text):
        if not test.endswith((".c", ".h", ".md", ".py", ".sh", ".in")) and \
                not fnmatch.filter(p.tests, test) and \
                not any(re.search(test, t) for t in p.tests):
            yield f"no test {test}"
    if text.startswith("ctest"):
        for flag, value in re.findall(r"-(R|L|E|LE) '?([\w|.*]+)'?", text):
            among = p.tests if flag in "RE" else p.labels
            # conformance and package are stages only; leaving them out is no error
            if flag in "RL" and not any(re.search(value, t) for t in among):
                yield f"ctest -{flag} {value} matches nothing"
    for option in re.findall(r"(?<![\w-])(--[a-z0-9][a-z0-9-]*)", text):
        if option not in p.options and option[2:] not in p.strings and option not in FOREIGN:
            yield f"no option {option}"
    for name in re.findall(r"\b(ur_\w+|uroce_[a-z]\w*|UROCE?_[A-Z][A-Z0-9_]+)\b(?!\*)", text):
        if name not in p.words and not name.endswith("_") and name not in FOREIGN:
            yield f"nothing is named {name}"
    if not block:
        for name in re.findall(r"^([a-z]\w*)\(\)$", text):
            if name not in p.words and name not in FOREIGN:
                yield f"no function {name}()"
    for program in re.findall(r"\bbuild/bin/([\w-]+)", text):
        if not os.path.exists(f"{p.build}/bin/{program}") and not program.startswith("fuzz_"):
            yield f"no program build/bin/{program}"
    for target in re.findall(r"(?:--build \S+ -t|ninja -C \S+) (\w+)", text):
        if not re.search(rf"add_(?:executable|library|custom_target)\({target}\b", p.code) and \
                not target.startswith("fuzz_"):
            yield f"no target {target}"


def main(build, documents):
    p = Project(build)
    if not p.tests:
        sys.exit("no tests in " + build)
    for text in PLANTED:
        if not list(wrong(p, "README.md", text, False)):
            sys.exit(f"not noticed: {text}")
    documents = documents or [f for f in p.files
                              if f.endswith(".md") or f.startswith("doc/man/")]
    bad = pieces = 0
    for doc in sorted(documents):
        for number, text, block in code_of(os.path.join(TOP, doc)):
            pieces += 1
            for what in sorted(set(wrong(p, doc, text, block))):
                print(f"{doc}:{number}: {what}")
                bad += 1
    print(f"{len(documents)} documents, {pieces} pieces of code, {bad} that name nothing")
    return 1 if bad or not pieces else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

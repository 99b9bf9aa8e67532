# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A host of the test's own: /etc, /run and what is installed are of its mount namespace,
the rest is this machine's. Nothing here writes this machine's /etc/ld.so.preload."""
import os
import shutil
import subprocess
import sys

SKIP = 77
FILE = "/etc/ld.so.preload"


def skip(why):
    print("skipped: " + why)
    sys.exit(SKIP)


def architecture(program):
    """The ELF header's e_machine."""
    with open(program, "rb") as f:
        return f.read(20)[18:20]


def sh(*cmd):
    subprocess.run(cmd, check=True, stdout=subprocess.DEVNULL)


class OwnHost:
    """To be made once, first of all: it starts the script anew in its namespace."""

    def __init__(self, build):
        if os.geteuid():
            skip("needs root")
        if architecture(build + "/bin/uroce") != architecture("/bin/true"):
            skip("the programs here are of another architecture")
        if os.environ.get("OWN_HOST") != str(os.getppid()):
            if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode:
                skip("no mount namespace can be had here")
            env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
            sys.exit(subprocess.run(
                ["unshare", "-m", "--propagation", "private", sys.executable, *sys.argv],
                env={**env, "OWN_HOST": str(os.getpid())}).returncode)
        self.build = os.path.abspath(build)
        self.top = next(d for d in ("/mnt", "/srv", "/media", "/opt") if os.path.isdir(d)
                        and not self.build.startswith(d + "/")
                        and not os.path.abspath(__file__).startswith(d + "/"))
        sh("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", self.top)
        sh("cp", "-a", "/etc", self.top + "/etc")
        sh("mount", "--bind", self.top + "/etc", "/etc")
        sh("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
        if os.path.exists(FILE):
            os.unlink(FILE)
        os.mkdir(self.top + "/bin")
        shutil.copy(self.build + "/bin/uroce", self.top + "/bin/uroce")
        self.install()

    def install(self):
        """As packages do, the library with a table of its own place."""
        sh("cmake", "--install", self.build + "/preload", "--prefix", self.top)
        found = subprocess.check_output(["find", self.top, "-name", "liburoce-preload.so"],
                                        text=True).split()
        at = self.top + "/lib/uroce/liburoce-preload.so"
        if found != [at]:
            os.makedirs(os.path.dirname(at), exist_ok=True)
            os.rename(found[0], at)
        self.library = at

    def uroce(self, *args, uid=0):
        """Its status, output, and last line of standard error."""
        r = subprocess.run([self.top + "/bin/uroce", *args], text=True, capture_output=True,
                           user=uid, group=uid)
        return r.returncode, r.stdout, r.stderr.splitlines()[-1] if r.stderr else ""


def write(path, text, mode=0o644):
    with open(path, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(path, mode)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def compiled(path, text, *flags, compiler="gcc"):
    """Returns whether the program could be built."""
    write(path + ".c", text)
    return shutil.which(compiler) is not None and not subprocess.run(
        [compiler, "-O2", "-o", path, path + ".c", *flags], stderr=subprocess.DEVNULL).returncode

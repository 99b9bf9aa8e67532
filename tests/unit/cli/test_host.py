# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce enable and disable --host: what they write and refuse, and that no fault of the
library locks anybody out.
usage: test_host.py BUILD_DIR"""
import os
import shutil
import stat
import subprocess
import sys

from checks import check, check_in
from own_host import FILE, OwnHost, compiled, read, sh, write

host = OwnHost(sys.argv[1])
LIBRARY = host.library
GOOD = read(LIBRARY)
LIBC = subprocess.check_output(["ldd", "/bin/true"], text=True).split("libc.so.6 => ")[1].split()[0]


def enable(*args, **kw):
    return host.uroce("enable", "--host", *args, **kw)


def disable(*args, **kw):
    return host.uroce("disable", "--host", *args, **kw)


def refused(word):
    before = read(FILE) if os.path.exists(FILE) else None
    status, out, err = enable()
    check((status, out), (1, ""))
    check_in(word, err)
    check(read(FILE) if os.path.exists(FILE) else None, before)
    check([f for f in os.listdir("/etc") if f.startswith(".ld.so")], [])


def test_there_and_back():
    check(disable()[0], 0)
    status, out, err = enable()
    check((status, err), (0, ""))
    check_in("disable --host", out)
    check(read(FILE), f"{LIBRARY}\n".encode())
    check(stat.S_IMODE(os.stat(FILE).st_mode), 0o644)
    # It is in every program, and only once.
    maps = subprocess.check_output(["cat", "/proc/self/maps"], text=True)
    check_in(LIBRARY, maps)
    ino = os.stat(FILE).st_ino
    check_in("already", enable()[1])
    check(os.stat(FILE).st_ino, ino)
    status, out, _ = host.uroce("doctor")
    check_in("ok       host       every dynamic program sees the device", out)
    check(disable()[0], 0)
    check(os.path.exists(FILE), False)
    check_in("host ", host.uroce("doctor")[1] + "host ")
    check("every dynamic program" in host.uroce("doctor")[1], False)


def test_entries_of_others():
    """Byte for byte, with mode and owner; ours of another version goes."""
    for theirs in f"# a remark: liburoce-preload.so\n{LIBC}\n", LIBC, f"  {LIBC}:{LIBC} # end", "\n\n":
        write(FILE, theirs, 0o640)
        os.chown(FILE, 0, 5)
        check(enable()[0], 0)
        check(read(FILE), f"{LIBRARY}\n{theirs}".encode())
        check(stat.S_IMODE(os.stat(FILE).st_mode), 0o640)
        check(os.stat(FILE).st_gid, 5)
        check(disable()[0], 0)
        check(read(FILE), theirs.encode())
        check(stat.S_IMODE(os.stat(FILE).st_mode), 0o640)
    for before, after in ((f"{LIBC}\n/old/liburoce-preload.so\n# x\n", f"{LIBC}\n# x\n"),
                          (f"/old/liburoce-preload.so:{LIBC}", LIBC),
                          (f"{LIBC} /old/liburoce-preload.so", LIBC),
                          (f"{LIBC} /a/liburoce-preload.so# x\n", f"{LIBC}# x\n"),
                          ("liburoce-preload.so:/b/liburoce-preload.so", "")):
        write(FILE, before)
        check(disable()[0], 0)
        check(read(FILE).decode() if after else os.path.exists(FILE), after or False)
    # As prerm does where somebody enabled an older one.
    write(FILE, f"/old/liburoce-preload.so\n{LIBC}\n")
    refused("/old/liburoce-preload.so")
    check(disable()[0], 0)
    check(enable()[0], 0)
    check(read(FILE), f"{LIBRARY}\n{LIBC}\n".encode())
    os.unlink(FILE)


def test_refused():
    for args in ("x",), ("--service", "x"), ("--run-dir", "/srv/x"):
        check(enable(*args)[0], 2)
    check(disable("x")[0], 2)
    status, _, err = enable(uid=65534)
    check(status, 1)
    check_in("it takes root", err)
    # The library and each folder above it are root's alone.
    for path, mode, word in ((LIBRARY, 0o666, "written by others"), (LIBRARY, 0o600, "not open"),
                             (os.path.dirname(LIBRARY), 0o777, "written by others"),
                             (host.top, 0o700, "not open"), (host.top, 0o1777, "written")):
        before = stat.S_IMODE(os.stat(path).st_mode)
        os.chmod(path, mode)
        refused(word)
        os.chmod(path, before)
    os.chown(LIBRARY, 65534, 0)
    refused("is not root's")
    os.chown(LIBRARY, 0, 0)
    write(host.top + "/CMakeCache.txt", "")
    refused("build tree")
    os.unlink(host.top + "/CMakeCache.txt")
    # The library is not what it should be.
    for text, word in ((GOOD[:len(GOOD) // 2], "not whole"), (GOOD[:-1], "not whole"),
                       (b"", "no library"), (b"#!/bin/sh\n" * 100, "no library"),
                       (other_machine(GOOD), "true(1) says"),
                       (read(host.build + "/lib/liburoce-preload.so"), "no program would start")):
        write(LIBRARY, text, 0o755)
        refused(word)
    write(LIBRARY, GOOD, 0o755)
    # The file is not what it should be.
    os.symlink("elsewhere", FILE)
    refused("no plain file")
    check(disable()[0], 1)
    os.unlink(FILE)
    write(FILE, b"a\0b")
    refused("no plain file")
    os.unlink(FILE)
    write(host.top + "/mounted", "\n")
    write(FILE, "")
    sh("mount", "--bind", host.top + "/mounted", FILE)
    refused("mount point")
    sh("umount", FILE)
    # What others named there does not work: every program says so already.
    write(FILE, "/not/there.so\n")
    refused("/not/there.so")
    os.unlink(FILE)


def other_machine(elf):
    """EM_AARCH64, or on arm64 EM_X86_64 (elf.h)."""
    machine = 183 if os.uname().machine != "aarch64" else 62
    return elf[:18] + machine.to_bytes(2, sys.byteorder) + elf[20:]


def test_root():
    """An image that is being made, here one with the programs of this machine."""
    root = host.top + "/image"
    os.mkdir(root)
    sh("mount", "--bind", "/", root)
    sh("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", root + host.top)
    sh("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", root + "/etc")
    status, _, err = enable("--root", root)
    check(status, 1)
    check_in(LIBRARY, err)
    os.makedirs(root + os.path.dirname(LIBRARY))
    write(root + LIBRARY, GOOD, 0o755)
    check(enable("--root", root)[0], 0)
    check(read(root + FILE), f"{LIBRARY}\n".encode())
    check(os.path.exists(FILE), False)
    check(disable("--root", root)[0], 0)
    check(os.listdir(root + "/etc"), [])
    sh("umount", root + "/etc", root + host.top, root)


# It needs neither headers nor libraries of 32 bits, but their dynamic linker.
PROGRAM_32 = r"""
static long call(long n, long a, long b, long c) {
	long ret;
	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}
void _start(void) {
	char text[] = "fine\n";
	call(1, call(4, 1, (long)text, 5) != 5, 0, 0);
}
"""
FLAGS_32 = ["-m32", "-fno-stack-protector", "-fPIE", "-pie", "-nostdlib",
            "-Wl,--dynamic-linker=/lib/ld-linux.so.2"]
PROGRAM = '#include <unistd.h>\nint main(void) { return write(1, "fine\\n", 5) != 5; }\n'


def programs():
    """As names and command lines."""
    bin = host.top + "/bin"
    found = {"sh": ["/bin/sh", "-c", "echo fine"],
             "su": ["/bin/su", "-s", "/bin/sh", "nobody", "-c", "echo fine"]}
    for name, compiler, text, flags in (
            ("plain", "gcc", PROGRAM, []), ("static", "gcc", PROGRAM, ["-static"]),
            ("32-bit", "gcc", PROGRAM_32, FLAGS_32), ("musl", "musl-gcc", PROGRAM, [])):
        if compiled(f"{bin}/{name}", text, *flags, compiler=compiler) and (
                name != "32-bit" or os.path.exists("/lib/ld-linux.so.2")):
            found[name] = [f"{bin}/{name}"]
        else:
            print(f"not tried: {name}: {compiler} {' '.join(flags)} builds none that runs here")
    shutil.copy(bin + "/plain", bin + "/suid")
    os.chmod(bin + "/suid", 0o4755)
    found["set-uid"] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", bin + "/suid"]
    return found


def all_run(found, noisy, enabled=True):
    for name, argv in found.items():
        r = subprocess.run(argv, capture_output=True, text=True)
        check((name, r.returncode, r.stdout), (name, 0, "fine\n"))
        lines = [line for line in r.stderr.splitlines() if not
                 (line.startswith("ERROR: ld.so: object '") and line.endswith("ignored."))]
        check((name, lines), (name, []))
        reached = name not in ("static", "32-bit", "musl")
        check((name, bool(r.stderr)), (name, noisy if reached else name == "32-bit" and enabled))


def replace(text):
    """As dpkg does it: those that run keep the old one."""
    write(LIBRARY + ".new", text, 0o755)
    os.rename(LIBRARY + ".new", LIBRARY)


def test_nobody_is_locked_out():
    found = programs()
    check(enable()[0], 0)
    all_run(found, False)
    step = 4096
    sizes = [0, 1, 63, 64, *range(1000, len(GOOD), step), len(GOOD) - 1]
    for size in sizes:
        replace(GOOD[:size])
        r = subprocess.run(["/bin/true"], capture_output=True, text=True)
        check((size, r.returncode, "ignored" in r.stderr), (size, 0, True))
    for text in (GOOD[:len(GOOD) // 2], other_machine(GOOD), bytes(len(GOOD)), b"",
                 GOOD[:-600] + bytes(600), b"garbage " * 4096):
        replace(text)
        all_run(found, True)
    os.unlink(LIBRARY)
    all_run(found, True)
    check_in("problem  host", host.uroce("doctor")[1])
    # Undone without it, and by the package's removal.
    check(disable()[0], 0)
    check(os.path.exists(FILE), False)
    all_run(found, False, enabled=False)
    write(LIBRARY, GOOD, 0o755)
    check(enable()[0], 0)
    # /run is not mounted yet; its folder may not be read; it is a file.
    sh("mount", "-t", "tmpfs", "-o", "mode=000", "tmpfs", "/run")
    all_run(found, False)
    sh("umount", "/run")
    # A container with another /etc, and one with this /etc and without the library.
    root = host.top + "/container"
    os.mkdir(root)
    sh("mount", "--bind", "/", root)
    for noisy in False, True:
        if noisy:
            sh("mount", "--bind", "/etc", root + "/etc")
        r = subprocess.run(["chroot", root, "/bin/sh", "-c", "echo fine"], capture_output=True,
                           text=True)
        check((r.returncode, r.stdout), (0, "fine\n"))
        # chroot itself is this host's program.
        check("ERROR: ld.so" in r.stderr, noisy)
    check(disable()[0], 0)


for test in (test_there_and_back, test_entries_of_others, test_refused, test_root,
             test_nobody_is_locked_out):
    test()

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce enable and disable --service in a file system that is made here.
usage: test_service.py BUILD_DIR"""
import os
import shutil
import subprocess
import sys
import tempfile

from checks import check, check_in

build = os.path.abspath(sys.argv[1])
top = tempfile.mkdtemp(prefix="uroce-service-")
root = top + "/root"
ETC = root + "/etc/systemd/system"
LIBRARY = os.path.realpath(build + "/lib/liburoce-preload.so")
os.environ.pop("LD_PRELOAD", None)


def uroce(*args, run_dir="/run/uroce"):
    r = subprocess.run([build + "/bin/uroce", *args, "--root", root, "--run-dir", run_dir],
                       text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return r.returncode, r.stdout, r.stderr.splitlines()[-1] if r.stderr else ""


def enable(*names, **kw):
    return uroce("enable", "--service", *names, **kw)


def disable(*names):
    return uroce("disable", "--service", *names)


def unit(path, text):
    path = root + path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def dropin(name):
    return open(f"{ETC}/{name}.service.d/uroce.conf").read().splitlines()


def preload(name):
    lines = [line for line in dropin(name) if "LD_PRELOAD" in line]
    check(len(lines), 1)
    return lines[0]


def test_plain():
    unit("/usr/lib/systemd/system/plain.service", "[Service]\nExecStart=/bin/true\n")
    status, out, err = enable("plain")
    check((status, err), (0, ""))
    check_in("systemctl restart plain.service", out)
    lines = dropin("plain")
    check(lines[2:], ["[Service]", f'Environment="LD_PRELOAD={LIBRARY}"',
                      'Environment="UROCE_RUN_DIR=/run/uroce"'])
    # Once more, and nothing is in it twice; nothing else is left there.
    check(enable("plain.service")[0], 0)
    check(dropin("plain"), lines)
    check(os.listdir(f"{ETC}/plain.service.d"), ["uroce.conf"])
    check(os.stat(f"{ETC}/plain.service.d/uroce.conf").st_mode & 0o7777, 0o644)


def test_after_uroced():
    """Only with the service's own run directory, and where it is installed."""
    unit("/usr/lib/systemd/system/uroced.service", "[Service]\nExecStart=/bin/true\n")
    check(enable("plain")[0], 0)
    check_in("After=uroced.service", dropin("plain"))
    check(enable("plain", run_dir='/srv/a "b" 5%')[0], 0)
    check([line for line in dropin("plain") if "uroced.service" in line], [])
    check_in('Environment="UROCE_RUN_DIR=/srv/a \\"b\\" 5%%"', dropin("plain"))
    os.unlink(root + "/usr/lib/systemd/system/uroced.service")


def test_keeps_what_was_preloaded():
    unit("/lib/systemd/system/own.service",
         "[Unit]\nEnvironment=LD_PRELOAD=/not/here.so\n[Service]\n"
         "# Environment=LD_PRELOAD=/nor/here.so\n"
         'Environment=A=1 \\\n  "LD_PRELOAD=/lib/first.so" B=2\n')
    check(enable("own")[0], 0)
    check(preload("own"), f'Environment="LD_PRELOAD={LIBRARY}:/lib/first.so"')
    unit("/etc/systemd/system/own.service.d/more.conf",
         "[Service]\nEnvironment=LD_PRELOAD=/lib/second.so\n")
    check(enable("own")[0], 0)
    check(preload("own"), f'Environment="LD_PRELOAD={LIBRARY}:/lib/second.so"')
    # What others wrote stays.
    check(disable("own")[0], 0)
    check(os.listdir(f"{ETC}/own.service.d"), ["more.conf"])


def test_environment_file():
    unit("/etc/default/filed", "X=1\nLD_PRELOAD=/lib/x.so\n")
    unit("/lib/systemd/system/filed.service",
         "[Service]\nEnvironmentFile=-/etc/default/missing\nEnvironmentFile=-/etc/default/filed\n")
    status, _, err = enable("filed")
    check(status, 1)
    check_in("/etc/default/filed sets LD_PRELOAD", err)
    check(os.path.exists(f"{ETC}/filed.service.d"), False)


def test_template():
    unit("/lib/systemd/system/many@.service", "[Service]\nEnvironment='LD_PRELOAD=/lib/a.so'\n")
    check(enable("many@")[0], 0)
    check(preload("many@"), f'Environment="LD_PRELOAD={LIBRARY}:/lib/a.so"')
    check(enable("many@2")[0], 0)
    check(preload("many@2"), f'Environment="LD_PRELOAD={LIBRARY}:/lib/a.so"')
    check(disable("many@2", "many@")[0], 0)
    check(sorted(d for d in os.listdir(ETC) if d.startswith("many")), [])


def test_notes():
    unit("/lib/systemd/system/shut.service",
         "[Service]\nSystemCallFilter=@basic-io\nRestrictAddressFamilies=AF_INET\n"
         "RootDirectory=/srv\nPrivateNetwork=yes\n")
    out = enable("shut")[1]
    for word in ("SystemCallFilter=", "AF_UNIX", "BindPaths=/run/uroce", "network of its own"):
        check_in(word, out)
    unit("/lib/systemd/system/open.service",
         "[Service]\nSystemCallFilter=@basic-io\nSystemCallFilter=\n"
         "RestrictAddressFamilies=AF_INET\nRestrictAddressFamilies=~AF_PACKET\n"
         "RestrictAddressFamilies=\nRootDirectory=/\nPrivateNetwork=no\n")
    check("note" in enable("open")[1], False)


def test_refused():
    for name in ("", "a/b", "../plain", "a b", "x.socket", "@x", "-x", "a" * 250):
        check(uroce("enable", "--service", "--", name)[0], 2)
    check(enable("missing")[0], 1)
    check(disable("missing")[0], 1)
    check(uroce("enable", "plain")[0], 2)
    check(uroce("disable")[0], 2)
    check(enable()[0], 2)
    unit("/etc/systemd/system/theirs.service.d/uroce.conf", "[Service]\n")
    unit("/lib/systemd/system/theirs.service", "[Service]\n")
    status, _, err = enable("theirs")
    check(status, 1)
    check_in("not ours", err)
    check(disable("theirs")[0], 1)
    check(dropin("theirs"), ["[Service]"])
    # One that fails keeps the others from nothing.
    check(enable("missing", "plain")[0], 1)
    check_in("[Service]", dropin("plain"))


def test_disable_all():
    check(disable()[0], 0)
    check(sorted(os.listdir(ETC)), ["own.service.d", "theirs.service.d"])
    check(disable()[0], 0)


os.makedirs(ETC)
try:
    for test in (test_plain, test_after_uroced, test_keeps_what_was_preloaded,
                 test_environment_file, test_template, test_notes, test_refused,
                 test_disable_all):
        test()
finally:
    shutil.rmtree(top)

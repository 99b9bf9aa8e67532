# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs of a host where every program has the front-end: those without RDMA are as
before and pay little, and those with another user's rights believe no environment.
usage: test_host_programs.py BUILD_DIR"""
import os
import re
import shutil
import statistics
import subprocess
import sys

from checks import check, check_in
from own_host import FILE, OwnHost, compiled, sh, write

host = OwnHost(sys.argv[1])
TOP = host.top
USER = 65534
# The goals: instructions, system calls and page faults, some 100 us together; KiB.
START, MEMORY = (200000, 24, 32), 100

FILES = {"a.txt": "one\ntwo\nthree\n", "b.txt": "two\nthree\nfour\n", "n.txt": "3\n1\n2\n",
         "t.tsv": "k\t1\nl\t2\n", "s.sh": "echo $#; exit 3\n", "m.mk": "all:\n\t@echo made\n",
         "c.c": "int f(void) { return 0; }\n", "j.json": '{"a": [1, 2]}\n'}
# Of Debian's base and of what builds this.
COMMANDS = r"""
true|false|echo a b|printf %s\n x y|cat a.txt|cat -n a.txt|cat missing|tac a.txt|rev a.txt
head -n 1 a.txt|tail -n 1 a.txt|head -c 3 a.txt|wc a.txt|wc -l a.txt b.txt|nl a.txt|sort n.txt
sort -rn n.txt|sort -u a.txt b.txt|uniq -c a.txt|cut -f 2 t.tsv|paste a.txt b.txt|join a.txt a.txt
comm a.txt b.txt|tr a-z A-Z|fold -w 2 a.txt|fmt a.txt|pr -t a.txt|expand t.tsv|unexpand a.txt
od -c a.txt|od -tx1 a.txt|base64 a.txt|base32 a.txt|md5sum a.txt|sha1sum a.txt|sha256sum a.txt
sha512sum a.txt|b2sum a.txt|cksum a.txt|sum a.txt|ls|ls -l /etc/passwd|ls -a /dev/pts|ls /sys/class
ls -la /sys/class/net|ls missing|dir|vdir /etc/hostname|stat -c %s a.txt|stat -c %a /dev/null
du -b a.txt|df --output=target /run|pwd|readlink -f a.txt|realpath a.txt|realpath /sys/class
basename /a/b|dirname /a/b|test -e a.txt|test -e missing|[ 1 = 2 ]|expr 1 + 2|factor 360|seq 3
sleep 0|timeout 5 true|timeout 5 sh s.sh|nice true|nohup true|stdbuf -o0 true|env -i A=1 env|env
printenv HOME|printenv RDMAV_DRIVERS|id|id -u nobody|whoami|groups|logname|nproc|arch|uname -s
hostname|date -d @0|date -u +%Y|tty|stty|sync a.txt|touch t|mkdir d|rmdir d|mkdir -p e/f|rm -r e
cp a.txt t|mv t u|ln u v|ln -s u w|rm u v w|install -m 600 a.txt i|chmod 644 i|chown 0 i|truncate -s 5 i
dd if=a.txt bs=4 count=1 status=none|mktemp -u XX|mkfifo p|rm p i|tee x|cmp a.txt b.txt|diff a.txt b.txt
diff -u a.txt a.txt|grep two a.txt|grep -c t a.txt b.txt|grep -r three .|grep zero a.txt|egrep t.o a.txt
sed s/o/0/ a.txt|sed -n 2p a.txt|awk {print$1} a.txt|find . -name a.txt|find /sys/class -maxdepth 1
find /dev -maxdepth 1 -name null|xargs echo|tar cf - --mtime=@0 a.txt|gzip -nc a.txt|gzip -cd missing|xz --version
perl -e print+1|perl -e exit+3|perl -e print+join(",",sort(keys(%ENV)))|python3 -c print(1)|python3 --version
python3 -c import+os;print(sorted(os.environ))|python3 -c import+os;print(os.listdir("/proc/self/fd"))
python3 -c print(open("/proc/self/status").read().split("Threads:")[1].split()[0])
sh -c echo+$(ls+/proc/self/fd)|bash -c echo+$((6*7))|bash -c compgen+-e|bash -c exit+4|sh s.sh a b|dash -c exec+3<a.txt;read+x<&3;echo+$x
git --version|git hash-object a.txt|make -sf m.mk|make -sf missing|gcc --version|gcc -E -P c.c|gcc -c c.c
ld --version|as --version|nm c.o|ar rc c.a c.o|ar t c.a|strip c.o|size c.o|cmake --version|ninja --version
ip -V|ip -o link show lo|ss -V|ps -o comm= -p 1|kill -l|pgrep -c -x no-such|free -V|getent passwd root
getent hosts localhost|getconf PAGESIZE|locale|ldconfig --version|dpkg --print-architecture|dpkg -s dpkg
dpkg-query -W base-files|apt-get --version|mount --version|findmnt -no TARGET /run|lsblk --version|flock x true
setpriv --dump|setsid -w true|unshare -m true|nsenter --version|chroot / true|su -s /bin/sh nobody -c id
script --version|column -t t.tsv|hexdump -c a.txt|look x missing|getopt -o a -- -a|logger --version|more a.txt
m4 --version|which sh|file --version|patch --version|openssl version|curl --version|jq . j.json|bc --version
"""


def run_all(top, commands):
    """What each command says and returns, in a folder of its own."""
    shutil.rmtree(top, ignore_errors=True)
    os.mkdir(top)
    for name, text in FILES.items():
        write(f"{top}/{name}", text)
    found = {}
    for command in commands:
        argv = [word.replace("+", " ") if "(" in word or "-c " in command or "-e " in command
                else word.replace("\\n", "\n") for word in command.split(" ")]
        r = subprocess.run(argv, cwd=top, input=b"two words\n", capture_output=True,
                           env={"PATH": os.environ["PATH"], "HOME": "/root",
                                "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1"})
        found[command] = (r.returncode, r.stdout, r.stderr)
    return found


def test_same():
    commands = [c for c in COMMANDS.replace("\n", "|").split("|") if c and
                shutil.which(c.split(" ")[0])]
    without = run_all(TOP + "/work", commands)
    check(host.uroce("enable", "--host")[0], 0)
    check_in(host.library, subprocess.check_output(["cat", "/proc/self/maps"], text=True))
    with_it = run_all(TOP + "/work", commands)
    other = [c for c in commands if with_it[c] != without[c]]
    if other:
        # One that says something else each time shows nothing.
        os.unlink(FILE)
        again = run_all(TOP + "/work", commands)
        for command in other:
            if again[command] == without[command]:
                check((command, with_it[command]), (command, without[command]))
        write(FILE, host.library + "\n")
    print(f"{len(commands) - len(other)} commands are the same, {other} never are")
    if len(commands) - len(other) < 100:
        raise SystemExit("too few to say anything")


# What a program does, counted: its instructions one by one, or its system calls, of which
# each stops it twice; and its page faults.
COUNTS = r"""
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
	enum __ptrace_request how = strcmp(argv[1], "calls") ? PTRACE_SINGLESTEP : PTRACE_SYSCALL;
	struct rusage usage;
	int status;
	long n = 0;
	pid_t pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	while (wait4(pid, &status, 0, &usage) == pid && WIFSTOPPED(status)) {
		n++;
		ptrace(how, pid, 0, 0);
	}
	printf("%ld %ld\n", how == PTRACE_SYSCALL ? n / 2 : n, usage.ru_minflt);
	return argc < 3 || status;
}
"""


def on_one_processor():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def cost(env):
    """Of a start: instructions, system calls, page faults. A busy machine has as many. Each step
    switches between two processes, which is faster on one processor."""
    steps, calls = (subprocess.check_output([TOP + "/counts", how, "/bin/true"], env=env,
                                            text=True, preexec_fn=on_one_processor).split()
                    for how in ("steps", "calls"))
    return int(steps[0]), int(calls[0]), int(calls[1])


MAPPED = r"""
#include <stdio.h>
int main(void) {
	char line[256]; long kib, sum = 0;
	FILE *f = fopen("/proc/self/smaps", "r");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Anonymous: %ld kB", &kib) == 1) sum += kib;
	printf("%ld\n", sum);
}
"""


def test_cost():
    os.unlink(FILE)
    compiled(TOP + "/counts", COUNTS)
    compiled(TOP + "/mapped", MAPPED)
    envs = [{}, {"LD_PRELOAD": host.library}]
    for what, most, none, ours in zip(("instructions", "system calls", "page faults"), START,
                                      *map(cost, envs)):
        print(f"start: {none} {what}, {ours - none} more with ours")
        if not 0 < ours - none <= most:
            raise SystemExit(f"{most} {what} more are to be enough at the start of each program")
    kib = [statistics.median(int(subprocess.check_output([TOP + "/mapped"], env=env))
                             for _ in range(9)) for env in envs]
    print(f"memory: {kib[0]} KiB, {kib[1] - kib[0]} more with ours")
    if kib[1] - kib[0] > MEMORY:
        raise SystemExit("it costs too much memory in each program")


# Says whether it has another's rights, which devices are there, and whose libraries are
# to be loaded for them; in an own process each, so that nothing is remembered.
SEES = r"""
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
int main(void) {
	DIR *dir = opendir("/sys/class/infiniband");
	struct dirent *e;
	printf("%lu", getauxval(AT_SECURE));
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.') printf(" %s", e->d_name);
	printf(" %s\n", getenv("RDMAV_DRIVERS") ? getenv("RDMAV_DRIVERS") : "-");
}
"""


def device(run_dir, name, uid):
    tree = f"{run_dir}/sys/class/infiniband/{name}"
    os.makedirs(tree)
    top = run_dir[:run_dir.index("/", 1)] if run_dir.startswith(TOP) else run_dir
    subprocess.run(["chown", "-R", str(uid), top if top != "/run" else run_dir], check=True)


def test_rights_of_others():
    """The caller's words name no run directory, and no library."""
    check(host.uroce("enable", "--host")[0], 0)
    # It lies beside the front-end.
    provider = os.path.dirname(host.library) + "/liburoce"
    evil = "/run/evil"
    for run_dir in evil, "/run/session/uroce", f"/run/user/{USER}/uroce":
        device(run_dir, "his0", USER)
    device("/run/uroce", "hosts0", 0)
    see = TOP + "/bin/see"
    compiled(see, SEES)
    kinds = {"plain": "0"}
    for kind, mode in (("set-uid", 0o4755), ("set-gid", 0o2755)):
        shutil.copy(see, f"{see}-{kind}")
        os.chmod(f"{see}-{kind}", mode)
        kinds[kind] = "1"
    shutil.copy(see, see + "-plain")
    if shutil.which("setcap"):
        shutil.copy(see, see + "-capable")
        sh("setcap", "cap_net_raw+ep", see + "-capable")
        kinds["capable"] = "1"
    for env, plain in (({"UROCE_RUN_DIR": evil}, "his0"),
                       ({"XDG_RUNTIME_DIR": "/run/session"}, "his0"), ({}, "his0"),
                       ({"XDG_RUNTIME_DIR": "/run/nothing"}, "hosts0"),
                       ({"UROCE_RUN_DIR": "/run/nothing"}, None)):
        env["RDMAV_DRIVERS"] = "/run/evil/driver"
        for kind, secure in kinds.items():
            out = subprocess.check_output([f"{see}-{kind}"], env=env, user=USER, group=USER,
                                          extra_groups=[], text=True).split()
            sees = [name for name in out[1:-1] if re.fullmatch("his0|hosts0", name)]
            wanted = "hosts0" if secure == "1" else plain
            drivers = provider if secure == "1" else provider + ":/run/evil/driver"
            check((kind, env, out[0], sees, out[-1]),
                  (kind, env, secure, [wanted] if wanted else [], drivers))
    # The user has no device of his own: the host's, for commands as well.
    shutil.rmtree(f"/run/user/{USER}")
    out = subprocess.check_output([see], env={}, user=USER, group=USER, text=True)
    check(out, f"0 hosts0 {provider}\n")
    for args, word in ((["link"], "/run/uroce"), (["link", "--run-dir", evil], evil)):
        check_in(word, host.uroce(*args, uid=USER)[2])
    check(host.uroce("disable", "--host")[0], 0)


for test in test_same, test_cost, test_rights_of_others:
    test()

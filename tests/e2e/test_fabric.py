# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""uroce fabric, by an ordinary user: hosts, links, programs in them, and nothing left."""
import glob
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

import pytest

from hosts import TOP, wait_for

UID = 23000 + os.getpid() % 10000
HELPERS = "uroced-keeper", "uroced-starter"
PINGPONG = "ibv_rc_pingpong", "-g", "0", "-c"
# Both of its ends say when they are done, so the last ACK may be lost.
WRITES = "ib_write_bw", "-F", "-s", "8192", "-n", "500"
RING = os.path.join(TOP, "tests/e2e/mpi_ring.py")


class User:
    """A user without rights, and what he has: a place for files, processes."""

    def __init__(self, build):
        self.tmp = tempfile.mkdtemp(prefix="uroce-fabric-")
        os.chown(self.tmp, UID, UID)
        self.uroce = os.path.join(build, "bin", "uroce")
        self.env = {**os.environ, "HOME": self.tmp, "XDG_RUNTIME_DIR": self.tmp,
                    "SHELL": "/bin/sh", "PATH": f"{build}/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
        for name in "UROCE_RUN_DIR", "UROCE_FABRIC", "LD_PRELOAD":
            self.env.pop(name, None)

    def program(self, *words):
        """A program of his on the machine itself."""
        return subprocess.Popen(["setpriv", "--reuid", str(UID), "--regid", str(UID),
                                 "--clear-groups", *words], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, env=self.env, cwd=self.tmp,
                                start_new_session=True)

    def start(self, *words):
        return self.program(self.uroce, "fabric", *words)

    def fabric(self, *words, status=0, limit=40):
        p = self.start(*words)
        try:
            out = p.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            p.kill()
            raise
        assert p.returncode == status, f"{words}: {p.returncode}\n{out}"
        return out

    def run(self, host, *words, **kw):
        return self.fabric("run", host, "--", *words, **kw)

    def links(self):
        return {row["name"]: row for row in json.loads(self.fabric("show", "--json"))}

    def processes(self):
        """{pid: command line, or name of a keeper or starter, which may have uroced's} of those that
        live."""
        found = {}
        for path in glob.glob("/proc/[0-9]*"):
            try:
                if os.stat(path).st_uid != UID:
                    continue
                state = open(path + "/stat").read().rpartition(")")[2].split()[0]
                if state in "ZX":
                    continue
                words = open(path + "/cmdline").read().replace("\0", " ")
                name = open(path + "/comm").read().strip()
                found[int(path[6:])] = name if name in HELPERS else words
            except OSError:
                continue
        return found

    def of_fabric(self):
        """The guardian, and its child the keeper."""
        own = [p for p, words in self.processes().items() if "uroce fabric up" in words]
        parents = {p: int(open(f"/proc/{p}/stat").read().rpartition(")")[2].split()[1])
                   for p in own}
        keeper, = [p for p in own if parents[p] in own]
        return parents[keeper], keeper

    def nothing_left(self):
        wait_for("processes to end", lambda: not self.processes())
        wait_for("files to go", lambda: not os.listdir(self.tmp))
        with open("/proc/self/mounts") as mounts:
            assert self.tmp not in mounts.read()

    def close(self):
        for pid in self.processes():
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.tmp, ignore_errors=True)


@pytest.fixture(scope="module")
def person(request, user_namespaces):
    user = User(os.path.abspath(request.config.getoption("--build")))
    yield user
    user.close()


@pytest.fixture
def user(person):
    yield person
    person.start("down").communicate(timeout=30)
    person.nothing_left()


def client(user, host, *cmd):
    """The output of a client whose server may not listen yet."""
    def connected():
        p = user.start("run", host, "--", *cmd)
        out = p.communicate(timeout=30)[0]
        early = "Couldn't connect to" in out  # of perftest, of ibv_rc_pingpong
        return None if early and p.returncode else (p.returncode, out)
    status, out = wait_for(f"{host}: {cmd}", connected)
    assert status == 0, out
    return out


def pair(user, server, other, *cmd):
    """The output of a program as server and client."""
    s = user.start("run", server, "--", *cmd)
    out = client(user, other, *cmd, server)
    theirs = s.communicate(timeout=30)[0]
    assert s.returncode == 0, theirs
    return out


def test_eight(user):
    """Eight hosts within seconds, each with its name and device; data between all pairs."""
    begin = time.monotonic()
    user.fabric("up", "8")
    took = time.monotonic() - begin
    names = [f"node{i}" for i in range(1, 9)]
    assert list(user.links()) == names and took < 10, took
    out = user.run("all", "sh", "-c", "hostname; ibv_devices | tail -1; id -u")
    for name in names:
        lines = [line.split(": ", 1)[1].strip() for line in out.splitlines()
                 if line.startswith(name + ":")]
        assert lines[0] == name and lines[1].startswith("uroce0") and lines[2:] == [str(UID)], out
    # A tournament: in seven rounds each meets each, four pairs at once. A node's server
    # and client have ports of their own.
    for turn in range(7):
        order = names[1:][turn:] + names[1:][:turn]
        pairs = [(names[0], order[0])] + [(order[i], order[-i]) for i in (1, 2, 3)]
        servers = [(user.start("run", a, "--", *PINGPONG, "-n", "20"), a, b) for a, b in pairs]
        for s, a, b in servers:
            assert "20 iters" in client(user, b, *PINGPONG, "-n", "20", a)
            out = s.communicate(timeout=30)[0]
            assert s.returncode == 0, out
    # What a user makes there is his.
    user.run("node3", "sh", "-c", "echo x > made")
    made = os.path.join(user.tmp, "made")
    assert os.stat(made).st_uid == UID
    os.unlink(made)
    assert user.fabric("run", "node2", "sh", "-c", "exit 7", status=7) == ""
    user.fabric("run", "node2", "--", "no-such-program", status=127)


def test_idle(user):
    """Many hosts that nobody uses: little memory, and no processor time."""
    user.fabric("up", "64")
    devices = [p for p, words in user.processes().items() if words.startswith("uroced ")]
    keepers = [p for p, words in user.processes().items() if words == "uroced-keeper"]
    assert len(devices) == len(keepers) == 64

    def ticks():
        # utime and stime: the 14th and 15th field of proc_pid_stat(5)
        fields = [open(f"/proc/{p}/stat").read().rpartition(")")[2].split()
                  for p in user.processes()]
        return sum(int(f[11]) + int(f[12]) for f in fields)

    def resident(pid, name="Rss:"):
        return int(next(line.split()[1] for line in open(f"/proc/{pid}/smaps_rollup")
                        if line.startswith(name)))

    assert sum(resident(p) for p in devices) / 64 < 6 * 1024
    assert sum(resident(p, "Pss:") for p in keepers) / 64 < 512
    # What a device still does when it has just begun is over after a moment.
    def quiet():
        before = ticks()
        time.sleep(1)
        return ticks() - before <= 1
    wait_for("no processor time", quiet)


def test_examples(user):
    """What doc/examples has for tests of others."""
    examples = os.path.join(TOP, "doc/examples/fabric")
    user.env["UROCE_COMMAND"] = user.uroce
    p = user.program("/usr/bin/python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                     examples)
    out = p.communicate(timeout=60)[0]
    assert p.returncode == 0 and "2 passed" in out, out
    build = os.path.join(user.tmp, "build")
    p = user.program("sh", "-ec", f"cmake -S {examples} -B {build} -D UROCE={user.uroce}; "
                     f"ctest --test-dir {build} --output-on-failure")
    out = p.communicate(timeout=60)[0]
    assert p.returncode == 0 and "100% tests passed, 0 tests failed out of 4" in out, out
    shutil.rmtree(build)


def test_mpi(user):
    """Ranks on eight hosts, started by 'uroce fabric ssh', every byte over the devices."""
    if not shutil.which("mpirun.openmpi"):
        pytest.skip("no Open MPI here")
    shutil.copy(RING, user.tmp)
    user.fabric("up", "8")
    try:
        hosts = ",".join(user.links())
        out = user.run("node1", "mpirun.openmpi", "--mca", "plm_rsh_agent", "uroce fabric ssh",
                       "--host", hosts, "--mca", "pml", "ucx", "--mca", "osc",
                       "ucx", "--mca", "btl", "self", "--mca", "mpi_yield_when_idle", "1", "-x", "UCX_TLS=rc,self", "-x",
                       "UCX_NET_DEVICES=uroce0:1", "/usr/bin/python3", "mpi_ring.py",
                       limit=200)  # eight ranks poll: beside other work that takes minutes
        assert f"good {list(range(8))}" in out, out
        for name in user.links():
            assert counter(user, name, "rcvd_pkts") > 100
    finally:
        user.fabric("down")
        for path in glob.glob(user.tmp + "/*"):
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def counter(user, host, name):
    device, = json.loads(user.run(host, "uroce", "stat", "--json"))
    return device["counters"][name]


def state(user, host):
    device, = json.loads(user.run(host, "uroce", "link", "--json"))
    return device["state"], device["active_mtu"]


def test_link(user):
    """Each trait of a link does what it says, and is shown."""
    user.fabric("up", "3", "--racks", "2", "--link", "2gbit")
    links = user.links()
    assert [links[n]["rack"] for n in ("node1", "node2", "node3")] == [1, 1, 2]
    assert links["uplink"]["link"] == "up mtu 1500 rate 2gbit"
    # The cable out and in again.
    user.fabric("link", "node3", "down")
    wait_for("the port to go down", lambda: state(user, "node3")[0] == "DOWN")
    out = user.run("node1", "uroce", "ping", "-c", "1", "node3", status=1)
    assert "no neighbour answers for 198.18.0.3" in out, out
    user.fabric("link", "node3", "up")
    wait_for("the port to come up", lambda: state(user, "node3")[0] == "ACTIVE")
    user.run("node1", "uroce", "ping", "-c", "1", "node3")
    # Rate: below it, whatever the machine can do.
    user.fabric("link", "uplink", "rate", "80mbit", "queue", "128k")
    out = pair(user, "node1", "node3", "ib_write_bw", "-F", "-D", "1", "-s", "65536",
               "--report_gbits")
    got = float([line.split() for line in out.splitlines()
                 if line.split()[:1] == ["65536"]][-1][3])
    assert 0.01 < got < 0.09, out
    # Loss: data arrive, by being sent again.
    user.fabric("link", "uplink", "rate", "none")
    user.fabric("link", "node2", "loss", "4%")
    pair(user, "node1", "node2", *WRITES)
    again = [counter(user, name, "completer_retry_err") for name in ("node1", "node2")]
    assert sum(again) > 5, again
    # Marks: they arrive. Few, since senders slow down by them.
    user.fabric("link", "node2", "loss", "0", "mark", "2%")
    before = counter(user, "node1", "np_ecn_marked_roce_packets")
    pair(user, "node1", "node2", *WRITES)
    assert counter(user, "node1", "np_ecn_marked_roce_packets") > before + 20
    # MTU: on all of the way.
    user.fabric("link", "all", "mtu", "9000")
    user.fabric("link", "uplink", "mtu", "9000")
    wait_for("the MTU", lambda: state(user, "node3") == ("ACTIVE", 4096))
    pair(user, "node1", "node3", *PINGPONG, "-n", "20", "-s", "50000", "-m", "4096")
    assert user.links()["node2"]["link"] == "up mtu 9000 rate 2gbit mark 2%"


def test_refused(user):
    """What the kernel, the fabric or the command has not is refused with the reason."""
    out = user.fabric("show", status=1)
    assert "there is no fabric default" in out and "uroce fabric up" in out
    for words, why in ((("up", "0"), "1 to 128"), (("up", "2", "--link", "fast"), "a rate"),
                       (("up", "2", "--loss", "3"), "share"), (("down", "--link", "1gbit"), "up"),
                       (("up", "1", "--racks", "2"), "two hosts"), (("what",), "not 'what'"),
                       (("up", "2", "--name", "a/b"), "letters"), (("run",), "HOST"),
                       (("ssh", "-p", "22", "node1"), "not -p")):
        out = user.fabric(*words, status=2)
        assert why in out and out.startswith("uroce: fabric"), out
    user.fabric("up", "2")
    for words, why in ((("up", "2"), "fabric default is up"),
                       (("link", "node7", "up"), "no host node7"),
                       (("link", "node1.1", "up"), "no such card"),
                       (("link", "uplink", "up"), "--racks 2"),
                       (("link", "node1", "queue", "64k"), "has no rate")):
        out = user.fabric(*words, status=1)
        assert why in out, out
    # A delay is there, or is refused, and then the link is as before.
    out = user.start("link", "node1", "delay", "20ms").communicate(timeout=30)[0]
    if out:
        assert "no netem" in out and "uroce fault add delay=20000" in out, out
        assert user.links()["node1"]["link"] == "up mtu 1500"
        user.fabric("down")
        assert "no netem" in user.fabric("up", "2", "--link", "1gbit,50us", status=1)
    else:
        assert user.links()["node1"]["link"] == "up mtu 1500 delay 20ms"
        user.run("node2", "sh", "-c", "! timeout .03 bash -c '</dev/tcp/node1/9'")


def test_root(user, tmp_path):
    """Root does without a user namespace, and has what root has."""
    def uroce(*words):
        p = subprocess.run([user.uroce, "fabric", "--run-dir", str(tmp_path), *words], text=True,
                           capture_output=True, timeout=30, check=False)
        assert p.returncode == 0, p.stderr
        return p.stdout
    uroce("up", "2", "--loss", "1%")
    try:
        out = uroce("run", "node2", "sh", "-c", "readlink /proc/self/ns/user; id -u; hostname")
        assert out.split() == [os.readlink("/proc/self/ns/user"), "0", "node2"]
        uroce("run", "node1", user.uroce, "ping", "-c", "20", "node2")
    finally:
        uroce("down")
    assert not os.listdir(tmp_path)


def test_others(user):
    """Another user, were it root, gets nothing from it."""
    user.fabric("up", "2")
    where = f"{user.tmp}/uroce-fabric"
    p = subprocess.run([user.uroce, "fabric", "--run-dir", where, "run", "node1", "id"],
                       text=True, capture_output=True, timeout=30, check=False)
    assert p.returncode == 125 and not p.stdout and "not permitted" in p.stderr, p
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(10)
        s.connect(f"{where}/default/socket")
        try:
            s.send(bytes(4096))
            assert s.recv(4096) == b""
        except (BrokenPipeError, ConnectionResetError):
            pass
    assert len(user.links()) == 2
    p = subprocess.run(["setpriv", "--reuid", str(UID + 1), "--regid", str(UID + 1),
                        "--clear-groups", user.uroce, "fabric", "--run-dir", where, "show"],
                       text=True, capture_output=True, timeout=30, check=False)
    assert p.returncode == 1 and "denied" in p.stderr, p


def test_two(user):
    """Two fabrics beside each other, and one inside another."""
    user.fabric("up", "2")
    user.fabric("up", "3", "--name", "other", "--devices", "2")
    assert len(user.links()) == 2
    out = user.fabric("--name", "other", "run", "node3", "--", "sh", "-c",
                      "hostname; ibv_devices; uroce fabric run node2 -- hostname; "
                      "getent hosts node1-eth1")
    assert out.split()[0] == "node3" and "uroce1" in out and "node2" in out, out
    assert "198.18.1.1" in out, out
    user.fabric("down", "--name", "other")
    assert user.run("node2", "hostname") == "node2\n"
    user.run("node1", "uroce", "fabric", "up", "2", "--name", "inner")
    out = user.run("node1", "uroce", "fabric", "--name", "inner", "run", "all", "hostname")
    assert sorted(out.splitlines()) == ["node1: node1", "node2: node2"]


@pytest.mark.parametrize("victim", ["keeper", "guardian", "both"])
def test_killed(user, victim):
    """Whoever of the two is killed: all that runs in the fabric ends, no file is left."""
    user.fabric("up", "2")
    sleeper = user.start("run", "node1", "--", "sh", "-c", "setsid sleep 1000 & exec sleep 1001")
    wait_for("the program", lambda: any(p.startswith("sleep 1001") for p in user.processes().values()))
    guardian, keeper = user.of_fabric()
    if victim != "keeper":
        os.kill(guardian, 9)
    if victim != "guardian":
        try:
            os.kill(keeper, 9)
        except ProcessLookupError:
            assert victim == "both"
    sleeper.communicate(timeout=20)
    assert sleeper.returncode == 128 + 9
    if victim == "both":
        # Nobody was there to remove it; the next fabric does.
        wait_for("processes to end", lambda: not user.processes())
        user.fabric("up", "2")
        user.fabric("down")


def test_signals(user):
    """A program ends as its caller has it, whether he asks or is killed."""
    user.fabric("up", "2")

    def runs():
        return any(p.startswith("sleep 1002") for p in user.processes().values())

    p = user.start("run", "node1", "--", "sleep", "1002")
    wait_for("the program", runs)
    p.terminate()
    p.communicate(timeout=20)
    assert p.returncode == 128 + 15
    p = user.start("run", "node1", "--", "sleep", "1002")
    wait_for("the program", runs)
    p.kill()
    p.communicate(timeout=20)
    wait_for("it to end", lambda: not runs())
    # A device that dies takes nothing with it.
    device, = [p for p, words in user.processes().items() if "hosts/node2 " in words]
    os.kill(device, 9)
    wait_for("the fabric to see it", lambda: not user.links()["node2"]["device"])
    assert user.links()["node1"]["device"] and user.run("node2", "hostname") == "node2\n"

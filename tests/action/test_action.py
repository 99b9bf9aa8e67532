# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""action.yml, container/github-actions.yml and container/gitlab-ci.yml as they
stand. The first test builds; the others use what it built."""
import re

import pytest

from conftest import FULL, HOME, TOP
from mana import ABSENT, ADDRESS, REFUSES, Mana
from runner import Job, Runner, gitlab

OURS = {"OWNER/uroce": "/src", "./": "/src"}
STATE = HOME + "/_temp/uroce-ci"


@pytest.fixture
def job(root, netns):
    j = Job(root, netns, "runner", HOME, actions=OURS)
    yield j
    assert j.end(), j.report()
    left = j.shell(LEFT, {})[1]
    assert left == "", left


# What a job would find that comes after this one on the same machine.
LEFT = """ip -br link | grep ^roce; ls %s/run %s/pid /run/uroce /etc/ld.so.preload 2>/dev/null
find /usr/local /etc -name '*uroce*'; findmnt -n -o TARGET /sys/class
pgrep -l uroced || true""" % (STATE, STATE)


def output(job, part):
    """Of the step whose name or script has this in it."""
    found = [s for s in job.steps if part in s[0]]
    assert len(found) == 1, job.report()
    return found[0]


def moved(text):
    """How much has gone, by what `uroce stat` says: messages within an engine, and
    packets."""
    return sum(int(n) for n in re.findall(r"^ *(?:loop_msgs|sent_pkts) +(\d+)$", text, re.M))


def ready_ms(text):
    return int(re.search(r"ready after (\d+) ms", text)[1])


def test_workflow(job):
    """The one line, and strangers' programs in steps without a wrapper."""
    job.workflow(TOP + "/container/github-actions.yml", "test")
    assert not job.failed, job.report()
    out = output(job, "ibv_devinfo")[2]
    assert "hca_id:\tmlx5_0" in out and "PORT_ACTIVE" in out, out
    out = output(job, "RDMA WRITE")[2]
    assert len(re.findall(r"^ *65536 +1000 +[\d.]+ ", out, re.M)) == 2, out
    out = job.shell("uroce stat mlx5_0", {})[1]
    assert moved(out) >= 1000, out
    # Two seconds from nothing to a device, packages and building apart.
    name, _, out, seconds = output(job, "start")
    print(f"{name}: {seconds:.2f} s, of these {ready_ms(out)} ms by itself")
    assert job.end(), job.report()
    assert job.shell("uroce link; ls $UROCE_RUN_DIR", {})[0] != 0


# One process serves, another measures; no wrapper, an ordinary user.
UCX = """
export UCX_NET_DEVICES=rxe_0:1 UCX_TLS=%s,self
ucx_perftest -t %s -n 500 -s 65536 -p 13337 &
until ucx_perftest -t %s -n 500 -s 65536 -p 13337 127.0.0.1; do kill -0 $!; done
wait $!"""
FABRIC = """
fi_pingpong -p verbs -e msg -c -B 47592 &
until fi_pingpong -p verbs -e msg -c -P 47592 198.18.0.1; do kill -0 $!; done
wait $!"""


def test_strangers(job):
    """End to end with programs of others, installed by the job: UCX over RC and
    UD, libfabric looking at its data (-c); each by packets of the device."""
    job.run([{"run": "sudo apt-get -q update; sudo apt-get -q install -y "
              "--no-install-recommends ucx-utils libfabric-bin"},
             {"uses": "./", "with": {"name": "rxe_0"}},
             {"name": "[who]", "run": "id -u; ucx_info -d; uroce stat rxe_0"},
             {"name": "[rc]", "run": UCX % ("rc", "tag_bw", "tag_bw")},
             {"name": "[put]", "run": UCX % ("rc", "ucp_put_bw", "ucp_put_bw")},
             {"name": "[ud]", "run": UCX % ("ud", "tag_lat", "tag_lat")},
             {"name": "[fabric]", "run": FABRIC},
             {"name": "[after]", "run": "uroce stat rxe_0"}])
    assert not job.failed, job.report()
    out = output(job, "[who]")[2]
    assert out.startswith("1001\n") and "Device: rxe_0:1" in out, out
    for step in "[rc]", "[put]", "[ud]":
        out = output(job, step)[2]
        assert re.search(r"Final: +500 ", out), out
    assert re.search(r"^1k +10 +=10 ", output(job, "[fabric]")[2], re.M)
    before, after = [moved(output(job, s)[2]) for s in ("[who]", "[after]")]
    assert after - before > 2000, (before, after)


def test_several(job):
    """Names count up; the addresses are those of interfaces that are there."""
    job.run([{"uses": "./", "with": {"name": "rxe_0", "devices": "3"}},
             {"run": "ibv_devices; ip -br addr; grep -H . "
              "/sys/class/infiniband/*/ports/1/gid_attrs/ndevs/0"}])
    assert not job.failed, job.report()
    out = output(job, "ibv_devices")[2]
    for i in range(3):
        assert re.search(rf"^\s+rxe_{i}\s", out, re.M), out
        assert re.search(rf"^roce{i}\S* .*198\.18\.{i}\.1/24", out, re.M), out
        assert f"/rxe_{i}/ports/1/gid_attrs/ndevs/0:roce{i}" in out, out


def test_given_netdev(job):
    job.run([{"run": "sudo ip link add cable0 type veth peer name cable1; "
              "sudo ip link set cable1 up; sudo ip link set cable0 up; "
              "sudo ip addr add 192.0.2.7/24 dev cable0"},
             {"uses": "./", "with": {"netdev": "cable0"}},
             {"run": "ibv_devinfo -v"},
             {"if": "always()", "run": "sudo ip link del cable0"}])
    assert not job.failed, job.report()
    out = output(job, "ibv_devinfo")[2]
    assert "uroce0" in out and "192.0.2.7, RoCE v2" in out, out


def test_failure(job):
    """A wrong interface: the step fails, says why, and shows what helps. After
    a step of the job has failed, its report does."""
    job.run([{"uses": "./", "with": {"netdev": "nothing0"}},
             {"run": "echo never"}])
    assert job.failed and [s[0] for s in job.steps] == ["install", "start"], job.report()
    out = output(job, "start")[2]
    assert "::error title=uroce::no interface nothing0" in out, out
    assert "::group::uroce: doctor" in out, out
    assert job.end(), job.report()
    job.failed = False
    job.steps.clear()
    job.run([{"uses": "./"}, {"run": "false"},
             {"if": "failure()", "run": 'bash "$UROCE_CI" report'}])
    assert job.failed
    out = output(job, "report")[2]
    assert "uroce0: netdev roce0 state ACTIVE" in out and "ready" in out, out


# By themselves, what strangers' programs take: none of them is told a device.
PAIR = """
%s & server=$!
until %s; do kill -0 $server; sleep 0.1; done
wait $server"""
# rping may lose a race of its own when it ends (tests/races.py): then both are run anew.
PAIRS = """
for try in 1 2 3 4; do
%s & server=$!
until %s; do kill -0 $server || continue 2; sleep 0.1; done
wait $server && exit
done
exit 1"""
BW = "ib_write_bw -x 0 -F -n 500"
RPING = "timeout 60 rping -a %s -C 10 -V " % ADDRESS
RC = "ucx_perftest -t tag_bw -n 500 -s 65536 -p 13337"
STOCK = {"[perftest]": PAIR % (BW, BW + " localhost"),
         "[rdma_cm]": PAIRS % (RPING + "-s", RPING + "-c"),
         "[ucx]": PAIR % (RC, RC + " localhost"),
         "[mpi]": "timeout 60 mpiexec.mpich -n 2 python3 mpi.py"}
# A message that no transport but ours carries.
MPI = """
import ctypes
mpi, status = ctypes.CDLL("libmpich.so.12"), (ctypes.c_int * 9)()
world, integers = 0x44000000, 0x4c000405
assert mpi.MPI_Init(None, None) == 0
rank, numbers = ctypes.c_int(), (ctypes.c_int * 1000000)()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
if rank.value == 0:
    numbers[999999] = 42
    mpi.MPI_Send(numbers, 1000000, integers, 1, 5, world)
else:
    mpi.MPI_Recv(numbers, 1000000, integers, 0, 5, world, status)
    print("received", numbers[999999])
mpi.MPI_Finalize()
"""
WANTS_RDMA = {"UCX_TLS": "rc,ud,self"}
# Each in its own way says that it has none.
FAILS = {"[perftest]": "Couldn't get context for the device",
         "[rdma_cm]": "No space left on device", "[ucx]": "", "[mpi]": ""}


@pytest.fixture
def mana(root, netns, request):
    m = Mana(root, netns, request.param)
    yield m
    m.close()


@pytest.mark.parametrize("mana", [REFUSES], indirect=True)
def test_broken_card(job, mana):
    """The runner has mana_0, which shares eth0's address, and programs of others take it:
    none works. With the line, all take ours instead, by that address too."""
    job.run([{"run": "sudo apt-get -q update; sudo apt-get -q install -y "
              "--no-install-recommends perftest rdmacm-utils ucx-utils ibverbs-utils mpich python3"},
             {"name": "[before]", "run": "ibv_devices"}])
    assert not job.failed and "mana_0" in output(job, "[before]")[2], job.report()
    with open(f"{job.root}{HOME}/job/mpi.py", "w") as f:
        f.write(MPI)
    for name, script in STOCK.items():
        job.failed = False
        job.run([{"name": name, "run": script, "env": WANTS_RDMA}])
        assert job.failed and FAILS[name] in output(job, name)[2], job.report()
    job.failed = False
    job.steps.clear()
    job.run([{"uses": "./", "with": {"netdev": "eth0"}},
             {"name": "[after]", "run": "ibv_devices; ls /sys/class/infiniband"}])
    assert not job.failed, job.report()
    assert "mana_0" not in output(job, "[after]")[2], job.report()
    for name, script in STOCK.items():
        before = moved(job.shell("uroce stat uroce0", {})[1])
        job.run([{"name": name, "run": script, "env": WANTS_RDMA}])
        assert not job.failed, job.report()
        assert moved(job.shell("uroce stat uroce0", {})[1]) > before, job.report()
    assert "received 42" in output(job, "[mpi]")[2], job.report()
    assert job.end(), job.report()
    assert "mana_0" in job.shell("env -u LD_PRELOAD ibv_devices", {})[1], job.report()


@pytest.mark.parametrize("answers", [ABSENT])
def test_prebuilt(prebuilt, netns, answers):
    """From nothing to ibv_devinfo with a release's files, where nothing can be built, beside a
    card that cannot be opened."""
    r = Runner(prebuilt, netns, "runner", HOME)
    settings = {"UROCE_CI_PACKAGES": "/release/*.deb", "UROCE_CI_NETDEV": "eth0"}
    script = "/src/container/setup-ci.sh "
    assert r.shell("command -v cc gcc cmake uroce", {})[0] != 0
    assert r.shell("sudo rm -rf /var/lib/apt/lists/*; sudo apt-get -q update; sudo apt-get -q install -y "
                   "--no-install-recommends ibverbs-utils rdmacm-utils perftest", {}, True)[0] == 0
    m = Mana(prebuilt, netns, answers)
    try:
        for program in "ibv_devinfo", STOCK["[rdma_cm]"], STOCK["[perftest]"]:
            status, out, _ = r.shell(program, {})
            assert status != 0, out
        stages = [r.shell(script + "install", settings, True), r.shell(script + "start", settings),
                  r.shell(f". {STATE}/env.sh; ibv_devinfo", {})]
        assert [s[0] for s in stages] == [0, 0, 0], r.report()
        assert "PORT_ACTIVE" in stages[2][1] and "mana_0" not in stages[2][1], stages[2][1]
        print("install {:.1f} s, start {:.1f} s, ibv_devinfo {:.1f} s".format(*[s[2] for s in stages]))
        assert not FULL or sum(s[2] for s in stages) < 15
        # Nothing was built: there is still nothing to build with.
        assert r.shell(f"command -v cc gcc cmake || ls -d {STATE}/build", {})[0] != 0
        for program in STOCK["[rdma_cm]"], STOCK["[perftest]"]:
            status, out, _ = r.shell(f". {STATE}/env.sh; {program}", {})
            assert status == 0, out
    finally:
        assert r.shell(script + "stop", settings)[0] == 0, r.report()
        m.close()
    assert r.shell(LEFT, {})[1] == "", r.report()


def test_host(job):
    """Programs that the environment does not reach, and no others afterwards: those of sudo,
    of an empty environment, and static ones."""
    job.run([{"run": "sudo apt-get -q install -y --no-install-recommends busybox-static"},
             {"uses": "./", "with": {"host": "true", "name": "mlx5_7"}},
             {"name": "[static]", "run": "env -i busybox cat /sys/class/infiniband/mlx5_7/node_type "
              "/sys/class/infiniband_verbs/uverbs0/ibdev; busybox ls /sys/class/net"},
             {"name": "[sudo]", "run": "sudo ibv_devinfo; sudo -u nobody env -i ibv_devinfo"},
             {"name": "[pair]", "run": PAIR % ("sudo ibv_rc_pingpong -g 0 -c",
                                               "ibv_rc_pingpong -g 0 -c localhost")}])
    assert not job.failed, job.report()
    out = output(job, "[sudo]")[2]
    assert out.count("mlx5_7") == 2 and out.count("PORT_ACTIVE") == 2, out
    out = output(job, "[static]")[2].split("\n")
    assert out[:2] == ["1: CA", "mlx5_7"] and "lo" in out, out
    assert job.end(), job.report()
    out = job.shell("sudo ibv_devinfo; busybox ls /sys/class/infiniband", {})[1]
    assert "mlx5_7" not in out, out


def test_gitlab(root, netns):
    """As root in a container that may make no interface, with the directory that the
    job has if it names none. Root uses none of another user, so what was built is here
    as if it were installed."""
    r = Runner(root, netns, "0:0", "/root")
    del r.env["RUNNER_TEMP"]  # GitHub's
    r.path.append(STATE + "/bin")
    variables = {"UROCE_SOURCE": "/src", "CI_COMMIT_SHA": "0"}
    status, out, after = gitlab(r, TOP + "/container/gitlab-ci.yml", "rdma",
                                variables)
    assert status == 0 and "rxe_0" in out and "PORT_ACTIVE" in out, out
    assert "uroce: system" not in after
    r.shell("/src/container/setup-ci.sh stop", variables)
    status, out, after = gitlab(
        r, TOP + "/container/gitlab-ci.yml", "rdma",
        {**variables, "UROCE_CI_NETDEV": "nothing0"})
    assert status != 0 and "no interface nothing0" in out, out
    assert "uroce: doctor" in after, after


def test_shell(root, netns):
    """By hand, without a right to make an interface."""
    r = Runner(root, netns, "nobody", "/tmp/nobody")
    status, out, _ = r.shell("""
        export PATH=$PATH:%s/bin UROCE_CI_DIR=/tmp/nobody/ci
        /src/container/setup-ci.sh start
        . $UROCE_CI_DIR/env.sh
        ibv_rc_pingpong -g 0 -c -n 100 &
        until ibv_rc_pingpong -g 0 -c -n 100 localhost; do kill -0 $!; done
        wait $!
        env -u LD_PRELOAD /src/container/setup-ci.sh stop
        test ! -e $UROCE_CI_DIR/env.sh""" % STATE, {})
    assert status == 0, out
    assert "the default route's is taken" in out, out
    assert out.count("100 iters in") == 2, out

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""action.yml, container/github-actions.yml and container/gitlab-ci.yml as they
stand. The first test builds; the others use what it built."""
import re

import pytest

from composite import Job, Runner, gitlab
from conftest import HOME, TOP

OURS = {"OWNER/uroce": "/src", "./": "/src"}
STATE = HOME + "/_temp/uroce-ci"


@pytest.fixture
def job(root, netns):
    j = Job(root, netns, "runner", HOME, actions=OURS)
    yield j
    j.shell("/src/container/setup-ci.sh stop", {"UROCE_CI_DIR": STATE})


def output(job, part):
    """Of the step whose name or script has this in it."""
    found = [s for s in job.steps if part in s[0]]
    assert len(found) == 1, job.report()
    return found[0]


def moved(text):
    """How much has gone, by what `uroce stat` says: messages within the device's engine, and
    packets of programs with their own."""
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
    assert job.failed and len(job.steps) == 2, job.report()
    out = output(job, "start")[2]
    assert "::error title=uroce::no interface nothing0" in out, out
    assert "::group::uroce: doctor" in out, out
    job.failed = False
    job.run([{"uses": "./"}, {"run": "false"},
             {"if": "failure()", "run": 'bash "$UROCE_CI" report'}])
    assert job.failed
    out = output(job, "report")[2]
    assert "uroce0: netdev roce0 state ACTIVE" in out and "ready" in out, out


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

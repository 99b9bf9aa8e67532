# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Both arrangements of doc/containers.md with rootless Podman. Every container
has the default seccomp profile, no capability, no new privileges and a read-only
root."""
import json
import os
import re
import shutil
import time

import pytest
import yaml

from conftest import BUILD, NODE, TOP, USER, WORK, sh, wait_for

TIGHT = ["--read-only", "--cap-drop=all", "--security-opt=no-new-privileges"]
RUN = ["uroce", "run", "--"]
CDI = ["--device", "uroce.io/nic=all"]
# Podman reads a container's two streams in no order: a line of one may stand
# within a line of the other.
ONE_PIPE = "exec 2>&1; "
# For each private ABI that a libibverbs of an image may have.
PLUGINS = [f"liburoce-rdmav{n}.so" for n in (34, 57, 59, 64, 65)]


def started(podman, port, *words):
    """The address of a new container `server` that listens on `port`."""
    podman.remove("server")
    podman.start("server", *words)
    pid, to = podman(
        "inspect", "-f", "{{.State.Pid}} {{range .NetworkSettings.Networks}}"
        "{{.IPAddress}}{{end}}", "server").rstrip("\n").split(" ")

    def listens():
        try:
            return any(f":{port:04X} " in open(f"/proc/{pid}/net/{name}").read()
                       for name in ("udp", "udp6", "tcp", "tcp6"))
        except FileNotFoundError:
            return True  # it has ended, and its output says why
    if port:
        wait_for(f"port {port}", listens)
    return to


def pair(podman, box, server, client, alike="100 iters in", port=18515,
         to=None):
    """A client container against a server container, both of the same words
    for `podman run`; both must end well."""
    try:
        to = started(podman, port, *box, *server) or to
        end = time.monotonic() + 60
        while True:
            # Refused by rdma_cm until the server listens.
            status, out = podman.tried("run", "--rm", *box, *client, to)
            if status == 0 or time.monotonic() > end or "true" not in podman(
                    "inspect", "-f", "{{.State.Running}}", "server"):
                break
        got, text = podman.ended("server") if status == 0 else (
            None, podman("logs", "server"))
        assert (status, got) == (0, 0), out + text
        assert alike in out and alike in text, out + text
    finally:
        podman.remove("server")


PINGPONG = ["ibv_rc_pingpong", "-g", "0", "-c", "-n", "100"]
RPING = ["rping", "-v", "-V", "-C", "5"]
RPING_PAIR = [*RPING, "-s"], [*RPING, "-c", "-a"], "ping data: rdma-ping-4"


@pytest.fixture
def network(podman):
    podman("network", "create", "rdma")
    yield "--network=rdma"
    podman.tried("network", "rm", "-f", "rdma")


def test_confined(podman):
    """What TIGHT says is so, and a device works in it."""
    out = podman("run", "--rm", "--network=none", *TIGHT, "localhost/uroce",
                 *RUN, "sh", "-c", ONE_PIPE + "cat /proc/self/status; ibv_devinfo; "
                 "touch /usr/x || echo read-only; ls /dev/infiniband")
    assert re.search(r"^Seccomp:\s+2$", out, re.M), out
    assert re.search(r"^NoNewPrivs:\s+1$", out, re.M), out
    for name in "CapEff", "CapBnd", "CapPrm":
        assert re.search(rf"^{name}:\s+0+$", out, re.M), out
    assert "\nread-only\n" in out and "PORT_ACTIVE" in out, out
    assert "uverbs0" in out and podman("info", "-f", "{{.Host.Security.Rootless}}"
                                       ).strip() == "true"


def test_every_libibverbs(podman, node):
    """Whichever an image has: in the Dockerfile's, and in one that has a device of the host."""
    out = podman("run", "--rm", "--network=none", *TIGHT, "localhost/uroce", "sh", "-c",
                 "ls /usr/lib/*/uroce; cat /etc/libibverbs.d/uroce.driver")
    assert set(PLUGINS) <= set(out.split()), out
    assert re.search(r"^driver /\S+/uroce/liburoce$", out, re.M), out
    out = podman("run", "--rm", "--network=none", *CDI, *TIGHT, "localhost/bare", "ls", "/opt/uroce")
    assert set(PLUGINS) <= set(out.split()), out


def test_device_in_each(podman, network):
    """Arrangement 1: two containers on one network, over the wire."""
    box = [network, *TIGHT, "localhost/uroce", *RUN]
    pair(podman, box, PINGPONG, PINGPONG)
    pair(podman, box, *RPING_PAIR, port=4791)


def test_cdi(podman, node, network):
    """Arrangement 2: nothing of uroce in the image, one device of the host."""
    out = podman("run", "--rm", *CDI, *TIGHT, "--network=none",
                 "localhost/bare", "sh", "-c",
                 ONE_PIPE + "ibv_devices; ls /dev/infiniband; echo $LD_PRELOAD; "
                 "rm -r $UROCE_RUN_DIR/sys || true")
    assert re.search(r"^\s+mlx5_0\s", out, re.M), out
    assert "/opt/uroce/liburoce-preload.so" in out
    assert os.path.exists(node + "/sys/class/infiniband/mlx5_0/node_guid")
    # Ping-pongs find each other by TCP; rdma_cm is the device's alone.
    box = [*CDI, *TIGHT, "--user=479", network, "localhost/bare"]
    pair(podman, box, PINGPONG, PINGPONG)
    box[-2] = "--network=none"
    pair(podman, box, *RPING_PAIR, port=None, to=NODE)
    stats = json.loads(sh(BUILD + "/bin/uroce", "stat", "--json",
                          "--run-dir", node))
    # From one engine process to another: users are kept apart.
    assert stats[0]["counters"]["sent_pkts"] > 0


def test_cdi_isolation(podman, node, network):
    """Another user's queue pairs are not there, nor is his port."""
    def box(uid):
        return [*CDI, *TIGHT, network, f"--user={uid}", "localhost/bare"]

    try:
        to = started(podman, 18515, *box(480), *PINGPONG)
        status, out = podman.tried("run", "--rm", *box(479), *PINGPONG, to)
        assert status != 0, out
        assert "transport retry counter exceeded" in out, out
    finally:
        podman.remove("server")


def documents(name, **replaced):
    with open(f"{TOP}/container/{name}") as f:
        text = f.read()
    for old, new in (("/run/uroce", WORK + "/kube/run"),
                     ("/opt/uroce", WORK + "/kube/lib")):
        # On the node only; inside, the paths are as they stand.
        text = re.sub(rf"(hostPath: {{path: ){old}\b", rf"\g<1>{new}", text)
    return list(yaml.safe_load_all(text.replace("uroce:latest",
                                                "localhost/uroce")))


@pytest.fixture
def play(podman):
    """Plays a document by Podman; what was played goes with the test."""
    for name in "run", "lib":
        sh("install", "-d", "-o", USER, "-m", "755", f"{WORK}/kube/{name}")
    files = []

    def one(name, document):
        files.append(f"{WORK}/kube/{name}.yaml")
        with open(files[-1], "w") as f:
            yaml.safe_dump(document, f)
        return podman.tried("kube", "play", files[-1])
    yield one
    for name in files:
        podman.tried("kube", "down", name)
    shutil.rmtree(WORK + "/kube")


def serves(podman):
    """As Kubernetes asks for it."""
    container, = documents("daemonset.yaml")[0]["spec"]["template"]["spec"]["containers"]
    name, = [name for name in podman("ps", "--format", "{{.Names}}").split() if name.endswith("-uroced")]
    status, _ = podman.tried("exec", name, *container["readinessProbe"]["exec"]["command"])
    return status == 0


def test_kube_libraries(tmp_path):
    """What programs have mapped stays as it is when a newer daemon comes."""
    init, = documents("daemonset.yaml")[0]["spec"]["template"]["spec"]["initContainers"]
    script = init["args"][0].replace("/opt/uroce", str(tmp_path / "to")).replace(
        "/usr/lib", str(tmp_path / "from"))
    names = {"uroce/liburoce-preload.so", "uroce/liburoce-engine.so", "libisal.so.2",
             *("uroce/" + plugin for plugin in PLUGINS)}
    (tmp_path / "to").mkdir()
    mapped = []
    for text in "old", "new":
        for name in names:
            file = tmp_path / "from" / "here" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        sh(*init["command"], script)
        for name in names:
            mapped.append((open(tmp_path / "to" / os.path.basename(name)), text))
    assert {os.path.basename(name) for name in names} == set(os.listdir(tmp_path / "to"))
    for file, text in mapped:
        with file:
            assert file.read() == text


def test_kube(podman, play):
    """container/pod.yaml on a pod of container/daemonset.yaml's template."""
    daemon, = documents("daemonset.yaml")
    assert daemon["kind"] == "DaemonSet"
    template = daemon["spec"]["template"]
    status, out = play("daemon", {
        "apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
        "metadata": {"name": "uroced", **template["metadata"]}})
    assert status == 0, out
    wait_for("the node's device", lambda: serves(podman))
    assert os.path.exists(WORK + "/kube/lib/liburoce-preload.so")
    status, out = play("pod", documents("pod.yaml")[0])
    assert status == 0, out
    status, out = podman.ended("rdma-program-program")
    assert status == 0 and "PORT_ACTIVE" in out, out


def test_kube_daemonset(podman, play):
    """container/daemonset.yaml as a DaemonSet, by a Podman that knows them."""
    status, out = play("daemon", documents("daemonset.yaml")[0])
    if "not contain any supported kube kind" in out:
        pytest.skip("this Podman plays no DaemonSet: " + out.strip()[-200:])
    assert status == 0, out
    wait_for("the node's device", lambda: serves(podman))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Follow container/Dockerfile without a container engine, and use the result.

Every FROM is a root made by mmdebstrap, every RUN a chroot, and the image is
then run as an engine runs it by default: network, pid, ipc and mount
namespaces of its own, no capability, no new privileges, a veth cable for eth0.
Two such containers talk. Then one device serves two containers that have
nothing of uroce in them, as daemonset.yaml and uroce-cdi.json arrange it.
Root, python3-yaml and git; nothing stays behind.

    container/try.py [--keep DIR]       DIR: where the roots are made and kept
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
# What Debian's images of these names are made of.
BASES = {"debian:12": "bookworm", "debian:12-slim": "bookworm"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
A, B = f"uroce-try-{os.getpid()}-a", f"uroce-try-{os.getpid()}-b"


def run(*cmd, **kw):
    print("+", shlex.join(cmd)[:150], flush=True)
    return subprocess.run(cmd, check=True, **kw)


class Image:
    """The end of a Dockerfile, as far as it is used there."""

    def __init__(self, root):
        self.root = root
        self.user, self.env = "0:0", {"PATH": PATH}
        self.entrypoint, self.cmd = [], []

    def argv(self, cmd=()):
        env = [f"{k}={v}" for k, v in self.env.items()]
        uid, gid = self.user.split(":")
        return ["chroot", self.root, "/usr/bin/setpriv", "--reuid", uid,
                "--regid", gid, "--clear-groups", "--bounding-set=-all",
                "--no-new-privs", "env", "-i", *env, *self.entrypoint,
                *(cmd or self.cmd)]


def instructions(path):
    for line in open(path):
        line = line.strip()
        if line and not line.startswith("#"):
            yield line.split(None, 1)


def base(name, root):
    if os.path.isdir(root):
        return
    run("mmdebstrap", "--quiet", "--variant=minbase", BASES[name], root)
    for name in "resolv.conf", "hosts":
        run("cp", "/etc/" + name, root + "/etc/")
    for extra in sys_files():
        run("install", "-D", "-m644", extra, root + extra)


def sys_files():
    """How this machine reaches its mirror, where that needs to be told."""
    conf = "/etc/apt/apt.conf.d"
    return [os.path.join(conf, f) for f in os.listdir(conf) if "proxy" in f]


def copy(args, root, roots):
    source, to = args.split()[-2:]
    if args.startswith("--from="):
        source = roots[args.split()[0][7:]] + source
        run("cp", "-a", source + "/.", root + to)
        return
    # The build context: what git does not ignore.
    os.makedirs(root + to, exist_ok=True)
    files = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "-co",
                            "--exclude-standard"], check=True,
                           stdout=subprocess.PIPE).stdout
    run("cp", "--parents", "-t", root + to,
        *[f.decode() for f in files.split(b"\0") if f], cwd=TOP,
        stdout=subprocess.DEVNULL)


def build(tmp):
    image, roots = None, {}
    for word, args in instructions(HERE + "/Dockerfile"):
        if word == "FROM":
            parts = args.split()
            name = parts[2] if len(parts) == 3 else "final"
            roots[name] = os.path.join(tmp, name)
            base(parts[0], roots[name])
            image = Image(roots[name])
        elif word == "RUN":
            run("chroot", image.root, "sh", "-ec", args,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                stdout=subprocess.DEVNULL)
        elif word == "COPY":
            copy(args, image.root, roots)
        elif word == "USER":
            image.user = args
        elif word == "ENV":
            key, value = args.split("=", 1)
            image.env[key] = value
        elif word in ("ENTRYPOINT", "CMD"):
            setattr(image, word.lower(), json.loads(args))
        else:
            sys.exit(f"{word} is not understood here")
    return image


# What an engine mounts: proc, a /tmp of its own, no /sys of the host.
SETUP = """set -e
mount -t proc proc {root}/proc
mount -t tmpfs tmpfs {root}/tmp
mount -t tmpfs tmpfs {root}/dev
mknod -m 666 {root}/dev/null c 1 3
mknod -m 666 {root}/dev/urandom c 1 9
mkdir {root}/dev/shm && mount -t tmpfs -o size=64m shm {root}/dev/shm
{more}
exec {argv}
"""


def container(image, netns, *cmd, more="", **kw):
    script = SETUP.format(root=image.root, more=more.format(root=image.root),
                          argv=shlex.join(image.argv(cmd)))
    return subprocess.Popen(
        ["ip", "netns", "exec", netns, "unshare", "--mount", "--pid", "--ipc",
         "--uts", "--fork", "--kill-child", "sh", "-c", script], **kw)


def cable():
    for name in A, B:
        run("ip", "netns", "add", name)
    run("ip", "-n", A, "link", "add", "eth0", "type", "veth", "peer", "name",
        "eth0", "netns", B)
    for n, name in enumerate((A, B), 2):
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "addr", "add", f"172.17.0.{n}/16", "dev",
            "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", name, "route", "add", "default", "dev", "eth0")


def check(image):
    p = container(image, A, stdout=subprocess.PIPE, text=True)
    out = p.communicate(timeout=60)[0]
    print(out, end="")
    assert p.returncode == 0 and "PORT_ACTIVE" in out
    pingpong(image, A, B, "172.17.0.2")
    print("two containers without privileges: ibv_rc_pingpong works")


def pingpong(image, a, b, address, **kw):
    command = ["ibv_rc_pingpong", "-g", "0", "-c"]
    server = container(image, a, *command, **kw)
    status = 1
    # A server that does not listen yet refuses: ask again.
    for _ in range(100):
        status = container(image, b, *command, address, **kw).wait(60)
        if status == 0 or server.poll() is not None:
            break
    assert (status, server.wait(60)) == (0, 0)


def init_command(name):
    """The shell line of the DaemonSet's init container."""
    with open(os.path.join(HERE, name)) as f:
        init, = yaml.safe_load(f)["spec"]["template"]["spec"]["initContainers"]
    return init["args"][0]


def check_node(image, tmp):
    cdi = json.load(open(os.path.join(HERE, "uroce-cdi.json")))
    edits = cdi["devices"][0]["containerEdits"]
    mounts = ""
    for m in edits["mounts"]:
        here = tmp + "/node" + m["hostPath"]
        os.makedirs(here, exist_ok=True)
        mounts += (f"mkdir -p {{root}}{m['containerPath']}\n"
                   f"mount --bind {here} {{root}}{m['containerPath']}\n")
    node = Image(image.root)
    node.env = image.env
    assert container(node, A, "sh", "-ec", init_command("daemonset.yaml"),
                     more=mounts).wait() == 0
    device = container(node, A, "uroced", "--run-dir", "/run/uroce",
                       more=mounts, stdout=subprocess.PIPE, text=True)
    assert device.stdout.readline() == "ready\n"
    pod = Image(image.root)
    pod.user = image.user
    pod.env = {**image.env, **dict(e.split("=", 1) for e in edits["env"])}
    # Nothing of uroce is in the pod's image.
    bare = mounts
    for path in ("/usr/lib/x86_64-linux-gnu/uroce", "/etc/libibverbs.d",
                 "/usr/lib/x86_64-linux-gnu/libibverbs", "/usr/sbin"):
        bare += f"mount -t tmpfs tmpfs {{root}}{path}\n"
    pingpong(pod, B, B, "localhost", more=bare)
    device.kill()  # and what it started, by --kill-child
    device.wait(20)
    print("two pods on the node's device, libraries mounted: works")


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--keep")
    keep = ap.parse_args().keep
    tmp = keep or tempfile.mkdtemp(prefix="uroce-try-")
    os.makedirs(tmp, exist_ok=True)
    try:
        image = build(tmp)
        cable()
        check(image)
        check_node(image, tmp)
    finally:
        for name in A, B:
            subprocess.run(["ip", "netns", "del", name],
                           stderr=subprocess.DEVNULL)
        if not keep:
            subprocess.run(["rm", "-rf", "--one-file-system", tmp])


if __name__ == "__main__":
    main()

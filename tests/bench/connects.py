# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Connections by rdma_cm, from rdma_create_id() to rdma_destroy_id(), with a queue pair: of one
thread, of several, and of several programs."""
import signal
import subprocess

from lab import sh, wait_for
from threads import counts

PORT = 18750


def per_second(lab, count, kind, seconds):
    def program(host, address):
        return host.uroce([lab.bin("bench_connects"), address, str(PORT), str(count), kind,
                           str(seconds)])
    server = lab.a.popen(program(lab.a, "-"), start_new_session=True)
    wait_for("listeners", lambda: all(str(PORT + i) in sh(
        "ip", "netns", "exec", lab.a.ns, *lab.a.uroce(["rdma", "resource", "show", "cm_id"]))
        for i in range(count)))
    client = lab.b.popen(program(lab.b, lab.a.addr), stdout=subprocess.PIPE)
    try:
        out = client.communicate(timeout=60 + seconds)[0]
        if client.returncode:
            raise RuntimeError(f"bench_connects: status {client.returncode}")
    finally:
        for p in client, server:
            p.kill()
        # Its processes, too.
        sh("kill", "-KILL", "--", f"-{server.pid}")
        for p in client, server:
            p.wait()
    return float(out.split()[0])


def rows(t, o, lab, path):
    def of(count, kind):
        return lambda: per_second(lab, count, kind, o.seconds) / 1e3
    for name, count, kind, goal in (
            ("1 thread", 1, "threads", 10), *(
                (f"{n} {kind}", n, "threads" if kind == "threads" else "processes", 10)
                for n in counts()[:1 if o.tiny else None] for kind in ("threads", "programs"))):
        t.value(path, f"connections by rdma_cm, whole, {name}", goal, of(count, kind), True,
                "thousand/s")

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the threads of one program carry, beside as many programs of one thread. Each has a
completion queue and a queue pair; the threads have one context and one protection domain."""
import os
import subprocess

from lab import sh, wait_for

PORT = 18690
SIZES = {"64 B, posts of 16": (64, 1e-6, "M/s"), "64 KiB": (65536, 65536e-9, "GB/s")}


def carried(lab, count, kinds, size, seconds):
    """Messages a second. kinds: of the writers, and of their peers."""
    def program(host, address, kind):
        return host.uroce([lab.bin("bench_threads"), address, str(PORT), str(count), kind,
                           str(size), str(seconds)])
    server = lab.a.popen(program(lab.a, "-", kinds[1]), stdout=subprocess.DEVNULL)
    wait_for("threads", lambda: lab.a.listens(PORT))
    client = lab.b.popen(program(lab.b, lab.a.addr, kinds[0]), stdout=subprocess.PIPE)
    try:
        out = client.communicate(timeout=60 + seconds)[0]
        server.wait(20)
    finally:
        for p in client, server:
            p.kill()
            p.wait()
    return float(out.split()[0])


def alone(lab, count, kind, size, seconds):
    """Messages a second to a host that is not there: what the writers could send."""
    nobody = "10.78.0.9"
    sh("ip", "-n", lab.b.ns, "neigh", "replace", nobody, "lladdr", "02:00:00:00:00:09", "dev",
       lab.b.netdev)
    out = lab.b.popen(lab.b.uroce([lab.bin("bench_threads"), nobody, "0", str(count), kind,
                                   str(size), str(seconds)]),
                      stdout=subprocess.PIPE).communicate(timeout=60 + seconds)[0]
    return float(out.split()[0])


def counts():
    """2, 4, 8 workers, as far as each has a processor."""
    return [n for n in (2, 4, 8) if n <= max(2, os.cpu_count() or 2)]


def rows(t, o, lab, path):
    for name, (size, scale, unit) in SIZES.items():
        for n in counts()[:1 if o.tiny else None]:
            goal = 0.9 if n == 2 else 0.8

            def of(kind, n=n, size=size):
                return lambda: carried(lab, n, (kind, kind), size, o.seconds)
            t.ratio(path, f"WRITE {name}, {n} threads / {n} programs", goal, of("threads"),
                    of("processes"), unit=unit, scale=scale)

            def by(kind, n=n, size=size):
                return lambda: alone(lab, n, kind, size, o.seconds)
            if lab.mtu:
                t.ratio(path, f"WRITE {name}, sent to nobody, {n} threads / {n} programs", goal,
                        by("threads"), by("processes"), unit=unit, scale=scale)

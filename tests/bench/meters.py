# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is measured, and the yardsticks beside it: one number a call."""
import re
import subprocess
import tempfile

from lab import sh, wait_for

MIB = 1 << 20
IPERF_MAX = 128  # streams of one iperf3


def last_numbers(text):
    """The last line of a perftest table; None if perftest divided by a time
    of nothing, as it does when it is not scheduled while it should sample."""
    rows = [l.split() for l in text.splitlines()
            if re.match(r"\s*\d+\s+\d+\s+([\d.]+|inf)\s+([\d.]+|inf)", l)]
    if not rows:
        raise RuntimeError("no result:\n" + text[-600:])
    return None if "inf" in rows[-1] else [float(x) for x in rows[-1]]


def perftest(lab, prog, *args, limit=60, each=((), ())):
    for _ in range(3):
        numbers = perftest_once(lab, prog, *args, limit=limit, each=each)
        if numbers:
            return numbers
    raise RuntimeError(f"{prog}: inf three times")


def perftest_once(lab, prog, *args, limit=60, each=((), ())):
    """each: what the server's command has besides, and the client's."""
    base = [prog, "-d", "uroce0", "-x", "0", "-F", *map(str, args)]
    server = lab.a.popen(lab.a.uroce(base + list(each[0])), stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    wait_for(prog, lambda: lab.a.listens(18515))
    client = lab.b.popen(lab.b.uroce(base + list(each[1]) + [lab.a.addr]),
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        out, _ = client.communicate(timeout=limit)
    finally:
        client.kill()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
    return last_numbers(out)


def bandwidth(lab, prog, seconds, size=MIB):
    return perftest(lab, prog, "-s", size, "-D", seconds)[3] * MIB


def shared_bandwidth(lab, prog, seconds):
    """The buffers of both sides are files in memory, as MPI's and a database's are."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as a, \
            tempfile.NamedTemporaryFile(dir="/dev/shm") as b:
        for file in a, b:
            file.write(bytes(16 * MIB))
            file.flush()
        return perftest(lab, prog, "-s", MIB, "-D", seconds,
                        each=(["--mmap=" + a.name], ["--mmap=" + b.name]))[3] * MIB


def rate(lab, prog, count):
    return perftest(lab, prog, "-s", 64, "-n", count // 32 * 32, "-l",
                    32)[-1] * 1e6


def latency_us(lab, prog, count, size=64):
    return perftest(lab, prog, "-s", size, "-n", count)[4]  # typical


def tcp_server(lab):
    server = lab.a.popen(["iperf3", "-s", "-1"], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    wait_for("iperf3", lambda: lab.a.listens(5201))
    return server


def tcp_client(lab, seconds, streams, *more):
    return lab.b.popen(["iperf3", "-c", lab.a.addr, "-t", str(seconds), "-f", "k",
                        "-C", lab.congestion, "-P", str(min(streams, IPERF_MAX)), *more],
                       stdout=subprocess.PIPE)


def tcp(lab, seconds, streams=1, *more):
    """more: options of iperf3, as `-l` and the length of a write."""
    server = tcp_server(lab)
    out = tcp_client(lab, seconds, streams, *more).communicate()[0]
    server.wait(10)
    # The last such line is the sum, where there are several.
    return 125 * float(re.findall(r"([\d.]+) Kbits/sec\s+receiver", out)[-1])


def udp_pair(lab, kind, active, *args):
    server = lab.a.popen([lab.bin("bench_sockets"), kind, lab.a.addr, "7"])
    wait_for(kind, lambda: lab.a.listens(7, udp=True))
    try:
        out = lab.b.popen([lab.bin("bench_sockets"), active, lab.a.addr, "7",
                           *map(str, args)],
                          stdout=subprocess.PIPE).communicate(timeout=60)[0]
    finally:
        server.kill()
        server.wait()
    return float(out.split()[0])


def udp_latency_us(lab, count, size=64):
    return udp_pair(lab, "pong", "ping", count, size) / 1000


def shared_memory_us(lab, count):
    """Half a round trip of two threads that look at their memory."""
    out = sh(lab.bin("bench_sockets"), "shared", str(count))
    return float(out.split()[0]) / 1000


def connections_per_second(lab, count):
    """By rdma_cm, from rdma_connect() of the first to the last event."""
    base = ["cmtime", "-p", "7999", "-c", str(count)]
    server = lab.a.popen(lab.a.uroce(base), stdout=subprocess.DEVNULL)
    # It can be asked for a connection when it has its socket of rdma_cm.
    wait_for("cmtime", lambda: "7999" in sh(
        "ip", "netns", "exec", lab.a.ns, *lab.a.uroce(
            ["rdma", "resource", "show", "cm_id"])))
    try:
        out = lab.b.popen(lab.b.uroce(base + ["-s", lab.a.addr]),
                          stdout=subprocess.PIPE).communicate(timeout=60)[0]
    finally:
        server.terminate()
        server.wait(10)
    return count * 1e3 / float(re.search(r"connect\s*:\s+([\d.]+)", out)[1])


def udp_rate(lab, seconds):
    return udp_pair(lab, "sink", "blast", seconds)


def bare_datagrams(lab, seconds):
    """As those of a long message, with a copy of the payload on each side and no ICRC: what
    RoCE over UDP sockets can have here."""
    return udp_pair(lab, "take", "give", seconds)


def memcpy(lab, seconds):
    return float(sh(lab.bin("bench_sockets"), "memcpy", str(MIB), str(seconds)))


def many_qps(lab, pairs, count, idle_us=0):
    p = lab.a.popen(lab.a.uroce([lab.bin("bench_many_qps"), str(pairs),
                                 str(count), str(idle_us)]),
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def step(expect):
        line = p.stdout.readline().strip()
        if line != expect:
            raise RuntimeError(f"many_qps said '{line}', not '{expect}'")
        used = lab.a.memory()
        p.stdin.write("\n")
        p.stdin.flush()
        return used

    before = step("opened")
    after = step("connected")
    p50, mean, p99 = map(float, p.stdout.readline().split())
    p.wait()
    return p50, p99, (after - before) / (2 * pairs)

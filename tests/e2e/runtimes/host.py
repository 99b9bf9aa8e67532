# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Python as a host of a library that has an engine in it:

    host.py NATIVE GID_INDEX GID PORT [SERVER]

Every byte that is written, read and sent is looked at, while other threads do what Python
programs do. The last thing is a crash, which faulthandler is to report. Prints "done 0"."""
import collections
import ctypes
import faulthandler
import gc
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc

try:
    import _xxsubinterpreters as subinterpreters  # 3.12 and before
except ImportError:
    try:
        import _interpreters as subinterpreters
    except ImportError:
        subinterpreters = None

ROUNDS = 50
AREA = 20000
OUT, IN, BACK, MESSAGE, GOT, LAST = range(0, 6 * AREA, AREA)
SHORT = 64
SEND, WRITE, READ, RECEIVE = 1, 2, 3, 129

native = ctypes.CDLL(sys.argv[1])  # its functions are called without the GIL
native.native_open.restype = ctypes.c_void_p
native.native_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_char_p,
                               ctypes.c_void_p, ctypes.c_size_t]
for verb in "send", "receive":
    getattr(native, "native_" + verb).argtypes = [ctypes.c_void_p] + 2 * [ctypes.c_size_t]
for verb in "write", "read":
    getattr(native, "native_" + verb).argtypes = [ctypes.c_void_p] + 3 * [ctypes.c_size_t]
for verb in "meet", "take", "wait", "close":
    getattr(native, "native_" + verb).argtypes = [ctypes.c_void_p]


def pattern(seed, size):
    return (bytes((seed + i * 7) % 256 for i in range(256)) * (size // 256 + 1))[:size]


class Connection:
    def __init__(self, server, port, gid_index, gid):
        self.memory = mmap.mmap(-1, 6 * AREA)
        self.handle = native.native_open(server.encode(), port, gid_index, gid.encode(),
                                         ctypes.addressof(ctypes.c_char.from_buffer(self.memory)),
                                         len(self.memory))
        assert self.handle
        self.came = collections.Counter()
        self.mine, self.other = (1, 2) if server else (2, 1)

    def call(self, verb, *args):
        assert getattr(native, "native_" + verb)(self.handle, *args) == 0, verb

    def take(self, *kinds, sleeps):
        """Until each of these completions has come; the peer may be ahead."""
        while any(self.came[kind] < kinds.count(kind) for kind in kinds):
            kind = (native.native_wait if sleeps else native.native_take)(self.handle)
            assert kind >= 0, kind
            if kind:
                self.came[kind] += 1
        self.came.subtract(kinds)

    def holds(self, at, size, seed):
        assert self.memory[at:at + size] == pattern(seed, size), (at, seed)

    def fill(self, at, size, seed):
        self.memory[at:at + size] = pattern(seed, size)

    def round(self, n, sleeps):
        mine, other = n * 11 + self.mine, n * 11 + self.other
        self.fill(OUT, AREA, mine)
        self.fill(MESSAGE, SHORT, mine)
        self.call("write", OUT, IN, AREA)
        self.call("send", MESSAGE, SHORT)
        self.take(WRITE, SEND, RECEIVE, sleeps=sleeps)
        self.holds(IN, AREA, other)
        self.holds(GOT, SHORT, other)
        self.call("read", BACK, OUT, AREA)
        self.take(READ, sleeps=sleeps)
        self.holds(BACK, AREA, other)
        self.call("receive", GOT, SHORT)
        self.call("send", MESSAGE, SHORT)
        self.take(SEND, RECEIVE, sleeps=sleeps)
        self.call("receive", LAST, SHORT)

    def begin(self):
        self.call("receive", GOT, SHORT)
        self.call("receive", LAST, SHORT)
        self.call("meet")

    def run(self):
        for n in range(ROUNDS):
            self.round(n, sleeps=n % 3 == 2)

    def end(self):
        self.call("meet")
        self.call("close")


# What other threads do meanwhile, how often each did it, and what went wrong.
times = {}
errors = []
over = []
forked = []


def again(work):
    def loop():
        try:
            while not over or times.get(work, 0) < 3:
                work()
                times[work] = times.get(work, 0) + 1
                time.sleep(0.02)
        except BaseException as e:  # pylint: disable=broad-except
            errors.append((work.__name__, e))
    return threading.Thread(target=loop)


def collect():
    cycle = [[] for _ in range(1000)]
    for a, b in zip(cycle, cycle[1:] + cycle[:1]):
        a.append(b)
    del cycle
    gc.collect()


def trace():
    if tracemalloc.is_tracing():
        assert tracemalloc.get_traced_memory()[1] > 0
        tracemalloc.stop()
    else:
        tracemalloc.start()
        bytearray(1000)  # other threads may allocate nothing until the next call


def interpret():
    one = subinterpreters.create()
    subinterpreters.run_string(one, "import threading; x = [i for i in range(1000)]")
    subinterpreters.destroy(one)


def fork():
    pid = os.fork()
    if not pid:
        os._exit(len(forked) % 2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1


def spawn():
    subprocess.run(["/bin/true"], check=True)


def crash():
    """faulthandler's own handler has it, and says so."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        faulthandler.enable(file=w)
        faulthandler._sigsegv()
        os._exit(0)
    os.close(w)
    with open(r, encoding="utf-8") as f:
        assert "Fatal Python error: Segmentation fault" in f.read()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGSEGV


def beside(works, connection):
    times.clear()
    over.clear()
    threads = [again(work) for work in works]
    for t in threads:
        t.start()
    try:
        connection.run()
    finally:
        over.append(True)
        for t in threads:
            t.join()
    assert not errors and all(times[work] >= 3 for work in works), (errors, times)


def main():
    gid_index, gid, port = int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    server = sys.argv[5] if len(sys.argv) > 5 else ""
    alarms = []
    sys.setswitchinterval(0.0002)
    faulthandler.enable(all_threads=True)
    os.register_at_fork(before=lambda: forked.clear(), after_in_child=lambda: forked.append(1))
    signal.signal(signal.SIGALRM, lambda *_: alarms.append(time.monotonic()))
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    connection = Connection(server, port, gid_index, gid)
    connection.begin()
    # Beside an interpreter that begins, a fork and tracemalloc make Python hang.
    for works in [collect, spawn] + [interpret] * bool(subinterpreters), [trace, fork, spawn]:
        beside(works, connection)
    connection.end()
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert len(alarms) > 5
    crash()
    print("done 0")


main()

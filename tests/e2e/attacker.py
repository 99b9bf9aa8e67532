# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What test_attacks.py runs as another user: a front-end that keeps no rule.

usage: attacker.py WHAT RUN_DIR [ARGUMENT...]
Standard library only. Prints JSON about what it got, then stays until it is
killed: what it holds is held so long."""
import array
import ctypes
import json
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile

# kernel-abi/uroce-tunnel.h
OPEN, IOCTL, WRITE, SYNC, FD, STATUS = 1, 2, 3, 5, 6, 7
DONE, FGET, INSTALL = 32, 33, 34
UVERBS, RDMA_CM = 1, 2
MESSAGE = struct.Struct("<IIqQQQQQII64s")
# rdma/ib_user_verbs.h
GET_CONTEXT, ALLOC_PD, REG_MR, CREATE_CQ, DESTROY_CQ = 0, 3, 9, 18, 20
REMOTE_WRITE_AND_ALL = 7
# rdma/rdma_user_ioctl_cmds.h, kernel-abi/uroce-abi.h
VERBS_IOCTL, MANDATORY = 0xc0181b01, 1
ENGINE_OPEN, ENGINE_OPEN_RESP, ENGINE_OPEN_BYTES = 0x1001, 0x1000, 112


def message(op, kind=0, ret=0, cmd=0, arg=0, size=0, cookie=0, rdev=0, fds=0, name=b""):
    return MESSAGE.pack(op, kind, ret, cmd, arg, size, cookie, rdev, fds, 0, name)


class Client:
    def __init__(self, run_dir):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.connect(run_dir + "/uroced.sock")
        self.answer = ctypes.create_string_buffer(512)

    def send(self, text, fds=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
        self.sock.sendmsg([text], rights if fds else [])

    def recv(self):
        """(operation, result, descriptors), or None at the end."""
        text, extra, _, _ = self.sock.recvmsg(8192, socket.CMSG_SPACE(64))
        if not text:
            return None
        fds = array.array("i")
        for _, _, data in extra:
            fds.frombytes(data[:len(data) // 4 * 4])
        words = MESSAGE.unpack(text[:MESSAGE.size])
        return words[0], words[2], list(fds)

    def open(self, kind=UVERBS, name=b"uverbs0", memory=None):
        fd = os.open("/proc/self/mem", os.O_RDWR) if memory is None else memory
        maps = os.open("/proc/self/maps", os.O_RDONLY)
        # It says where it lies, which shows whose memory this is: the device may
        # have a procfs of its own.
        text = ctypes.create_string_buffer(MESSAGE.size)
        text.raw = message(OPEN, kind=kind, cmd=3, rdev=ctypes.addressof(text), fds=2, name=name)
        self.send(text.raw, [fd, maps])
        _, ret, self.shown = self.recv()
        return ret

    def command(self, number, core=b"", out=8):
        """A verbs command of the old form; its result."""
        text = struct.pack("<IHHQ", number, (16 + len(core)) // 4, out // 4,
                           ctypes.addressof(self.answer)) + core
        held = ctypes.create_string_buffer(text, len(text))
        self.send(message(WRITE, arg=ctypes.addressof(held), size=len(text)))
        return self.result()

    def engine(self):
        text = struct.pack("<HHHHQIIHHHHQ", 40, 0, ENGINE_OPEN, 1, 0, 0, 0, ENGINE_OPEN_RESP,
                           ENGINE_OPEN_BYTES, MANDATORY, 0, ctypes.addressof(self.answer))
        held = ctypes.create_string_buffer(text, len(text))
        self.send(message(IOCTL, cmd=VERBS_IOCTL, arg=ctypes.addressof(held)))
        return self.result()

    def result(self):
        while True:
            op, ret, fds = self.recv()
            if op == DONE:
                return ret
            self.send(message(FD, ret=fds[0] if fds else -9))


def verbs(run_dir):
    c = Client(run_dir)
    assert c.open() == 0
    assert c.command(GET_CONTEXT) >= 0
    return c


def engine_that_never_begins(run_dir):
    """It has a slot, and nothing by which its end is known but its connection."""
    c = verbs(run_dir)
    return {"engine": c.engine(), "held": c}


def clogged(seconds):
    """A socket whose close waits so long: its other end does not read."""
    server = socket.create_server(("127.0.0.1", 0))
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    near = socket.create_connection(server.getsockname())
    far = server.accept()[0]
    near.setblocking(False)
    try:
        while near.send(bytes(1 << 16)):
            pass
    except BlockingIOError:
        pass
    near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, seconds))
    return near, (server, far)


def lingering_answer(run_dir, seconds):
    """Shown where the device asks for a descriptor: at an OPEN that joins."""
    near, rest = clogged(int(seconds))
    c = Client(run_dir)
    memory = os.open("/proc/self/mem", os.O_RDWR)
    for _ in range(20):
        c.send(message(SYNC))
    c.send(message(OPEN, kind=UVERBS, cmd=3, arg=7), [memory])
    c.send(message(FD), [near.fileno()])
    near.close()
    return {"held": [c, rest]}


def lingering_gift(run_dir, seconds):
    """Not asked for at all."""
    near, rest = clogged(int(seconds))
    c = Client(run_dir)
    for _ in range(30):
        c.send(message(SYNC))
    c.send(message(SYNC), [near.fileno()])
    near.close()
    return {"held": [c, rest]}


def unread_status(run_dir, objects, each):
    """Objects, and many answers about them that nobody takes."""
    maker = verbs(run_dir)
    made = 0
    while made < int(objects) and maker.command(ALLOC_PD, out=4) >= 0:
        made += 1
    asked, asking = 0, []
    for _ in range(4):
        c = Client(run_dir)
        c.sock.setblocking(False)
        asking.append(c)
        for _ in range(int(each)):
            try:
                c.send(message(STATUS, name=b"pds"))
                asked += 1
            except BlockingIOError:
                break
    return {"made": made, "asked": asked, "held": [maker, asking]}


def false_memory(run_dir):
    """In a user namespace, where a bind mount gives any file of procfs the name
    of a memory file: the device is to write its answer into it."""
    place = tempfile.mkdtemp()
    name = place + "/mem"
    open(name, "w").close()
    target = f"/proc/{os.getpid()}/oom_score_adj"
    subprocess.check_call(["mount", "--bind", target, name])
    before = open(target).read()
    c = Client(run_dir)
    ret = c.open(RDMA_CM, b"rdma_cm", os.open(name, os.O_RDWR))
    subprocess.check_call(["umount", "-l", name])
    os.unlink(name)
    os.rmdir(place)
    return {"open": ret, "same": open(target).read() == before, "held": [c]}


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                      ctypes.c_int, ctypes.c_long]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def foreign_rights(run_dir):
    """Registrations of more than the memory allows, by its protection."""
    c = verbs(run_dir)
    assert c.command(ALLOC_PD, out=4) >= 0
    pd = struct.unpack_from("<I", c.answer)[0]
    text = ctypes.cast(LIBC.printf, ctypes.c_void_p).value & ~4095
    got = {"code": text}
    for name, prot in ("none", 0), ("read", mmap.PROT_READ), ("all", 3):
        at = LIBC.mmap(None, 8192, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        ctypes.memset(at, 0x55, 8192)
        assert LIBC.mprotect(at, 8192, prot) == 0
        got[name] = at
    for name, at in list(got.items()):
        core = struct.pack("<QQQII", at, 4096, at, pd, REMOTE_WRITE_AND_ALL)
        got[name] = c.command(REG_MR, core, 12)
    return {**got, "held": [c]}


def large_queues(run_dir, rounds):
    """Completion queues of 2^20 entries, made and destroyed."""
    c = verbs(run_dir)
    print("began", flush=True)
    for _ in range(int(rounds)):
        core = struct.pack("<QIIiI", 1, 1 << 20, 0, -1, 0)
        assert c.command(CREATE_CQ, core) >= 0
        number = struct.unpack_from("<I", c.answer)[0]
        assert c.command(DESTROY_CQ, struct.pack("<II", number, 0)) >= 0
    return {"made": int(rounds)}


def many_connections(run_dir, connections):
    """Each has asked for counters more often than it has been answered, without end."""
    asking = {}
    ready = select.epoll()
    for _ in range(int(connections)):
        c = Client(run_dir)
        c.sock.setblocking(False)
        ready.register(c.sock, select.EPOLLIN)
        asking[c.sock.fileno()] = c
        for _ in range(4):
            c.send(message(SYNC))
    print(json.dumps({"uid": os.getuid(), "asking": len(asking)}), flush=True)
    while True:
        for fd, _ in ready.poll():
            if asking[fd].recv():
                asking[fd].send(message(SYNC))


if __name__ == "__main__":
    found = globals()[sys.argv[1]](*sys.argv[2:])
    held = found.pop("held", None)
    print(json.dumps({"uid": os.getuid(), **found}), flush=True)
    signal.pause()

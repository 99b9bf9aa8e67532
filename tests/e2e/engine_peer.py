# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A program with one queue pair that does what test_guest_host.py tells it, and can send
packets past the queue pair, from a socket that its engine was granted or from its own.

usage: engine_peer.py SOCKET KIND GID_INDEX, KIND rc or ud, perhaps @ and the slot to have, or none (no device). Takes lines of JSON on that socket, [method, argument...], and answers each."""
import ctypes
import fcntl
import json
import os
import random
import socket
import stat
import struct
import sys
import zlib

from cm_flood import gsi, req
from dripping import Dripping

QKEY = 0x11111111
# All members of a group; rdma_cm's Q_Key.
ALL, UDP_QKEY = 0xffffff, 0x01234567
BYTES = 1 << 20
SLOTS = 64
GRH = 40
IP_PKTINFO = 8
RC_SEND_ONLY, UD_SEND_ONLY = 0x04, 0x64
# engine/local/peer_ring.h
HEAD, STREAM, UNIT = 64 << 10, 512 << 10, 64


def packet(source, addr, sport, bth):
    """A RoCEv2 packet over IPv4 with its ICRC, IBTA annex 17."""
    n = 8 + len(bth) + 4
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0xff, 20 + n, 0, 0x4000, 0xff, 17, 0xffff,
                     socket.inet_aton(source), socket.inet_aton(addr))
    udp = struct.pack("!HHHH", sport, 4791, n, 0xffff)
    crc = zlib.crc32(b"\xff" * 8 + ip + udp + bth[:4] + b"\xff" + bth[5:])
    return bth + struct.pack("<I", crc)


def is_granted(fd):
    """Whether it is a socket for IPv4, bound to a port that devices grant."""
    if not stat.S_ISSOCK(os.fstat(fd).st_mode):
        return False
    s = socket.socket(fileno=os.dup(fd))
    with s:
        return (s.family == socket.AF_INET and s.type == socket.SOCK_DGRAM and
                0x8000 <= s.getsockname()[1] < 0xc000)


def gid(addr):
    return bytes(10) + b"\xff\xff" + socket.inet_aton(addr)


def record(at, addr, bth):
    """A message of one packet in a ring, there."""
    data = bth + bytes(4)
    head = struct.pack("<IIIIIHHBBBB16s16s", at | 1, len(data), 0, 0, 0, len(data), 0,
                       0, 0, 64, 2, gid(addr), gid(addr))
    return (head.ljust(UNIT, b"\0") + data).ljust(-(-(UNIT + len(data)) // UNIT) * UNIT,
                                                 b"\0")


class Stranger:
    """Without a device."""
    def __init__(self):
        self.sock, self.kept = None, []

    def rings(self):
        """Which of this program's descriptors are files of rings: name and access."""
        found = []
        for fd in map(int, os.listdir("/proc/self/fd")):
            try:
                name = os.readlink(f"/proc/self/fd/{fd}")
            except OSError:
                continue
            for what in "words", "packets":
                if name.startswith("/memfd:uroce-" + what):
                    found.append((what, fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE, fd))
        return found

    def keep(self):
        """Copies of the files that it writes."""
        self.kept = [os.dup(fd) for what, mode, fd in self.rings()
                     if what == "packets" and mode == os.O_RDWR]
        return len(self.kept)

    def can_write(self):
        """In how many ways it can write what others write to it."""
        ways = 0
        for what, mode, fd in self.rings():
            if what != "packets" or mode != os.O_RDONLY:
                continue
            for step in (lambda: os.pwrite(fd, b"x", 0),
                         lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDWR),
                         lambda: os.fchmod(fd, 0o666),
                         lambda: fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE),
                         lambda: os.ftruncate(fd, 0)):
                try:
                    step()
                    ways += 1
                except OSError:
                    pass
        for fd in self.kept:
            for size in 0, 1 << 30:
                try:
                    os.ftruncate(fd, size)
                    ways += 1
                except OSError:
                    pass
        return ways

    def put_in_rings(self, addr, bth):
        """Into those that were kept, behind what is there."""
        for fd in self.kept:
            at, = struct.unpack("<I", os.pread(fd, 4, 0))
            bytes_ = record(at, addr, bth)
            os.pwrite(fd, bytes(4), HEAD + (at + len(bytes_)) % STREAM)
            os.pwrite(fd, bytes_, HEAD + at % STREAM)
            os.pwrite(fd, struct.pack("<I", at + len(bytes_)), 0)

    def ring_datagram(self, addr, qpn, source_qpn, text):
        self.put_in_rings(addr, datagram(qpn, source_qpn, text))

    def ring_message(self, addr, qpn, psn, text):
        self.put_in_rings(addr, message(qpn, psn, text))

    def is_in_rings(self, text):
        """Whether it is in what others have written for this program."""
        with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
            for line in maps:
                if "uroce-packets" not in line:
                    continue
                start, end = (int(x, 16) for x in line.split()[0].split("-"))
                memory.seek(start)
                if text.encode() in memory.read(end - start):
                    return True
        return False

    def scribble(self, seed):
        """Anything, anywhere in the rings, and holes."""
        rng = random.Random(seed)
        for fd in self.kept:
            for _ in range(200):
                at = rng.choice([0, 0, 128, HEAD + UNIT * rng.randrange(STREAM // UNIT),
                                 rng.randrange(HEAD + 3 * STREAM)])
                os.pwrite(fd, rng.randbytes(rng.choice([4, 4, 64, 4096])), at)
                if rng.random() < 0.1:
                    punch(fd, rng.randrange(0, HEAD + STREAM, 4096), 65536)

    def own_port(self):
        """Packets leave from a port that nobody granted."""
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind(("0.0.0.0", 0))

    def granted_port(self):
        """They leave from the one that the engine of this program has; the program
        keeps a copy of the socket."""
        fd, = {os.fstat(int(fd)).st_ino: int(fd) for fd in os.listdir("/proc/self/fd")
               if os.path.exists("/proc/self/fd/" + fd) and is_granted(int(fd))}.values()
        self.sock = socket.socket(fileno=os.dup(fd))
        return self.sock.getsockname()[1]

    def can_bind(self, port):
        """How many ways there are to have that port, too."""
        had = 0
        for family, at in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"),
                           (socket.AF_INET6, "::1"), (socket.AF_INET6, "::")):
            s = socket.socket(family, socket.SOCK_DGRAM)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            try:
                s.bind((at, port))
                had += 1
            except OSError:
                pass
            s.close()
        return had

    def put(self, addr, bth, group=None):
        """Under that address, to the same one or to a group."""
        self.sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                             socket.inet_aton(addr))
        self.sock.sendmsg([packet(addr, group or addr, self.sock.getsockname()[1], bth)],
                          [(socket.IPPROTO_IP, IP_PKTINFO,
                            struct.pack("=i4s4s", 0, socket.inet_aton(addr), bytes(4)))],
                          0, (group or addr, 4791))

    def datagram(self, addr, qpn, source_qpn, text):
        self.put(addr, datagram(qpn, source_qpn, text))

    def to_group(self, addr, group, source_qpn):
        self.put(addr, struct.pack("!BBHIIII", UD_SEND_ONLY, 0, 0xffff, ALL, 0, UDP_QKEY,
                                   source_qpn) + bytes(100), group)

    def message(self, addr, qpn, psn, text):
        self.put(addr, message(qpn, psn, text))

    def ask_to_connect(self, addr, port, source_qpn):
        """A request of rdma_cm, from that queue pair."""
        bth = bytearray(gsi(0, req(socket.inet_aton(addr), socket.inet_aton(addr), port, 1)))
        bth[17:20] = source_qpn.to_bytes(3, "big")
        self.put(addr, bytes(bth))


def datagram(qpn, source_qpn, text):
    return struct.pack("!BBHIIII", UD_SEND_ONLY, 0, 0xffff, qpn, 0, QKEY,
                       source_qpn) + text.ljust(16).encode()


def message(qpn, psn, text):
    return (struct.pack("!BBHII", RC_SEND_ONLY, 0, 0xffff, qpn, psn) +
            text.ljust(16).encode())


def punch(fd, at, length):
    """fallocate(2), with FALLOC_FL_PUNCH_HOLE and FALLOC_FL_KEEP_SIZE."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.fallocate(fd, 3, ctypes.c_long(at), ctypes.c_long(length))


class Peer(Stranger, Dripping):
    def __init__(self, kind, index):
        import pyverbs.enums as e
        from pyverbs.mr import MR
        from pyverbs.qp import QPAttr
        super().__init__()
        kind, _, slot = kind.partition("@")
        self.e, self.kind, self.index = e, kind, index
        self.ah = None
        self.open()
        while slot and self.qp.qp_num >> 19 != int(slot):
            self.context.close()
            self.open()
        self.mr = MR(self.pd, 2 * BYTES, e.IBV_ACCESS_LOCAL_WRITE |
                     e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ)
        self.attr = QPAttr()
        self.attr.port_num, self.attr.qkey = 1, QKEY
        self.attr.qp_access_flags = (e.IBV_ACCESS_REMOTE_WRITE |
                                     e.IBV_ACCESS_REMOTE_READ)
        if kind == "ud":
            self.qp.to_rts(self.attr)
            self.receive()

    def numbers(self, count):
        """Of so many queue pairs, each of which ends before the next one: how many there are."""
        from pyverbs.qp import QP, QPCap, QPInitAttr
        seen = set()
        for _ in range(count):
            qp = QP(self.pd, QPInitAttr(qp_type=self.e.IBV_QPT_UD, scq=self.cq, rcq=self.cq,
                                        cap=QPCap(max_send_wr=1, max_recv_wr=1)))
            seen.add(qp.qp_num)
            qp.close()
        return len(seen)

    def open(self):
        from pyverbs.cq import CQ
        from pyverbs.device import Context
        from pyverbs.pd import PD
        from pyverbs.qp import QP, QPCap, QPInitAttr
        self.context = Context(name="uroce0")
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 2 * SLOTS)
        cap = QPCap(max_send_wr=SLOTS, max_recv_wr=SLOTS)
        self.qp = QP(self.pd, QPInitAttr(
            qp_type=self.e.IBV_QPT_RC if self.kind == "rc" else self.e.IBV_QPT_UD,
            scq=self.cq, rcq=self.cq, cap=cap))

    def about(self):
        return {"qpn": self.qp.qp_num, "rkey": self.mr.rkey, "addr": self.mr.buf}

    def way(self, gid):
        from pyverbs.addr import AHAttr, GID, GlobalRoute
        gr = GlobalRoute(dgid=GID(gid), sgid_index=self.index)
        return AHAttr(gr=gr, is_global=1, port_num=1)

    def connect(self, gid, qpn):
        """The first packet has PSN 0 both ways."""
        e, a = self.e, self.attr
        a.dest_qp_num, a.path_mtu, a.rq_psn, a.sq_psn = qpn, e.IBV_MTU_1024, 0, 0
        a.max_dest_rd_atomic = a.max_rd_atomic = 4
        a.min_rnr_timer, a.timeout, a.retry_cnt, a.rnr_retry = 12, 14, 7, 7
        a.ah_attr = self.way(gid)
        self.qp.to_rts(a)
        self.receive()

    def reach(self, gid):
        """From now on it has rings with the programs that are there."""
        from pyverbs.addr import AH
        AH(self.pd, attr=self.way(gid))

    def receive(self):
        from pyverbs.wr import SGE, RecvWR
        for i in range(SLOTS):
            sge = SGE(self.mr.buf + BYTES + 4096 * i, 4096, self.mr.lkey)
            self.qp.post_recv(RecvWR(wr_id=i, sg=[sge], num_sge=1))

    def next(self):
        while True:
            n, wcs = self.cq.poll(1)
            if n:
                assert wcs[0].status == self.e.IBV_WC_SUCCESS, wcs[0]
                return wcs[0]

    def post(self, opcode, length, gid=None, qpn=0, remote=None):
        from pyverbs.addr import AH
        from pyverbs.wr import SGE, SendWR
        sge = SGE(self.mr.buf, length, self.mr.lkey)
        wr = SendWR(wr_id=SLOTS, opcode=opcode, sg=[sge], num_sge=1)
        if gid:
            self.ah = AH(self.pd, attr=self.way(gid))
            wr.set_wr_ud(self.ah, qpn, QKEY)
        if remote:
            wr.set_wr_rdma(*remote)
        self.qp.post_send(wr)

    def send(self, text, gid=None, qpn=0):
        self.mr.write(text.ljust(16), 16)
        self.post(self.e.IBV_WR_SEND, 16, gid, qpn)
        assert self.next().wr_id == SLOTS

    def texts_to(self, last):
        """What has come up to the message with that text."""
        texts, skip = [], GRH if self.kind == "ud" else 0
        while last not in texts:
            at = BYTES + 4096 * self.next().wr_id
            texts.append(self.mr.read(16, at + skip).decode().strip())
        return texts

    def texts_now(self):
        """What has come: a poll in vain takes in what there is."""
        texts = []
        for _ in range(1000):
            n, wcs = self.cq.poll(1)
            for wc in wcs[:n]:
                assert wc.status == self.e.IBV_WC_SUCCESS, wc
                texts.append(self.mr.read(16, BYTES + 4096 * wc.wr_id).decode().strip())
        return texts

    def send_in_vain(self, text):
        """Until nobody has answered often enough."""
        self.mr.write(text.ljust(16), 16)
        self.post(self.e.IBV_WR_SEND, 16)
        while not (got := self.cq.poll(1))[0]:
            pass
        assert got[1][0].status == self.e.IBV_WC_RETRY_EXC_ERR, got[1][0]

    def fill(self, seed):
        self.mr.write(pattern(seed), BYTES)

    def is_filled(self, seed):
        return self.mr.read(BYTES, 0) == pattern(seed)

    def begin_write(self, rkey, addr):
        self.post(self.e.IBV_WR_RDMA_WRITE, BYTES, remote=(rkey, addr))

    def finish(self):
        assert self.next().wr_id == SLOTS

    def write(self, rkey, addr):
        self.begin_write(rkey, addr)
        self.finish()

    def flood(self, count, gid, qpn):
        """Datagrams as long as they may be."""
        for _ in range(count): # the handle of the last one ends after its completion
            self.post(self.e.IBV_WR_SEND, 1024, gid, qpn)
            self.finish()

    def read(self, rkey, addr):
        self.post(self.e.IBV_WR_RDMA_READ, BYTES, remote=(rkey, addr))
        assert self.next().wr_id == SLOTS

    def close(self):
        self.context.close()


def pattern(seed):
    block = bytes((seed + 7 * i) % 251 for i in range(251 * 16))
    return (block * (BYTES // len(block) + 1))[:BYTES]


def main():
    path, kind, index = sys.argv[1:]
    peer = Stranger() if kind == "none" else Peer(kind, int(index))
    server = socket.socket(socket.AF_UNIX)
    server.bind(path + ".new")
    os.chmod(path + ".new", 0o666)
    server.listen()
    os.rename(path + ".new", path)
    lines = server.accept()[0].makefile("rw")
    for line in lines:
        method, *args = json.loads(line)
        lines.write(json.dumps(getattr(peer, method)(*args)) + "\n")
        lines.flush()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""usage: ucma_abi.py ADDR4 ADDR6
Commands written to /dev/infiniband/rdma_cm by hand: sizes, refusals, events
and numbers that librdmacm never makes. Run with the device present."""
import ctypes
import errno
import os
import select
import socket
import struct
import sys

(CREATE, DESTROY, BIND_IP, RESOLVE_IP, RESOLVE_ROUTE, QUERY_ROUTE, CONNECT,
 LISTEN, ACCEPT, REJECT, DISCONNECT, INIT_QP_ATTR, GET_EVENT, GET_OPTION,
 SET_OPTION, NOTIFY, JOIN_IP, LEAVE, MIGRATE, QUERY, BIND, RESOLVE_ADDR,
 JOIN, RESOLVE_IB_SERVICE, WRITE_CM_EVENT) = range(25)
PS_IB, PS_TCP, PS_UDP = 0x13f, 0x106, 0x111
ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT_REQUEST = 0, 2, 4
REJECTED, MULTICAST_JOIN = 8, 12
USER, INTERNAL = 18, 19
ADDR4, ADDR6 = sys.argv[1:3]


def check(cond, what):
    if not cond:
        sys.exit(f"failed: {what}")


class File:
    def __init__(self):
        self.fd = os.open("/dev/infiniband/rdma_cm", os.O_RDWR)

    def command(self, cmd, body, out=0, in_len=None):
        """errno, 0 when good"""
        data = struct.pack("=IHH", cmd, len(body) if in_len is None else in_len,
                           out) + body
        try:
            n = os.write(self.fd, data)
        except OSError as e:
            return e.errno
        check(n == len(data), f"command {cmd} took {n} of {len(data)}")
        return 0

    def ask(self, cmd, body, out):
        """(errno, response); body is what follows the response pointer"""
        buf = ctypes.create_string_buffer(out)
        err = self.command(cmd, struct.pack("=Q", ctypes.addressof(buf)) + body,
                           out)
        return err, buf.raw

    def create(self, ps=PS_TCP, uid=77, qp_type=2):
        buf = ctypes.create_string_buffer(4)
        err = self.command(CREATE, struct.pack(
            "=QQHB5x", uid, ctypes.addressof(buf), ps, qp_type), 4)
        check(err == 0, f"create: {os.strerror(err)}")
        return struct.unpack("=I", buf.raw)[0]

    def destroy(self, ident):
        err, out = self.ask(DESTROY, struct.pack("=II", ident, 0), 4)
        return err or struct.unpack("=I", out)[0]

    def event(self, size=336):
        """(uid, id, event, status), or errno"""
        err, out = self.ask(GET_EVENT, b"", size)
        return err or struct.unpack_from("=QIIi", out)

    def readable(self):
        return bool(select.select([self.fd], [], [], 0)[0])


def sin(addr, port):
    return struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + \
        socket.inet_aton(addr) + bytes(8)


def sin6(addr, port):
    return struct.pack("=H", socket.AF_INET6) + struct.pack(">HI", port, 0) + \
        socket.inet_pton(socket.AF_INET6, addr) + bytes(4)


def bind(f, ident, sa):
    return f.command(BIND, struct.pack("=IHH", ident, len(sa), 0) +
                     sa.ljust(128, b"\0"))


def bind_ip(f, ident, sa):
    return f.command(BIND_IP, bytes(8) + sa.ljust(28, b"\0") +
                     struct.pack("=I", ident) + bytes(0))


def resolve(f, ident, dst, src=b""):
    return f.command(RESOLVE_ADDR, struct.pack(
        "=IIHHI", ident, 1000, len(src), len(dst), 0) +
        src.ljust(128, b"\0") + dst.ljust(128, b"\0"))


def set_option(f, ident, level, name, value):
    buf = ctypes.create_string_buffer(value, len(value))
    return f.command(SET_OPTION, struct.pack(
        "=QIIII", ctypes.addressof(buf), ident, level, name, len(value)))


def query(f, ident, option, size):
    return f.ask(QUERY, struct.pack("=II", ident, option), size)


def test_form():
    f = File()
    check(f.command(99, b"") == errno.EINVAL, "unknown command")
    check(f.command(25, bytes(512)) == errno.EINVAL,
          "commands of later kernels")
    check(f.command(GET_OPTION, bytes(64)) == errno.ENOSYS, "GET_OPTION")
    check(f.command(LISTEN, b"", in_len=8) == errno.EINVAL, "in > written")
    check(f.command(LISTEN, b"\0" * 4) == errno.EINVAL, "short request")
    buf = ctypes.create_string_buffer(4)
    body = struct.pack("=QQHB5x", 1, ctypes.addressof(buf), PS_TCP, 2)
    check(f.command(CREATE, body, 0) == errno.ENOSPC, "no room for response")
    check(f.command(CREATE, struct.pack("=QQHB5x", 1, 8, PS_TCP, 2), 4) ==
          errno.EFAULT, "bad response pointer")
    check(f.command(CREATE, struct.pack(
        "=QQHB5x", 1, ctypes.addressof(buf), 0x999, 2), 4) == errno.EINVAL,
        "port space")
    try:
        os.write(f.fd, b"abc")
        check(False, "short header")
    except OSError as e:
        check(e.errno == errno.EINVAL, "short header")
    for cmd, body in ((LISTEN, struct.pack("=II", 60000, 1)),
                      (RESOLVE_ROUTE, struct.pack("=II", 60000, 1)),
                      (DISCONNECT, struct.pack("=I", 60000)),
                      (NOTIFY, struct.pack("=II", 1 << 31, 4))):
        check(f.command(cmd, body) == errno.EINVAL, f"no such id: {cmd}")
    os.close(f.fd)


def test_ids():
    """Unique over all files of the process, lowest first, each its file's."""
    f, g = File(), File()
    a, b, c = f.create(), g.create(), f.create()
    check(len({a, b, c}) == 3 and max(a, b, c) < 65536, "ids are unique")
    check(f.destroy(b) == errno.EINVAL, "another file's id")
    check(f.destroy(a) == 0, "destroy")
    check(f.destroy(a) == errno.EINVAL, "destroy twice")
    check(f.create() == a, "the lowest free number")
    os.close(f.fd)
    os.close(g.fd)


def test_events():
    f = File()
    check(not f.readable(), "nothing to read yet")
    os.set_blocking(f.fd, False)
    check(f.event() == errno.EAGAIN, "GET_EVENT on an empty file")
    check(f.event(100) == errno.ENOSPC, "refused before it waits")
    ident = f.create(uid=4711)
    check(resolve(f, ident, sin(ADDR4, 5000)) == 0, "resolve")
    check(f.readable(), "poll sees the event")
    check(f.event(100) == errno.ENOSPC, "a response too small")
    err = f.command(GET_EVENT, struct.pack("=Q", 8), 336)
    check(err == errno.EFAULT, "a bad response pointer")
    check(f.readable(), "the event is still there")
    check(f.event(328) == (4711, ident, ADDR_RESOLVED, 0),
          "the event, in the form before ECE")
    check(not f.readable(), "taken")
    check(f.command(RESOLVE_ROUTE, struct.pack("=II", ident, 1000)) == 0,
          "route")
    check(f.readable(), "route resolved")
    check(f.destroy(ident) == 1, "events reported: those taken")
    check(not f.readable(), "the other went with the id")
    check(f.event() == errno.EAGAIN, "no event")
    os.close(f.fd)


def test_many_events():
    """More than a socket buffer has datagrams."""
    f = File()
    os.set_blocking(f.fd, False)
    ids = [f.create(uid=n + 1) for n in range(1000)]
    for ident in ids:
        check(resolve(f, ident, sin(ADDR4, 5000)) == 0, "resolve")
    for n, ident in enumerate(ids):
        check(f.event() == (n + 1, ident, ADDR_RESOLVED, 0), f"event {n}")
    check(f.event() == errno.EAGAIN, "no more")
    os.close(f.fd)


def write_event(f, ident, event=USER, status=-5, arg=1 << 40 | 9):
    return f.command(WRITE_CM_EVENT, struct.pack(
        "=IIIiQ", ident, 0, event, status, arg).ljust(344, b"\0"))


def test_events_of_programs():
    """What a program writes comes to whoever reads the channel, in its turn."""
    f = File()
    os.set_blocking(f.fd, False)
    ident = f.create(uid=4711)
    check(write_event(f, ident) == 0, "write")
    check(f.readable(), "poll sees it")
    check(resolve(f, ident, sin(ADDR4, 5000)) == 0, "resolve")
    check(write_event(f, ident, INTERNAL, 0) == 0, "librdmacm's own")
    err, out = f.ask(GET_EVENT, b"", 336)
    check(err == 0 and struct.unpack_from("=QIIiQ", out) ==
          (4711, ident, USER, -5, 1 << 40 | 9), "first, with its argument")
    check(f.event() == (4711, ident, ADDR_RESOLVED, 0), "the device's")
    check(f.event() == (4711, ident, INTERNAL, 0), "the last")
    for event in ADDR_RESOLVED, CONNECT_REQUEST, 16, 17, 20, 1 << 31:
        check(write_event(f, ident, event) == errno.EINVAL,
              f"event {event} is not a program's to write")
    check(write_event(f, 60000) == errno.EINVAL, "no such id")
    check(f.command(WRITE_CM_EVENT, struct.pack("=IIIi", ident, 0, USER, 0))
          == errno.EINVAL, "short")
    check(not f.readable(), "no other came")
    for n in range(3000):
        check(write_event(f, ident, arg=n) == 0, "more than a socket holds")
    for n in range(1000):
        check(f.event() == (4711, ident, USER, -5), "each")
    check(f.destroy(ident) == 1003, "events reported: those taken")
    check(not f.readable(), "the others went with the id")
    os.close(f.fd)


def test_ib_service():
    """A RoCE port has no subnet manager to ask."""
    f = File()
    ident = f.create()
    ask = struct.pack("=IIQ64sII", ident, 0, 0, b"name", 2, 0)
    check(f.command(RESOLVE_IB_SERVICE, ask) == errno.EINVAL, "not bound")
    check(bind(f, ident, sin(ADDR4, 0)) == 0, "bind")
    check(f.command(RESOLVE_IB_SERVICE, ask) == errno.EOPNOTSUPP, "bound")
    check(f.command(RESOLVE_IB_SERVICE, ask[:-4]) == errno.EINVAL, "short")
    check(query(f, ident, 3, 280)[0] == errno.ENOSYS, "and no answer")
    os.close(f.fd)


def test_ports():
    f = File()
    a, b, c, d = (f.create() for _ in range(4))
    check(bind(f, a, sin(ADDR4, 5001)) == 0, "bind")
    check(bind(f, a, sin(ADDR4, 5001)) == errno.EINVAL, "bind twice")
    check(bind(f, b, sin(ADDR4, 5001)) == errno.EADDRINUSE, "port taken")
    check(bind(f, b, sin("0.0.0.0", 5001)) == errno.EADDRNOTAVAIL, "wildcard")
    check(bind(f, b, sin6("::", 5001)) == errno.EADDRNOTAVAIL, "both families")
    check(bind(f, b, sin6(ADDR6, 5001)) == 0, "another address")
    u = f.create(ps=PS_UDP)
    check(bind(f, u, sin(ADDR4, 5001)) == 0, "another port space")
    check(bind(f, c, sin("192.0.2.1", 0)) == errno.EADDRNOTAVAIL,
          "not of this host")
    check(bind(f, c, struct.pack("=H", 99) + bytes(14)) == errno.EINVAL,
          "unknown family")
    check(bind(f, c, sin(ADDR4, 0)) == 0, "any port")
    err, out = query(f, c, 0, 280)
    port = struct.unpack_from(">H", out, 16 + 2)[0]
    check(err == 0 and 32768 <= port <= 60999, f"ephemeral port {port}")
    check(f.command(LISTEN, struct.pack("=II", d, 0)) == 0,
          "listen without bind")
    check(bind_ip(f, f.create(), sin(ADDR4, 5002)) in (0, errno.EINVAL),
          "legacy bind")
    # Reuse, until somebody listens.
    r, s = f.create(), f.create()
    for ident in r, s:
        check(set_option(f, ident, 0, 1, struct.pack("=i", 1)) == 0, "option")
        check(bind(f, ident, sin(ADDR4, 5003)) == 0, "reuse")
    check(f.command(LISTEN, struct.pack("=II", r, 0)) == errno.EADDRINUSE,
          "listen on a shared port")
    f.destroy(s)
    check(f.command(LISTEN, struct.pack("=II", r, 0)) == 0, "now alone")
    os.close(f.fd)
    # All is free again, as soon as close() has returned.
    for _ in range(20):
        f = File()
        check(bind(f, f.create(), sin(ADDR4, 5001)) == 0, "bind after close")
        os.close(f.fd)


def test_ib_addresses():
    """What librdmacm tries at its start, and no further."""
    f = File()
    ident = f.create(ps=PS_IB)
    sib = struct.pack("=HHI16s", 27, 0, 0, bytes(16)) + \
        struct.pack(">QQ", PS_TCP << 16, 0xffffffffffff0000) + bytes(8)
    check(bind(f, ident, sib) == 0, "AF_IB wildcard")
    check(bind(f, f.create(ps=PS_UDP), sib) == errno.EPROTONOSUPPORT,
          "AF_IB of another port space")
    dst = bytearray(sib)
    dst[8:24] = socket.inet_pton(socket.AF_INET6, "::ffff:" + ADDR4)
    check(resolve(f, ident, bytes(dst)) == errno.ENODEV, "AF_IB on Ethernet")
    os.close(f.fd)


def test_options():
    f = File()
    ident = f.create()
    check(set_option(f, ident, 0, 0, b"\x20") == 0, "TOS")
    check(set_option(f, ident, 0, 0, b"\x20\0\0\0") == errno.EINVAL,
          "TOS is one byte")
    check(set_option(f, ident, 0, 3, b"\x0e") == 0, "ACK timeout")
    check(set_option(f, ident, 0, 3, b"\x20") == errno.EINVAL, "of five bits")
    check(set_option(f, f.create(ps=PS_UDP), 0, 3, b"\x0e") == errno.EINVAL,
          "of connections")
    check(set_option(f, ident, 0, 9, b"\0") == errno.ENOSYS, "no option")
    check(set_option(f, ident, 5, 0, b"\0") == errno.ENOSYS, "no level")
    check(set_option(f, ident, 1, 1, bytes(72)) == errno.EINVAL,
          "a path before the address")
    check(set_option(f, ident, 0, 0, bytes(4000)) == errno.EINVAL, "too long")
    os.close(f.fd)


def test_query():
    f = File()
    ident = f.create()
    check(query(f, ident, 0, 280)[0] == 0, "addresses of nothing")
    check(query(f, ident, 0, 100)[0] == errno.ENOSPC, "no room")
    check(query(f, ident, 7, 280)[0] == errno.ENOSYS, "unknown form")
    check(resolve(f, ident, sin6(ADDR6, 5000)) == 0, "resolve")
    check(f.event()[2] == ADDR_RESOLVED, "resolved")
    err, out = query(f, ident, 0, 280)
    check(struct.unpack_from("=H", out, 16)[0] == socket.AF_INET6 and
          out[8] == 1 and any(out[:8]), "address, port and GUID")
    check(struct.unpack_from("=I", query(f, ident, 1, 8)[1])[0] == 0,
          "no path yet")
    check(f.command(RESOLVE_ROUTE, struct.pack("=II", ident, 1000)) == 0, "ok")
    check(f.event()[2] == ROUTE_RESOLVED, "route")
    err, out = query(f, ident, 1, 80)
    check(struct.unpack_from("=II", out, 0)[0] == 1, "one path")
    rec = out[16:]
    check(rec[8:24] == socket.inet_pton(socket.AF_INET6, ADDR6), "its DGID")
    check(query(f, ident, 1, 8)[0] == 0, "only their number")
    err, out = query(f, ident, 2, 280)
    check(err == 0 and struct.unpack_from("=H", out, 16)[0] == 27, "GIDs")
    err, out = f.ask(QUERY_ROUTE, struct.pack("=II", ident, 0), 208)
    check(err == 0 and struct.unpack_from("=I", out, 192)[0] == 1, "legacy")
    check(f.command(CONNECT, bytes(296)) == errno.EINVAL, "invalid parameters")
    os.close(f.fd)


def test_connect_nobody():
    f = File()
    ident = f.create()
    check(resolve(f, ident, sin(ADDR4, 5999)) == 0, "resolve")
    f.event()
    check(f.command(CONNECT, conn_param(ident)) == errno.EINVAL, "no route yet")
    f.command(RESOLVE_ROUTE, struct.pack("=II", ident, 1000))
    f.event()
    check(f.command(CONNECT, conn_param(ident, private=57)) == errno.EINVAL,
          "too much private data")
    check(f.command(CONNECT, conn_param(ident)) == 0, "connect")
    check(f.command(CONNECT, conn_param(ident)) == errno.EINVAL, "twice")
    check(f.event() == (77, ident, REJECTED, 8), "nobody listens")
    os.close(f.fd)


def conn_param(ident, private=0, qpn=5):
    param = struct.pack("=II256sBBBBBBBB", qpn, 0, b"p" * private, private, 0,
                        1, 1, 0, 7, 7, 1)
    return param + struct.pack("=II", ident, 0) + bytes(8)


def connect(f, uid, port, qpn=5):
    ident = f.create(uid=uid)
    check(resolve(f, ident, sin(ADDR4, port)) == 0, "resolve")
    f.event()
    f.command(RESOLVE_ROUTE, struct.pack("=II", ident, 1000))
    f.event()
    check(f.command(CONNECT, conn_param(ident, qpn=qpn)) == 0, "connect")
    return ident


def test_backlog_and_close():
    """Requests nobody takes go with the listener; migrate one taken."""
    f, g, h = File(), File(), File()
    listener = f.create(uid=1)
    bind(f, listener, sin(ADDR4, 5100))
    check(f.command(LISTEN, struct.pack("=II", listener, 2)) == 0, "listen")
    clients = [connect(g, 100 + n, 5100, 5 + n) for n in range(2)]
    select.select([f.fd], [], [], 5)
    uid, child, kind, status = f.event()
    check((uid, kind, status) == (1, CONNECT_REQUEST, 0), "request")
    err, out = h.ask(MIGRATE, struct.pack("=II", child, f.fd), 4)
    check(err == 0, "migrate")
    check(f.destroy(child) == errno.EINVAL, "it has moved")
    check(h.ask(MIGRATE, struct.pack("=II", child, 9999), 4)[0] in
          (errno.ENOENT, errno.EBADF), "no such file")
    reject = struct.pack("=IBBBB256s", child, 3, 0, 0, 0, b"bye")
    check(h.command(REJECT, struct.pack("=IBBBB256s", child, 0, 5, 0, 0, b""))
          == errno.EINVAL, "a reason that is not for us")
    check(h.command(REJECT, reject) == 0, "reject")
    check(g.event() == (100, clients[0], REJECTED, 28), "rejected")
    select.select([f.fd], [], [], 5)
    os.close(f.fd)
    check(g.event() == (101, clients[1], REJECTED, 28), "listener closed")
    os.close(g.fd)
    os.close(h.fd)


def test_request_not_taken():
    """Before its event is taken no command finds the id of a request, by a
    number guessed; it moves with its listener."""
    f, g, h = File(), File(), File()
    listener = f.create(uid=1)
    bind(f, listener, sin(ADDR4, 5101))
    check(f.command(LISTEN, struct.pack("=II", listener, 2)) == 0, "listen")
    client = connect(g, 100, 5101)
    select.select([f.fd], [], [], 5)
    check(f.readable(), "the request is there")
    guesses = [n for n in range(64) if n != listener]
    for guess in guesses:
        check(query(f, guess, 0, 280)[0], f"query {guess}")
        check(h.ask(MIGRATE, struct.pack("=II", guess, f.fd), 4)[0],
              f"migrate {guess}")
        check(f.ask(DESTROY, struct.pack("=II", guess, 0), 4)[0],
              f"destroy {guess}")
    check(h.ask(MIGRATE, struct.pack("=II", listener, f.fd), 4)[0] == 0,
          "migrate the listener")
    os.close(f.fd)
    uid, child, kind, status = h.event()
    check((uid, kind, status) == (1, CONNECT_REQUEST, 0), "request")
    check(child in guesses, "its number was one of those")
    check(query(h, child, 0, 280)[0] == 0, "told: query")
    check(h.destroy(child) == 0, "told: destroy")
    check(g.event() == (100, client, REJECTED, 28), "rejected")
    os.close(h.fd)
    os.close(g.fd)


def test_multicast():
    f = File()
    ident = f.create(ps=PS_UDP, uid=9)
    group = sin("239.8.8.8", 0)
    buf = ctypes.create_string_buffer(4)

    def join(sa, flags=0, where=ident):
        return f.command(JOIN, struct.pack(
            "=QQIHH", ctypes.addressof(buf), 55, where, len(sa), flags) +
            sa.ljust(128, b"\0"), 4)
    check(join(group) == errno.EINVAL, "not bound")
    check(bind(f, ident, sin(ADDR4, 0)) == 0, "bind")
    check(join(sin(ADDR4, 0)) == errno.EINVAL, "no group")
    check(join(group, 7) == errno.EINVAL, "flags")
    check(join(group) == 0, "join")
    mc = struct.unpack("=I", buf.raw)[0]
    check(f.event() == (55, mc, MULTICAST_JOIN, 0), "joined")
    err, out = f.ask(LEAVE, struct.pack("=II", mc, 0), 4)
    check(err == 0 and struct.unpack("=I", out)[0] == 1, "leave")
    check(f.ask(LEAVE, struct.pack("=II", mc, 0), 4)[0] == errno.ENOENT,
          "leave twice")
    check(join(group) == 0, "join again, and die with it")
    os.close(f.fd)


def main():
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name, "ok")


if __name__ == "__main__":
    main()

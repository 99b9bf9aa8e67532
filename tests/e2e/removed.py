# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""usage: removed.py DEVICE ADDRESS
Opens the device and rdma_cm ids on ADDRESS, says "open", waits for the device
to be taken away, and checks what a program sees then. Run with the device
present."""
import ctypes
import errno
import os
import select
import socket
import struct
import sys

from pyverbs.device import Context
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.pd import PD

CREATE, DESTROY, LISTEN, GET_EVENT, QUERY, BIND = 0, 1, 7, 12, 19, 20
PS_TCP = 0x106
DEVICE_FATAL, DEVICE_REMOVAL, GID_CHANGE = 8, 11, 18
DEVICE, ADDRESS = sys.argv[1:]


def check(cond, what):
    if not cond:
        sys.exit(f"failed: {what}")


class Cm:
    """An open rdma_cm file."""

    def __init__(self):
        self.fd = os.open("/dev/infiniband/rdma_cm", os.O_RDWR)

    def ask(self, cmd, body, out):
        """(errno, response); body is what follows the response pointer"""
        buf = ctypes.create_string_buffer(out)
        err = self.tell(cmd, struct.pack("=Q", ctypes.addressof(buf)) + body,
                        out)
        return err, buf.raw

    def tell(self, cmd, body, out=0):
        try:
            os.write(self.fd, struct.pack("=IHH", cmd, len(body), out) + body)
        except OSError as e:
            return e.errno
        return 0

    def create(self, uid):
        buf = ctypes.create_string_buffer(4)
        check(not self.tell(CREATE, struct.pack(
            "=QQHB5x", uid, ctypes.addressof(buf), PS_TCP, 2), 4), "create")
        return struct.unpack("=I", buf.raw)[0]

    def bind(self, ident, address, port):
        sa = struct.pack("=HH4s8x", socket.AF_INET, socket.htons(port),
                         socket.inet_aton(address))
        return self.tell(BIND, struct.pack("=IHH", ident, 16, 0) +
                         sa.ljust(128, b"\0"))

    def listen(self, ident):
        return self.tell(LISTEN, struct.pack("=II", ident, 8))

    def event(self):
        """(uid, id, event), or None where there is none"""
        if not select.select([self.fd], [], [], 0)[0]:
            return None
        err, out = self.ask(GET_EVENT, b"", 324)
        check(not err, "get_event")
        return struct.unpack_from("=QII", out)


def errno_of(what):
    try:
        what()
    except PyverbsRDMAError as e:
        return e.error_code
    return 0


ctx = Context(name=DEVICE)
pd = PD(ctx)
cm = Cm()
bound, heard, anywhere, free = (cm.create(uid) for uid in (1, 2, 3, 4))
check(not cm.bind(bound, ADDRESS, 0), "bind")
check(not cm.bind(heard, ADDRESS, 7001), "bind 7001")
check(not cm.bind(anywhere, "0.0.0.0", 7002), "bind anywhere")
check(not cm.listen(heard) and not cm.listen(anywhere), "listen")
print("open", flush=True)

# A blocking read, as programs have it. An address that the kernel has tried only
# now, the interface's own by IPv6, is told first.
event = GID_CHANGE
while event == GID_CHANGE:
    event = ctx.get_async_event().event_type
check(event == DEVICE_FATAL, f"DEVICE_FATAL: {event}")
check(errno_of(lambda: ctx.query_port(1)) == errno.EIO, "query_port: EIO")
check(errno_of(ctx.query_device) == errno.EIO, "query_device: EIO")
check(errno_of(lambda: PD(ctx)) == errno.EIO, "alloc_pd: EIO")
check(errno_of(pd.close) == errno.EIO, "dealloc_pd: EIO")
check(errno_of(ctx.get_async_event), "no second event")

# Those on the device hear of it, once, and are of no more use.
events = {cm.event(), cm.event()}
check(events == {(1, bound, DEVICE_REMOVAL), (2, heard, DEVICE_REMOVAL)},
      f"events {events}")
check(cm.event() is None, "one event each")
for ident in bound, heard:
    check(cm.listen(ident) == errno.EIO, "listen: EIO")
    check(cm.ask(QUERY, struct.pack("=II", ident, 0), 512)[0] == errno.EIO,
          "query: EIO")
    err, out = cm.ask(DESTROY, struct.pack("=II", ident, 0), 4)
    check(not err and struct.unpack("=I", out)[0] == 1, "destroy")
# The others are: the port is free again, the wildcard listens on.
check(cm.bind(free, "0.0.0.0", 7001) == 0, "the port is free")
check(cm.bind(cm.create(5), "0.0.0.0", 7002) == errno.EADDRNOTAVAIL,
      "7002")
print("seen", flush=True)
# pyverbs closes what it has left, and complains.
os._exit(0)

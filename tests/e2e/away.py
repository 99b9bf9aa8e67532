# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs that use the device of a host and are in a network namespace without any interface but lo,
as a container may be."""
import ctypes
import re
import socket
import struct
import threading

from hosts import sh

NEWNET = 0x40000000
WORDS = re.compile(b"(?:good|evil) [0-9]+")


def socket_in(name, *kind):
    """A socket of that network namespace: of TCP, or of that kind."""
    made = []

    def make():
        with open(f"/var/run/netns/{name}") as f:
            assert ctypes.CDLL(None, use_errno=True).setns(f.fileno(), NEWNET) == 0
        made.append(socket.socket(*kind))
    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    return made[0]


def copy(source, to):
    try:
        while data := source.recv(65536):
            to.sendall(data)
    except OSError:
        pass
    for s, how in (source, socket.SHUT_RD), (to, socket.SHUT_WR):
        try:
            s.shutdown(how)
        except OSError:
            pass


class Away:
    """The host, but that its programs are started elsewhere. What they connect to is, by a pump of ours, on the host
    to, or where they are."""

    def __init__(self, host, to=None, by=()):
        self.host, self.to = host, to
        self.net = f"{host.name}-away"
        if self.net not in host.lab.namespaces:
            sh("ip", "netns", "add", self.net)
            host.lab.namespaces.append(self.net)
            for line in ("link set lo up", *(f"addr add 10.77.0.{n}/32 dev lo" for n in (1, 2))):
                sh("ip", "-n", self.net, *line.split())
        self.by = ["ip", "netns", "exec", self.net, *by, "env", "UROCE_ENGINE=process"]

    def __getattr__(self, name):
        return getattr(self.host, name)

    def start(self, *cmd, **kw):
        if self.to:
            self.pump(self.lab.port)
        return self.host.start(*self.by, *cmd, **kw)

    def pump(self, port):
        """Takes one connection there to that port of the other host."""
        near, far = socket_in(self.net), socket_in(self.to.name)
        near.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        near.bind(("", port))
        near.listen()

        def run():
            with near, far:
                mine, _ = near.accept()
                with mine:
                    far.connect((self.to.addr4, port))
                    back = threading.Thread(target=copy, args=(far, mine), daemon=True)
                    back.start()
                    copy(mine, far)
                    back.join()
        threading.Thread(target=run, daemon=True).start()


class Listener:
    """All IPv4 datagrams to port 4791 on the interfaces of a host, lo among them."""

    def __init__(self, host):
        self.sock = socket_in(host.name, socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0003))
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.sock.setblocking(False)
        self.got = []

    def datagrams(self):
        """[(source port, what a packet of forge.c says)] so far: the kernel may have several in one."""
        try:
            while True:
                data = self.sock.recv(70000)
                at = 4 * (data[0] & 15)
                ports = struct.unpack("!HH", data[at:at + 4])
                if data[0] >> 4 == 4 and data[9] == socket.IPPROTO_UDP and ports[1] == 4791:
                    self.got += [(ports[0], text.decode()) for text in WORDS.findall(data)]
        except BlockingIOError:
            return self.got

    def close(self):
        self.sock.close()

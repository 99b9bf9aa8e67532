#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The part of uroced that the command line sees: ready, SYNC, STATUS, and an
end when unused. FAKE_ERROR in the environment: say it and give up."""
import array
import json
import os
import select
import socket
import struct
import sys
import time

MSG = struct.Struct("IIqQQQQQII64s")
SYNC, STATUS, HOLD, DONE = 5, 7, 10, 32

args = sys.argv[1:]
run_dir = args[args.index("--run-dir") + 1]
netdev = args[args.index("--netdev") + 1] if "--netdev" in args else "lo"
assert "--on-demand" in args
assert "LD_PRELOAD" not in os.environ
if os.environ.get("FAKE_ERROR"):
    print("uroced:", os.environ["FAKE_ERROR"], file=sys.stderr)
    sys.exit(1)
if os.path.exists(run_dir + "/busy"):
    left = int(open(run_dir + "/busy").read())
    if left:
        open(run_dir + "/busy", "w").write(str(left - 1))
        sys.exit(3)
with open(run_dir + "/started", "a") as f:
    print(os.getpid(), file=f)
time.sleep(0.2)  # widens the window for a second start
path = run_dir + "/uroced.sock"
if os.path.exists(path):
    os.unlink(path)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(path)
listener.listen()
os.write(int(args[args.index("--ready-fd") + 1]), b"ready\n")
os.close(int(args[args.index("--ready-fd") + 1]))
text = json.dumps({"devices": [{
    "name": "uroce0", "netdev": netdev, "state": "ACTIVE", "netdev_mtu": 1500,
    "active_mtu": 1024,
    "gids": [{"index": 0, "gid": "0000:0000:0000:0000:0000:ffff:0a00:0001",
              "type": "RoCE v2"}],
    "counters": {"tx_packets": 12345678901}}]}).encode()
conns, held = set(), set()
while True:
    ready = select.select([listener, *conns, *held], [], [],
                          None if conns or held else 2)[0]
    if not ready:
        break
    for s in ready:
        if s in held:
            held.remove(s)
            os.close(s)
            continue
        if s is listener:
            conns.add(listener.accept()[0])
            continue
        data = s.recv(MSG.size)
        if not data:
            conns.remove(s)
            s.close()
            continue
        op = MSG.unpack(data[:MSG.size])[0]
        if op not in (SYNC, STATUS, HOLD):
            # as one of an older release, one that dies, one that is started anew
            with open(run_dir + "/unknown") as f:
                what = f.read()
            if what == "restarts":
                r, w = os.pipe()
                if not os.fork():
                    for c in conns:
                        c.close()
                    os.unlink(path)
                    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                    listener.bind(path)
                    listener.listen()
                    with open(run_dir + "/started", "a") as f:
                        print(os.getpid(), file=f)
                    os.close(w)
                    conns = set()
                    break
                os.close(w)
                os.read(r, 1)
            if what != "older":
                os._exit(1)
            conns.remove(s)
            s.close()
            continue
        if op == HOLD:
            cred = s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            held.add(os.pidfd_open(struct.unpack("iII", cred)[0]))
        assert op in (SYNC, STATUS, HOLD)
        anc, size = [], 0
        if op == STATUS:
            fd = os.memfd_create("status")
            os.write(fd, text)
            size = len(text)
            anc = [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                    array.array("i", [fd]))]
        s.sendmsg([MSG.pack(DONE, 0, 0, 0, 0, size, 0, 0, len(anc), 0, b"")],
                  anc)
        if anc:
            os.close(fd)
os.unlink(path)

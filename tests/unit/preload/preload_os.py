# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What CPython's os module sees of the virtual files (see test_preload.c)."""
import errno
import fcntl
import glob
import os
import stat
import subprocess

NODE = "/dev/infiniband/uverbs0"
CA = "/sys/class/infiniband/uroce0"
RDEV = os.makedev(231, 192)

assert os.listdir("/sys/class/infiniband") == ["uroce0"]
assert {e.name for e in os.scandir("/dev/infiniband")} == {"uverbs0", "umad0", "rdma_cm"}
assert glob.glob("/sys/class/infiniband/*/ports/*") == [CA + "/ports/1"]
assert os.path.realpath(CA) == CA
assert open(CA + "/node_type").read() == "1: CA\n"
for st in os.stat(NODE), os.lstat(NODE):
    assert stat.S_ISCHR(st.st_mode) and st.st_rdev == RDEV
fd = os.open(NODE, os.O_RDWR)
assert os.fstat(fd).st_rdev == RDEV
try:
    fcntl.ioctl(fd, 8)
    raise AssertionError("refused")
except OSError as e:
    assert e.errno == errno.EOPNOTSUPP
value = bytearray(b"\1" + bytes(7))
fcntl.ioctl(fd, 1, value)
assert value[0] == 2
copy = os.dup(fd)
os.close(fd)
fcntl.ioctl(copy, 1, value)
assert value[0] == 3
# subprocess uses vfork() and closes descriptors in the child.
out = subprocess.run(["ls", "-lL", "/dev/infiniband"], text=True, check=True,
                     stdout=subprocess.PIPE).stdout
assert "231, 192" in out and "10,  58" in out, out
out = subprocess.run(["find", "/dev/infiniband", "-type", "c"], text=True,
                     check=True, stdout=subprocess.PIPE, env={}).stdout
fcntl.ioctl(copy, 1, value)
assert value[0] == 4
pid = os.fork()
if pid == 0:
    fcntl.ioctl(copy, 1, value)
    os._exit(0 if value[0] == 5 else 1)
assert os.waitpid(pid, 0)[1] == 0
os.close(copy)

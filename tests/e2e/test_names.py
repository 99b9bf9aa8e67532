# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Devices as programs look for them: by name, alone, and many at once."""
import os
import re
import signal

import pytest

from hosts import wait_for
from parts import has_part
from test_cli import NOBODY, uroce
from test_link import devices

REAL = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "real_device.sh")


def run(host, *args, wrap=(), status=0, run_dir="/own"):
    """uroce run of a device that is none of the fixture's."""
    p = host.bare(*wrap, host.lab.bin("uroce"), "run", "--run-dir",
                  host.lab.tmp + run_dir, *args)
    assert p.wait() == status, p.report()
    return p.text()


def test_name(lab):
    """Soft-RoCE's names too, though its driver is installed."""
    for host, name in (lab.a, "rxe_0"), (lab.b, "mlx5_0"):
        host.serve("--netdev", "eth0", "--name", name)
        assert devices(host) == [name]
        assert f"hca_id:\t{name}\n" in host.run("ibv_devinfo", "-d", name)
    for cmd in (["ibv_rc_pingpong", "-c", "-n", "100", "-g"],
                ["ib_write_bw", "-F", "-n", "100", "-x"]):
        port = str(lab.next_port())
        s = lab.a.start(*cmd, "0", "-d", "rxe_0", "-p", port)
        wait_for("the server", lambda: s.listens(int(port)))
        lab.b.run(*cmd, "0", "-d", "mlx5_0", "-p", port, lab.a.addr4)
        assert s.wait() == 0, s.report()


def test_run_name(lab):
    """Of a device that is started; one that runs has the name or is refused."""
    a = lab.a
    p = a.bare(lab.bin("uroce"), "run", "--run-dir", lab.tmp + "/own",
               "--netdev", "eth0", "--name", "mlx5_7", "--", "sleep", "1000")
    wait_for("the device", lambda: os.path.exists(
        lab.tmp + "/own/sys/class/infiniband/mlx5_7/node_guid"))
    assert "mlx5_7" in run(a, "--name", "mlx5_7", "--", "ibv_devices")
    out = run(a, "--name", "mlx5_0", "--", "true", status=125)
    assert "is called mlx5_7, not called mlx5_0" in out, out
    p.kill()
    for bad in "7x", "a/b", "n" * 32, "":
        out = run(a, "--netdev", "eth0", "--name", bad, "--", "true",
                  status=125, run_dir="/bad")
        assert ("cannot be the name of a device" in out or
                f"--name '{bad}': not a usable NAME" in out), out
    run(a, "--name", "a", "--name", "b", "--", "true", status=2)
    uroce(a, "link", "--name", "a", status=2)


def test_doctor(lab):
    """Under uroce run, too, only the host's devices are the kernel's."""
    for host, wrap, kernel in ((lab.a, (), []), (lab.b, [REAL], ["mlx5_0"])):
        out = run(host, "--netdev", "eth0", "--name", "rxe_0", "--",
                  lab.bin("uroce"), "doctor", "--run-dir",
                  f"{lab.tmp}/doctor{len(kernel)}", wrap=wrap,
                  run_dir=f"/doctor{len(kernel)}")
        assert re.findall("rxe_0 on eth0", out), out
        assert re.findall(r"the kernel has RDMA devices too: (.*)",
                          out) == kernel, out


LOOK = """
ls /sys/class/infiniband /sys/class/infiniband_verbs /dev/infiniband
cat /sys/class/infiniband/mlx5_0/device/modalias
cat /dev/infiniband/umad7 /sys/class/infiniband_mad/umad7/x
ls -d /dev/infiniband/* /sys/class/infiniband/*/node_guid
"""


def test_only(lab):
    """The host's device is there without --only, and not with it."""
    a = lab.a
    both = run(a, "--netdev", "eth0", "--", "sh", "-c", LOOK, wrap=[REAL],
               run_dir="/both")
    assert re.search(r"^mlx5_0$", both, re.M), both
    assert re.search(r"^uroce0$", both, re.M), both
    assert re.search(r"^uverbs192$", both, re.M), both
    assert bool(re.search(r"^umad32$", both, re.M)) == has_part(lab.build, "UMAD"), both
    assert "pci:v000015B3" in both and "\nreal\n" in both
    out = run(lab.b, "--netdev", "eth0", "--only", "--", "sh", "-c", LOOK,
              wrap=[REAL], run_dir="/only")
    assert re.search(r"^uverbs0$", out, re.M), out
    assert bool(re.search(r"^umad0$", out, re.M)) == has_part(lab.build, "UMAD"), out
    for real in "pci:v", "\nreal\n", "uverbs192", "/mlx5_0/node_guid\n":
        assert real not in out, out
    assert not re.search(r"^(mlx5_0|umad7)$", out, re.M), out
    for name in ("/sys/class/infiniband/mlx5_0/device/modalias",
                 "/dev/infiniband/umad7"):
        assert re.search(rf"{name}'?: No such file", out), out


PEERMEM = """
cat /sys/module/nvidia_peermem/version /sys/module/nv_peer_mem/version
cat /sys/kernel/mm/memory_peers/nv_mem/version
python3 -c "import glob; print(glob.glob('/sys/kernel/mm/memory_peers/nv_mem*/version'))"
ls -d /sys/module /sys/kernel/mm
"""


def test_only_peermem(lab):
    """Where the host's cards are hidden, or there are none, so is what says that they reach GPUs' memory,
    unless it is asked for."""
    both = run(lab.a, "--netdev", "eth0", "--", "sh", "-c", PEERMEM, wrap=[REAL],
               run_dir="/peer_both")
    assert both.count("580.1") == 3 and "/nv_mem/version']" in both, both
    out = run(lab.b, "--netdev", "eth0", "--only", "--", "sh", "-c", PEERMEM,
              wrap=[REAL], run_dir="/peer_only")
    for name in "both", "only":
        socket = f"{lab.tmp}/peer_{name}/uroced.sock"
        wait_for("the device to end", lambda: not os.path.exists(socket))
    assert out.count("No such file") == 3 and "\n[]\n" in out and "580" not in out, out
    assert "\n/sys/module\n" in out and "\n/sys/kernel/mm\n" in out, out
    lab.a.serve("--netdev", "eth0")  # before there was a card
    p = lab.a.bare(REAL, lab.bin("uroce"), "run", "--run-dir", lab.a.run_dir, "--",
                   "sh", "-c", PEERMEM)
    assert p.wait() == 0 and p.text().count("No such file") == 3, p.report()
    lab.b.serve("--netdev", "eth0", "--only", "--peermem")
    p = lab.b.bare(REAL, lab.bin("uroce"), "run", "--run-dir", lab.b.run_dir, "--",
                   "sh", "-c", PEERMEM)
    assert p.wait() == 0 and p.text().count("580.1") == 3, p.report()


def test_only_name(lab):
    """The name of the host's own device; a program on it."""
    a = lab.a
    out = run(a, "--netdev", "eth0", "--name", "mlx5_0", "--", "true",
              wrap=[REAL], run_dir="/taken", status=125)
    assert "another device is called mlx5_0" in out, out
    out = run(lab.b, "--netdev", "eth0", "--only", "--name", "mlx5_0", "--",
              "sh", "-c", "ibv_devices; ibv_rc_pingpong -c -d mlx5_0 -g 0 & "
              "until ibv_rc_pingpong -c -d mlx5_0 -g 0 localhost; do :; done;"
              " wait $!", wrap=[REAL])
    assert len(re.findall(r"^\s+\S+\s+[0-9a-f]{16}$", out, re.M)) == 1, out
    assert out.count("1000 iters in") == 2, out
    # One that shows them is not taken for one that does not.
    a.serve("--netdev", "eth0")
    p = a.bare(lab.bin("uroce"), "run", "--run-dir", a.run_dir, "--only",
               "--", "true")
    assert p.wait() == 125 and "without --only" in p.text(), p.report()


def eight(lab, wrap, home, run_dir):
    """Eight devices by name; each pair of neighbours reach each other."""
    os.chmod(lab.tmp, 0o777)
    out = run(lab.a, "--devices", "8", "--name", "mlx5_2", "--", "sh", "-c", """
        ibv_devices
        for i in 2 3 4 5 6 7 8; do
            ibv_rc_pingpong -c -g 0 -d mlx5_$i -n 50 -p $((19000 + i)) &
            until ibv_rc_pingpong -c -g 0 -d mlx5_$((i + 1)) -n 50 \
                -p $((19000 + i)) localhost; do :; done
            wait $! || exit 1
        done
        ip -br link; echo "$$ $(readlink /proc/self/ns/net)"
        """, wrap=wrap, run_dir=run_dir)
    names = re.findall(r"^\s+(\S+)\s+[0-9a-f]{16}$", out, re.M)
    assert sorted(names) == [f"mlx5_{i}" for i in range(2, 10)], out
    assert out.count("50 iters in") == 14, out
    # The network is the program's: the cable of the host, none of the devices'.
    assert "eth0" in out and "card0" not in out, out
    return out


def test_devices(lab):
    eight(lab, (), lab.tmp, "/root")
    # Between devices by address, through rdma_cm.
    out = run(lab.a, "--devices", "8", "--name", "mlx5_2", "--", "sh", "-c", """
        rping -s -a 198.18.3.1 -C 3 &
        until rping -c -a 198.18.3.1 -I 198.18.6.1 -C 3 -v; do :; done
        wait $!""", run_dir="/root")
    assert "rdma-ping-2" in out, out
    run(lab.a, "--devices", "17", "--", "true", status=2)
    run(lab.a, "--devices", "2", "--netdev", "eth0", "--", "true", status=2)
    run(lab.a, "--devices", "2", "--name", "x" * 40, "--", "true", status=2)


def test_devices_as_user(lab, user_namespaces):
    """With a user namespace; where none is left it says what it needs."""
    if os.stat(lab.build).st_mode & 0o5 != 0o5:
        pytest.skip("the build tree is not readable for others")
    eight(lab, NOBODY, lab.tmp, "/nobody")
    os.chmod(lab.tmp, 0o777)
    out = run(lab.a, "--devices", "2", "--", "true", run_dir="/none",
              status=125, wrap=(
                  "unshare", "-U", "--map-root-user", "sh", "-c",
                  'echo 0 >/proc/sys/user/max_user_namespaces; '
                  'echo 0 >/proc/sys/user/max_net_namespaces; exec "$@"', "-"))
    assert "--devices takes a network namespace" in out, out


def test_device_under_front_end(lab):
    """Who starts a device may have one: a CI job's step, a shell under uroce
    run. The new one has the real system."""
    lab.second_cable()
    lab.serve()
    other = ["--run-dir", lab.tmp + "/own", "--netdev", "eth1"]
    uroced, uroce_ = lab.bin("uroced"), lab.bin("uroce")
    p = lab.a.start("env", "LD_PRELOAD=libc.so.6", uroced, *other)
    wait_for("it", lambda: "ready" in p.text().split() or not p.running())
    with open(f"/proc/{p.pid}/environ") as f:
        preload = [v for v in f.read().split("\0") if "LD_PRELOAD=" in v]
    assert preload == ["LD_PRELOAD=libc.so.6"], preload
    with open(f"/proc/{p.pid}/comm") as f:
        assert f.read() == "uroced\n"
    assert "liburoce-preload" not in open(f"/proc/{p.pid}/maps").read()
    assert "10.78.0.1" in lab.a.run(uroce_, "link", *other[:2])
    p.kill(signal.SIGTERM)
    assert p.wait() == 0, p.report()
    # On demand.
    out = lab.a.run(uroce_, "run", *other, "--", "ibv_devinfo", "-v")
    assert "10.78.0.1, RoCE v2" in out, out

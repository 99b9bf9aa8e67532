# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""libibverbs' ping-pong programs, with the received data checked (-c)."""
import pytest

from pairs import run_pair

PROGRAMS = {
    "rc": ["ibv_rc_pingpong"],
    "uc": ["ibv_uc_pingpong"],
    "ud": ["ibv_ud_pingpong", "-s", "1024"],
    "srq": ["ibv_srq_pingpong", "-q", "4", "-n", "300"],
}


@pytest.mark.parametrize("family", [4, 6])
@pytest.mark.parametrize("mtu", [1500, 9000])
@pytest.mark.parametrize("program", PROGRAMS)
def test_default(labs, mtu, topology, family, program):
    s, c = run_pair(*topology(labs(mtu)), [*PROGRAMS[program], "-c"], family)
    for out in s, c:
        assert "bytes in" in out and "iters in" in out


@pytest.mark.parametrize("mtu", [1500])
@pytest.mark.parametrize("program", PROGRAMS)
def test_events(labs, mtu, topology, program):
    run_pair(*topology(labs(mtu)), [*PROGRAMS[program], "-e", "-c"])


SIZES = [(1, 200), (1025, 200), (65536, 100), (4194304, 8)]


@pytest.mark.parametrize("mtu", [1500, 9000])
@pytest.mark.parametrize("size,iters", SIZES)
@pytest.mark.parametrize("program", ["rc", "uc", "srq"])
def test_sizes(labs, mtu, topology, program, size, iters):
    # UC drops what its receiver has no buffer for; the programs post 500.
    run_pair(*topology(labs(mtu)),
             [*PROGRAMS[program][:1], "-s", str(size), "-n", str(iters), "-c",
              "-r", "20"] + (["-q", "2"] if program == "srq" else []))


@pytest.mark.parametrize("mtu,path", [(1500, 256), (1500, 512), (1500, 1024),
                                      (9000, 2048), (9000, 4096)])
@pytest.mark.parametrize("program", ["rc", "uc"])
def test_path_mtu(labs, mtu, path, topology, program):
    run_pair(*topology(labs(mtu)),
             [*PROGRAMS[program], "-m", str(path), "-s", "20000", "-n", "100",
              "-c"])


@pytest.mark.parametrize("mtu", [1500])
@pytest.mark.parametrize("option", ["-N", "-t", "-o"])
def test_rc_options(labs, mtu, topology, option):
    """New post API, completion time stamps, on-demand paging."""
    run_pair(*topology(labs(mtu)), ["ibv_rc_pingpong", option, "-n", "100"])

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs that compilers' sanitizers are in start, see the device, and are
watched as ever."""
import os
import shutil
import subprocess

import pytest

from hosts import wait_for
from test_guest_engine import engines

PROGRAM = r"""
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *ctx = n ? ibv_open_device(list[0]) : NULL;
	char *buf = malloc(4096);
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	struct ibv_mr *mr = pd ? ibv_reg_mr(pd, buf, 4096, 0) : NULL;
	if (!mr) {
		free(buf);
		return 9;
	}
	if (argc > 2) {
		struct ibv_cq *cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
		struct ibv_qp_init_attr init = {
			.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
			.cap = {1, 1, 1, 1, 0},
		};
		puts(cq && ibv_create_qp(pd, &init) ? "waits" : "has none");
		fflush(stdout);
		pause();
	}
	ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	ibv_free_device_list(list);
	printf("opened\n");
	fflush(stdout);
	if (argc > 1)
		memset(buf, 1, 4096 + argc);
	free(buf);
	return 0;
}
"""
# MemorySanitizer wants all libraries built with it, libibverbs too.
BARE = "int main(void) { return 0; }"
BUILDS = {
    "gcc-asan": ["gcc", "-fsanitize=address"],
    "gcc-tsan": ["gcc", "-fsanitize=thread"],
    "gcc-ubsan": ["gcc", "-fsanitize=undefined"],
    "clang-asan": ["clang", "-fsanitize=address"],
    "clang-asan-shared": ["clang", "-fsanitize=address", "-shared-libasan"],
    "clang-tsan": ["clang", "-fsanitize=thread"],
    "clang-ubsan": ["clang", "-fsanitize=undefined"],
    "clang-msan": ["clang", "-fsanitize=memory"],
}


def library(compiler, name):
    return subprocess.run([compiler, "-print-file-name=" + name], text=True,
                          capture_output=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    made = {}
    path = tmp_path_factory.mktemp("sanitizers")

    def get(name):
        if name in made:
            return made[name]
        cmd, out = BUILDS[name], str(path / name)
        if not shutil.which(cmd[0]):
            pytest.skip(f"{cmd[0]} is not installed")
        source = path / (name + ".c")
        source.write_text(BARE if "msan" in name else PROGRAM)
        if "shared" in name:
            cmd = cmd + ["-Wl,-rpath," + os.path.dirname(library(
                "clang", f"libclang_rt.asan-{os.uname().machine}.so"))]
        subprocess.run([*cmd, "-g", str(source), "-o", out,
                        *([] if "msan" in name else ["-libverbs"])],
                       check=True)
        if subprocess.run([out], capture_output=True).returncode not in (0, 9):
            pytest.skip("such a program does not run here at all")
        made[name] = out
        return out
    return get


@pytest.mark.parametrize("name", BUILDS)
def test_starts(labs, make, name):
    host = labs(1500).a
    out = host.run(make(name))
    assert out == ("" if "msan" in name else "opened\n")


@pytest.mark.parametrize("name,place", [("gcc-asan", "program"), ("gcc-ubsan", "program"),
                                        ("gcc-tsan", "process"), ("clang-tsan", "process")])
def test_engine(labs, make, monkeypatch, name, place):
    """ThreadSanitizer would take each message of an engine in its program for a race."""
    monkeypatch.setenv("UROCE_ENGINE", "process")
    host = labs(1500).a
    p = host.start(make(name), "a", "queue pair")
    wait_for("it", lambda: "waits" in p.text() or not p.running())
    assert engines(host) == {p.pid: place}, p.report()
    p.kill()


@pytest.mark.parametrize("name, runtime", [
    ("gcc-asan", "libasan.so"), ("gcc-tsan", "libtsan.so"),
    ("gcc-ubsan", "libubsan.so")])
def test_preloaded(labs, make, name, runtime):
    """LD_PRELOAD has the runtime, as its own advice is: from outside, and set
    by a program inside, with ours there or not."""
    host = labs(1500).a
    program, path = make(name), library("gcc", runtime)
    uroce = host.lab.bin("uroce")
    p = host.bare("env", "LD_PRELOAD=" + path, uroce, "run", "--run-dir",
                  host.run_dir, "--", "sh", "-c", 'echo "$LD_PRELOAD"; ' +
                  program)
    assert p.wait() == 0, p.report()
    first, second = p.text().splitlines()[0].split(":")[:2]
    assert (first, os.path.basename(second)) == (path, "liburoce-preload.so")
    assert p.text().endswith("\nopened\n")
    for lead in (["LD_PRELOAD=" + path], ["-i", "LD_PRELOAD=" + path]):
        assert host.run("env", *lead, program) == "opened\n"
    out = host.run("env", "LD_PRELOAD=" + path, "sh", "-c",
                   'echo "$LD_PRELOAD"')
    assert out.startswith(path + ":") and "liburoce-preload" in out


@pytest.mark.parametrize("lead", [[], ["env", "-i"]], ids=["run", "made-up"])
def test_is_watched(labs, make, lead):
    """What AddressSanitizer is for works."""
    host = labs(1500).a
    out = host.run(*lead, make("gcc-asan"), "overrun", status=1)
    assert "opened" in out and "heap-buffer-overflow" in out

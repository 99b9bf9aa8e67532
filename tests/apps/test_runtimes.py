# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Java and Go as hosts of a library that has an engine in it (tests/e2e/runtimes; Python is in
tests/e2e/test_guest_runtimes.py). Their run times have handlers of SIGSEGV, stacks and
collectors of their own."""
import os
import shutil
import subprocess

import pytest

import hosts
from test_guest_engine import pair  # pylint: disable=unused-import
from test_guest_runtimes import HERE, native
from test_guests import finish, in_program, start  # pylint: disable=unused-import


@pytest.fixture(params=["one host", "two hosts"])
def on(request, pair):
    return pair.a, pair.a if request.param == "one host" else pair.b


@pytest.fixture(scope="module")
def java(tmp_path_factory):
    """(folder of the class, library)"""
    if not shutil.which("javac"):
        pytest.skip("javac is not installed")
    home = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("javac"))))
    folder = tmp_path_factory.mktemp("java")
    subprocess.run(["javac", "-d", folder, f"{HERE}/Host.java"], check=True)
    return folder, native(folder, f"-I{home}/include", f"-I{home}/include/linux", f"{HERE}/jni.c")


@pytest.mark.parametrize("options", [["-XX:+UseG1GC"], ["-XX:+UseZGC"], ["-Xcheck:jni"]],
                         ids=["g1", "z", "checked"])
def test_java(pair, on, in_program, java, options):
    """By JNI. The virtual machine is told to say what it finds wrong with its handlers."""
    folder, library = java
    for text in finish(*start(pair, library, on, ["java", "-Xmx64m", *options, "-cp", str(folder),
                                                  "Host"])):
        assert not [line for line in text if "handler" in line.lower()], text


@pytest.fixture(scope="module")
def go_program(tmp_path_factory):
    if not shutil.which("go"):
        pytest.skip("go is not installed")
    folder = tmp_path_factory.mktemp("go")
    for name in "host.go", "native.c", "native.h":
        shutil.copy(f"{HERE}/{name}", folder)
    path = str(folder / "host")
    env = dict(os.environ, GOCACHE=str(folder / "cache"), GOFLAGS="", GO111MODULE="off",
               GOPATH=str(folder / "path"), CGO_ENABLED="1",
               CGO_CFLAGS=f"-O1 -g -D_GNU_SOURCE -I{hosts.TOP}")
    subprocess.run(["go", "build", "-o", path], cwd=folder, env=env, check=True)
    return path


def test_go(pair, on, in_program, go_program):
    """By cgo: a program whose own system calls do not pass the C library."""
    finish(*start(pair, "-", on, [go_program]))

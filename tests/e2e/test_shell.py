# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The device in a shell: uroce env, and uroce run without a program."""
import os
import pty
import select
import shutil
import subprocess
import time

import pytest


def bare(host, *args, status=0, env=None, **kw):
    """Without the device, in the host's network; its output."""
    p = subprocess.run(["ip", "netns", "exec", host.name, *args], text=True,
                       capture_output=True, timeout=60,
                       env={**os.environ, **(env or {})}, **kw)
    assert p.returncode == status, p.stdout + p.stderr
    return p.stdout, p.stderr


def sees(text):
    return "uroce0" in text


@pytest.mark.parametrize("shell, line", [
    ("sh", 'eval "$({u} env {o})"; ibv_devices'),
    ("bash", 'eval "$({u} env {o} sh)"; ibv_devices'),
    ("fish", "{u} env {o} fish | source; ibv_devices"),
    ("csh", "eval `{u} env {o} csh`; ibv_devices")])
def test_env(labs, shell, line):
    host = labs(1500).a
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    line = line.format(u=host.lab.bin("uroce"), o="-r " + host.run_dir)
    out, err = bare(host, shell, "-c", line)
    assert sees(out) and not err


def test_env_text(labs):
    """Whatever is in the values; once more changes nothing."""
    lab = labs(1500)
    host, uroce = lab.a, lab.bin("uroce")
    odd = "/tmp/it's \\ a!$HOME"
    out, err = bare(host, uroce, "env", "-r", odd)
    assert "no device at " + odd in err
    assert not bare(host, uroce, "env", "-q", "-r", odd)[1]
    out, _ = bare(host, "sh", "-c", out + 'printf "%s" "$UROCE_RUN_DIR"')
    assert out == odd
    out, _ = bare(host, uroce, "env", "-q", "-r", odd, "fish")
    assert "set -gx UROCE_RUN_DIR '/tmp/it\\'s \\\\ a!$HOME';\n" in out
    out, _ = bare(host, uroce, "env", "-q", "-r", odd, "csh")
    assert "setenv UROCE_RUN_DIR '/tmp/it'\\''s \\ a\\!$HOME';\n" in out
    out, _ = bare(host, "sh", "-c", f'eval "$({uroce} env -q)"; echo '
                  f'"$LD_PRELOAD $PATH"; eval "$({uroce} env -q)"; '
                  'echo "$LD_PRELOAD $PATH"')
    first, second = out.splitlines()
    assert first == second and "liburoce-preload.so" in first
    for wrong in ("zsh",), ("sh", "fish"):
        out, err = bare(host, uroce, "env", *wrong, status=2)
        assert not out and "sh, fish or csh" in err


def test_run_reads(labs):
    """Without a program: the user's shell, which reads what it is given."""
    host = labs(1500).a
    uroce = host.lab.bin("uroce")
    for shell in "/bin/sh", "/nonexistent":
        out, err = bare(host, uroce, "run", "-r", host.run_dir,
                        input="ibv_devices; echo $PS1; exit 3", status=3,
                        env={"SHELL": shell})
        assert sees(out) and "(uroce)" in out and not err


@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash"])
def test_prompt(labs, tmp_path, shell):
    """A person is told where he is, whatever the shell's own files say."""
    host = labs(1500).a
    (tmp_path / ".bashrc").write_text("PS1='mine> '\n")
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(HOME=str(tmp_path), SHELL=shell)
        os.execvp("ip", ["ip", "netns", "exec", host.name,
                         host.lab.bin("uroce"), "run", "-r", host.run_dir])
    text, end, asked = "", time.monotonic() + 20, False
    answer = select.poll()
    answer.register(fd, select.POLLIN)
    while time.monotonic() < end and answer.poll(20000):
        try:
            text += os.read(fd, 4096).decode()
        except OSError:  # the other end is closed
            break
        prompt = "(uroce) mine> " if "bash" in shell else "(uroce) "
        if prompt in text and not asked:
            os.write(fd, b"ibv_devices; exit 0\n")
            asked = True
    os.close(fd)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, text
    assert asked and sees(text) and "'exit' leaves it" in text


@pytest.mark.parametrize("name, status", [
    ("nosuchprogram", 127), ("./nosuchprogram", 127), ("/etc/passwd", 126),
    ("/etc", 126), ("", 127)])
def test_no_program(labs, name, status):
    """No device is started for it."""
    lab = labs(1500)
    run_dir = lab.tmp + "/none"
    _, err = bare(lab.a, lab.bin("uroce"), "run", "-r", run_dir, "--", name,
                  status=status)
    assert f"cannot run {name}: " in err
    assert not os.path.exists(run_dir)
    # What comes with it is found.
    if name == "nosuchprogram":
        assert "uroce0" in lab.a.run("show_gids")

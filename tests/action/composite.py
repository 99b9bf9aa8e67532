# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""As much of a GitHub runner as this project's files need: the steps of a
workflow's job and of a composite action, in order, each a shell of its own in a
clean root, with the files that carry environment, path and outputs from one to
the next. What it does not know is an error, never passed over."""
import os
import re
import subprocess
import time

import yaml

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
KNOWN = {"name", "id", "if", "shell", "env", "run", "uses", "with"}


class Runner:
    """Where steps run: a root, a user in it, and a network namespace."""

    serial = 0  # of files, over all jobs

    def __init__(self, root, netns, user, home):
        self.root, self.netns, self.user, self.home = root, netns, user, home
        self.temp = home + "/_temp"
        self.env = {"HOME": home, "CI": "true", "RUNNER_TEMP": self.temp}
        self.path, self.log = [], []
        self.sh("mkdir", "-p", self.temp, home + "/job")

    def chroot(self, *cmd):
        return ["chroot", f"--userspec={self.user}", self.root, *cmd]

    def sh(self, *cmd):
        subprocess.run(self.chroot("env", "-i", "PATH=" + PATH, *cmd),
                       check=True)

    def file(self, kind):
        """A new empty file in the root, as a step sees it."""
        Runner.serial += 1
        name = f"{self.temp}/{kind}{self.serial}"
        self.sh("touch", name)
        return name

    def read(self, name):
        with open(self.root + name) as f:
            return f.read()

    def shell(self, script, env, outside=False):
        """(status, output, seconds) of one script; outside: with the host's
        network, to fetch packages."""
        name = self.file("step") + ".sh"
        with open(self.root + name, "w") as f:
            f.write(script + "\n")
        path = ":".join([*reversed(self.path), PATH])
        words = [f"{k}={v}" for k, v in {**self.env, **env,
                                         "PATH": path}.items()]
        cmd = self.chroot("env", "-i", "-C", self.home + "/job", *words,
                          *SHELL, name)
        if not outside:
            cmd = ["ip", "netns", "exec", self.netns, *cmd]
        start = time.monotonic()
        r = subprocess.run(cmd, stdin=subprocess.DEVNULL, timeout=600,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True)
        self.log.append(f"$ {script}\n{r.stdout}[{r.returncode}]\n")
        return r.returncode, r.stdout, time.monotonic() - start


class Job(Runner):
    """Runs a workflow's job; `actions` finds an action's folder in the root."""

    def __init__(self, *args, actions):
        super().__init__(*args)
        self.env["GITHUB_ACTIONS"] = "true"
        self.actions, self.failed = actions, False
        self.steps = []  # (name, status, output, seconds) of what ran

    @staticmethod
    def expand(text, inputs, outputs):
        def value(m):
            word = m[1].strip()
            if word.startswith("inputs."):
                return str(inputs[word[7:]])
            step, kind, name = re.fullmatch(
                r"steps\.(\S+?)\.(outputs)\.(\S+)", word).groups()
            return outputs[step][name]
        return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))

    def due(self, condition):
        assert condition in (None, "failure()", "always()"), condition
        return {"failure()": self.failed, "always()": True}.get(
            condition, not self.failed)

    def run(self, steps, inputs=None, action=None, env=None):
        outputs = {}
        for step in steps:
            assert set(step) <= KNOWN, step
            if not self.due(step.get("if")):
                continue
            more = {k: self.expand(v, inputs, outputs)
                    for k, v in {**(env or {}), **step.get("env", {})}.items()}
            if "uses" in step:
                self.use(step["uses"], step.get("with", {}))
                continue
            assert action is None or step["shell"] == "bash", step
            kinds = ("ENV", "PATH", "OUTPUT")
            files = {f"GITHUB_{k}": self.file(k.lower()) for k in kinds}
            if action:
                files["GITHUB_ACTION_PATH"] = action
            script = self.expand(step["run"], inputs, outputs)
            got = self.shell(script, {**more, **files}, bool(re.search(
                r"apt-get|setup-ci.sh\" install$", script)))
            self.steps.append((step.get("name", step["run"]), *got))
            self.failed |= got[0] != 0
            self.env.update(self.pairs(files["GITHUB_ENV"]))
            self.path += self.read(files["GITHUB_PATH"]).split()
            outputs[step.get("id")] = self.pairs(files["GITHUB_OUTPUT"])
        return outputs

    def pairs(self, name):
        """NAME=VALUE lines; GitHub's other form is not used here."""
        lines = self.read(name).splitlines()
        assert all("=" in line for line in lines), lines
        return dict(line.split("=", 1) for line in lines)

    def use(self, name, given):
        if name.startswith("actions/checkout@"):
            return
        folder = self.actions[name.split("@")[0]]
        text = self.read(folder + "/action.yml")
        action = yaml.safe_load(text)
        assert action["runs"]["using"] == "composite"
        inputs = {k: v.get("default", "")
                  for k, v in action["inputs"].items()}
        assert set(given) <= set(inputs), given
        inputs.update(given)
        self.run(action["runs"]["steps"], inputs, folder)

    def workflow(self, name, job):
        with open(name) as f:
            steps = yaml.safe_load(f)["jobs"][job]["steps"]
        self.run(steps)

    def report(self):
        return "".join(self.log)[-12000:]


def gitlab(runner, name, job, variables):
    """A job of a .gitlab-ci.yml: one shell for before_script and script, one
    for after_script. Returns the status and both outputs."""
    with open(name) as f:
        pipeline = yaml.safe_load(f)
    parts = dict(pipeline[pipeline[job].get("extends", job)])
    parts.update(pipeline[job])
    env = {**pipeline.get("variables", {}), **parts.get("variables", {}),
           **variables}
    env = {k: str(v) for k, v in env.items()}
    script = [*parts.get("before_script", []), *parts["script"]]
    status, out, _ = runner.shell("\n".join(script), env)
    env["CI_JOB_STATUS"] = "failed" if status else "success"
    after = runner.shell("\n".join(parts.get("after_script", [])), env)
    return status, out, after[1]

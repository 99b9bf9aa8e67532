# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""As much of a GitHub runner as this project's files need: the steps of a
workflow's job, in order, each a shell of its own in a clean root, and an action of
JavaScript where they name it and after their end, with the files that carry
environment, path, outputs and state from one to the next. What it does not know is
an error, never passed over."""
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
        if not os.environ.get("UROCE_FULL"):
            # What is built there is not optimized, which would take most of the time.
            self.env.update(CFLAGS="-fno-lto -O0", CMAKE_BUILD_TYPE="None")
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
            # ip(8) would give each step mounts of its own.
            cmd = ["nsenter", f"--net=/run/netns/{self.netns}", *cmd]
        start = time.monotonic()
        # One of them builds the tree, beside whatever else the machine does.
        r = subprocess.run(cmd, stdin=subprocess.DEVNULL, timeout=1500,
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
        self.after = []  # (action's folder, post, environment): the last first
        self.steps = []  # (name, status, output, seconds) of what ran

    @staticmethod
    def expand(text, outputs):
        def value(m):
            step, name = re.fullmatch(
                r"steps\.(\S+?)\.outputs\.(\S+)", m[1].strip()).groups()
            return outputs[step][name]
        return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))

    def due(self, condition):
        assert condition in (None, "failure()", "always()"), condition
        return {"failure()": self.failed, "always()": True}.get(
            condition, not self.failed)

    def run(self, steps):
        outputs = {}
        for step in steps:
            assert set(step) <= KNOWN, step
            if not self.due(step.get("if")):
                continue
            env = {k: str(v) for k, v in step.get("env", {}).items()}
            if "uses" in step:
                outputs[step.get("id")] = self.use(
                    step["uses"], step.get("with", {}), env)
                continue
            script = self.expand(step["run"], outputs)
            self.step(step.get("name", step["run"]), script, env,
                      bool(re.search("apt-get", script)))
        return outputs

    def step(self, name, script, env, outside=False):
        """One script with a step's files; returns its outputs, and its state."""
        kinds = "ENV", "PATH", "OUTPUT", "STATE"
        files = {f"GITHUB_{k}": self.file(k.lower()) for k in kinds}
        got = self.shell(script, {**env, **files}, outside)
        self.steps.append((name, *got))
        self.failed |= got[0] != 0
        self.env.update(self.pairs(files["GITHUB_ENV"]))
        self.path += self.read(files["GITHUB_PATH"]).split()
        return [self.pairs(files["GITHUB_" + k]) for k in ("OUTPUT", "STATE")]

    def end(self):
        """What the actions do after the last step; returns whether all did."""
        good = True
        while self.after:
            file, env = self.after.pop()
            self.step("post", f"node {file}", env)
            good &= self.steps[-1][1] == 0
        return good

    def pairs(self, name):
        """NAME=VALUE lines; GitHub's other form is not used here."""
        lines = self.read(name).splitlines()
        assert all("=" in line for line in lines), lines
        return dict(line.split("=", 1) for line in lines)

    def use(self, name, given, env):
        """Returns its outputs. What it fetches it fetches before, by the script that
        it calls, since the job's network namespace reaches no mirror; its own call
        then finds all there."""
        if name.startswith("actions/checkout@"):
            return {}
        folder = self.actions[name.split("@")[0]]
        action = yaml.safe_load(self.read(folder + "/action.yml"))
        inputs = {k: v.get("default", "")
                  for k, v in action["inputs"].items()}
        assert set(given) <= set(inputs), given
        inputs.update(given)
        runs = action["runs"]
        assert set(runs) == {"using", "main", "post"} and runs["using"] == "node24"
        self.step("install", folder + "/container/setup-ci.sh install",
                  {f"UROCE_CI_{k.upper()}": v for k, v in inputs.items()}, True)
        if self.failed:
            return {}
        env = {**env, **{f"INPUT_{k.upper()}": v for k, v in inputs.items()}}
        outputs, state = self.step("start", f"node {folder}/{runs['main']}", env)
        self.after.append((f"{folder}/{runs['post']}", {
            **env, **{f"STATE_{k}": v for k, v in state.items()}}))
        assert set(outputs) <= set(action["outputs"]), outputs
        return outputs

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

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""MPI programs on the hosts of a lab: what starts their ranks."""
import os

# The other host has a name of its own, as real ones have.
AGENT = """#!/bin/sh
# [OPTION...] HOST COMMAND...: as ssh does
while [ "${{1#-}}" != "$1" ]; do shift; done
shift
exec ip netns exec {b} unshare --uts sh -c 'hostname beta; exec sh -c "$*"' - "$@"
"""
RANK = """#!/bin/sh
# COMMAND...: with the device of the host that this runs on
case $(ip netns identify $$) in
{a}) dir={dir_a} ;;
{b}) dir={dir_b} ;;
*) exit 1 ;;
esac
exec {uroce} run --run-dir $dir -- "$@"
"""


class Ranks:
    """Starts ranks, per_host on each of the hosts. The launchers themselves
    have no device: what they set for the ranks is the same on all hosts."""

    def __init__(self, lab, folder, hosts, per_host):
        self.lab, self.hosts, self.per_host = lab, hosts, per_host
        self.agent, self.rank = folder / "agent", folder / "rank"
        for path, text in (self.agent, AGENT), (self.rank, RANK):
            path.write_text(text.format(
                a=lab.a.name, dir_a=lab.a.run_dir, b=lab.b.name,
                dir_b=lab.b.run_dir, uroce=lab.bin("uroce")))
            path.chmod(0o755)

    def words(self, device):
        where = ",".join(f"{h.addr4}:{self.per_host}" for h in self.hosts)
        return (where, str(self.per_host * len(self.hosts)),
                [str(self.rank)] if device else [])

    def openmpi(self, options, env, *cmd, device=True):
        """The running mpirun. Environment and MCA parameters are for all."""
        where, n, rank = self.words(device)
        return self.lab.a.bare(
            "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe",
            "--mca", "plm_rsh_agent", str(self.agent), "--host", where,
            "-np", n, *[w for name, value in options.items()
                        for w in ("--mca", name, value)],
            *[w for name, value in env.items()
              for w in ("-x", f"{name}={value}")], *rank, *cmd)

    def mpich(self, env, *cmd, device=True):
        """The running mpiexec. Where ranks leave without MPI_Finalize(), the first one's end is no reason to kill those that
        are about to do so."""
        where, n, rank = self.words(device)
        return self.lab.a.bare(
            "mpiexec.mpich", *["-disable-auto-cleanup"] * ("leave" in cmd), "-launcher", "ssh", "-launcher-exec",
            str(self.agent), "-localhost", self.lab.a.addr4, "-iface", "eth0",
            "-hosts", where, "-n", n, *rank, *cmd, env={**os.environ, **env})

# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on several nodes that scripts/nodes makes of namespaces, and what can be done to these nodes."""
import os
import shutil
import signal
import subprocess
from pathlib import Path

from . import processes
from .environment import SCRIPTS
from .job import Job

SCRIPT = str(SCRIPTS / "nodes")


def are_possible():
    """Tells whether this machine allows nodes. scripts/nodes says why, if not."""
    return subprocess.run([SCRIPT, "--check"], check=False, stdout=subprocess.DEVNULL).returncode == 0


def survive_loss():
    """Tells whether mpirun goes on when a node is lost. scripts/nodes says why, if not."""
    return subprocess.run([SCRIPT, "--survives"], check=False).returncode == 0


class Nodes:
    """The nodes of a run of scripts/nodes."""

    def __init__(self, state):
        """state: the folder that scripts/nodes has as --state."""
        self.state = Path(state)

    def _lines(self):
        try:
            return [line.split() for line in (self.state / "nodes").read_text(encoding="utf-8").splitlines()]
        except OSError:
            return []

    def are_ready(self):
        return (self.state / "nodes").exists()

    def processes(self):
        """Returns process ids here by (name of the node, process id there). Nothing if the run has ended."""
        names = {namespace: name for name, _, _, namespace in self._lines()}
        found = {}
        for pid in processes.process_ids() if names else ():
            try:
                name = names.get(os.readlink(f"/proc/{pid}/ns/pid"))
                status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8") if name else ""
            except OSError:
                continue
            inner = [line.split()[-1] for line in status.splitlines() if line.startswith("NSpid:")]
            if inner:
                found[name, int(inner[0])] = pid
        return found

    def ranks(self, name=None):
        """Returns (node, rank, process id here) of each rank, in this order. name: of one node alone."""
        command = [SCRIPT, "--pids", str(self.state), *([name] if name else [])]
        output = subprocess.run(command, check=False, capture_output=True, text=True).stdout
        words = [line.split() for line in output.splitlines()]
        return [(node, int(rank), int(pid)) for node, rank, pid, _ in words]

    def kill(self, name):
        """Kills all of a node, the launcher's daemon included. Returns whether the node was there.

        Does what scripts/nodes --kill-node does, which takes longer: the end of process 1 of a node ends all others there.
        """
        first = self.processes().get((name, 1))
        if first is not None:
            processes.send(first, signal.SIGKILL)
        return first is not None

    def kill_launcher(self):
        """Kills mpirun, which is on head."""
        subprocess.run([SCRIPT, "--kill-node", str(self.state), "head"], check=False)

    def silence(self, name):
        """Cuts a node off for good, without its knowledge. Returns whether that could be done."""
        return self.set_port(name, 0)

    def set_port(self, name, state):
        """Sets the node's port of the bridge: 0 takes nothing, 3 passes all on."""
        command = ["bridge", "link", "set", "dev", name, "state", str(state)]
        return self.execute("head", *command).returncode == 0

    def execute(self, name, *command):
        """Runs a command on a node, or on "head". Returns what subprocess.run does, with both outputs as one text."""
        return subprocess.run([SCRIPT, "--exec", str(self.state), name, *command], check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


class JobOnNodes(Job):
    """A program under mpirun on several nodes."""

    def __init__(self, ranks_per_node, program, folder, limit, environment, *, linger=2, on_head=False):
        """ranks_per_node: a number for each node. linger: seconds that processes on nodes have to end after mpirun.

        on_head: the program is no MPI program; it is run once, and starts mpirun by itself.
        """
        folder = Path(folder)
        self.nodes = Nodes(folder / "nodes")
        self._left = folder / "left"
        # scripts/nodes has a limit of its own, for the case that this process is killed.
        command = [
            SCRIPT, "--nodes", str(len(ranks_per_node)), "--ranks-per-node", ",".join(map(str, ranks_per_node)), "--timeout",
            str(int(limit) + 20), "--state", str(self.nodes.state), "--left", str(self._left), "--linger", str(linger),
            *(["--on-head"] if on_head else []), "--", *map(str, program)
        ]
        # Each node has a /dev/shm of its own.
        super().__init__(command, folder, limit, environment, own_memory=False)

    def finish(self):
        left = super().finish()
        # scripts/nodes removes its folder, except when it has been killed.
        shutil.rmtree(self.nodes.state, ignore_errors=True)
        return left

    def _left_on_nodes(self):
        return self._left.read_text(encoding="utf-8").splitlines() if self._left.exists() else []

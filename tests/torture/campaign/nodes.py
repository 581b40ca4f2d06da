# SPDX-License-Identifier: BSD-3-Clause
"""A run on several nodes, made by scripts/nodes."""
import os
import signal
import subprocess
from pathlib import Path

from . import processes

_SCRIPT = str(Path(__file__).resolve().parents[3] / "scripts/nodes")


def are_possible():
    """Says why if they are not."""
    return subprocess.run([_SCRIPT, "--check"], check=False, stdout=subprocess.DEVNULL).returncode == 0


def survive_loss():
    """Whether mpirun goes on when a node is lost; says why if not."""
    return subprocess.run([_SCRIPT, "--survives"], check=False).returncode == 0


def command(run, program, folder, limit):
    """Its own limit is for the case that nobody supervises the run any more."""
    return [
        _SCRIPT, "--nodes", str(len(set(run.nodes))), "--ranks-per-node", run.ranks_per_node(), "--state", str(folder / "nodes"),
        "--left", str(folder / "left"), "--linger", "10", "--timeout", str(int(limit) + 20), "--", str(program), str(folder)
    ]


def are_ready(folder):
    return (folder / "nodes/nodes").exists()


def _of_nodes(folder):
    """All processes on nodes: process id here, by the name of the node and the process id there. Empty if the run has ended."""
    try:
        lines = (folder / "nodes/nodes").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    names = {namespace: name for name, _, _, namespace in map(str.split, lines)}
    found = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            name = names.get(os.readlink(entry.path + "/ns/pid"))
            status = Path(entry.path, "status").read_text(encoding="utf-8") if name else ""
        except OSError:
            continue
        found.update({(name, int(line.split()[-1])): int(entry.name) for line in status.splitlines() if line.startswith("NSpid:")})
    return found


def lose(folder, node, silent):
    """Kills all of a node, the launcher's daemon included, or cuts it off for good. Returns whether it was there."""
    name = f"node{node}"
    if silent:
        cut = [_SCRIPT, "--exec", str(folder / "nodes"), "head", "bridge", "link", "set", "dev", name, "state", "0"]
        return subprocess.run(cut, check=False, capture_output=True).returncode == 0
    # As scripts/nodes --kill-node does, which takes longer: the end of process 1 of a node ends all others there.
    first = _of_nodes(folder).get((name, 1))
    if first is not None:
        processes.send(first, signal.SIGKILL)
    return first is not None


def pids(folder, nodes, noted):
    """Process ids as seen from here, of ranks that have noted those of their nodes; None for those that are dead already."""
    found = _of_nodes(folder)
    return {rank: found.get((f"node{nodes[rank]}", pid)) for rank, pid in noted.items()}


def left(folder):
    path = folder / "left"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

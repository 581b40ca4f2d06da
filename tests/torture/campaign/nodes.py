# SPDX-License-Identifier: BSD-3-Clause
"""A run on several nodes, made by scripts/nodes."""
import subprocess
from pathlib import Path

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


def lose(folder, node, silent):
    """Kills all of a node, the launcher's daemon included, or cuts it off for good. Returns whether it was there."""
    name, state = f"node{node}", str(folder / "nodes")
    cut = [_SCRIPT, "--exec", state, "head", "bridge", "link", "set", "dev", name, "state", "0"]
    command = cut if silent else [_SCRIPT, "--kill-node", state, name]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def read_pids(folder, ranks):
    """Process ids as seen from here; None for those that are dead already."""
    table = subprocess.run([_SCRIPT, "--pids", str(folder / "nodes")], check=False, capture_output=True, text=True).stdout
    pids = dict.fromkeys(range(ranks))
    for line in table.splitlines():
        _, rank, pid, _ = line.split()
        pids[int(rank)] = int(pid)
    return pids


def left(folder):
    path = folder / "left"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

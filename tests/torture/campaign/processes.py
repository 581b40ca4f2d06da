# SPDX-License-Identifier: BSD-3-Clause
"""Processes of a run, found by a token in their environment, whoever their parent is by then."""
import os
import re
import signal
import subprocess
from pathlib import Path

_LAUNCHERS = ("mpirun", "prterun", "prted")


def find(token):
    """Process ids of ranks, and of Open MPI's own processes and the scripts around them."""
    ranks, launchers = [], []
    needle = token.encode()
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            # The kernel gives zombies an empty environment: they do not count.
            environment = Path(entry.path, "environ").read_bytes().split(b"\0")
            if needle not in environment:
                continue
            command = Path(entry.path, "comm").read_text(encoding="utf-8").strip()
        except OSError:
            continue
        is_rank = command not in _LAUNCHERS and any(variable.startswith(b"PMIX_RANK=") for variable in environment)
        (ranks if is_rank else launchers).append(int(entry.name))
    return ranks, launchers


def kill(pids):
    for pid in pids:
        send(pid, signal.SIGKILL)


def send(pid, what):
    try:
        os.kill(pid, what)
    except ProcessLookupError:
        pass


def stacks(pids):
    text = []
    for pid in pids:
        try:
            # A process that is stopped cannot be looked at.
            send(pid, signal.SIGCONT)
            found = subprocess.run(["gdb", "-batch", "-p", str(pid), "-ex", "thread apply all bt"], check=False,
                                   capture_output=True, timeout=20, text=True, errors="replace").stdout
        except (OSError, subprocess.TimeoutExpired) as error:
            found = f"#  no stacks: {error}"
        lines = [line for line in found.splitlines() if re.match(r"(Thread|#)", line)]
        text.append("\n".join([f"--- process {pid}", *lines]))
    return "\n".join(text) + "\n"

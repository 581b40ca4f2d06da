# SPDX-License-Identifier: BSD-3-Clause
"""Processes of a job: found by a token in their environment, looked at, and killed.

Every process of a job inherits the token. So it is found whoever its parent is by then.
"""
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

_LAUNCHERS = ("mpirun", "prterun", "prted")


@dataclass(frozen=True)
class Process:
    pid: int
    name: str  # as the kernel has it
    is_rank: bool  # True for a process that mpirun has started as a rank, and for what a rank has started


def process_ids():
    """Returns the ids of all processes that are seen from here."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def find(token):
    """Returns the living processes that have the token, "NAME=VALUE", in their environment."""
    needle, found = token.encode(), []
    for pid in process_ids():
        try:
            # The kernel gives zombies an empty environment: they do not count.
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if needle not in environment:
                continue
            name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            continue
        is_rank = name not in _LAUNCHERS and any(variable.startswith(b"PMIX_RANK=") for variable in environment)
        found.append(Process(pid, name, is_rank))
    return found


def ranks(token):
    """Returns the process ids of ranks alone. Launchers, and scripts around them, are left out."""
    return [process.pid for process in find(token) if process.is_rank]


def rank_of(pid):
    """Returns the number that mpirun has given to the process as a rank, or nothing if it is none, or gone."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((int(variable.split(b"=")[1]) for variable in environment if variable.startswith(b"PMIX_RANK=")), None)


def _state(pid):
    """Returns the letter of the process's state, or nothing if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return ""


def is_alive(pid):
    """Tells whether the process exists and is no zombie."""
    return _state(pid) not in ("", "Z", "X")


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def describe(pid):
    """Returns process id, state and command line, for messages."""
    return f"{pid} {_state(pid)} {command_line(pid)}"


def send(pid, what):
    """Sends a signal. A process that is gone already does not matter."""
    try:
        os.kill(pid, what)
    except ProcessLookupError:
        pass


def wait_until(condition, seconds, pause=0.1):
    """Waits until the condition holds. Returns what it was at last."""
    deadline = time.monotonic() + seconds
    while True:
        holds = condition()
        if holds or time.monotonic() >= deadline:
            return holds
        time.sleep(pause)


def kill(token, seconds=10.0):
    """Kills all processes with the token and waits until they are gone. Returns those that are still there at the end.

    Looks for them again and again: a process may start another one just before it dies.
    """

    def none_is_left():
        found = find(token)
        for process in found:
            send(process.pid, signal.SIGKILL)
        return not found

    wait_until(none_is_left, seconds, pause=0.02)
    return find(token)


def stacks(pids):
    """Returns the processes, each with the stacks of its threads as gdb prints them. Without gdb there are no stacks."""
    text = []
    for pid in pids:
        title = f"--- process {pid}: {command_line(pid)}"
        if not shutil.which("gdb"):
            text.append(f"{title}\n#  no stacks: there is no gdb")
            continue
        # gdb cannot look at a process that is stopped.
        send(pid, signal.SIGCONT)
        try:
            command = ["gdb", "-batch", "-p", str(pid), "-ex", "thread apply all bt"]
            output = subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=20, text=True,
                                    errors="replace").stdout
        except (OSError, subprocess.TimeoutExpired) as error:
            output = f"#  no stacks: {error}"
        text.append("\n".join([title, *(line for line in output.splitlines() if re.match(r"(Thread|#)", line))]))
    return "\n".join(text) + "\n"

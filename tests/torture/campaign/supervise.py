# SPDX-License-Identifier: BSD-3-Clause
"""Runs one plan under mpirun, and does to it what it says."""
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from . import nodes, processes
from .draw import NODE_TIMEOUT

_PAUSE = 0.004  # between two looks
_GRACE = 3.0  # for the launcher, when all ranks have ended


@dataclass
class Outcome:
    """What was seen from outside."""
    folder: Path
    seconds: float = 0.0
    status: int = 0
    hung: bool = False
    launcher_left: bool = False  # Open MPI's own
    left: list = field(default_factory=list)
    done: list = field(default_factory=list)  # faults that met a living process: numbers


@lru_cache(maxsize=None)
def can_have_own_shm():
    test = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /dev/shm"]
    return subprocess.run(test, check=False, capture_output=True).returncode == 0


# With a /dev/shm of its own nothing that others leave there is taken for this run's. Ranks may exit a moment after mpirun.
_OWN_SHM = """mount -t tmpfs tmpfs /dev/shm || exit 99
left=$1; shift
"$@"; status=$?
for turn in 1 2 3 4 5 6 7 8 9 10; do [ -z "$(ls -A /dev/shm)" ] && break; sleep 0.1; done
ls -A /dev/shm >"$left"
exit $status"""


def _command(run, program, folder, limit):
    if run.nodes:
        return nodes.command(run, program, folder, limit)
    start = ["mpirun", "--with-ft", "ulfm", "-n", str(run.processes()), str(program), str(folder)]
    if can_have_own_shm():
        return ["unshare", "--mount", "sh", "-c", _OWN_SHM, "own-shm", str(folder / "shm-left"), *start]
    return start


def _environment(run, token, folder):
    environment = dict(os.environ, TMPDIR=str(folder / "tmp"), FENIX_PATH=run.path, FENIX_TIMEOUT=str(run.timeout))
    environment.setdefault("FENIX_LOG", "info")
    if run.kind == "silent node":
        environment["FENIX_NODE_TIMEOUT"] = str(NODE_TIMEOUT)
    # Runs at the same time share the cores, which Open MPI does not see.
    environment.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    # Where a replacement takes over the memory of the dead rank, nothing is rebuilt: most runs do without.
    environment["FENIX_WARM_REPLACEMENT"] = "on" if run.seed % 3 == 0 else "off"
    name, value = token.split("=")
    environment[name] = value
    environment.pop("FENIX_FAULT", None)
    if run.points:
        environment["FENIX_FAULT"] = ",".join(run.points)
    return environment


class Faults:
    """The signals from outside, each at its time."""

    def __init__(self, run, outcome):
        self.waiting = list(enumerate(run.faults))
        self.outcome = outcome
        self.fired = {}  # what the time of others is counted from: when it was
        self.to_continue = []  # (when, process id)
        self.started = None

    def _journals(self):
        """The words of each line, journal by journal."""
        for path in self.outcome.folder.glob("journal.*"):
            yield [line.split() for line in path.read_text(encoding="utf-8").splitlines()]

    def _rebuilds(self):
        """How many repairs are over: all groups are whole again on all ranks when one rank has noted what it got back."""
        most = 0
        for journal in self._journals():
            rebuilds, in_repair = 0, False
            for words in journal:
                if words[1] == "resume":
                    in_repair = words[3] != "0"  # the role
                elif words[1] == "restored" and in_repair:
                    rebuilds, in_repair = rebuilds + 1, False
            most = max(most, rebuilds)
        return most

    def _commits(self):
        """The latest step that a rank has noted as committed; -1 if there is none."""
        return max((int(words[3]) for journal in self._journals() for words in journal if words[1] == "committed"), default=-1)

    def _due(self, fault):
        if fault.rebuilt or fault.step >= 0:
            key = (fault.rebuilt, fault.step)
            if key not in self.fired and (self._rebuilds() >= fault.rebuilt if fault.rebuilt else self._commits() >= fault.step):
                self.fired[key] = time.monotonic()
            return self.fired[key] + fault.at if key in self.fired else None
        if fault.after < 0:
            return self.started + fault.at
        return self.fired[fault.after] + fault.at if fault.after in self.fired else None

    def look(self, now, pids):
        for number, fault in list(self.waiting):
            due = self._due(fault)
            if due is None or now < due:
                continue
            self.waiting.remove((number, fault))
            self.fired[number] = now
            if fault.node:
                if nodes.lose(self.outcome.folder, fault.node, fault.silent):
                    self.outcome.done.append(number)
                continue
            living = [pids[rank] for rank in fault.ranks if _is_alive(pids[rank])]
            if living:
                self.outcome.done.append(number)
            for pid in living:
                processes.send(pid, signal.SIGSTOP if fault.stop else signal.SIGKILL)
                if fault.stop:
                    self.to_continue.append((now + fault.stop, pid))
        for entry in [entry for entry in self.to_continue if now >= entry[0]]:
            self.to_continue.remove(entry)
            processes.send(entry[1], signal.SIGCONT)


def _is_alive(pid):
    if pid is None:
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return False
    return state not in "ZX"


def _read_pids(run, folder):
    """Process ids of all ranks, once all have written them."""
    pids = {}
    for rank in range(run.processes()):
        try:
            line = (folder / f"journal.{rank}").read_text(encoding="utf-8").split("\n", 1)[0]
        except OSError:
            return None
        words = line.split()
        if len(words) < 3:
            return None
        pids[rank] = int(words[2])
    return nodes.pids(folder, run.nodes, pids) if run.nodes else pids


def supervise(run, program, work, limit):
    """Returns an Outcome; its folder is the caller's to remove."""
    folder = Path(tempfile.mkdtemp(prefix=f"{run.seed}.", dir=work))
    (folder / "tmp").mkdir()
    (folder / "plan").write_text(run.plan_text(), encoding="utf-8")
    token = f"FENIX_TORTURE_RUN={secrets.token_hex(8)}"
    outcome = Outcome(folder)
    faults = Faults(run, outcome)
    start = time.monotonic()
    with open(folder / "output", "wb") as output:
        launcher = subprocess.Popen(_command(run, program, folder, limit), env=_environment(run, token, folder),
                                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                    start_new_session=True)
    try:
        _watch(run, launcher, faults, outcome, start + limit, token)
    finally:
        outcome.seconds = time.monotonic() - start
        _clean(launcher, token, outcome)
    outcome.status = launcher.returncode
    return outcome


def _has_begun(run, folder):
    """Over nodes the start takes seconds: there the time of faults counts from the first group of a rank."""
    if not run.nodes or run.kind == "start and end":
        return True
    return any(word in path.read_text(encoding="utf-8") for path in folder.glob("journal.*") for word in (" created ", " refused "))


def _watch(run, launcher, faults, outcome, deadline, token):
    pids, all_gone = None, None
    while launcher.poll() is None:
        now = time.monotonic()
        if pids is None:
            pids = _read_pids(run, outcome.folder)
        if run.kind == "node at start" and faults.started is None and nodes.are_ready(outcome.folder):
            faults.started = now
        if faults.started is None and pids is not None and _has_begun(run, outcome.folder):
            faults.started = now
        if faults.started is not None:
            faults.look(now, pids)
        if pids is not None:
            if any(_is_alive(pid) for pid in pids.values()):
                all_gone = None
            elif all_gone is None:
                all_gone = now
            elif now - all_gone > _GRACE:
                outcome.launcher_left = True
                return
        if now > deadline:
            outcome.hung = True
            ranks, _ = processes.find(token)
            (outcome.folder / "stacks").write_text(processes.stacks(ranks), encoding="utf-8")
            return
        time.sleep(_PAUSE)


def _clean(launcher, token, outcome):
    """What should have gone by itself: looked for, noted, and removed."""
    ranks, launchers = processes.find(token)
    for _ in range(10):
        if not ranks or outcome.hung:
            break
        time.sleep(0.1)
        ranks, launchers = processes.find(token)
    if ranks and not outcome.hung:
        outcome.left.append(f"{len(ranks)} processes")
        (outcome.folder / "stacks").write_text(processes.stacks(ranks), encoding="utf-8")
    processes.kill(ranks + launchers)
    launcher.wait()
    killed = outcome.hung or outcome.launcher_left
    if not killed:
        outcome.left += nodes.left(outcome.folder)
    shm = outcome.folder / "shm-left"
    if not killed and shm.exists() and shm.read_text(encoding="utf-8").strip():
        outcome.left.append("/dev/shm: " + " ".join(shm.read_text(encoding="utf-8").split()))
    if not killed:
        outcome.left += [f"TMPDIR: {entry.name}" for entry in (outcome.folder / "tmp").iterdir()
                         if "fenix" in entry.name.lower()]
    for name in ("tmp", "nodes"):
        shutil.rmtree(outcome.folder / name, ignore_errors=True)

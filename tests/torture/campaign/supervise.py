# SPDX-License-Identifier: BSD-3-Clause
"""Runs one plan under mpirun, and does to it what it says."""
import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import environment, processes
from harness.job import Job, mpirun
from harness.nodes import JobOnNodes

from .draw import NODE_TIMEOUT

_PAUSE = 0.004  # between two looks
_LEASE_AND_MORE = 40  # seconds
_GRACE = 3.0  # for the launcher, when all ranks have ended
_FLUSH_TIMEOUT = 10  # seconds; over nodes, where keepers may wait for parts of a dataset that dead ranks have not offered


def _may_lose_a_node(run):
    """Whether all ranks of some node may be killed. The keeper of another node ends with its last rank."""
    return any(all(rank in run.victims for rank, place in enumerate(run.nodes) if place == node) for node in set(run.nodes))


def seconds_of_keepers(run):
    """How long the keeper of a node may go on whose ranks have all died: for the lease, and then until a dataset has come to its end, or a
    minute if the rank that has started it has died before it came to it."""
    return max(run.keep + _FLUSH_TIMEOUT, 60) + 2 if run.flush and _may_lose_a_node(run) else 0


@dataclass
class Outcome:
    """What was seen from outside."""
    folder: Path
    seconds: float = 0.0
    status: int = 0
    hung: bool = False
    launcher_left: bool = False  # Open MPI's own
    cut_at_end: bool = False  # the launcher was killed when ranks were ending: nothing is to be expected then
    damaged: str = ""  # what fenix-index says of the store, if not all complete datasets are whole
    left: list = field(default_factory=list)
    done: list = field(default_factory=list)  # faults that met a living process: numbers


def make_job(run, command, folder, limit):
    """The last launch of a run, or the only one."""
    if run.nodes:
        return JobOnNodes(run.ranks_per_node().split(","), [*command, folder], folder, limit + seconds_of_keepers(run),
                          _environment(run, folder), linger=10 + seconds_of_keepers(run))
    return Job(mpirun(run.processes(), *command, folder), folder, limit, _environment(run, folder))


def _environment(run, folder):
    variables = dict(os.environ, FENIX_PATH=run.path, FENIX_TIMEOUT=str(run.timeout))
    environment.share_cores(variables)
    variables.setdefault("FENIX_LOG", "info")
    if run.kind == "silent node":
        variables["FENIX_NODE_TIMEOUT"] = str(NODE_TIMEOUT)
    # Where a replacement takes over the memory of the dead rank, nothing is rebuilt: most runs do without.
    variables["FENIX_WARM_REPLACEMENT"] = "on" if run.seed % 3 == 0 else "off"
    for name in ("FENIX_FAULT", "FENIX_STORE", "FENIX_FLUSH", "FENIX_KEEP"):
        variables.pop(name, None)
    if run.flush:
        variables.update(FENIX_STORE=str(folder / "store"), FENIX_FLUSH=str(run.flush), FENIX_KEEP=str(run.keep))
    if run.flush and run.nodes:
        variables["FENIX_FLUSH_TIMEOUT"] = str(_FLUSH_TIMEOUT)
    if run.points:
        variables["FENIX_FAULT"] = ",".join(run.points)
    return variables


class Faults:
    """The signals from outside, each at its time."""

    def __init__(self, run, outcome, nodes=None):
        self.waiting = list(enumerate(run.faults))
        self.outcome = outcome
        self.nodes = nodes
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
                lose = self.nodes.silence if fault.silent else self.nodes.kill
                if lose(f"node{fault.node}"):
                    self.outcome.done.append(number)
                continue
            living = [pids[rank] for rank in fault.ranks if pids[rank] is not None and processes.is_alive(pids[rank])]
            if living:
                self.outcome.done.append(number)
            for pid in living:
                processes.send(pid, signal.SIGSTOP if fault.stop else signal.SIGKILL)
                if fault.stop:
                    self.to_continue.append((now + fault.stop, pid))
        for entry in [entry for entry in self.to_continue if now >= entry[0]]:
            self.to_continue.remove(entry)
            processes.send(entry[1], signal.SIGCONT)


def _read_pids(run, folder, job, launch):
    """Returns the process ids of all ranks of a launch, once all have written them; None for one that is dead already."""
    pids = {}
    for rank in range(run.processes()):
        try:
            lines = (folder / f"journal.{rank}").read_text(encoding="utf-8").splitlines()
        except OSError:
            return None
        starts = [words for words in map(str.split, lines) if len(words) == 3 and words[1] == "start"]
        if len(starts) <= launch:
            return None
        pids[rank] = int(starts[launch][2])
    if not run.nodes:
        return pids
    # Ranks have noted the process ids that they have on their nodes.
    here = job.nodes.processes()
    return {rank: here.get((f"node{run.nodes[rank]}", pid)) for rank, pid in pids.items()}


def _has_begun(run, folder):
    """Over nodes the start takes seconds: there the time of faults counts from the first group of a rank."""
    if not run.nodes or run.kind == "start and end":
        return True
    return any(word in path.read_text(encoding="utf-8") for path in folder.glob("journal.*") for word in (" created ", " refused "))


class Watch:
    """Looks at a job again and again: does the faults when they are due."""

    def __init__(self, run, job, outcome, launch=0):
        self.run, self.job, self.outcome, self.launch = run, job, outcome, launch
        self.faults = Faults(run, outcome, job.nodes if run.nodes else None)
        self.pids = None
        self.all_gone = None  # since when no rank has been alive

    def look(self):
        """Returns True when only the launcher is left, and does not end."""
        now = time.monotonic()
        if self.pids is None:
            self.pids = _read_pids(self.run, self.outcome.folder, self.job, self.launch)
        if self.faults.started is None and self._begins():
            self.faults.started = now
        if self.faults.started is not None:
            self.faults.look(now, self.pids)
        self.outcome.launcher_left = self._only_launcher_is_left(now)
        return self.outcome.launcher_left

    def _begins(self):
        if self.run.kind == "node at start" and self.job.nodes.are_ready():
            return True
        return self.pids is not None and _has_begun(self.run, self.outcome.folder)

    def _only_launcher_is_left(self, now):
        if self.pids is None or any(pid is not None and processes.is_alive(pid) for pid in self.pids.values()):
            self.all_gone = None
        elif self.all_gone is None:
            self.all_gone = now
        return self.all_gone is not None and now - self.all_gone > _GRACE + seconds_of_keepers(self.run)


class Launch:
    """A launch whose launcher is killed. Keepers live on: they are left to the next one."""

    def __init__(self, run, command, outcome, number, limit):
        self.run, self.outcome, self.number = run, outcome, number
        folder = outcome.folder / f"launch.{number}"
        without_points = _environment(replace(run, points=[]), outcome.folder)
        self.job = Job(mpirun(run.processes(), *command, outcome.folder), folder, limit, without_points)
        self.token = self.job.token
        self.watch = Watch(run, self.job, outcome, number)
        self.was_killed = False

    def _is_about_to_end(self):
        return any(" finish" in path.read_text(encoding="utf-8") for path in self.outcome.folder.glob("journal.*"))

    def _look(self):
        if self.watch.look():
            return True
        if self.watch.faults.started is None or time.monotonic() < self.watch.faults.started + self.run.launches[self.number]:
            return False
        # Ranks that end have their memory forgotten.
        if self._is_about_to_end():
            return False
        self.was_killed = True
        for process in self.job.find():
            if _name_of(process.pid) in ("prterun", "mpirun"):
                processes.send(process.pid, signal.SIGKILL)
        return False

    def run_it(self):
        """Returns whether the job was killed, and has to be started again."""
        with self.job as job:
            job.follow(self._look, _PAUSE)
            processes.wait_until(lambda: not [one for one in job.find() if _name_of(one.pid) == "torture"], 10)
            if job.hung or self._is_about_to_end():
                # Ranks that were cut off at their end may not have had their memory forgotten: it is kept, and then written.
                if self.was_killed:
                    processes.wait_until(lambda: not [one for one in job.find() if _name_of(one.pid) == "fenix-keeper"], _LEASE_AND_MORE)
                left = job.finish()
                if self.was_killed:
                    left.memory = []  # of Open MPI
                    self.outcome.cut_at_end = not job.hung
                self.outcome.left = left.complaints()
                shutil.copy(job.output, self.outcome.folder / "output.txt")
                self.outcome.seconds, self.outcome.status, self.outcome.hung = job.seconds, job.status, job.hung
                return False
            # The token by which processes are found stays with the keeper.
            job.token = "FENIX_JOB=none"
            return True


def _name_of(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def supervise(run, command, work, limit):
    """Returns an Outcome; its folder is the caller's to remove."""
    folder = Path(tempfile.mkdtemp(prefix=f"{run.seed}.", dir=work))
    (folder / "plan").write_text(run.plan_text(), encoding="utf-8")
    outcome = Outcome(folder)
    tokens = []
    for number in range(len(run.launches)):
        launch = Launch(run, command, outcome, number, limit)
        tokens.append(launch.token)
        if not launch.run_it():
            break
    else:
        _run_to_the_end(run, command, outcome, limit)
    # Keepers that earlier launches have started end with the last one. Where that was cut at its end, they may still have its memory.
    limit_of_keepers = _LEASE_AND_MORE if outcome.cut_at_end else 10
    for token in tokens:
        if not processes.wait_until(lambda token=token: not processes.find(token), limit_of_keepers):
            outcome.left += [f"a keeper: {one.pid}" for one in processes.find(token)]
            processes.kill(token)
    return _look_at_store(run, command, outcome)


def _run_to_the_end(run, command, outcome, limit):
    with make_job(run, command, outcome.folder, limit) as job:
        job.follow(Watch(run, job, outcome, len(run.launches)).look, _PAUSE)
        outcome.left = job.finish().complaints()
    outcome.seconds, outcome.status, outcome.hung = job.seconds, job.status, job.hung


def _look_at_store(run, command, outcome):
    # Beside the program, as it was built.
    folder = outcome.folder
    index = Path(command[-1]).resolve().parents[2] / "tools/fenix-index"
    if run.flush and index.exists() and (folder / "store").exists():
        verified = subprocess.run([index, folder / "store", "--verify", "all"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=120, check=False)
        outcome.damaged = verified.stdout if verified.returncode else ""
    return outcome

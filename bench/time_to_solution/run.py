# SPDX-License-Identifier: BSD-3-Clause
"""One run: heat2d from its first start to the solution, with the failures that it meets."""
import filecmp
import os
import re
import shutil
import signal
import struct
import time
from pathlib import Path

from harness import environment, processes
from harness.job import Job, mpirun

import memory

# Variables of scripts/env.sh that let a job live on when a rank dies. A job without recovery is to end.
_RECOVERY = ("PRTE_MCA_state_base_recoverable", "PRTE_MCA_state_base_notify_errors", "PRTE_MCA_state_base_error_non_zero_exit")

# Lines of heat2d that are counted.
_SAYINGS = {"without_successor": "nobody took over", "no_checkpoint": "there was no checkpoint yet",
            "lost": "all copies of a checkpoint were lost"}
# Lines of heat2d that tell that the ranks have their data again.
_RESUMED = re.compile("all went on from|all started again from|goes on from the files|no files yet")


def variables_of(way):
    """Returns the environment of a way's jobs."""
    variables = environment.load()
    environment.share_cores(variables)
    if not way.with_recovery:
        for name in _RECOVERY:
            variables.pop(name, None)
    return variables


def plain_mpirun(ranks, *program):
    return ["mpirun", "-n", str(ranks), *map(str, program)]


def count_cells(folder):
    """Returns the number of cells that all processes have computed, the dead ones included."""
    return sum(struct.unpack("=q", path.read_bytes())[0] for path in Path(folder).glob("*") if re.fullmatch(r".+-\d+", path.name))


class Run:
    """heat2d in one way. After run(), `result` has the figures."""

    def __init__(self, setup, way, failures, folder, limit):
        """failures: iterator of Failure. limit: seconds after which the run is given up."""
        self.setup, self.way, self.folder, self.limit = setup, way, Path(folder), limit
        self.failures = iter(failures)
        self.next = next(self.failures, None)
        self.begin = self.done = None
        self.job = None
        self.starts = self.missed = 0
        self.waiting_since = None  # a failure after which the ranks have not gone on yet
        self.down = []  # seconds from a failure until all ranks have their data again
        self.said = dict.fromkeys(_SAYINGS, 0)
        self.deaths = None  # as heat2d has counted them
        self.killed, self.problems = [], []
        self.memory = memory.Peaks()

    @property
    def pids(self):
        return self.folder / "out/pids"

    def elapsed(self):
        return time.monotonic() - self.begin

    # ----------------------------------------------------------------------------------------------------- while it runs

    def active_processes(self):
        """Returns the process ids of living ranks that compute, in the order of their ranks. Spares are not among them."""
        found = {}
        for path in self.pids.glob("rank-*"):
            text = path.read_text(encoding="utf-8").strip() if path.name[5:].isdigit() else ""
            if text.isdigit():
                found[int(path.name[5:])] = int(text)
        # A communicator that has shrunk leaves files of ranks that there are no more.
        ordered = dict.fromkeys(pid for _, pid in sorted(found.items()))
        return [pid for pid in ordered if processes.is_alive(pid)]

    def is_computing(self):
        """Tells whether all ranks of this start have begun: a failure that is due before then waits."""
        return len(list(self.pids.glob("rank-*"))) >= self.setup.ranks

    def look(self):
        """Is called again and again while a job runs."""
        for line in self.job.new_lines():
            self.on_line(line)
        if self.done is None and self.next and self.is_due(self.next):
            self.strike()
        self.memory.sample(self.job, self.active_processes)

    def is_due(self, failure):
        return (self.elapsed() >= failure.due and self.is_computing() and
                (not failure.steps or self.steps_computed() >= failure.steps))

    def steps_computed(self):
        """Returns the steps of the whole plate that have been computed, repeated ones included."""
        return count_cells(self.folder / "out/work") / (self.setup.width * self.setup.height)

    def on_line(self, line):
        done = re.match(r"heat2d: done: .* deaths: (\d+)", line)
        if done:
            self.done, self.deaths = self.elapsed(), int(done[1])
        if _RESUMED.search(line) and self.waiting_since is not None:
            self.down.append(self.elapsed() - self.waiting_since)
            self.waiting_since = None
        for what, text in _SAYINGS.items():
            self.said[what] += text in line

    def strike(self):
        """Kills the victim of the failure that is due."""
        candidates = self.active_processes()
        ranks = {process.pid for process in self.job.find() if process.is_rank}
        candidates = [pid for pid in candidates if pid in ranks]
        if not candidates:
            return
        victim = self.next.victim(candidates, self.setup.ranks)
        if victim is None:
            self.missed += 1
        else:
            at = self.elapsed()
            processes.send(victim, signal.SIGKILL)
            self.killed.append({"due": self.next.due, "at": at, "process": victim})
            self.waiting_since = self.waiting_since or at
        self.next = next(self.failures, None)

    # --------------------------------------------------------------------------------------------------------------- jobs

    def command(self):
        out = self.folder / "out"
        program = [self.setup.program, *self.setup.arguments(), "--out", out, "--final", self.folder / "final.raw",
                   *self.way.arguments(self.setup, self.folder / "checkpoints")]
        launch = mpirun if self.way.with_recovery else plain_mpirun
        return launch(self.setup.ranks + self.way.spares(self.setup), *program)

    def start_once(self, variables):
        """Runs one job to its end. Returns whether another one is to follow."""
        self.starts += 1
        deaths_before = len(self.killed)
        # The ranks of the job before must not be taken for those of this one.
        shutil.rmtree(self.pids, ignore_errors=True)
        remaining = max(1.0, self.limit - self.elapsed())
        with Job(self.command(), self.folder / f"start-{self.starts}", remaining, variables) as self.job:
            self.job.follow(self.look, pause=0.01)
            self.look()
            self.check_end(self.job.finish())
        ended_by_a_death = len(self.killed) > deaths_before
        return self.done is None and not self.way.with_recovery and ended_by_a_death and not self.job.hung

    def check_end(self, left):
        if self.job.hung:
            self.problems.append("done, but mpirun did not end" if self.done is not None else "given up at its limit")
        self.problems += left.complaints()

    def run(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.begin, variables = time.monotonic(), variables_of(self.way)
        self.begin = time.monotonic()
        while self.start_once(variables):
            pass
        if self.done is None and not self.problems:
            self.problems.append(f"ended without the solution (status {self.job.status})")
        return self.result()

    def result(self):
        return {"way": self.way.name, "seconds": self.done, "starts": self.starts, "failures": self.killed, "missed": self.missed, "down": self.down,
                "deaths": self.deaths,
                "steps": self.steps_computed(), "problems": self.problems, **self.said, **self.memory.figures()}


def is_identical(folder, reference):
    """Tells whether the run has the same field as another one, byte for byte."""
    final = Path(folder) / "final.raw"
    return final.exists() and filecmp.cmp(final, reference, shallow=False)


def remove_large_files(folder):
    """Keeps what the job has printed."""
    for name in ("final.raw", "checkpoints"):
        path = Path(folder) / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.exists():
            os.unlink(path)

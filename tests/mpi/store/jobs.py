# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on one store, and what is known of them."""
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from harness import environment, processes
from harness.job import Job, mpirun


class Jobs:
    """Jobs on one store."""

    def __init__(self, program, work):
        self.program, self.work = program, work
        shutil.rmtree(work, ignore_errors=True)
        self.store = work / "store"
        self.store.mkdir(parents=True)
        self.variables = environment.load()
        environment.share_cores(self.variables)
        self.variables["FENIX_STORE"] = str(self.store)
        self.tools = Path(program).resolve().parents[3] / "tools"
        self.number = 0

    def run(self, ranks, *arguments, spares=0, killed=0, variables=None, look=None, ends=True, command=None):
        """Returns what the job has printed. killed: ranks that do not end. look: called with the job while it runs."""
        self.number += 1
        given = dict(self.variables, STORE_SPARES=str(spares), **(variables or {}))
        folder = self.work / f"job.{self.number}"
        started = mpirun(ranks + spares, self.program, *arguments)
        if command:
            started = [*map(str, command), *started[3:]]
        with Job(started, folder, 90, given) as job:
            job.follow(look and (lambda: look(job)))
            hung = job.hung
            left = job.finish()
            text = job.text()
        if "Killed" in text:
            left.memory = []  # of Open MPI, whose launcher was killed
        ended = text.count("FENIX-TEST-OK")
        wrong = ends and ended != ranks + spares - max(killed, spares)
        if hung or "FENIX-TEST-FAIL" in text or wrong or (ends and left.complaints()):
            fail(f"job {self.number}: {'hung, ' if hung else ''}{ended} ranks have ended; {left.complaints()}\n{text}")
        shutil.rmtree(folder, ignore_errors=True)
        return text

    def start(self, ranks, *arguments, variables, look):
        """Runs a job that is killed by look, and lets its keeper live on. Returns what the job has printed."""
        self.number += 1
        folder = self.work / f"job.{self.number}"
        with Job(mpirun(ranks, self.program, *arguments), folder, 60, dict(self.variables, **variables)) as job:
            job.follow(lambda: look(job))
            if job.hung:
                fail(f"job {self.number} hung\n{job.text()}")
            def ranks():
                return [one.pid for one in job.find() if name_of(one.pid) == "store_job"]

            # Its ranks notice the end of mpirun, as a rule: docs/known-issues.md.
            if not processes.wait_until(lambda: not ranks(), 10):
                for pid in ranks():
                    processes.send(pid, signal.SIGKILL)
            # The token by which processes are found stays with the keeper.
            job.find = lambda: []
            job.token = "FENIX_JOB=none"
            return job.text()

    def keepers(self):
        """Returns the keepers of this store that live."""
        return [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if self.is_keeper(folder)]

    def is_keeper(self, folder):
        """folder: of a process, in /proc."""
        try:
            is_keeper = (folder / "comm").read_text().strip() == "fenix-keeper"
            is_ours = f"FENIX_STORE={self.work}/".encode() in (folder / "environ").read_bytes()
            return is_keeper and is_ours and "Z" not in (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return False

    def await_keepers(self):
        if not processes.wait_until(lambda: not self.keepers(), 20):
            fail(f"keepers are left: {self.keepers()}")

    def kill_keepers(self):
        """Kills the keepers that live, and waits for their ends: a job that goes on starts others."""
        killed = self.keepers()
        for pid in killed:
            processes.send(pid, signal.SIGKILL)
        if not processes.wait_until(lambda: not any(self.is_keeper(Path("/proc") / str(pid)) for pid in killed), 20):
            fail(f"killed keepers are left: {killed}")

    def tool(self, name, *arguments, status=0):
        """Returns what a tool for stores has printed."""
        done = subprocess.run([self.tools / name, self.store, *map(str, arguments)], env=self.variables, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        if done.returncode != status:
            fail(f"{name} {arguments}: status {done.returncode}\n{done.stdout}")
        return done.stdout

    def end(self):
        """Checks that nothing unfinished is left, and removes the store."""
        shutil.rmtree(self.work, ignore_errors=True)


def fail(why):
    print(f"check-jobs: {why}", file=sys.stderr)
    sys.exit(1)


def start_of(text):
    """Returns run and step with which a job has begun."""
    found = re.search(r"^run (\d+) from (-?\d+) of", text, re.MULTILINE)
    return (int(found[1]), int(found[2])) if found else (0, None)


def expect(got, wanted, what):
    if got != wanted:
        fail(f"{what} is {got}, not {wanted}")


def name_of(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def launchers_of(job):
    return [process.pid for process in job.find() if name_of(process.pid) in ("prterun", "mpirun")]


def kill_launcher(job):
    for pid in launchers_of(job):
        processes.send(pid, signal.SIGKILL)


def fresh_store(jobs):
    shutil.rmtree(jobs.store)
    jobs.store.mkdir()

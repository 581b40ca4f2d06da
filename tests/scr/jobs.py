# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of programs for SCR, one after the other on one prefix folder."""
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import environment, processes  # noqa: E402
from harness.job import Job, exit_on_signals, mpirun  # noqa: E402

LIMIT = 60  # seconds
GROUP = 0x534352


class Jobs:
    """Jobs on one prefix folder, which is their working folder as well."""

    def __init__(self, programs, tools, work, is_cached):
        self.programs, self.tools, self.work = programs, tools, work
        shutil.rmtree(work, ignore_errors=True)
        self.prefix = work / "prefix"
        self.prefix.mkdir(parents=True)
        self.store = self.prefix / ".scr/fenix"
        self.variables = environment.load()
        environment.share_cores(self.variables)
        # With SCR_CACHE_BYPASS=0, files are private ones, and checkpoints are in memory.
        self.is_cached = is_cached
        if is_cached:
            self.variables["SCR_CACHE_BYPASS"] = "0"
        self.number = 0

    def run(self, ranks, *arguments, program="scr_job", killed=0, variables=None, look=None, ends=True, told=False, folder=None, command=(), wrapper=()):
        """Returns what the job has printed. killed: ranks that do not end. look: called with the job while it runs.

        told: ranks may complain. command: what starts mpirun. wrapper: command that starts the program on each rank.
        """
        self.number += 1
        own = self.work / f"job.{self.number}"
        # Programs look for their prefix where they are started.
        started = mpirun(ranks, *wrapper, self.programs / program, *arguments)
        if command:
            started = [*map(str, command), *started[3:]]
        with Job(["env", f"--chdir={folder or self.prefix}", *started], own, LIMIT, dict(self.variables, **(variables or {}))) as job:
            job.follow(look and (lambda: look(job)))
            hung = job.hung
            left = job.finish()
            text = job.text()
        if "Killed" in text:
            left.memory = []  # of Open MPI, whose launcher was killed
        ended = text.count("FENIX-TEST-OK")
        if hung or ("FENIX-TEST-FAIL" in text and not told) or (ends and (ended != ranks - killed or left.complaints())):
            fail(f"job {self.number}: {'hung, ' if hung else ''}{ended} ranks have ended; {left.complaints()}\n{text}")
        shutil.rmtree(own, ignore_errors=True)
        return text

    def tool(self, name, *arguments):
        """Returns what a tool for stores has printed."""
        return subprocess.run([self.tools / name, self.store, *map(str, arguments)], env=self.variables, stdout=subprocess.PIPE,
                              text=True, timeout=LIMIT, check=True).stdout

    def stored(self, pattern=r"ckpt\.\d+|scr\.dataset\.\d+"):
        """Returns the names of the datasets in the store."""
        listed = json.loads(self.tool("fenix-index", "--json"))
        return sorted(name for each in listed for name in each["names"] if re.fullmatch(pattern, name))


def fail(why):
    print(f"check-jobs: {why}", file=sys.stderr)
    sys.exit(1)


def expect(got, wanted, what):
    if got != wanted:
        fail(f"{what} is {got}, not {wanted}")


def steps_of(text):
    return [int(step) for step in re.findall(r"^step (\d+)$", text, re.MULTILINE)]


def start_of(text):
    found = re.search(r"^from (-?\d+)", text, re.MULTILINE)
    return int(found[1]) if found else None


def calls_of(text):
    """Returns what scr_calls has said."""
    return re.findall(r"^((?:have|wrote|failed|need|dropped|chosen) \S*)$", text, re.MULTILINE)


def kill_at(step):
    """Returns a look that kills mpirun when a step is done."""
    def look(job):
        if step in steps_of(job.text()):
            kill_launcher(job)
            return True
        return False
    return look


def kill_all_at(step):
    """Returns a look that kills mpirun and all ranks when a step is done."""
    def look(job):
        if step not in steps_of(job.text()):
            return False
        for process in job.find():
            processes.send(process.pid, signal.SIGKILL)
        return True
    return look


def kill_launcher_once(step):
    """Returns a look that kills mpirun once, when a step is done, and lets the job go on: what it prints says too late that it was started again."""
    killed = []

    def look(job):
        if not killed and max(steps_of(job.text()), default=0) >= step:
            kill_launcher(job)
            killed.append(step)
        return False
    return look


def kill_launcher(job):
    send_to(job, ("prterun", "mpirun"), signal.SIGKILL)


def stop_keeper(jobs, number):
    """Returns a look that stops the keeper after the first line of scr_calls, and has it go on after so many more. Files say so: stopped, going."""
    def look(job):
        lines = len(calls_of(job.text()))
        for file, least, what in (("stopped", 1, signal.SIGSTOP), ("going", 1 + number, signal.SIGCONT)):
            if lines >= least and not (jobs.prefix / file).exists():
                send_to(job, ("fenix-keeper",), what)
                (jobs.prefix / file).touch()
        return False

    for file in ("stopped", "going"):
        (jobs.prefix / file).unlink(missing_ok=True)
    return look


def send_to(job, names, what):
    for process in job.find():
        try:
            name = Path(f"/proc/{process.pid}/comm").read_text(encoding="ascii").strip()
        except OSError:
            continue
        if name in names:
            processes.send(process.pid, what)

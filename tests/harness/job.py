# SPDX-License-Identifier: BSD-3-Clause
"""A job: started, supervised under a hard limit, ended, and searched for what it leaves."""
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import processes
from .shared_memory import SharedMemory

_LAST_RESORT = 30  # seconds after the limit at which a job ends whose supervisor has died
_PATIENCE = 2.0  # seconds for ranks that exit after mpirun


def mpirun(ranks, *program):
    """Returns the command that starts a program on this node."""
    return ["mpirun", "--with-ft", "ulfm", "-n", str(ranks), *map(str, program)]


def exit_on_signals():
    """Makes a signal end this program by SystemExit, so that with statements end its jobs."""
    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def leave(number, _):
        # A second signal is not to interrupt the cleaning up.
        for end in ends:
            signal.signal(end, signal.SIG_IGN)
        sys.exit(128 + number)

    for end in ends:
        signal.signal(end, leave)


@dataclass
class Leftovers:
    """What a job has left behind."""
    ranks: list = field(default_factory=list)  # process id, state and command line of each
    launchers: list = field(default_factory=list)  # processes that are no ranks: mpirun and its daemons
    memory: list = field(default_factory=list)  # files in /dev/shm
    temporary: list = field(default_factory=list)  # files and folders in TMPDIR and /tmp
    nodes: list = field(default_factory=list)  # lines of scripts/nodes --left

    def complaints(self):
        """Returns one line for each kind. Launchers are left out: they are Open MPI's own."""
        kinds = [("left running", self.ranks), ("left in /dev/shm", self.memory), ("left on a node", self.nodes),
                 ("left in /tmp", self.temporary)]
        return [f"{title}: {'; '.join(map(str, some))}" for title, some in kinds if some]


class Job:
    """A command with all processes that it starts.

    Use it in a with statement: however that ends, no process of the job lives on.
    """

    def __init__(self, command, folder, limit, environment, *, own_memory=True, guarded=True):
        """folder: where output, stacks and a TMPDIR of its own go. limit: seconds until the job counts as hung.

        guarded: the job ends some time after its limit even if this process is killed.
        """
        self.folder = Path(folder)
        self.limit = limit
        self.output = self.folder / "output.txt"
        self.stacks = self.folder / "stacks.txt"
        self.temporary = self.folder / "tmp"
        self.token = f"FENIX_JOB={secrets.token_hex(8)}"
        self.process = None
        self.hung = False
        self.seconds = 0.0
        self._memory = SharedMemory(self.folder / "shm-left") if own_memory else None
        self._command = self._memory.wrap(list(command)) if own_memory else list(command)
        if guarded:
            self._command = ["timeout", "-s", "KILL", str(int(limit) + _LAST_RESORT), *self._command]
        name, value = self.token.split("=")
        # Files that are left in a TMPDIR of its own are known to be the job's.
        self._environment = dict(environment, TMPDIR=str(self.temporary), **{name: value})
        self._started = self._stamp = self._read = 0

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()

    def start(self):
        self.temporary.mkdir(parents=True)
        # The clock of the file system: that of time.time() may be some milliseconds ahead.
        self._stamp = self.temporary.stat().st_mtime_ns
        self._started = time.monotonic()
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(self._command, env=self._environment, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=subprocess.STDOUT, start_new_session=True)
        return self

    # ------------------------------------------------------------------------------------------------- while it runs

    @property
    def status(self):
        """The exit status as a shell has it: 128 and the number of the signal for a command that was killed."""
        status = self.process.poll()
        return status if status is None or status >= 0 else 128 - status

    def is_running(self):
        return self.process.poll() is None

    def find(self):
        """Returns all living processes of the job."""
        return processes.find(self.token)

    def kill_rank(self, number):
        """Kills a rank, and what it has started. Returns whether it was there."""
        found = [process.pid for process in self.find() if process.is_rank and processes.rank_of(process.pid) == number]
        for pid in found:
            processes.send(pid, signal.SIGKILL)
        return bool(found)

    def follow(self, look=None, pause=0.02):
        """Waits until the job ends. At its limit it is hung: its stacks are saved, and it is killed.

        look: called without arguments again and again. The wait ends early if it returns True.
        """
        while self.is_running():
            if look and look():
                return
            if time.monotonic() > self._started + self.limit:
                self.hung = True
                self.save_stacks()
                self.kill()
                return
            time.sleep(pause)
        self.seconds = time.monotonic() - self._started

    def new_lines(self):
        """Returns the lines that the job has printed since the last call. The last line may be incomplete when it has ended."""
        ended = not self.is_running()
        with open(self.output, "rb") as output:
            output.seek(self._read)
            text = output.read()
        if not ended:
            text = text[:text.rfind(b"\n") + 1]
        self._read += len(text)
        return text.decode(errors="replace").splitlines()

    def text(self):
        """Returns all that the job has printed."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def save_stacks(self):
        self.stacks.write_text(processes.stacks(processes.ranks(self.token)), encoding="utf-8")

    # --------------------------------------------------------------------------------------------------- its end

    def kill(self):
        """Kills all processes of the job and waits until they are gone."""
        if self.process is None:
            return
        if not self.seconds:
            self.seconds = time.monotonic() - self._started
        remaining = processes.kill(self.token)
        if not remaining:
            self.process.wait()

    def finish(self):
        """Ends the job, if it has not ended by itself, and returns what it has left. No process of it lives afterwards."""
        ended = not self.hung and not self.is_running()
        left = Leftovers()
        processes.wait_until(lambda: not processes.ranks(self.token), _PATIENCE if ended else 0)
        found = self.find()
        if not self.hung:
            left.ranks = [processes.describe(process.pid) for process in found if process.is_rank]
        if left.ranks:
            self.save_stacks()
        if ended:
            left.launchers = [process.pid for process in found if not process.is_rank]
        self.kill()
        memory = self._memory.left(_PATIENCE if ended else 0) if self._memory else []
        if ended:
            left.memory, left.nodes, left.temporary = memory, self._left_on_nodes(), self._left_in_tmp()
        if self._memory:
            self._memory.remove(memory)
        shutil.rmtree(self.temporary, ignore_errors=True)
        return left

    def _left_on_nodes(self):
        return []

    def _left_in_tmp(self):
        """Returns what is named after Fenix in the job's TMPDIR, and what is new and named so where others have theirs."""
        outside, folder = Path(tempfile.gettempdir()), self.folder.resolve()
        found = [path for path in self.temporary.iterdir() if "fenix" in path.name.lower()]
        for path in outside.iterdir():
            # scripts/nodes of somebody else has its folder there for a while, and so have keepers of other jobs.
            if "fenix" not in path.name.lower() or path.name.startswith(("fenix-nodes.", "fenix-keeper-")) or path in (folder, *folder.parents):
                continue
            try:
                if path.lstat().st_mtime_ns > self._stamp:
                    found.append(path)
            except OSError:
                continue
        return sorted(found)

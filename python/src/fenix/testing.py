# SPDX-License-Identifier: BSD-3-Clause
"""Tests of programs that have to survive kill -9: runs functions under mpirun, kills ranks, and collects what each rank says.

The plug-in of pytest stands on it: see the marker and the fixture in docs/python.md."""
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Union

_TOKEN = "FENIX_TEST_TOKEN"
_SPECIFICATION = "specification.pickle"
# Ranks that the library kills at a point of its own, in builds with fault injection.
_FAULT = "FENIX_FAULT"
# Names of the files of Open MPI's shared memory: of its transport, its windows, and its allocator.
_OF_OPEN_MPI = re.compile(r"(sm_segment|vader_segment|osc_rdma|osc_sm|open_mpi)\.")
_PATIENCE = 5.0  # seconds for mpirun when all ranks have ended


@dataclass(frozen=True)
class Kill:
    """A rank that is to die by kill -9.

    `rank`: its number in the communicator at the start. `point`: a method of Group, as "store", "commit" or "restore", or a fault point of
    the library, as "commit.held", which needs a library that was built with FENIX_FAULT_INJECTION. `count`: which call of the method, or
    passing of the point, counted from 1. `delay`: seconds from the beginning of that call; it may have ended by then."""

    rank: int
    point: str
    count: int = 1
    delay: float = 0.0

    @property
    def in_library(self) -> bool:
        """Whether the point is one of the library."""
        return "." in self.point


@dataclass
class Rank:
    """One process of a run, and the way it has ended.

    `number`: its rank in MPI.COMM_WORLD. `status`: "passed", "failed", "spare" (never needed), "killed" (as was wanted), "ended" (by the failure
    of another one) or "lost" (ended without a word). `output`: all that it has printed, tracebacks included. `result`: what the function has returned."""

    number: int
    status: str = "lost"
    output: str = ""
    result: Any = None
    pid: int = 0


@dataclass
class Outcome:
    """Result of a run. `ranks`: all processes. `launcher`: what mpirun itself has said. `hung`: whether the time limit ended it. `complaints`:
    why it is no success, empty for a success. `seconds`: how long it took."""

    ranks: List[Rank] = field(default_factory=list)
    launcher: str = ""
    hung: bool = False
    status: Optional[int] = None
    seconds: float = 0.0
    complaints: List[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether all went as it should: no complaints."""
        return not self.complaints

    @property
    def results(self) -> List[Any]:
        """The results of the function on the ranks that passed, ordered by their rank in MPI.COMM_WORLD."""
        return [rank.result for rank in self.ranks if rank.status == "passed"]

    def count(self, status: str) -> int:
        """Counts the ranks with a status."""
        return sum(rank.status == status for rank in self.ranks)

    def report(self) -> str:
        """Returns complaints and the output of each rank as a text."""
        lines = [*self.complaints, f"after {self.seconds:.1f} s; mpirun ended with {self.status}"]
        for rank in self.ranks:
            lines += [f"--- rank {rank.number} (process {rank.pid}): {rank.status}", *rank.output.splitlines()[-80:]]
        if self.launcher.strip():
            lines += ["--- mpirun", *self.launcher.splitlines()[-40:]]
        return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------ inside of a rank


def _die(note: str) -> None:
    folder = os.environ.get("FENIX_TEST_FOLDER")
    if folder:
        Path(folder, f"killed-{os.getpid()}").write_text(note, encoding="utf-8")
    os.kill(os.getpid(), signal.SIGKILL)
    # The signal is on its way.
    time.sleep(60)


def kill_here(rank: Optional[int] = None, when: bool = True) -> None:
    """Kills the calling process by kill -9, if `when` holds and its rank in the resilient communicator is `rank` (None: any).

    It does so only as long as no failure has been repaired: the replacement, which comes to the same place, goes on."""
    from ._codes import Role
    from ._session import current

    session = current()
    if when and session.role == Role.INITIAL_RANK and rank in (None, session.comm.Get_rank()):
        _die("kill_here")


def kill_process(pid: int) -> None:
    """Kills another process of the run by kill -9, as is wanted: it does not count as lost."""
    folder = os.environ.get("FENIX_TEST_FOLDER")
    if folder:
        Path(folder, f"killed-{pid}").write_text("kill_process", encoding="utf-8")
    os.kill(pid, signal.SIGKILL)


def rank_pid(rank: int, comm: Any) -> int:
    """Returns the process id of a rank of `comm`. Collective. For tests that kill other ranks by os.kill."""
    return int(comm.allgather(os.getpid())[rank])


# ------------------------------------------------------------------------------------------------------------ processes


def _processes(token: str) -> List[int]:
    """Returns the processes that have the token in their environment: all of the run, whoever their parent is by now."""
    needle, found = f"{_TOKEN}={token}".encode(), []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                if needle in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                    found.append(int(entry))
            except OSError:
                continue
    return found


def _shared_files(pids: Sequence[int], begin: float) -> Set[Path]:
    """Returns the files of Open MPI in /dev/shm that processes use, and that are no older than the run. Others belong to somebody."""
    files = set()
    for pid in pids:
        try:
            maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for file in map(Path, re.findall(r" (/dev/shm/[^/\s]+)$", maps, re.MULTILINE)):
            try:
                is_of_run = _OF_OPEN_MPI.match(file.name) and file.stat().st_ctime >= begin
            except OSError:
                continue
            if is_of_run:
                files.add(file)
    return files


def _send(pids: Sequence[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _end(token: str, begin: float) -> None:
    """Kills all processes of a run, and removes the shared memory that Open MPI leaves of it. begin: time of the run."""
    files: Set[Path] = set()
    for _ in range(500):
        pids = _processes(token)
        files |= _shared_files(pids, begin)
        if not pids:
            break
        _send(pids, signal.SIGKILL)
        time.sleep(0.02)
    for file in files:
        file.unlink(missing_ok=True)


# ------------------------------------------------------------------------------------------------------------------ runs


def run(function: Callable[..., Any], *arguments: Any, ranks: int = 3, spares: int = 0, kill: Union[Kill, Sequence[Kill]] = (),
        timeout: float = 60.0, resilient: bool = True, env: Optional[Mapping[str, str]] = None,
        mpirun: Optional[Sequence[str]] = None, **keywords: Any) -> Outcome:
    """Runs function(*arguments, **keywords) under mpirun on `ranks` ranks and `spares` more, and returns the Outcome.

    `function`: one of a module, not of another function; arguments and results are pickled. `resilient`: it is called as
    function(session, ...), again after each failure; otherwise as it is, and calls fenix.init itself. `kill`: ranks that die.
    `timeout`: seconds after which the run counts as hung and is killed, with the Python stacks of all ranks in their output. `env`: more
    variables. `mpirun`: the command, by default $FENIX_MPIRUN, or mpirun --with-ft ulfm. Raises ValueError for a function that ranks cannot
    import."""
    return run_with(function, arguments, keywords, ranks=ranks, spares=spares, kill=kill, timeout=timeout, resilient=resilient, env=env,
                    mpirun=mpirun)


def run_with(function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any], *, ranks: int = 3, spares: int = 0,
             kill: Union[Kill, Sequence[Kill]] = (), timeout: float = 60.0, resilient: bool = True,
             env: Optional[Mapping[str, str]] = None, mpirun: Optional[Sequence[str]] = None) -> Outcome:
    """Does the same as run, for a function whose arguments may have the names of its options."""
    kills = [kill] if isinstance(kill, Kill) else list(kill)
    module = sys.modules[function.__module__]
    if "<" in function.__qualname__ or not getattr(module, "__file__", None):
        raise ValueError(f"{function.__qualname__} is no function of a module's file: ranks cannot import it")
    folder = Path(tempfile.mkdtemp(prefix="mpirun-test-"))
    token, started = f"{os.getpid()}-{time.monotonic_ns()}", time.time()
    try:
        (folder / _SPECIFICATION).write_bytes(
            pickle.dumps({
                "path": sys.path, "module": function.__module__, "file": module.__file__, "name": function.__qualname__,
                "arguments": tuple(arguments), "keywords": dict(keywords), "spares": spares, "resilient": resilient,
                "kills": [each for each in kills if not each.in_library]
            }))  # yapf: disable
        (folder / "tmp").mkdir()
        return _run(folder, token, started, kills, ranks + spares, timeout, dict(env or {}), mpirun)
    finally:
        _end(token, started)
        shutil.rmtree(folder, ignore_errors=True)


def _run(folder: Path, token: str, started: float, kills: List[Kill], number: int, timeout: float, env: Dict[str, str],
         mpirun: Optional[Sequence[str]]) -> Outcome:
    faults = ",".join(f"{each.point}:{each.rank}:{each.count}" for each in kills if each.in_library)
    variables = {**os.environ, **({_FAULT: faults} if faults else {}), **env, _TOKEN: token, "FENIX_TEST_FOLDER": str(folder),
                 "TMPDIR": str(folder / "tmp"), "PYTHONUNBUFFERED": "1"}
    command = list(mpirun or os.environ.get("FENIX_MPIRUN", "mpirun --with-ft ulfm").split())
    command += ["-n", str(number), sys.executable, "-m", "fenix._rank", str(folder)]
    outcome, begin = Outcome(), time.monotonic()
    with open(folder / "mpirun.txt", "wb") as output:
        try:
            process = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       start_new_session=True)
        except OSError as error:
            outcome.complaints.append(f"{command[0]} cannot be run: {error}")
            return outcome
        outcome.hung = not _wait(process, folder, number, begin + timeout)
        outcome.status = process.poll()
        if outcome.hung:
            outcome.complaints.append(f"no end after {timeout} s")
            # The ranks write their stacks.
            _send([pid for pid in _processes(token) if (folder / f"pid-{pid}").exists()], signal.SIGUSR1)
            time.sleep(0.5)
        _end(token, started)
        process.wait()
    outcome.seconds = time.monotonic() - begin
    outcome.launcher = (folder / "mpirun.txt").read_text(encoding="utf-8", errors="replace")
    _collect(folder, outcome, kills, number)
    return outcome


def _wait(process: "subprocess.Popen[bytes]", folder: Path, number: int, deadline: float) -> bool:
    """Waits until a run has ended, and returns whether it did so in time. mpirun itself may stay when all its ranks have ended, for example by
    MPI_Abort: that is no failure of the program."""
    ended = None
    while process.poll() is None:
        now = time.monotonic()
        if now > deadline:
            return False
        pids = [int(file.name.split("-")[1]) for file in folder.glob("pid-*")]
        if len(pids) < number or any(map(_is_alive, pids)):
            ended = None
        elif ended is None:
            ended = now
        elif now > ended + _PATIENCE:
            return True
        time.sleep(0.02)
    return True


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def _collect(folder: Path, outcome: Outcome, kills: List[Kill], number: int) -> None:
    """Reads what the ranks have left."""
    for file in sorted(folder.glob("pid-*"), key=lambda file: int(file.read_text(encoding="utf-8"))):
        rank = Rank(int(file.read_text(encoding="utf-8")), pid=int(file.name.split("-")[1]))
        rank.output = (folder / f"output-{rank.pid}.txt").read_text(encoding="utf-8", errors="replace")
        report = folder / f"report-{rank.pid}"
        if report.exists():
            written = pickle.loads(report.read_bytes())
            rank.status, rank.result = written["status"], written["result"]
        elif (folder / f"killed-{rank.pid}").exists():
            rank.status = "killed"
        elif any(each.in_library and each.rank == rank.number for each in kills):
            rank.status = "killed"
        outcome.ranks.append(rank)
    if len(outcome.ranks) < number and not outcome.hung:
        outcome.complaints.append(f"only {len(outcome.ranks)} of {number} ranks have started")
    failed = bool(outcome.count("failed"))
    for rank in outcome.ranks:
        if failed and rank.status == "lost":
            rank.status = "ended"
        if rank.status == "failed" or (rank.status == "lost" and not outcome.hung):
            outcome.complaints.append(f"rank {rank.number} {'has failed' if rank.status == 'failed' else 'ended without a word'}")
    if not outcome.count("passed") and not outcome.complaints:
        outcome.complaints.append("no rank came to the end")
    for each in kills:
        if not any(rank.status == "killed" and rank.number == each.rank for rank in outcome.ranks) and not outcome.hung:
            outcome.complaints.append(f"rank {each.rank} was to be killed at {each.point}, and was not")



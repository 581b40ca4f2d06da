# SPDX-License-Identifier: BSD-3-Clause
"""Programs as their users write them: derived communicators, forks, threads, signals, ends of all kinds. Each does what it says, or is refused."""
import asyncio
import copy
import gc
import mmap
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import weakref

import fenix
import numpy as np
import pytest
from fenix import Code, Role, Subset
from fenix.testing import _TOKEN, _end, _is_alive, kill_here
from mpi4py import MPI


def rejects(kind, text, function, *arguments, **keywords):
    """Checks that a call raises an exception of this kind, with this text."""
    try:
        function(*arguments, **keywords)
    except kind as error:
        assert text in str(error), error
        return
    raise AssertionError(f"no {kind}")


def counts_up(session, steps=4):
    """A program that stores and restores: it must end with the same on all ranks, whatever was done before."""
    state = np.zeros(10)
    with session.group("counts") as group:
        group.define(0, state)
        group.restore(0, required=False)
        while state[0] < steps:
            assert session.comm.allreduce(state[0]) == state[0] * session.comm.size
            state += 1
            group.store(0)
            group.commit()
    return session.role.name


# ------------------------------------------------------------------------------------------------ derived communicators

DERIVED = {
    "Split": lambda comm: comm.Split(comm.rank // 2, comm.rank),
    "Dup": lambda comm: comm.Dup(),
    "Create_cart": lambda comm: comm.Create_cart((2, 2)).Sub((False, True)),
    "Split of Dup": lambda comm: comm.Dup().Split(comm.rank // 2),
    "Create_intercomm": lambda comm: comm.Split(comm.rank % 2).Create_intercomm(0, comm, 1 - comm.rank % 2)
}  # yapf: disable


def waits_in_a_row(session, name):
    """Rank 3 dies, of the other row. Rank 1 leaves its row for the repair, and rank 0 waits there for a message of rank 1."""
    comm = session.comm
    row = DERIVED[name](comm)
    if session.role == Role.INITIAL_RANK:
        comm.Barrier()
        kill_here(3)
        if comm.rank == 0:
            row.recv(source=0 if row.Is_inter() else 1)
            raise AssertionError("nobody has sent")
        comm.Barrier()
        comm.Barrier()
    # Derived anew, it works.
    assert row.allreduce(1) == (row.Get_remote_size() if row.Is_inter() else row.size)
    return counts_up(session)


def check_roles(outcome, ranks):
    assert outcome.passed, outcome.report()
    assert sorted(outcome.results) == ["RECOVERED_RANK"] + ["SURVIVOR_RANK"] * (ranks - 1), outcome.report()


@pytest.mark.parametrize("name", DERIVED)
def test_derived_communicators_are_revoked(fenix_run, name):
    check_roles(fenix_run(waits_in_a_row, name, ranks=4, spares=1, timeout=40), 4)


def keeps_what_is_not_derived():
    """Communicators from before the start, and their duplicates, go on after a repair. Rank 3 dies, which is in none of them."""
    lower = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank < 3 or MPI.UNDEFINED)
    session = fenix.init(spares=1)
    for attempt in session.attempts():
        with attempt:
            if session.role == Role.INITIAL_RANK and session.comm.rank < 3:
                copied = lower.Dup()
            if session.role == Role.INITIAL_RANK:
                kill_here(3)
                session.comm.Barrier()
                session.comm.Barrier()
            if session.comm.rank < 3:
                assert lower.allreduce(1) == copied.allreduce(1) == 3
            result = counts_up(session)
    return result


def test_what_is_not_derived_stays(fenix_run):
    check_roles(fenix_run(keeps_what_is_not_derived, ranks=4, spares=1, resilient=False, timeout=40), 4)


# ---------------------------------------------------------------------------------------------------- orders of import


def notices_on_world(session):
    """The death is met on MPI.COMM_WORLD first."""
    if session.role == Role.INITIAL_RANK:
        kill_here(3)
        MPI.COMM_WORLD.recv(source=3)
        raise AssertionError("a dead rank has sent something")
    return counts_up(session)


def first(tmp_path, lines):
    """Returns variables with which each Python begins with these lines, before fenix."""
    (tmp_path / "sitecustomize.py").write_text(lines, encoding="utf-8")
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
            "LD_LIBRARY_PATH": os.path.dirname(fenix.versions()["libmpi"])}


@pytest.mark.parametrize("errors", ["exception", "default"])
def test_mpi4py_comes_first(fenix_run, tmp_path, errors):
    """Programs import mpi4py.MPI where they like, and with the errors that they like."""
    env = first(tmp_path, f"import mpi4py\nmpi4py.rc.errors = '{errors}'\nfrom mpi4py import MPI\n")
    check_roles(fenix_run(waits_in_a_row, "Split", ranks=4, spares=1, timeout=40, env=env), 4)
    if errors == "default":
        # Its handlers of the two communicators that MPI makes would end the job.
        check_roles(fenix_run(notices_on_world, ranks=4, spares=1, timeout=40, env=env), 4)


def test_mpi4py_that_ends_jobs_is_refused(fenix_run, tmp_path):
    env = first(tmp_path, "import mpi4py\nmpi4py.rc.errors = 'fatal'\nfrom mpi4py import MPI\n")
    outcome = fenix_run(counts_up, ranks=2, timeout=40, env=env)
    assert not outcome.passed and not outcome.hung and 'ImportError: mpi4py.MPI was imported with mpi4py.rc.errors as "fatal"' in outcome.report()


# ---------------------------------------------------------------------------------------------------------------- forks


def in_child(work, status):
    """Runs work in a child of fork, which then ends as Python ends, and checks its status."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        work()
        sys.exit(0)
    deadline = time.monotonic() + 30
    while True:
        ended, how = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError("a child does not end")
        time.sleep(0.01)
    assert os.WIFEXITED(how) and os.WEXITSTATUS(how) == status, how


def uses_in_process(group, session, results):
    """A function of multiprocessing: it may compute, and not use the library."""
    try:
        group.store(0)
    except fenix.Error as error:
        results.put((error.code, error.text, session.active, os.getpid()))


def forks(session):
    state = np.arange(10.0)

    def refused():
        assert not session.active and fenix.finalized()
        for call in (lambda: group.store(0), group.commit, lambda: session.group(3), fenix.current, session.abort):
            try:
                call()
            except fenix.Error as error:
                assert error.code == Code.ERROR_UNINITIALIZED
            else:
                os._exit(3)
        rejects(fenix.Error, "child of fork", group.store, 0)
        rejects(fenix.Error, "child of fork", fenix.init)
        session.finalize()

    with session.group(0) as group:
        group.define(0, state)
        group.store(0)
        in_child(lambda: None, 0)
        in_child(refused, 0)
        in_child(lambda: sys.exit(5), 5)
        # Without a word that the harness would take for a failure of the rank.
        in_child(lambda: os._exit(1 // 1), 1)
        context = multiprocessing.get_context("fork")
        results = context.Queue()
        process = context.Process(target=uses_in_process, args=(group, session, results))
        process.start()
        code, text, active, pid = results.get(timeout=30)
        process.join()
        assert code == Code.ERROR_UNINITIALIZED and "child of fork" in text and not active and pid == process.pid
        with context.Pool(2) as pool:
            assert pool.map(abs, [-1, -2]) == [1, 2]
        assert subprocess.run([sys.executable, "-c", "print(5)"], stdout=subprocess.PIPE, check=True).stdout == b"5\n"
        # A program of its own would be taken for its parent by MPI: the one hangs, and the other one too.
        done = subprocess.run([sys.executable, "-c", "import fenix"], stderr=subprocess.PIPE, text=True, timeout=30, check=False)
        assert done.returncode == 1 and "ImportError: this process is a child of rank" in done.stderr, done
        group.commit_barrier()
        kill_here(1)
        session.comm.barrier()
        state[:] = 0
        assert group.restore(0) and (state == np.arange(10.0)).all()
    return session.role.name


def test_fork(fenix_run):
    check_roles(fenix_run(forks, ranks=2, spares=1, timeout=60), 2)


def fails_in_child():
    """The child ends by an exception in the loop over attempts. The job goes on."""
    session = fenix.init()
    for attempt in session.attempts():
        with attempt:
            child = os.fork() if session.comm.rank == 0 else -1
            if child == 0:
                sys.stderr = open(os.devnull, "w", encoding="utf-8")
                raise LookupError("of the child")
            if child > 0:
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
            session.comm.barrier()
            result = counts_up(session)
    return result


def test_exception_in_a_child(fenix_run):
    outcome = fenix_run(fails_in_child, ranks=2, resilient=False, timeout=40)
    assert outcome.passed and outcome.results == ["INITIAL_RANK"] * 2, outcome.report()


# -------------------------------------------------------------------------------------------------------------- threads


class Raised(Exception):
    pass


@pytest.mark.fenix(ranks=2, timeout=60)
def test_exceptions_stay_in_their_thread(fenix_session, monkeypatch):
    """The serializer of one thread raises while another thread stores: each gets its own result."""
    is_kept, goes_on = threading.Event(), threading.Event()
    keep = fenix._errors.keep_exception

    def keep_and_wait(error):
        """Stays between the serializer and the end of the store."""
        keep(error)
        is_kept.set()
        goes_on.wait(30)

    def raising(file, stores, first, number):
        raise Raised(first)

    got = []

    def other():
        try:
            group.store(0)
        except BaseException as error:
            got.append(error)

    monkeypatch.setattr(fenix._errors, "keep_exception", keep_and_wait)
    values = np.arange(4.0)
    groups = [fenix_session.group(id) for id in range(2)]
    with groups[0] as group, groups[1] as second:
        group.define(0, values, serializer=lambda file, stores, first, number: file.write(values.tobytes()))
        group.store(0)
        group.commit_barrier()
        second.define(0, values)
        group.define(0, values, serializer=raising)
        thread = threading.Thread(target=other)
        thread.start()
        try:
            assert is_kept.wait(30)
            second.store(0)
        finally:
            goes_on.set()
            thread.join()
        second.commit_barrier()
        assert len(got) == 1 and isinstance(got[0], Raised), got


def meets_it_in_a_thread(session):
    """A thread meets the failure in a call of mpi4py, while the main thread waits for it. The callback of the repair raises there."""
    errors = []

    def work():
        try:
            while True:
                session.comm.allreduce(1)
        except MPI.Exception as error:
            errors.append(session.is_failure(error))

    if session.role == Role.INITIAL_RANK:
        kill_here(1)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert errors == [True]
    return counts_up(session)


def test_failure_in_a_thread(fenix_run):
    check_roles(fenix_run(meets_it_in_a_thread, ranks=3, spares=1, timeout=40), 3)


def raises_in_callback_of_a_thread(session):

    def callback(comm, error):
        raise Raised("in a callback")

    session.callback_register(callback)
    kill_here(1)

    def work():
        try:
            while True:
                session.comm.allreduce(1)
        except MPI.Exception:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_exception_of_a_callback_in_a_thread(fenix_run):
    outcome = fenix_run(raises_in_callback_of_a_thread, ranks=2, spares=1, timeout=30)
    assert not outcome.passed and not outcome.hung and "Raised: in a callback" in outcome.report(), outcome.report()


# ------------------------------------------------------------------------------------------------------- ways to leave


def leaves(how):
    """After a failure that the program has hidden, rank 0 leaves in some way. The others begin again."""
    session = fenix.init(spares=1)
    done = 0
    for attempt in session.attempts():
        with attempt:
            done += 1
            if session.role == Role.INITIAL_RANK:
                kill_here(1)
                try:
                    session.comm.barrier()
                    session.comm.barrier()
                except MPI.Exception:
                    pass
                if session.comm.rank == 0:
                    if how == "interrupt":
                        os.kill(os.getpid(), signal.SIGINT)
                        time.sleep(30)
                    elif how == "break":
                        break
                    elif how == "return":
                        return "left"
                    else:
                        sys.exit(how)
                else:
                    session.comm.recv(source=0)
            result = counts_up(session)
    return result


@pytest.mark.parametrize("how, text", [("interrupt", "KeyboardInterrupt"), (7, ""), ("no good", "no good"),
                                       ("break", "left by break, return or an exception"), ("return", "left by break, return or an exception")])
def test_leaving_after_a_hidden_failure(fenix_run, how, text):
    """Whoever leaves ends the job: the others would wait."""
    outcome = fenix_run(leaves, how, ranks=2, spares=1, resilient=False, timeout=30)
    assert not outcome.passed and not outcome.hung and text in outcome.report(), outcome.report()
    assert not outcome.count("passed")


def test_exit_without_an_error_is_a_return(fenix_run):
    """The others have begun again, so this rank does too."""
    check_roles(fenix_run(leaves, 0, ranks=2, spares=1, resilient=False, timeout=30), 2)


def interrupted(session):
    if session.comm.rank == 1:
        signal.raise_signal(signal.SIGINT)
    session.comm.barrier()


def test_interrupt(fenix_run):
    outcome = fenix_run(interrupted, ranks=2, timeout=30)
    assert not outcome.passed and not outcome.hung and "KeyboardInterrupt" in outcome.report(), outcome.report()


def returns_from_loop():
    """Without a failure, return and break are ends like others: the session ends with the program."""
    session = fenix.init(spares=1)
    for attempt in session.attempts():
        with attempt:
            return counts_up(session)


def test_return_from_the_loop(fenix_run):
    outcome = fenix_run(returns_from_loop, ranks=2, spares=1, resilient=False, timeout=30)
    assert outcome.passed and outcome.results == ["INITIAL_RANK"] * 2 and outcome.count("spare") == 1, outcome.report()


# ------------------------------------------------------------------------------- generators, coroutines, context managers


async def in_a_task(session):
    """The failure is met in a task, and leaves it."""

    async def part():
        await asyncio.sleep(0)
        return counts_up(session, 3)

    if session.role == Role.INITIAL_RANK:
        kill_here(1)
    return (await asyncio.gather(part()))[0]


def runs_a_coroutine(session):
    return asyncio.run(in_a_task(session))


def yields(session):
    yield counts_up(session)


class Steps:
    """A generator inside of a with block: what it holds goes away with it."""

    def __init__(self, group):
        self.group, self.closed = group, False

    def __iter__(self):
        try:
            for step in range(10):
                self.group.store(0)
                self.group.commit()
                yield step
        finally:
            self.closed = True


def uses_generators(session):
    for refused in (yields, in_a_task):
        rejects(TypeError, "calling it does nothing yet", session.run, refused)
    assert session.active
    state = np.zeros(3)
    with session.group(0) as group:
        group.define(0, state)
        steps = Steps(group)
        for step in steps:
            state += 1
            if step == 3:
                break
        gc.collect()
        assert steps.closed and len(group.snapshots()) == 1
        try:
            with session.group(1) as other:
                other.define(0, state)
                other.checkpoint()
                raise KeyError
        except KeyError:
            # A block that an exception leaves keeps its group: after a failure the data is needed.
            assert other.created
        assert group.restore(0) and (state == 3).all()
    return runs_a_coroutine(session)


def test_generators_and_coroutines(fenix_run):
    check_roles(fenix_run(uses_generators, ranks=2, spares=1, timeout=40), 2)


# ------------------------------------------------------------------------------------------------- pickles, and lifetimes


@pytest.mark.fenix(ranks=2, timeout=40)
def test_pickles(fenix_session):
    """What belongs to a process is refused; what is a value goes from process to process."""
    comm = fenix_session.comm
    with fenix_session.group(0) as group:
        group.define(0, np.zeros(2))
        request = group.istore(0)
        for thing in (fenix_session, group, request):
            rejects(TypeError, "belongs to its process", pickle.dumps, thing)
            rejects(TypeError, "belongs to its process", copy.copy, thing)
            rejects(TypeError, "belongs to its process", copy.deepcopy, {"in": thing})
        request.wait()
        error = fenix.Error(Code.ERROR_TIMEOUT, "a text")
        for thing in (Subset((1, 5), (7, None)), Subset.FULL, Subset.PRESTAGED, fenix.ReedSolomon(4, 2), Code.ERROR_INTERN, fenix.run()):
            assert comm.bcast(thing) == thing
        for thing in (error, fenix.NoDataError(Code.ERROR_NODATA_FOUND, "none"), fenix.CommException("cut short")):
            other = comm.bcast(thing)
            assert (type(other), other.code, other.text, str(other)) == (type(thing), thing.code, thing.text, str(thing))
        assert comm.bcast(fenix.CommException()).failed == []


class Watched(np.ndarray):
    """An array whose end can be watched."""


@pytest.mark.fenix(ranks=2, timeout=40)
def test_memory_lives_as_long_as_it_is_needed(fenix_session):
    rank = fenix_session.comm.rank

    def make(value):
        array = np.full(100000, float(value + rank)).view(Watched)
        return array, weakref.ref(array)

    with fenix_session.group(0) as group:
        array, seen = make(1)
        group.define(0, array)
        del array
        gc.collect()
        group.store(0)
        request = group.istore(0)
        assert seen() is not None
        gc.collect()
        request.wait()
        group.commit_barrier()
        # A buffer that cannot be used leaves the one before.
        rejects(ValueError, "gaps", group.define, 0, np.zeros((4, 4))[:, 0])
        assert seen() is not None
        other, later = make(5)
        group.set_buffer(0, other)
        del other
        gc.collect()
        assert seen() is None and later() is not None
        assert group.restore(0) and (later() == 1 + rank).all()
        # Views keep what they show.
        base, base_seen = make(9)
        group.define(1, base[10:20])
        del base
        gc.collect()
        assert base_seen() is not None
        group.store(1)
        group.commit_barrier()
        target = np.zeros(10)
        assert group.restore(1, target) and (target == 9 + rank).all()
        rejects(ValueError, "", later().resize, 5)
        group.delete_member(0)
        gc.collect()
        assert later() is None
    # The group is deleted, and with it goes the rest.
    group.delete()
    gc.collect()
    assert base_seen() is None


@pytest.mark.fenix(ranks=2, timeout=40)
def test_mapped_files(fenix_session, tmp_path):
    """Memory of files is memory. What is mapped read-only can be stored, and not restored into."""
    rank = fenix_session.comm.rank
    file = tmp_path / f"data-{rank}"
    mapped = np.memmap(file, np.float64, "w+", shape=(50, ))
    mapped[:] = np.arange(50) + rank
    mapped.flush()
    with open(file, "r+b") as opened:
        plain = mmap.mmap(opened.fileno(), 0)
    with fenix_session.group(0) as group:
        group.define(0, mapped)
        group.define(1, np.memmap(file, np.float64, "r"))
        group.define(2, plain)
        group.checkpoint()
        mapped[:] = 0
        assert group.restore(0)
        mapped.flush()
        assert (np.fromfile(file) == np.arange(50) + rank).all()
        rejects(ValueError, "read-only", group.restore, 1)
        rejects(BufferError, "", plain.close)
        assert group.restore(2) and np.frombuffer(plain, np.float64, 1)[0] == rank
    group.delete()


# ------------------------------------------------------------------------------------------ the ways in which Python runs


PROGRAM = """
import atexit, sys
say = lambda *words: sys.stdout.write(" ".join(map(str, words)) + "\\n")  # lines of several ranks stay whole
atexit.register(lambda: say("before", fenix.finalized()))
import fenix, numpy as np
atexit.register(lambda: say("after", fenix.finalized(), fenix.current().comm.size))
session = fenix.init()
state = np.arange(3.0)
group = session.group(0)
group.define(0, state)
group.checkpoint()
state[:] = 0
assert group.restore(0) and state[2] == 2
say("done", __name__)
"""
# A function that was registered before the import runs after the end of the session.
ENDS = ["after False 2", "before True"]


def launch(arguments, tmp_path, ranks=2, text="", python=sys.executable):
    """Runs Python on ranks, and returns status and output. Nothing of it stays, whatever happens."""
    token = f"{os.getpid()}-{time.monotonic_ns()}"
    begin = time.time()
    variables = {**os.environ, _TOKEN: token, "TMPDIR": str(tmp_path)}
    command = os.environ.get("FENIX_MPIRUN", "mpirun --with-ft ulfm").split()
    try:
        done = subprocess.run([*command, "-n", str(ranks), str(python), *arguments], env=variables, input=text, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    finally:
        _end(token, begin)
    return done.returncode, done.stdout


@pytest.mark.parametrize("way", ["-c", "-m", "file"])
def test_ways_to_start(tmp_path, monkeypatch, way):
    (tmp_path / "program_of_test.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    arguments = {"-c": ["-c", PROGRAM], "-m": ["-m", "program_of_test"], "file": [str(tmp_path / "program_of_test.py")]}[way]
    status, output = launch(arguments, tmp_path)
    lines = output.splitlines()
    assert status == 0 and lines.count("done __main__") == 2, output
    assert all(lines.count(each) == 2 for each in ENDS), output


def test_prompt(tmp_path):
    """At a prompt, an exception is shown and the session goes on. The end of the input ends all."""
    status, output = launch(["-i", "-q"], tmp_path, 1, PROGRAM.replace("\nassert", "\n1 / 0\nassert"))
    assert output.count("ZeroDivisionError") == 1 and output.count("done __main__") == 1, output
    assert status == 0 and "after False 1" in output and "before True" in output, output


def test_traceback_ends_the_job(tmp_path):
    status, output = launch(["-c", PROGRAM + "if session.comm.rank == 1: 1 / 0\nsession.comm.barrier()"], tmp_path)
    assert status != 0 and "ZeroDivisionError" in output, output


SPAWNS = """
import sys
import fenix
from fenix.testing import kill_here

def main(session):
    kill_here(1)
    session.comm.barrier()
    session.comm.barrier()
    sys.stdout.write(f"{session.role.name} {sys.prefix}\\n")

fenix.init(spawn=True).run(main)
"""


def test_virtual_environment(tmp_path, monkeypatch):
    """A spawned replacement runs in the virtual environment of the others, which alone knows where fenix is."""
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", str(folder)], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "fenix.pth").write_text(os.path.dirname(os.path.dirname(fenix.__file__)), encoding="utf-8")
    (tmp_path / "program.py").write_text(SPAWNS, encoding="utf-8")
    monkeypatch.delenv("PYTHONPATH")
    status, output = launch([str(tmp_path / "program.py")], tmp_path, python=folder / "bin" / "python3")
    assert status == 0 and sorted(re.findall("([A-Z]+_RANK) (.*)", output)) == [(role, str(folder))
                                                                                for role in ("RECOVERED_RANK", "SURVIVOR_RANK")], output


# ------------------------------------------------------------------------------------------------------- fenix.testing


def leaves_a_process_behind(session, name):
    """A child that does not end has mapped a file of the program, and the shared memory of MPI."""
    data = np.memmap(name, np.float64, "r+", shape=(10, ))
    data[session.comm.rank] = 1
    data.flush()
    child = os.fork()
    if child == 0:
        os.setsid()
        while True:
            time.sleep(600)
    return child


def test_files_of_the_program_stay(fenix_run):
    """What a run leaves is ended, and its shared memory removed. A file in /dev/shm that the program has mapped is no part of that."""
    name = f"/dev/shm/data-of-test-{os.getpid()}"
    np.zeros(10).tofile(name)
    try:
        outcome = fenix_run(leaves_a_process_behind, name, ranks=2, timeout=40)
        assert outcome.passed and len(outcome.results) == 2, outcome.report()
        assert not any(map(_is_alive, outcome.results))
        assert os.path.exists(name) and np.fromfile(name)[:2].tolist() == [1, 1], outcome.report()
    finally:
        if os.path.exists(name):
            os.unlink(name)

# SPDX-License-Identifier: BSD-3-Clause
"""The lock of the interpreter, memory, the import, and the plug-in of pytest itself."""
import gc
import os
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import fenix
from fenix.testing import Kill, kill_here

pytest_plugins = ["pytester"]


class Counter:
    """A thread that counts as long as it may run."""

    def __enter__(self):
        self.count, self.on = 0, True
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        while self.on:
            self.count += 1
            time.sleep(0.001)

    def __exit__(self, *_):
        self.on = False
        self.thread.join()


def counted(function):
    """Returns what another thread has counted during a call."""
    with Counter() as counter:
        begin = counter.count
        function()
        return counter.count - begin


@pytest.mark.fenix(ranks=2, timeout=40)
def test_others_run_while_a_call_waits(fenix_session):
    """The first store of a member waits for the other rank, and so do commit_barrier and restore."""
    late = fenix_session.comm.rank == 1
    data = np.zeros(10)
    with fenix_session.group(0) as group:
        for call in (lambda: group.define(0, data), lambda: group.store(0), group.commit_barrier, lambda: group.restore(0)):
            fenix_session.comm.barrier()
            if late:
                time.sleep(0.3)
                call()
            else:
                # A sleep of a millisecond takes more on a busy machine. With the lock held it would be 1 at most.
                assert counted(call) > 20


@pytest.mark.fenix(ranks=2, timeout=40)
def test_threads_use_groups_of_their_own(fenix_session):
    """Calls on different groups may overlap."""
    results = []

    def work(group, data):
        for step in range(30):
            data[:] = step
            group.store(0)
            group.commit()
        assert group.restore(0, np.zeros(1000), snapshot=fenix.LATEST) or True
        results.append(data[0])

    groups = [fenix_session.group(id) for id in range(2)]
    arrays = [np.zeros(1000) for _ in groups]
    for group, data in zip(groups, arrays):
        group.define(0, data)
    threads = [threading.Thread(target=work, args=pair) for pair in zip(groups, arrays)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [29.0, 29.0]


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.fenix(ranks=2, timeout=60)
def test_memory_does_not_grow(fenix_session):
    """10,000 stores with views, restores and objects take no more memory than the first 1,000 have taken."""
    grid = np.zeros((20, 20))
    with fenix_session.group(0) as group:
        group.define(0, grid)
        for number in range(11000):
            if number == 1000:
                gc.collect()
                begin = resident()
            group.store(0, grid[1:-1, ::2])
            if number % 5 == 0:
                group.commit()
            if number % 50 == 0:
                group.define(0, grid)
                assert group.restore(0)
                group.store_object(1, {"number": number})
                group.wait(group.istore(0))
                group.commit()
                assert group.restore_object(1) == {"number": number}
        gc.collect()
        assert resident() - begin < 3 << 20, (begin, resident())


# ---------------------------------------------------------------------------------------------------------------- import


def python(code, **environment):
    """Runs code in another Python, as a process of its own."""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    return subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=60, check=False)


def test_import(tmp_path):
    """The MPI of the package is the one that mpi4py uses, whatever other one the system has."""
    done = python("import fenix; from mpi4py import MPI; import mpi4py; print(fenix.versions()['libmpi'], MPI.Is_initialized(), mpi4py.rc.errors)",
                  LD_LIBRARY_PATH="")
    library = fenix.versions()["libmpi"]
    assert done.returncode == 0 and done.stdout.split() == [library, "True", "exception"], done
    # The other order of imports finds it by LD_LIBRARY_PATH.
    done = python("from mpi4py import MPI; import fenix; print(fenix.versions()['libmpi'])", LD_LIBRARY_PATH=os.path.dirname(library))
    assert done.returncode == 0 and done.stdout.split() == [library], done
    # Where it finds another one, the message says what to do.
    done = python("import mpi4py; mpi4py.rc.initialize = False\nfrom mpi4py import MPI\n"
                  "loaded = [l.split()[-1] for l in open('/proc/self/maps') if 'libmpi.so' in l][0]\n"
                  f"import os\nif os.path.samefile(loaded, {library!r}): print('the same')\nelse:\n import fenix", LD_LIBRARY_PATH="")
    assert "the same" in done.stdout or "Import fenix before mpi4py.MPI" in done.stderr, done
    # So it does where the other one has the same name, and would do.
    other = tmp_path / "libmpi.so.40"
    shutil.copy(library, other)
    done = python("import fenix", LD_LIBRARY_PATH="", LD_PRELOAD=str(other))
    assert done.returncode != 0 and f"{other}, which is not the MPI that fenix was built with" in done.stderr, done


def test_alone_it_leaves_nothing():
    """Without mpirun, nobody removes a file in /dev/shm. The setting that avoids it is seen by no other process."""
    done = python("import fenix, subprocess; print('/dev/shm/' in open('/proc/self/maps').read(), fenix.init().comm.size,"
                  " subprocess.call('test -n \"$OMPI_MCA_btl\"', shell=True))")
    assert done.stdout.split() == ["False", "1", "1"], done


def test_types_are_marked():
    package = os.path.dirname(fenix.__file__)
    assert os.path.exists(os.path.join(package, "py.typed"))
    assert all(getattr(fenix, name) is not None for name in fenix.__all__)


# --------------------------------------------------------------------------------------------------------------- plug-in


PROGRAM = """
import time
import pytest
from fenix.testing import Kill, kill_here

@pytest.mark.fenix(ranks=2, spares=1, kill=Kill(1, "store", 1))
def test_killed(fenix_session, tmp_path, capital="x"):
    import numpy as np
    with fenix_session.group(0) as group:
        group.define(0, np.zeros(3))
        group.store(0)
        group.commit_barrier()
    (tmp_path / str(fenix_session.comm.rank)).write_text("")

@pytest.mark.fenix(ranks=2)
def test_false(fenix_session):
    value = [fenix_session.comm.rank, "a value"]
    print("said by rank", fenix_session.comm.rank)
    assert value == []

@pytest.mark.fenix(ranks=2, kill=Kill(1, "commit", 9))
def test_never_killed(fenix_session):
    pass

@pytest.mark.fenix(ranks=2, timeout=2)
def test_hangs(fenix_session):
    if fenix_session.comm.rank == 0:
        sleeps_too_long()
    fenix_session.comm.barrier()

def sleeps_too_long():
    time.sleep(30)

@pytest.mark.fenix(ranks=2)
def test_dies(fenix_session):
    import os, signal
    if fenix_session.comm.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    fenix_session.comm.barrier()

@pytest.mark.fenix(rank=2)
def test_wrong_marker(fenix_session):
    pass

class TestMethods:
    @pytest.mark.fenix
    def test_method(self, fenix_session):
        pass

def test_nested(fenix_run):
    with pytest.raises(ValueError, match="cannot import"):
        fenix_run(lambda session: 1)
    outcome = fenix_run(sleeps_too_long, mpirun=["/nowhere/mpirun"])
    assert not outcome.passed and "cannot be run" in outcome.report()
"""


def test_plugin(pytester, monkeypatch):
    pytester.makepyfile(PROGRAM)
    folder = pytester.mkdir("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2, failed=6)
    text = result.stdout.str()
    for wanted in ("said by rank 0", "said by rank 1", "value = [1, 'a value']", "rank 1 was to be killed at commit, and was not",
                   "no end after 2", "in sleeps_too_long", "rank 1 ended without a word", "takes only ranks", "not a method"):
        assert wanted in text, wanted
    assert not list(folder.glob("mpirun-test-*"))


@pytest.mark.fenix(ranks=2, spares=1, kill=Kill(0, "restore", 1, delay=0.002))
def test_kill_with_a_delay(fenix_session):
    data = np.zeros(10)
    with fenix_session.group(0) as group:
        group.define(0, data)
        group.checkpoint()
        deadline = time.monotonic() + 20
        group.restore(0)
        while fenix_session.role == fenix.Role.INITIAL_RANK:
            assert time.monotonic() < deadline
            fenix_session.comm.barrier()
        kill_here(1)

# SPDX-License-Identifier: BSD-3-Clause
"""Errors of persistent communicators: which exception comes, and that its text names the argument."""
import glob
import os

import fenix
import numpy as np
import pytest
from fenix import Code
from fenix.testing import kill_here
from mpi4py import MPI

LIBRARY = glob.glob(os.path.join(os.environ.get("FENIX_TEST_PREFIX", "/nowhere"), "lib*", "libfenix_mpi.so"))
ENV = {"LD_PRELOAD": LIBRARY[0] if LIBRARY else "", "FENIX_TIMEOUT": "20"}
pytestmark = pytest.mark.skipif(not LIBRARY, reason="FENIX_TEST_PREFIX does not name an installed fenix")

WRONG_HINTS = {
    "persist_volume": (0, -1, "much", 1 << 37, 1.5, None),
    "persist_copies": (-1, 4, "x", True),
    "persist_depth": (0, (1 << 20) + 1, ""),
    "persist_order": ("newest", "FIFO", None),
    "persist_missing": ("never", False),
    "persist_transparent": ("yes", 1, "True"),
    "persist_dir": ("/no/such/folder", "/proc/version", "", "x" * 1000),
}


def refused(kind, call, *words):
    """Checks the exception of a call and that its text has these words. Returns the exception."""
    with pytest.raises(kind) as info:
        call()
    assert type(info.value) is kind
    for word in words:
        assert word in str(info.value), (word, str(info.value))
    return info.value


def refused_by_mpi(error_class, call, *words):
    """Checks the class of the MPI.Exception of a call, and the text that the library has for it."""
    error = refused(MPI.Exception, call)
    assert error.Get_error_class() == error_class, error
    for word in words:
        assert word in fenix.error_message(), (word, fenix.error_message())


@pytest.mark.fenix(ranks=2, timeout=40, env=ENV)
def test_hints(fenix_session):
    comm = fenix_session.comm
    for name, values in WRONG_HINTS.items():
        for value in values:
            error = refused(fenix.Error, lambda: fenix.comm_persist(comm, "hints", {name: value}), name)
            assert error.code == Code.ERROR_INVALID_ARGUMENT
    # Nothing is left of those: the communicator that is made now has the messages of the first one.
    with_hints = {"persist_copies": 1, "persist_depth": "2", "persist_transparent": False, "no_such_key": "x"}
    persistent = fenix.comm_persist(comm, "hints", with_hints)
    persistent.Send(np.arange(3.0), comm.rank, 1)
    persistent.Free()
    received = np.zeros(3)
    fenix.comm_persist(comm, "hints").Recv(received, comm.rank, 1)
    assert (received == np.arange(3.0)).all()
    refused(fenix.Error, lambda: fenix.comm_persist(comm, "hints", {"n" * 1000: 1}), "n" * 1000)


@pytest.mark.fenix(ranks=2, timeout=40, env=ENV)
def test_keys(fenix_session):
    comm = fenix_session.comm
    for key in (None, 7, b"bytes"):
        refused(TypeError, lambda: fenix.comm_persist(comm, key), "key")
    error = refused(fenix.Error, lambda: fenix.comm_persist(comm, "before\0behind"), "key")
    assert error.code == Code.ERROR_INVALID_ARGUMENT
    # Any other text is a key of its own.
    keys = ["", " ", "ключ", "k" * 100000, "k" * 100000 + "1"]
    persistent = [fenix.comm_persist(comm, key) for key in keys]
    for number, each in enumerate(persistent):
        each.Send(np.array([number]), comm.rank, 0)
    for number, each in enumerate(persistent):
        received = np.array([-1])
        each.Recv(received, comm.rank, 0)
        assert received[0] == number


@pytest.mark.fenix(ranks=2, timeout=40, env=ENV)
def test_communicators(fenix_session):
    comm = fenix_session.comm
    for wrong in (None, 3, comm.Get_group()):
        refused(TypeError, lambda: fenix.comm_persist(wrong, "key"), "comm")
    freed = comm.Dup()
    freed.Free()
    for null in (MPI.COMM_NULL, freed):
        error = refused(fenix.Error, lambda: fenix.comm_persist(null, "key"), "MPI_ERR_COMM", "comm is MPI_COMM_NULL")
        assert error.code == Code.ERROR_INVALID_ARGUMENT
    inter = comm.Split(comm.rank).Create_intercomm(0, comm, 1 - comm.rank)
    refused(fenix.Error, lambda: fenix.comm_persist(inter, "key"), "MPI_ERR_COMM", "comm is an intercommunicator")


@pytest.mark.fenix(ranks=2, timeout=40, env=ENV)
def test_nothing_stored(fenix_session):
    comm = fenix_session.comm
    persistent = fenix.comm_persist(comm, "nothing", {"persist_missing": "error"})
    buffer = np.full(3, 7.0)
    calls = [
        lambda: persistent.Recv(buffer, 0, 5), lambda: persistent.Irecv(buffer, 0, 5).Wait(), lambda: persistent.Probe(0, 5),
        lambda: persistent.Mprobe(1, 5), lambda: persistent.Recv(buffer, MPI.ANY_SOURCE, MPI.ANY_TAG), lambda: persistent.recv(source=0)
    ]  # yapf: disable
    for call in calls:
        refused_by_mpi(MPI.ERR_OTHER, call, "nothing has been stored", "persist_missing")
    assert (buffer == 7.0).all() and not persistent.Iprobe(0, 5)
    # The class is another one than that of a failure, and the communicator works.
    assert not fenix_session.failed
    persistent.Send(buffer, comm.rank, 5)
    persistent.Recv(buffer, comm.rank, 5)


@pytest.mark.fenix(ranks=2, timeout=40, env=dict(ENV, FENIX_TIMEOUT="2"))
def test_wait_in_vain(fenix_session):
    persistent = fenix.comm_persist(fenix_session.comm, "in vain")
    refused_by_mpi(MPI.ERR_OTHER, lambda: persistent.Recv(np.zeros(1), 0, 0), "FENIX_TIMEOUT", "nobody has stored")


@pytest.mark.fenix(ranks=2, timeout=40, env=ENV)
def test_messages(fenix_session):
    comm = fenix_session.comm
    me = comm.rank
    persistent = fenix.comm_persist(comm, "messages")
    stored, short = np.arange(4.0), np.full(3, 7.0)
    persistent.Send(stored, me, 1)
    calls = [
        lambda: persistent.Recv(short, me, 1), lambda: persistent.Irecv(short, me, 1).Wait(),
        lambda: persistent.Sendrecv(stored, me, 1, short, me, 1)
    ]  # yapf: disable
    for call in calls:
        refused_by_mpi(MPI.ERR_TRUNCATE, call, "32 bytes", "the buffer 24")
    refused_by_mpi(MPI.ERR_TRUNCATE, lambda: persistent.Mprobe(me, 1).Recv(short), "more bytes than the buffer")
    assert (short == 7.0).all()
    refused_by_mpi(MPI.ERR_RANK, lambda: persistent.Send(stored, 2, 1), "dest 2")
    refused_by_mpi(MPI.ERR_RANK, lambda: persistent.Recv(stored, -9, 1), "source -9")
    refused_by_mpi(MPI.ERR_TAG, lambda: persistent.Send(stored, me, -9), "tag -9")
    refused_by_mpi(MPI.ERR_NO_MEM, lambda: persistent.Send(np.zeros(100 << 20, "b"), me, 1), "persist_volume")
    refused_by_mpi(MPI.ERR_UNSUPPORTED_OPERATION, lambda: MPI.Win.Create(stored, comm=persistent), "window", "persistent communicator")
    # Errors have changed nothing.
    received = np.zeros(4)
    persistent.Recv(received, me, 1)
    assert (received == stored).all()


def without_session():
    error = refused(fenix.Error, lambda: fenix.comm_persist(MPI.COMM_WORLD, "key"), "before Fenix_Init")
    assert error.code == Code.ERROR_UNINITIALIZED
    session = fenix.init()
    fenix.comm_persist(session.comm, "key").Free()
    session.finalize()
    error = refused(fenix.Error, lambda: fenix.comm_persist(MPI.COMM_WORLD, "key"), "after Fenix_Finalize")
    assert error.code == Code.ERROR_UNINITIALIZED


def test_without_session(fenix_run):
    outcome = fenix_run(without_session, ranks=2, resilient=False, env=ENV)
    assert outcome.passed, outcome.report()


def without_library(session):
    error = refused(fenix.Error, lambda: fenix.comm_persist(session.comm, "key"), "libfenix_mpi", "preload")
    assert error.code == Code.ERROR_INVALID_LOGIC_CALL


def test_without_library(fenix_run):
    outcome = fenix_run(without_library, ranks=2, env={"LD_PRELOAD": ""})
    assert outcome.passed, outcome.report()


met = []


def dies_before(session):
    """Rank 1 dies before it comes to comm_persist. The others are in it then."""
    kill_here(1)
    try:
        persistent = fenix.comm_persist(session.comm, "key")
    except fenix.CommException as error:
        met.append(list(error.failed))
        raise
    persistent.Send(np.array([session.comm.rank]), session.comm.rank, 0)
    return met


def test_death(fenix_run):
    """A death is a CommException, as in all calls of the package."""
    outcome = fenix_run(dies_before, ranks=3, spares=1, env=ENV)
    assert outcome.passed, outcome.report()
    assert outcome.count("killed") == 1 and sorted(outcome.results) == [[], [[1]], [[1]]], outcome.results

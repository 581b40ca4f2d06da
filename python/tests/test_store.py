# SPDX-License-Identifier: BSD-3-Clause
"""The store: jobs that go on from what earlier ones have flushed. Each job is a run of its own."""
import time

import numpy as np
import pytest

import fenix
from fenix import Code

KEYWORDS = {"ranks": 2, "timeout": 40}


def raises(code, function, *arguments, **keywords):
    """Checks that a call raises an Error with this code."""
    try:
        function(*arguments, **keywords)
    except fenix.Error as error:
        assert error.code == code, error
        return
    raise AssertionError(f"no {code!r}")


def job(fenix_run, store, function, *arguments, **env):
    """Runs a job on a store, or without one. Returns what the ranks have returned."""
    variables = {"FENIX_TIMEOUT": "20", "FENIX_STORE": str(store) if store else "", **env}
    outcome = fenix_run(function, *arguments, env=variables, **KEYWORDS)
    assert outcome.passed, outcome.report()


def values(session, stamp):
    return np.arange(100.0) + 1000 * stamp + 100000 * session.comm.rank


def begin(session):
    """Returns a group with a member, and the array of the member."""
    group, state = session.group("store", depth=1), np.zeros(100)
    group.define(0, state)
    return group, state


def commit(session, group, state, stamp):
    state[:] = values(session, stamp)
    group.store(0)
    assert group.commit_barrier() == stamp


def expect(session, group, state, stamp):
    state[:] = -1
    assert group.restore(0)
    assert (state == values(session, stamp)).all()


def wait_until(condition):
    """Waits for a condition, which all ranks find at the same call if it is collective."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


# --------------------------------------------------------------------------------------------------------------- no store


def without(session):
    group, state = begin(session)
    commit(session, group, state, 0)
    assert fenix.run() == fenix.Run(run=0, origin=0) == (0, 0)
    assert not group.resumed and not group.need_commit() and not fenix.should_halt()
    for call in (group.flush, lambda: group.flush(0, "name"), group.iflush, lambda: group.flush_state(0), lambda: group.set_flush(1),
                 group.fetch, group.restart_done, fenix.datasets, lambda: fenix.dataset_delete("name"), fenix.dataset_set_current,
                 fenix.halt, lambda: fenix.halt("a reason")):
        raises(Code.ERROR_STORE, call)


def test_without_a_store(fenix_run):
    job(fenix_run, None, without)


# ------------------------------------------------------------------------------------------------------------------- jobs


def first(session):
    group, state = begin(session)
    assert fenix.run() == (1, 0) and fenix.datasets() == [] and not group.resumed
    assert [group.need_commit() for _ in range(3)] == [False, True, True]
    commit(session, group, state, 0)
    assert not group.need_commit()
    group.flush(name="begin")
    assert group.flush_state(0) == (fenix.FLUSH_COMPLETE, 0)
    commit(session, group, state, 1)
    assert group.flush_state(1) == (fenix.FLUSH_NONE, 0)
    request = group.iflush()
    request.wait()
    assert request.test()
    wait_until(lambda: group.flush_state(1)[0] == fenix.FLUSH_COMPLETE)
    group.set_flush(1)
    commit(session, group, state, 2)
    wait_until(lambda: group.flush_state(2)[0] == fenix.FLUSH_COMPLETE)
    group.set_flush(0)
    raises(Code.ERROR_INVALID_LOGIC_CALL, group.restart_done)
    session.comm.barrier()
    listed = fenix.datasets()
    assert [each.label for each in listed] == ["", "", "begin"] and all(each.complete for each in listed)
    assert [each.name.split(".")[1] for each in listed] == ["2", "1", "0"]
    session.comm.barrier()
    if session.comm.rank == 0:
        fenix.dataset_delete(listed[0].name)
        raises(Code.ERROR_NODATA_FOUND, fenix.dataset_delete, listed[0].name)
        fenix.dataset_set_current(listed[2].name)
    session.comm.barrier()
    assert fenix.datasets() == listed[1:]
    assert not fenix.should_halt()
    session.comm.barrier()
    if session.comm.rank == 1:
        fenix.halt("enough")
    session.comm.barrier()
    wait_until(fenix.should_halt)
    assert group.need_commit()


def second(session):
    group, state = begin(session)
    assert fenix.run() == (2, 1) and group.resumed and not group.data_lost and not fenix.should_halt()
    expect(session, group, state, 0)
    assert group.restart_done()
    if session.comm.rank == 0:
        fenix.dataset_set_current()
    session.comm.barrier()
    assert group.fetch() == 1
    expect(session, group, state, 1)
    assert not group.restart_done(session.comm.rank == 0)
    expect(session, group, state, 0)
    with pytest.raises(fenix.NoDataError):
        group.fetch("unknown")
    assert group.fetch("begin") == 0
    expect(session, group, state, 0)


def test_jobs(fenix_run, tmp_path):
    job(fenix_run, tmp_path, first, FENIX_COMMIT_EVERY="2")
    job(fenix_run, tmp_path, second)


# ------------------------------------------------------------------------------------------------------------ wrong texts


def wrong(session):
    group, state = begin(session)
    commit(session, group, state, 0)
    calls = (lambda name: group.flush(0, name), lambda name: group.iflush(0, name), group.fetch)
    local = (fenix.dataset_delete, fenix.dataset_set_current)
    for name in ("", "two words", "a/b", "a\0b", "x" * 128, "\udc80"):
        for call in (*calls, *local):
            raises(Code.ERROR_INVALID_ARGUMENT, call, name)
    for reason in ("a\0b", "one\ntwo", "x" * 1001):
        raises(Code.ERROR_INVALID_ARGUMENT, fenix.halt, reason)
    raises(Code.ERROR_INVALID_ARGUMENT, fenix.dataset_delete, None)
    for name in (7, b"bytes"):
        for call in (*local, fenix.halt):
            with pytest.raises(TypeError):
                call(name)
    # One rank tells the other one.
    for call in calls:
        if session.comm.rank == 1:
            with pytest.raises(TypeError, match="name is no str but int"):
                call(7)
        else:
            raises(Code.ERROR_INVALID_ARGUMENT, call, "name")
    raises(Code.ERROR_INVALID_ARGUMENT, group.set_flush, -1)
    raises(Code.ERROR_INVALID_TIMESTAMP, group.flush, -3)
    assert fenix.datasets() == []


def test_wrong_arguments(fenix_run, tmp_path):
    job(fenix_run, tmp_path, wrong)

# SPDX-License-Identifier: BSD-3-Clause
"""Failures: at each kind of call, in each form in which a program may meet them, and what is known afterwards."""
import glob
import os
import sys
import threading
import time
import traceback

import fenix
import numpy as np
import pytest
from fenix import Code, Role
from fenix.testing import Kill, kill_here, kill_process, rank_pid
from mpi4py import MPI

STEPS = 12


def compute(session, policy=None, steps=STEPS, at_step=None):
    """Adds 1 to each element in each step, and checks at the end that no step was lost or done twice."""
    comm = session.comm
    state = np.zeros(1000)
    # The first step that a rank of this attempt does.
    with session.group(0, policy=policy) as group:
        group.define(0, state)
        there = group.restore(0, required=False)
        begin = state[0]
        assert (state == begin).all() and (there or begin == 0)
        while state[0] < steps:
            total = np.zeros(1)
            comm.Allreduce(state[:1], total)
            assert total[0] == comm.size * state[0]
            if at_step is not None:
                at_step(session, int(state[0]))
            state += 1
            group.store(0)
            group.commit()
    return session.role.name, begin


POLICIES = {
    "buddies": fenix.Buddies(), "ring": fenix.Ring(1), "parity": fenix.Parity(3), "codes": fenix.ReedSolomon(4, 2)
}  # yapf: disable


def check_roles(outcome, killed):
    assert outcome.passed, outcome.report()
    assert outcome.count("killed") == killed and outcome.count("spare") == 0
    roles = sorted(role for role, _ in outcome.results)
    assert roles == sorted(["RECOVERED_RANK"] * killed + ["SURVIVOR_RANK"] * (len(roles) - killed)), roles
    # All ranks have begun from one snapshot.
    assert len({begin for _, begin in outcome.results}) == 1


PLACES = [("buddies", point) for point in ("store", "commit", "store.half", "commit.held", "commit.published")]


@pytest.mark.parametrize("policy, point", PLACES + [(policy, "commit.held") for policy in POLICIES if policy != "buddies"])
def test_death_in_store_and_commit(fenix_run, policy, point):
    count = 5 if point != "commit.published" else 3
    outcome = fenix_run(compute, POLICIES[policy], ranks=4, spares=1, kill=Kill(1, point, count))
    check_roles(outcome, 1)
    assert {begin for _, begin in outcome.results} & {2, 3, 4, 5}


def loses_data(session):
    """Both ranks of a pair die, and nobody else has their data."""
    state = np.arange(10.0)
    with session.group(0, policy=fenix.Buddies(1)) as group:
        group.define(0, state)
        if session.role == Role.INITIAL_RANK:
            assert not group.data_lost
            group.checkpoint()
            session.comm.Barrier()
            if session.comm.rank < 2:
                kill_here()
            session.comm.Barrier()
            session.comm.Barrier()
        assert group.data_lost
        try:
            group.restore(0)
            raise AssertionError("data of nowhere")
        except fenix.NoDataError:
            pass
        assert group.restore_object("nothing", 1) == 1
    return session.role.name, 0


def test_death_of_a_pair(fenix_run):
    outcome = fenix_run(loses_data, ranks=4, spares=2, env={"FENIX_WARM_REPLACEMENT": "off"})
    check_roles(outcome, 2)


def restores(session):
    """Restores again and again: some rank dies in it."""
    state = np.zeros(200000)
    with session.group(0) as group:
        group.define(0, state)
        if session.role == Role.INITIAL_RANK:
            state[:] = session.comm.rank + 1
            group.store(0)
            group.commit_barrier()
        for _ in range(6):
            state[:] = 0
            group.restore(0)
            assert (state == session.comm.rank + 1).all()
    return session.role.name, 0


@pytest.mark.parametrize("point", ["restore", "restore.met"])
def test_death_in_restore(fenix_run, point):
    check_roles(fenix_run(restores, ranks=3, spares=1, kill=Kill(2, point, 4 if point == "restore" else 1)), 1)


def kills_by_thread(session):
    """Rank 0 is killed while it waits in a store, a commit or an MPI call, whichever it is then."""
    target = rank_pid(0, session.comm)
    if session.role == Role.INITIAL_RANK and session.comm.rank == 1:
        threading.Timer(0.05, kill_process, (target, )).start()
    # Reductions of objects have a communicator of their own in mpi4py.
    return compute(session, steps=400, at_step=lambda session, step: session.comm.allreduce(step))


def test_death_at_any_time(fenix_run):
    check_roles(fenix_run(kills_by_thread, ranks=3, spares=1), 1)


def test_two_deaths_at_once(fenix_run):
    check_roles(fenix_run(compute, POLICIES["codes"], ranks=4, spares=2, kill=[Kill(0, "store", 3), Kill(3, "store", 3)]), 2)


def test_two_deaths_one_after_the_other(fenix_run):
    kills = [Kill(0, "store", 3), Kill(2, "commit.held", 7)]
    outcome = fenix_run(compute, ranks=4, spares=2, kill=kills)
    assert outcome.passed and outcome.count("killed") == 2, outcome.report()


# --------------------------------------------------------------------------------------------- forms of the same program


def hides_exceptions(session):
    """A program that should not: the failure gets lost in it, and turned into another one."""

    def at_step(session, step):
        if step == 3:
            kill_here(1)
            try:
                session.comm.barrier()
                session.comm.barrier()
            except Exception as error:
                if session.comm.rank == 0:
                    raise KeyError("another exception") from error

    return compute(session, at_step=at_step)


def meets_it_elsewhere(session):
    """The death of a rank is noticed on MPI.COMM_WORLD first, and without a call."""
    if session.role == Role.INITIAL_RANK:
        kill_here(0)
        if session.comm.rank == 1:
            MPI.COMM_WORLD.send(0, dest=0)
            MPI.COMM_WORLD.recv(source=0)
            raise AssertionError("a dead rank has sent something")
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            session.detect_failures()
            assert session.detect_failures(recover=False) in (False, True)
    return compute(session)


def swallows_all(session):
    """Nothing of the failure leaves the function on one rank."""
    try:
        return compute(session, at_step=lambda session, step: kill_here(2, step == 4))
    except Exception:
        if session.comm.rank == 1:
            return "wrong", -1
        raise


@pytest.mark.parametrize("program", [hides_exceptions, meets_it_elsewhere, swallows_all])
def test_ways_to_meet_a_failure(fenix_run, program):
    check_roles(fenix_run(program, ranks=3, spares=1), 1)


def uses_decorator():

    @fenix.resilient(spares=1)
    def main(session, steps, at_step=None):
        """Computes."""
        return compute(session, steps=steps, at_step=at_step)

    assert main.__name__ == "main" and main.__doc__ == "Computes."
    result = main(5, at_step=lambda session, step: kill_here(1, step == 2))
    assert fenix.finalized()
    return result


def uses_loop():
    session = fenix.init(spares=1)
    comm = session.comm
    attempts = 0
    for attempt in session.attempts():
        with attempt as same:
            attempts += 1
            assert same is session and fenix.current() is session
            result = compute(session, at_step=lambda session, step: kill_here(1, step == 2))
            # The object of the communicator is that of the beginning.
            assert session.comm is comm and comm.size == 2
    assert attempts == 2 - (result[0] == "RECOVERED_RANK") and attempt.again is False
    assert not session.active and comm.allreduce(1) == 2
    return result


def uses_commexception():
    """Without attempts, calls of fenix raise CommException, and is_failure tells of those of mpi4py."""
    session = fenix.init(spares=1)
    while True:
        try:
            result = compute(session, at_step=lambda session, step: kill_here(1, step == 2))
            break
        except Exception as error:
            assert session.is_failure(error), error
            if isinstance(error, fenix.CommException):
                assert error.code == Code.ERROR_CANCELLED and error.failed == [1]
    session.finalize()
    session.finalize()
    return result


@pytest.mark.parametrize("program", [uses_decorator, uses_loop, uses_commexception])
def test_forms_of_programs(fenix_run, program):
    check_roles(fenix_run(program, ranks=2, spares=1, resilient=False), 1)


def dies_in_finalize(session):
    """The others have come to the end when the death is noticed."""
    result = compute(session)
    if session.role == Role.INITIAL_RANK and session.comm.rank == 1:
        time.sleep(0.3)
        kill_here(1)
    return result


def test_death_at_the_end(fenix_run):
    outcome = fenix_run(dies_in_finalize, ranks=3, spares=1)
    check_roles(outcome, 1)
    # Nothing was computed again.
    assert {begin for _, begin in outcome.results} == {STEPS}


# ------------------------------------------------------------------------------------------------------ what is known


def looks_at_repair(session, calls, everybody, request):
    """Checks what a survivor knows right after the repair."""
    assert calls[0] == ("before", 3) and calls[1][:2] == ("first", 3), calls
    assert session.role == Role.SURVIVOR_RANK
    session.callback_invoke_all()
    session.callback_invoke_all(before=True)
    assert [call[0] for call in calls] == ["before", "first", "first", "before"], calls
    assert session.check_cancelled(request)
    repaired = session.repair_group(everybody)
    own = session.comm.Get_group()
    assert MPI.Group.Compare(repaired, own) == MPI.IDENT != MPI.Group.Compare(everybody, own)
    repaired.Free()
    session.callback_pop(before=True)
    try:
        session.callback_pop(before=True)
        raise AssertionError("popped what is not there")
    except fenix.Error as error:
        assert error.code == Code.ERROR_CALLBACK_NOT_REGISTERED


# An exception after a repair counts as its consequence, so it is kept for the next turn.
problems = []


def knows_all(session):
    assert problems == []
    comm, calls = session.comm, []
    if session.role == Role.INITIAL_RANK:
        assert session.failed == [] and session.repair_times is None and session.error == Code.SUCCESS and session.spares == 1
        session.callback_register(lambda comm, error: calls.append(("first", comm.size, error)))
        session.callback_register(lambda comm, error: calls.append(("popped", )))
        session.callback_pop()
        session.callback_register(lambda comm, error: calls.append(("before", comm.size)), before=True)
        everybody, mine = comm.Get_group(), np.zeros(1)
        request = comm.Irecv(mine, source=1, tag=99)
        kill_here(1)
        try:
            comm.barrier()
            comm.barrier()
            problems.append("no failure")
        except MPI.Exception as error:
            try:
                assert session.is_failure(error) and not session.is_failure(ValueError()) and not session.is_failure(None)
                looks_at_repair(session, calls, everybody, request)
            except Exception:
                problems.append(traceback.format_exc())
        return None
    assert session.failed == [1] and session.spares == 0
    noticed, repaired = session.repair_times
    assert 0 < noticed <= repaired <= MPI.Wtime()
    assert session.role == (Role.RECOVERED_RANK if comm.rank == 1 else Role.SURVIVOR_RANK)
    assert [session.role_of(rank) for rank in range(3)] == [Role.SURVIVOR_RANK, Role.RECOVERED_RANK, Role.SURVIVOR_RANK]
    assert session.number_with_role(Role.SURVIVOR_RANK) == 2 == session.number_with_role(Role.SURVIVOR_RANK, comm)
    assert session.slot == comm.rank == session.slot_of(comm.rank) == session.rank_of(comm.rank)
    try:
        session.role_of(17)
        raise AssertionError("rank 17 has a role")
    except fenix.Error as error:
        assert error.code == Code.ERROR_INVALID_ARGUMENT
    return session.role.name, 0


def test_what_is_known(fenix_run):
    check_roles(fenix_run(knows_all, ranks=3, spares=1), 1)


def shrinks(session):
    if session.role == Role.INITIAL_RANK:
        kill_here(0)
    else:
        assert session.error == Code.WARNING_SPARE_RANKS_DEPLETED and session.comm.size == 2
        assert session.rank_of(0) is None and session.slot == session.comm.rank + 1
        assert session.number_with_role(Role.MISSING_RANK) == 1
    return compute(session)


def test_without_spares_it_shrinks(fenix_run):
    outcome = fenix_run(shrinks, ranks=3)
    assert outcome.passed and outcome.count("passed") == 2 and outcome.count("killed") == 1, outcome.report()


def spawns():
    session = fenix.init(spawn=True)
    for attempt in session.attempts():
        with attempt:
            result = compute(session, at_step=lambda session, step: kill_here(1, step == 3))
            size = session.comm.size
    return result, size


def test_without_spares_it_spawns(fenix_run):
    outcome = fenix_run(spawns, ranks=3, resilient=False)
    assert outcome.passed and outcome.count("passed") == 3, outcome.report()
    assert sorted(result[0][0] for result in outcome.results) == ["RECOVERED_RANK", "SURVIVOR_RANK", "SURVIVOR_RANK"]
    assert {result[1] for result in outcome.results} == {3}


def derives():
    """With libfenix_mpi, MPI.COMM_WORLD and what is derived from it go through a repair."""
    session = fenix.init(spares=1, transparent=True)
    assert session.comm is MPI.COMM_WORLD and session.comm.size == 3
    made = []
    for attempt in session.attempts():
        with attempt:
            # Survivors keep what they have; the replacement gets it by the same call.
            if not made:
                # Not by methods with small letters: mpi4py counts some of their messages, and a replacement counts anew.
                made.append(MPI.COMM_WORLD.Split(0, -MPI.COMM_WORLD.rank))
            ring = made[0]
            assert ring.rank == 2 - MPI.COMM_WORLD.rank
            result = compute(session, at_step=lambda session, step: (kill_here(1, step == 3), ring.Barrier()))
    return result


def test_transparent(fenix_run):
    library = glob.glob(os.path.join(os.environ.get("FENIX_TEST_PREFIX", "/nowhere"), "lib*", "libfenix_mpi.so"))
    if not library:
        pytest.skip("FENIX_TEST_PREFIX does not name an installed fenix")
    check_roles(fenix_run(derives, ranks=3, spares=1, resilient=False, env={"LD_PRELOAD": library[0]}), 1)


# -------------------------------------------------------------------------------------------------------------- endings


def raises_in_callback(session):
    session.callback_register(lambda comm, error: 1 / 0)
    kill_here(1)
    session.comm.barrier()
    session.comm.barrier()
    session.comm.barrier()


def raises_itself(session):
    if session.comm.rank == 1:
        raise LookupError("a defect of the program")
    session.comm.barrier()


def leaves_without_end():
    session = fenix.init(spares=1)
    with session.group(0) as group:
        group.define(0, np.zeros(3))
    print("left by", session.comm.rank, flush=True)


def leaves_by_exit():
    session = fenix.init(spares=1)
    for attempt in session.attempts():
        with attempt:
            sys.exit(0)


def exits_with_status():

    @fenix.resilient
    def main(session):
        session.comm.barrier()
        if session.comm.rank == 1:
            sys.exit("no good")
        session.comm.barrier()

    main()


def dies_by_traceback():

    @fenix.resilient(spares=1)
    def main(session):
        raises_itself(session)

    main()


def wrong_arguments():
    for wrong, code in (({"spares": 7}, Code.ERROR_INVALID_ARGUMENT), ({"spares": -1}, Code.ERROR_INVALID_ARGUMENT)):
        try:
            fenix.init(**wrong)
            raise AssertionError(wrong)
        except fenix.Error as error:
            assert error.code == code and "spare_ranks" in error.text
    try:
        fenix.init(transparent=True)
        raise AssertionError("without libfenix_mpi")
    except fenix.Error as error:
        assert "libfenix_mpi" in error.text
    session = fenix.init()
    try:
        fenix.init()
        raise AssertionError("a second session")
    except fenix.Error as error:
        assert error.code == Code.ERROR_INVALID_LOGIC_CALL
    assert fenix.current() is session and session.comm.size == 2
    # MPI's own errors are exceptions of mpi4py, and no failures.
    try:
        session.comm.send(0, dest=9)
        raise AssertionError("rank 9")
    except MPI.Exception as error:
        assert not session.is_failure(error) and error.Get_error_class() == MPI.ERR_RANK
    try:
        for _ in session.attempts():
            pass
        raise AssertionError("without a with block")
    except RuntimeError as error:
        assert "with attempt" in str(error)
    revoked = MPI.COMM_WORLD.Dup()
    session.revoke(revoked)
    try:
        revoked.Barrier()
        raise AssertionError("not revoked")
    except MPI.Exception as error:
        assert session.is_failure(error)
    assert session.run(lambda session: 42, finalize=False) == 42 and session.active
    session.finalize()
    try:
        fenix.current()
        raise AssertionError("a session after finalize")
    except fenix.Error as error:
        assert error.code == Code.ERROR_UNINITIALIZED
    # The library may be used again.
    assert fenix.init().run(lambda session: session.comm.size) == 2


def test_endings(fenix_run):
    outcome = fenix_run(raises_in_callback, ranks=2, spares=1, timeout=20)
    assert not outcome.passed and "ZeroDivisionError" in outcome.report(), outcome.report()
    outcome = fenix_run(raises_itself, ranks=2, timeout=20)
    assert not outcome.passed and not outcome.hung and "a defect of the program" in outcome.report(), outcome.report()
    outcome = fenix_run(dies_by_traceback, ranks=2, spares=1, resilient=False, timeout=20)
    assert not outcome.passed and not outcome.hung and "LookupError: a defect of the program" in outcome.report(), outcome.report()
    outcome = fenix_run(exits_with_status, ranks=2, resilient=False, timeout=20)
    assert not outcome.passed and not outcome.hung and "no good" in outcome.report(), outcome.report()


def test_good_endings(fenix_run):
    outcome = fenix_run(leaves_without_end, ranks=2, spares=1, resilient=False, timeout=20)
    assert outcome.passed and outcome.count("passed") == 2 and outcome.count("spare") == 1, outcome.report()
    outcome = fenix_run(leaves_by_exit, ranks=2, spares=1, resilient=False, timeout=20)
    assert not outcome.hung and outcome.count("spare") == 3 and outcome.status == 0, outcome.report()
    outcome = fenix_run(wrong_arguments, ranks=2, resilient=False, timeout=30)
    assert outcome.passed, outcome.report()

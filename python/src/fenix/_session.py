# SPDX-License-Identifier: BSD-3-Clause
"""Process recovery: the start, the one place where failures end up, and what is known about processes."""
import atexit
import functools
import inspect
import os
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Optional, Tuple, Type, TypeVar, Union, overload

from . import _errors
from ._buffers import check_allocated
from ._codes import Code, RecoveryMode, ResumeMode, Role, Setting, SpareWaitMode, UnhandledMode
from ._errors import CommException, Error, check
from ._library import MPI, ffi, lib, prepare_errors

if TYPE_CHECKING:
    from ._group import Group
    from ._policies import Policy

Result = TypeVar("Result")

_BEFORE, _AFTER = 0, 1
_SPARE_FINALIZE_RELEASE = 0
_UNDEFINED = MPI.UNDEFINED

_current: Optional["Session"] = None
#: The class Group. Its module needs this one, and sets it.
make_group: Callable[..., "Group"]


# ------------------------------------------------------------------------------------------------------------- callbacks


class _Callback:
    """A function of Python that C calls by its handle."""

    def __init__(self, function: Callable[[Any, int], object]) -> None:
        self.function = function
        self.handle = ffi.new_handle(self)


@ffi.def_extern(  # type: ignore[misc]
    name="fenix_py_on_recovery", onerror=lambda kind, error, trace: _errors.keep_of_repair(error))
def _on_recovery(comm: int, error: int, data: Any) -> None:
    callback: _Callback = ffi.from_handle(data)
    callback.function(MPI.Intracomm(MPI.Comm.f2py(comm)), error)


# --------------------------------------------------------------------------------------------------------------- session


class Session:
    """The use of the library, from init to finalize. There is one at a time: see `current`.

    Its properties are those of this rank now; a repair changes them."""

    def __init__(self, comm: Any, spares: int, spawn: bool, info: Any, transparent: bool) -> None:
        """Programs get a session from init, resilient or current."""
        code = lib.fenix_py_init(comm.py2f(), spares, int(spawn), info.py2f(), int(transparent))
        if code < 0 and code != Code.ERROR_SPAWNING_FAILED:
            check(code)
        self._base, self._transparent = comm, transparent
        self._process = os.getpid()
        self._comm: Any = None
        self._callbacks: Tuple[List[_Callback], List[_Callback]] = ([], [])
        self._active = True
        # Objects whose memory the library reads: {group: {member: [object, ...]}}.
        self._kept: "dict[int, dict[int, List[Any]]]" = {}
        # Groups whose blocks have ended in this attempt: until it has ended on all ranks, a failure may need their data.
        self._ended: "List[Group]" = []
        # What _generation() was when the attempt began; None outside of attempts.
        self._attempt: Optional[float] = None
        self._look_at_comm()

    def _look_at_comm(self) -> None:
        """Lets the communicator that the program holds be the one of the latest repair."""
        self._seen = self._generation()
        if self._transparent:
            self._comm = self._base
            return
        fresh = MPI.Comm.f2py(lib.fenix_py_comm())
        if self._comm is None:
            self._comm = MPI.Intracomm(fresh)
        else:
            size = MPI._sizeof(MPI.Comm)
            ffi.memmove(ffi.cast("char*", MPI._addressof(self._comm)), ffi.cast("char*", MPI._addressof(fresh)), size)

    def _check_attempt(self) -> None:
        """Raises CommException if this attempt has met a failure, and hidden it: it has to be done again, while replacements have just begun."""
        if self._active and self._attempt is not None and self._generation() != self._attempt:
            raise CommException("a rank has died in this attempt, which has to be done again: the program has hidden that")

    def _generation(self) -> float:
        """Returns a number that each repair changes."""
        return float(lib.fenix_py_generation())

    # -------------------------------------------------------------------------------------------------------- state

    @property
    def comm(self) -> Any:
        """The resilient communicator, an mpi4py.MPI.Intracomm. The object stays the same; each repair gives it the new communicator."""
        if self._active and self._generation() != self._seen:
            self._look_at_comm()
        return self._comm

    @property
    def role(self) -> Role:
        """The role of this rank since the latest repair."""
        return Role(lib.fenix_py_role())

    @property
    def error(self) -> Code:
        """The result of the latest repair: SUCCESS, WARNING_SPARE_RANKS_DEPLETED if the communicator has shrunk, or
        ERROR_SPAWNING_FAILED if it has shrunk because spawning failed."""
        return Code(lib.Fenix_get_error())

    @property
    def failed(self) -> List[int]:
        """The ranks that the latest repair has replaced or removed, ascending, with their numbers before it. Spares count on after the
        ranks of the communicator."""
        return _errors.failed_ranks()

    @property
    def spares(self) -> int:
        """The number of spares that are waiting, as far as this rank knows."""
        return check(lib.Fenix_get_nspare())

    @property
    def slot(self) -> int:
        """The place of this rank in the application: its number before the communicator shrank. A replacement has that of the dead rank."""
        return check(lib.Fenix_get_slot())

    @property
    def repair_times(self) -> Optional[Tuple[float, float]]:
        """When this rank noticed the latest failure, and when the repair was complete, in seconds of MPI.Wtime; None without a repair."""
        times = ffi.new("double[2]")
        code = lib.Fenix_Process_repair_times(times, times + 1)
        return None if code == Code.ERROR_INVALID_LOGIC_CALL else (check(code), (float(times[0]), float(times[1])))[1]

    @property
    def active(self) -> bool:
        """Whether the library is in use: from init to finalize, and in the process that has called init, not in its children of fork."""
        return self._active

    def __reduce__(self) -> Tuple[Any, ...]:
        raise TypeError("a session belongs to its process: it cannot be pickled or copied")

    def role_of(self, rank: int, comm: Optional[Any] = None) -> Role:
        """Returns the role of a rank of `comm`, by default the resilient communicator. Local. Raises Error for an invalid rank."""
        role = ffi.new("int*")
        check(lib.fenix_py_rank_role((self.comm if comm is None else comm).py2f(), rank, role))
        return Role(role[0])

    def number_with_role(self, role: Role, comm: Optional[Any] = None) -> int:
        """Counts the ranks with a role in `comm`; without it in the whole job, where spares and missing ranks count as well. Local."""
        number = ffi.new("int*")
        if comm is None:
            check(lib.Fenix_get_number_of_ranks_with_role(int(role), number))
        else:
            check(lib.fenix_py_ranks_with_role(comm.py2f(), int(role), number))
        return int(number[0])

    def slot_of(self, rank: int, comm: Optional[Any] = None) -> int:
        """Returns the slot of a rank of `comm`, by default the resilient communicator. Local. Raises Error for an invalid rank."""
        slot = ffi.new("int*")
        check(lib.fenix_py_rank_to_slot((self.comm if comm is None else comm).py2f(), rank, slot))
        return int(slot[0])

    def rank_of(self, slot: int, comm: Optional[Any] = None) -> Optional[int]:
        """Returns the rank of `comm` that has a slot, None if no rank has it. Local. Raises Error for an invalid slot."""
        rank = ffi.new("int*")
        check(lib.fenix_py_slot_to_rank((self.comm if comm is None else comm).py2f(), slot, rank))
        return None if rank[0] == _UNDEFINED else int(rank[0])

    def repair_group(self, group: Any) -> Any:
        """Returns an mpi4py.MPI.Group in which the dead processes of `group` are replaced as the latest repairs have done. Local. The
        caller frees it."""
        repaired = ffi.new("int*")
        check(lib.fenix_py_repair_group(group.py2f(), repaired))
        return MPI.Group.f2py(repaired[0])

    # ----------------------------------------------------------------------------------------------------- failures

    def detect_failures(self, recover: bool = True) -> bool:
        """Looks for failures, so that a long computation does not delay the repair. Returns whether there is one that was not repaired.
        Raises CommException if there was one and it was repaired, which needs `recover`. Local without a failure."""
        code = lib.Fenix_Process_detect_failures(int(recover))
        if code == Code.ERROR_PROCESS_FAILURE and recover:
            check(Code.ERROR_CANCELLED, "detect_failures has found a failure")
        if code != Code.ERROR_PROCESS_FAILURE:
            check(code)
        return bool(code == Code.ERROR_PROCESS_FAILURE)

    def is_failure(self, error: Optional[BaseException]) -> bool:
        """Tells whether an exception is the death of a rank: a CommException, or an MPI.Exception of the classes that ULFM has for it."""
        if self._active and self._generation() != self._seen:
            self._look_at_comm()
        if isinstance(error, MPI.Exception):
            return bool(lib.fenix_py_is_failure(error.Get_error_class()))
        return isinstance(error, CommException)

    def check_cancelled(self, request: Any) -> bool:
        """Tells whether an mpi4py.MPI.Request from before a repair was ended by it, so that the state of its buffer is not known. False
        also if it is not complete yet. Keep the request and its buffer until this or Test has ended it."""
        return bool(check(lib.fenix_py_check_cancelled(ffi.cast("void*", MPI._addressof(request)))))

    def revoke(self, comm: Optional[Any] = None) -> None:
        """Ends the calls of all ranks on a communicator, by default the resilient one, as MPIX_Comm_revoke does: this leads to a repair."""
        if lib.fenix_py_revoke((self.comm if comm is None else comm).py2f()) != 0:
            raise Error(Code.ERROR_INVALID_ARGUMENT, "MPIX_Comm_revoke has failed")

    def attempts(self, finalize: bool = True, abort: bool = True) -> Iterator["Attempt"]:
        """Yields an Attempt, and another one after each failure::

            for attempt in session.attempts():
                with attempt:
                    ...  # all ranks come here again after a failure

        The loop ends when an attempt has ended without a failure on all ranks. `finalize`: it then ends the use of the library; a failure
        in that moment leads to another attempt, too. `abort`: another exception ends the job, with its traceback, because the other
        ranks would wait for this one; otherwise it is raised."""
        while True:
            attempt = Attempt(self, abort)
            try:
                yield attempt
            except GeneratorExit:
                if attempt.again and self._active:
                    print("fenix: a loop over attempts was left by break, return or an exception, although a rank has died: all others do the "
                          "attempt again", file=sys.stderr)
                    self.abort(1)
                raise
            if not attempt._entered:
                raise RuntimeError("the body of a loop over attempts is: with attempt: ...")
            if not attempt.again and finalize:
                attempt = Attempt(self, abort)
                with attempt:
                    self.finalize()
            if not attempt.again:
                for group in self._ended if self._active else ():
                    group.delete()
                self._ended.clear()
                return

    def run(self, function: Callable[..., Result], *arguments: Any, finalize: bool = True, abort: bool = True,
            **keywords: Any) -> Result:
        """Calls `function(session, *arguments, **keywords)`, again after each failure, and returns its result. `finalize` and `abort` are
        those of attempts."""
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{getattr(function, '__qualname__', function)} is a generator or a coroutine: calling it does nothing yet, so "
                            "failures could not be met in it. Give a function that runs it, for example by asyncio.run")
        for attempt in self.attempts(finalize, abort):
            with attempt:
                result = function(self, *arguments, **keywords)
        return result

    # ---------------------------------------------------------------------------------------------------- callbacks

    def callback_register(self, function: Callable[[Any, int], object], before: bool = False) -> None:
        """Registers a function that survivors call after each repair, or before it: function(communicator, MPI error code). Local.

        Callbacks are called in the order of registration, on the thread that has met the failure, and should not communicate. The
        communicator of those before the repair is revoked. An exception of a callback ends the attempt in its place. Replacements have no
        callbacks until they register them."""
        callback = _Callback(function)
        check(lib.fenix_py_callback_register(_BEFORE if before else _AFTER, callback.handle))
        self._callbacks[not before].append(callback)

    def callback_pop(self, before: bool = False) -> None:
        """Removes the callback that was registered last. Raises Error (ERROR_CALLBACK_NOT_REGISTERED) if there is none."""
        check(lib.Fenix_Callback_pop_at(_BEFORE if before else _AFTER))
        self._callbacks[not before].pop()

    def callback_invoke_all(self, before: bool = False) -> None:
        """Calls the callbacks as after the latest repair: replacements use it to do what survivors have done. Raises Error
        (ERROR_INVALID_LOGIC_CALL) without a repair, and the exception of a callback."""
        check(lib.Fenix_Callback_invoke_all_at(_BEFORE if before else _AFTER))

    # --------------------------------------------------------------------------------------------------------- data

    def group(self, id: Union[int, str], *, comm: Optional[Any] = None, start: int = 0, depth: int = 0,
              policy: "Optional[Policy]" = None, hashing: Optional[bool] = None, in_place: Optional[bool] = None) -> "Group":
        """Creates a group over `comm`, by default the resilient communicator, or takes it up again after a failure: see Group."""
        return make_group(id, self, comm=comm, start=start, depth=depth, policy=policy, hashing=hashing, in_place=in_place)

    # ---------------------------------------------------------------------------------------------------------- end

    def finalize(self) -> None:
        """Ends the use of the library, releases the spares and all stored data. Collective, synchronising. The communicator stays, and
        belongs to the program. Raises CommException if a rank dies before all have come here, and BufferError if an array of
        Group.allocate is still in use. `attempts`, `run` and `resilient` call it."""
        if not self._active:
            return
        for kept in list(self._kept.values()):
            check_allocated(kept)
        check(lib.Fenix_Finalize())
        self._end()

    def _end(self) -> None:
        global _current
        self._active = False
        self._kept.clear()
        self._ended.clear()
        for callbacks in self._callbacks:
            callbacks.clear()
        _current = None

    def abort(self, status: int = 1) -> None:
        """Ends the job at once, on all ranks. Raises Error (ERROR_UNINITIALIZED) in a child of fork, which is no rank."""
        if os.getpid() != self._process:
            raise Error(Code.ERROR_UNINITIALIZED, "called in a child of fork: the session belongs to its parent")
        _flush()
        MPI.COMM_WORLD.Abort(status)


class Attempt:
    """One run of the part of a program that is repeated after a failure: see Session.attempts.

    At the end of its `with` block, a failure in any call of fenix or mpi4py becomes `again`, and leaves the block without an exception. A
    failure that the block has met and hidden counts as well, because the other ranks begin again. KeyboardInterrupt and sys.exit with a
    status other than 0 end the job all the same."""

    #: Whether a failure has ended the block: it has to be done again.
    again: bool = False

    def __init__(self, session: Session, abort: bool = True) -> None:
        """Programs get attempts from Session.attempts."""
        self._session, self._abort = session, abort
        self._entered = False
        self._generation = 0.0

    def __enter__(self) -> Session:
        self._entered = True
        self._generation = self._session._attempt = self._session._generation()
        self._session._look_at_comm()
        return self._session

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> bool:
        session = self._session
        session._attempt = None
        if os.getpid() != session._process:
            return False
        try:
            _errors.raise_of_repairs()
        except BaseException as raised:
            self._end_job(raised)
            raise
        # Nobody raises these because of a failure. A status of 0 is no more than an early return: the others begin again.
        leaves = isinstance(error, KeyboardInterrupt) or (isinstance(error, SystemExit) and bool(error.code))
        if not session.active or leaves:
            self._end_job(error)
            return False
        self.again = session._generation() != self._generation
        if not self.again and session.is_failure(error):
            self.again = self._was_met()
        if self.again:
            session._look_at_comm()
            session._ended.clear()
            return True
        self._end_job(error)
        return False

    def _was_met(self) -> bool:
        """Tells whether a failure without a repair so far has led to the exception: on MPI.COMM_WORLD, for example."""
        mode = get_option(Setting.RECOVERY_MODE)
        if mode == RecoveryMode.NOOP:
            return True
        if mode != RecoveryMode.IGNORE:
            lib.Fenix_Process_detect_failures(1)
        return self._session._generation() != self._generation

    def _end_job(self, error: Optional[BaseException]) -> None:
        """Ends the job because of an exception, if that is wanted: the other ranks would wait for this one."""
        if error is None or not self._abort or (isinstance(error, SystemExit) and not error.code):
            return
        status = 1
        if not isinstance(error, SystemExit):
            sys.excepthook(type(error), error, error.__traceback__)
        elif isinstance(error.code, int):
            status = error.code
        else:
            print(error.code, file=sys.stderr)
        self._session.abort(status)


# ---------------------------------------------------------------------------------------------------------- the functions


def init(comm: Optional[Any] = None, *, spares: int = 0, spawn: bool = False, info: Optional[Any] = None, transparent: bool = False,
         unhandled: UnhandledMode = UnhandledMode.SILENT, recovery: Optional[RecoveryMode] = None,
         spare_wait: Optional[SpareWaitMode] = None) -> Session:
    """Makes the resilient communicator, and keeps the last `spares` ranks in reserve. Collective over `comm`, by default MPI.COMM_WORLD.

    Spares come out only when they take the place of a dead rank. If they are not needed, they end by SystemExit inside of this call, when
    the others call finalize. `spawn`: when no spare is left, new processes are spawned, with the keys of `info`; they run the program
    from its start. `unhandled` says what happens to MPI errors that are no failures: by default they are mpi4py's exceptions. `recovery`
    and `spare_wait` are settings of the library. `transparent` needs the preloaded library libfenix_mpi: `comm` itself, in all calls of the
    process, is then the resilient communicator, and those derived from it are repaired. Control always resumes by return: in Python,
    by an exception.

    Raises Error: ERROR_INVALID_ARGUMENT, ERROR_MISMATCH, ERROR_NOCATEGORY, or ERROR_INVALID_LOGIC_CALL if a session is active or in a child
    of fork. Raises ImportError if mpi4py ends the job at each error."""
    global _current
    if _is_child:
        raise Error(Code.ERROR_INVALID_LOGIC_CALL, "called in a child of fork: MPI is in use by its parent")
    if not MPI.Is_initialized():
        MPI.Init_thread()
    prepare_errors()
    set_option(Setting.RESUME_MODE, ResumeMode.RETURN)
    set_option(Setting.UNHANDLED_MODE, unhandled)
    set_option(Setting.SPARE_FINALIZE_MODE, _SPARE_FINALIZE_RELEASE)
    if recovery is not None:
        set_option(Setting.RECOVERY_MODE, recovery)
    if spare_wait is not None:
        set_option(Setting.SPARE_WAIT_MODE, spare_wait)
    # Printed text must not wait in a spare until its end.
    _flush()
    session = Session(MPI.COMM_WORLD if comm is None else comm, spares, spawn, MPI.INFO_NULL if info is None else info, transparent)
    if session.role == Role.SPARE_RANK:
        session._end()
        sys.exit(0)
    _current = session
    return session


def current() -> Session:
    """Returns the session. Raises Error (ERROR_UNINITIALIZED) before init and after finalize."""
    if _current is None:
        raise Error(Code.ERROR_UNINITIALIZED, "called before fenix.init or after finalize")
    return _current


@overload
def resilient(function: Callable[..., Result]) -> Callable[..., Result]:
    ...


@overload
def resilient(*, comm: Optional[Any] = None, spares: int = 0, spawn: bool = False, info: Optional[Any] = None, transparent: bool = False,
              finalize: bool = True, abort: bool = True) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    ...


def resilient(function: Optional[Callable[..., Any]] = None, *, comm: Optional[Any] = None, spares: int = 0, spawn: bool = False,
              info: Optional[Any] = None, transparent: bool = False, finalize: bool = True, abort: bool = True) -> Any:
    """Makes a function survive failures: a decorator, with or without arguments::

        @fenix.resilient(spares=1)
        def main(session):
            ...

    Calling main() calls init, then the function with the session as its first argument, again after each failure, and then finalize. A
    failure may be met in any call of fenix or mpi4py. Arguments are those of init, Session.attempts and the function."""

    def decorate(wrapped: Callable[..., Result]) -> Callable[..., Result]:

        @functools.wraps(wrapped)
        def call(*arguments: Any, **keywords: Any) -> Result:
            session = init(comm, spares=spares, spawn=spawn, info=info, transparent=transparent)
            return session.run(wrapped, *arguments, finalize=finalize, abort=abort, **keywords)

        return call

    return decorate if function is None else decorate(function)


def set_option(setting: Setting, option: int) -> None:
    """Sets a setting of this process, the same on all ranks. Most have to be set before init. Raises Error."""
    check(lib.fenix_py_set_option(int(setting), int(option)))


def get_option(setting: Setting) -> int:
    """Returns the value of a setting of this process. Raises Error."""
    option = ffi.new("unsigned*")
    check(lib.fenix_py_get_option(int(setting), option))
    return int(option[0])


def initialized() -> bool:
    """Tells whether init has been called with success. May be called at any time."""
    flag = ffi.new("int*")
    check(lib.Fenix_Initialized(flag))
    return bool(flag[0])


def finalized() -> bool:
    """Tells whether finalize has completed. May be called at any time."""
    flag = ffi.new("int*")
    check(lib.Fenix_Finalized(flag))
    return bool(flag[0])


def error_message() -> str:
    """Returns the text of the latest error of this thread, "" without one."""
    return _errors.message()


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _look_after_repair() -> None:
    if _current is not None:
        _current._look_at_comm()


_errors._after_repair.append(_look_after_repair)


_is_child = False


# The session, and all that MPI and the library hold, belong to the parent.
def _forget_in_child() -> None:
    global _is_child
    _is_child = bool(MPI.Is_initialized())
    lib.fenix_py_forget_mpi()
    if _current is not None:
        _current._end()


os.register_at_fork(after_in_child=_forget_in_child)


# mpi4py calls MPI_Finalize after all functions of atexit.
@atexit.register
def _finalize_at_exit() -> None:
    session = _current
    if session is None or not session.active or MPI.Is_finalized():
        return
    # A traceback that was printed at a prompt is not the end.
    if getattr(sys, "last_type", None) is not None and not hasattr(sys, "ps1"):
        # This rank ends before its time, and the others would wait.
        session.abort(1)
    code = lib.Fenix_Finalize()
    if code < 0:
        print(f"fenix: the end of the program: {Code(code).name}: {_errors.message()}", file=sys.stderr)
        session.abort(1)
    session._end()

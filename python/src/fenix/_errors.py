# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions, and the place where codes become exceptions."""
import threading
from typing import Any, Callable, List, Optional, Tuple

from ._codes import Code
from ._library import ffi, lib


class Error(RuntimeError):
    """An error of the library. `code` is its Code, and the text is that of Fenix_Error_message: it names the argument or the rank.

    An error changes no stored data. Errors of arguments are defects of the program."""

    code: Code

    def __init__(self, code: int, text: str = "") -> None:
        """`code` is a number of the enumeration Code."""
        self.code = Code(code)
        super().__init__(f"{self.code.name}: {text}" if text else self.code.name)
        self.text = text

    def __reduce__(self) -> Tuple[Any, ...]:
        """Pickles what the constructor takes: exceptions go from process to process."""
        return type(self), (int(self.code), self.text), self.__dict__


class NoDataError(Error):
    """Nothing was committed yet, or the committed data is lost: Code.ERROR_NODATA_FOUND. All ranks get it."""


class CommException(Error):
    """A rank has died, and the failure has been repaired: Code.ERROR_CANCELLED.

    The communicator is whole again. Let this exception leave the function that resilient, Session.run or an Attempt has called: it is
    called again on all ranks."""

    #: The ranks that were replaced or removed, by their numbers before the repair.
    failed: List[int]

    def __init__(self, text: str = "a rank has died") -> None:
        """`text` says which call was cut short."""
        super().__init__(Code.ERROR_CANCELLED, text)
        self.failed = failed_ranks()

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.text, ), self.__dict__


class _Kept(threading.local):
    """Exceptions of Python functions that C has called in this thread. They cannot pass through C, and are raised after it."""

    def __init__(self) -> None:
        self.exceptions: List[BaseException] = []


_kept = _Kept()
# Exceptions of functions that a repair has called, in any thread, and that no call has raised so far: they end the attempt.
_of_repairs: List[BaseException] = []
_of_repairs_lock = threading.Lock()
# Called when a failure has been repaired: the session looks at the new communicator.
_after_repair: List[Callable[[], None]] = []


def keep_exception(error: BaseException) -> None:
    """Keeps an exception of a callback or serializer until the call of C that it belongs to has returned."""
    _kept.exceptions.append(error)


def keep_of_repair(error: BaseException) -> None:
    """Keeps an exception of a function that is called by a repair. The call may be one of MPI, after which nothing looks for it."""
    keep_exception(error)
    with _of_repairs_lock:
        _of_repairs.append(error)


def raise_kept() -> None:
    """Raises the first exception that was kept in this thread, if there is one."""
    kept, _kept.exceptions = _kept.exceptions, []
    if kept:
        with _of_repairs_lock:
            _of_repairs[:] = [error for error in _of_repairs if not any(error is each for each in kept)]
        raise kept[0]


def raise_of_repairs() -> None:
    """Raises the first exception that was kept in this thread, or of a repair in another one."""
    raise_kept()
    with _of_repairs_lock:
        found = list(_of_repairs)
        _of_repairs.clear()
    if found:
        raise found[0]


def message() -> str:
    """Returns the text of the latest error of this thread, as Fenix_Error_message."""
    return str(ffi.string(lib.Fenix_Error_message()).decode("utf-8", "replace"))


def failed_ranks() -> List[int]:
    """Returns the ranks that were replaced or removed by the latest repair."""
    ranks = ffi.new("int**")
    number = lib.Fenix_Process_fail_list(ranks)
    return [ranks[0][i] for i in range(max(0, number))]


def check(code: int, text: Optional[str] = None) -> int:
    """Returns a code that is no error, and raises the exception that belongs to an error."""
    if code >= 0 and not _kept.exceptions:
        return code
    raise_kept()
    if code == Code.ERROR_CANCELLED:
        for function in _after_repair:
            function()
        raise CommException(message() if text is None else text)
    kind = NoDataError if code == Code.ERROR_NODATA_FOUND else Error
    raise kind(code, message() if text is None else text)

# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions, and the place where codes become exceptions."""
from typing import Callable, List, Optional

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


# Exceptions of Python functions that C has called. They cannot pass through C, and are raised after it.
_from_callbacks: List[BaseException] = []
# Called when a failure has been repaired: the session looks at the new communicator.
_after_repair: List[Callable[[], None]] = []


def keep_exception(error: BaseException) -> None:
    """Keeps an exception of a callback or serializer until the call of C that it belongs to has returned."""
    _from_callbacks.append(error)


def raise_kept() -> None:
    """Raises the first exception that was kept, if there is one."""
    if _from_callbacks:
        error = _from_callbacks[0]
        _from_callbacks.clear()
        raise error


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
    if code >= 0 and not _from_callbacks:
        return code
    raise_kept()
    if code == Code.ERROR_CANCELLED:
        for function in _after_repair:
            function()
        raise CommException(message() if text is None else text)
    kind = NoDataError if code == Code.ERROR_NODATA_FOUND else Error
    raise kind(code, message() if text is None else text)

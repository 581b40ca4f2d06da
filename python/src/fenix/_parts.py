# SPDX-License-Identifier: BSD-3-Clause
"""Things that a Group is made of: ids, objects that the library points to, and the results of restores and asynchronous stores."""
import operator
import zlib
from typing import Any, Callable, Dict, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _errors
from ._codes import Code
from ._errors import check
from ._files import MemberFile
from ._library import ffi, lib
from ._subset import Subset

#: A member, or a group: a number, or a name that stands for a number below 0.
Id = Union[int, str]
#: The elements of a store: a Subset, a range or slice of elements, a view of the member's array, or None for all.
Elements = Union[Subset, range, slice, npt.NDArray[Any], None]
#: Serializer: called with a file, whether it is a store (True) or a restore, the first element and their number.
Serializer = Callable[[MemberFile, bool, int, int], object]

_names: Dict[int, str] = {}


def number_of(id: Id) -> int:
    """Returns the number of a name: below -2, so that it is never one that the program gives itself, nor a constant."""
    if isinstance(id, str):
        number = -3 - zlib.crc32(id.encode("utf-8")) % (2**31 - 4)
        if _names.setdefault(number, id) != id:
            raise ValueError(f"the names {id!r} and {_names[number]!r} have the same number by chance: take another name")
        return number
    return operator.index(id)


# ----------------------------------------------------------------------------------------------- what the library points to


class CalledSerializer:
    """A function of Python that C calls by its handle."""

    def __init__(self, function: Serializer) -> None:
        self.function = function
        self.handle = ffi.new_handle(self)


@ffi.def_extern(  # type: ignore[misc]
    name="fenix_py_on_serialize", error=1, onerror=lambda kind, error, trace: _errors.keep_exception(error))
def _on_serialize(file: Any, direction: int, offset: int, count: int, buffer: Any, data: Any) -> int:
    serializer: CalledSerializer = ffi.from_handle(data)
    stores = direction == 0
    with MemberFile(file, "w" if stores else "r") as opened:
        serializer.function(opened, stores, offset, count)
    return 0


class Restored:
    """Result of a restore. It is true if data was found.

    `code`: SUCCESS, WARNING_PARTIAL_RESTORE if some elements are in no snapshot, or ERROR_NODATA_FOUND. `found`: the elements that
    the snapshot has."""

    __slots__ = ("code", "found")

    def __init__(self, code: Code, found: Subset) -> None:
        """Programs get it from restores."""
        self.code, self.found = code, found

    @property
    def partial(self) -> bool:
        """Whether elements are missing: they are in no snapshot, and their memory is as it was."""
        return self.code == Code.WARNING_PARTIAL_RESTORE

    def __bool__(self) -> bool:
        return self.code >= 0

    def __repr__(self) -> str:
        return f"Restored({self.code.name}, {self.found!r})"


class Request:
    """An asynchronous store, as Group.istore makes it, or flush, as Group.iflush does. A store has to be complete before the next commit."""

    __slots__ = ("_request", "_done")

    def __init__(self, request: int) -> None:
        """Programs get it from Group.istore and Group.iflush."""
        self._request, self._done = request, False

    def __reduce__(self) -> Tuple[Any, ...]:
        raise TypeError("a request belongs to its process: it cannot be pickled or copied")

    def wait(self) -> None:
        """Waits until the data is protected, or written. Raises Error, and CommException if a failure has cancelled it."""
        if not self._done:
            self._done = True
            check(lib.fenix_py_wait(self._request))

    def test(self) -> bool:
        """Tells whether the data is protected, or written, without waiting. Raises as wait does."""
        if not self._done:
            flag = ffi.new("int*")
            code = lib.fenix_py_test(self._request, flag)
            self._done = bool(flag[0]) or code < 0
            check(code)
        return self._done

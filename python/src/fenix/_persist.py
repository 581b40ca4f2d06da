# SPDX-License-Identifier: BSD-3-Clause
"""Persistent communicators: a send stores a message, and a receive gets what was stored."""
from typing import Any, Mapping, Optional

from ._codes import Code
from ._errors import Error, check, message
from ._library import MPI, ffi, lib

# Codes for the error classes that do not come from an argument.
_CODES = {MPI.ERR_NO_MEM: Code.ERROR_NO_MEMORY, MPI.ERR_OTHER: Code.ERROR_NOCATEGORY}


def _info_of(hints: Mapping[str, object]) -> Any:
    """Returns the hints as an MPI.Info. A bool is written as MPI's hints are."""
    info = MPI.Info.Create()
    for name, value in hints.items():
        try:
            info.Set(str(name), str(value).lower() if isinstance(value, bool) else str(value))
        except MPI.Exception as error:
            info.Free()
            # MPI limits the lengths, and has no empty values.
            raise Error(Code.ERROR_INVALID_ARGUMENT, f"hints: {name} is {str(value)!r}: {error}") from error
    return info


def comm_persist(comm: Any, key: str, hints: Optional[Mapping[str, object]] = None) -> Any:
    """Makes a persistent communicator, an mpi4py.MPI.Intracomm with the ranks of `comm`.

    A send on it stores the message for its destination, and returns when the message survives the death of the sender. A receive gets the
    message that was stored last with the same source, destination and tag, and takes nothing away. It needs libfenix_mpi, preloaded.
    Collective over `comm`; the first call is collective over the resilient communicator.

    key: name of the session, the same on all ranks, without zero bytes. hints: persist_volume (bytes), persist_copies, persist_depth,
    persist_order ("fifo" or "lifo"), persist_missing ("wait" or "error"), persist_transparent, persist_dir; docs/message-logging.md describes
    them. Raises ERROR_INVALID_LOGIC_CALL without libfenix_mpi, ERROR_UNINITIALIZED, ERROR_INVALID_ARGUMENT for a wrong `comm`, key or hint,
    ERROR_NO_MEMORY, ERROR_NOCATEGORY for a time-out, and TypeError.

    Sends and receives raise mpi4py's MPI.Exception with the error class of MPI, such as ERR_TRUNCATE, or ERR_OTHER where nothing has been
    stored and persist_missing is "error". error_message() has the text of the library."""
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"comm is no communicator of mpi4py but {type(comm).__name__}")
    if not isinstance(key, str):
        raise TypeError(f"key is no str but {type(key).__name__}")
    if "\0" in key:
        raise Error(Code.ERROR_INVALID_ARGUMENT, "key has a zero byte")
    failure()  # raises the error if there is no session
    info = _info_of(hints or {})
    try:
        made = ffi.new("int*")
        error = lib.fenix_py_comm_persist(comm.py2f(), key.encode(), info.py2f(), made)
    finally:
        info.Free()
    if error == -1:
        raise Error(Code.ERROR_INVALID_LOGIC_CALL, "libfenix_mpi is not in this process: preload it")
    if error != 0:
        error_class = MPI.Get_error_class(error)
        if lib.fenix_py_is_failure(error_class):
            check(Code.ERROR_CANCELLED)
        raise Error(_CODES.get(error_class, Code.ERROR_INVALID_ARGUMENT), f"MPI_Comm_persist: {MPI.Get_error_string(error)}: {message()}")
    return MPI.Intracomm(MPI.Comm.f2py(made[0]))


def failure() -> bool:
    """Tells whether this process has the place of a rank that has died, or of one of an earlier job, and has sent on no persistent
    communicator since. Then it can receive what that rank had stored. Local. Raises Error before the start."""
    flag = ffi.new("int*")
    check(lib.Fenix_Failure(flag))
    return bool(flag[0])


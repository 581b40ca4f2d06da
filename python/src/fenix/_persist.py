# SPDX-License-Identifier: BSD-3-Clause
"""Persistent communicators: a send stores a message, and a receive gets what was stored."""
from typing import Any, Mapping, Optional

from ._codes import Code
from ._errors import Error, check, message
from ._library import MPI, ffi, lib


def comm_persist(comm: Any, key: str, hints: Optional[Mapping[str, object]] = None) -> Any:
    """Makes a persistent communicator, an mpi4py.MPI.Intracomm with the ranks of `comm`.

    A send on it stores the message for its destination, and returns when the message survives the death of the sender. A receive gets the
    message that was stored last with the same source, destination and tag, and takes nothing away. It needs libfenix_mpi, preloaded.
    Collective over `comm`; the first call is collective over the resilient communicator.

    key: name of the session, the same on all ranks. hints: persist_volume (bytes), persist_copies, persist_depth, persist_order ("fifo" or
    "lifo"), persist_missing ("wait" or "error"), persist_transparent, persist_dir; docs/persistent.md describes them. Raises Error if
    libfenix_mpi is missing, and for a wrong hint."""
    info = MPI.Info.Create()
    try:
        for name, value in (hints or {}).items():
            info.Set(name, str(value).lower() if isinstance(value, bool) else str(value))
        made = ffi.new("int*")
        error = lib.fenix_py_comm_persist(comm.py2f(), key.encode(), info.py2f(), made)
    finally:
        info.Free()
    if error == -1:
        raise Error(Code.ERROR_INVALID_LOGIC_CALL, "libfenix_mpi is not in this process: preload it")
    if error != 0:
        raise Error(Code.ERROR_INVALID_ARGUMENT, f"MPI_Comm_persist: {MPI.Get_error_string(error)}: {message()}")
    return MPI.Intracomm(MPI.Comm.f2py(made[0]))


def failure() -> bool:
    """Tells whether this process has the place of a rank that has died, or of one of an earlier job, and has sent on no persistent
    communicator since. Then it can receive what that rank had stored. Local. Raises Error before the start."""
    flag = ffi.new("int*")
    check(lib.Fenix_Failure(flag))
    return bool(flag[0])


# SPDX-License-Identifier: BSD-3-Clause
"""Loads the C library and mpi4py, so that both use one MPI. Import this module before anything that imports mpi4py.MPI."""
import glob
import os
import re
from typing import Any, List


def _mpi_libraries() -> List[str]:
    """Returns the files of MPI that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return sorted(set(re.findall(r"(/\S*/libmpi(?:ch)?\.so\S*)", maps.read())))


def _refuse_mpi(loaded: List[str], before: str, after: str) -> ImportError:
    return ImportError(f"{before}This process has loaded {', '.join(loaded)}, which is not the MPI that fenix was built with{after}. "
                       "Import fenix before mpi4py.MPI, or put the folder of that MPI's libmpi.so into LD_LIBRARY_PATH.")


def _is_in(folders: str, library: str) -> bool:
    files = [each for folder in folders.split(":") if folder for each in glob.glob(f"{folder}/libmpi.so*")]
    return any(os.path.exists(each) and os.path.samefile(each, library) for each in files)


_loaded = _mpi_libraries()
try:
    # Loads the MPI that fenix was built with. An mpi4py that is imported later takes the one that is there.
    from ._binding import ffi, lib
except ImportError as error:
    if _loaded:
        raise _refuse_mpi(_loaded, f"{error}. ", "") from error
    raise
# The loader takes one that is there already if its name is the same. It may be another build, which does less after failures.
_built_with = ffi.string(lib.fenix_py_mpi()).decode()
if _loaded and _built_with and not _is_in(f"{_built_with}:{os.environ.get('LD_LIBRARY_PATH', '')}", _loaded[0]):
    raise _refuse_mpi(_loaded, "", f" ({_built_with})")

import mpi4py

if not hasattr(mpi4py, "MPI"):
    # A rank meets the death of another one in a call on MPI_COMM_WORLD, too: that is an exception, and not the end of the job.
    mpi4py.rc.errors = "exception"

_PLACE = "FENIX_PYTHON_PLACE"


def _take_place() -> None:
    """Notes for children that this process has the place in the job that the environment names. Raises ImportError in such a child: MPI would
    take it for its parent, and hang in both."""
    place = f"{os.environ.get('PMIX_NAMESPACE')}.{os.environ.get('PMIX_RANK')}"
    taken, _, process = os.environ.get(_PLACE, "").rpartition(":")
    if taken == place and process != str(os.getpid()):
        raise ImportError(f"this process is a child of rank {os.environ.get('PMIX_RANK')}, process {process}: it has no place of its own in MPI. "
                          "A child may compute (multiprocessing, subprocess), without fenix and mpi4py.MPI")
    os.environ[_PLACE] = f"{place}:{os.getpid()}"


if "PMIX_NAMESPACE" in os.environ:
    _take_place()

# A process that mpirun has not started, as pytest, has nobody to talk to. Open MPI would leave a file of its shared memory in /dev/shm. This
# setting holds for the start of MPI only, and no other process inherits it.
_is_alone = not hasattr(mpi4py, "MPI") and "PMIX_NAMESPACE" not in os.environ and "OMPI_MCA_btl" not in os.environ
if _is_alone:
    os.putenv("OMPI_MCA_btl", "^sm")
from mpi4py import MPI  # noqa: E402

if _is_alone:
    os.unsetenv("OMPI_MCA_btl")

if len(_mpi_libraries()) != 1:
    raise ImportError("mpi4py and fenix use different MPI libraries: " + ", ".join(_mpi_libraries()) + ". mpi4py has to be "
                      "built for Open MPI, as in Debian's python3-mpi4py, or with MPICC=mpicc pip install --no-binary :all: mpi4py")



def _handler_of_duplicate(given: Any) -> Any:
    """Returns the error handler that mpi4py leaves on a duplicate of MPI.COMM_SELF, which has the given one."""
    before = MPI.COMM_SELF.Get_errhandler()
    MPI.COMM_SELF.Set_errhandler(given)
    duplicate = MPI.COMM_SELF.Dup()
    left = duplicate.Get_errhandler()
    duplicate.Free()
    MPI.COMM_SELF.Set_errhandler(before)
    return left


def prepare_errors() -> None:
    """Sees to it that errors of MPI are exceptions, also where mpi4py.MPI was imported first, with another mpi4py.rc.errors. Raises
    ImportError if mpi4py ends the job at each error: that cannot be changed any more."""
    if _handler_of_duplicate(MPI.ERRORS_RETURN) != MPI.ERRORS_RETURN:
        raise ImportError("mpi4py.MPI was imported with mpi4py.rc.errors as \"fatal\" or \"abort\": the first death would end the job. Leave it "
                          "at \"exception\", or import fenix first")
    if _handler_of_duplicate(MPI.ERRORS_ARE_FATAL) != MPI.ERRORS_RETURN:
        # "default": communicators have the handlers of MPI, and derived ones that of their origin.
        for comm in (MPI.COMM_WORLD, MPI.COMM_SELF):
            comm.Set_errhandler(MPI.ERRORS_RETURN)


__all__ = ["MPI", "ffi", "lib", "prepare_errors"]

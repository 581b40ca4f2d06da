# SPDX-License-Identifier: BSD-3-Clause
"""Loads the C library and mpi4py, so that both use one MPI. Import this module before anything that imports mpi4py.MPI."""
import os
import re
from typing import List


def _mpi_libraries() -> List[str]:
    """Returns the files of MPI that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return sorted(set(re.findall(r"(/\S*/libmpi(?:ch)?\.so\S*)", maps.read())))


try:
    # Loads the MPI that fenix was built with. An mpi4py that is imported later takes the one that is there.
    from ._binding import ffi, lib
except ImportError as error:
    _loaded = _mpi_libraries()
    if _loaded:
        raise ImportError(
            f"{error}. This process has loaded {', '.join(_loaded)}, which is not the MPI that fenix was built with. "
            "Import fenix before mpi4py.MPI, or put the folder of that MPI's libmpi.so into LD_LIBRARY_PATH.") from error
    raise

import mpi4py

if not hasattr(mpi4py, "MPI"):
    # A rank meets the death of another one in a call on MPI_COMM_WORLD, too: that is an exception, and not the end of the job.
    mpi4py.rc.errors = "exception"

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

__all__ = ["MPI", "ffi", "lib"]

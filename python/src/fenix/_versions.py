# SPDX-License-Identifier: BSD-3-Clause
"""Versions, and the libraries that are in use."""
from importlib import metadata
from typing import Dict

from ._library import MPI, _mpi_libraries


def versions() -> Dict[str, str]:
    """Returns the versions of fenix and mpi4py, the MPI that they use, and its file: for reports of defects."""
    return {
        "fenix": metadata.version("fenix-mpi"),
        "mpi4py": metadata.version("mpi4py"),
        "MPI": MPI.Get_library_version().split(",")[0],
        "libmpi": _mpi_libraries()[0],
    }

# SPDX-License-Identifier: BSD-3-Clause
"""Fenix: an MPI program in Python survives the death of its ranks.

Import it before mpi4py.MPI. See docs/python.md of the project."""
from ._codes import (ALL, ALL_SNAPSHOTS, FLUSH_COMPLETE, FLUSH_FAILED, FLUSH_NONE, FLUSH_WRITING, FLUSH_WRITTEN, LATEST, RESIZEABLE,
                     TIME_STAMP_MAX, WORLD, Code, RecoveryMode, ResumeMode, Role, Setting, SpareWaitMode, UnhandledMode)
from ._errors import CommException, Error, NoDataError
from ._files import MemberFile
from ._group import Group, group_exists
from ._parts import Request, Restored
from ._persist import comm_persist, failure
from ._policies import Buddies, Local, Parity, Policy, ReedSolomon, Ring
from ._session import (Attempt, Session, current, error_message, finalized, get_option, init, initialized, resilient,
                       set_option)
from ._store import Dataset, Run, dataset_delete, dataset_set_current, datasets, halt, run, should_halt
from ._subset import Subset
from ._versions import versions

__all__ = [
    "ALL", "ALL_SNAPSHOTS", "Attempt", "Buddies", "Code", "CommException", "Dataset", "Error", "FLUSH_COMPLETE", "FLUSH_FAILED",
    "FLUSH_NONE", "FLUSH_WRITING", "FLUSH_WRITTEN", "Group", "LATEST", "Local", "MemberFile", "NoDataError", "Parity", "Policy",
    "RESIZEABLE", "RecoveryMode", "ReedSolomon", "Request", "Restored", "ResumeMode", "Ring", "Role", "Run", "Session", "Setting",
    "SpareWaitMode", "Subset", "TIME_STAMP_MAX", "UnhandledMode", "WORLD", "comm_persist", "current", "dataset_delete",
    "dataset_set_current", "datasets", "error_message", "failure", "finalized", "get_option", "group_exists", "halt", "init",
    "initialized", "resilient", "run", "set_option", "should_halt", "versions"
]

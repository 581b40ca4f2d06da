# SPDX-License-Identifier: BSD-3-Clause
"""Fenix: an MPI program in Python survives the death of its ranks.

Import it before mpi4py.MPI. See docs/python.md of the project."""
from ._codes import (ALL, ALL_SNAPSHOTS, LATEST, RESIZEABLE, TIME_STAMP_MAX, WORLD, Code, RecoveryMode, ResumeMode, Role, Setting,
                     SpareWaitMode, UnhandledMode)
from ._errors import CommException, Error, NoDataError
from ._files import MemberFile
from ._group import Group, group_exists
from ._parts import Request, Restored
from ._persist import comm_persist, failure
from ._policies import Buddies, Local, Parity, Policy, ReedSolomon, Ring
from ._session import (Attempt, Session, current, error_message, finalized, get_option, init, initialized, resilient,
                       set_option)
from ._subset import Subset
from ._versions import versions

__all__ = [
    "ALL", "ALL_SNAPSHOTS", "Attempt", "Buddies", "Code", "CommException", "Error", "Group", "LATEST", "Local", "MemberFile",
    "NoDataError", "Parity", "Policy", "RESIZEABLE", "RecoveryMode", "ReedSolomon", "Request", "Restored", "ResumeMode", "Ring", "Role",
    "Session", "Setting", "SpareWaitMode", "Subset", "TIME_STAMP_MAX", "UnhandledMode", "WORLD", "comm_persist", "current", "error_message",
    "failure", "finalized", "get_option", "group_exists", "init", "initialized", "resilient", "set_option", "versions"
]

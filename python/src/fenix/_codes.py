# SPDX-License-Identifier: BSD-3-Clause
"""Constants. Made from include/fenix/codes.h by scripts/check python --write."""
from enum import IntEnum


class Code(IntEnum):
    """Return codes of the library: errors are negative, warnings positive."""

    #: no error
    SUCCESS = 0
    #: called before Fenix_Init or after Fenix_Finalize
    ERROR_UNINITIALIZED = -100
    #: an MPI call failed and nothing could be repaired
    ERROR_NOCATEGORY = -99
    #: null callback, or nothing to pop
    ERROR_CALLBACK_NOT_REGISTERED = -98
    #: the group could not be formed on this communicator
    ERROR_GROUP_CREATE = -97
    #: kept for source compatibility; not returned
    ERROR_MEMBER_CREATE = -96
    #: the member id is taken in this group
    ERROR_MEMBER_EXISTS = -95
    #: Fenix_Data_member_stage_begin without its _end on this member
    ERROR_MEMBER_STAGING = -94
    #: Fenix_Data_member_load_begin without its _end on this member
    ERROR_MEMBER_LOADING = -93
    #: kept for source compatibility; not returned
    ERROR_COMMIT_BARRIER = -92
    #: no such group on this rank
    ERROR_INVALID_GROUPID = -91
    #: reserved member id, or no such member in the group
    ERROR_INVALID_MEMBERID = -90
    #: the call is valid, but not at this time
    ERROR_INVALID_LOGIC_CALL = -89
    #: unknown policy
    ERROR_INVALID_POLICY_NAME = -88
    #: negative, or no snapshot to delete has this time stamp
    ERROR_INVALID_TIMESTAMP = -87
    #: start time stamp out of range
    ERROR_INVALID_TIMESTART = -86
    #: depth out of range
    ERROR_INVALID_DEPTH = -85
    #: unknown member attribute, or not settable
    ERROR_INVALID_ATTRIBUTE_NAME = -84
    #: attribute value not allowed
    ERROR_INVALID_ATTRIBUTE_VALUE = -83
    #: position outside [0, number)
    ERROR_INVALID_POSITION = -82
    #: kept for source compatibility; not returned
    ERROR_INVALID_SUBSET = -81
    #: the request was never given to this process
    ERROR_DATA_WAIT = -80
    #: number of blocks not allowed, or more than a record can describe
    ERROR_SUBSET_NUM_BLOCKS = -79
    #: negative start offset
    ERROR_SUBSET_START_OFFSET = -78
    #: end before start, or beyond the member
    ERROR_SUBSET_END_OFFSET = -77
    #: stride not allowed
    ERROR_SUBSET_STRIDE = -76
    #: nothing was committed, or the committed data is lost
    ERROR_NODATA_FOUND = -75
    #: a defect of this library; please report it
    ERROR_INTERN = -74
    #: cut short by a failure that has since been repaired
    ERROR_CANCELLED = -73
    #: unknown setting
    ERROR_INVALID_SETTING_NAME = -72
    #: option out of range for this setting
    ERROR_INVALID_SETTING_OPTION = -71
    #: there is no message log with this id
    ERROR_INVALID_MLOGID = -70
    #: there is a message log with this id
    ERROR_MLOG_EXISTS = -69
    #: message logging needs libfenix_mpi
    ERROR_MLOG_LIBRARY_UNAVAILABLE = -68
    #: Fenix_Process_detect_failures has found a failure
    ERROR_PROCESS_FAILURE = -67
    #: new: null pointer, negative count, or another error without its own code
    ERROR_INVALID_ARGUMENT = -60
    #: new: the values do not fit the policy or the communicator
    ERROR_INVALID_POLICY_VALUE = -59
    #: new: the source buffer has less room than a restore in place needs
    ERROR_BUFFER_TOO_SMALL = -58
    #: new: the ranks of a collective call gave different arguments
    ERROR_MISMATCH = -57
    #: new: a rank could not get memory, a mapping or a file descriptor
    ERROR_NO_MEMORY = -56
    #: new: no sign of life of another rank for FENIX_TIMEOUT seconds
    ERROR_TIMEOUT = -55
    #: new: the store of FENIX_STORE, or its file system, has failed
    ERROR_STORE = -54
    #: new: replacements could not be spawned: the communicator has shrunk
    ERROR_SPAWNING_FAILED = -52
    #: the communicator has shrunk: no spare was left
    WARNING_SPARE_RANKS_DEPLETED = 100
    #: some elements that were wanted are in no snapshot: see found_data
    WARNING_PARTIAL_RESTORE = 101
    #: new: the group goes on from a dataset of the store
    WARNING_RESUMED = 103
    #: new: the death of a node or failure domain would lose snapshots
    WARNING_SHARED_FATE = 102


class Role(IntEnum):
    """Role of a rank since the latest repair."""

    #: no failure so far
    INITIAL_RANK = 0
    #: took the place of a dead rank in the latest repair
    RECOVERED_RANK = 1
    #: active before the latest repair and alive
    SURVIVOR_RANK = 2
    #: waiting inside Fenix_Init, or released from it unused
    SPARE_RANK = 3
    #: dead and not replaced: no rank has this role, but slots do
    MISSING_RANK = 4


class Setting(IntEnum):
    """Settings for set_option and get_option."""

    #: a Fenix_Recovery_mode; default FENIX_RECOVERY_REPAIR
    RECOVERY_MODE = 0
    #: a Fenix_Resume_mode; default FENIX_RESUME_JUMP
    RESUME_MODE = 1
    #: a Fenix_Unhandled_mode; default FENIX_UNHANDLED_ABORT
    UNHANDLED_MODE = 2
    #: a Fenix_Callback_exception_mode; default …_RETHROW
    CALLBACK_EXCEPTION_MODE = 3
    #: a Fenix_Mlog_recovery_mode; default FENIX_MLOG_RECOVERY_MANUAL
    MLOG_RECOVERY_MODE = 4
    #: a Fenix_Spare_wait_mode; default FENIX_SPARE_WAIT_SLEEP
    SPARE_WAIT_MODE = 5
    #: a Fenix_Spare_finalize_mode; default FENIX_SPARE_FINALIZE_EXIT
    SPARE_FINALIZE_MODE = 6


class RecoveryMode(IntEnum):
    """Treatment of the communicators when a rank has died."""

    #: nothing is done: the MPI call returns its error
    IGNORE = 0
    #: no repair; callbacks run and control resumes as after one
    NOOP = 1
    #: spares replace dead ranks; without spares the communicator shrinks
    REPAIR = 2
    #: as FENIX_RECOVERY_REPAIR, but new processes are spawned when no spare is left
    SPAWN = 3


class ResumeMode(IntEnum):
    """Point at which control resumes; in Python it is always RETURN."""

    #: at the logical exit of Fenix_Init, by longjmp
    JUMP = 0
    #: at the call that met the failure, which returns an error code
    RETURN = 1
    #: where the C++ application catches fenix::CommException
    THROW = 2


class UnhandledMode(IntEnum):
    """Treatment of MPI errors that are not failures."""

    #: the MPI call returns its error code
    SILENT = 0
    #: as FENIX_UNHANDLED_SILENT, with one line on stderr
    PRINT = 1
    #: one line on stderr, then MPI_Abort (as without Fenix)
    ABORT = 2


class SpareWaitMode(IntEnum):
    """Way in which spares wait."""

    #: poll without pause
    BUSY = 0
    #: yield the core between two polls
    YIELD = 1
    #: sleep between polls, at most 10 ms
    SLEEP = 2


#: Id of the group of all ranks, which need not be created.
WORLD = 0x40000001
#: As member of a store: all members, in the order of their creation.
ALL = -1
#: As count of a member: its size may change from snapshot to snapshot.
RESIZEABLE = 0
#: As snapshot of a restore: the newest one.
LATEST = -1
#: As snapshot of a deletion: all snapshots of this rank.
ALL_SNAPSHOTS = -2
#: Largest time stamp.
TIME_STAMP_MAX = 0x40000000
#: State of the flush of a snapshot: there is none.
FLUSH_NONE = 0
#: State of a flush: it is under way on this node.
FLUSH_WRITING = 1
#: State of a flush: this node has written its part.
FLUSH_WRITTEN = 2
#: State of a flush: all nodes have written their parts, and it can be fetched.
FLUSH_COMPLETE = 3
#: State of a flush: this node could not write its part.
FLUSH_FAILED = 4
_DATASET_NAME_MAX = 128
_POLICY_RAID = 13
_POLICY_RING = 14
_POLICY_REED_SOLOMON = 15
_POLICY_LOCAL = 16
_SEPARATION_AUTO = -2
_ATTRIBUTE_COUNT = 12
_ATTRIBUTE_SIZE = 14

! SPDX-License-Identifier: BSD-3-Clause
! Constants: those of <fenix/codes.h>, with the same names and values. A test compares them.
module fenix_codes
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  public

  ! Return codes
  integer(c_int), parameter :: FENIX_SUCCESS = 0
  integer(c_int), parameter :: FENIX_ERROR_UNINITIALIZED = -100
  integer(c_int), parameter :: FENIX_ERROR_NOCATEGORY = -99
  integer(c_int), parameter :: FENIX_ERROR_CALLBACK_NOT_REGISTERED = -98
  integer(c_int), parameter :: FENIX_ERROR_GROUP_CREATE = -97
  integer(c_int), parameter :: FENIX_ERROR_MEMBER_CREATE = -96
  integer(c_int), parameter :: FENIX_ERROR_MEMBER_EXISTS = -95
  integer(c_int), parameter :: FENIX_ERROR_MEMBER_STAGING = -94
  integer(c_int), parameter :: FENIX_ERROR_MEMBER_LOADING = -93
  integer(c_int), parameter :: FENIX_ERROR_COMMIT_BARRIER = -92
  integer(c_int), parameter :: FENIX_ERROR_INVALID_GROUPID = -91
  integer(c_int), parameter :: FENIX_ERROR_INVALID_MEMBERID = -90
  integer(c_int), parameter :: FENIX_ERROR_INVALID_LOGIC_CALL = -89
  integer(c_int), parameter :: FENIX_ERROR_INVALID_POLICY_NAME = -88
  integer(c_int), parameter :: FENIX_ERROR_INVALID_TIMESTAMP = -87
  integer(c_int), parameter :: FENIX_ERROR_INVALID_TIMESTART = -86
  integer(c_int), parameter :: FENIX_ERROR_INVALID_DEPTH = -85
  integer(c_int), parameter :: FENIX_ERROR_INVALID_ATTRIBUTE_NAME = -84
  integer(c_int), parameter :: FENIX_ERROR_INVALID_ATTRIBUTE_VALUE = -83
  integer(c_int), parameter :: FENIX_ERROR_INVALID_POSITION = -82
  integer(c_int), parameter :: FENIX_ERROR_INVALID_SUBSET = -81
  integer(c_int), parameter :: FENIX_ERROR_DATA_WAIT = -80
  integer(c_int), parameter :: FENIX_ERROR_SUBSET_NUM_BLOCKS = -79
  integer(c_int), parameter :: FENIX_ERROR_SUBSET_START_OFFSET = -78
  integer(c_int), parameter :: FENIX_ERROR_SUBSET_END_OFFSET = -77
  integer(c_int), parameter :: FENIX_ERROR_SUBSET_STRIDE = -76
  integer(c_int), parameter :: FENIX_ERROR_NODATA_FOUND = -75
  integer(c_int), parameter :: FENIX_ERROR_INTERN = -74
  integer(c_int), parameter :: FENIX_ERROR_CANCELLED = -73
  integer(c_int), parameter :: FENIX_ERROR_INVALID_SETTING_NAME = -72
  integer(c_int), parameter :: FENIX_ERROR_INVALID_SETTING_OPTION = -71
  integer(c_int), parameter :: FENIX_ERROR_INVALID_MLOGID = -70
  integer(c_int), parameter :: FENIX_ERROR_MLOG_EXISTS = -69
  integer(c_int), parameter :: FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE = -68
  integer(c_int), parameter :: FENIX_ERROR_PROCESS_FAILURE = -67
  integer(c_int), parameter :: FENIX_ERROR_INVALID_ARGUMENT = -60
  integer(c_int), parameter :: FENIX_ERROR_INVALID_POLICY_VALUE = -59
  integer(c_int), parameter :: FENIX_ERROR_BUFFER_TOO_SMALL = -58
  integer(c_int), parameter :: FENIX_ERROR_MISMATCH = -57
  integer(c_int), parameter :: FENIX_ERROR_NO_MEMORY = -56
  integer(c_int), parameter :: FENIX_ERROR_TIMEOUT = -55
  integer(c_int), parameter :: FENIX_ERROR_STORE = -54
  integer(c_int), parameter :: FENIX_ERROR_SPAWNING_FAILED = -52
  integer(c_int), parameter :: FENIX_WARNING_SPARE_RANKS_DEPLETED = 100
  integer(c_int), parameter :: FENIX_WARNING_PARTIAL_RESTORE = 101
  integer(c_int), parameter :: FENIX_WARNING_RESUMED = 103
  integer(c_int), parameter :: FENIX_WARNING_SHARED_FATE = 102

  ! Roles
  integer(c_int), parameter :: FENIX_ROLE_INITIAL_RANK = 0
  integer(c_int), parameter :: FENIX_ROLE_RECOVERED_RANK = 1
  integer(c_int), parameter :: FENIX_ROLE_SURVIVOR_RANK = 2
  integer(c_int), parameter :: FENIX_ROLE_SPARE_RANK = 3
  integer(c_int), parameter :: FENIX_ROLE_MISSING_RANK = 4

  ! Settings
  integer(c_int), parameter :: FENIX_RECOVERY_MODE = 0
  integer(c_int), parameter :: FENIX_RESUME_MODE = 1
  integer(c_int), parameter :: FENIX_UNHANDLED_MODE = 2
  integer(c_int), parameter :: FENIX_CALLBACK_EXCEPTION_MODE = 3
  integer(c_int), parameter :: FENIX_MLOG_RECOVERY_MODE = 4
  integer(c_int), parameter :: FENIX_SPARE_WAIT_MODE = 5
  integer(c_int), parameter :: FENIX_SPARE_FINALIZE_MODE = 6
  integer(c_int), parameter :: FENIX_SETTING_NAME_MAXCODE = 7

  integer(c_int), parameter :: FENIX_RECOVERY_IGNORE = 0
  integer(c_int), parameter :: FENIX_RECOVERY_NOOP = 1
  integer(c_int), parameter :: FENIX_RECOVERY_REPAIR = 2
  integer(c_int), parameter :: FENIX_RECOVERY_SPAWN = 3
  integer(c_int), parameter :: FENIX_RECOVERY_MODE_MAXCODE = 4

  integer(c_int), parameter :: FENIX_RESUME_JUMP = 0
  integer(c_int), parameter :: FENIX_RESUME_RETURN = 1
  integer(c_int), parameter :: FENIX_RESUME_THROW = 2
  integer(c_int), parameter :: FENIX_RESUME_MODE_MAXCODE = 3

  integer(c_int), parameter :: FENIX_UNHANDLED_SILENT = 0
  integer(c_int), parameter :: FENIX_UNHANDLED_PRINT = 1
  integer(c_int), parameter :: FENIX_UNHANDLED_ABORT = 2
  integer(c_int), parameter :: FENIX_UNHANDLED_MODE_MAXCODE = 3

  integer(c_int), parameter :: FENIX_CALLBACK_EXCEPTION_RETHROW = 0
  integer(c_int), parameter :: FENIX_CALLBACK_EXCEPTION_SQUASH = 1
  integer(c_int), parameter :: FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE = 2

  integer(c_int), parameter :: FENIX_CALLBACK_PRE_RECOVERY = 0
  integer(c_int), parameter :: FENIX_CALLBACK_POST_RECOVERY = 1

  integer(c_int), parameter :: FENIX_MLOG_RECOVERY_MANUAL = 0
  integer(c_int), parameter :: FENIX_MLOG_RECOVERY_INLINE = 1
  integer(c_int), parameter :: FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC = 2
  integer(c_int), parameter :: FENIX_MLOG_RECOVERY_MODE_MAXCODE = 3

  integer(c_int), parameter :: FENIX_SPARE_WAIT_BUSY = 0
  integer(c_int), parameter :: FENIX_SPARE_WAIT_YIELD = 1
  integer(c_int), parameter :: FENIX_SPARE_WAIT_SLEEP = 2
  integer(c_int), parameter :: FENIX_SPARE_WAIT_MODE_MAXCODE = 3

  integer(c_int), parameter :: FENIX_SPARE_FINALIZE_RELEASE = 0
  integer(c_int), parameter :: FENIX_SPARE_FINALIZE_EXIT = 1
  integer(c_int), parameter :: FENIX_SPARE_FINALIZE_MODE_MAXCODE = 2

  ! Ids, counts, time stamps
  integer(c_int), parameter :: FENIX_GROUP_ID_MAX = int(z'40000000', c_int)
  integer(c_int), parameter :: FENIX_MEMBER_ID_MAX = int(z'40000000', c_int)
  integer(c_int), parameter :: FENIX_TIME_STAMP_MAX = int(z'40000000', c_int)
  integer(c_int), parameter :: FENIX_DATA_GROUP_WORLD_ID = int(z'40000001', c_int)
  integer(c_int), parameter :: FENIX_DATA_MEMBER_ALL = -1
  integer(c_int), parameter :: FENIX_RESIZEABLE = 0
  integer(c_int), parameter :: FENIX_STOREV_ALL = -1
  integer(c_int), parameter :: FENIX_DATA_RESTORE_FULL = -1
  integer(c_int), parameter :: FENIX_DATA_SNAPSHOT_LATEST = -1
  integer(c_int), parameter :: FENIX_DATA_SNAPSHOT_ALL = -2

  integer(c_int), parameter :: FENIX_MLOG_NONE = -1
  integer(c_int), parameter :: FENIX_MLOG_CONTINUE = -1
  integer(c_int), parameter :: FENIX_CHECKPOINT_NONE = -1
  integer(c_int), parameter :: FENIX_DATA_SUBSET_CREATED = 2

  ! Directions of a serializer
  integer(c_int), parameter :: FENIX_SERIALIZE = 0
  integer(c_int), parameter :: FENIX_DESERIALIZE = 1

  integer(c_int), parameter :: FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER = 11
  integer(c_int), parameter :: FENIX_DATA_MEMBER_ATTRIBUTE_SOURCE_BUFFER = FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER
  integer(c_int), parameter :: FENIX_DATA_MEMBER_ATTRIBUTE_COUNT = 12
  integer(c_int), parameter :: FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE = 13
  integer(c_int), parameter :: FENIX_DATA_MEMBER_ATTRIBUTE_SIZE = 14

  integer(c_int), parameter :: FENIX_DATA_POLICY_IN_MEMORY_RAID = 13
  integer(c_int), parameter :: FENIX_DATA_POLICY_IMR = FENIX_DATA_POLICY_IN_MEMORY_RAID
  integer(c_int), parameter :: FENIX_DATA_POLICY_PEER_RANK_SEPARATION = 14
  integer(c_int), parameter :: FENIX_DATA_POLICY_REED_SOLOMON = 15
  integer(c_int), parameter :: FENIX_DATA_POLICY_LOCAL = 16
  integer(c_int), parameter :: FENIX_DATA_SEPARATION_AUTO = -2

  ! States of a flush
  integer(c_int), parameter :: FENIX_FLUSH_NONE = 0
  integer(c_int), parameter :: FENIX_FLUSH_WRITING = 1
  integer(c_int), parameter :: FENIX_FLUSH_WRITTEN = 2
  integer(c_int), parameter :: FENIX_FLUSH_COMPLETE = 3
  integer(c_int), parameter :: FENIX_FLUSH_FAILED = 4
  integer(c_int), parameter :: FENIX_DATASET_NAME_MAX = 128
end module fenix_codes

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Constants of the Fenix interface: return codes, roles, settings, policies.
 * Names are those of the current Fenix. So are the values of codes, roles and settings, which are those of its header
 * fenix.h of 2026; the released Fenix 1.0 has other values for some codes. Values are part of the interface.
 * Additions of this library are marked "new".
 */
#ifndef FENIX_CODES_H
#define FENIX_CODES_H

#include <stddef.h>

/** Return codes. Errors are negative, warnings positive, FENIX_SUCCESS is 0. */
typedef enum {
  FENIX_SUCCESS = 0, /**< no error */

  FENIX_ERROR_UNINITIALIZED = -100,           /**< called before Fenix_Init or after Fenix_Finalize */
  FENIX_ERROR_NOCATEGORY = -99,               /**< an MPI call failed and nothing could be repaired */
  FENIX_ERROR_CALLBACK_NOT_REGISTERED = -98,  /**< null callback, or nothing to pop */
  FENIX_ERROR_GROUP_CREATE = -97,             /**< the group could not be formed on this communicator */
  FENIX_ERROR_MEMBER_CREATE = -96,            /**< kept for source compatibility; not returned */
  FENIX_ERROR_MEMBER_EXISTS = -95,            /**< the member id is taken in this group */
  FENIX_ERROR_MEMBER_STAGING = -94,           /**< Fenix_Data_member_stage_begin without its _end on this member */
  FENIX_ERROR_MEMBER_LOADING = -93,           /**< Fenix_Data_member_load_begin without its _end on this member */
  FENIX_ERROR_COMMIT_BARRIER = -92,           /**< kept for source compatibility; not returned */
  FENIX_ERROR_INVALID_GROUPID = -91,          /**< no such group on this rank */
  FENIX_ERROR_INVALID_MEMBERID = -90,         /**< reserved member id, or no such member in the group */
  FENIX_ERROR_INVALID_LOGIC_CALL = -89,       /**< the call is valid, but not at this time */
  FENIX_ERROR_INVALID_POLICY_NAME = -88,      /**< unknown policy */
  FENIX_ERROR_INVALID_TIMESTAMP = -87,        /**< negative, or no snapshot to delete has this time stamp */
  FENIX_ERROR_INVALID_TIMESTART = -86,        /**< start time stamp out of range */
  FENIX_ERROR_INVALID_DEPTH = -85,            /**< depth out of range */
  FENIX_ERROR_INVALID_ATTRIBUTE_NAME = -84,   /**< unknown member attribute, or not settable */
  FENIX_ERROR_INVALID_ATTRIBUTE_VALUE = -83,  /**< attribute value not allowed */
  FENIX_ERROR_INVALID_POSITION = -82,         /**< position outside [0, number) */
  FENIX_ERROR_INVALID_SUBSET = -81,           /**< kept for source compatibility; not returned */
  FENIX_ERROR_DATA_WAIT = -80,                /**< the request was never given to this process */
  FENIX_ERROR_SUBSET_NUM_BLOCKS = -79,        /**< number of blocks not allowed, or more than a record can describe */
  FENIX_ERROR_SUBSET_START_OFFSET = -78,      /**< negative start offset */
  FENIX_ERROR_SUBSET_END_OFFSET = -77,        /**< end before start, or beyond the member */
  FENIX_ERROR_SUBSET_STRIDE = -76,            /**< stride not allowed */
  FENIX_ERROR_NODATA_FOUND = -75,             /**< nothing was committed, or the committed data is lost */
  FENIX_ERROR_INTERN = -74,                   /**< a defect of this library; please report it */
  FENIX_ERROR_CANCELLED = -73,                /**< cut short by a failure that has since been repaired */
  FENIX_ERROR_INVALID_SETTING_NAME = -72,     /**< unknown setting */
  FENIX_ERROR_INVALID_SETTING_OPTION = -71,   /**< option out of range for this setting */
  FENIX_ERROR_INVALID_MLOGID = -70,           /**< there is no message log with this id */
  FENIX_ERROR_MLOG_EXISTS = -69,              /**< there is a message log with this id */
  FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE = -68, /**< message logging needs libfenix_mpi */
  FENIX_ERROR_PROCESS_FAILURE = -67,          /**< Fenix_Process_detect_failures has found a failure */

  FENIX_ERROR_INVALID_ARGUMENT = -60, /**< new: null pointer, negative count, or another error without its own code */
  FENIX_ERROR_INVALID_POLICY_VALUE = -59, /**< new: the values do not fit the policy or the communicator */
  FENIX_ERROR_BUFFER_TOO_SMALL = -58,     /**< new: the source buffer has less room than a restore in place needs */
  FENIX_ERROR_MISMATCH = -57,             /**< new: the ranks of a collective call gave different arguments */
  FENIX_ERROR_NO_MEMORY = -56,            /**< new: a rank could not get memory, a mapping or a file descriptor */
  FENIX_ERROR_TIMEOUT = -55,              /**< new: no sign of life of another rank for FENIX_TIMEOUT seconds */
  FENIX_ERROR_STORE = -54,                /**< new: the store of FENIX_STORE, or its file system, has failed */
  FENIX_ERROR_SPAWNING_FAILED = -52,      /**< new: replacements could not be spawned: the communicator has shrunk */

  FENIX_WARNING_SPARE_RANKS_DEPLETED = 100, /**< the communicator has shrunk: no spare was left */
  FENIX_WARNING_PARTIAL_RESTORE = 101,      /**< some elements that were wanted are in no snapshot: see found_data */
  FENIX_WARNING_RESUMED = 103,              /**< new: the group goes on from a dataset of the store */
  FENIX_WARNING_SHARED_FATE = 102           /**< new: the death of a node or failure domain would lose snapshots */
} Fenix_Return_codes;

/** Role of a rank since the latest exit from Fenix_Init (specification 2.1). */
typedef enum {
  FENIX_ROLE_INITIAL_RANK = 0,   /**< no failure so far */
  FENIX_ROLE_RECOVERED_RANK = 1, /**< took the place of a dead rank in the latest repair */
  FENIX_ROLE_SURVIVOR_RANK = 2,  /**< active before the latest repair and alive */
  FENIX_ROLE_SPARE_RANK = 3,     /**< waiting inside Fenix_Init, or released from it unused */
  FENIX_ROLE_MISSING_RANK = 4    /**< dead and not replaced: no rank has this role, but slots do */
} Fenix_Rank_role;

/** Settings for Fenix_set_option and Fenix_get_option. */
typedef enum {
  FENIX_RECOVERY_MODE,           /**< a Fenix_Recovery_mode; default FENIX_RECOVERY_REPAIR */
  FENIX_RESUME_MODE,             /**< a Fenix_Resume_mode; default FENIX_RESUME_JUMP */
  FENIX_UNHANDLED_MODE,          /**< a Fenix_Unhandled_mode; default FENIX_UNHANDLED_ABORT */
  FENIX_CALLBACK_EXCEPTION_MODE, /**< a Fenix_Callback_exception_mode; default …_RETHROW */
  FENIX_MLOG_RECOVERY_MODE,      /**< a Fenix_Mlog_recovery_mode; default FENIX_MLOG_RECOVERY_MANUAL */
  FENIX_SPARE_WAIT_MODE,         /**< a Fenix_Spare_wait_mode; default FENIX_SPARE_WAIT_SLEEP */
  FENIX_SPARE_FINALIZE_MODE,     /**< a Fenix_Spare_finalize_mode; default FENIX_SPARE_FINALIZE_EXIT */
  FENIX_SETTING_NAME_MAXCODE     /**< not a setting */
} Fenix_Setting_name;

/** Treatment of the communicators when a rank has died. */
typedef enum {
  FENIX_RECOVERY_IGNORE,      /**< nothing is done: the MPI call returns its error */
  FENIX_RECOVERY_NOOP,        /**< no repair; callbacks run and control resumes as after one */
  FENIX_RECOVERY_REPAIR,      /**< spares replace dead ranks; without spares the communicator shrinks */
  FENIX_RECOVERY_SPAWN,       /**< as FENIX_RECOVERY_REPAIR, but new processes are spawned when no spare is left */
  FENIX_RECOVERY_MODE_MAXCODE /**< not a mode */
} Fenix_Recovery_mode;

/** Point at which control resumes after a repair. */
typedef enum {
  FENIX_RESUME_JUMP,        /**< at the logical exit of Fenix_Init, by longjmp */
  FENIX_RESUME_RETURN,      /**< at the call that met the failure, which returns an error code */
  FENIX_RESUME_THROW,       /**< where the C++ application catches fenix::CommException */
  FENIX_RESUME_MODE_MAXCODE /**< not a mode */
} Fenix_Resume_mode;

/** Treatment of MPI errors on a resilient communicator that are not failures, such as a wrong rank or a truncation. */
typedef enum {
  FENIX_UNHANDLED_SILENT,      /**< the MPI call returns its error code */
  FENIX_UNHANDLED_PRINT,       /**< as FENIX_UNHANDLED_SILENT, with one line on stderr */
  FENIX_UNHANDLED_ABORT,       /**< one line on stderr, then MPI_Abort (as without Fenix) */
  FENIX_UNHANDLED_MODE_MAXCODE /**< not a mode */
} Fenix_Unhandled_mode;

/** Treatment of C++ exceptions that leave a callback. */
typedef enum {
  FENIX_CALLBACK_EXCEPTION_RETHROW,     /**< they reach the application; later callbacks are not run */
  FENIX_CALLBACK_EXCEPTION_SQUASH,      /**< a fenix::CommException is dropped, others reach the application */
  FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE /**< not a mode */
} Fenix_Callback_exception_mode;

/** Time at which a callback is called: before or after the repair. */
typedef enum {
  FENIX_CALLBACK_PRE_RECOVERY, /**< when the failure has been noticed; the resilient communicator is revoked */
  FENIX_CALLBACK_POST_RECOVERY /**< after the repair, immediately before control resumes */
} Fenix_Callback_location;

/** Treatment of calls whose messages are logged (Fenix_Mlog_activate), if a failure cuts them short. */
typedef enum {
  FENIX_MLOG_RECOVERY_MANUAL,          /**< they end as FENIX_RESUME_MODE says */
  FENIX_MLOG_RECOVERY_INLINE,          /**< they go on after the repair and the callbacks */
  FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC, /**< the same here: ranks that go on need no Fenix_Mlog_sync */
  FENIX_MLOG_RECOVERY_MODE_MAXCODE     /**< not a mode */
} Fenix_Mlog_recovery_mode;

/** Way in which spare ranks wait inside Fenix_Init. */
typedef enum {
  FENIX_SPARE_WAIT_BUSY,        /**< poll without pause */
  FENIX_SPARE_WAIT_YIELD,       /**< yield the core between two polls */
  FENIX_SPARE_WAIT_SLEEP,       /**< sleep between polls, at most 10 ms */
  FENIX_SPARE_WAIT_MODE_MAXCODE /**< not a mode */
} Fenix_Spare_wait_mode;

/** Behaviour of spare ranks when the active ranks have called Fenix_Finalize. */
typedef enum {
  FENIX_SPARE_FINALIZE_RELEASE,     /**< return from Fenix_Init with FENIX_ROLE_SPARE_RANK and MPI_COMM_NULL */
  FENIX_SPARE_FINALIZE_EXIT,        /**< call MPI_Finalize and exit(0) */
  FENIX_SPARE_FINALIZE_MODE_MAXCODE /**< not a mode */
} Fenix_Spare_finalize_mode;

/** Ids of groups in [0, FENIX_GROUP_ID_MAX) are never reserved. Any other int may be an id as well, except
 *  FENIX_DATA_GROUP_WORLD_ID. */
#define FENIX_GROUP_ID_MAX 0x40000000
/** Ids of members in [0, FENIX_MEMBER_ID_MAX) are never reserved. Any other int may be an id as well, except
 *  FENIX_DATA_MEMBER_ALL. */
#define FENIX_MEMBER_ID_MAX 0x40000000
/** Largest time stamp: time stamps are in [0, FENIX_TIME_STAMP_MAX]. */
#define FENIX_TIME_STAMP_MAX 0x40000000

/** Id of the group of all ranks of the resilient communicator, with depth 0 and start time stamp 0. The group is
 *  there from Fenix_Init on, also after each repair: Fenix_Data_group_create is not needed. Its policy is
 *  FENIX_DATA_POLICY_PEER_RANK_SEPARATION, with FENIX_DATA_SEPARATION_AUTO. */
#define FENIX_DATA_GROUP_WORLD_ID 0x40000001

/** As member_id of a store: all members, in the order of their creation. */
#define FENIX_DATA_MEMBER_ALL (-1)

/** As count of a member, on all ranks: its size may change from snapshot to snapshot. On some ranks only, it means that
 *  these have no elements. */
#define FENIX_RESIZEABLE 0
/** As num_storev of Fenix_Data_checkpoint: all members are stored with Fenix_Data_member_storev. */
#define FENIX_STOREV_ALL (-1)
/** As target_buffer: the source buffer of the member. */
#ifdef __cplusplus
#define FENIX_DATA_RESTORE_INPLACE (reinterpret_cast<void*>(-1))
#else
#define FENIX_DATA_RESTORE_INPLACE ((void*)-1)
#endif
/** As max_count: no limit; all elements that the snapshot has. */
#define FENIX_DATA_RESTORE_FULL (-1)

/** Direction of a serializer: from the buffer to the file. */
#define FENIX_SERIALIZE 0
/** Direction of a serializer: from the file to the buffer. */
#define FENIX_DESERIALIZE 1

/** Attribute of a member: its source buffer. */
#define FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER 11
/** Another name of FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER. */
#define FENIX_DATA_MEMBER_ATTRIBUTE_SOURCE_BUFFER FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER
/** Attribute of a member: its number of elements. */
#define FENIX_DATA_MEMBER_ATTRIBUTE_COUNT 12
/** Attribute of a member: the datatype of its elements. */
#define FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE 13
/** Attribute of a member: the bytes of its elements in a buffer, with the holes of the datatype. Read-only. */
#define FENIX_DATA_MEMBER_ATTRIBUTE_SIZE 14

/** As time_stamp: the newest snapshot. */
#define FENIX_DATA_SNAPSHOT_LATEST (-1)
/** As time_stamp of a restore: the newest snapshot; for a member that is FENIX_RESIZEABLE, also older elements beyond
 *  its size. As time_stamp of a deletion: all snapshots of this rank. */
#define FENIX_DATA_SNAPSHOT_ALL (-2)

/** Policy: pairs of ranks keep copies for each other (mode 1), or cohorts keep XOR parity (mode 5). The values of all
 *  policies are described with Fenix_Data_group_set_redundancy_policy. */
#define FENIX_DATA_POLICY_IN_MEMORY_RAID 13
/** Another name of FENIX_DATA_POLICY_IN_MEMORY_RAID. */
#define FENIX_DATA_POLICY_IMR FENIX_DATA_POLICY_IN_MEMORY_RAID
/** Policy: the rank at a given distance keeps a copy. */
#define FENIX_DATA_POLICY_PEER_RANK_SEPARATION 14
/** Policy: cohorts of ranks keep Reed-Solomon codes. (new) */
#define FENIX_DATA_POLICY_REED_SOLOMON 15
/** Policy: no redundancy. (new) */
#define FENIX_DATA_POLICY_LOCAL 16

/** As separation of a policy: the library chooses, see Fenix_Data_group_set_redundancy_policy. (new) */
#define FENIX_DATA_SEPARATION_AUTO (-2)

/** State of the flush of a snapshot: there is none. (new) */
#define FENIX_FLUSH_NONE 0
/** State of a flush: it is under way on this node. (new) */
#define FENIX_FLUSH_WRITING 1
/** State of a flush: this node has written its part. (new) */
#define FENIX_FLUSH_WRITTEN 2
/** State of a flush: all nodes have written their parts, and the dataset can be fetched. (new) */
#define FENIX_FLUSH_COMPLETE 3
/** State of a flush: this node could not write its part. (new) */
#define FENIX_FLUSH_FAILED 4
/** Bytes that the name of a dataset takes at most, with the zero at its end. (new) */
#define FENIX_DATASET_NAME_MAX 128

/** As mlog_id: no message log. */
#define FENIX_MLOG_NONE (-1)
/** As region_id: the region that was the latest. */
#define FENIX_MLOG_CONTINUE (-1)

/** Kind of a subset in the released Fenix 1.0. Kept for source compatibility: subsets have no field for it here. */
#define FENIX_DATA_SUBSET_CREATED 2

/** As time_stamp argument of a commit: the caller does not need the time stamp. */
#define FENIX_TIME_STAMP_IGNORE NULL

#endif

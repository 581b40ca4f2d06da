/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Constants of the Fenix interface: return codes, roles, settings, policies.
 * Values are part of the interface and are never renumbered. Names and, where a program could store or compare
 * them, values are those of the current Fenix; additions of this library say "new".
 */
#ifndef FENIX_CODES_H
#define FENIX_CODES_H

#include <stddef.h>

/** Return codes. Errors are negative, warnings positive, FENIX_SUCCESS is 0. */
typedef enum {
  FENIX_SUCCESS = 0,

  FENIX_ERROR_UNINITIALIZED = -100,          /**< called before Fenix_Init or after Fenix_Finalize */
  FENIX_ERROR_NOCATEGORY = -99,              /**< an MPI call failed and nothing could be repaired */
  FENIX_ERROR_CALLBACK_NOT_REGISTERED = -98, /**< null callback, or nothing to pop */
  FENIX_ERROR_GROUP_CREATE = -97,            /**< the group could not be formed on this communicator */
  FENIX_ERROR_MEMBER_CREATE = -96,           /**< kept for source compatibility; not returned */
  FENIX_ERROR_MEMBER_EXISTS = -95,           /**< the member id is taken in this group */
  FENIX_ERROR_COMMIT_BARRIER = -94,          /**< kept for source compatibility; not returned */
  FENIX_ERROR_INVALID_GROUPID = -93,         /**< group id out of range, or no such group on this rank */
  FENIX_ERROR_INVALID_MEMBERID = -92,        /**< member id out of range, or no such member in the group */
  FENIX_ERROR_INVALID_LOGIC_CALL = -91,      /**< right call, wrong time */
  FENIX_ERROR_INVALID_POLICY_NAME = -90,     /**< unknown policy */
  FENIX_ERROR_INVALID_TIMESTAMP = -89,       /**< no consistent snapshot has this time stamp */
  FENIX_ERROR_INVALID_TIMESTART = -88,       /**< start time stamp out of range */
  FENIX_ERROR_INVALID_DEPTH = -87,           /**< depth out of range */
  FENIX_ERROR_INVALID_ATTRIBUTE_NAME = -86,  /**< unknown member attribute, or not settable */
  FENIX_ERROR_INVALID_ATTRIBUTE_VALUE = -85, /**< attribute value not allowed */
  FENIX_ERROR_INVALID_POSITION = -84,        /**< position outside [0, number) */
  FENIX_ERROR_DATA_WAIT = -83,               /**< not a request that this process was given */
  FENIX_ERROR_SUBSET_NUM_BLOCKS = -82,       /**< number of blocks not allowed, or more than a record can describe */
  FENIX_ERROR_SUBSET_START_OFFSET = -81,     /**< negative start offset */
  FENIX_ERROR_SUBSET_END_OFFSET = -80,       /**< end before start, or beyond the member */
  FENIX_ERROR_SUBSET_STRIDE = -79,           /**< stride not allowed */
  FENIX_ERROR_NODATA_FOUND = -78,            /**< nothing was committed, or what was committed is lost */
  FENIX_ERROR_INTERN = -77,                  /**< a defect of this library; please report it */
  FENIX_ERROR_CANCELLED = -76,               /**< cut short by a failure that has since been repaired */
  FENIX_ERROR_INVALID_SETTING_NAME = -75,    /**< unknown setting */
  FENIX_ERROR_INVALID_SETTING_OPTION = -74,  /**< option out of range for this setting */

  FENIX_ERROR_INVALID_ARGUMENT = -60,     /**< new: null pointer, negative count, … without a code of its own */
  FENIX_ERROR_INVALID_POLICY_VALUE = -59, /**< new: policy values that do not fit the policy or communicator */
  FENIX_ERROR_BUFFER_TOO_SMALL = -58,     /**< new: max_count is less than what was stored */
  FENIX_ERROR_MISMATCH = -57,             /**< new: the ranks of a collective call gave different arguments */
  FENIX_ERROR_NO_MEMORY = -56,            /**< new: memory, mapping or descriptor could not be had on some rank */
  FENIX_ERROR_TIMEOUT = -55,              /**< new: a peer gave no sign for FENIX_TIMEOUT seconds */
  FENIX_ERROR_MEMBER_STAGING = -54,       /**< Fenix_Data_member_stage_begin without its _end on this member */
  FENIX_ERROR_MEMBER_LOADING = -53,       /**< Fenix_Data_member_load_begin without its _end on this member */
  FENIX_ERROR_SPAWNING_FAILED = -52,      /**< replacements could not be spawned: the communicator has shrunk */

  FENIX_WARNING_SPARE_RANKS_DEPLETED = 100, /**< the communicator has shrunk: no spare was left */
  FENIX_WARNING_PARTIAL_RESTORE = 101,      /**< some elements are in no snapshot: see found_data */
  FENIX_WARNING_SHARED_FATE = 102           /**< snapshots would not survive the death of a node or failure domain */
} Fenix_Return_codes;

/** Role of a rank since the latest exit from Fenix_Init (specification 2.1). */
typedef enum {
  FENIX_ROLE_INITIAL_RANK = 0,   /**< no failure so far */
  FENIX_ROLE_RECOVERED_RANK = 1, /**< took the place of a dead rank in the latest repair */
  FENIX_ROLE_SURVIVOR_RANK = 2,  /**< active before the latest repair and alive */
  FENIX_ROLE_SPARE_RANK = 3      /**< waiting inside Fenix_Init, or released unused from it */
} Fenix_Rank_role;

/** Settings for Fenix_set_option and Fenix_get_option. */
typedef enum {
  FENIX_RECOVERY_MODE,           /**< a Fenix_Recovery_mode; default FENIX_RECOVERY_REPAIR */
  FENIX_RESUME_MODE,             /**< a Fenix_Resume_mode; default FENIX_RESUME_JUMP */
  FENIX_UNHANDLED_MODE,          /**< a Fenix_Unhandled_mode; default FENIX_UNHANDLED_ABORT */
  FENIX_CALLBACK_EXCEPTION_MODE, /**< a Fenix_Callback_exception_mode; default …_RETHROW */
  FENIX_SPARE_WAIT_MODE,         /**< a Fenix_Spare_wait_mode; default FENIX_SPARE_WAIT_SLEEP */
  FENIX_SPARE_FINALIZE_MODE,     /**< a Fenix_Spare_finalize_mode; default FENIX_SPARE_FINALIZE_EXIT */
  FENIX_SETTING_NAME_MAXCODE     /**< not a setting */
} Fenix_Setting_name;

/** What happens to the communicators when a rank has died. */
typedef enum {
  FENIX_RECOVERY_IGNORE, /**< nothing: the MPI call returns its error */
  FENIX_RECOVERY_NOOP,   /**< no repair; callbacks run and control resumes as after one */
  FENIX_RECOVERY_REPAIR, /**< spares take the places of the dead, or the communicator shrinks */
  FENIX_RECOVERY_SPAWN,  /**< the same, but when the spares are used up, new processes are spawned */
  FENIX_RECOVERY_MODE_MAXCODE
} Fenix_Recovery_mode;

/** Where control resumes after a repair. */
typedef enum {
  FENIX_RESUME_JUMP,   /**< at the logical exit of Fenix_Init, by longjmp */
  FENIX_RESUME_RETURN, /**< at the call that met the failure, which returns an error code */
  FENIX_RESUME_THROW,  /**< where the C++ application catches fenix::CommException */
  FENIX_RESUME_MODE_MAXCODE
} Fenix_Resume_mode;

/** What happens to MPI errors on a resilient communicator that are no failures (a wrong rank, a truncation, …). */
typedef enum {
  FENIX_UNHANDLED_SILENT, /**< the MPI call returns its error code */
  FENIX_UNHANDLED_PRINT,  /**< the same, with one line on stderr */
  FENIX_UNHANDLED_ABORT,  /**< one line on stderr, then MPI_Abort (as without Fenix) */
  FENIX_UNHANDLED_MODE_MAXCODE
} Fenix_Unhandled_mode;

/** What happens to C++ exceptions that leave a callback. */
typedef enum {
  FENIX_CALLBACK_EXCEPTION_RETHROW, /**< they reach the application; later callbacks are not run */
  FENIX_CALLBACK_EXCEPTION_SQUASH,  /**< a fenix::CommException is dropped, others reach the application */
  FENIX_CALLBACK_EXCEPTION_MODE_MAXCODE
} Fenix_Callback_exception_mode;

/** How spare ranks wait inside Fenix_Init. */
typedef enum {
  FENIX_SPARE_WAIT_BUSY,  /**< poll without pause */
  FENIX_SPARE_WAIT_YIELD, /**< give the core away between two polls */
  FENIX_SPARE_WAIT_SLEEP, /**< sleep between polls, at most 10 ms */
  FENIX_SPARE_WAIT_MODE_MAXCODE
} Fenix_Spare_wait_mode;

/** What spare ranks do when the active ranks have called Fenix_Finalize. */
typedef enum {
  FENIX_SPARE_FINALIZE_RELEASE, /**< return from Fenix_Init with FENIX_ROLE_SPARE_RANK */
  FENIX_SPARE_FINALIZE_EXIT,    /**< call MPI_Finalize and exit(0) */
  FENIX_SPARE_FINALIZE_MODE_MAXCODE
} Fenix_Spare_finalize_mode;

/** Ids given by the user are in [0, MAX). */
#define FENIX_GROUP_ID_MAX 0x40000000
#define FENIX_MEMBER_ID_MAX 0x40000000
/** Time stamps are in [0, FENIX_TIME_STAMP_MAX]. */
#define FENIX_TIME_STAMP_MAX 0x40000000

/** The group of all ranks of the resilient communicator, with depth 0 and start time stamp 0: needs no creation. */
#define FENIX_DATA_GROUP_WORLD_ID 0x40000001

#define FENIX_DATA_MEMBER_ALL (-1)

/** As count of a member: its size may change from store to store. */
#define FENIX_RESIZEABLE 0
/** As num_storev of Fenix_Data_checkpoint: all members are stored with Fenix_Data_member_storev. */
#define FENIX_STOREV_ALL (-1)
/** As target_buffer: the source buffer of the member. */
#ifdef __cplusplus
#define FENIX_DATA_RESTORE_INPLACE (reinterpret_cast<void*>(-1))
#else
#define FENIX_DATA_RESTORE_INPLACE ((void*)-1)
#endif
/** As max_count: as many elements as there are. */
#define FENIX_DATA_RESTORE_FULL (-1)

/** Directions of a serializer. */
#define FENIX_SERIALIZE 0
#define FENIX_DESERIALIZE 1

#define FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER 11
#define FENIX_DATA_MEMBER_ATTRIBUTE_SOURCE_BUFFER FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER
#define FENIX_DATA_MEMBER_ATTRIBUTE_COUNT 12
#define FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE 13
#define FENIX_DATA_MEMBER_ATTRIBUTE_SIZE 14

#define FENIX_DATA_SNAPSHOT_LATEST (-1)
#define FENIX_DATA_SNAPSHOT_ALL (-2)

#define FENIX_DATA_POLICY_IN_MEMORY_RAID 13
#define FENIX_DATA_POLICY_IMR FENIX_DATA_POLICY_IN_MEMORY_RAID
#define FENIX_DATA_POLICY_PEER_RANK_SEPARATION 14
#define FENIX_DATA_POLICY_REED_SOLOMON 15
#define FENIX_DATA_POLICY_LOCAL 16

/** As the separation of a policy: the library chooses, see Fenix_Data_group_set_redundancy_policy. (new) */
#define FENIX_DATA_SEPARATION_AUTO (-2)

#define FENIX_TIME_STAMP_IGNORE NULL

#endif

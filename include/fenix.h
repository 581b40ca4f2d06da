/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fenix: process recovery and in-memory, redundant, versioned data storage for MPI programs that must survive the death
 * of ranks. This is the C interface; C++ programs include <fenix.hpp>, which adds to it.
 *
 * Conventions, valid for every declaration below unless it says otherwise:
 *
 *  1. Return value. FENIX_SUCCESS (0), a negative FENIX_ERROR_… or a positive FENIX_WARNING_… of Fenix_Return_codes. After
 *     an error, Fenix_Error_message() gives a text that names the argument or the rank at fault. Two errors are
 *     not listed with each function: FENIX_ERROR_UNINITIALIZED before Fenix_Init and after Fenix_Finalize, and
 *     FENIX_ERROR_INVALID_LOGIC_CALL for work with a group that has not been created again since the latest repair.
 *  2. Errors change nothing: what was stored before the call is as it was.
 *  3. Failures. When a rank dies, the calls of the survivors that need it end; the resilient communicator is repaired, and
 *     control resumes as FENIX_RESUME_MODE says. A Fenix_ function that is cut short so returns FENIX_ERROR_CANCELLED in
 *     resume mode "return", and does not return in the modes "jump" and "throw".
 *  4. Collective functions must be called by all ranks of the group's communicator, in the same order on all of them, with
 *     the same values for the arguments that are said to be the same on all ranks. Where a collective function checks them
 *     and finds an error on one rank, all ranks return an error and the text names that rank. A communicator or group that is
 *     not valid on one rank cannot be checked so: the other ranks wait for it until FENIX_TIMEOUT, in Fenix_Data_group_create
 *     without end.
 *  5. Waiting. No function waits for ever: a wait ends when a rank it waits for has died, or with FENIX_ERROR_TIMEOUT after
 *     FENIX_TIMEOUT seconds (environment variable, default 600).
 *  6. Ownership. The library keeps no pointer into memory of the caller, with two exceptions: the source buffer of a
 *     member, read by each store, and the addresses given to Fenix_Init, written after each repair.
 *  7. NULL is valid for a pointer only where it is said.
 *  8. Threads. Calls of one process must not overlap.
 *  9. Sizes and counts are in elements of the member's datatype, where bytes are not named.
 */
#ifndef FENIX_H
#define FENIX_H

#include <fenix/codes.h>
#include <fenix/init.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ process recovery */

/**
 * Builds the resilient communicator and sets the point at which execution resumes after a failure. (Specification 2.1.)
 *
 *   Fenix_Init(role, comm, newcomm, argc, argv, spare_ranks, error)
 *   Fenix_Init(role, comm, newcomm, argc, argv, spare_ranks, spawn, info, error)
 *
 * A macro, because setjmp has to run in the frame of the caller: that function must not return while Fenix is in use in
 * resume mode "jump". Collective over comm; called once, after MPI_Init or MPI_Init_thread.
 *
 * @param[out]   role        int*: the Fenix_Rank_role of this rank; written again after each repair
 * @param[in]    comm        communicator to build upon, spare ranks included; not MPI_COMM_SELF. Same on all ranks.
 * @param[out]   newcomm     MPI_Comm*: the resilient communicator: the ranks of comm but the last spare_ranks, in order.
 *                           Owned by the library; written again after each repair. Surviving ranks keep their number as
 *                           long as there are spares. Communicators derived from it are resilient as well: their calls end
 *                           when a rank has died anywhere; they are not rebuilt, the application derives them anew.
 * @param[inout] argc, argv  as given to main, or NULL; nothing is removed from them
 * @param[in]    spare_ranks ranks held in reserve, in [0, size of comm). They wait inside Fenix_Init until they take the
 *                           place of a dead rank, and exit by themselves at the end (FENIX_SPARE_FINALIZE_MODE).
 * @param[in]    spawn       must be 0: the communicator shrinks when the spares are used up
 * @param[in]    info        MPI_Info or MPI_INFO_NULL. Keys: "FENIX_RESUME_MODE" (JUMP, RETURN, THROW) or "resume_mode"
 *                           (fenix_init), "FENIX_UNHANDLED_MODE" (SILENT, PRINT, ABORT). Same on all ranks.
 * @param[out]   error       int*, or NULL: FENIX_SUCCESS; FENIX_WARNING_SPARE_RANKS_DEPLETED after a repair that had to
 *                           shrink; an error if the arguments were wrong (then Fenix is not initialised, newcomm is
 *                           MPI_COMM_NULL, and all ranks of comm get an error), or if a rank died in Fenix_Init
 *                           (FENIX_ERROR_NOCATEGORY). Same value on all ranks that return.
 */
/* Fenix_Init is defined in <fenix/init.h>. */

/** Sets *flag to 1 if Fenix_Init has been called with success, else 0. Local; may be called at any time. (Spec. 2.1.)
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if flag is NULL. */
int Fenix_Initialized(int* flag);

/** Sets *flag to 1 if Fenix_Finalize has completed, else 0. Local; may be called at any time.
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if flag is NULL. */
int Fenix_Finalized(int* flag);

/**
 * Ends the use of Fenix: releases the spare ranks, all groups with all their snapshots, and the resilient communicator.
 * Collective over the resilient communicator; before MPI_Finalize. A failure before all active ranks have entered is
 * repaired, and control resumes as after any failure. (Specification 2.4.)
 * Where FENIX_RECOVERY_MODE excludes repairs, the living finish without the dead.
 * @return FENIX_SUCCESS; FENIX_ERROR_UNINITIALIZED; FENIX_ERROR_TIMEOUT if an active rank does not come: what is left is
 *         MPI_Abort.
 */
int Fenix_Finalize(void);

/**
 * Sets a setting of this process; give the same on all ranks. Local; allowed before Fenix_Init. The two settings for spare
 * ranks have an effect only then. Fenix_Init's info overrides.
 * @param setting a Fenix_Setting_name
 * @param option  a value of the enumeration that belongs to the setting
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_SETTING_NAME; FENIX_ERROR_INVALID_SETTING_OPTION.
 */
int Fenix_set_option(Fenix_Setting_name setting, unsigned option);

/** Gets a setting. Local; allowed before Fenix_Init.
 *  @return FENIX_SUCCESS; FENIX_ERROR_INVALID_SETTING_NAME; FENIX_ERROR_INVALID_ARGUMENT if option is NULL. */
int Fenix_get_option(Fenix_Setting_name setting, unsigned* option);

/**
 * Registers a function that survivors call after a repair, right before control resumes. Local; callbacks are called in the
 * reverse order of registration, as the current Fenix does. Recovered ranks have none until they register them. (Spec. 2.2.)
 * @param recover       called as recover(resilient communicator, error, callback_data); error is the MPI error code that
 *                      led to the repair. It should not communicate: other ranks may have other callbacks.
 * @param callback_data passed on; the caller keeps it alive; may be NULL
 * @return FENIX_SUCCESS; FENIX_ERROR_CALLBACK_NOT_REGISTERED if recover is NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void*), void* callback_data);

/** Removes the callback registered last. Local.
 *  @return FENIX_SUCCESS; FENIX_ERROR_CALLBACK_NOT_REGISTERED if there is none; FENIX_ERROR_UNINITIALIZED. */
int Fenix_Callback_pop(void);

/** Role of this rank. Local. FENIX_ROLE_INITIAL_RANK before Fenix_Init. */
Fenix_Rank_role Fenix_get_role(void);

/** The error of Fenix_Init, as written after the latest repair. Local. FENIX_ERROR_UNINITIALIZED before Fenix_Init. */
int Fenix_get_error(void);

/** Number of spare ranks that are waiting, less those known here to be dead. Local, from the knowledge of this rank.
 *  FENIX_ERROR_UNINITIALIZED before Fenix_Init. */
int Fenix_get_nspare(void);

/**
 * Role of a rank. Local: no communication. (Specification 2.3.)
 * @param[in]  comm a resilient communicator: that of Fenix_Init or one derived from it
 * @param[in]  rank rank in comm
 * @param[out] role its Fenix_Rank_role
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT for a bad comm, rank or NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Get_role(MPI_Comm comm, int rank, int* role);

/**
 * Number of ranks of a resilient communicator with a role. Local: no communication. (Specification 2.3.)
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT for a bad comm, role or NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Get_number_of_ranks_with_role(MPI_Comm comm, int role, int* number_of_ranks);

/**
 * Ranks that were replaced or removed by the latest repair. Local.
 * @param[out] fail_list set to an array owned by the library, ascending, valid until the next repair. Active ranks have the
 *                       number that they had in the resilient communicator before that repair; the i-th spare has number
 *                       (size of the resilient communicator) + i.
 * @return the number of entries, 0 if there was no repair; FENIX_ERROR_INVALID_ARGUMENT; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_fail_list(int** fail_list);

/**
 * When the latest failure was noticed here and when its repair was complete, in seconds of MPI_Wtime (new). Local.
 * @param[out] noticed  entry into the repair on this rank
 * @param[out] repaired end of the repair: the resilient communicator is whole again, callbacks not yet run
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if there was no repair; FENIX_ERROR_INVALID_ARGUMENT for NULL;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_repair_times(double* noticed, double* repaired);

/**
 * Looks for failures, so that long computations without MPI calls need not delay the repair. Local unless it finds one.
 * @param do_recovery if not 0, a failure is repaired and control resumes as FENIX_RESUME_MODE says
 * @return MPI_SUCCESS, or the MPI error code (MPIX_ERR_PROC_FAILED, MPIX_ERR_REVOKED): MPI's codes, not Fenix's;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_detect_failures(int do_recovery);

/**
 * Tells of an MPI request from before a repair whether it completed. Local; frees the request as MPI_Test does.
 * @param[inout] request the request
 * @param[out]   status  or MPI_STATUS_IGNORE
 * @return 1 if it was cancelled by the failure or its fate is not known; 0 if it completed; FENIX_ERROR_INVALID_ARGUMENT
 *         if request is NULL.
 */
int Fenix_check_cancelled(MPI_Request* request, MPI_Status* status);

/**
 * Text of the last error that a Fenix_ function returned on this rank (new). Local; may be called at any time.
 * @return a text owned by the library, valid until the next Fenix_ call; "" if there was none. Never NULL.
 */
const char* Fenix_Error_message(void);

/* ------------------------------------------------------------------------------------------------------ data storage */

/** Selects elements of a member. Values come from the constants below. */
typedef struct {
  const void* impl; /**< internal */
} Fenix_Data_subset;

/** All elements of the member. */
extern const Fenix_Data_subset FENIX_DATA_SUBSET_FULL;
/** For found_data: the caller does not want to know. */
#define FENIX_DATA_SUBSET_IGNORE ((Fenix_Data_subset*)0)

/**
 * Creates a data group, or takes an existing one up again after a failure. Collective over comm. (Specification 3.2.1; API
 * reference.) All arguments but flag are the same on all ranks.
 *
 * If some ranks know the group (they survived), the other arguments are ignored but for comm; recovered ranks learn
 * everything from their peers: parameters, members, snapshots. On return all ranks have the same snapshots: those that
 * every rank, the dead included, had committed, as far as their data could be had; later commits of single ranks are
 * dropped. What the dead held is rebuilt: the group tolerates the next failure. Call it after each failure on all ranks.
 *
 * If comm has another size than before (it has shrunk), the snapshots cannot be restored and are dropped. Members
 * stay with the counts of the survivors; if there is a replacement among the ranks, nobody knows its counts, and the members
 * are dropped as well: create them again.
 *
 * @param[in]  group_id         in [0, FENIX_GROUP_ID_MAX), unique among all active ranks, not only those of comm
 * @param[in]  comm             a resilient communicator, not from before the latest repair; it is duplicated, not kept
 * @param[in]  start_time_stamp time stamp of the first commit, in [0, FENIX_TIME_STAMP_MAX)
 * @param[in]  depth            snapshots kept besides the newest, in [0, 4096)
 * @param[in]  policy_name      FENIX_DATA_POLICY_IN_MEMORY_RAID
 * @param[in]  policy_value     int[2] {mode, separation} for mode 1, the buddy policy: rank N and rank N + separation keep
 *                              a copy of each other's data. separation in [1, size of comm); for an odd size, the first,
 *                              middle and last rank form a chain of three. NULL: mode 1, separation size/2. A communicator
 *                              of one rank has nobody to protect it: the group works and tolerates nothing.
 * @param[out] flag             or NULL: FENIX_SUCCESS; FENIX_ERROR_NODATA_FOUND if snapshots existed and were lost
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID, _TIMESTART, _DEPTH, _POLICY_NAME, _POLICY_VALUE;
 *         FENIX_ERROR_INVALID_ARGUMENT (comm); FENIX_ERROR_MISMATCH; FENIX_ERROR_GROUP_CREATE (FENIX_PATH does not fit);
 *         FENIX_ERROR_NO_MEMORY. After an error an existing group has to be created again before it can be used.
 */
int Fenix_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name,
                            void* policy_value, int* flag);

/** 1 if the group exists on this rank, else 0. Local. FENIX_ERROR_UNINITIALIZED before Fenix_Init. */
int Fenix_Data_group_created(int group_id);

/**
 * Adds a member to a group. Collective over the group. (Specification 3.2.2.) The memory for all its snapshots is taken
 * here: per rank (depth + 2) × (bytes of the own data + bytes of the data held for the buddy).
 *
 * @param[in] group_id  the group; same on all ranks
 * @param[in] member_id in [0, FENIX_MEMBER_ID_MAX), not taken in the group; same on all ranks
 * @param[in] buffer    count elements, read by each store; owned by the caller, to be kept until another is set. May be
 *                      NULL if count is 0, or if it is set with Fenix_Data_member_attr_set before the first store.
 * @param[in] count     elements, ≥ 0; may differ between ranks
 * @param[in] datatype  type of an element without holes (size = extent, lower bound 0), committed; same size on all ranks.
 *                      It must not be freed while the member exists.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID, _MEMBERID; FENIX_ERROR_MEMBER_EXISTS; FENIX_ERROR_INVALID_ARGUMENT;
 *         FENIX_ERROR_MISMATCH; FENIX_ERROR_NO_MEMORY.
 */
int Fenix_Data_member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype);

/** 1 if the member exists on this rank, else 0. Local. FENIX_ERROR_UNINITIALIZED before Fenix_Init. */
int Fenix_Data_member_created(int group_id, int member_id);

/**
 * Sets an attribute of a member. Local. (Specification 3.7.3.)
 * @param[in]  attribute_name  FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER: attribute_value is the new source buffer itself, as in
 *                             Fenix_Data_member_create; recovered ranks must set it before they store. The attributes
 *                             COUNT, DATATYPE and SIZE are read-only.
 * @param[in]  attribute_value see above
 * @param[out] flag            or NULL: 1 if the attribute was set, else 0
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID, _MEMBERID, _ATTRIBUTE_NAME, _ATTRIBUTE_VALUE.
 */
int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag);

/**
 * Copies a member's buffer into its slot of the snapshot under construction, on this rank and on the rank that protects it.
 * Collective over the group, not synchronising: it waits only when space can be reused no earlier than when all ranks have
 * committed an earlier snapshot. A second store before the commit replaces the first. (Specification 3.4.1.)
 * The buffer may be changed as soon as the call returns. What was stored is not recoverable before it is committed.
 * @param member_id        a member, or FENIX_DATA_MEMBER_ALL: all, in the order of their creation
 * @param subset_specifier FENIX_DATA_SUBSET_FULL
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID, _MEMBERID; FENIX_ERROR_INVALID_ARGUMENT (no buffer set, unknown
 *         subset).
 */
int Fenix_Data_member_store(int group_id, int member_id, const Fenix_Data_subset subset_specifier);

/**
 * Makes what was stored since the last commit a snapshot with the next time stamp. Collective over the group; completes
 * locally: once all ranks have returned from it, the snapshot survives what the policy tolerates. A member that was not
 * stored since keeps in this snapshot the data of the one before. Snapshots older than depth are recycled when this one is
 * known to be committed on every rank, not earlier. (Specification 3.4.2.)
 * @param[out] time_stamp of the new snapshot, or FENIX_TIME_STAMP_IGNORE
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID; FENIX_ERROR_INVALID_TIMESTAMP when time stamps are used up.
 */
int Fenix_Data_commit(int group_id, int* time_stamp);

/**
 * As Fenix_Data_commit, and returns only when all ranks have committed: the snapshot is then consistent. Collective and
 * synchronising. If a rank dies before its commit, the snapshot does not come into being, and the failure is repaired.
 * After FENIX_ERROR_TIMEOUT the commit of this rank stands, with the time stamp given back; what the others did is not known.
 * (Specification 3.4.2.)
 */
int Fenix_Data_commit_barrier(int group_id, int* time_stamp);

/**
 * Copies a member's data from a snapshot into a buffer: on each rank, the data that this rank of the communicator stored.
 * Collective over the group, synchronising; all ranks get data of the same snapshot or all get an error. (Spec. 3.5.)
 * @param[in]  group_id, member_id, time_stamp same on all ranks; time_stamp of a consistent snapshot, or
 *                           FENIX_DATA_SNAPSHOT_LATEST (FENIX_DATA_SNAPSHOT_ALL has the same effect)
 * @param[out] target_buffer max_count elements, or NULL: this rank takes part without wanting data. Unchanged on error.
 * @param[in]  max_count     elements that fit; at least as many as were stored
 * @param[out] found_data    or FENIX_DATA_SUBSET_IGNORE: set to FENIX_DATA_SUBSET_FULL
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID, _MEMBERID; FENIX_ERROR_INVALID_ARGUMENT; FENIX_ERROR_BUFFER_TOO_SMALL;
 *         FENIX_ERROR_INVALID_TIMESTAMP if there is no such snapshot; FENIX_ERROR_NODATA_FOUND if there is none at all, the
 *         member is not in it, or its data is lost or damaged; FENIX_ERROR_MISMATCH.
 */
int Fenix_Data_member_restore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                              Fenix_Data_subset* found_data);

/**
 * Number of consistent snapshots: those that every rank has committed and that can be restored. Local, from the knowledge
 * of this rank: after a plain commit the newest may not be counted until the other ranks have committed as well.
 * (Specification 3.7.2, which has it collective.)
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID; FENIX_ERROR_INVALID_ARGUMENT if number_of_snapshots is NULL.
 */
int Fenix_Data_group_get_number_of_snapshots(int group_id, int* number_of_snapshots);

/**
 * Time stamp of a consistent snapshot; position 0 is the newest. Local. (Specification 3.7.2.)
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID; FENIX_ERROR_INVALID_POSITION outside [0, number of snapshots);
 *         FENIX_ERROR_INVALID_ARGUMENT if time_stamp is NULL.
 */
int Fenix_Data_group_get_snapshot_at_position(int group_id, int position, int* time_stamp);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Process recovery: start and end, settings, callbacks, roles, failures. The conventions of <fenix.h> hold.
 */
#ifndef FENIX_PROCESS_H
#define FENIX_PROCESS_H

#include <mpi.h>
#include "codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Builds the resilient communicator and sets the point at which execution resumes after a failure. (Specification 2.1.)
 *
 *   Fenix_Init(role, comm, newcomm, argc, argv, spare_ranks, error)
 *   Fenix_Init(role, comm, newcomm, argc, argv, spare_ranks, spawn, info, error)
 *
 * Fenix_Init is a macro, because setjmp has to run in the frame of the caller. It is a block, with or without a
 * semicolon after it. Fenix_Init_no_jump is a function for the other resume modes. The function that calls Fenix_Init
 * must not return while Fenix is in use in resume mode "jump". Collective over comm; called after MPI_Init or
 * MPI_Init_thread, and again after Fenix_Finalize if the program wishes.
 *
 * Ranks of comm that have died before, or die in Fenix_Init, are replaced by spares; without spares the communicator
 * begins smaller. The other ranks have role FENIX_ROLE_INITIAL_RANK then, too, and the list of failed ranks is empty.
 *
 * A child of fork() can use neither Fenix nor MPI, which belong to its parent. Functions return FENIX_ERROR_UNINITIALIZED there, and
 * Fenix_Init FENIX_ERROR_INVALID_LOGIC_CALL. Its calls and its end do not disturb the job.
 *
 * @param[out]    role        int*: the Fenix_Rank_role of this rank; written again after each repair
 * @param[in]     comm        communicator to build upon, spare ranks included; not MPI_COMM_SELF. Same on all ranks.
 * @param[out]    newcomm     MPI_Comm*: the resilient communicator. It has the ranks of comm without the last
 *                            spare_ranks, in the same order. Owned by the library; written again after each repair.
 *                            Surviving ranks keep their number as long as there are spares. Communicators derived from
 *                            it are resilient as well: their calls end when a rank has died anywhere. They are not
 *                            rebuilt; the application derives them anew. Calls on those from before a repair, and
 *                            requests from before it, return an error of class MPIX_ERR_REVOKED or
 *                            MPIX_ERR_PROC_FAILED, and lead to no repair. Unless FENIX_UNHANDLED_MODE is "silent", a
 *                            line on stderr tells of the first such call after each repair. With the library libfenix_mpi
 *                            (docs/interposition.md) newcomm may be NULL. Then comm is the resilient communicator in
 *                            all calls of MPI. A newcomm keeps its value in repairs. Derived communicators are
 *                            repaired, and keep their handles.
 * @param[in,out] argc        int*: as given to main, or NULL; not changed
 * @param[in,out] argv        char***: as given to main, or NULL; nothing is removed from it
 * @param[in]     spare_ranks ranks held in reserve, in [0, size of comm). Same on all ranks. They wait inside
 *                            Fenix_Init until they take the place of a dead rank. At the end they behave as
 *                            FENIX_SPARE_FINALIZE_MODE says; by default, they exit by themselves.
 * @param[in]     spawn       0: the communicator shrinks when the spares are used up. Any other value: missing ranks
 *                            are then spawned with MPI_Comm_spawn and the keys of info. They have the command and the
 *                            environment of rank 0, run main from its start, and take their places when they reach
 *                            Fenix_Init. Same on all ranks. A process that is spawned in a later use of Fenix returns
 *                            from earlier Fenix_Init calls as a spare that was released. Only programs with
 *                            FENIX_SPARE_FINALIZE_RELEASE expect that: with others, spawning fails in a later use.
 *                            Parts of spawning cannot be cancelled: a rank that is blocked in them for
 *                            1.5 × FENIX_TIMEOUT terminates itself, and counts as dead.
 * @param[in]     info        MPI_Info or MPI_INFO_NULL. Keys: "FENIX_RESUME_MODE" or "resume_mode" (FENIX_INIT or
 *                            JUMP; RETURN or NO_JUMP; THROW), "FENIX_UNHANDLED_MODE" (SILENT; PRINT or NO_JUMP;
 *                            ABORT), in upper or lower case. They override the settings made by Fenix_set_option, until
 *                            Fenix_Finalize. Other values are ignored, with a warning (FENIX_LOG). The modes
 *                            have to be the same on all ranks, which is checked; so are FENIX_RECOVERY_MODE and
 *                            FENIX_SPARE_FINALIZE_MODE. All keys are passed on to
 *                            MPI_Comm_spawn as well.
 * @param[out]    error       int*, or NULL; written again after each repair, with the same value on all ranks that
 *                            return. FENIX_SUCCESS; FENIX_WARNING_SPARE_RANKS_DEPLETED if the communicator has shrunk
 *                            in the latest repair, or began smaller; FENIX_ERROR_SPAWNING_FAILED if it has shrunk
 *                            because spawning failed. FENIX_ERROR_INVALID_ARGUMENT or FENIX_ERROR_MISMATCH if the
 *                            arguments were wrong, or comm has spare ranks of an earlier use that have exited;
 *                            FENIX_ERROR_NOCATEGORY if an MPI call failed. After these errors all
 *                            ranks of comm get an error, Fenix is not initialised, newcomm is MPI_COMM_NULL, and
 *                            Fenix_Init may be called again.
 *                            FENIX_ERROR_INVALID_LOGIC_CALL if Fenix is in use already; newcomm then stays as it is.
 *                            The same in a child of fork().
 */
/* Fenix_Init is defined in <fenix/init.h>. */

/**
 * Does the work of Fenix_Init as a function, for languages without macros (new). Resume mode "jump" becomes "return",
 * until Fenix_Finalize, because a function cannot be the target of a jump. Collective over comm.
 * @param[out]    role, newcomm, error       as for Fenix_Init
 * @param[in]     comm, spare_ranks, spawn, info as for Fenix_Init
 * @param[in,out] argc, argv                 as for Fenix_Init
 * @return the value of error.
 */
int Fenix_Init_no_jump(int* role, MPI_Comm comm, MPI_Comm* newcomm, int* argc, char*** argv, int spare_ranks, int spawn,
                       MPI_Info info, int* error);

/**
 * Tells whether Fenix_Init has been called with success. Local; may be called at any time. (Specification 2.1.)
 * @param[out] flag 1 if it has, otherwise 0
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if flag is NULL.
 */
int Fenix_Initialized(int* flag);

/**
 * Tells whether Fenix_Finalize has completed. Local; may be called at any time.
 * @param[out] flag 1 if it has, otherwise 0
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if flag is NULL.
 */
int Fenix_Finalized(int* flag);

/**
 * Ends the use of Fenix: releases the spare ranks, and all groups with all their snapshots. The resilient communicator
 * stays valid; the application owns it from then on, and may free it. Errors on it are returned. Settings are again what
 * they were before Fenix_Init, which may be called again. Spares that exit are in MPI_Finalize until the program comes to
 * it as well, and a later Fenix_Init on a communicator that has them is refused: use the resilient communicator, or
 * FENIX_SPARE_FINALIZE_RELEASE.
 * Collective over the resilient communicator, synchronising; before MPI_Finalize. A failure before all active ranks
 * have entered is repaired, and control resumes as after any failure. (Specification 2.4.)
 * Where FENIX_RECOVERY_MODE excludes repairs, the surviving ranks finish without the dead ones.
 * A rank that calls exit before it, without MPI_Finalize, counts as dead: after its functions of atexit the library ends
 * the process with SIGKILL, because MPI reports no process that ends otherwise. (Specification 2.4, advice to users.) It
 * writes what its streams have buffered before, for 10 seconds at most: another thread may hold a stream.
 * A callback after a repair may call it. The call that met the failure then returns its error, in each resume mode.
 * While Fenix is in use, and after a death until the process ends, SIGPIPE has a handler that does nothing, unless the
 * application has set an action of its own. The process only sees that the write fails.
 * @return FENIX_SUCCESS; FENIX_ERROR_UNINITIALIZED; FENIX_ERROR_TIMEOUT if an active rank does not arrive: then the
 *         only way to end the job is MPI_Abort. FENIX_ERROR_INVALID_LOGIC_CALL in a callback before a repair.
 */
int Fenix_Finalize(void);

/**
 * Sets a setting of this process. Local; may be called at any time. Use the same value on all ranks. The two settings
 * for spare ranks have an effect only before Fenix_Init. The info argument of Fenix_Init overrides settings.
 * Spares keep the FENIX_RECOVERY_MODE that they had in Fenix_Init. If it was FENIX_RECOVERY_REPAIR or
 * FENIX_RECOVERY_SPAWN, they begin the repair of a death when the active ranks have not done so for a second, whatever
 * mode these have meanwhile. If it was one of the other two, they do so only when no active rank is left. A program with
 * spares that ignores deaths for longer sets such a mode before Fenix_Init, and changes it afterwards.
 * @param[in] setting a Fenix_Setting_name
 * @param[in] option  a value of the enumeration that belongs to the setting
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_SETTING_NAME; FENIX_ERROR_INVALID_SETTING_OPTION, also for
 *         FENIX_RESUME_JUMP after Fenix_Init_no_jump, until Fenix_Finalize.
 */
int Fenix_set_option(Fenix_Setting_name setting, unsigned option);

/**
 * Gets a setting of this process. Local; may be called at any time.
 * @param[in]  setting a Fenix_Setting_name
 * @param[out] option  a value of the enumeration that belongs to the setting
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_SETTING_NAME; FENIX_ERROR_INVALID_ARGUMENT if option is NULL.
 */
int Fenix_get_option(Fenix_Setting_name setting, unsigned* option);

/**
 * Registers a function that survivors call after a repair, immediately before control resumes. Local. Callbacks are
 * called in the order of registration. Recovered ranks have no callbacks until they register them. (Specification 2.2.)
 * If a callback meets a failure itself, all callbacks are called anew for that failure, and those that have not been
 * called for the earlier one are not called for it any more.
 * @param[in] recover       called as recover(resilient communicator, error, callback_data); error is the MPI error code
 *                          that led to the repair. It should not communicate, because other ranks may have other
 *                          callbacks.
 * @param[in] callback_data passed on to recover; may be NULL. Owned by the caller, and needed until the callback is
 *                          removed or Fenix_Finalize has completed.
 * @return FENIX_SUCCESS; FENIX_ERROR_CALLBACK_NOT_REGISTERED if recover is NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Callback_register(void (*recover)(MPI_Comm, int, void*), void* callback_data);

/**
 * Does the same as Fenix_Callback_register, for callbacks after or before the repair (new). Local.
 * @param[in] recover       as for Fenix_Callback_register. Before a repair it gets the communicator that is about to be
 *                          replaced, which is revoked. Calls on that communicator, and calls of Fenix that need other
 *                          ranks, return errors. The other ranks wait for its end.
 * @param[in] callback_data as for Fenix_Callback_register
 * @param[in] location      FENIX_CALLBACK_PRE_RECOVERY or FENIX_CALLBACK_POST_RECOVERY
 * @return as Fenix_Callback_register; FENIX_ERROR_INVALID_ARGUMENT for another location.
 */
int Fenix_Callback_register_at(void (*recover)(MPI_Comm, int, void*), void* callback_data, int location);

/**
 * Removes the callback after a repair that was registered last. Local.
 * @return FENIX_SUCCESS; FENIX_ERROR_CALLBACK_NOT_REGISTERED if there is none; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Callback_pop(void);

/**
 * Removes the callback of a location that was registered last (new). Local.
 * @param[in] location FENIX_CALLBACK_PRE_RECOVERY or FENIX_CALLBACK_POST_RECOVERY
 * @return as Fenix_Callback_pop; FENIX_ERROR_INVALID_ARGUMENT for another location.
 */
int Fenix_Callback_pop_at(int location);

/**
 * Calls the callbacks after a repair of this rank, with the same arguments as after the latest one. Local. Recovered
 * ranks use it to run the same callbacks as the survivors.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if there was no repair; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Callback_invoke_all(void);

/**
 * Calls the callbacks of a location, with the present resilient communicator and the error of the latest repair (new).
 * Local.
 * @param[in] location FENIX_CALLBACK_PRE_RECOVERY or FENIX_CALLBACK_POST_RECOVERY
 * @return as Fenix_Callback_invoke_all; FENIX_ERROR_INVALID_ARGUMENT for another location.
 */
int Fenix_Callback_invoke_all_at(int location);

/* Does the same as Fenix_Callback_register, for <fenix/spec.h>: recover gets the error of Fenix_Init. Internal. */
int fenix_detail_callback_register(void (*recover)(MPI_Comm, int, void*), void* callback_data);

/**
 * Gets the role of this rank. Local; may be called at any time.
 * @return the role; FENIX_ROLE_INITIAL_RANK before Fenix_Init.
 */
Fenix_Rank_role Fenix_get_role(void);

/**
 * Gets the error argument of Fenix_Init, as written after the latest repair. Local.
 * @return the value of error; FENIX_ERROR_UNINITIALIZED before Fenix_Init and after Fenix_Finalize.
 */
int Fenix_get_error(void);

/**
 * Gets the number of spare ranks that are waiting, without those that this rank knows to be dead. Local.
 * @return the number, ≥ 0; FENIX_ERROR_UNINITIALIZED before Fenix_Init and after Fenix_Finalize.
 */
int Fenix_get_nspare(void);

/**
 * Gets the role of a rank. Local. (Specification 2.3.)
 * @param[in]  comm the resilient communicator or one derived from it, not from before the latest repair
 * @param[in]  rank rank in comm
 * @param[out] role its Fenix_Rank_role
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT for an invalid comm or rank, or NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Get_role(MPI_Comm comm, int rank, int* role);

/**
 * Does the same as Fenix_Get_role, under the name of the current Fenix. Local.
 * @param[in]  comm the resilient communicator or one derived from it, not from before the latest repair
 * @param[in]  rank rank in comm
 * @param[out] role its Fenix_Rank_role
 * @return as Fenix_Get_role.
 */
int Fenix_get_rank_role(MPI_Comm comm, int rank, int* role);

/**
 * Counts the ranks of a communicator that have a role. Local. (Specification 2.3.)
 * @param[in]  comm            the resilient communicator or one derived from it, not from before the latest repair
 * @param[in]  role            a Fenix_Rank_role
 * @param[out] number_of_ranks number of ranks of comm with this role
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT for an invalid comm or role, or NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Get_number_of_ranks_with_role(MPI_Comm comm, int role, int* number_of_ranks);

/**
 * Counts the ranks of the whole job that have a role, under the name of the current Fenix. Local.
 * @param[in]  role            a Fenix_Rank_role
 * @param[out] number_of_ranks number of ranks of the resilient communicator with this role. For FENIX_ROLE_SPARE_RANK,
 *                             the number of Fenix_get_nspare. For FENIX_ROLE_MISSING_RANK, the number of slots that
 *                             have no rank, because the communicator has shrunk.
 * @return as Fenix_Get_number_of_ranks_with_role.
 */
int Fenix_get_number_of_ranks_with_role(int role, int* number_of_ranks);

/**
 * Gets the slot of this rank. A slot is the place of a rank in the application: it has the number that the rank had in
 * the resilient communicator when Fenix_Init first returned. A replacement has the slot of the rank that it replaces.
 * When the communicator shrinks, ranks get other numbers, and keep their slots. Local.
 * @return the slot, ≥ 0; FENIX_ERROR_UNINITIALIZED before Fenix_Init and after Fenix_Finalize.
 */
int Fenix_get_slot(void);

/**
 * Gets the slot of a rank. Local.
 * @param[in]  comm the resilient communicator or one derived from it, not from before the latest repair
 * @param[in]  rank rank in comm
 * @param[out] slot its slot
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT for an invalid comm or rank, or NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_rank_to_slot(MPI_Comm comm, int rank, int* slot);

/**
 * Gets the rank that has a slot. Local.
 * @param[in]  comm the resilient communicator or one derived from it, not from before the latest repair
 * @param[in]  slot a slot, in [0, size that the resilient communicator had when Fenix_Init first returned)
 * @param[out] rank its rank in comm; MPI_UNDEFINED if the slot has no rank, or comm does not have that rank
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT for an invalid comm or slot, or NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_slot_to_rank(MPI_Comm comm, int slot, int* rank);

/**
 * Replaces the dead processes of a group as the latest repairs have done: a process that has lost its slot is replaced by
 * the one that has the slot now, or removed if none has. Other processes stay, in the same order. Local.
 * @param[in]  old_group a group of processes of comm of Fenix_Init; owned by the caller
 * @param[out] new_group the new group; owned by the caller, who frees it with MPI_Group_free
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT for MPI_GROUP_NULL or NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_repair_group(MPI_Group old_group, MPI_Group* new_group);

/**
 * Lists the ranks that were replaced or removed by the latest repair. Local. A death while the library takes up
 * FENIX_DATA_GROUP_WORLD_ID after a repair, or settles commits in place, makes another repair before control resumes. Then
 * the roles tell of both, and so does the list. If the communicator has shrunk, the list is of the last one only.
 * @param[out] fail_list set to an array in ascending order; owned by the library, valid until the next repair. Active
 *                       ranks have the number that they had in the resilient communicator before that repair. The i-th
 *                       spare, counted from 0, has number (size of the resilient communicator before that repair) + i.
 * @return the number of entries, 0 if there was no repair; FENIX_ERROR_INVALID_ARGUMENT if fail_list is NULL;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_fail_list(int** fail_list);

/**
 * Tells when this rank noticed the latest failure and when its repair was complete, in seconds of MPI_Wtime (new).
 * Local.
 * @param[out] noticed  time in seconds at which this rank entered the repair
 * @param[out] repaired time in seconds at which the resilient communicator was complete again; callbacks run after that
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if there was no repair; FENIX_ERROR_INVALID_ARGUMENT for NULL;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_repair_times(double* noticed, double* repaired);

/**
 * Looks for failures, so that long computations without MPI calls do not delay the repair. Local, unless it finds a
 * failure.
 * @param[in] do_recovery if not 0, a failure is repaired, and control resumes as FENIX_RESUME_MODE says. Where a message log is active, and
 *                        FENIX_MLOG_RECOVERY_MODE is not FENIX_MLOG_RECOVERY_MANUAL, the call goes on after the callbacks.
 * @return FENIX_SUCCESS if there is none, or if the call has gone on; FENIX_ERROR_PROCESS_FAILURE if there is one, repaired or not;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_detect_failures(int do_recovery);

/**
 * Tells whether an MPI request from before a repair has completed. Local; frees the request as MPI_Test does.
 * @param[in,out] request the request; owned by the caller
 * @param[out]    status  its status, or MPI_STATUS_IGNORE
 * @return 1 if the failure of a process or the repair has ended it, so that its state is not known; 0 otherwise, also if
 *         it is not complete yet;
 *         FENIX_ERROR_INVALID_ARGUMENT if request is NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_check_cancelled(MPI_Request* request, MPI_Status* status);

/**
 * Gets the text of the last error that a Fenix_ function returned on this thread (new). Local; may be called at any
 * time.
 * @return a text owned by the library, valid until the next Fenix_ call of this thread; "" if there was no error. Never
 *         NULL.
 */
const char* Fenix_Error_message(void);

#ifdef __cplusplus
}
#else
/* The released Fenix 1.0 has Fenix_get_role(comm, rank, &role), which is Fenix_get_rank_role. */
#define FENIX_DETAIL_OWN_ROLE() (Fenix_get_role)()
#define FENIX_DETAIL_PICK_3(a1, a2, a3, name, ...) name
#define Fenix_get_role(...)                                                                                           \
  FENIX_DETAIL_PICK_3(__VA_ARGS__, Fenix_get_rank_role, fenix_get_role_takes_0_or_3_arguments, FENIX_DETAIL_OWN_ROLE, \
                      0)                                                                                              \
  (__VA_ARGS__)
#endif

#endif

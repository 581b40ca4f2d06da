/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Coordinated checkpoints that do not block (new): ranks come to a checkpoint at calls of their own choice, at different times, with messages
 * and collective operations under way between them. All ranks go back to it after a failure. The protocol is that of Bronevetsky, Marques,
 * Pingali and Stodghill, "Collective operations in an application-level fault tolerant system". docs/message-logging.md has an example.
 *
 * It needs the library libfenix_mpi, linked before MPI or preloaded: without it all functions return
 * FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE. All functions need Fenix_Init: before it they return FENIX_ERROR_UNINITIALIZED.
 */
#ifndef FENIX_CHECKPOINT_H
#define FENIX_CHECKPOINT_H

#include <mpi.h>
#include "codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The time stamp where there is no checkpoint. */
#define FENIX_CHECKPOINT_NONE (-1)

/**
 * Begins with checkpoints, or goes on from the newest one that all ranks have: from now on messages on the resilient communicator and on
 * those derived from it are counted. Collective over the resilient communicator, synchronising. No message may be under way. Communicators
 * are made before this call. Ranks that come out of Fenix_Init after a repair call it again, before they restore their data.
 *
 * The data of a checkpoint is that of all members of the group, which are defined before this call. None is FENIX_RESIZEABLE. Nothing else
 * stores in the group or commits it. The group has redundancy by copies, or none; it has a depth ≥ 0 and does not commit in place.
 * (Seed 002, 2.3 and 3.)
 * @param[in]  group_id   a data group over the resilient communicator
 * @param[in]  member_id  id of a member for the log, which this call defines; the same on all ranks. No other function uses it.
 * @param[in]  log_bytes  bytes of the log, ≥ 4096; each rank may give another number, but keeps to it. They are taken as those of other
 *                        members. A checkpoint is of no use if late messages and events of a rank, while it is being made, take up more:
 *                        then a restart begins with an older one.
 * @param[out] time_stamp time stamp of the checkpoint from which all ranks go on: the program restores its members with it.
 *                        FENIX_CHECKPOINT_NONE: there is none, the program begins at its start. May be NULL before the first checkpoint only.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_GROUPID; FENIX_ERROR_INVALID_MEMBERID; FENIX_ERROR_INVALID_ARGUMENT;
 *         FENIX_ERROR_INVALID_LOGIC_CALL if a message log is active, or the member was stored with another size or datatype;
 *         FENIX_ERROR_MISMATCH; FENIX_ERROR_NODATA_FOUND if logs do not fit together; FENIX_ERROR_NO_MEMORY; FENIX_ERROR_CANCELLED if a
 *         rank has died. The argument that is invalid is log_bytes, time_stamp, the ranks, policy, depth or a member of the group, or
 *         FENIX_CHECKPOINT_INTERVAL in the environment. There is a mismatch if ranks differ in member_id or FENIX_CHECKPOINT_INTERVAL.
 *         If the member has a file open: FENIX_ERROR_MEMBER_STAGING or _LOADING.
 */
int Fenix_Checkpoint_begin(int group_id, int member_id, int log_bytes, int* time_stamp);

/**
 * Asks all ranks for a checkpoint. It is made when all have passed a call of Fenix_Checkpoint_potential. A request while another one is being
 * made comes after it. With FENIX_CHECKPOINT_INTERVAL in the environment, the same on all ranks, rank 0 asks by itself each time so many
 * seconds have gone by.
 * Local. (Seed 002, 2.1 and 3.1, phase 1.)
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if checkpoints have not begun, or the rank is not rank 0 of the resilient
 *         communicator.
 */
int Fenix_Checkpoint_request(void);

/**
 * Takes a checkpoint of this rank, if one is wanted: stores all members of the group. It does not wait for other ranks, which may be
 * anywhere in the program. Messages are logged from here on until all that cross the line of checkpoints have come. Then the log is stored and
 * the group committed, in calls of MPI or of this function. No request of the program may be pending: with receives or collective operations
 * that are not complete, the checkpoint waits for a later call. If such calls have waited for 5 s, it is given up on all ranks with a warning,
 * and their logs are dropped: the one before counts. Rank 0 asks again later. Local. (Seed 002, 3.1, phases 2 to 4.)
 * @param[out] taken 1 if a checkpoint was taken, else 0; may be NULL
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if checkpoints have not begun; an error of the stores or the commit of the latest
 *         checkpoint: then this rank takes no more; FENIX_ERROR_CANCELLED if a rank has died.
 */
int Fenix_Checkpoint_potential(int* taken);

/**
 * Gets the number of checkpoints that this rank has committed since Fenix_Checkpoint_begin. Local.
 * @param[out] count their number
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if checkpoints have not begun; FENIX_ERROR_INVALID_ARGUMENT if count is NULL.
 */
int Fenix_Checkpoint_count(int* count);

/**
 * Completes the checkpoint that is being made, if all ranks have begun it, and counts messages no more. One that some rank has not begun is
 * given up. Collective over the resilient communicator, synchronising; with no request pending, and all messages received. Without it,
 * Fenix_Finalize gives up a checkpoint that is being made.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_LOGIC_CALL if checkpoints have not begun; FENIX_ERROR_TIMEOUT if nobody has received a
 *         message; the error of a store or a commit of some rank; FENIX_ERROR_CANCELLED if a rank has died.
 */
int Fenix_Checkpoint_finish(void);

#ifdef __cplusplus
}
#endif

#endif

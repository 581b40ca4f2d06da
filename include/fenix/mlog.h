/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Message logging, by the names of the current Fenix: only a rank that has died goes back to its checkpoint. The others go on, and give it
 * the messages that it had received since then. docs/message-logging.md has an example.
 *
 * It needs the library libfenix_mpi, linked before MPI or preloaded: without it all functions return
 * FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE. All functions need Fenix_Init: before it they return FENIX_ERROR_UNINITIALIZED. Functions that
 * get the id of a log return FENIX_ERROR_INVALID_MLOGID if there is no such log.
 */
#ifndef FENIX_MLOG_H
#define FENIX_MLOG_H

#include <mpi.h>
#include "codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a log for the messages on a communicator. The first call in a job is collective over the resilient communicator, otherwise it is
 * local. Ranks that come out of Fenix_Init after a repair call it again, recovered ranks and others: they get the log that there was.
 * A rank that has died does not cut the call short: it returns at once, and the next call that needs other ranks meets the failure. The repair
 * makes what the log needs.
 *
 * Messages are kept in FENIX_MLOG_MEMORY bytes of each rank (environment; default 64 MiB), with FENIX_MLOG_COPIES copies on other ranks
 * (default 0). A log that is full lets go of its oldest messages: a failure before the next checkpoint takes all ranks back. Then no log
 * is active any more, and calls end as FENIX_RESUME_MODE says. Fenix_Data_need_commit says in time that a checkpoint is due.
 * @param[in] mlog_id id of the log, ≥ 0, the same on all ranks
 * @param[in] comm    the resilient communicator or one that is derived from it. The handle is copied.
 * @param[in] depth   older regions that are kept beside the present one, ≥ 0. A rank can go back to the begin of a region that is kept: there
 *                    have to be as many as regions between two checkpoints.
 * @return FENIX_SUCCESS; FENIX_ERROR_MLOG_EXISTS; FENIX_ERROR_INVALID_MLOGID if mlog_id is negative; FENIX_ERROR_INVALID_ARGUMENT (comm,
 *         depth); FENIX_ERROR_NO_MEMORY; FENIX_ERROR_CANCELLED if a rank has died and FENIX_RECOVERY_MODE says that nothing is repaired.
 */
int Fenix_Mlog_create(int mlog_id, MPI_Comm* comm, int depth);

/**
 * Makes a log the active one: from now on messages on its communicator are logged, point-to-point and collective ones. One log is active at a
 * time. A message has to be logged by its sender and its receiver, or by none of them. Local.
 *
 * A call on the communicator that a failure has cut short goes on after the repair, if FENIX_MLOG_RECOVERY_MODE is
 * FENIX_MLOG_RECOVERY_INLINE or FENIX_MLOG_RECOVERY_INLINE_AUTOSYNC. In the mode FENIX_MLOG_RECOVERY_MANUAL it ends as FENIX_RESUME_MODE
 * says. If it returns an error, the program may make the same call again.
 * @param[in] mlog_id id of the log; FENIX_MLOG_NONE: none is active any more
 * @return FENIX_SUCCESS.
 */
int Fenix_Mlog_activate(int mlog_id);

/**
 * Gets the active log. Local.
 * @param[out] mlog_id id of the log, or FENIX_MLOG_NONE; also if there is an error
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if mlog_id is NULL.
 */
int Fenix_Mlog_active(int* mlog_id);

/**
 * Begins a region of a log: a rank can go back to it. Regions that are older than the depth of the log are let go of, with their messages.
 * There must be no request that is pending. Local. If it meets a failure it goes on after the repair, unless FENIX_MLOG_RECOVERY_MODE is
 * FENIX_MLOG_RECOVERY_MANUAL.
 * @param[in] mlog_id   id of the log
 * @param[in] region_id id of the region, ≥ 0, and greater than that of the present region. The id of the present region does nothing if
 *                      there was no message in it.
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT (region_id); FENIX_ERROR_NO_MEMORY; FENIX_ERROR_CANCELLED if it has met a failure and
 *         does not go on.
 */
int Fenix_Mlog_begin_region(int mlog_id, int region_id);

/**
 * Calls Fenix_Mlog_begin_region, and then Fenix_Mlog_activate. Local.
 * @param[in] mlog_id   id of the log
 * @param[in] region_id as for Fenix_Mlog_begin_region
 * @return as these.
 */
int Fenix_Mlog_activate_region(int mlog_id, int region_id);

/**
 * Says at which region this rank goes on after a failure: at its begin. Messages that it had received since then come from the logs, and
 * messages that it sends once more are not delivered again. Local; other ranks need not call it. It goes on after a further failure as
 * Fenix_Mlog_begin_region does.
 * @param[in] mlog_id   id of the log
 * @param[in] region_id id of the region. One that has not begun: the rank goes on from the state of the log that was restored.
 *                      FENIX_MLOG_CONTINUE: the rank goes on where it is.
 * @return FENIX_SUCCESS; FENIX_ERROR_NODATA_FOUND if the region is not kept, or if the state of the log was not restored in a recovered rank
 *         and no other rank has copies of its messages; FENIX_ERROR_INVALID_ARGUMENT (region_id).
 */
int Fenix_Mlog_sync(int mlog_id, int region_id);

/**
 * Creates a member of a data group that has the state of a log: the numbers of the messages, and those messages of this rank that have not
 * been received. A checkpoint of the program has to have it. A store fails with FENIX_ERROR_NO_MEMORY if such a message is not in the log any
 * more. Collective over the group, as Fenix_Data_member_fcreate. Restoring it with FENIX_DATA_RESTORE_INPLACE sets the state of the log.
 * Messages that may not have been received are sent once more when the log is made active: other ranks may wait for them, so that comes
 * before the next collective function of Fenix. With max_count 0 a restore only helps other ranks.
 * @param[in] mlog_id   id of the log
 * @param[in] group_id  id of the group
 * @param[in] member_id id of the member
 * @return as Fenix_Data_member_fcreate.
 */
int Fenix_Mlog_create_data_member(int mlog_id, int group_id, int member_id);

/**
 * Does the same for a member that may exist. Collective over the group, as Fenix_Data_member_fdefine.
 * @param[in] mlog_id   id of the log
 * @param[in] group_id  id of the group
 * @param[in] member_id id of the member
 * @return as Fenix_Data_member_fdefine.
 */
int Fenix_Mlog_define_data_member(int mlog_id, int group_id, int member_id);

/**
 * Calls Fenix_Mlog_define_data_member and Fenix_Data_member_stage. Collective over the group.
 * @param[in] mlog_id   id of the log
 * @param[in] group_id  id of the group
 * @param[in] member_id id of the member
 * @return as these.
 */
int Fenix_Mlog_stage(int mlog_id, int group_id, int member_id);

/**
 * Calls Fenix_Mlog_define_data_member and Fenix_Data_member_lrestore: takes the state of a log from a snapshot of this rank. Collective over
 * the group.
 * @param[in] mlog_id    id of the log
 * @param[in] group_id   id of the group
 * @param[in] member_id  id of the member
 * @param[in] time_stamp time stamp of the snapshot, or FENIX_DATA_SNAPSHOT_LATEST
 * @return as these.
 */
int Fenix_Mlog_lrestore(int mlog_id, int group_id, int member_id, int time_stamp);

/**
 * Deletes a log and lets go of its messages. No other rank may need them any more. Local.
 * @param[in] mlog_id id of the log
 * @return FENIX_SUCCESS.
 */
int Fenix_Mlog_delete(int mlog_id);

#ifdef __cplusplus
}
#endif

#endif

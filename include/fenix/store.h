/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The store behind memory: snapshots are written to files, and a later job goes on from them. The conventions of <fenix.h> hold. All
 * functions are new. The environment variable FENIX_STORE names the folder of the store; docs/store.md tells how it is used. Source of
 * the ideas: the scalable checkpoint/restart library (SCR 1.1-8), sections 2 and 9 to 11 of its manual for developers.
 *
 * A keeper, a process that the library starts on each node, does all work with files. Ranks only send it messages: a file system that
 * hangs stops no rank.
 */
#ifndef FENIX_STORE_H
#define FENIX_STORE_H

#include <mpi.h>
#include "codes.h"
#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes a snapshot to the store, and returns when all ranks have it there, such that it survives the end of the system. Data that does not
 * match its hashes is mended from other ranks first. Collective over the group, synchronising. (SCR 2.5, flush.)
 * @param[in] group_id   id of the group
 * @param[in] time_stamp of a snapshot that all ranks have, as in Fenix_Data_member_restore; FENIX_DATA_SNAPSHOT_LATEST; same on all ranks
 * @param[in] name       name by which the dataset can be fetched, zero-terminated, of letters, digits, ".", "_" and "-", shorter than
 *                       FENIX_DATASET_NAME_MAX; or NULL; same on all ranks. Datasets with a name are kept until they are deleted.
 * @return FENIX_SUCCESS; FENIX_ERROR_STORE on all ranks if there is no store, or some node could not write. Then the snapshot and all other
 *         datasets are as before. FENIX_ERROR_NODATA_FOUND; FENIX_ERROR_INVALID_TIMESTAMP; FENIX_ERROR_INVALID_ARGUMENT for a name that
 *         cannot be one; FENIX_ERROR_INVALID_GROUPID; FENIX_ERROR_INVALID_LOGIC_CALL; FENIX_ERROR_MISMATCH; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Data_flush(int group_id, int time_stamp, const char* name);

/**
 * Begins to write a snapshot to the store. The request ends when the part of this node is written. The dataset is complete when the
 * requests of all ranks have ended; no rank has to tell another one, nor to stay alive. As long as the keeper reads it, the memory of the
 * snapshot is not used for another one: a store or commit that needs it waits, as under Fenix_Data_group_set_flush. Collective over the
 * group, synchronising. (SCR 2.5, asynchronous flush.)
 * @param[in]  group_id   id of the group
 * @param[in]  time_stamp as in Fenix_Data_flush
 * @param[in]  name       as in Fenix_Data_flush
 * @param[out] request    for Fenix_Data_wait and Fenix_Data_test, which return FENIX_ERROR_STORE if this node could not write, and
 *                        FENIX_ERROR_NODATA_FOUND if the snapshot was gone before it was written. It survives repairs.
 * @return as Fenix_Data_flush; FENIX_ERROR_INVALID_ARGUMENT if request is NULL.
 */
int Fenix_Data_iflush(int group_id, int time_stamp, const char* name, Fenix_Request* request);

/**
 * Tells how far a flush is that was begun in this job. Local. (SCR 9.7, WRITTEN.)
 * @param[in]  group_id   id of the group
 * @param[in]  time_stamp of the snapshot, in [0, FENIX_TIME_STAMP_MAX]. The latest 16 flushes of a group are known.
 * @param[out] state      FENIX_FLUSH_NONE, FENIX_FLUSH_WRITING, FENIX_FLUSH_WRITTEN, FENIX_FLUSH_COMPLETE or FENIX_FLUSH_FAILED
 * @param[out] bytes      bytes that this node has written while the state is FENIX_FLUSH_WRITING, otherwise 0; or NULL
 * @return FENIX_SUCCESS; FENIX_ERROR_STORE; FENIX_ERROR_INVALID_GROUPID; FENIX_ERROR_INVALID_ARGUMENT; FENIX_ERROR_INVALID_TIMESTAMP;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Data_flush_state(int group_id, int time_stamp, int* state, MPI_Count* bytes);

/**
 * Has commits of a group flushed by themselves, in the background. A flush that has not ended when the next one is due is waited for, for
 * FENIX_FLUSH_TIMEOUT seconds at most, or for a quarter of FENIX_TIMEOUT if that is less. Local; to be called with the same values by all ranks, between the same commits. At first the
 * value is that of the environment variable FENIX_FLUSH, or 0. (SCR 6.2 and 11.6.)
 * @param[in] group_id id of the group
 * @param[in] every    each so many-th commit is flushed; 0: none
 * @return FENIX_SUCCESS; FENIX_ERROR_STORE; FENIX_ERROR_INVALID_GROUPID; FENIX_ERROR_INVALID_ARGUMENT if every is negative;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Data_group_set_flush(int group_id, int every);

/**
 * Takes a dataset from the store in place of all snapshots of a group. Fenix_Data_group_create does so by itself for a group that is new,
 * or whose snapshots are all lost; this is for another dataset than the newest one. With as many ranks as the dataset has, the group has
 * one snapshot then, with the time stamp of before, under the policy that it has now. Members that it lacked are created, without a source
 * buffer. With another number of ranks, Fenix_Data_member_restore_from_rank restores from it, by the numbers of before, until all ranks
 * have committed. Data that was staged or stored since the latest commit is dropped. Collective over the group, synchronising. (SCR 11.4.7.)
 * @param[in]  group_id   id of the group
 * @param[in]  name       name that was given to Fenix_Data_flush, or that of Fenix_Data_get_dataset_at_position; NULL: the current dataset,
 *                        or the newest complete one; same on all ranks
 * @param[out] time_stamp of the snapshot; or NULL
 * @return FENIX_SUCCESS; FENIX_ERROR_NODATA_FOUND if there is no such dataset, or none whose data is whole: then the group may have no
 *         snapshot any more; FENIX_ERROR_STORE; FENIX_ERROR_INVALID_ARGUMENT for a name that cannot be one;
 *         FENIX_ERROR_INVALID_GROUPID; FENIX_ERROR_INVALID_LOGIC_CALL; FENIX_ERROR_MISMATCH; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Data_fetch(int group_id, const char* name, int* time_stamp);

/**
 * Tells whether the program can go on from the dataset that the group has. If a rank says that it cannot, the group takes the next older
 * complete one, and all ranks have to restore again. Collective over the group, synchronising. (SCR 3, complete restart.)
 * @param[in] group_id id of the group, which goes on from a dataset, and has not committed since
 * @param[in] good     0: this rank cannot use it; anything else: it can
 * @return FENIX_SUCCESS if all can; FENIX_WARNING_RESUMED if the group has an older dataset now; FENIX_ERROR_NODATA_FOUND if there is no
 *         older one. FENIX_ERROR_INVALID_LOGIC_CALL if the group does not go on from a dataset, or has committed since; FENIX_ERROR_STORE;
 *         FENIX_ERROR_INVALID_GROUPID; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Data_restart_done(int group_id, int good);

/**
 * Lists the datasets of the store, of all groups and jobs, newest first. Local; reads the store. (SCR 9.1, index.)
 * @param[out] number_of_datasets complete or not; one with several names counts once for each
 * @return FENIX_SUCCESS; FENIX_ERROR_STORE; FENIX_ERROR_INVALID_ARGUMENT if number_of_datasets is NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Data_get_number_of_datasets(int* number_of_datasets);

/**
 * Gets an entry of the list that Fenix_Data_get_number_of_datasets has made. Local.
 * @param[in]  position   in [0, number of datasets)
 * @param[out] name       FENIX_DATASET_NAME_MAX bytes: the name of its folder, "group.time stamp.run.generation", zero-terminated
 * @param[out] label      FENIX_DATASET_NAME_MAX bytes: a name that Fenix_Data_flush was given, or an empty one; or NULL
 * @param[out] complete   1 if it can be fetched, 0 if parts are missing, damaged or cannot be read; or NULL
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_POSITION; FENIX_ERROR_INVALID_ARGUMENT if name is NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Data_get_dataset_at_position(int position, char* name, char* label, int* complete);

/**
 * Removes a dataset. Local; one rank is to call it. (SCR 3, delete.)
 * @param[in] name as Fenix_Data_get_dataset_at_position gives it
 * @return FENIX_SUCCESS; FENIX_ERROR_NODATA_FOUND if there is none; FENIX_ERROR_STORE; FENIX_ERROR_INVALID_ARGUMENT;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Data_dataset_delete(const char* name);

/**
 * Chooses the dataset from which its group goes on in the next job, in place of the newest one. Local; one rank is to call it.
 * (SCR 9.1, current.)
 * @param[in] name of a complete dataset, as Fenix_Data_get_dataset_at_position gives it; NULL: the newest one again
 * @return FENIX_SUCCESS; FENIX_ERROR_NODATA_FOUND if there is none; FENIX_ERROR_STORE; FENIX_ERROR_INVALID_ARGUMENT;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Data_dataset_set_current(const char* name);

/**
 * Says whether the group should commit now: the same on all ranks. The environment says how often. FENIX_COMMIT_EVERY: at each so
 * many-th call. FENIX_COMMIT_SECONDS: so long after the latest commit. FENIX_COMMIT_OVERHEAD: such that stores and commits take this
 * share of the time, in percent. FENIX_COMMIT_MTBF: at the interval of Daly for this mean time between failures, in seconds, and the
 * measured time of stores and commits. The one that is due first counts; without any, the answer is 0, except when
 * Fenix_Process_should_halt has said 1. While a flush of the group is under way that it would overtake, the answer is 0 for a while.
 * Collective over the group; most calls do not communicate. While a message log is active, it is collective over the communicator of the
 * log: each call communicates, and goes on after failures as other logged calls do. The answer is also 1 if the log of a rank is half
 * full. (SCR 2.1, SCR_Need_checkpoint.)
 * @param[in]  group_id id of the group
 * @param[out] flag     1: it should commit; 0: not yet
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if flag is NULL; FENIX_ERROR_INVALID_GROUPID; FENIX_ERROR_INVALID_LOGIC_CALL;
 *         FENIX_ERROR_MISMATCH; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Data_need_commit(int group_id, int* flag);

/**
 * Says whether the job should commit and end: the same on all ranks. It should when Fenix_Process_halt was called, when fenix-halt has
 * said so, or FENIX_HALT_SECONDS (default 60) before the end of the allocation: FENIX_END_TIME, or SLURM_JOB_END_TIME, in seconds since
 * 1970. The library ends no process by itself. Once it is 1, it stays so. Collective over the resilient communicator; looks about once a
 * second. (SCR 3, SCR_Should_exit; SCR 9.5, halt conditions.)
 * @param[out] flag 1: it should end; 0: it should go on
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if flag is NULL; FENIX_ERROR_INVALID_LOGIC_CALL; FENIX_ERROR_MISMATCH;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_should_halt(int* flag);

/**
 * Has Fenix_Process_should_halt say 1 on all ranks, soon. Local; one rank is enough. (SCR 9.5, ExitReason.)
 * @param[in] reason one line for the log, zero-terminated, at most 1000 bytes; or NULL
 * @return FENIX_SUCCESS; FENIX_ERROR_STORE; FENIX_ERROR_INVALID_ARGUMENT if reason is longer, or has several lines;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_halt(const char* reason);

/**
 * Gets the number of this job on its store, and of the job whose data it goes on from. Local. (SCR 2.2, run.)
 * @param[out] run    1 for the first job, and more for each later one; 0: there is no store, or it could not be used. In a process that was
 *                    spawned, it is known when it has created its first group.
 * @param[out] origin number of the job that has written the dataset from which a group of this one goes on; 0: there is none; or NULL
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_ARGUMENT if run is NULL; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Process_get_run(int* run, int* origin);

#ifdef __cplusplus
}
#endif

#endif

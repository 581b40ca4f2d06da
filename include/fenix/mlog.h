/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Message logging. Only the names are here, so that programs for the current Fenix compile: this library has no message
 * logging yet, and no log can be created. The current Fenix behaves in the same way where its library for message
 * logging is not linked. The conventions of <fenix.h> hold.
 */
#ifndef FENIX_MLOG_H
#define FENIX_MLOG_H

#include <mpi.h>
#include "codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a message log. Local.
 * @param[in]     mlog_id id of the log
 * @param[in,out] comm    communicator whose messages are logged
 * @param[in]     depth   older regions to keep
 * @return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Mlog_create(int mlog_id, MPI_Comm* comm, int depth);

/**
 * Makes a log the active one. Local.
 * @param[in] mlog_id id of the log
 * @return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Mlog_activate(int mlog_id);

/**
 * Gets the active log. Local.
 * @param[out] mlog_id FENIX_MLOG_NONE: there is no log
 * @return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE; FENIX_ERROR_INVALID_ARGUMENT if mlog_id is NULL;
 *         FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Mlog_active(int* mlog_id);

/**
 * Begins a region of a log. Local.
 * @param[in] mlog_id   id of the log
 * @param[in] region_id id of the region
 * @return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Mlog_begin_region(int mlog_id, int region_id);

/**
 * Makes a log the active one and begins a region. Local.
 * @param[in] mlog_id   id of the log
 * @param[in] region_id id of the region
 * @return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Mlog_activate_region(int mlog_id, int region_id);

/**
 * Takes the ranks of a log to a common region. Local.
 * @param[in] mlog_id   id of the log
 * @param[in] region_id id of the region, or FENIX_MLOG_CONTINUE
 * @return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Mlog_sync(int mlog_id, int region_id);

/**
 * Makes a log a new member of a data group. Local.
 * @param[in] mlog_id   id of the log
 * @param[in] group_id  id of the group
 * @param[in] member_id id of the member
 * @return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Mlog_create_data_member(int mlog_id, int group_id, int member_id);

/**
 * Makes a log a member of a data group, which may exist. Local.
 * @param[in] mlog_id   id of the log
 * @param[in] group_id  id of the group
 * @param[in] member_id id of the member
 * @return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Mlog_define_data_member(int mlog_id, int group_id, int member_id);

/**
 * Stages a log as the data of a member. Local.
 * @param[in] mlog_id   id of the log
 * @param[in] group_id  id of the group
 * @param[in] member_id id of the member
 * @return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Mlog_stage(int mlog_id, int group_id, int member_id);

/**
 * Takes a log from a snapshot of this rank. Local.
 * @param[in] mlog_id    id of the log
 * @param[in] group_id   id of the group
 * @param[in] member_id  id of the member
 * @param[in] time_stamp time stamp of the snapshot
 * @return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Mlog_lrestore(int mlog_id, int group_id, int member_id, int time_stamp);

/**
 * Deletes a log. Local.
 * @param[in] mlog_id id of the log
 * @return FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE; FENIX_ERROR_UNINITIALIZED.
 */
int Fenix_Mlog_delete(int mlog_id);

#ifdef __cplusplus
}
#endif

#endif

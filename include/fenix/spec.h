/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The forms of specification 1.0 (SAND2016-9171), where <fenix.h> has others. Include this file instead of <fenix.h>,
 * from C or C++. Included after <fenix.h> or <fenix.hpp>, it replaces their forms by those of the specification, for
 * the rest of the file. The contracts are those of the functions named, in both forms. A source file can use only one
 * form of a function: a program that needs both forms has to be split into two files.
 *
 * Differences from the specification, each with its section:
 *  - 1.1, 2.1: newcomm of Fenix_Init may be NULL, and derived communicators are repaired, only in a program that has the
 *    library libfenix_mpi (docs/interposition.md). Otherwise all ranks get FENIX_ERROR_INVALID_ARGUMENT for NULL.
 *  - 3.2.1, 3.2.3: Fenix_Data_group_create and Fenix_Data_group_set_redundancy_policy synchronise.
 *  - 3.2.3: The separation of FENIX_DATA_GROUP_WORLD_ID is chosen by the library. It is half of the ranks where these are
 *    in the order of their nodes.
 *  - 3.4.2: Fenix_Data_commit waits for a rank that is far behind, and at depth -1 for all ranks.
 *  - 3.4.3: Snapshots older than depth stay until each rank has committed newer ones.
 *  - 3.5: If max_count is too small on one rank, all ranks get FENIX_ERROR_BUFFER_TOO_SMALL.
 *  - 3.7.3: FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER may be set at any time, not only before the first store.
 *  - 3.8: Snapshots that are newer than one that was deleted keep the values that they have from it.
 * Names, counts and warnings (codes above 0) are as in <fenix.h> where the specification leaves them open. The list
 * tests/conformance/specification-1.0-effects.txt has a test for each statement of the specification.
 */
#ifndef FENIX_SPEC_H
#define FENIX_SPEC_H

#include <string.h>
#include "../fenix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Internal: what the forms below call where they do something else than those of <fenix/data.h>. */
int fenix_detail_spec_restore(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp);
int fenix_detail_spec_restore_from_rank(int group_id, int member_id, void* target_buffer, int max_count, int time_stamp,
                                        int source_rank);
int fenix_detail_spec_number_of_snapshots(int group_id, int* number_of_snapshots);
int fenix_detail_spec_snapshot_at_position(int group_id, int position, int* time_stamp);
int fenix_detail_spec_snapshot_delete(int group_id, int time_stamp);

#ifdef __cplusplus
}
#endif

/** Calls Fenix_Init of <fenix/process.h>, with the arguments in the order of specification 2.1. */
#undef Fenix_Init
#define Fenix_Init(comm, newcomm, role, argc, argv, spare_ranks, spawn, info, error)      \
  {                                                                                       \
    fenix_detail_return_unhandled();                                                      \
    FENIX_DETAIL_INIT_9(role, comm, newcomm, argc, argv, spare_ranks, spawn, info, error) \
  }

/* The inline functions have names of their own, and macros give them the names of the specification. So a program can
   take their addresses, too. */

/**
 * Calls Fenix_Data_group_create with FENIX_DATA_POLICY_PEER_RANK_SEPARATION and a separation of half of the ranks.
 * (3.2.1, 3.2.3.) Fenix_Data_group_set_redundancy_policy sets another policy.
 * @param[in] group_id, comm, start_time_stamp, depth as for Fenix_Data_group_create
 * @return as Fenix_Data_group_create.
 */
static inline int fenix_spec_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth) {
  int size = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &size);
  size /= 2;
  return Fenix_Data_group_create(group_id, comm, start_time_stamp, depth, FENIX_DATA_POLICY_PEER_RANK_SEPARATION,
                                 size > 0 ? &size : NULL, NULL);
}

/**
 * Gets the values of a group's policy, if the group has the policy that is named. Local. (3.2.3.)
 * @param[in]  group_id     id of the group
 * @param[in]  policy_name  FENIX_DATA_POLICY_…
 * @param[out] policy_value one int for FENIX_DATA_POLICY_PEER_RANK_SEPARATION; for FENIX_DATA_POLICY_IN_MEMORY_RAID
 *                          int[2], or int[3] if its mode is 5; int[3] for FENIX_DATA_POLICY_REED_SOLOMON; none for
 *                          FENIX_DATA_POLICY_LOCAL. Not written if flag is 0.
 * @param[out] flag         1 if the group has this policy, otherwise 0; may be NULL
 * @return as Fenix_Data_group_get_redundancy_policy.
 */
static inline int fenix_spec_Data_group_get_redundancy_policy(int group_id, int policy_name, void* policy_value,
                                                              int* flag) {
  int name = 0;
  int values[3] = {0, 0, 0};
  const int code = Fenix_Data_group_get_redundancy_policy(group_id, &name, policy_value == NULL ? NULL : values, NULL);
  const int same = code == FENIX_SUCCESS && name == policy_name;
  size_t number = values[0] == 5 ? 3 : 2;
  if (name == FENIX_DATA_POLICY_PEER_RANK_SEPARATION) number = 1;
  if (name == FENIX_DATA_POLICY_REED_SOLOMON) number = 3;
  if (name == FENIX_DATA_POLICY_LOCAL) number = 0;
  if (same && policy_value != NULL) memcpy(policy_value, values, number * sizeof values[0]);
  if (flag != NULL) *flag = same;
  return code;
}

/**
 * Restores a member as Fenix_Data_member_restore does, without found_data. Collective. (3.5.)
 * @param[in]  group_id, member_id, time_stamp as for Fenix_Data_member_restore
 * @param[out] target_buffer                   as for Fenix_Data_member_restore; NULL: this rank takes part without data
 * @param[in]  max_count                       elements that fit
 * @return as Fenix_Data_member_restore; FENIX_ERROR_BUFFER_TOO_SMALL on all ranks if more elements were found on one.
 */
static inline int fenix_spec_Data_member_restore(int group_id, int member_id, void* target_buffer, int max_count,
                                                 int time_stamp) {
  return fenix_detail_spec_restore(group_id, member_id, target_buffer, max_count, time_stamp);
}

/**
 * Restores the member of another rank as Fenix_Data_member_restore_from_rank does, without found_data. Collective. (3.5.)
 * @param[in]  group_id, member_id, time_stamp, source_rank as for Fenix_Data_member_restore_from_rank
 * @param[out] target_buffer, max_count                     as for Fenix_Data_member_restore of this header
 * @return as Fenix_Data_member_restore_from_rank; FENIX_ERROR_BUFFER_TOO_SMALL as above.
 */
static inline int fenix_spec_Data_member_restore_from_rank(int group_id, int member_id, void* target_buffer,
                                                           int max_count, int time_stamp, int source_rank) {
  return fenix_detail_spec_restore_from_rank(group_id, member_id, target_buffer, max_count, time_stamp, source_rank);
}

/**
 * Commits as Fenix_Data_commit_barrier does, and then removes what is not on all ranks, as Fenix_Data_barrier does.
 * Collective. (3.4.2.)
 * @param[in]  group_id   as for Fenix_Data_commit_barrier
 * @param[out] time_stamp as for Fenix_Data_commit_barrier
 * @return as Fenix_Data_commit_barrier and Fenix_Data_barrier.
 */
static inline int fenix_spec_Data_commit_barrier(int group_id, int* time_stamp) {
  const int code = Fenix_Data_commit_barrier(group_id, time_stamp);
  return code == FENIX_SUCCESS ? Fenix_Data_barrier(group_id) : code;
}

/**
 * Gets the number of consistent snapshots: all ranks have them. Collective, synchronising; the same number on all ranks.
 * (3.7.2.)
 * @param[in]  group_id            id of the group; same on all ranks
 * @param[out] number_of_snapshots their number
 * @return FENIX_SUCCESS; FENIX_ERROR_MISMATCH.
 */
static inline int fenix_spec_Data_group_get_number_of_snapshots(int group_id, int* number_of_snapshots) {
  return fenix_detail_spec_number_of_snapshots(group_id, number_of_snapshots);
}

/**
 * Gets the time stamp of a consistent snapshot. Local. (3.7.2.) The list is that of the latest call of
 * Fenix_Data_group_get_number_of_snapshots. If this rank has committed or deleted since, it is the list of those that
 * this rank knows to be consistent.
 * @param[in]  group_id   id of the group
 * @param[in]  position   in [0, number of snapshots); 0 is the newest
 * @param[out] time_stamp its time stamp
 * @return FENIX_SUCCESS; FENIX_ERROR_INVALID_POSITION.
 */
static inline int fenix_spec_Data_group_get_snapshot_at_position(int group_id, int position, int* time_stamp) {
  return fenix_detail_spec_snapshot_at_position(group_id, position, time_stamp);
}

/**
 * Sets an attribute of a member as Fenix_Data_member_attr_set does. Local. (3.7.3.) COUNT and DATATYPE are read-only.
 * @param[in]  group_id, member_id, attribute_name, attribute_value as for Fenix_Data_member_attr_set
 * @param[out] flag                                                 1 if the attribute was set, otherwise 0; may be NULL
 * @return as Fenix_Data_member_attr_set; FENIX_ERROR_INVALID_ATTRIBUTE_NAME for COUNT and DATATYPE.
 */
static inline int fenix_spec_Data_member_attr_set(int group_id, int member_id, int attribute_name,
                                                  void* attribute_value, int* flag) {
  const int read_only =
      attribute_name == FENIX_DATA_MEMBER_ATTRIBUTE_COUNT || attribute_name == FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE;
  /* SIZE is read-only in both forms. */
  return Fenix_Data_member_attr_set(group_id, member_id, read_only ? FENIX_DATA_MEMBER_ATTRIBUTE_SIZE : attribute_name,
                                    attribute_value, flag);
}

/**
 * Deletes a snapshot on this rank as Fenix_Data_snapshot_delete does. Local. (3.8.)
 * @param[in] group_id   id of the group
 * @param[in] time_stamp as for Fenix_Data_snapshot_delete, or FENIX_DATA_SNAPSHOT_LATEST
 * @return as Fenix_Data_snapshot_delete.
 */
static inline int fenix_spec_Data_snapshot_delete(int group_id, int time_stamp) {
  return fenix_detail_spec_snapshot_delete(group_id, time_stamp);
}

/**
 * Calls Fenix_Data_subset_createv, which takes the blocks as arrays. (3.6.)
 * @param[in]  num_blocks, array_start_offsets, array_end_offsets as for Fenix_Data_subset_createv
 * @param[out] subset_specifier                                   as for Fenix_Data_subset_createv
 * @return as Fenix_Data_subset_createv.
 */
static inline int fenix_spec_Data_subset_create(int num_blocks, int* array_start_offsets, int* array_end_offsets,
                                                Fenix_Data_subset* subset_specifier) {
  return Fenix_Data_subset_createv(num_blocks, array_start_offsets, array_end_offsets, subset_specifier);
}

/**
 * Registers a callback that gets the error of Fenix_Init after the repair, FENIX_SUCCESS or a warning. (2.2.)
 * @param[in] recover, callback_data as for Fenix_Callback_register
 * @return as Fenix_Callback_register.
 */
static inline int fenix_spec_Callback_register(void (*recover)(MPI_Comm, int, void*), void* callback_data) {
  return fenix_detail_callback_register(recover, callback_data);
}

#define Fenix_Callback_register fenix_spec_Callback_register
#define Fenix_Data_group_create fenix_spec_Data_group_create
#define Fenix_Data_group_get_redundancy_policy fenix_spec_Data_group_get_redundancy_policy
#define Fenix_Data_member_restore fenix_spec_Data_member_restore
#define Fenix_Data_member_restore_from_rank fenix_spec_Data_member_restore_from_rank
#define Fenix_Data_subset_create fenix_spec_Data_subset_create
#define Fenix_Data_commit_barrier fenix_spec_Data_commit_barrier
#define Fenix_Data_group_get_number_of_snapshots fenix_spec_Data_group_get_number_of_snapshots
#define Fenix_Data_group_get_snapshot_at_position fenix_spec_Data_group_get_snapshot_at_position
#define Fenix_Data_member_attr_set fenix_spec_Data_member_attr_set
#define Fenix_Data_snapshot_delete fenix_spec_Data_snapshot_delete

/* Names that only the examples of chapter 4 of the specification use. */
#define Fenix_Data_restore fenix_spec_Data_member_restore
#define FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_BUFFER FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER
#define FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_SOURCE_BUFFER FENIX_DATA_MEMBER_ATTRIBUTE_SOURCE_BUFFER
#define FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_COUNT FENIX_DATA_MEMBER_ATTRIBUTE_COUNT
#define FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_DATATYPE FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE
#define FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_SIZE FENIX_DATA_MEMBER_ATTRIBUTE_SIZE

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The forms of specification 1.0 (SAND2016-9171), where <fenix.h> has others. Include this file instead of <fenix.h>,
 * from C or C++. Included after <fenix.h> or <fenix.hpp>, it replaces their forms by those of the specification, for
 * the rest of the file. The contracts are those of the functions named, in both forms. A source file can use only one
 * form of a function: a program that needs both forms has to be split into two files.
 *
 * Differences from the specification:
 *  - newcomm of Fenix_Init may be NULL, and derived communicators are repaired, only in a program that has the library
 *    libfenix_mpi (docs/interposition.md). Otherwise all ranks get FENIX_ERROR_INVALID_ARGUMENT for NULL. (1.1, 2.1.)
 *  - Fenix_Init compares spare_ranks and spawn between ranks, not info. (2.1.)
 *  - The default separation of a group is half of its ranks only if they are in the order of their nodes: ranks that
 *    protect each other share no node. (3.2.3.)
 *  - Fenix_Data_commit_barrier removes no inconsistent snapshots; Fenix_Data_barrier does. (3.4.2.)
 *  - The count and the datatype of a member can be set until data has been stored. (3.7.3.)
 *  - Fenix_Data_group_get_number_of_snapshots and _get_snapshot_at_position are local.
 *  - Names, counts and warnings (codes above 0) are as in <fenix.h> where the specification leaves them open.
 */
#ifndef FENIX_SPEC_H
#define FENIX_SPEC_H

#include <string.h>
#include "../fenix.h"

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
 * Calls Fenix_Data_group_create with FENIX_DATA_POLICY_PEER_RANK_SEPARATION and its default values. (3.2.1.)
 * Fenix_Data_group_set_redundancy_policy sets another policy.
 * @param[in] group_id, comm, start_time_stamp, depth as for Fenix_Data_group_create
 * @return as Fenix_Data_group_create.
 */
static inline int fenix_spec_Data_group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth) {
  return Fenix_Data_group_create(group_id, comm, start_time_stamp, depth, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, NULL,
                                 NULL);
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
 * Calls Fenix_Data_member_restore without found_data. (3.5.)
 * @param[in]  group_id, member_id, max_count, time_stamp as for Fenix_Data_member_restore
 * @param[out] target_buffer                              as for Fenix_Data_member_restore
 * @return as Fenix_Data_member_restore.
 */
static inline int fenix_spec_Data_member_restore(int group_id, int member_id, void* target_buffer, int max_count,
                                                 int time_stamp) {
  return Fenix_Data_member_restore(group_id, member_id, target_buffer, max_count, time_stamp, FENIX_DATA_SUBSET_IGNORE);
}

/**
 * Calls Fenix_Data_member_restore_from_rank without found_data. (3.5.)
 * @param[in]  group_id, member_id, max_count, time_stamp, source_rank as for Fenix_Data_member_restore_from_rank
 * @param[out] target_buffer                                           as for Fenix_Data_member_restore_from_rank
 * @return as Fenix_Data_member_restore_from_rank.
 */
static inline int fenix_spec_Data_member_restore_from_rank(int group_id, int member_id, void* target_buffer,
                                                           int max_count, int time_stamp, int source_rank) {
  return Fenix_Data_member_restore_from_rank(group_id, member_id, target_buffer, max_count, time_stamp,
                                             FENIX_DATA_SUBSET_IGNORE, source_rank);
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

/* Names that only the examples of chapter 4 of the specification use. */
#define Fenix_Data_restore fenix_spec_Data_member_restore
#define FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_BUFFER FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER
#define FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_SOURCE_BUFFER FENIX_DATA_MEMBER_ATTRIBUTE_SOURCE_BUFFER
#define FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_COUNT FENIX_DATA_MEMBER_ATTRIBUTE_COUNT
#define FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_DATATYPE FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE
#define FENIX_DATA_GROUP_MEMBER_ATTRIBUTE_SIZE FENIX_DATA_MEMBER_ATTRIBUTE_SIZE

#endif

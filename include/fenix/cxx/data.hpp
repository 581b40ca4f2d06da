// SPDX-License-Identifier: BSD-3-Clause
//
// C++: data groups. The functions are those of <fenix/data.h> and <fenix/large.h>, and their contracts hold. They add
// default arguments, DataSubset and std::function. For errors they throw RuntimeException; they return FENIX_SUCCESS, a
// warning, or in resume mode "return" FENIX_ERROR_CANCELLED, unless they say otherwise.
// Counts are MPI_Count throughout.
#ifndef FENIX_CXX_DATA_HPP
#define FENIX_CXX_DATA_HPP

#include "../c.h"

#include <cstdio>
#include <functional>
#include <iostream>
#include <optional>
#include <variant>
#include <vector>

#include "data_subset.hpp"
#include "restoring.hpp"

namespace fenix {

/// FENIX_STOREV_ALL of C.
inline constexpr int STOREV_ALL = FENIX_STOREV_ALL;

namespace data {

// ------------------------------------------------------------------------------------------------------------- groups

/// Calls Fenix_Data_group_create.
/// @param group_id, comm, start_time_stamp, depth, policy_name, policy_value, flag as in C
/// @return the code of the C function, if it is no error
int group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name, void* policy_value,
                 int* flag);

/// Arguments of Fenix_Data_group_create after the first, with default values. The default of depth is that of the
/// current Fenix: one snapshot in addition to the newest.
struct GroupCreateArgs {
  MPI_Comm comm = MPI_COMM_NULL;            ///< communicator of the group; MPI_COMM_NULL: the resilient communicator
  int start_time_stamp = 0;                 ///< time stamp of the first commit
  int depth = 1;                            ///< snapshots kept in addition to the newest
  int policy_name = FENIX_DATA_POLICY_IMR;  ///< FENIX_DATA_POLICY_…
  void* policy_value = nullptr;             ///< values of the policy; null: its default
  int* flag = nullptr;                      ///< result, as for Fenix_Data_group_create; may be null
};

/// Calls Fenix_Data_group_create with default arguments.
/// @param group_id as in C
/// @param args the other arguments of Fenix_Data_group_create
/// @return the code of the C function, if it is no error
int group_create(int group_id, GroupCreateArgs args = {});

/// Calls Fenix_Data_group_created.
/// @param group_id as in C
/// @return true if the group exists on this rank; false before init
bool group_created(int group_id);

/// Calls Fenix_Data_group_delete, and destroys the serializers of the members.
/// @param group_id as in C
/// @return the code of the C function, if it is no error
int group_delete(int group_id);

/// Calls Fenix_Data_group_get_redundancy_policy.
/// @param group_id, policy_name, policy_value, flag as in C
/// @return the code of the C function, if it is no error
int group_get_redundancy_policy(int group_id, int* policy_name, void* policy_value, int* flag = nullptr);

/// Calls Fenix_Data_group_set_redundancy_policy.
/// @param group_id, policy_name, policy_value, flag as in C
/// @return the code of the C function, if it is no error
int group_set_redundancy_policy(int group_id, int policy_name, void* policy_value = nullptr, int* flag = nullptr);

/// Calls Fenix_Data_group_set_hashing.
/// @param group_id as in C
/// @param hashing whether stored data is hashed
/// @return the code of the C function, if it is no error
int group_set_hashing(int group_id, bool hashing);

/// Calls Fenix_Data_group_get_hashing. Local.
/// @param group_id as in C
/// @return whether stored data is hashed; no value if there is no such group
std::optional<bool> group_hashing(int group_id);

/// Calls Fenix_Data_group_set_in_place.
/// @param group_id as in C
/// @param in_place whether commits are in place
/// @return the code of the C function, if it is no error
int group_set_in_place(int group_id, bool in_place);

/// Calls Fenix_Data_group_get_in_place. Local.
/// @param group_id as in C
/// @return whether commits are in place; no value if there is no such group
std::optional<bool> group_in_place(int group_id);

/// Lists the members of a group. Local.
/// @param group_id id of the group
/// @return ids of the members, in the order of their creation; no value if there is no such group
std::optional<std::vector<int>> group_members(int group_id);

/// Calls Fenix_Data_group_get_cohort. Local.
/// @param group_id as in C
/// @return the ranks that protect this rank's data, and itself; owned by the caller
MPI_Group group_cohort(int group_id);

/// Lists the snapshots of this rank in a group. Local, as Fenix_Data_group_get_snapshot_at_position.
/// @param group_id id of the group
/// @return time stamps, newest first; no value if there is no such group
std::optional<std::vector<int>> group_snapshots(int group_id);

// ------------------------------------------------------------------------------------------------------------ members

/// Calls Fenix_Data_member_create_c.
/// @param group_id, member_id, buffer, count, datatype as in C
/// @return the code of the C function, if it is no error
int member_create(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype);

/// Serializer over a file: Fenix_Serialize_file_fn as (file, direction, buffer, offset, count), without ctx. It must
/// not call Fenix. If it throws anything, the store or load that called it returns FENIX_ERROR_INVALID_ARGUMENT with the
/// text of the exception, as in C. A function that takes int instead of MPI_Count may be used for members of less than 2³¹ elements.
using SerializeFileFunc = std::function<void(FILE*, int, void*, MPI_Count, MPI_Count)>;

/// Serializer as SerializeFileFunc, over a stream in the place of the file.
using SerializeStreamFunc = std::function<void(std::iostream&, int, void*, MPI_Count, MPI_Count)>;
/// Serializer of either form.
using SerializeFunc = std::variant<SerializeFileFunc, SerializeStreamFunc>;

/// Calls Fenix_Data_member_fcreate_c. The library owns the serializer. It is destroyed by member_delete and
/// group_delete, at Fenix_Finalize, and when member_define sets another one or none. Recovered ranks set it again with
/// member_define.
/// @param group_id, member_id, buffer, count, datatype as in C
/// @param serializer callable that writes and reads the elements; owned by the library
/// @return the code of the C function, if it is no error
int member_create(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                  const SerializeFunc& serializer);

/// Calls Fenix_Data_member_define_c. A serializer is removed and destroyed.
/// @param group_id, member_id, buffer, count, datatype as in C
/// @return the code of the C function, if it is no error
int member_define(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype);

/// Calls Fenix_Data_member_fdefine_c. Ownership of the serializer is as with member_create.
/// @param group_id, member_id, buffer, count, datatype as in C
/// @param serializer callable that writes and reads the elements; owned by the library; an empty one removes it
/// @return the code of the C function, if it is no error
int member_define(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                  const SerializeFunc& serializer);

/// Calls Fenix_Data_member_allocate_c. A serializer is removed and destroyed.
/// @param group_id, member_id, count, datatype, baseptr as in C
/// @return the code of the C function, if it is no error
int member_allocate(int group_id, int member_id, MPI_Count count, MPI_Datatype datatype, void* baseptr);

/// Calls Fenix_Data_member_created.
/// @param group_id, member_id as in C
/// @return true if the member exists on this rank; false before init
bool member_created(int group_id, int member_id);

/// Calls Fenix_Data_member_delete, and destroys the serializer of the member.
/// @param group_id, member_id as in C
/// @return the code of the C function, if it is no error
int member_delete(int group_id, int member_id);

/// Calls Fenix_Data_member_footprint. Local.
/// @param group_id, member_id as in C
/// @return bytes of shared memory; no value if there is no such member
std::optional<MPI_Count> member_footprint(int group_id, int member_id);

/// Calls Fenix_Data_member_attr_set.
/// @param group_id, member_id, attribute_name, attribute_value, flag as in C
/// @return the code of the C function, if it is no error
int member_attr_set(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag = nullptr);

/// Does the same as Fenix_Data_member_attr_get with this rank as source_rank. Local, as in the current Fenix.
/// @param group_id, member_id, attribute_name, attribute_value, flag as in C
/// @return the code of the C function, if it is no error
int member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag = nullptr);

/// Calls Fenix_Data_member_attr_get.
/// @param group_id, member_id, attribute_name, attribute_value, flag, source_rank as in C
/// @return the code of the C function, if it is no error
int member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag, int source_rank);

// ------------------------------------------------------------------------------------------------------------ staging

/// Calls Fenix_Data_member_stage.
/// @param group_id, member_id, subset as in C
/// @return the code of the C function, if it is no error
int member_stage(int group_id, int member_id, const DataSubset& subset = SUBSET_FULL);

/// Calls Fenix_Data_member_stage_inplace.
/// @param group_id, member_id, buf, subset as in C
/// @return the code of the C function, if it is no error
int member_stage_inplace(int group_id, int member_id, void* buf, const DataSubset& subset = SUBSET_FULL);

/// Calls Fenix_Data_member_stage_memory.
/// @param group_id, member_id, memory as in C
/// @return the code of the C function, if it is no error
int member_stage_memory(int group_id, int member_id, void** memory);

/// Calls Fenix_Data_member_stage_begin.
/// @param group_id, member_id, file as in C
/// @return the code of the C function, if it is no error
int member_stage_begin(int group_id, int member_id, FILE** file);

/// Calls Fenix_Data_member_stage_begin and opens a stream over the file. The stream is binary and has no buffer of its
/// own. It throws no exceptions, unless the application enables them.
/// @param group_id, member_id as in C
/// @param stream set to a stream over the file, owned by the library, valid until member_stage_end, also after a failure:
///               reads and writes then fail
/// @return the code of the C function, if it is no error
int member_stage_begin(int group_id, int member_id, std::iostream** stream);

/// Calls Fenix_Data_member_stage_end.
/// @param group_id, member_id as in C
/// @return the code of the C function, if it is no error
int member_stage_end(int group_id, int member_id);

// ------------------------------------------------------------------------------------------------------------ storing

/// Calls Fenix_Data_member_store.
/// @param group_id, member_id, subset as in C
/// @return the code of the C function, if it is no error
int member_store(int group_id, int member_id, const DataSubset& subset = SUBSET_FULL);

/// Calls Fenix_Data_member_store for all members.
/// @param group_id, subset as in C
/// @return the code of the C function, if it is no error
inline int member_store(int group_id, const DataSubset& subset = SUBSET_FULL) {
  return member_store(group_id, FENIX_DATA_MEMBER_ALL, subset);
}

/// Calls Fenix_Data_member_storev.
/// @param group_id, member_id, subset as in C
/// @return the code of the C function, if it is no error
int member_storev(int group_id, int member_id, const DataSubset& subset);

/// Calls Fenix_Data_member_storev for all members.
/// @param group_id, subset as in C
/// @return the code of the C function, if it is no error
inline int member_storev(int group_id, const DataSubset& subset) {
  return member_storev(group_id, FENIX_DATA_MEMBER_ALL, subset);
}

/// Calls Fenix_Data_member_istore.
/// @param group_id, member_id, subset, request as in C
/// @return the code of the C function, if it is no error
int member_istore(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request);

/// Arguments of Fenix_Data_member_istore with default values.
struct MemberIstoreArgs {
  int member_id = FENIX_DATA_MEMBER_ALL;   ///< a member, or all of them
  const DataSubset& subset = SUBSET_FULL;  ///< elements of each member
};

/// Calls Fenix_Data_member_istore with default arguments: all members, all elements.
/// @param group_id, request as in C
/// @param args the other arguments of Fenix_Data_member_istore
/// @return the code of the C function, if it is no error
inline int member_istore(int group_id, Fenix_Request* request, MemberIstoreArgs args = {}) {
  return member_istore(group_id, args.member_id, args.subset, request);
}

/// Calls Fenix_Data_member_istorev.
/// @param group_id, member_id, subset, request as in C
/// @return the code of the C function, if it is no error
int member_istorev(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request);

/// Calls Fenix_Data_member_istorev for all members.
/// @param group_id, subset, request as in C
/// @return the code of the C function, if it is no error
inline int member_istorev(int group_id, const DataSubset& subset, Fenix_Request* request) {
  return member_istorev(group_id, FENIX_DATA_MEMBER_ALL, subset, request);
}

/// Calls Fenix_Data_wait.
/// @param request as in C
/// @return the code of the C function, if it is no error
int wait(Fenix_Request request);

/// Calls Fenix_Data_test.
/// @param request, flag as in C
/// @return the code of the C function, if it is no error
int test(Fenix_Request request, int* flag);

// --------------------------------------------------------------------------------------------------------- committing

/// Calls Fenix_Data_commit.
/// @param group_id, time_stamp as in C
/// @return the code of the C function, if it is no error
int commit(int group_id, int* time_stamp = nullptr);

/// Calls Fenix_Data_commit_barrier.
/// @param group_id, time_stamp as in C
/// @return the code of the C function, if it is no error
int commit_barrier(int group_id, int* time_stamp = nullptr);

/// Calls Fenix_Data_commit_cleanup.
/// @param group_id, time_stamp as in C
/// @return the code of the C function, if it is no error
int commit_cleanup(int group_id, int* time_stamp = nullptr);

/// Calls Fenix_Data_cleanup.
/// @param group_id as in C
/// @return the code of the C function, if it is no error
int cleanup(int group_id);

/// Calls Fenix_Data_barrier.
/// @param group_id as in C
/// @return the code of the C function, if it is no error
int barrier(int group_id);

/// Calls Fenix_Data_checkpoint: stores all members, and commits.
/// @param group_id, subset, time_stamp as in C
/// @param storev_ids ids of the members whose subsets may differ from rank to rank
/// @return the code of the C function, if it is no error
int checkpoint(int group_id, const DataSubset& subset, const std::vector<int>& storev_ids = {},
               int* time_stamp = nullptr);

/// Calls Fenix_Data_checkpointv: stores all members, with subsets that may differ from rank to rank, and commits.
/// @param group_id, subset, time_stamp as in C
/// @return the code of the C function, if it is no error
int checkpointv(int group_id, const DataSubset& subset, int* time_stamp = nullptr);

/// Calls Fenix_Data_snapshot_delete.
/// @param group_id, time_stamp as in C
/// @return the code of the C function, if it is no error
int snapshot_delete(int group_id, int time_stamp);

}  // namespace data
}  // namespace fenix

#endif

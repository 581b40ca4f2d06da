// SPDX-License-Identifier: BSD-3-Clause
//
// C++: data groups. The functions are those of <fenix/data.h> and <fenix/large.h>, whose contracts hold, with default
// arguments, DataSubset and std::function. They return the codes of the C functions, unless they say otherwise; counts are
// MPI_Count throughout.
#ifndef FENIX_CXX_DATA_HPP
#define FENIX_CXX_DATA_HPP

#include <fenix.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <optional>
#include <variant>
#include <vector>

#include <fenix/cxx/data_subset.hpp>

namespace fenix {

inline constexpr int STOREV_ALL = FENIX_STOREV_ALL;

namespace data {

// ------------------------------------------------------------------------------------------------------------- groups

/// Fenix_Data_group_create
int group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name, void* policy_value,
                 int* flag);

/// The arguments of Fenix_Data_group_create but the first. The default of depth is that of the current Fenix: one snapshot
/// besides the newest.
struct GroupCreateArgs {
  MPI_Comm comm = MPI_COMM_NULL;  ///< MPI_COMM_NULL: the resilient communicator
  int start_time_stamp = 0;
  int depth = 1;
  int policy_name = FENIX_DATA_POLICY_IMR;
  void* policy_value = nullptr;
  int* flag = nullptr;
};
/// Fenix_Data_group_create with default arguments.
int group_create(int group_id, GroupCreateArgs args = {});

/// Fenix_Data_group_created; false before init.
bool group_created(int group_id);
/// Fenix_Data_group_delete. Destroys the serializers of its members.
int group_delete(int group_id);
/// Fenix_Data_group_get_redundancy_policy
int group_get_redundancy_policy(int group_id, int* policy_name, void* policy_value, int* flag = nullptr);
/// Fenix_Data_group_set_redundancy_policy
int group_set_redundancy_policy(int group_id, int policy_name, void* policy_value = nullptr, int* flag = nullptr);
/// Fenix_Data_group_set_hashing
int group_set_hashing(int group_id, bool hashing);
/// Fenix_Data_group_get_hashing; none if there is no such group. Local.
std::optional<bool> group_hashing(int group_id);
/// Ids of the members, in the order of their creation; none if there is no such group. Local.
std::optional<std::vector<int>> group_members(int group_id);
/// Time stamps of the consistent snapshots, newest first, as Fenix_Data_group_get_snapshot_at_position gives them; none if
/// there is no such group. Local.
std::optional<std::vector<int>> group_snapshots(int group_id);

// ------------------------------------------------------------------------------------------------------------ members

/// Fenix_Data_member_create
int member_create(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype);

/// A serializer: Fenix_Serialize_file_fn as (file, direction, buffer, offset, count), without ctx. Must not call Fenix. If it
/// throws, the store or load that called it returns FENIX_ERROR_INVALID_ARGUMENT with the text of the exception. A function
/// that takes int instead of MPI_Count fits as well, for members of less than 2³¹ elements.
using SerializeFileFunc = std::function<void(FILE*, int, void*, MPI_Count, MPI_Count)>;
/// The same with a stream over the file.
using SerializeStreamFunc = std::function<void(std::iostream&, int, void*, MPI_Count, MPI_Count)>;
using SerializeFunc = std::variant<SerializeFileFunc, SerializeStreamFunc>;

/// Fenix_Data_member_fcreate. The library owns the serializer: it is destroyed when another is set with member_define, with
/// member_delete and group_delete, and at Fenix_Finalize. Recovered ranks give it again with member_define.
int member_create(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                  SerializeFunc serializer);

/// Fenix_Data_member_define: a serializer stays as it is.
int member_define(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype);
/// Fenix_Data_member_fdefine; ownership as with member_create. An empty function removes the serializer.
int member_define(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                  SerializeFunc serializer);

/// Fenix_Data_member_created; false before init.
bool member_created(int group_id, int member_id);
/// Fenix_Data_member_delete. Destroys its serializer.
int member_delete(int group_id, int member_id);
/// Fenix_Data_member_footprint; none if there is no such member. Local.
std::optional<MPI_Count> member_footprint(int group_id, int member_id);

/// Fenix_Data_member_attr_set
int member_attr_set(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag = nullptr);
/// Fenix_Data_member_attr_get with this rank as source_rank.
int member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag = nullptr);
/// Fenix_Data_member_attr_get
int member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag, int source_rank);

// ------------------------------------------------------------------------------------------------------------ staging

/// Fenix_Data_member_stage
int member_stage(int group_id, int member_id, const DataSubset& subset = SUBSET_FULL);
/// Fenix_Data_member_stage_inplace
int member_stage_inplace(int group_id, int member_id, void* buf, const DataSubset& subset = SUBSET_FULL);
/// Fenix_Data_member_stage_memory
int member_stage_memory(int group_id, int member_id, void** memory);
/// Fenix_Data_member_stage_begin
int member_stage_begin(int group_id, int member_id, FILE** file);
/// The same with a stream over the file: binary, owned by the library, valid until member_stage_end. It is not buffered
/// besides the file, and does not throw unless it is told to.
int member_stage_begin(int group_id, int member_id, std::iostream** stream);
/// Fenix_Data_member_stage_end
int member_stage_end(int group_id, int member_id);

// ------------------------------------------------------------------------------------------------------------ storing

/// Fenix_Data_member_store
int member_store(int group_id, int member_id, const DataSubset& subset = SUBSET_FULL);
/// The same for all members.
inline int member_store(int group_id, const DataSubset& subset = SUBSET_FULL) {
  return member_store(group_id, FENIX_DATA_MEMBER_ALL, subset);
}

/// Fenix_Data_member_storev
int member_storev(int group_id, int member_id, const DataSubset& subset);
/// The same for all members.
inline int member_storev(int group_id, const DataSubset& subset) {
  return member_storev(group_id, FENIX_DATA_MEMBER_ALL, subset);
}

/// Fenix_Data_member_istore
int member_istore(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request);

struct MemberIstoreArgs {
  int member_id = FENIX_DATA_MEMBER_ALL;
  const DataSubset& subset = SUBSET_FULL;
};
/// Fenix_Data_member_istore with default arguments: all members, all elements.
inline int member_istore(int group_id, Fenix_Request* request, MemberIstoreArgs args = {}) {
  return member_istore(group_id, args.member_id, args.subset, request);
}

/// Fenix_Data_member_istorev
int member_istorev(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request);
/// The same for all members.
inline int member_istorev(int group_id, const DataSubset& subset, Fenix_Request* request) {
  return member_istorev(group_id, FENIX_DATA_MEMBER_ALL, subset, request);
}

/// Fenix_Data_wait
int wait(Fenix_Request request);
/// Fenix_Data_test
int test(Fenix_Request request, int* flag);

// --------------------------------------------------------------------------------------------------------- committing

/// Fenix_Data_commit
int commit(int group_id, int* time_stamp = nullptr);
/// Fenix_Data_commit_barrier
int commit_barrier(int group_id, int* time_stamp = nullptr);
/// Fenix_Data_commit_cleanup
int commit_cleanup(int group_id, int* time_stamp = nullptr);
/// Fenix_Data_cleanup
int cleanup(int group_id);
/// Fenix_Data_barrier
int barrier(int group_id);
/// Fenix_Data_checkpoint: all members; those with an id in storev_ids with member_storev.
int checkpoint(int group_id, const DataSubset& subset, const std::vector<int>& storev_ids = {},
               int* time_stamp = nullptr);
/// Fenix_Data_checkpointv: all members with member_storev.
int checkpointv(int group_id, const DataSubset& subset, int* time_stamp = nullptr);
/// Fenix_Data_snapshot_delete
int snapshot_delete(int group_id, int time_stamp);

// ---------------------------------------------------------------------------------------------------------- restoring

// data_found receives the elements found, if the call returns FENIX_SUCCESS or a warning; else it is as before.

// NOLINTBEGIN(performance-no-int-to-ptr): FENIX_DATA_RESTORE_INPLACE

/// Fenix_Data_member_restore
int member_restore(int group_id, int member_id, void* target_buffer = FENIX_DATA_RESTORE_INPLACE,
                   MPI_Count max_count = FENIX_DATA_RESTORE_FULL, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                   DataSubset& data_found = SUBSET_IGNORE);
/// Fenix_Data_member_restore_from_rank
int member_restore_from_rank(int group_id, int member_id, int source_rank,
                             void* target_buffer = FENIX_DATA_RESTORE_INPLACE,
                             MPI_Count max_count = FENIX_DATA_RESTORE_FULL, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                             DataSubset& data_found = SUBSET_IGNORE);
/// Fenix_Data_member_lrestore
[[deprecated("use member_load")]] int member_lrestore(int group_id, int member_id,
                                                      void* target_buffer = FENIX_DATA_RESTORE_INPLACE,
                                                      MPI_Count max_count = FENIX_DATA_RESTORE_FULL,
                                                      int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                                                      DataSubset& data_found = SUBSET_IGNORE);

// NOLINTEND(performance-no-int-to-ptr)

/// Fenix_Data_member_load
int member_load(int group_id, int member_id, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                DataSubset& data_found = SUBSET_IGNORE);
/// Fenix_Data_member_load_to
int member_load(int group_id, int member_id, void* target_buffer, MPI_Count max_count = FENIX_DATA_RESTORE_FULL,
                int time_stamp = FENIX_DATA_SNAPSHOT_ALL, DataSubset& data_found = SUBSET_IGNORE);
/// Fenix_Data_member_load_begin
int member_load_begin(int group_id, int member_id, FILE** file, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST,
                      DataSubset& data_found = SUBSET_IGNORE);
/// The same with a stream over the file, as with member_stage_begin; valid until member_load_end.
int member_load_begin(int group_id, int member_id, std::iostream** stream, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST,
                      DataSubset& data_found = SUBSET_IGNORE);
/// Fenix_Data_member_load_end
int member_load_end(int group_id, int member_id);

/// Fenix_Data_member_repair
int member_repair(int group_id, int member_id);
/// Fenix_Data_verify
int verify(int group_id, int* num_mended = nullptr, int* num_lost = nullptr);

}  // namespace data
}  // namespace fenix

#endif

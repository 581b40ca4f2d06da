// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface to data groups, implemented by calls of the C interface. Calls that may meet a failure have no
// object with a destructor in their frames, because control may leave by longjmp.
#include <fenix.hpp>

#include "api/c/attributes.hpp"
#include "api/cxx/cxx_subset.hpp"
#include "api/cxx/cxx_throw.hpp"
#include "runtime/entry.hpp"

using namespace fenix_impl;

namespace fenix::data {
namespace {

/// The argument found_data of one C call, and its conversion into a DataSubset.
class Found {
 public:
  explicit Found(DataSubset& target) : target_(&target == &SUBSET_IGNORE ? nullptr : &target) {}
  Fenix_Data_subset* out() { return target_ == nullptr ? FENIX_DATA_SUBSET_IGNORE : &subset_; }
  /// Converts the elements found, unless the call returned an error. Returns code.
  int take(int code) {
    if (target_ == nullptr || thrown(code) < FENIX_SUCCESS) return thrown(code);
    const Subset owner(subset_);
    *target_ = DataSubset(subset_);
    return code;
  }

 private:
  DataSubset* target_;
  Fenix_Data_subset subset_ = FENIX_SUBSET_NULL;
};

/// Calls call with these elements as a subset of C.
template <class Call>
int with_subset(const DataSubset& elements, Call&& call) {
  Fenix_Data_subset subset = FENIX_SUBSET_NULL;
  const int code = lend_subset(elements, subset);
  return thrown(code == FENIX_SUCCESS ? call(subset) : code);
}

/// Converts a target: null is the source buffer, as in the current Fenix.
void* or_in_place(void* target) { return target == nullptr ? FENIX_DATA_RESTORE_INPLACE : target; }

/// Lists the entries at positions 0, 1, … of a group. Returns no value if one of them cannot be read.
template <class GetNumber, class GetEntry>
std::optional<std::vector<int>> list_of(int group_id, GetNumber get_number, GetEntry get_entry) {
  int number = 0;
  if (!group_created(group_id) || get_number(group_id, &number) != FENIX_SUCCESS) return std::nullopt;
  std::vector<int> entries(static_cast<std::size_t>(number));
  for (int position = 0; position < number; ++position) {
    if (get_entry(position, &entries[static_cast<std::size_t>(position)]) != FENIX_SUCCESS) return std::nullopt;
  }
  return entries;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- groups

int group_create(int group_id, MPI_Comm comm, int start_time_stamp, int depth, int policy_name, void* policy_value,
                 int* flag) {
  return thrown(Fenix_Data_group_create(group_id, comm, start_time_stamp, depth, policy_name, policy_value, flag));
}

int group_create(int group_id, GroupCreateArgs args) {
  const bool all = args.comm == MPI_COMM_NULL && runtime().use().ready();
  return thrown(Fenix_Data_group_create(group_id, all ? runtime().process().comms().name() : args.comm,
                                        args.start_time_stamp, args.depth, args.policy_name, args.policy_value,
                                        args.flag));
}

bool group_created(int group_id) { return Fenix_Data_group_created(group_id) == 1; }

int group_delete(int group_id) {
  const int code = thrown(Fenix_Data_group_delete(group_id));
  if (code == FENIX_SUCCESS) runtime().attachments().drop_group(group_id);
  return code;
}

int group_get_redundancy_policy(int group_id, int* policy_name, void* policy_value, int* flag) {
  return thrown(Fenix_Data_group_get_redundancy_policy(group_id, policy_name, policy_value, flag));
}

int group_set_redundancy_policy(int group_id, int policy_name, void* policy_value, int* flag) {
  return thrown(Fenix_Data_group_set_redundancy_policy(group_id, policy_name, policy_value, flag));
}

int group_set_hashing(int group_id, bool hashing) {
  return thrown(Fenix_Data_group_set_hashing(group_id, hashing ? 1 : 0));
}

int group_set_in_place(int group_id, bool in_place) {
  return thrown(Fenix_Data_group_set_in_place(group_id, in_place ? 1 : 0));
}

std::optional<bool> group_in_place(int group_id) {
  int in_place = 0;
  if (Fenix_Data_group_get_in_place(group_id, &in_place) != FENIX_SUCCESS) return std::nullopt;
  return in_place != 0;
}

std::optional<bool> group_hashing(int group_id) {
  int hashing = 0;
  if (Fenix_Data_group_get_hashing(group_id, &hashing) != FENIX_SUCCESS) return std::nullopt;
  return hashing != 0;
}

std::optional<std::vector<int>> group_members(int group_id) {
  return list_of(group_id, Fenix_Data_group_get_number_of_members, [&](int position, int* id) {
    return Fenix_Data_group_get_member_at_position(group_id, id, position);
  });
}

MPI_Group group_cohort(int group_id) {
  MPI_Group cohort = MPI_GROUP_NULL;
  (void)thrown(Fenix_Data_group_get_cohort(group_id, &cohort));
  return cohort;
}

std::optional<std::vector<int>> group_snapshots(int group_id) {
  return list_of(group_id, Fenix_Data_group_get_number_of_snapshots, [&](int position, int* time_stamp) {
    return Fenix_Data_group_get_snapshot_at_position(group_id, position, time_stamp);
  });
}

// ------------------------------------------------------------------------------------------------------------ members

int member_create(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype) {
  return thrown(Fenix_Data_member_create_c(group_id, member_id, buffer, count, datatype));
}

int member_define(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype) {
  return member_define(group_id, member_id, buffer, count, datatype, SerializeFileFunc());
}

int member_allocate(int group_id, int member_id, MPI_Count count, MPI_Datatype datatype, void* baseptr) {
  const int code = thrown(Fenix_Data_member_allocate_c(group_id, member_id, count, datatype, baseptr));
  if (code == FENIX_SUCCESS) runtime().attachments().drop_member(group_id, member_id);
  return code;
}

bool member_created(int group_id, int member_id) { return Fenix_Data_member_created(group_id, member_id) == 1; }

int member_delete(int group_id, int member_id) {
  const int code = thrown(Fenix_Data_member_delete(group_id, member_id));
  if (code == FENIX_SUCCESS) runtime().attachments().drop_member(group_id, member_id);
  return code;
}

std::optional<MPI_Count> member_footprint(int group_id, int member_id) {
  MPI_Count bytes = 0;
  if (Fenix_Data_member_footprint(group_id, member_id, &bytes) != FENIX_SUCCESS) return std::nullopt;
  return bytes;
}

int member_attr_set(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag) {
  return thrown(Fenix_Data_member_attr_set(group_id, member_id, attribute_name, attribute_value, flag));
}

int member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag) {
  return thrown(fenix_detail_own_attr_get(group_id, member_id, attribute_name, attribute_value, flag));
}

int member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                    int source_rank) {
  return thrown(Fenix_Data_member_attr_get(group_id, member_id, attribute_name, attribute_value, flag, source_rank));
}

// ------------------------------------------------------------------------------------------------------------ staging

int member_stage(int group_id, int member_id, const DataSubset& subset) {
  return with_subset(subset, [&](Fenix_Data_subset s) { return Fenix_Data_member_stage(group_id, member_id, s); });
}

int member_stage_inplace(int group_id, int member_id, void* buf, const DataSubset& subset) {
  return with_subset(subset,
                     [&](Fenix_Data_subset s) { return Fenix_Data_member_stage_inplace(group_id, member_id, buf, s); });
}

int member_stage_memory(int group_id, int member_id, void** memory) {
  return thrown(Fenix_Data_member_stage_memory(group_id, member_id, memory));
}

int member_stage_begin(int group_id, int member_id, FILE** file) {
  return thrown(Fenix_Data_member_stage_begin(group_id, member_id, file));
}

// ------------------------------------------------------------------------------------------------------------ storing

int member_store(int group_id, int member_id, const DataSubset& subset) {
  return with_subset(subset, [&](Fenix_Data_subset s) { return Fenix_Data_member_store(group_id, member_id, s); });
}

int member_storev(int group_id, int member_id, const DataSubset& subset) {
  return with_subset(subset, [&](Fenix_Data_subset s) { return Fenix_Data_member_storev(group_id, member_id, s); });
}

int member_istore(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request) {
  return with_subset(subset,
                     [&](Fenix_Data_subset s) { return Fenix_Data_member_istore(group_id, member_id, s, request); });
}

int member_istorev(int group_id, int member_id, const DataSubset& subset, Fenix_Request* request) {
  return with_subset(subset,
                     [&](Fenix_Data_subset s) { return Fenix_Data_member_istorev(group_id, member_id, s, request); });
}

int wait(Fenix_Request request) { return thrown(Fenix_Data_wait(request)); }
int test(Fenix_Request request, int* flag) { return thrown(Fenix_Data_test(request, flag)); }

// --------------------------------------------------------------------------------------------------------- committing

int commit(int group_id, int* time_stamp) { return thrown(Fenix_Data_commit(group_id, time_stamp)); }
int commit_barrier(int group_id, int* time_stamp) { return thrown(Fenix_Data_commit_barrier(group_id, time_stamp)); }
int commit_cleanup(int group_id, int* time_stamp) { return thrown(Fenix_Data_commit_cleanup(group_id, time_stamp)); }
int cleanup(int group_id) { return thrown(Fenix_Data_cleanup(group_id)); }
int barrier(int group_id) { return thrown(Fenix_Data_barrier(group_id)); }

int checkpoint(int group_id, const DataSubset& subset, const std::vector<int>& storev_ids, int* time_stamp) {
  // The array is only read. The signature has no const, because it is that of the current Fenix.
  int* ids = storev_ids.empty() ? nullptr : const_cast<int*>(storev_ids.data());
  const int number = static_cast<int>(storev_ids.size());
  return with_subset(subset,
                     [&](Fenix_Data_subset s) { return Fenix_Data_checkpoint(group_id, s, number, ids, time_stamp); });
}

int checkpointv(int group_id, const DataSubset& subset, int* time_stamp) {
  return with_subset(subset, [&](Fenix_Data_subset s) { return Fenix_Data_checkpointv(group_id, s, time_stamp); });
}

int snapshot_delete(int group_id, int time_stamp) { return thrown(Fenix_Data_snapshot_delete(group_id, time_stamp)); }

// ---------------------------------------------------------------------------------------------------------- restoring

int member_restore(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                   DataSubset& data_found) {
  Found found(data_found);
  return found.take(
      Fenix_Data_member_restore_c(group_id, member_id, or_in_place(target_buffer), max_count, time_stamp, found.out()));
}

int member_restore_from_rank(int group_id, int member_id, int source_rank, void* target_buffer, MPI_Count max_count,
                             int time_stamp, DataSubset& data_found) {
  Found found(data_found);
  return found.take(Fenix_Data_member_restore_from_rank_c(group_id, member_id, or_in_place(target_buffer), max_count,
                                                          time_stamp, found.out(), source_rank));
}

int member_lrestore(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                    DataSubset& data_found) {
  Found found(data_found);
  return found.take(Fenix_Data_member_lrestore_c(group_id, member_id, or_in_place(target_buffer), max_count, time_stamp,
                                                 found.out()));
}

int member_load(int group_id, int member_id, int time_stamp, DataSubset& data_found) {
  Found found(data_found);
  return found.take(Fenix_Data_member_load(group_id, member_id, time_stamp, found.out()));
}

int member_load(int group_id, int member_id, void* target_buffer, MPI_Count max_count, int time_stamp,
                DataSubset& data_found) {
  Found found(data_found);
  return found.take(
      Fenix_Data_member_load_to_c(group_id, member_id, or_in_place(target_buffer), max_count, time_stamp, found.out()));
}

int member_load_begin(int group_id, int member_id, FILE** file, int time_stamp, DataSubset& data_found) {
  Found found(data_found);
  return found.take(Fenix_Data_member_load_begin(group_id, member_id, file, time_stamp, found.out()));
}

int member_repair(int group_id, int member_id) { return thrown(Fenix_Data_member_repair(group_id, member_id)); }

int verify(int group_id, int* num_mended, int* num_lost) {
  return thrown(Fenix_Data_verify(group_id, num_mended, num_lost));
}

}  // namespace fenix::data

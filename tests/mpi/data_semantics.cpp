// SPDX-License-Identifier: BSD-3-Clause
// Data as programs for the current Fenix expect it: the snapshot that a restore takes, how much of it, and the target;
// the snapshots of a rank; ids; attributes. 3 ranks.
#include <array>
#include <climits>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kCount = 8;
constexpr int kLatest = FENIX_DATA_SNAPSHOT_LATEST;
constexpr int kFull = FENIX_DATA_RESTORE_FULL;
constexpr int kUntouched = -1;

using Values = std::array<int, kCount>;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;

int value_of(int owner, int snapshot, int i) { return owner * 1000 + snapshot * 100 + i; }

Values values_of(int owner, int snapshot) {
  Values values{};
  for (int i = 0; i < kCount; ++i) values[static_cast<std::size_t>(i)] = value_of(owner, snapshot, i);
  return values;
}

Values untouched() {
  Values values{};
  values.fill(kUntouched);
  return values;
}

int size_of(const Fenix_Data_subset& subset) {
  MPI_Count blocks = 0;
  success(Fenix_Data_subset_get_number_of_blocks(subset, &blocks), "number_of_blocks");
  if (blocks == 0) return 0;
  MPI_Count first = 0;
  MPI_Count last = 0;
  success(Fenix_Data_subset_get_block(subset, blocks - 1, &first, &last), "get_block");
  return static_cast<int>(last) + 1;
}

// Groups of one member 0 with the snapshots given.
void make_snapshots(int group, int depth, int start, int number, Values& buffer) {
  success(Fenix_Data_group_create(group, comm, start, depth, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
  success(Fenix_Data_member_create(group, 0, buffer.data(), kCount, MPI_INT), "member_create");
  for (int snapshot = start; snapshot < start + number; ++snapshot) {
    buffer = values_of(rank, snapshot);
    success(Fenix_Data_member_store(group, 0, FENIX_DATA_SUBSET_FULL), "store");
    success(Fenix_Data_commit_barrier(group, nullptr), "commit_barrier");
  }
}

// ---------------------------------------------------------------------------------------------------------- time stamps

using Restore = int (*)(int group, void* target, int max_count, int time_stamp, Fenix_Data_subset* found);

int restore(int group, void* target, int max_count, int time_stamp, Fenix_Data_subset* found) {
  return Fenix_Data_member_restore(group, 0, target, max_count, time_stamp, found);
}
int lrestore(int group, void* target, int max_count, int time_stamp, Fenix_Data_subset* found) {
  return Fenix_Data_member_lrestore(group, 0, target, max_count, time_stamp, found);
}
int load_to(int group, void* target, int max_count, int time_stamp, Fenix_Data_subset* found) {
  return Fenix_Data_member_load_to(group, 0, target, max_count, time_stamp, found);
}
int from_own_rank(int group, void* target, int max_count, int time_stamp, Fenix_Data_subset* found) {
  return Fenix_Data_member_restore_from_rank(group, 0, target, max_count, time_stamp, found, rank);
}

constexpr Restore kRestores[] = {restore, lrestore, load_to, from_own_rank};

// A time stamp that is no snapshot takes the newest one before it.
void check_time_stamps() {
  constexpr int kGroup = 1;
  static Values buffer;
  make_snapshots(kGroup, 2, 10, 4, buffer);  // 11, 12, 13 are left
  success(Fenix_Data_snapshot_delete(kGroup, 12), "snapshot_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
  const auto gives = [&](Restore call, int time_stamp, int snapshot) {
    Values got = untouched();
    success(call(kGroup, got.data(), kCount, time_stamp, nullptr), "restore of " + std::to_string(time_stamp));
    require(got == values_of(rank, snapshot), "another snapshot than " + std::to_string(snapshot));
  };
  for (const Restore call : kRestores) {
    gives(call, 11, 11);
    gives(call, 12, 11);
    gives(call, 13, 13);
    gives(call, 14, 13);
    gives(call, FENIX_TIME_STAMP_MAX, 13);
    gives(call, INT_MAX, 13);
    for (const int too_old : {0, 10}) {
      Values got = untouched();
      expect_equal(call(kGroup, got.data(), kCount, too_old, nullptr), FENIX_ERROR_NODATA_FOUND, "restore before all");
      require(got == untouched(), "an error that wrote");
    }
    expect_equal(call(kGroup, buffer.data(), kCount, -7, nullptr), FENIX_ERROR_INVALID_TIMESTAMP, "restore of -7");
  }
  buffer = untouched();
  success(Fenix_Data_member_load(kGroup, 0, 12, nullptr), "load");
  require(buffer == values_of(rank, 11), "load took another snapshot");
  std::FILE* file = nullptr;
  success(Fenix_Data_member_load_begin(kGroup, 0, &file, FENIX_TIME_STAMP_MAX, nullptr), "load_begin");
  Values got = untouched();
  require(std::fread(got.data(), sizeof got, 1, file) == 1 && got == values_of(rank, 13), "another file");
  success(Fenix_Data_member_load_end(kGroup, 0), "load_end");
  expect_equal(Fenix_Data_member_load_begin(kGroup, 0, &file, 10, nullptr), FENIX_ERROR_NODATA_FOUND, "load_begin");
  expect_equal(Fenix_Data_snapshot_delete(kGroup, 12), FENIX_ERROR_INVALID_TIMESTAMP,
               "deletion of what is no snapshot");
}

// -------------------------------------------------------------------------------------------------------------- targets

// max_count is the number of elements that are wanted, from the first one on.
void check_max_counts() {
  constexpr int kGroup = 2;
  static Values buffer;
  make_snapshots(kGroup, 0, 0, 1, buffer);
  const Values all = values_of(rank, 0);
  for (const Restore call : kRestores) {
    for (const int most : {0, 1, kCount - 1, kCount, kCount + 1}) {
      std::array<int, kCount + 1> got{};
      got.fill(kUntouched);
      Fenix_Data_subset found{};
      const std::string what = "restore of " + std::to_string(most);
      expect_equal(call(kGroup, got.data(), most, kLatest, &found),
                   most > kCount ? FENIX_WARNING_PARTIAL_RESTORE : FENIX_SUCCESS, what);
      expect_equal(size_of(found), kCount, "elements found by a " + what);
      success(Fenix_Data_subset_delete(&found), "subset_delete");
      for (int i = 0; i <= kCount; ++i) {
        const auto at = static_cast<std::size_t>(i);
        expect_equal(got[at], i < std::min(most, kCount) ? all[at] : kUntouched, "element " + std::to_string(i));
      }
    }
  }
  // One rank may want less than another.
  Values got = untouched();
  success(Fenix_Data_member_restore(kGroup, 0, got.data(), rank == 1 ? 2 : kCount, kLatest, nullptr), "restore");
  expect_equal(got[2], rank == 1 ? kUntouched : all[2], "element 2");
}

// A member of which some elements were never stored.
void check_partly_stored() {
  constexpr int kGroup = 3;
  static Values buffer = values_of(rank, 0);
  success(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
  success(Fenix_Data_member_create(kGroup, 0, buffer.data(), kCount, MPI_INT), "member_create");
  Fenix_Data_subset two{};
  success(Fenix_Data_subset_create(2, 0, 1, 4, &two), "subset_create");  // 0, 1, 4, 5
  success(Fenix_Data_member_store(kGroup, 0, two), "store");
  success(Fenix_Data_subset_delete(&two), "subset_delete");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  for (const Restore call : kRestores) {
    Values got = untouched();
    success(call(kGroup, got.data(), 2, kLatest, nullptr), "restore of what was stored");
    require(got[1] == value_of(rank, 0, 1) && got[4] == kUntouched, "other elements than the first two");
    expect_equal(call(kGroup, got.data(), 3, kLatest, nullptr), FENIX_WARNING_PARTIAL_RESTORE, "restore of more");
    expect_equal(call(kGroup, got.data(), kFull, kLatest, nullptr), FENIX_WARNING_PARTIAL_RESTORE, "restore of all");
    expect_equal(got[5], value_of(rank, 0, 5), "element 5");
    // The question what there is.
    Fenix_Data_subset found{};
    success(call(kGroup, nullptr, 0, kLatest, &found), "restore into NULL with max_count 0");
    expect_equal(size_of(found), 6, "elements found");
    success(Fenix_Data_subset_delete(&found), "subset_delete");
  }
}

// A null target is the source buffer in C++. In C it is refused where a program would go on without its data.
void check_null_targets() {
  constexpr int kGroup = 4;
  namespace data = fenix::data;
  static Values buffer;
  make_snapshots(kGroup, 0, 0, 1, buffer);
  const Values stored = values_of(rank, 0);
  for (const Restore call : kRestores) {
    for (const int most : {kFull, 1, kCount}) {
      buffer = untouched();
      expect_equal(call(kGroup, nullptr, most, kLatest, nullptr), FENIX_ERROR_INVALID_ARGUMENT, "NULL in C");
      require(buffer == untouched(), "an error that wrote");
    }
    buffer = untouched();
    success(call(kGroup, FENIX_DATA_RESTORE_INPLACE, 3, kLatest, nullptr), "restore in place");
    require(buffer[2] == stored[2] && buffer[3] == kUntouched, "other elements than the first three");
  }
  const auto in_place = [&](int code, const char* call) {
    success(code, call);
    require(buffer == stored, std::string(call) + " left the source buffer as it was");
    buffer = untouched();
  };
  buffer = untouched();
  in_place(data::member_restore(kGroup, 0, nullptr), "member_restore");
  in_place(data::member_restore(kGroup, 0, nullptr, kCount, kLatest), "member_restore with max_count");
  in_place(data::member_restore_from_rank(kGroup, 0, rank, nullptr), "member_restore_from_rank");
  in_place(data::member_load(kGroup, 0, nullptr, kCount, kLatest), "member_load");
  fenix::DataSubset found;
  success(data::member_restore(kGroup, 0, nullptr, 0, FENIX_TIME_STAMP_MAX, found), "member_restore of nothing");
  require(buffer == untouched() && found.end() == kCount - 1, "max_count 0");
  // Without a source buffer, NULL says that a rank does not need the data.
  int flag = 0;
  success(Fenix_Data_member_attr_set(kGroup, 0, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, nullptr, &flag),
          "attr_set of NULL");
  expect_equal(flag, 1, "flag of attr_set");
  for (const Restore call : kRestores) success(call(kGroup, nullptr, kCount, kLatest, nullptr), "NULL in C");
  expect_equal(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), FENIX_ERROR_INVALID_ARGUMENT,
               "store of NULL");
  success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_EMPTY), "store of nothing");
}

// ------------------------------------------------------------------------------------------------------------ snapshots

void expect_snapshots(int group, const std::vector<int>& wanted, const std::string& when) {
  int number = -1;
  success(Fenix_Data_group_get_number_of_snapshots(group, &number), "number_of_snapshots");
  expect_equal(number, static_cast<long>(wanted.size()), "snapshots " + when);
  for (int position = 0; position < number; ++position) {
    int time_stamp = -1;
    success(Fenix_Data_group_get_snapshot_at_position(group, position, &time_stamp), "snapshot_at_position");
    expect_equal(time_stamp, wanted[static_cast<std::size_t>(position)], "time stamp " + when);
  }
  require(fenix::data::group_snapshots(group) == wanted, "group_snapshots " + when);
}

void commit_alone(int group, int snapshot, Values& buffer) {
  buffer = values_of(rank, snapshot);
  success(Fenix_Data_member_store(group, 0, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit(group, nullptr), "commit");
}

// Each rank sees its own commits, newest first and depth + 1 at most, whether the others have made them or not.
void check_own_snapshots() {
  constexpr int kGroup = 5;
  static Values buffer;
  make_snapshots(kGroup, 2, 0, 1, buffer);
  const std::vector<std::vector<int>> views{{0}, {1, 0}, {2, 1, 0}, {3, 2, 1}};
  // The ranks come one after the other: the first is ahead of all, the last finds that all have committed.
  for (int turn = 0; turn < 3; ++turn) {
    if (turn == rank) {
      for (int snapshot = 1; snapshot <= 3; ++snapshot) {
        commit_alone(kGroup, snapshot, buffer);
        expect_snapshots(kGroup, views[static_cast<std::size_t>(snapshot)], "after commit " + std::to_string(snapshot));
      }
      Values got = untouched();
      success(Fenix_Data_member_load_to(kGroup, 0, got.data(), kCount, 2, nullptr), "load_to");
      require(got == values_of(rank, 2), "load_to of an own commit");
      expect_equal(Fenix_Data_member_load_to(kGroup, 0, got.data(), kCount, 0, nullptr), FENIX_ERROR_NODATA_FOUND,
                   "load_to of a snapshot older than depth");
      // Snapshots older than depth do not come back.
      success(Fenix_Data_snapshot_delete(kGroup, 3), "snapshot_delete");
      expect_snapshots(kGroup, {2, 1}, "after snapshot_delete");
    }
    MPI_Barrier(comm);
  }
  expect_snapshots(kGroup, {2, 1}, "at the end");
  expect_equal(Fenix_Data_snapshot_delete(kGroup, 0), FENIX_ERROR_INVALID_TIMESTAMP, "deletion of what is too old");
  expect_equal(Fenix_Data_snapshot_delete(kGroup, kLatest), FENIX_ERROR_INVALID_TIMESTAMP, "deletion of -1");
  expect_snapshots(kGroup, {2, 1}, "after refused deletions");
  success(Fenix_Data_snapshot_delete(kGroup, FENIX_DATA_SNAPSHOT_ALL), "deletion of all");
  expect_snapshots(kGroup, {}, "after the deletion of all");
}

// ----------------------------------------------------------------------------------------------------------- attributes

template <class T>
T attribute(int group, int name, int source = -1) {
  T value{};
  int flag = 0;
  const int from = source < 0 ? rank : source;
  success(Fenix_Data_member_attr_get(group, 0, name, &value, &flag, from), "attr_get");
  expect_equal(flag, 1, "flag of attr_get");
  // The C++ form without a source rank is local, as in the current Fenix: here one rank calls it.
  if (rank == 0 && from == rank && name != FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE) {
    T own{};
    success(fenix::data::member_attr_get(group, 0, name, &own, &flag), "member_attr_get");
    require(own == value, "member_attr_get gives another value");
  }
  return value;
}

// The type that attr_get gives is the caller's: two of them are freed, and the member goes on.
void check_types(int group, Values& buffer) {
  for (int i = 0; i < 2; ++i) {
    auto type = attribute<MPI_Datatype>(group, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE);
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    expect_equal(bytes, sizeof(int), "size of the type");
    expect_equal(MPI_Type_free(&type), MPI_SUCCESS, "MPI_Type_free of what attr_get gave");
  }
  auto type = attribute<MPI_Datatype>(group, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE);
  buffer = values_of(rank, 7);
  success(Fenix_Data_member_store(group, 0, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(group, nullptr), "commit_barrier");
  Values got = untouched();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(got.data(), kCount, type, (rank + 2) % 3, 0, comm, &request);
  MPI_Send(buffer.data(), kCount, type, (rank + 1) % 3, 0, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  require(got == values_of((rank + 2) % 3, 7), "the type cannot be used");
  MPI_Type_free(&type);
}

// A count that is set to FENIX_RESIZEABLE, and back.
void check_resizing(int group, std::vector<int>& data) {
  int flag = 0;
  int count = 4;
  success(Fenix_Data_member_create(group, 0, data.data(), count, MPI_INT), "member_create");
  int resizeable = FENIX_RESIZEABLE;
  constexpr int kCountName = FENIX_DATA_MEMBER_ATTRIBUTE_COUNT;
  success(Fenix_Data_member_attr_set(group, 0, kCountName, &resizeable, &flag), "attr_set of FENIX_RESIZEABLE");
  expect_equal(attribute<int>(group, kCountName), 0, "count without a snapshot");
  for (const int size : {5 + rank, 3 + rank}) {
    data.assign(static_cast<std::size_t>(size), 10 * size);
    success(Fenix_Data_member_attr_set(group, 0, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, data.data(), &flag), "attr_set");
    success(fenix::data::member_storev(group, 0, fenix::DataSubset({0, data.size() - 1})), "member_storev");
    success(Fenix_Data_commit_barrier(group, nullptr), "commit_barrier");
    expect_equal(attribute<int>(group, kCountName), size, "count of the latest snapshot");
    expect_equal(attribute<int>(group, kCountName, 2), size - rank + 2, "count on rank 2");
    expect_equal(static_cast<long>(attribute<std::size_t>(group, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE)),
                 static_cast<long>(sizeof(int)) * size, "bytes of the latest snapshot");
  }
  expect_equal(Fenix_Data_member_attr_set(group, 0, kCountName, &count, &flag), FENIX_ERROR_INVALID_LOGIC_CALL,
               "attr_set of a count after a store");
  success(Fenix_Data_member_attr_set(group, 0, kCountName, &resizeable, &flag), "attr_set of the same count");
  success(Fenix_Data_member_delete(group, 0), "member_delete");
  success(Fenix_Data_barrier(group), "barrier");
  // Two ranks only: the member has a fixed count, of which they have nothing.
  data.assign(4, rank);
  success(Fenix_Data_member_create(group, 0, data.data(), FENIX_RESIZEABLE, MPI_INT), "member_create");
  if (rank == 1) success(Fenix_Data_member_attr_set(group, 0, kCountName, &count, &flag), "attr_set of 4");
  success(Fenix_Data_member_store(group, 0, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(group, nullptr), "commit_barrier");
  expect_equal(attribute<int>(group, kCountName, 1), 4, "count on rank 1");
  expect_equal(attribute<int>(group, kCountName, 0), 0, "count on rank 0");
  success(Fenix_Data_member_delete(group, 0), "member_delete");
  success(Fenix_Data_barrier(group), "barrier");
  // Ranks that had nothing of a fixed count say the same as the others when the count becomes FENIX_RESIZEABLE.
  success(Fenix_Data_member_create(group, 0, data.data(), rank == 1 ? count : 0, MPI_INT), "member_create");
  success(Fenix_Data_member_define(group, 0, data.data(), FENIX_RESIZEABLE, MPI_INT), "member_define");
  success(fenix::data::member_storev(group, 0, fenix::DataSubset({0, static_cast<std::size_t>(rank)})),
          "member_storev");
  success(Fenix_Data_commit_barrier(group, nullptr), "commit_barrier");
  expect_equal(attribute<int>(group, kCountName), rank + 1, "count of a member that became FENIX_RESIZEABLE");
  success(Fenix_Data_member_delete(group, 0), "member_delete");
  success(Fenix_Data_barrier(group), "barrier");
}

// Ints with a gap behind each: sizes of attributes count it, stored bytes do not.
void check_attributes() {
  constexpr int kGroup = 6;
  static Values buffer;
  make_snapshots(kGroup, 0, 0, 1, buffer);
  expect_equal(attribute<int>(kGroup, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT), kCount, "count");
  expect_equal(static_cast<long>(attribute<std::size_t>(kGroup, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE)), sizeof buffer,
               "bytes of the buffer");
  MPI_Count bytes = 0;
  int flag = 0;
  success(Fenix_Data_member_attr_get_c(kGroup, 0, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE, &bytes, &flag, 1), "attr_get_c");
  expect_equal(static_cast<long>(bytes), sizeof buffer, "bytes of the buffer of rank 1");
  require(attribute<void*>(kGroup, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER) == buffer.data(), "another buffer");
  check_types(kGroup, buffer);
  success(Fenix_Data_member_delete(kGroup, 0), "member_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");

  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
  MPI_Type_commit(&every_other);
  success(Fenix_Data_member_create(kGroup, 0, buffer.data(), kCount / 2, every_other), "member_create");
  MPI_Type_free(&every_other);
  expect_equal(static_cast<long>(attribute<std::size_t>(kGroup, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE)), sizeof buffer,
               "bytes of a buffer with gaps");
  success(Fenix_Data_member_delete(kGroup, 0), "member_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
  static std::vector<int> data(4);
  check_resizing(kGroup, data);
}

// ------------------------------------------------------------------------------------------------------- ids and subsets

// All numbers are ids, but those that mean something else.
void check_ids() {
  static Values buffer = values_of(rank, 0);
  for (const int group : {INT_MIN, -1, INT_MAX, FENIX_GROUP_ID_MAX}) {
    success(Fenix_Data_group_create(group, comm, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, nullptr), "group_create");
    const std::vector<int> members{INT_MIN, -2, INT_MAX, FENIX_MEMBER_ID_MAX};
    for (const int member : members) {
      success(Fenix_Data_member_create(group, member, buffer.data(), kCount, MPI_INT), "member_create");
    }
    expect_equal(Fenix_Data_member_create(group, FENIX_DATA_MEMBER_ALL, buffer.data(), kCount, MPI_INT),
                 FENIX_ERROR_INVALID_MEMBERID, "member_create of FENIX_DATA_MEMBER_ALL");
    require(fenix::data::group_members(group) == members, "other members");
    success(Fenix_Data_member_store(group, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL), "store of all");
    success(Fenix_Data_commit_barrier(group, nullptr), "commit_barrier");
    for (const int member : members) {
      Values got = untouched();
      success(Fenix_Data_member_restore(group, member, got.data(), kCount, kLatest, nullptr), "restore");
      require(got == buffer, "other values");
    }
    success(Fenix_Data_group_delete(group), "group_delete");
    expect_equal(Fenix_Data_group_created(group), 0, "group_created");
  }
}

// A subset without an end ends with the member.
void check_endless_subsets() {
  constexpr int kGroup = 7;
  constexpr std::size_t kNoEnd = fenix::DataSubset::MAX;
  static Values buffer;
  make_snapshots(kGroup, 0, 0, 1, buffer);
  buffer = values_of(rank, 1);
  success(fenix::data::member_store(kGroup, 0, fenix::DataSubset({5, kNoEnd})), "member_store from 5 on");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  Values got = untouched();
  success(Fenix_Data_member_restore(kGroup, 0, got.data(), kCount, kLatest, nullptr), "restore");
  for (int i = 0; i < kCount; ++i) {
    expect_equal(got[static_cast<std::size_t>(i)], value_of(rank, i < 5 ? 0 : 1, i), "element " + std::to_string(i));
  }
  success(fenix::data::member_store(kGroup, 0, fenix::DataSubset({kCount, kNoEnd})), "member_store of nothing");
  check::expect_thrown(FENIX_ERROR_SUBSET_END_OFFSET, "member_store beyond the member", [] {
    (void)fenix::data::member_store(kGroup, 0, fenix::DataSubset({5, kCount}));
  });
}

}  // namespace

// Without an argument all checks are made, otherwise the one that is named.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int role = -1;
  int error = -1;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, &error);
  MPI_Comm_rank(comm, &rank);
  const std::pair<const char*, void (*)()> checks[] = {
      {"time_stamps", check_time_stamps},
      {"max_counts", check_max_counts},
      {"partly_stored", check_partly_stored},
      {"null_targets", check_null_targets},
      {"own_snapshots", check_own_snapshots},
      {"attributes", check_attributes},
      {"ids", check_ids},
      {"endless_subsets", check_endless_subsets},
  };
  for (const auto& [name, run] : checks) {
    check::context() = std::string(name) + ": ";
    if (argc < 2 || std::strcmp(argv[1], name) == 0) run();
  }
  Fenix_Finalize();
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

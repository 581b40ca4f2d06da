// SPDX-License-Identifier: BSD-3-Clause
// Commits in place: the rules of the setting, what is stored in all ways, and commits that end with an error without a repair. Tests
// that kill ranks in such commits run the program scenario. Arguments: rules, or the name of a policy and one of
//   stores     each way to store, on 4 ranks and a spare; rank 2 dies between two commits
//   allocated  the same with buffers that the library has allocated
//   late       a rank is so late in a commit that the others give up (FENIX_FAULT); the commit counts
//   missing    a rank never comes to a commit, and the others give up; the commit does not count
//   reader     a rank is so late with reading the buffers of the others that they give up (FENIX_FAULT); the commit does not count
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 3;
constexpr int kLatest = FENIX_DATA_SNAPSHOT_LATEST;
constexpr int kFull = FENIX_DATA_RESTORE_FULL;
constexpr int kDead = 2;
// So many that there are several blocks of hashes, and the last one is not whole.
constexpr int kCount = 50'000;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int role = -1;
int error = 0;
std::string policy;
bool allocates = false;

void create(int depth = 0) {
  static std::array<int, 3> parity{5, 1, 4};
  static std::array<int, 3> codes{1, 4, 2};
  static std::array<int, 2> pairs{1, 1};
  static std::array<int, 1> ring{1};
  struct Choice {
    const char* name;
    int policy;
    int* values;
  };
  const Choice choices[] = {{"buddies", FENIX_DATA_POLICY_IN_MEMORY_RAID, pairs.data()},
                            {"ring", FENIX_DATA_POLICY_PEER_RANK_SEPARATION, ring.data()},
                            {"xor", FENIX_DATA_POLICY_IN_MEMORY_RAID, parity.data()},
                            {"rs", FENIX_DATA_POLICY_REED_SOLOMON, codes.data()}};
  for (const Choice& each : choices) {
    if (policy != each.name) continue;
    success(Fenix_Data_group_create(kGroup, comm, 0, depth, each.policy, each.values, nullptr), "group_create");
  }
}

void drop() {
  success(Fenix_Data_barrier(kGroup), "barrier");
  success(Fenix_Data_group_delete(kGroup), "group_delete");
  success(Fenix_Data_barrier(kGroup), "barrier after group_delete");
}

int in_place() {
  int value = -1;
  success(Fenix_Data_group_get_in_place(kGroup, &value), "get_in_place");
  return value;
}

double value(int of, int step, int i) { return of * 1e6 + step * 1e5 + i; }

void fill(std::span<double> data, int step) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = value(rank, step, static_cast<int>(i));
}

// ----------------------------------------------------------------------------------------------------------------- rules

void check_rules() {
  static std::vector<double> data(kCount, 1);
  create();
  expect_equal(in_place(), 0, "in_place of a new group");
  success(Fenix_Data_member_create(kGroup, 0, data.data(), kCount, MPI_DOUBLE), "member_create");
  MPI_Count before = 0;
  MPI_Count after = 0;
  success(Fenix_Data_member_footprint(kGroup, 0, &before), "member_footprint");
  for (const int wanted : {7, 0, 1}) {
    success(Fenix_Data_group_set_in_place(kGroup, wanted), "set_in_place");
    expect_equal(in_place(), wanted == 0 ? 0 : 1, "in_place");
  }
  success(Fenix_Data_member_footprint(kGroup, 0, &after), "member_footprint, in place");
  const auto own = static_cast<MPI_Count>(kCount * sizeof(double));
  require(before - after >= own && before - after < own + 8192, "in place does not save one copy");
  success(Fenix_Data_member_stage(kGroup, 0, FENIX_DATA_SUBSET_FULL), "stage");
  expect_equal(Fenix_Data_group_set_in_place(kGroup, 0), FENIX_ERROR_INVALID_LOGIC_CALL, "set_in_place after staging");
  success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_PRESTAGED), "store");
  success(Fenix_Data_commit(kGroup, nullptr), "commit");
  expect_equal(Fenix_Data_group_set_in_place(kGroup, 0), FENIX_ERROR_INVALID_LOGIC_CALL, "set_in_place after a commit");
  expect_equal(in_place(), 1, "in_place after a refused change");
  drop();
  create(1);
  expect_equal(Fenix_Data_group_set_in_place(kGroup, 1), FENIX_ERROR_INVALID_DEPTH, "set_in_place at depth 1");
  success(Fenix_Data_group_set_in_place(kGroup, 0), "set_in_place 0 at depth 1");
  drop();
}

// ---------------------------------------------------------------------------------------------------------------- stores

enum Member : int { kWhole, kParts, kHoles, kStaged, kSerialized, kGrowing, kAsynchronous, kMembers };

/// Two numbers with a hole between them.
struct Spaced {
  double first;
  double hole;
  double second;
};

MPI_Datatype spaced_type() {
  static MPI_Datatype type = [] {
    MPI_Datatype with_hole = MPI_DATATYPE_NULL;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &with_hole);
    MPI_Type_create_resized(with_hole, 0, sizeof(Spaced), &made);
    MPI_Type_commit(&made);
    MPI_Type_free(&with_hole);
    return made;
  }();
  return type;
}

struct Buffers {
  std::array<std::span<double>, kMembers> plain;
  std::span<Spaced> spaced;
  std::array<std::vector<double>, kMembers> owned;
  std::vector<Spaced> owned_spaced;
};

int growing_count(int step) { return 1000 * (step + 1) + 17 * rank; }

Buffers buffers() {
  Buffers made;
  for (auto& each : made.owned) each.resize(kCount, -1);
  made.owned[kGrowing].resize(20'000, -1);
  made.owned_spaced.resize(kCount, {-1, -1, -1});
  for (std::size_t member = 0; member < kMembers; ++member) made.plain[member] = made.owned[member];
  made.spaced = made.owned_spaced;
  return made;
}

template <class T>
std::span<T> allocate(int member, MPI_Datatype type) {
  T* base = nullptr;
  success(Fenix_Data_member_allocate(kGroup, member, kCount, type, &base), "member_allocate");
  return {base, kCount};
}

void serialize(std::FILE* file, int direction, void* buffer, int offset, int count, void*) {
  auto* values = static_cast<double*>(buffer) + offset;
  const auto wanted = static_cast<std::size_t>(count);
  const std::size_t done = direction == FENIX_SERIALIZE ? std::fwrite(values, sizeof(double), wanted, file)
                                                        : std::fread(values, sizeof(double), wanted, file);
  require(done == wanted, "the file of the serializer");
}

void provide(Buffers& data) {
  const auto create_member = [&](int member, void* buffer, int count, MPI_Datatype type) {
    if (Fenix_Data_member_created(kGroup, member) == 1) {
      success(Fenix_Data_member_attr_set(kGroup, member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, buffer, nullptr),
              "attr_set");
    } else {
      success(Fenix_Data_member_create(kGroup, member, buffer, count, type), "member_create");
    }
  };
  for (int member = 0; member < kMembers; ++member) {
    if (member == kSerialized) {
      success(Fenix_Data_member_fdefine(kGroup, member, data.plain[kSerialized].data(), kCount, MPI_DOUBLE, serialize,
                                        nullptr),
              "member_fdefine");
    } else if (allocates && member == kHoles) {
      data.spaced = allocate<Spaced>(member, spaced_type());
    } else if (allocates && member != kGrowing) {
      data.plain[static_cast<std::size_t>(member)] = allocate<double>(member, MPI_DOUBLE);
    } else if (member == kHoles) {
      create_member(member, data.spaced.data(), kCount, spaced_type());
    } else {
      create_member(member, data.plain[static_cast<std::size_t>(member)].data(),
                    member == kGrowing ? FENIX_RESIZEABLE : kCount, MPI_DOUBLE);
    }
  }
}

// A part that moves from step to step, with ends within blocks of hashes.
std::pair<int, int> part_of(int step) { return {3001 * step + 11, 3001 * step + 9000}; }

void store_all(Buffers& data, int step) {
  for (int member = 0; member < kMembers; ++member) {
    if (member != kParts) fill(data.plain[static_cast<std::size_t>(member)], step);
  }
  const auto [first, last] = part_of(step);
  for (int i = first; i <= last; ++i) data.plain[kParts][static_cast<std::size_t>(i)] = value(rank, step, i);
  for (int i = 0; i < kCount; ++i) {
    data.spaced[static_cast<std::size_t>(i)] = {value(rank, step, i), -7, -value(rank, step, i)};
  }
  success(Fenix_Data_member_store(kGroup, kWhole, FENIX_DATA_SUBSET_FULL), "store");
  Fenix_Data_subset part;
  success(Fenix_Data_subset_create(1, first, last, 1, &part), "subset_create");
  success(Fenix_Data_member_storev(kGroup, kParts, part), "storev of a part");
  success(Fenix_Data_subset_delete(&part), "subset_delete");
  success(Fenix_Data_member_store(kGroup, kHoles, FENIX_DATA_SUBSET_FULL), "store of a type with holes");
  success(Fenix_Data_member_stage(kGroup, kStaged, FENIX_DATA_SUBSET_FULL), "stage");
  success(Fenix_Data_member_store(kGroup, kStaged, FENIX_DATA_SUBSET_PRESTAGED), "store of what was staged");
  success(Fenix_Data_member_store(kGroup, kSerialized, FENIX_DATA_SUBSET_FULL), "store with a serializer");
  success(Fenix_Data_subset_create(1, 0, growing_count(step) - 1, 1, &part), "subset_create");
  success(Fenix_Data_member_store(kGroup, kGrowing, part), "store of a member that grows");
  success(Fenix_Data_subset_delete(&part), "subset_delete");
  Fenix_Request request = FENIX_REQUEST_NULL;
  success(Fenix_Data_member_istore(kGroup, kAsynchronous, FENIX_DATA_SUBSET_FULL, &request), "istore");
  success(Fenix_Data_wait(request), "wait");
  // These have given their buffers back.
  for (const int member : {kStaged, kSerialized, kAsynchronous}) {
    auto& values = data.plain[static_cast<std::size_t>(member)];
    std::fill(values.begin(), values.end(), -5);
  }
}

// The step in which an element of the member that is stored in parts was stored last; -1: never.
int step_of(int i, int step) {
  for (; step >= 0; --step) {
    const auto [first, last] = part_of(step);
    if (i >= first && i <= last) return step;
  }
  return -1;
}

void expect_stored(int step) {
  for (int member = 0; member < kMembers; ++member) {
    check::context() = policy + ", step " + std::to_string(step) + ", member " + std::to_string(member) + ": ";
    if (member == kHoles) {
      std::vector<Spaced> got(kCount, {-9, -9, -9});
      success(Fenix_Data_member_restore(kGroup, member, got.data(), kFull, kLatest, nullptr), "restore");
      for (int i = 0; i < kCount; ++i) {
        const Spaced& each = got[static_cast<std::size_t>(i)];
        require(each.first == value(rank, step, i) && each.hole == -9 && each.second == -value(rank, step, i),
                [&] { return "element " + std::to_string(i); });
      }
      continue;
    }
    const int count = member == kGrowing ? growing_count(step) : kCount;
    std::vector<double> got(20'000 + kCount, -9);
    const int expected = member == kParts ? FENIX_WARNING_PARTIAL_RESTORE : FENIX_SUCCESS;
    expect_equal(Fenix_Data_member_restore(kGroup, member, got.data(), kFull, kLatest, nullptr), expected, "restore");
    for (int i = 0; i < count; ++i) {
      const int stored = member == kParts ? step_of(i, step) : step;
      const double wanted = stored < 0 ? -9 : value(rank, stored, i);
      require(got[static_cast<std::size_t>(i)] == wanted, [&] {
        return "element " + std::to_string(i) + " is " + std::to_string(got[static_cast<std::size_t>(i)]) + ", not " +
               std::to_string(wanted);
      });
    }
  }
  int mended = -1;
  int lost = -1;
  success(Fenix_Data_verify(kGroup, &mended, &lost), "verify");
  expect_equal(mended, 0, "mended");
  expect_equal(lost, 0, "lost");
  check::context().clear();
}

void overwrite(Buffers& data) {
  for (auto& each : data.plain) std::fill(each.begin(), each.end(), -3);
  std::fill(data.spaced.begin(), data.spaced.end(), Spaced{-3, -3, -3});
}

void check_stores() {
  static Buffers data = buffers();
  int step = 0;
  create();
  if (role == FENIX_ROLE_INITIAL_RANK) success(Fenix_Data_group_set_in_place(kGroup, 1), "set_in_place");
  expect_equal(in_place(), 1, "in_place");
  provide(data);
  if (role != FENIX_ROLE_INITIAL_RANK) {
    step = 4;
    expect_stored(step - 1);
  }
  for (const int last = step + 4; step < last; ++step) {
    store_all(data, step);
    int time_stamp = -1;
    success(step % 2 == 0 ? Fenix_Data_commit(kGroup, &time_stamp) : Fenix_Data_commit_barrier(kGroup, &time_stamp),
            "commit");
    expect_equal(time_stamp, step, "time stamp");
    overwrite(data);
    expect_stored(step);
  }
  if (role != FENIX_ROLE_INITIAL_RANK) return;
  MPI_Barrier(comm);
  if (rank == kDead) raise(SIGKILL);
  while (true) Fenix_Process_detect_failures(1);
}

// --------------------------------------------------------------------------------------------------------------- errors

/// Rank 1 is late, or does not come at all, and the others give up. They get their buffers back.
enum class Late { with_seal, with_reading, missing };

void check_giving_up(Late how) {
  static std::vector<double> owned(kCount);
  std::span<double> data = owned;
  const bool counts = how == Late::with_seal;
  create();
  success(Fenix_Data_group_set_in_place(kGroup, 1), "set_in_place");
  if (how == Late::with_reading) {
    data = allocate<double>(0, MPI_DOUBLE);
  } else {
    success(Fenix_Data_member_create(kGroup, 0, data.data(), kCount, MPI_DOUBLE), "member_create");
  }
  for (int step = 0; step < 2; ++step) {
    fill(data, step);
    success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
    if (how == Late::missing && step == 1 && rank == 1) {
      std::this_thread::sleep_for(std::chrono::seconds(3));
      continue;
    }
    const int code = Fenix_Data_commit_barrier(kGroup, nullptr);
    // If the others have given up before they sealed, rank 1 gives up, too.
    const bool gives_up = step == 1 && (rank != 1 || how == Late::with_reading);
    expect_equal(code, gives_up ? FENIX_ERROR_TIMEOUT : FENIX_SUCCESS, "code of commit_barrier");
  }
  std::fill(data.begin(), data.end(), -3);
  // Rank 1 comes a second later than the others, or three.
  if (rank != 1) std::this_thread::sleep_for(std::chrono::seconds(how == Late::with_reading ? 3 : 1));
  create();
  std::vector<double> got(kCount, -9);
  success(Fenix_Data_member_restore(kGroup, 0, got.data(), kFull, kLatest, nullptr), "restore");
  for (int i = 0; i < kCount; ++i) {
    require(got[static_cast<std::size_t>(i)] == value(rank, counts ? 1 : 0, i), "element " + std::to_string(i));
  }
  int mended = -1;
  int lost = -1;
  success(Fenix_Data_verify(kGroup, &mended, &lost), "verify");
  expect_equal(mended, 0, "mended");
  expect_equal(lost, 0, "lost");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  policy = argc > 1 ? argv[1] : "";
  const std::string what = argc > 2 ? argv[2] : "";
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, what == "stores" || what == "allocated" ? 1 : 0, &error);
  MPI_Comm_rank(comm, &rank);
  if (what == "rules") check_rules();
  allocates = what == "allocated";
  if (what == "stores" || allocates) check_stores();
  if (what == "late") check_giving_up(Late::with_seal);
  if (what == "reader") check_giving_up(Late::with_reading);
  if (what == "missing") check_giving_up(Late::missing);
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

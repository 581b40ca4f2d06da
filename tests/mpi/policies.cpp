// SPDX-License-Identifier: BSD-3-Clause
// The promises of the policies, one by one: values and defaults, commits that are refused, damage found and mended, no
// hashes, and memory of the snapshot under construction that the application writes to itself. 4 ranks and a spare; rank 2
// dies.
#include <array>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kRaid = FENIX_DATA_POLICY_IN_MEMORY_RAID;
constexpr int kRing = FENIX_DATA_POLICY_PEER_RANK_SEPARATION;
constexpr int kCodes = FENIX_DATA_POLICY_REED_SOLOMON;
constexpr int kLocal = FENIX_DATA_POLICY_LOCAL;
constexpr int kFull = FENIX_DATA_RESTORE_FULL;
constexpr int kLatest = FENIX_DATA_SNAPSHOT_LATEST;
constexpr int kDead = 2;

// So many that there are several blocks of hashes and several stripes.
constexpr int kCount = 50'000;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int role = -1;
int error = 0;

struct Case {
  const char* name;
  int policy;
  std::vector<int> values;
  int losses;  ///< of four ranks
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"buddies", kRaid, {1, 1}, 1},   {"ring", kRing, {1}, 1},   {"parity", kRaid, {5, 1, 4}, 1},
      {"codes", kCodes, {1, 4, 2}, 2}, {"local", kLocal, {0}, 0}, {"parity of fewer ranks", kRaid, {5, 1, 9}, 1},
  };
  return all;
}

void create(int group, const Case& with, int depth = 1) {
  std::vector<int> values = with.values;
  success(Fenix_Data_group_create(group, comm, 0, depth, with.policy, values.data(), nullptr), "group_create");
}

void drop(int group) {
  success(Fenix_Data_barrier(group), "barrier");
  success(Fenix_Data_group_delete(group), "group_delete");
  success(Fenix_Data_barrier(group), "barrier after group_delete");
}

double value(int of, int round, int i) { return of * 1e6 + round * 1e5 + i; }

// ---------------------------------------------------------------------------------------------------------------- values

void expect_policy(int group, int name, std::vector<int> wanted) {
  int got = -1;
  int flag = -1;
  std::array<int, 3> values{-7, -7, -7};
  wanted.resize(3, -7);
  success(Fenix_Data_group_get_redundancy_policy(group, &got, values.data(), &flag), "get_redundancy_policy");
  expect_equal(got, name, "the policy");
  expect_equal(flag, FENIX_SUCCESS, "its flag");
  for (std::size_t i = 0; i < 3; ++i) expect_equal(values[i], wanted[i], "value " + std::to_string(i));
}

void check_values() {
  constexpr int kGroup = 1;
  success(Fenix_Data_group_create(kGroup, comm, 0, 0, kCodes, nullptr, nullptr), "group_create");
  expect_policy(kGroup, kCodes, {FENIX_DATA_SEPARATION_AUTO, 4, 2});
  int parity[] = {5, 2, 2};
  success(Fenix_Data_group_set_redundancy_policy(kGroup, kRaid, parity, nullptr), "set_redundancy_policy");
  expect_policy(kGroup, kRaid, {5, 2, 2});
  success(Fenix_Data_group_set_redundancy_policy(kGroup, kLocal, nullptr, nullptr), "set_redundancy_policy");
  expect_policy(kGroup, kLocal, {});
  int codes[] = {1, 4, 3};
  success(Fenix_Data_group_set_redundancy_policy(kGroup, kCodes, codes, nullptr), "set_redundancy_policy");
  expect_policy(kGroup, kCodes, {1, 4, 3});
  drop(kGroup);
}

// ------------------------------------------------------------------------------------------------------- refused commits

void expect_values(int group, int member, int round, const std::string& when) {
  std::vector<double> got(kCount, -1);
  success(Fenix_Data_member_restore(group, member, got.data(), kFull, kLatest, nullptr), "restore " + when);
  for (int i = 0; i < kCount; ++i) {
    require(got[static_cast<std::size_t>(i)] == value(rank, round, i),
            [&] { return "element " + std::to_string(i) + " " + when; });
  }
}

// What one rank of a cohort cannot commit, none of them can; when the cause is gone they all can, with what was stored.
void check_refusals() {
  constexpr int kGroup = 1;
  static std::vector<double> data(kCount);
  for (const std::size_t number : {2, 3}) {
    check::context() = std::string("refusals, ") + cases()[number].name + ": ";
    create(kGroup, cases()[number]);
    for (const int member : {0, 1}) {
      success(Fenix_Data_member_create(kGroup, member, data.data(), kCount, MPI_DOUBLE), "member_create");
      for (int i = 0; i < kCount; ++i) data[static_cast<std::size_t>(i)] = value(rank, member, i);
      success(Fenix_Data_member_store(kGroup, member, FENIX_DATA_SUBSET_FULL), "store");
    }
    int time_stamp = -1;
    success(Fenix_Data_commit_barrier(kGroup, &time_stamp), "commit_barrier");

    for (int i = 0; i < kCount; ++i) data[static_cast<std::size_t>(i)] = value(rank, 5, i);
    success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
    if (rank == 1) success(Fenix_Data_member_stage(kGroup, 1, FENIX_DATA_SUBSET_FULL), "stage");
    for (int turn = 0; turn < 2; ++turn) {
      expect_equal(Fenix_Data_commit(kGroup, &time_stamp), FENIX_ERROR_INVALID_LOGIC_CALL, "commit after a stage");
      const std::string text = Fenix_Error_message();
      require(text.find(rank == 1 ? "member_id 1" : "rank 1") != std::string::npos, "the text is " + text);
      if (turn == 0) expect_values(kGroup, 0, 0, "after the commit that was refused");
    }

    if (rank == 1) success(Fenix_Data_member_store(kGroup, 1, FENIX_DATA_SUBSET_PRESTAGED), "store");
    expect_equal(Fenix_Data_commit(kGroup, &time_stamp), FENIX_ERROR_MISMATCH, "commit of different members");
    if (rank != 1) success(Fenix_Data_member_store(kGroup, 1, FENIX_DATA_SUBSET_EMPTY), "store of no element");
    success(Fenix_Data_commit_barrier(kGroup, &time_stamp), "commit_barrier when the cause is gone");
    expect_equal(time_stamp, 1, "time stamp");
    expect_values(kGroup, 0, 5, "of member 0");
    expect_values(kGroup, 1, rank == 1 ? 5 : 1, "of member 1");
    drop(kGroup);
  }
}

// ----------------------------------------------------------------------------------------------------------------- damage

struct Counts {
  int mended = -1;
  int lost = -1;
};

Counts verify(int group, int wanted) {
  Counts counts;
  expect_equal(Fenix_Data_verify(group, &counts.mended, &counts.lost), wanted, "verify");
  return counts;
}

// Where the data of this rank will be in the snapshot after the next commit. It is a part of that snapshot then: to write to
// it is damage.
double* next_memory(int group, int member = 0) {
  void* memory = nullptr;
  success(Fenix_Data_member_stage_memory(group, member, &memory), "stage_memory");
  return static_cast<double*>(memory);
}

// What this rank keeps for others in its second slot of three, from where its own data is in it: as docs/log-format.md has it.
char* redundancy_beside(int group, double* memory) {
  MPI_Count all = 0;
  success(Fenix_Data_member_footprint(group, 0, &all), "member_footprint");
  constexpr MPI_Count kOwn = (MPI_Count{kCount} * 8 + 4 * 8 + 4095) / 4096 * 4096;
  const MPI_Count held = (all - 4096) / 3 - kOwn;
  return reinterpret_cast<char*>(memory) + 2 * kOwn + held;
}

void check_damage() {
  constexpr int kGroup = 1;
  static std::vector<double> data(kCount);
  for (int i = 0; i < kCount; ++i) data[static_cast<std::size_t>(i)] = value(rank, 3, i);
  for (const Case& with : cases()) {
    check::context() = std::string("damage, ") + with.name + ": ";
    create(kGroup, with);
    success(Fenix_Data_member_create(kGroup, 0, data.data(), kCount, MPI_DOUBLE), "member_create");
    success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
    success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
    double* memory = next_memory(kGroup);
    success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
    success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
    Counts counts = verify(kGroup, FENIX_SUCCESS);
    expect_equal(counts.mended, 0, "mended of what is whole");
    expect_equal(counts.lost, 0, "lost of what is whole");
    success(Fenix_Data_verify(kGroup, nullptr, nullptr), "verify without numbers");

    // So many ranks as the policy can lose from a cohort; those that keep copies are pairs of neighbours: 0 and 2 then.
    const bool damaged = with.losses == 2 ? rank < 2 : with.losses == 1 ? rank == 0 : false;
    if (damaged) memory[kCount - 3] += 1;
    MPI_Barrier(comm);
    counts = verify(kGroup, FENIX_SUCCESS);
    expect_equal(counts.mended, with.losses, "mended");
    expect_equal(counts.lost, 0, "lost");
    expect_values(kGroup, 0, 3, "after verify");
    expect_equal(verify(kGroup, FENIX_SUCCESS).mended, 0, "mended the second time");
    MPI_Barrier(comm);

    if (with.losses > 0) {
      if (rank == 3) redundancy_beside(kGroup, memory)[100] ^= 1;
      MPI_Barrier(comm);
      counts = verify(kGroup, FENIX_SUCCESS);
      expect_equal(counts.mended, 1, "mended of the redundancy");
      expect_equal(counts.lost, 0, "lost of the redundancy");
      expect_equal(verify(kGroup, FENIX_SUCCESS).mended, 0, "mended the second time");
      MPI_Barrier(comm);
    }

    if (with.policy == kLocal || with.values[0] == 5) {
      // All elements, since the same ones of two ranks are in different codewords.
      const int too_many = with.losses + 1;
      for (int i = 0; rank < too_many && i < kCount; ++i) memory[i] += 1;
      MPI_Barrier(comm);
      counts = verify(kGroup, FENIX_ERROR_NODATA_FOUND);
      expect_equal(counts.lost, too_many, "lost of what is damaged in too many places");
      expect_equal(counts.mended, 0, "mended then");
    }
    drop(kGroup);
  }
}

// Fenix_Data_member_repair mends the member that it names, and no other one.
void check_repair_of_member() {
  constexpr int kGroup = 1;
  static std::vector<double> data(kCount);
  for (int i = 0; i < kCount; ++i) data[static_cast<std::size_t>(i)] = value(rank, 3, i);
  for (const Case& with : cases()) {
    check::context() = std::string("member_repair, ") + with.name + ": ";
    create(kGroup, with);
    double* memory[2] = {};
    for (const int member : {0, 1}) {
      success(Fenix_Data_member_create(kGroup, member, data.data(), kCount, MPI_DOUBLE), "member_create");
    }
    for (int commit = 0; commit < 2; ++commit) {
      for (const int member : {0, 1}) memory[member] = next_memory(kGroup, member);
      success(Fenix_Data_member_store(kGroup, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL), "store");
      success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
    }
    success(Fenix_Data_member_repair(kGroup, 1), "member_repair of what is whole");
    MPI_Barrier(comm);
    const bool damaged = with.losses > 0 && rank == 0;
    for (double* const each : memory) each[kCount - 3] += damaged ? 1 : 0;
    MPI_Barrier(comm);
    success(Fenix_Data_member_repair(kGroup, 1), "member_repair");
    const double whole = value(rank, 3, kCount - 3);
    require(memory[1][kCount - 3] == whole, "member_repair has not mended the damage");
    require(memory[0][kCount - 3] == whole + (damaged ? 1 : 0), "member_repair has mended another member");
    expect_equal(verify(kGroup, FENIX_SUCCESS).mended, with.losses > 0 ? 1 : 0, "mended of the other member");

    if (with.policy == kLocal || with.values[0] == 5) {
      MPI_Barrier(comm);
      for (int i = 0; rank < with.losses + 1 && i < kCount; ++i) memory[1][i] += 1;
      MPI_Barrier(comm);
      expect_equal(Fenix_Data_member_repair(kGroup, 1), FENIX_ERROR_NODATA_FOUND, "member_repair of what is lost");
      success(Fenix_Data_member_repair(kGroup, 0), "member_repair of a member that is whole");
    }
    drop(kGroup);
  }
}

void check_hashing() {
  constexpr int kGroup = 1;
  static std::vector<double> data(kCount);
  for (int i = 0; i < kCount; ++i) data[static_cast<std::size_t>(i)] = value(rank, 3, i);
  for (const Case& with : cases()) {
    check::context() = std::string("hashing, ") + with.name + ": ";
    create(kGroup, with);
    success(Fenix_Data_member_create(kGroup, 0, data.data(), kCount, MPI_DOUBLE), "member_create");
    int hashing = -1;
    success(Fenix_Data_group_get_hashing(kGroup, &hashing), "get_hashing");
    expect_equal(hashing, 1, "hashing of a new group");
    for (const int wanted : {7, 0}) {
      success(Fenix_Data_group_set_hashing(kGroup, wanted), "set_hashing");
      success(Fenix_Data_group_get_hashing(kGroup, &hashing), "get_hashing");
      expect_equal(hashing, wanted == 0 ? 0 : 1, "hashing");
    }
    double* memory = next_memory(kGroup);
    expect_equal(Fenix_Data_group_set_hashing(kGroup, 1), FENIX_ERROR_INVALID_LOGIC_CALL, "set_hashing after staging");
    success(Fenix_Data_member_store(kGroup, 0, FENIX_DATA_SUBSET_FULL), "store");
    success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
    // Nothing notices the damage: what is there is restored.
    memory[7] = -1;
    std::vector<double> got(kCount, 0);
    success(Fenix_Data_member_restore(kGroup, 0, got.data(), kFull, kLatest, nullptr), "restore");
    require(got[7] == -1 && got[8] == value(rank, 3, 8), "damage was noticed without hashes");
    drop(kGroup);
  }
}

// --------------------------------------------------------------------------------- memory that the application writes to

int group_of(std::size_t number, int depth) { return 10 * (depth + 2) + static_cast<int>(number); }

void stage_in_place(int group, double* memory, int first, int last) {
  Fenix_Data_subset some{};
  success(Fenix_Data_subset_create(1, first, last, 1, &some), "subset_create");
  success(Fenix_Data_member_stage_inplace(group, 0, memory, some), "stage_inplace");
  success(Fenix_Data_subset_delete(&some), "subset_delete");
}

// Returns the values that the latest snapshot of a group must have, by element.
std::vector<double> wanted_of(int of, int depth) {
  std::vector<double> wanted(kCount);
  for (int i = 0; i < kCount; ++i) wanted[static_cast<std::size_t>(i)] = value(of, 1, i);
  for (int i = 100; i < 20'000; ++i) wanted[static_cast<std::size_t>(i)] = value(of, 3, i);
  for (int i = 30'000; i < 30'010; ++i) wanted[static_cast<std::size_t>(i)] = value(of, depth < 0 ? 5 : 4, i);
  return wanted;
}

void store_from_memory(int group, int depth) {
  success(Fenix_Data_member_create(group, 0, nullptr, kCount, MPI_DOUBLE), "member_create");
  const auto junk = [](double* memory, int first, int last) {
    for (int i = first; i <= last; ++i) memory[i] = -1e9 - i;
  };
  const auto fill = [](double* memory, int round, int first, int last) {
    for (int i = first; i <= last; ++i) memory[i] = value(rank, round, i);
  };
  const auto commit = [&](bool stored) {
    if (stored) success(Fenix_Data_member_store(group, 0, FENIX_DATA_SUBSET_PRESTAGED), "store");
    success(Fenix_Data_commit_barrier(group, nullptr), "commit_barrier");
  };
  double* memory = next_memory(group);
  require(next_memory(group) == memory, "stage_memory gives other memory when called again");
  fill(memory, 1, 0, kCount - 1);
  success(Fenix_Data_member_stage_inplace(group, 0, memory, FENIX_DATA_SUBSET_FULL), "stage_inplace");
  commit(true);
  // Written and not staged: no part of any snapshot. Ranks differ in what they write.
  memory = next_memory(group);
  junk(memory, 10 * rank, kCount - 1 - rank);
  commit(false);
  memory = next_memory(group);
  junk(memory, 0, kCount - 1);
  fill(memory, 3, 100, 19'999);
  stage_in_place(group, memory, 100, 19'999);
  commit(true);
  // In two parts, the second one again after its store; with what was malloc'ed between them.
  memory = next_memory(group);
  if (rank % 2 == 0) junk(memory, 20'000, 29'999);
  fill(memory, 9, 30'000, 30'009);
  stage_in_place(group, memory, 30'000, 30'009);
  Fenix_Request request = FENIX_REQUEST_NULL;
  success(Fenix_Data_member_istore(group, 0, FENIX_DATA_SUBSET_PRESTAGED, &request), "istore");
  success(Fenix_Data_wait(request), "wait");
  memory = next_memory(group);
  fill(memory, 4, 30'000, 30'009);
  stage_in_place(group, memory, 30'000, 30'009);
  commit(true);
  if (depth < 0) {
    // Until there is no free slot: the memory is not that of a slot then.
    for (int more = 0; more < 6; ++more) {
      memory = next_memory(group);
      fill(memory, 5, 30'000, 30'009);
      stage_in_place(group, memory, 30'000, 30'009);
      commit(true);
    }
  }
}

// Without redundancy there is no member in the place of a dead rank before it is created. The others get their data.
void create_what_died(int group) {
  static std::vector<double> buffer(kCount);
  std::vector<double> got(kCount, -1);
  const int code = Fenix_Data_member_restore(group, 0, got.data(), kFull, kLatest, nullptr);
  if (role != FENIX_ROLE_RECOVERED_RANK) {
    success(code, "restore beside a rank without members");
    return;
  }
  expect_equal(code, FENIX_ERROR_INVALID_MEMBERID, "restore before member_create");
  expect_equal(Fenix_Data_member_load_to(group, 0, got.data(), kFull, kLatest, nullptr), FENIX_ERROR_INVALID_MEMBERID,
               "load before member_create");
  expect_equal(Fenix_Data_member_created(group, 0), 0, "member_created before member_create");
  success(Fenix_Data_member_create(group, 0, buffer.data(), kCount, MPI_DOUBLE), "member_create of what died");
}

void expect_stored(int group, const Case& with, int depth) {
  std::vector<double> got(kCount, -1);
  const int code = Fenix_Data_member_restore(group, 0, got.data(), kFull, kLatest, nullptr);
  if (with.policy == kLocal && rank == kDead && role == FENIX_ROLE_RECOVERED_RANK) {
    expect_equal(code, FENIX_ERROR_NODATA_FOUND, "restore of what died, without redundancy");
    return;
  }
  success(code, "restore");
  const auto wanted = wanted_of(rank, depth);
  require(std::memcmp(got.data(), wanted.data(), kCount * sizeof(double)) == 0, "other values than those stored");
}

template <class Work>
void for_all_groups(const char* what, Work&& work) {
  for (const int depth : {-1, 0, 2}) {
    for (std::size_t number = 0; number < cases().size(); ++number) {
      check::context() = std::string(what) + ", " + cases()[number].name + ", depth " + std::to_string(depth) + ": ";
      work(group_of(number, depth), cases()[number], depth);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    check_values();
    check_refusals();
    check_damage();
    check_repair_of_member();
    check_hashing();
    for_all_groups("before the death", [](int group, const Case& with, int depth) {
      create(group, with, depth);
      if (depth == 0) success(Fenix_Data_group_set_hashing(group, 0), "set_hashing");
      store_from_memory(group, depth);
      expect_stored(group, with, depth);
    });
    MPI_Barrier(comm);
    if (rank == kDead) raise(SIGKILL);
    while (true) Fenix_Process_detect_failures(1);
  }
  for_all_groups("after the death", [](int group, const Case& with, int depth) {
    create(group, with, depth);
    int hashing = -1;
    success(Fenix_Data_group_get_hashing(group, &hashing), "get_hashing");
    expect_equal(hashing, depth == 0 ? 0 : 1, "hashing");
    if (with.policy == kLocal) create_what_died(group);
    expect_stored(group, with, depth);
    if (with.policy != kLocal) expect_equal(verify(group, FENIX_SUCCESS).mended, 0, "mended after the recovery");
    // And on it goes.
    double* memory = next_memory(group);
    for (int i = 0; i < kCount; ++i) memory[i] = value(rank, 6, i);
    success(Fenix_Data_member_stage_inplace(group, 0, memory, FENIX_DATA_SUBSET_FULL), "stage_inplace");
    success(Fenix_Data_member_store(group, 0, FENIX_DATA_SUBSET_PRESTAGED), "store");
    success(Fenix_Data_commit_barrier(group, nullptr), "commit_barrier");
    expect_values(group, 0, 6, "of a snapshot after the recovery");
  });
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

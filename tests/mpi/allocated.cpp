// SPDX-License-Identifier: BSD-3-Clause
// Members whose buffers the library allocates: the rules, and a rank that dies, on 4 ranks and a spare. With the argument warm, the
// replacement gets the memory of the dead rank.
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kGroup = 3;
constexpr int kMember = 1;
constexpr int kOther = 2;
constexpr int kLatest = FENIX_DATA_SNAPSHOT_LATEST;
constexpr int kFull = FENIX_DATA_RESTORE_FULL;
constexpr int kDead = 2;
constexpr std::uintptr_t kPage = 4096;
constexpr double kAfter = 4711;  // what is in the buffers when the rank dies

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int role = -1;
int error = 0;
bool warm = false;

int count_of(int of) { return 30'000 + 1000 * of; }
int count() { return count_of(rank); }

double value(int step, int i) { return rank * 1e6 + step * 1e5 + i; }

void create_group() {
  success(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr),
          "group_create");
}

std::span<double> allocate(int member = kMember) {
  double* base = nullptr;
  success(Fenix_Data_member_allocate(kGroup, member, count(), MPI_DOUBLE, &base), "member_allocate");
  require(base != nullptr && reinterpret_cast<std::uintptr_t>(base) % kPage == 0, "the address of the buffer");
  return {base, static_cast<std::size_t>(count())};
}

bool is_mapped(void* address) {
  unsigned char there = 0;
  return mincore(address, 1, &there) == 0 || errno != ENOMEM;
}

void expect_code(int code, const std::string& named, int got) {
  expect_equal(got, code, named);
  require(std::string(Fenix_Error_message()).find(named) != std::string::npos, "text of the error: " + named);
}

// ----------------------------------------------------------------------------------------------------------------- rules

void check_errors() {
  static std::vector<double> own(static_cast<std::size_t>(count_of(4)));
  void* base = nullptr;
  expect_code(FENIX_ERROR_INVALID_ARGUMENT, "baseptr",
              Fenix_Data_member_allocate(kGroup, kMember, count(), MPI_DOUBLE, nullptr));
  expect_code(FENIX_ERROR_INVALID_ARGUMENT, "count", Fenix_Data_member_allocate(kGroup, kOther, 0, MPI_DOUBLE, &base));
  expect_code(FENIX_ERROR_INVALID_ARGUMENT, "count", Fenix_Data_member_allocate(kGroup, kOther, -1, MPI_DOUBLE, &base));
  expect_code(FENIX_ERROR_INVALID_MEMBERID, "member_id",
              Fenix_Data_member_allocate(kGroup, FENIX_DATA_MEMBER_ALL, 1, MPI_DOUBLE, &base));
  constexpr MPI_Count kTooMany = std::numeric_limits<MPI_Count>::max() / 16;
  expect_code(FENIX_ERROR_NO_MEMORY, "", Fenix_Data_member_allocate_c(kGroup, kOther, kTooMany, MPI_DOUBLE, &base));
  MPI_Datatype before = MPI_DATATYPE_NULL;
  const int one = 1;
  const MPI_Aint place = -8;
  MPI_Type_create_hindexed(1, &one, &place, MPI_DOUBLE, &before);
  MPI_Type_commit(&before);
  expect_code(FENIX_ERROR_INVALID_ARGUMENT, "datatype", Fenix_Data_member_allocate(kGroup, kOther, 5, before, &base));
  MPI_Type_free(&before);
  require(base == nullptr, "a call that fails gives an address");
  success(Fenix_Data_member_create(kGroup, kOther, own.data(), count(), MPI_DOUBLE), "member_create");
  expect_code(FENIX_ERROR_MEMBER_EXISTS, "member_id 2",
              Fenix_Data_member_allocate(kGroup, kOther, count(), MPI_DOUBLE, &base));
  success(Fenix_Data_barrier(kGroup), "barrier");
  success(Fenix_Data_member_delete(kGroup, kOther), "member_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
  const int code = rank % 2 == 0 ? Fenix_Data_member_allocate(kGroup, kOther, count(), MPI_DOUBLE, &base)
                                 : Fenix_Data_member_define(kGroup, kOther, own.data(), count(), MPI_DOUBLE);
  expect_equal(code, FENIX_ERROR_MISMATCH, "allocate beside define");
}

// Nothing has been stored: the count may change. The contents move to the new place.
double* check_growth(std::span<double> before) {
  std::iota(before.begin(), before.end(), 1);
  double* base = nullptr;
  success(Fenix_Data_member_allocate(kGroup, kMember, 2 * count(), MPI_DOUBLE, &base), "member_allocate of more");
  for (int i = 0; i < 2 * count(); ++i) {
    require(base[i] == (i < count() ? i + 1 : 0),
            [&] { return "element " + std::to_string(i) + " of the larger buffer"; });
  }
  success(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  double* again = nullptr;
  success(Fenix_Data_member_allocate(kGroup, kMember, 2 * count(), MPI_DOUBLE, &again), "member_allocate, once more");
  require(again == base, "another address after a commit");
  expect_code(FENIX_ERROR_INVALID_LOGIC_CALL, "member_id 1",
              Fenix_Data_member_allocate(kGroup, kMember, count(), MPI_DOUBLE, &again));
  return base;
}

void check_rules() {
  const auto buffer = allocate();
  require(std::all_of(buffer.begin(), buffer.end(), [](double each) { return each == 0; }), "a new buffer is not zero");
  require(allocate().data() == buffer.data(), "another address, though the member is there");
  void* known = nullptr;
  int flag = 0;
  success(Fenix_Data_member_attr_get(kGroup, kMember, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &known, &flag, rank),
          "attr_get");
  require(flag == 1 && known == buffer.data(), "attribute BUFFER");
  // Memory as any other one, also for MPI.
  std::vector<double> sum(buffer.size());
  std::fill(buffer.begin(), buffer.end(), 1);
  MPI_Allreduce(buffer.data(), sum.data(), count_of(0), MPI_DOUBLE, MPI_SUM, comm);
  require(std::accumulate(sum.begin(), sum.end(), 0.0) == 4.0 * count_of(0), "MPI_Allreduce from the buffer");
  double* const large = check_growth(buffer);
  check_errors();
  MPI_Count footprint = 0;
  success(Fenix_Data_member_footprint(kGroup, kMember, &footprint), "member_footprint");
  // Two own slots, and two copies of the partner's.
  require(footprint <= static_cast<MPI_Count>(4 * 2 * count_of(4) * sizeof(double) + 32768),
          "the footprint has the buffer: " + std::to_string(footprint));
  success(Fenix_Data_barrier(kGroup), "barrier");
  success(Fenix_Data_member_delete(kGroup, kMember), "member_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
  // Over networks, addresses stay taken until all have agreed that nothing can come in.
  const std::string path = std::getenv("FENIX_PATH") != nullptr ? std::getenv("FENIX_PATH") : "map";
  if (path == "map") require(!is_mapped(large), "the buffer outlives its member");
}

// ----------------------------------------------------------------------------------------------------------------- death

void store(std::span<double> buffer, int step) {
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = value(step, static_cast<int>(i));
  success(Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
}

bool has_only(std::span<const double> buffer, double wanted) {
  return std::all_of(buffer.begin(), buffer.end(), [&](double each) { return each == wanted; });
}

void check_death() {
  static double* first = nullptr;
  create_group();
  const auto buffer = allocate();
  if (role == FENIX_ROLE_INITIAL_RANK) {
    store(buffer, 0);
    store(buffer, 1);
    std::fill(buffer.begin(), buffer.end(), kAfter);
    first = buffer.data();
    MPI_Barrier(comm);
    if (rank == kDead) raise(SIGKILL);
    while (true) Fenix_Process_detect_failures(1);
  }
  if (role == FENIX_ROLE_SURVIVOR_RANK) {
    require(buffer.data() == first && has_only(buffer, kAfter), "the buffer of a survivor has changed");
  } else if (warm) {
    require(has_only(buffer, kAfter), "the buffer is not that of the dead rank");
  }
  success(Fenix_Data_member_restore(kGroup, kMember, buffer.data(), kFull, kLatest, nullptr), "restore");
  for (std::size_t i = 0; i < buffer.size(); ++i) {
    require(buffer[i] == value(1, static_cast<int>(i)), [&] { return "element " + std::to_string(i); });
  }
  store(buffer, 2);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  warm = argc > 1 && std::string(argv[1]) == "warm";
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, &error);
  MPI_Comm_rank(comm, &rank);
  if (role == FENIX_ROLE_INITIAL_RANK) {
    create_group();
    check_rules();
  }
  check_death();
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

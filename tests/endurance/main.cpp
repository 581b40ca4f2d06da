// SPDX-License-Identifier: BSD-3-Clause
// A long run in short time: many commits, groups and repairs on real ranks. Memory, descriptors and mappings are written to a table, and must
// be flat, or grow by what docs/operations.md says.
//
//   endurance [--commits N] [--groups N] [--repairs N] [--group-kib N] [--table FILE] [--samples N]
//
// Each rank writes its number of process to FILE.<rank>.pid, and its table to FILE.<rank>.csv. scripts/endurance suspends the ranks.
#include <fenix.h>
#include <unistd.h>
#include <mpi-ext.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "mpi/check.hpp"
#include "support/used_resources.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;
using fenix_test::UsedResources;

constexpr int kGroup = 1;
constexpr int kMember = 1;
constexpr std::size_t kCount = 1000;
constexpr int kFirstOfMany = 1000;

// Handles of communicators that one repair leaves behind: it frees none of the old ones, nor can the program.
constexpr long kHandlesOfARepair = 4;
constexpr long kSlackKib = 3072;  // of Open MPI's and malloc's own pools
// Nine deleted groups may wait to be given back.
constexpr long kSlackDescriptors = 20;
constexpr long kSlackMappings = 60;
constexpr long kSlackHandles = 20;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int role = -1;
int error = 0;
std::vector<double> data(kCount);
long stored = 0;  // commits so far

double value(std::size_t i) {
  return static_cast<double>(rank) * 1e7 + static_cast<double>(stored) + static_cast<double>(i) * 1e-3;
}

/// The number that Open MPI gives the next communicator's handle: the lowest free one.
long next_handle() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &copy);
  const long handle = MPI_Comm_c2f(copy);
  MPI_Comm_free(&copy);
  return handle;
}

/// The use of the system in a phase, over its steps: written to the table, compared with the begin.
class Watched {
 public:
  Watched(std::string phase, long steps, long samples, std::ofstream& table)
      : phase_(std::move(phase)), steps_(steps), every_(std::max(1L, steps / std::max(1L, samples))), table_(table) {}

  void look(long step) {
    if (step % every_ != 0 && step != steps_) return;
    const UsedResources used = fenix_test::used_resources();
    const long handle = next_handle();
    const auto now = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    table_ << phase_ << ',' << step << ',' << now << ',' << used.resident_kib << ',' << used.shared_kib << ','
           << used.descriptors << ',' << used.mappings << ',' << handle << std::endl;
    // The first tenth fills pools.
    if (step < steps_ / 10) return;
    if (!is_warm_) first_ = used, first_handle_ = handle, first_step_ = step, is_warm_ = true;
    last_ = used, last_handle_ = handle;
  }

  /// kib_a_step, handles_a_step: what each step may leave behind.
  void expect_flat(double kib_a_step = 0, long handles_a_step = 0) const {
    const long steps = steps_ - first_step_;
    at_most("resident KiB", last_.resident_kib,
            first_.resident_kib + kSlackKib + static_cast<long>(kib_a_step * static_cast<double>(steps)));
    at_most("shared KiB", last_.shared_kib, first_.shared_kib + kSlackKib);
    at_most("descriptors", last_.descriptors, first_.descriptors + kSlackDescriptors);
    at_most("mappings", last_.mappings,
            first_.mappings + kSlackMappings + static_cast<long>(kib_a_step * static_cast<double>(steps) / 64));
    at_most("communicators", last_handle_, first_handle_ + kSlackHandles + handles_a_step * steps);
  }

 private:
  void at_most(const char* what, long got, long most) const {
    require(got <= most, [&] {
      return phase_ + ": " + what + " have grown to " + std::to_string(got) + ", more than " + std::to_string(most);
    });
  }

  std::string phase_;
  long steps_;
  long every_;
  std::ofstream& table_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  UsedResources first_;
  UsedResources last_;
  long first_handle_ = 0;
  long last_handle_ = 0;
  long first_step_ = 0;
  bool is_warm_ = false;
};

void form(int group_id, int member_id) {
  success(Fenix_Data_group_create(group_id, comm, 0, 0, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr),
          "group_create");
  success(Fenix_Data_member_define(group_id, member_id, data.data(), kCount, MPI_DOUBLE), "member_define");
}

void commit_one(int group_id, int member_id) {
  ++stored;
  for (std::size_t i = 0; i < kCount; ++i) data[i] = value(i);
  success(Fenix_Data_member_store(group_id, member_id, FENIX_DATA_SUBSET_FULL), "store");
  success(Fenix_Data_commit(group_id, nullptr), "commit");
}

void expect_latest(int group_id, int member_id) {
  std::fill(data.begin(), data.end(), -1);
  success(Fenix_Data_member_restore(group_id, member_id, data.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST, nullptr),
          "restore");
  for (std::size_t i = 0; i < kCount; ++i) {
    require(data[i] == value(i), [&] { return "element " + std::to_string(i) + " is another one"; });
  }
}

void many_commits(long commits, Watched watched) {
  for (long step = 1; step <= commits; ++step) {
    commit_one(kGroup, kMember);
    watched.look(step);
  }
  expect_latest(kGroup, kMember);
  watched.expect_flat();
}

/// As a program does that numbers its groups: it never calls a barrier on a group that it has deleted.
void many_groups(long groups, long kib_a_group, Watched watched) {
  for (long step = 1; step <= groups; ++step) {
    const int id = kFirstOfMany + static_cast<int>(step);
    form(id, kMember);
    commit_one(id, kMember);
    success(Fenix_Data_group_delete(id), "group_delete");
    watched.look(step);
  }
  watched.expect_flat(static_cast<double>(kib_a_group));
}

/// Nobody dies: the communicator is revoked, which is all that a repair needs.
void many_repairs(long repairs, Watched watched) {
  for (long step = 1; step <= repairs; ++step) {
    try {
      // Otherwise the repair would begin while others still restore.
      MPI_Barrier(comm);
      if (rank == 0) MPIX_Comm_revoke(comm);
      MPI_Barrier(comm);
      check::fail("a barrier on a communicator that was revoked");
    } catch (const fenix::CommException&) {
    }
    form(kGroup, kMember);
    expect_latest(kGroup, kMember);
    watched.look(step);
  }
  commit_one(kGroup, kMember);
  expect_latest(kGroup, kMember);
  // Open MPI keeps some KiB for each communicator that nobody may free.
  watched.expect_flat(128, kHandlesOfARepair);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  long commits = 2000;
  long groups = 50;
  long repairs = 5;
  long kib_a_group = 0;
  long samples = 100;
  std::string file = "/dev/null";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--commits") commits = std::atol(argv[i + 1]);
    if (name == "--groups") groups = std::atol(argv[i + 1]);
    if (name == "--repairs") repairs = std::atol(argv[i + 1]);
    if (name == "--group-kib") kib_a_group = std::atol(argv[i + 1]);
    if (name == "--samples") samples = std::atol(argv[i + 1]);
    if (name == "--table") file = argv[i + 1];
  }
  fenix::init({.role = &role, .out_comm = &comm, .spares = 0, .err = &error, .unhandled_mode = fenix::SILENT});
  MPI_Comm_rank(comm, &rank);
  const std::string own = file == "/dev/null" ? "" : file + "." + std::to_string(rank);
  if (!own.empty()) std::ofstream(own + ".pid") << getpid() << std::endl;
  std::ofstream table(own.empty() ? file : own + ".csv");
  table << "phase,step,seconds,resident_kib,shared_kib,descriptors,mappings,communicator" << std::endl;
  form(kGroup, kMember);
  commit_one(kGroup, kMember);
  if (commits > 0) many_commits(commits, Watched("commits", commits, samples, table));
  if (groups > 0) many_groups(groups, kib_a_group, Watched("groups", groups, samples, table));
  stored = commits + 1;
  if (repairs > 0) many_repairs(repairs, Watched("repairs", repairs, samples, table));
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

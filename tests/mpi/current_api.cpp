// SPDX-License-Identifier: BSD-3-Clause
// What programs for the current Fenix expect beyond its data interface: names of July 2025, slots, missing ranks, groups
// that are repaired. Requests that are not complete, info with unknown values, exceptions with their place in the source.
// 6 ranks, 1 spare; ranks 1 and 3 die.
#include <fenix/data/subset.hpp>
#include <fenix_data_subset.hpp>
#include <fenix_exception.hpp>
#include <fenix_opt.hpp>

#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

constexpr int kActive = 5;
constexpr double kPatience = 20;  // seconds

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;

void place_of_errors() {
  try {
    Fenix::Data::member_delete(99, 1);
    check::fail("no exception");
  } catch (const fenix::RuntimeException& bad) {
    expect_equal(bad.error, FENIX_ERROR_INVALID_GROUPID, "error");
    require(bad == FENIX_ERROR_INVALID_GROUPID && bad != FENIX_ERROR_INVALID_MEMBERID, "comparison with a code");
    require(!(bad != FENIX_ERROR_INVALID_GROUPID) && !(bad == FENIX_WARNING_PARTIAL_RESTORE), "comparison with a code");
    require(std::strncmp(bad.location.file_name(), "src/", 4) == 0 && bad.location.line() > 0, "place in the library");
    require(std::string(bad.what()).find("group_id 99") != std::string::npos, "text");
    require(std::string(bad.what()).find(bad.location.function_name()) != std::string::npos, "function in the text");
  }
  try {
    fenix::check(Fenix_Data_member_delete(99, 1));
    check::fail("no exception");
  } catch (const fenix::RuntimeException& bad) {
    require(std::string(bad.location.file_name()).find("current_api.cpp") != std::string::npos, "place of the caller");
  }
}

void message_logging() {
  check::expect_thrown(FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE, "mlog::create", [] { fenix::mlog::create(0, comm, 1); });
  expect_equal(fenix::mlog::active(), FENIX_MLOG_NONE, "active log");
  int active = 7;
  expect_equal(Fenix_Mlog_active(&active), FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE, "Fenix_Mlog_active");
  expect_equal(active, FENIX_MLOG_NONE, "active log in C");
  for (const int code :
       {Fenix_Mlog_activate(0), Fenix_Mlog_activate_region(0, 1), Fenix_Mlog_begin_region(0, 1), Fenix_Mlog_sync(0, 1),
        Fenix_Mlog_create_data_member(0, 1, 2), Fenix_Mlog_define_data_member(0, 1, 2), Fenix_Mlog_delete(0),
        Fenix_Mlog_stage(0, 1, 2), Fenix_Mlog_lrestore(0, 1, 2, 3)}) {
    expect_equal(code, FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE, "a function of message logging");
  }
  expect_equal(fenix::get_option(fenix::MLOG_RECOVERY_MODE), fenix::MANUAL, "mode of message logging");
  fenix::set_option(fenix::MLOG_RECOVERY_MODE, fenix::INLINE);
  expect_equal(fenix::get_option(fenix::MLOG_RECOVERY_MODE), fenix::INLINE, "mode of message logging");
}

// The forms of C++. Without libfenix_mpi there are none.
void checkpoints() {
  check::expect_thrown(FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE, "checkpoints::begin",
                       [] { fenix::checkpoints::begin(1, 9, 4096); });
  for (void (*const call)() : {+[] { fenix::checkpoints::request(); }, +[] { (void)fenix::checkpoints::potential(); },
                               +[] { (void)fenix::checkpoints::count(); }, +[] { fenix::checkpoints::finish(); }}) {
    check::expect_thrown(FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE, "a function of checkpoints", call);
  }
}

void requests() {
  int value = 0;
  MPI_Request never = MPI_REQUEST_NULL;
  MPI_Irecv(&value, 1, MPI_INT, rank, 77, comm, &never);
  expect_equal(Fenix_check_cancelled(&never, MPI_STATUS_IGNORE), 0, "check_cancelled of a receive that waits");
  require(never != MPI_REQUEST_NULL, "a request that is not complete is gone");
  int sent = 5;
  MPI_Send(&sent, 1, MPI_INT, rank, 77, comm);
  MPI_Wait(&never, MPI_STATUS_IGNORE);
  expect_equal(value, 5, "what was received");
}

void attributes() {
  success(Fenix::Data::group_create(1), "group_create");
  success(Fenix::Data::member_create(1, 1, &rank, 1, MPI_INT), "member_create");
  int count = 0;
  int flag = 0;
  success(Fenix_Data_member_attr_get(1, 1, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &count, &flag),
          "attr_get of 5 arguments");
  expect_equal(count, 1, "count");
  int own = -1;
  success(Fenix_get_role(comm, rank, &own), "Fenix_get_role of 3 arguments");
  expect_equal(own, FENIX_ROLE_INITIAL_RANK, "role");
  // Pairs, and a chain of three.
  MPI_Group cohort = fenix::data::group_cohort(1);
  int size = 0;
  int index = MPI_UNDEFINED;
  MPI_Group_size(cohort, &size);
  MPI_Group_rank(cohort, &index);
  require((size == 2 || size == 3) && index != MPI_UNDEFINED, "cohort of " + std::to_string(size) + " ranks");
  MPI_Group_free(&cohort);
  success(Fenix::Data::member_store(1, 1, Fenix::Data::SUBSET_FULL), "store");
  success(Fenix::Data::commit_barrier(1), "commit_barrier");
  FILE* file = nullptr;
  int read = -1;
  success(Fenix_data_member_load_begin(1, 1, &file, 0, FENIX_DATA_SUBSET_IGNORE), "load_begin");
  expect_equal(static_cast<long>(std::fread(&read, sizeof read, 1, file)), 1, "elements in the file");
  success(Fenix_Data_member_load_end(1, 1), "load_end");
  expect_equal(read, rank, "element in the file");
}

void first_life() {
  expect_equal(fenix::n_ranks_with_role(fenix::SPARE_RANK), 1, "spares");
  expect_equal(fenix::n_ranks_with_role(fenix::MISSING_RANK), 0, "missing ranks");
  expect_equal(fenix::slot(), rank, "own slot");
  expect_equal(fenix::detect_failures(), FENIX_SUCCESS, "detect_failures");
  place_of_errors();
  message_logging();
  checkpoints();
  requests();
  attributes();
  fenix_require(rank >= 0, "rank %d", rank);
  if (rank >= kActive) fatal_print("rank %d", rank);
  if (rank == 0) success(fenix::register_exception_callback(), "register_exception_callback");
  MPI_Barrier(comm);
  if (rank == 1 || rank == 3) raise(SIGKILL);
  int found = FENIX_SUCCESS;
  // Until both deaths are known to MPI here.
  for (int dead : {1, 3}) {
    int value = 0;
    const double begin = MPI_Wtime();
    while (fenix::detect_failures(false) == FENIX_SUCCESS) {
      require(MPI_Wtime() < begin + kPatience, "detect_failures has not found a death");
    }
    fenix::set_option(fenix::RECOVERY_MODE, fenix::IGNORE);
    (void)MPI_Recv(&value, 1, MPI_INT, dead, 0, comm, MPI_STATUS_IGNORE);
    fenix::set_option(fenix::RECOVERY_MODE, fenix::REPAIR);
  }
  found = fenix::detect_failures(false);
  expect_equal(found, FENIX_ERROR_PROCESS_FAILURE, "detect_failures without a repair");
  int size = 0;
  MPI_Comm_size(comm, &size);
  expect_equal(size, kActive, "ranks before the repair");
  expect_equal(fenix::detect_failures(), FENIX_ERROR_PROCESS_FAILURE, "detect_failures with a repair");
}

std::vector<int> ranks_in(MPI_Group group) {
  MPI_Group now = MPI_GROUP_NULL;
  int size = 0;
  MPI_Comm_group(comm, &now);
  MPI_Group_size(group, &size);
  std::vector<int> numbers;
  for (int i = 0; i < size; ++i) {
    int number = MPI_UNDEFINED;
    MPI_Group_translate_ranks(group, 1, &i, now, &number);
    numbers.push_back(number);
  }
  MPI_Group_free(&now);
  return numbers;
}

// The spare has taken the place of rank 1; rank 3 has none. Ranks are numbered anew, slots stay.
void second_life() {
  expect_equal(error, FENIX_WARNING_SPARE_RANKS_DEPLETED, "error");
  expect_equal(fenix::error(), error, "error in C++");
  expect_equal(fenix::n_ranks_with_role(fenix::MISSING_RANK), 1, "missing ranks");
  expect_equal(fenix::n_ranks_with_role(fenix::SPARE_RANK), 0, "spares");
  expect_equal(fenix::n_ranks_with_role(fenix::SURVIVOR_RANK), 3, "survivors");
  const std::vector<int> slots{0, 1, 2, 4};
  expect_equal(fenix::slot(), slots.at(static_cast<std::size_t>(rank)), "own slot");
  for (int other = 0; other < 4; ++other) {
    const int slot = slots[static_cast<std::size_t>(other)];
    expect_equal(fenix::rank_to_slot(comm, other), slot, "slot of rank " + std::to_string(other));
    expect_equal(fenix::slot_to_rank(comm, slot), other, "rank of slot " + std::to_string(slot));
  }
  expect_equal(fenix::slot_to_rank(comm, 3), MPI_UNDEFINED, "rank of the slot that has none");
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const int wanted[] = {4, 3, 1, 0};
  MPI_Group_incl(all, 4, wanted, &some);
  MPI_Group repaired = fenix::repair_group(some);
  require(ranks_in(repaired) == std::vector<int>{3, 1, 0}, "a group that was repaired");
  MPI_Group again = fenix::repair_group(repaired);
  int same = MPI_UNEQUAL;
  MPI_Group_compare(repaired, again, &same);
  expect_equal(same, MPI_IDENT, "a group that is repaired again");
  for (MPI_Group* group : {&all, &some, &repaired, &again}) MPI_Group_free(group);
}

// In resume mode return, only a callback throws an exception.
void run() {
  if (role != FENIX_ROLE_INITIAL_RANK) return;
  bool thrown = false;
  try {
    first_life();
  } catch (const Fenix::CommException& failure) {
    thrown = true;
    expect_equal(failure.fenix_err, FENIX_WARNING_SPARE_RANKS_DEPLETED, "error in the exception");
    require(failure.repaired_comm == comm && failure.mpi_err != MPI_SUCCESS, "communicator and error in the exception");
  }
  expect_equal(thrown, rank == 0, "whether there was an exception");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "FENIX_RESUME_MODE", "NO_JUMP");
  MPI_Info_set(info, "FENIX_UNHANDLED_MODE", "LOUD");
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 1, 0, info, &error) MPI_Info_free(&info);
  expect_equal(fenix::get_option(fenix::RESUME_MODE), fenix::RETURN, "resume mode NO_JUMP");
  expect_equal(fenix::get_option(fenix::UNHANDLED_MODE), fenix::ABORT, "unhandled mode after an unknown value");
  MPI_Comm_rank(comm, &rank);
  run();
  MPI_Comm_rank(comm, &rank);
  second_life();
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

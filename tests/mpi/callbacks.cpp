// SPDX-License-Identifier: BSD-3-Clause
// Callbacks: their order and locations; what becomes of them when a callback meets a failure, removes itself, or throws.
// 4 ranks and 2 spares. Rank 1 dies; rank 3 dies in the callback after that repair, while the others communicate there.
// usage: callbacks jump|return|throw
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
std::string called;  // in the order of the calls
std::shared_ptr<int> owned = std::make_shared<int>(0);
std::vector<std::string> thrown;
bool has_callbacks = false;

void note(MPI_Comm, int mpi_error, void* name) {
  require(mpi_error != MPI_SUCCESS, "a callback gets no error");
  called += static_cast<const char*>(name);
}

bool is_revoked(MPI_Comm any) {
  int size = 0;
  return MPI_Comm_size(any, &size) == MPI_SUCCESS && MPI_Barrier(any) != MPI_SUCCESS;
}

// The first time, rank 3 dies in it, and the others wait for it.
void communicate(MPI_Comm repaired, int) {
  called += "c";
  int number = -1;
  MPI_Comm_rank(repaired, &number);
  if (number == 3 && Fenix_get_nspare() == 1) raise(SIGKILL);
  MPI_Barrier(repaired);
}

void before(MPI_Comm old, int mpi_error) {
  called += "p";
  require(mpi_error != MPI_SUCCESS, "a callback before the repair gets no error");
  require(is_revoked(old), "the communicator before the repair can be used");
  int flag = 0;
  require(Fenix_Data_group_create(7, old, 0, 0, FENIX_DATA_POLICY_IMR, nullptr, &flag) != FENIX_SUCCESS,
          "a collective call before the repair");
  expect_equal(Fenix_Initialized(&flag), FENIX_SUCCESS, "a local call before the repair");
  // Kept until the repair is done: the others need this rank for it.
  if (fenix::role() == fenix::INITIAL_RANK && rank == 2) throw std::runtime_error("from before");
}

void register_callbacks() {
  static char a[] = "a";
  static char z[] = "z";
  success(Fenix_Callback_register(note, a), "callback_register");
  success(fenix::callback_register(before, fenix::PRE_RECOVERY), "callback_register");
  success(Fenix_Callback_register(communicate), "callback_register");
  // Owned is copied: a jump that skips a destructor would leave a copy.
  success(fenix::callback_register([kept = owned](MPI_Comm, int) { called += *kept == 0 ? "k" : "?"; }), "register");
  success(Fenix_Callback_register_at(note, z, FENIX_CALLBACK_POST_RECOVERY), "callback_register_at");
  static char gone[] = "g";
  success(Fenix_Callback_register_at(note, gone, FENIX_CALLBACK_PRE_RECOVERY), "callback_register_at");
  success(Fenix_Callback_pop_at(FENIX_CALLBACK_PRE_RECOVERY), "callback_pop_at");
}

void check_end() {
  expect_equal(Fenix_get_nspare(), 0, "spares that are left");
  if (!has_callbacks) return;
  // The round after the first repair is overtaken in c: k and z are called once, for the second one.
  require(called == "pacpackz", "callbacks were called as " + called);
  require(thrown == (rank == 2 ? std::vector<std::string>{"from before"} : std::vector<std::string>{}),
          "exceptions of callbacks");
}

void remove_itself(MPI_Comm, int) {
  success(fenix::callback_pop(), "callback_pop in the callback");
  called += "r";
}

void check_removal() {
  constexpr int kMost = 9;
  for (int removed = 0; fenix::callback_pop() == FENIX_SUCCESS; ++removed) {
    require(removed < kMost, "callback_pop removes nothing");
  }
  success(fenix::callback_pop(fenix::PRE_RECOVERY), "callback_pop");
  expect_equal(owned.use_count(), 1, "owners of what a callback has captured");
  called.clear();
  static char y[] = "y";
  success(Fenix_Callback_register_at(note, y, FENIX_CALLBACK_PRE_RECOVERY), "callback_register_at");
  success(fenix::callback_invoke_all(), "invoke_all");
  require(called.empty(), "invoke_all calls " + called);
  success(fenix::callback_invoke_all(fenix::PRE_RECOVERY), "invoke_all");
  require(called == "y", "invoke_all calls " + called);
  called.clear();
  success(fenix::callback_register(remove_itself), "callback_register");
  success(fenix::callback_invoke_all(), "invoke_all");
  success(fenix::callback_invoke_all(), "invoke_all");
  require(called == "r", "a callback that removes itself was called as " + called);
  success(fenix::callback_register([](MPI_Comm, int) { throw 42; }), "callback_register");
  int caught = 0;
  try {
    fenix::callback_invoke_all();
  } catch (int value) {
    caught = value;
  }
  expect_equal(caught, 42, "what a callback has thrown");
  success(fenix::callback_pop(), "callback_pop");
  expect_equal(fenix::callback_pop(), FENIX_ERROR_CALLBACK_NOT_REGISTERED, "callback_pop without a callback");
}

void live() {
  if (role == FENIX_ROLE_INITIAL_RANK && !has_callbacks) {
    register_callbacks();
    has_callbacks = true;
    MPI_Barrier(comm);
    if (rank == 1) raise(SIGKILL);
    MPI_Barrier(comm);
  }
  // Replacements take part in the barrier that the others call in the callback.
  while (!has_callbacks && MPI_Barrier(comm) != MPI_SUCCESS) {
  }
}

void run(bool may_throw) {
  for (bool again = true; again;) {
    again = false;
    try {
      live();
    } catch (const fenix::CommException& failure) {
      require(may_throw, "an exception in this mode");
      expect_equal(failure.fenix_err, FENIX_SUCCESS, "fenix_err");
      again = true;
    } catch (const std::runtime_error& from_callback) {
      thrown.emplace_back(from_callback.what());
      again = true;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string_view mode = argv[1];
  if (mode == "return") fenix::set_option(fenix::RESUME_MODE, fenix::RETURN);
  if (mode == "throw") fenix::set_option(fenix::RESUME_MODE, fenix::THROW);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 2, &error);
  MPI_Comm_rank(comm, &rank);
  run(mode == "throw");
  check_end();
  if (has_callbacks) check_removal();
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

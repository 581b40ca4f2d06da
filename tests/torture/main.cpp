// SPDX-License-Identifier: BSD-3-Clause
// An application to be killed, stopped and damaged by scripts/torture: stores what follows from a seed, and checks every byte
// and the age of what it gets back.
//
// torture FOLDER: with the file "plan" in it; the journals of the ranks go there.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

#include "journal.hpp"
#include "persisting.hpp"
#include "state.hpp"

namespace torture {

State state;

void fail(const std::string& kind, const std::string& what) {
  const std::string text = kind + ": " + what;
  std::printf("TORTURE-FAIL rank %d (first %d): %s [%s]\n", state.rank, state.world_rank, text.c_str(),
              Fenix_Error_message());
  std::fflush(stdout);
  note("fail " + text);
  MPI_Abort(MPI_COMM_WORLD, 3);
  std::abort();
}

void require(bool condition, const std::string& what) {
  if (!condition) fail("wrong", what);
}

int good(int code, const std::string& call) {
  if (code == FENIX_ERROR_CANCELLED) {
    require(state.plan.resume == "return", call + " returned FENIX_ERROR_CANCELLED");
    throw Cut();
  }
  return code;
}

void success(int code, const std::string& call) {
  if (good(code, call) != FENIX_SUCCESS) fail("wrong", call + " returned " + std::to_string(code));
}

void mpi(int code) {
  if (code == MPI_SUCCESS) return;
  require(state.plan.resume == "return", "a call of MPI returned " + std::to_string(code));
  throw Cut();
}

MPI_Datatype mpi_type(Type type) {
  static MPI_Datatype holes = MPI_DATATYPE_NULL;
  if (type == Type::bytes) return MPI_BYTE;
  if (type == Type::words) return MPI_UINT64_T;
  if (holes == MPI_DATATYPE_NULL) {
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, 16};
    const MPI_Datatype types[] = {MPI_UINT64_T, MPI_UINT32_T};
    MPI_Datatype two = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, places, types, &two);
    MPI_Type_create_resized(two, 0, static_cast<MPI_Aint>(bytes_of(Type::holes)), &holes);
    MPI_Type_commit(&holes);
  }
  return holes;
}

bool is_valid(MPI_Comm comm) {
  int size = 0;
  return comm != MPI_COMM_NULL && MPI_Comm_size(comm, &size) == MPI_SUCCESS;
}

namespace {

void count_repair(MPI_Comm, int, void*) { ++state.repairs; }

void note_resumption() {
  int* failed = nullptr;
  std::string text;
  for (int i = 0, number = Fenix_Process_fail_list(&failed); i < number; ++i) text += " " + std::to_string(failed[i]);
  MPI_Comm_rank(state.comm, &state.rank);
  MPI_Comm_size(state.comm, &state.ranks);
  note("resume role " + std::to_string(state.role) + " rank " + std::to_string(state.rank) + " of " +
       std::to_string(state.ranks) + " error " + std::to_string(Fenix_get_error()) + " failed" + text);
}

std::int64_t next_step() {
  std::int64_t next = state.groups[0].next;
  for (const GroupState& group : state.groups) next = std::min(next, group.next);
  return next;
}

/// Takes the communicator for the program's own collective calls. In resume mode "return", survivors keep the one that they have.
void derive() {
  if (state.plan.interposed == "no") {
    state.own = state.comm;
    return;
  }
  const MPI_Comm before = is_valid(state.own) ? state.own : MPI_COMM_NULL;
  if (state.plan.resume == "return") {
    if (before == MPI_COMM_NULL) mpi(MPI_Comm_dup(state.comm, &state.own));
  } else {
    MPI_Comm reversed = MPI_COMM_NULL;
    mpi(MPI_Comm_split(state.comm, 0, -state.rank, &reversed));
    mpi(MPI_Comm_dup(reversed, &state.own));
    require(before == MPI_COMM_NULL || before == state.own, "a derived communicator has another handle");
  }
  int size = 0;
  MPI_Comm_size(state.own, &size);
  require(size == state.ranks, "a derived communicator has " + std::to_string(size) + " ranks");
}

/// From the latest repair to the end.
void work() {
  note_resumption();
  derive();
  take_up_messages();
  resume();
  for (std::int64_t step = next_step(); step < state.plan.steps; ++step) {
    for (int group = 0; group < static_cast<int>(state.groups.size()); ++group) {
      // A failure may have come between the commits of two groups.
      if (state.groups[static_cast<std::size_t>(group)].next != step) continue;
      store_step(group, step);
      inspect(group);
    }
    store_messages(step);
    if (state.plan.pause_us > 0) ::usleep(static_cast<useconds_t>(state.plan.pause_us));
  }
  note("finish");
  success(Fenix_Finalize(), "Fenix_Finalize");
  note("finished");
}

/// False if a failure has cut it short, in the resume modes that come back here.
bool attempt() {
  try {
    work();
    return true;
  } catch (const Cut&) {
    return false;
  } catch (const fenix::CommException&) {
    require(state.plan.resume == "throw", "an exception in another resume mode");
    return false;
  }
}

void set_options() {
  if (state.plan.resume == "return") Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  if (state.plan.resume == "throw") Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_THROW);
  if (state.plan.release) Fenix_set_option(FENIX_SPARE_FINALIZE_MODE, FENIX_SPARE_FINALIZE_RELEASE);
}

/// Spares may end in a call of the library.
void note_exit() { note("exit"); }

}  // namespace
}  // namespace torture

int main(int argc, char** argv) {
  using torture::note;
  using torture::state;
  if (argc != 2) {
    std::fprintf(stderr, "usage: torture FOLDER\n");
    return 2;
  }
  state.plan = torture::read_plan(std::string(argv[1]) + "/plan");
  int level = 0;
  MPI_Init_thread(&argc, &argv, state.plan.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &state.world_rank);
  torture::open_journal(argv[1], std::to_string(state.world_rank));
  std::atexit(torture::note_exit);
  state.groups.resize(state.plan.groups.size());
  torture::set_options();

  if (state.plan.persist_copies > 0) torture::open_progress(argv[1]);
  note("init");
  const bool is_null = state.plan.interposed == "null";
  if (is_null) state.comm = MPI_COMM_WORLD;
  // is_valid() asks for communicators that a failure has left incomplete. MPI 3 raises that error on the one, MPI 4 on the other.
  if (state.plan.interposed != "no") {
    for (const MPI_Comm each : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(each, MPI_ERRORS_RETURN);
  }
  Fenix_Init(&state.role, MPI_COMM_WORLD, is_null ? nullptr : &state.comm, &argc, &argv, state.plan.spares,
             &state.error);
  if (state.error < 0) {
    // A rank has died in Fenix_Init: that is not repaired, but told to all.
    note("refused " + std::to_string(state.error));
  } else if (state.role == FENIX_ROLE_SPARE_RANK) {
    note("released");
  } else {
    static bool registered = false;
    if (!registered) Fenix_Callback_register(torture::count_repair, nullptr);
    registered = true;
    while (!torture::attempt()) {
    }
  }
  std::printf("TORTURE-OK first rank %d role %d: %lld repairs, %lld snapshots restored, %lld bytes compared\n",
              state.world_rank, state.role, static_cast<long long>(state.repairs),
              static_cast<long long>(state.restores), static_cast<long long>(state.bytes_checked));
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}

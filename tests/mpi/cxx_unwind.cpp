// SPDX-License-Identifier: BSD-3-Clause
// A failure is thrown out of MPI and Fenix calls through frames of the application that have destructors: all of them run, and
// the next failure finds everything in order. In each turn a rank dies, and the others wait for it in another call. Under
// AddressSanitizer this also tells of frames that were left without being cleaned up. With the argument "multiple", locks
// inside of MPI are real ones: a call that threw with one held would make a later one hang.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;
namespace data = fenix::data;

constexpr int kGroup = 3;
constexpr int kState = 0;
constexpr int kExtra = 1;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
int alive = 0;      // objects of class Guest
int destroyed = 0;  // on the way out of frames
std::vector<long> state(1000);
std::vector<long> extra(1000);

// An object of the application, with memory of its own.
class Guest {
 public:
  explicit Guest(int depth) : memory_(100 + static_cast<std::size_t>(depth), depth), text_(40, 'x') { ++alive; }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  ~Guest() {
    expect_equal(std::accumulate(memory_.begin(), memory_.end(), 0L), memory_[0] * static_cast<long>(memory_.size()),
                 "memory of an object on the stack");
    --alive;
    ++destroyed;
  }

 private:
  std::vector<int> memory_;
  std::string text_;
};

constexpr int kFrames = 20;

// Runs call in frames that all have something to destroy.
void deeper(int depth, const std::function<void()>& call) {
  const Guest guest(depth);
  const auto pointer = std::make_unique<Guest>(depth);
  char on_the_stack[64];
  std::snprintf(on_the_stack, sizeof on_the_stack, "frame %d", depth);
  if (depth == 0) {
    call();
  } else {
    deeper(depth - 1, call);
  }
  require(std::string(on_the_stack) == "frame " + std::to_string(depth), "a frame was written over");
}

// ---------------------------------------------------------------------------------------------------- where it is thrown

// The victim dies amidst traffic: what is under way then must not end up in memory that is no longer ours.
void allreduce() {
  constexpr int kLarge = 200'000;
  if (rank == 0) ualarm(5000, 0);
  while (true) {
    std::vector<long> mine(kLarge, rank);
    std::vector<long> sum(kLarge);
    MPI_Allreduce(mine.data(), sum.data(), kLarge, MPI_LONG, MPI_SUM, comm);
    MPI_Sendrecv(sum.data(), kLarge, MPI_LONG, (rank + 1) % 4, 5, mine.data(), kLarge, MPI_LONG, (rank + 3) % 4, 5,
                 comm, MPI_STATUS_IGNORE);
  }
}

void receive(int from) {
  std::vector<long> message(5000);
  MPI_Recv(message.data(), 5000, MPI_LONG, from, 0, comm, MPI_STATUS_IGNORE);
}

void wait_for_all(int from) {
  std::vector<long> in(5000);
  std::vector<long> out(5000);
  MPI_Request requests[2];
  MPI_Irecv(in.data(), 5000, MPI_LONG, from, 1, comm, &requests[0]);
  MPI_Isend(out.data(), 5000, MPI_LONG, from, 2, comm, &requests[1]);
  // After the failure these buffers go away: the requests must be done with them.
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

void derive() {
  MPI_Comm derived = MPI_COMM_NULL;
  MPI_Comm_split(comm, rank % 2, rank, &derived);
  MPI_Barrier(comm);
}

// The first store of a member synchronises.
void first_store() {
  success(data::member_create(kGroup, kExtra, std::span(extra)), "member_create");
  success(data::member_store(kGroup, kExtra), "store");
  success(data::commit_barrier(kGroup), "commit_barrier");
}

void commit() {
  success(data::member_store(kGroup, kState, fenix::DataSubset({0, 9}, 5, 100)), "store");
  success(data::commit_barrier(kGroup), "commit_barrier");
}

void die_or(int victim, const std::function<void()>& call) {
  if (rank == victim) raise(SIGKILL);
  call();
}

// Runs a turn: a rank dies while the others wait in a call.
void wait_in_vain(int turn) {
  switch (turn) {
    case 0:
      return allreduce();
    case 1:
      return die_or(1, [] { receive(1); });
    case 2:
      return die_or(2, [] { wait_for_all(2); });
    case 3:
      return die_or(3, first_store);
    case 4:
      return die_or(0, commit);
    default:
      return die_or(2, derive);
  }
}

constexpr int kTurns = 6;

// -------------------------------------------------------------------------------------------------------------- one life

// Turns that have been survived: stored with the data, as replacements cannot know it otherwise.
int restore_turn() {
  success(data::group_create(kGroup, {.depth = 0}), "group_create");
  success(data::member_define(kGroup, kState, std::span(state)), "member_define");
  if (data::member_created(kGroup, kExtra)) success(data::member_delete(kGroup, kExtra), "member_delete");
  success(data::barrier(kGroup), "barrier");
  try {
    success(data::member_restore(kGroup, kState), "restore");
  } catch (const fenix::RuntimeException& none) {
    expect_equal(none.error, FENIX_ERROR_NODATA_FOUND, "restore");
    return 0;
  }
  for (const long element : state) expect_equal(element, state[0], "an element that was restored");
  return static_cast<int>(state[0]);
}

void live() {
  const int turn = restore_turn();
  state.assign(state.size(), turn + 1);
  success(data::member_store(kGroup, kState), "store");
  success(data::commit_barrier(kGroup), "commit_barrier");
  if (turn == kTurns) return;
  // What commit() stores and nobody commits must not be seen again.
  state.assign(state.size(), -1);
  deeper(kFrames, [&] { wait_in_vain(turn); });
  check::fail("turn " + std::to_string(turn) + " went without a failure");
}

bool survived() {
  const int before = destroyed;
  try {
    live();
    return true;
  } catch (const fenix::CommException& failure) {
    require(failure.repaired_comm == comm, "the exception has another communicator");
    expect_equal(alive, 0, "objects that were not destroyed");
    // A failure may also be met outside of the frames, if the victim died early.
    require(destroyed == before || destroyed == before + 2 * (kFrames + 1), "objects destroyed");
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool multiple = argc > 1 && std::string(argv[1]) == "multiple";
  int provided = 0;
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  require(!multiple || provided == MPI_THREAD_MULTIPLE, "no MPI_THREAD_MULTIPLE");
  fenix::init({.role = &role, .out_comm = &comm, .spares = kTurns, .err = &error});
  success(error, "init");
  MPI_Comm_rank(comm, &rank);
  while (!survived()) {
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

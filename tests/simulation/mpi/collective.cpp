// SPDX-License-Identifier: BSD-3-Clause
// Collective calls. Each is a meeting: members give what they have, and go on when they have what they need. If a member dies,
// or the communicator is revoked, some may come through and others not.
#include <algorithm>
#include <array>
#include <cstring>

#include "../cost.hpp"
#include "../court.hpp"
#include "../tally.hpp"
#include "state.hpp"

namespace fenix_simulation::mpi {
namespace {

// Calls of these kinds are counted apart: agreements match each other, whatever else is under way.
enum Line : int { kOrdinary, kAgreements, kShrinks };

/// Tells all members that a meeting is over after so long.
void end(Comm* comm, Meeting& meeting, Time takes) {
  meeting.ready = world().time_here() + takes;
  for (const Pid each : comm->members()) {
    if (Process* other = world().find(each); other->alive) world().stir(*other, meeting.ready);
  }
}

bool is_full(const Comm* comm, const Meeting& meeting) { return meeting.given.size() == comm->members().size(); }

Meeting& arrive(Comm* comm, Line line, const void* data, std::size_t bytes, bool gathers = false) {
  world().step();
  make_progress();
  Member& here = own(comm);
  Meeting& meeting = comm->meetings[{line, here.calls[line]++}];
  const auto* begin = static_cast<const std::byte*>(data);
  meeting.given[self().pid].assign(begin, begin + bytes);
  if (machine() != nullptr) {
    const std::size_t all = gathers ? bytes * comm->members().size() : bytes;
    if (line == kOrdinary && is_full(comm, meeting)) {
      end(comm, meeting, machine()->collective(comm->is_on_node, comm->members().size(), all));
    }
    return meeting;
  }
  for (const Pid each : comm->members()) {
    if (Process* other = world().find(each); other->alive && each != self().pid) {
      world().stir(*other, world().now() + world().draw(Kind::network, 300, 20'000));
    }
  }
  return meeting;
}

/// Waits until those have come whom this rank needs. Returns an error if somebody is missing, or by chance if somebody who
/// has come has died since.
template <class Condition>
int wait_for(Comm* comm, Condition&& has_all) {
  while (true) {
    make_progress();
    const bool fails = is_revoked(comm) || knows_failure(comm);
    const bool complete = has_all();
    if (complete && (!fails || world().draw(Kind::race, 2) == 0)) break;
    if (fails) return is_revoked(comm) ? MPIX_ERR_REVOKED : MPIX_ERR_PROC_FAILED;
    world().idle();
  }
  world().step();
  return MPI_SUCCESS;
}

int meet(Comm* comm, Meeting& meeting) {
  return wait_for(comm,
                  [&] { return machine() != nullptr ? meeting.ready <= world().time_here() : is_full(comm, meeting); });
}

/// The last member to leave forgets a meeting, where there may be many.
void leave(Comm* comm, Meeting& meeting) {
  if (machine() == nullptr || ++meeting.left < comm->members().size()) return;
  for (auto each = comm->meetings.begin(); each != comm->meetings.end(); ++each) {
    if (&each->second != &meeting) continue;
    comm->meetings.erase(each);
    return;
  }
}

std::size_t bytes_of(int count, MPI_Datatype type) { return static_cast<std::size_t>(count) * size_of(type); }

/// Returns whether nobody can come any more: whoever is missing has died, and somebody here knows it.
bool is_due(const Comm& comm, const Meeting& meeting) {
  std::size_t missing = comm.members().size() - meeting.given.size();
  if (missing == 0) return true;
  for (const Pid each : world().gone()) {
    if (!comm.has(each) || meeting.given.count(each) != 0) continue;
    if (world().find(each)->exited || World::knows_of(self(), each, world().now())) --missing;
  }
  return missing == 0;
}

/// Decides on behalf of all: the same for whoever comes to know it.
void decide(Comm& comm, Meeting& meeting) {
  meeting.is_decided = true;
  for (const auto& [pid, data] : meeting.given) {
    // The word of one that has died since may count or not.
    if (!world().find(pid)->alive && world().draw(Kind::agree, 2) == 1) continue;
    int flag = 0;
    std::memcpy(&flag, data.data(), sizeof flag);
    meeting.flag &= flag;
  }
  meeting.some_failed = std::any_of(comm.members().begin(), comm.members().end(), [&](Pid each) {
    if (world().find(each)->alive || world().find(each)->exited) return false;
    return !std::all_of(meeting.given.begin(), meeting.given.end(), [&](const auto& other) {
      return !world().find(other.first)->alive || comm.of[other.first].acknowledged.count(each) != 0;
    });
  });
}

/// limit: for a process that the schedule leaves alone; 0: none.
template <class Decide>
void agree(Comm* comm, Meeting& meeting, const Growth Machine::*cost, Time limit, Decide&& decides) {
  const auto is_over = [&] {
    return meeting.is_decided && (machine() == nullptr || meeting.ready <= world().time_here());
  };
  const Time begin = world().now();
  while (!is_over()) {
    if (limit > 0 && !self().victim && world().now() - begin > limit)
      world().violate("an agreement waits beyond the last resort");
    if (!meeting.is_decided && is_due(*comm, meeting)) {
      decides();
      if (machine() != nullptr) {
        end(comm, meeting, (machine()->*cost).of(comm->members().size()));
        continue;
      }
      for (const Pid each : comm->members()) {
        if (Process* other = world().find(each); other->alive && each != self().pid) {
          world().stir(*other, world().now() + world().draw(Kind::agree, 300, 100'000));
        }
      }
    } else {
      world().idle();
    }
  }
  world().step();
  make_progress();
}

}  // namespace

Meeting& meet_for_window(Comm* comm, void* memory, std::size_t bytes, int& error) {
  std::array<std::byte, sizeof memory + sizeof bytes> words{};
  std::memcpy(words.data(), &memory, sizeof memory);
  std::memcpy(words.data() + sizeof memory, &bytes, sizeof bytes);
  Meeting& meeting = arrive(comm, kOrdinary, words.data(), words.size());
  error = meet(comm, meeting);
  return meeting;
}

}  // namespace fenix_simulation::mpi

using namespace fenix_simulation::mpi;
using fenix_simulation::count_bytes;
using fenix_simulation::count_call;
using fenix_simulation::forget_pages;
using fenix_simulation::Kind;
using fenix_simulation::kNever;
using fenix_simulation::Machine;
using fenix_simulation::machine;
using fenix_simulation::Pid;
using fenix_simulation::Process;
using fenix_simulation::Time;
using fenix_simulation::world;
using fenix_simulation::World;

FENIX_MPI(int, _Barrier, (MPI_Comm comm)) {
  Comm* object = comm_of(comm);
  note_call("Barrier", object);
  Meeting& meeting = arrive(object, kOrdinary, nullptr, 0);
  const int error = meet(object, meeting);
  if (error == MPI_SUCCESS) leave(object, meeting);
  return raise(object, error);
}

FENIX_MPI(int, _Bcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm)) {
  Comm* object = comm_of(comm);
  note_call("Bcast", object, root);
  const bool is_root = rank_in(object) == root;
  const std::size_t bytes = bytes_of(count, type);
  Meeting& meeting = arrive(object, kOrdinary, data, is_root ? bytes : 0);
  const Pid from = object->members().at(static_cast<std::size_t>(root));
  const int error =
      machine() != nullptr ? meet(object, meeting) : wait_for(object, [&] { return meeting.given.count(from) != 0; });
  if (error != MPI_SUCCESS) return raise(object, error);
  if (!is_root) std::memcpy(data, meeting.given[from].data(), std::min(bytes, meeting.given[from].size()));
  leave(object, meeting);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Allgather,
          (const void* mine, int count, MPI_Datatype type, void* all, int /*received*/, MPI_Datatype /*as*/,
           MPI_Comm comm)) {
  Comm* object = comm_of(comm);
  note_call("Allgather", object);
  const std::size_t bytes = bytes_of(count, type);
  count_bytes(scaling::allgathers, scaling::allgather_bytes, bytes * object->members().size());
  if (machine() != nullptr) forget_pages(all, bytes * object->members().size());
  Meeting& meeting = arrive(object, kOrdinary, mine, bytes, true);
  const int error = meet(object, meeting);
  if (error != MPI_SUCCESS) return raise(object, error);
  if (!meeting.has_result) {
    meeting.has_result = true;
    for (const Pid each : object->members()) {
      const auto& its = meeting.given[each];
      meeting.result.insert(meeting.result.end(), its.begin(), its.begin() + static_cast<std::ptrdiff_t>(bytes));
    }
  }
  meeting.shared_result.copy(meeting.result, all);
  leave(object, meeting);
  return MPI_SUCCESS;
}

// Sums, minima and maxima of 64-bit integers are what the programs need.
FENIX_MPI(int, _Allreduce, (const void* mine, void* all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)) {
  Comm* object = comm_of(comm);
  note_call("Allreduce", object);
  const std::size_t bytes = bytes_of(count, type);
  Meeting& meeting = arrive(object, kOrdinary, mine, bytes);
  const int error = meet(object, meeting);
  if (error != MPI_SUCCESS) return raise(object, error);
  if (size_of(type) != sizeof(std::int64_t)) world().violate("not simulated: a reduction of this type", "simulation");
  meeting.result.resize(bytes);
  for (int i = 0; i < count && !meeting.has_result; ++i) {
    std::int64_t result = 0;
    bool is_first = true;
    for (const Pid each : object->members()) {
      std::int64_t value = 0;
      std::memcpy(&value, meeting.given[each].data() + static_cast<std::size_t>(i) * sizeof value, sizeof value);
      result = is_first        ? value
               : op == MPI_MAX ? std::max(result, value)
               : op == MPI_MIN ? std::min(result, value)
                               : result + value;
      is_first = false;
    }
    std::memcpy(&meeting.result[static_cast<std::size_t>(i) * sizeof result], &result, sizeof result);
  }
  meeting.has_result = true;
  if (bytes > 0) std::memcpy(all, meeting.result.data(), bytes);
  leave(object, meeting);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_dup, (MPI_Comm comm, MPI_Comm* made)) {
  Comm* object = comm_of(comm);
  note_call("Comm_dup", object);
  count_call(scaling::communicators);
  *made = MPI_COMM_NULL;
  Meeting& meeting = arrive(object, kOrdinary, nullptr, 0);
  const int error = meet(object, meeting);
  if (error != MPI_SUCCESS) return raise(object, error);
  if (meeting.comm == nullptr) {
    meeting.comm = make_comm(object->list);
    meeting.comm->is_copy = true;
  }
  *made = adopt(meeting.comm, object);
  leave(object, meeting);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made)) {
  Comm* object = comm_of(comm);
  note_call("Comm_split", object, color, key);
  count_call(scaling::communicators);
  *made = MPI_COMM_NULL;
  const std::array<int, 2> words{color, key};
  Meeting& meeting = arrive(object, kOrdinary, words.data(), sizeof words);
  const int error = meet(object, meeting);
  if (error != MPI_SUCCESS) return raise(object, error);
  if (color == MPI_UNDEFINED) return MPI_SUCCESS;
  if (meeting.made.count(self().pid) == 0) {
    std::vector<std::pair<int, Pid>> chosen;
    for (const Pid each : object->members()) {
      std::array<int, 2> its{};
      std::memcpy(its.data(), meeting.given[each].data(), sizeof its);
      if (its[0] == color) chosen.emplace_back(its[1], each);
    }
    std::stable_sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Pid> members;
    for (const auto& each : chosen) members.push_back(each.second);
    Comm* part = make_comm(members);
    for (const Pid each : members) meeting.made[each] = part;
  }
  *made = adopt(meeting.made[self().pid], object);
  leave(object, meeting);
  return MPI_SUCCESS;
}

// -------------------------------------------------------------------------------------------- the chapter on process faults

extern "C" int PMPIX_Comm_agree(MPI_Comm comm, int* flag) {
  Comm* object = comm_of(comm);
  note_call("Comm_agree", object, *flag);
  count_call(scaling::agreements);
  Meeting& meeting = arrive(object, kAgreements, flag, sizeof *flag);
  // The library ends a process that waits for four times FENIX_TIMEOUT there.
  const Time limit =
      machine() == nullptr ? 5 * static_cast<Time>(fenix_simulation::court().plan.timeout) * 1'000'000'000 : 0;
  agree(object, meeting, &Machine::agree, limit, [&] { decide(*object, meeting); });
  *flag = meeting.flag;
  const int error = meeting.some_failed ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
  leave(object, meeting);
  return raise(object, error);
}

extern "C" int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* made) {
  Comm* object = comm_of(comm);
  note_call("Comm_shrink", object);
  count_call(scaling::shrinks);
  *made = MPI_COMM_NULL;
  Meeting& meeting = arrive(object, kShrinks, nullptr, 0);
  agree(object, meeting, &Machine::shrink, /*limit=*/0, [&] {
    std::vector<Pid> living;
    for (const Pid each : object->members()) {
      const Process& process = *world().find(each);
      if (meeting.given.count(each) == 0) continue;
      // One that has come and died may be left in the new communicator.
      const bool is_unknown = !World::knows_of(self(), each, world().now());
      if (process.alive || (is_unknown && world().draw(Kind::agree, 2) == 0)) living.push_back(each);
    }
    meeting.comm = make_comm(living);
    meeting.is_decided = true;
  });
  *made = adopt(meeting.comm, object);
  return MPI_SUCCESS;
}

// It reaches each process at its own time. If the caller dies before anybody has heard of it, nobody may ever hear.
extern "C" int PMPIX_Comm_revoke(MPI_Comm comm) {
  Comm* object = comm_of(comm);
  note_call("Comm_revoke", object);
  const Time now = world().now();
  own(object).revoked_at = std::min(own(object).revoked_at, now);
  object->revoker = self().pid;
  make_progress();
  if (machine() != nullptr) {
    // The first one to revoke tells all others in a tree.
    if (object->revoked_at == kNever) {
      object->revoked_at = world().time_here() + machine()->collective(object->is_on_node, object->members().size(), 0);
      for (const Pid each : object->members()) {
        if (Process* other = world().find(each); other->alive) world().stir(*other, object->revoked_at);
      }
    }
    world().step();
    return MPI_SUCCESS;
  }
  for (const Pid each : object->members()) {
    Process* other = world().find(each);
    if (each == self().pid || !other->alive) continue;
    Time takes = world().draw(Kind::revoke, 1000, 100'000);
    if (world().draw(Kind::revoke, 4) == 3) takes = world().draw(Kind::revoke, 3'000'000);
    Time& at = object->of[each].revoked_at;
    at = std::min(at, now + takes);
    world().stir(*other, at);
  }
  world().step();
  return MPI_SUCCESS;
}

extern "C" int PMPIX_Comm_is_revoked(MPI_Comm comm, int* flag) {
  *flag = is_revoked(comm_of(comm)) ? 1 : 0;
  return MPI_SUCCESS;
}

extern "C" int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* group) {
  // Without a look at the network Open MPI does not get to know of deaths either.
  const Time known = world().surroundings().open_mpi ? self().mpi->progress : world().now();
  *group = make_group(known_failures(comm_of(comm), known));
  return MPI_SUCCESS;
}

extern "C" int PMPIX_Comm_failure_ack(MPI_Comm comm) {
  Comm* object = comm_of(comm);
  for (const Pid each : known_failures(object, world().now())) own(object).acknowledged.insert(each);
  return MPI_SUCCESS;
}

// SPDX-License-Identifier: BSD-3-Clause
// Objects of the simulated MPI. A handle is the address of such an object, or that of a predefined symbol.
#pragma once

#include <mpi.h>
#include <mpi-ext.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../pages.hpp"
#include "../world.hpp"

namespace fenix_simulation::mpi {

struct Comm;
struct Request;

struct Errhandler {
  MPI_Comm_errhandler_function* function = nullptr;  ///< null: errors are returned
  bool is_fatal = false;
};

/// Members of a group or a communicator, which many handles share.
class Members {
 public:
  Members() = default;
  explicit Members(std::vector<Pid> pids) : pids_(std::move(pids)) {}
  [[nodiscard]] const std::vector<Pid>& pids() const { return pids_; }
  /// Returns the place of a process, or MPI_UNDEFINED.
  [[nodiscard]] int place_of(Pid pid) const;

 private:
  std::vector<Pid> pids_;
  mutable std::unordered_map<Pid, int> places_;  ///< made when it is first asked for
};

struct Group {
  std::shared_ptr<const Members> list;

  [[nodiscard]] const std::vector<Pid>& members() const { return list->pids(); }
};

struct Message {
  int source = 0;  ///< rank of the sender
  int tag = 0;
  std::vector<std::byte> data;
  Time ready = 0;             ///< when it arrives
  Request* sender = nullptr;  ///< of a send that waits for its receiver
  Pid from = 0;
  std::span<const std::byte> borrowed;  ///< data of a sender that waits, where no copy is made

  [[nodiscard]] std::span<const std::byte> content() const {
    return borrowed.empty() ? std::span<const std::byte>(data) : borrowed;
  }
};

/// State of a communicator that a process has.
struct Member {
  Errhandler* handler = nullptr;
  std::deque<Message> inbox;       ///< in the order in which they were sent
  std::deque<Request*> posted;     ///< receives that wait
  std::map<Pid, Time> last_ready;  ///< of messages of each sender: they do not overtake each other
  Time revoked_at = kNever;
  std::set<Pid> acknowledged;
  std::map<int, std::uint64_t> calls;  ///< collective calls of each kind
  std::map<int, void*> attributes;
};

/// A collective call of all members.
struct Meeting {
  std::map<Pid, std::vector<std::byte>> given;
  std::map<Pid, Comm*> made;
  bool is_decided = false;  ///< of agreements
  int flag = -1;
  bool some_failed = false;
  Comm* comm = nullptr;
  void* object = nullptr;  ///< another result, the same for all
  std::vector<std::byte> result;
  bool has_result = false;
  SharedContent shared_result;
  Time ready = kNever;   ///< when it is over, where a machine's costs count
  std::size_t left = 0;  ///< members that have gone on
};

struct Comm {
  int number = 0;
  bool is_copy = false;  ///< made by MPI_Comm_dup
  std::shared_ptr<const Members> list;
  std::vector<Pid> remote;  ///< of an intercommunicator
  std::unordered_map<Pid, Member> of;
  Pid revoker = 0;           ///< the last one that has revoked it
  bool is_on_node = false;   ///< all members are on one node
  Time revoked_at = kNever;  ///< for all, where a machine's costs count
  std::map<std::pair<int, std::uint64_t>, Meeting> meetings;

  [[nodiscard]] const std::vector<Pid>& members() const { return list->pids(); }
  [[nodiscard]] int size() const { return static_cast<int>(members().size()); }
  [[nodiscard]] const std::vector<Pid>& peers() const { return remote.empty() ? members() : remote; }
  [[nodiscard]] bool has(Pid pid) const { return list->place_of(pid) != MPI_UNDEFINED; }
};

struct Request {
  enum class Form : std::uint8_t { send, receive, done };
  Form form = Form::done;
  Comm* comm = nullptr;
  std::byte* buffer = nullptr;
  std::size_t bytes = 0;
  int peer = 0;
  int tag = 0;
  bool is_complete = false;
  bool is_cancelled = false;
  bool is_persistent = false;
  bool is_active = true;
  int error = MPI_SUCCESS;
  int source = MPI_ANY_SOURCE;
  int its_tag = MPI_ANY_TAG;
  std::size_t received = 0;
};

/// All that MPI keeps for a process.
struct ProcessState {
  Comm* world = nullptr;
  Comm* self = nullptr;
  Comm* parent = nullptr;
  const Comm* last_used = nullptr;  ///< and what the process has of it, which is asked for often
  Member* of_last_used = nullptr;
  std::vector<Comm*> comms;  ///< by the number that Fortran has for it, without the two above
  int keys = 0;              ///< of attributes
  Time progress = 0;         ///< when MPI last looked at the network for this process
  bool finalizing = false;   ///< it has called MPI_Finalize
  bool finalized = false;
};

/// Makes a request of the present process, which it gives back when the program has no handle of it any more.
Request* take_request();
void give_back(Request* request);
/// Makes a communicator; its members have to adopt it.
Comm* make_comm(std::shared_ptr<const Members> members, std::vector<Pid> remote = {});
inline Comm* make_comm(std::vector<Pid> members) {
  return make_comm(std::make_shared<const Members>(std::move(members)));
}
/// Gives the present process a communicator, with the error handler of another.
MPI_Comm adopt(Comm* comm, const Comm* parent);
/// Makes MPI_COMM_WORLD and MPI_COMM_SELF for processes that start together.
void begin_world(const std::vector<Process*>& processes);
/// Has words arrive that dead processes have put, and that were on their way until now.
void land_late_words();
/// Has messages of a dead process lost that were on their way, and tells who waits.
void note_death(Process& dead);

inline Process& self() { return *present_process(); }
Comm* comm_of(MPI_Comm handle);
Member& own(Comm* comm);
int rank_in(const Comm* comm, Pid pid);
inline int rank_in(const Comm* comm) { return rank_in(comm, self().pid); }
bool is_revoked(const Comm* comm);
/// MPI looks at the network. Without that Open MPI does not get to know of revocations.
inline void make_progress() { self().mpi->progress = world().now(); }
/// Returns whether the present process knows that a member has died.
bool knows_failure(const Comm* comm);
/// Returns the members of whose death the present process knows, in the order of their ranks.
std::vector<Pid> known_failures(const Comm* comm, Time known);
MPI_Group make_group(std::shared_ptr<const Members> list);
inline MPI_Group make_group(std::vector<Pid> pids) {
  return make_group(std::make_shared<const Members>(std::move(pids)));
}
/// Calls the error handler, which may jump away. Returns the error.
int raise(Comm* comm, int error);
/// Notes a call for the hash and the trace.
void note_call(const char* name, const Comm* comm, long a = 0, long b = 0);
std::string name_of(const Comm* comm);

std::size_t size_of(MPI_Datatype type);

}  // namespace fenix_simulation::mpi

// Both names of a function of MPI.
#define FENIX_MPI(result, name, parameters)                                    \
  extern "C" result MPI##name parameters __attribute__((alias("PMPI" #name))); \
  extern "C" result PMPI##name parameters

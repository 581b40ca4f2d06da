// SPDX-License-Identifier: BSD-3-Clause
// Communicators, groups and error handlers.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "../cost.hpp"
#include "state.hpp"

namespace fenix_simulation::mpi {
namespace {

constexpr int kFirstNumber = 2;  // 0 and 1 are MPI_COMM_WORLD and MPI_COMM_SELF for Fortran

Errhandler* handler_of(MPI_Errhandler handle) {
  static Errhandler returns{nullptr, false};
  static Errhandler fatal{nullptr, true};
  if (handle == MPI_ERRORS_RETURN || handle == MPI_ERRHANDLER_NULL) return &returns;
  if (handle == MPI_ERRORS_ARE_FATAL) return &fatal;
  return reinterpret_cast<Errhandler*>(handle);
}

Group* group_of(MPI_Group handle) {
  static Group none{std::make_shared<const Members>()};
  return handle == MPI_GROUP_EMPTY || handle == MPI_GROUP_NULL ? &none : reinterpret_cast<Group*>(handle);
}

// Groups that were freed. Elsewhere each has an address of its own.
std::vector<Group*>& free_groups() {
  static std::vector<Group*> groups;
  return groups;
}

int place_in(const std::vector<Pid>& members, Pid pid) {
  const auto found = std::find(members.begin(), members.end(), pid);
  return found == members.end() ? MPI_UNDEFINED : static_cast<int>(found - members.begin());
}

bool same(const Members& a, const Members& b) { return &a == &b || a.pids() == b.pids(); }

}  // namespace

int Members::place_of(Pid pid) const {
  if (places_.empty()) {
    for (std::size_t i = 0; i < pids_.size(); ++i) places_.emplace(pids_[i], static_cast<int>(i));
  }
  const auto found = places_.find(pid);
  return found == places_.end() ? MPI_UNDEFINED : found->second;
}

MPI_Group make_group(std::shared_ptr<const Members> list) {
  Group* group = nullptr;
  if (free_groups().empty()) {
    group = world().objects().make<Group>();
  } else {
    group = free_groups().back();
    free_groups().pop_back();
  }
  group->list = std::move(list);
  return reinterpret_cast<MPI_Group>(group);
}

Comm* make_comm(std::shared_ptr<const Members> members, std::vector<Pid> remote) {
  static_assert(sizeof(Comm*) == sizeof(MPI_Comm));
  Comm* comm = world().objects().make<Comm>();
  comm->list = std::move(members);
  comm->remote = std::move(remote);
  comm->number = static_cast<int>(reinterpret_cast<std::uintptr_t>(comm) >> 6U & 0xffffff);
  const auto node_of = [](Pid pid) { return world().find(pid)->node; };
  comm->is_on_node = std::all_of(comm->members().begin(), comm->members().end(),
                                 [&](Pid each) { return node_of(each) == node_of(comm->members().front()); });
  return comm;
}

MPI_Comm adopt(Comm* comm, const Comm* parent) {
  auto& comms = self().mpi->comms;
  const auto free = std::find(comms.begin(), comms.end(), nullptr);
  if (free != comms.end()) {
    *free = comm;
  } else {
    comms.push_back(comm);
  }
  own(comm).handler = parent != nullptr ? parent->of.at(self().pid).handler : handler_of(MPI_ERRORS_RETURN);
  return reinterpret_cast<MPI_Comm>(comm);
}

void begin_world(const std::vector<Process*>& processes) {
  free_groups().clear();
  std::vector<Pid> members;
  for (const Process* each : processes) members.push_back(each->pid);
  Comm* all = make_comm(members);
  for (Process* each : processes) {
    each->mpi->world = all;
    all->of[each->pid].handler = handler_of(MPI_ERRORS_ARE_FATAL);
    each->mpi->self = make_comm({each->pid});
    each->mpi->self->of[each->pid].handler = handler_of(MPI_ERRORS_ARE_FATAL);
  }
}

Comm* comm_of(MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD) return self().mpi->world;
  if (handle == MPI_COMM_SELF) return self().mpi->self;
  return handle == MPI_COMM_NULL ? nullptr : reinterpret_cast<Comm*>(handle);
}

Member& own(Comm* comm) {
  ProcessState& state = *self().mpi;
  if (state.last_used != comm) {
    state.of_last_used = &comm->of[self().pid];
    state.last_used = comm;
  }
  return *state.of_last_used;
}

int rank_in(const Comm* comm, Pid pid) { return comm->list->place_of(pid); }

bool is_revoked(const Comm* comm) {
  if (comm->revoked_at <= world().time_here()) return true;
  const ProcessState& state = *self().mpi;
  const Time known = world().surroundings().open_mpi ? state.progress : world().now();
  if (state.last_used == comm) return state.of_last_used->revoked_at <= known;
  const auto found = comm->of.find(self().pid);
  return found != comm->of.end() && found->second.revoked_at <= known;
}

bool knows_failure(const Comm* comm) {
  const Process& here = self();
  const Time now = world().now();
  return std::any_of(here.notices.begin(), here.notices.end(), [&](const auto& each) {
    return each.second <= now && (comm->has(each.first) || place_in(comm->remote, each.first) >= 0);
  });
}

std::vector<Pid> known_failures(const Comm* comm, Time known) {
  std::vector<Pid> failed;
  for (const auto& [pid, time] : self().notices) {
    if (time <= known && comm->has(pid)) failed.push_back(pid);
  }
  std::sort(failed.begin(), failed.end(), [&](Pid a, Pid b) { return rank_in(comm, a) < rank_in(comm, b); });
  return failed;
}

int raise(Comm* comm, int error) {
  if (error == MPI_SUCCESS) return error;
  world().note(static_cast<std::uint64_t>(error),
               [&] { return "  error " + std::to_string(error) + " on " + name_of(comm); });
  Errhandler* handler = own(comm).handler;
  if (handler == nullptr) return error;
  if (handler->is_fatal) world().violate("an error of MPI on " + name_of(comm) + " ends a process", "P3");
  if (handler->function != nullptr) {
    MPI_Comm handle = reinterpret_cast<MPI_Comm>(comm);
    if (comm == self().mpi->world) handle = MPI_COMM_WORLD;
    int code = error;
    handler->function(&handle, &code);
  }
  return error;
}

std::string name_of(const Comm* comm) {
  if (comm == nullptr) return "no communicator";
  if (comm == self().mpi->world) return "MPI_COMM_WORLD";
  if (comm == self().mpi->self) return "MPI_COMM_SELF";
  return "communicator " + std::to_string(comm->number) + " of " + std::to_string(comm->size());
}

void note_call(const char* name, const Comm* comm, long a, long b) {
  const auto what = static_cast<std::uint64_t>(name[0] + 3 * name[1]) ^ static_cast<std::uint64_t>(a * 31 + b);
  world().note(what, [&] {
    return std::string("MPI_") + name + " on " + name_of(comm) + " " + std::to_string(a) + " " + std::to_string(b);
  });
}

}  // namespace fenix_simulation::mpi

using namespace fenix_simulation::mpi;
using fenix_simulation::kNever;
using fenix_simulation::machine;
using fenix_simulation::Pid;
using fenix_simulation::world;

// ------------------------------------------------------------------------------------------------------------ communicators

FENIX_MPI(int, _Comm_rank, (MPI_Comm comm, int* rank)) {
  *rank = rank_in(comm_of(comm));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_size, (MPI_Comm comm, int* size)) {
  *size = comm_of(comm)->size();
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_remote_size, (MPI_Comm comm, int* size)) {
  *size = static_cast<int>(comm_of(comm)->remote.size());
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_test_inter, (MPI_Comm comm, int* flag)) {
  *flag = comm_of(comm)->remote.empty() ? 0 : 1;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_compare, (MPI_Comm a, MPI_Comm b, int* result)) {
  const Comm* first = comm_of(a);
  const Comm* second = comm_of(b);
  *result = first == second ? MPI_IDENT : same(*first->list, *second->list) ? MPI_CONGRUENT : MPI_UNEQUAL;
  return MPI_SUCCESS;
}

// Only the library copies communicators here, and it frees none that a failure may have left messages on.
FENIX_MPI(int, _Comm_free, (MPI_Comm * comm)) {
  Comm* const object = comm_of(*comm);
  if (object != nullptr && object->is_copy && !own(object).inbox.empty())
    world().violate("a communicator is freed with messages that nobody has received: its number goes to another one");
  auto& comms = self().mpi->comms;
  std::replace(comms.begin(), comms.end(), comm_of(*comm), static_cast<Comm*>(nullptr));
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

FENIX_MPI(MPI_Fint, _Comm_c2f, (MPI_Comm comm)) {
  const Comm* object = comm_of(comm);
  if (object == self().mpi->world) return 0;
  if (object == self().mpi->self) return 1;
  const auto& comms = self().mpi->comms;
  const auto found = std::find(comms.begin(), comms.end(), object);
  return found == comms.end() ? 2 : kFirstNumber + 1 + static_cast<MPI_Fint>(found - comms.begin());
}

FENIX_MPI(MPI_Comm, _Comm_f2c, (MPI_Fint number)) {
  if (number == 0) return MPI_COMM_WORLD;
  if (number == 1) return MPI_COMM_SELF;
  if (number == 2) return MPI_COMM_NULL;
  const auto& comms = self().mpi->comms;
  const auto place = static_cast<std::size_t>(number - kFirstNumber - 1);
  // A null pointer means that there are no more.
  if (number < 0 || place >= comms.size()) return nullptr;
  return comms[place] == nullptr ? MPI_COMM_NULL : reinterpret_cast<MPI_Comm>(comms[place]);
}

FENIX_MPI(int, _Comm_get_parent, (MPI_Comm * parent)) {
  Comm* object = self().mpi->parent;
  *parent = object == nullptr ? MPI_COMM_NULL : reinterpret_cast<MPI_Comm>(object);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Topo_test, (MPI_Comm /*comm*/, int* status)) {
  *status = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_get_attr, (MPI_Comm comm, int key, void* value, int* flag)) {
  auto& attributes = own(comm_of(comm)).attributes;
  const auto found = attributes.find(key);
  *flag = found != attributes.end() ? 1 : 0;
  if (*flag != 0) std::memcpy(value, &found->second, sizeof(void*));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_set_attr, (MPI_Comm comm, int key, void* value)) {
  own(comm_of(comm)).attributes[key] = value;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_create_keyval,
          (MPI_Comm_copy_attr_function* /*copy*/, MPI_Comm_delete_attr_function* /*remove*/, int* key,
           void* /*state*/)) {
  constexpr int kFirstKey = 100;
  *key = kFirstKey + self().mpi->keys++;
  return MPI_SUCCESS;
}

// ----------------------------------------------------------------------------------------------------------- error handlers

FENIX_MPI(int, _Comm_create_errhandler, (MPI_Comm_errhandler_function * function, MPI_Errhandler* handler)) {
  *handler = reinterpret_cast<MPI_Errhandler>(world().objects().make<Errhandler>(function, false));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler)) {
  own(comm_of(comm)).handler = handler_of(handler);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler* handler)) {
  Errhandler* present = own(comm_of(comm)).handler;
  *handler = present == handler_of(MPI_ERRORS_RETURN)      ? MPI_ERRORS_RETURN
             : present == handler_of(MPI_ERRORS_ARE_FATAL) ? MPI_ERRORS_ARE_FATAL
                                                           : reinterpret_cast<MPI_Errhandler>(present);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Errhandler_free, (MPI_Errhandler * handler)) {
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_call_errhandler, (MPI_Comm comm, int error)) {
  (void)raise(comm_of(comm), error);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Win_set_errhandler, (MPI_Win /*window*/, MPI_Errhandler /*handler*/)) { return MPI_SUCCESS; }

FENIX_MPI(int, _Error_class, (int error, int* its_class)) {
  *its_class = error;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Error_string, (int error, char* text, int* length)) {
  *length = std::snprintf(text, MPI_MAX_ERROR_STRING, "error %d of the simulated MPI", error);
  return MPI_SUCCESS;
}

// ------------------------------------------------------------------------------------------------------------------- groups

FENIX_MPI(int, _Comm_group, (MPI_Comm comm, MPI_Group* group)) {
  *group = make_group(comm_of(comm)->list);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Comm_remote_group, (MPI_Comm comm, MPI_Group* group)) {
  *group = make_group(comm_of(comm)->remote);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Group_size, (MPI_Group group, int* size)) {
  *size = static_cast<int>(group_of(group)->members().size());
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Group_rank, (MPI_Group group, int* rank)) {
  *rank = group_of(group)->list->place_of(self().pid);
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Group_free, (MPI_Group * group)) {
  if (machine() != nullptr && *group != MPI_GROUP_NULL && *group != MPI_GROUP_EMPTY) {
    Group* freed = group_of(*group);
    freed->list.reset();
    free_groups().push_back(freed);
  }
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Group_incl, (MPI_Group group, int number, const int ranks[], MPI_Group* made)) {
  std::vector<Pid> members;
  for (int i = 0; i < number; ++i) members.push_back(group_of(group)->members().at(static_cast<std::size_t>(ranks[i])));
  *made = number == 0 ? MPI_GROUP_EMPTY : make_group(std::move(members));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Group_range_incl, (MPI_Group group, int number, int ranges[][3], MPI_Group* made)) {
  std::vector<Pid> members;
  for (int i = 0; i < number; ++i) {
    for (int rank = ranges[i][0]; rank <= ranges[i][1]; rank += ranges[i][2]) {
      members.push_back(group_of(group)->members().at(static_cast<std::size_t>(rank)));
    }
  }
  *made = make_group(std::move(members));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Group_union, (MPI_Group a, MPI_Group b, MPI_Group* made)) {
  std::vector<Pid> members = group_of(a)->members();
  for (const Pid each : group_of(b)->members()) {
    if (group_of(a)->list->place_of(each) == MPI_UNDEFINED) members.push_back(each);
  }
  *made = make_group(std::move(members));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Group_intersection, (MPI_Group a, MPI_Group b, MPI_Group* made)) {
  std::vector<Pid> members;
  for (const Pid each : group_of(a)->members()) {
    if (group_of(b)->list->place_of(each) != MPI_UNDEFINED) members.push_back(each);
  }
  *made = make_group(std::move(members));
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Group_compare, (MPI_Group a, MPI_Group b, int* result)) {
  *result = same(*group_of(a)->list, *group_of(b)->list) ? MPI_IDENT : MPI_UNEQUAL;
  return MPI_SUCCESS;
}

FENIX_MPI(int, _Group_translate_ranks, (MPI_Group from, int number, const int ranks[], MPI_Group to, int found[])) {
  const auto& members = group_of(from)->members();
  const Members& there = *group_of(to)->list;
  for (int i = 0; i < number; ++i) {
    found[i] =
        ranks[i] == MPI_PROC_NULL ? MPI_PROC_NULL : there.place_of(members.at(static_cast<std::size_t>(ranks[i])));
  }
  return MPI_SUCCESS;
}

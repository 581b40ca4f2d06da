// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/team_factory.hpp"

#include <mpi-ext.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "recovery/process/comm_functions.hpp"
#include "recovery/process/derived.hpp"

namespace fenix_impl {

/// While one lives, a communicator is in a call that only its revocation may end.
class TeamFactory::Copied {
 public:
  Copied(TeamFactory& factory, MPI_Comm comm) : factory_(factory), comm_(comm) {
    const std::lock_guard lock(factory_.mutex_);
    factory_.copied_.push_back(comm_);
  }
  Copied(const Copied&) = delete;
  Copied& operator=(const Copied&) = delete;
  ~Copied() {
    const std::lock_guard lock(factory_.mutex_);
    factory_.copied_.erase(std::find(factory_.copied_.begin(), factory_.copied_.end(), comm_));
  }

 private:
  TeamFactory& factory_;
  MPI_Comm comm_;
};

void TeamFactory::end_copies() {
  const std::lock_guard lock(mutex_);
  for (const MPI_Comm comm : copied_) revoke(comm);
}

// Another thread of the program may use comm meanwhile, and meet a death: that is repaired as always. A handler that the program
// has set gives way for so long, as the call must return here.
std::shared_ptr<MpiTeam> TeamFactory::copy(MPI_Comm comm, std::vector<bool> near) {
  const bool is_inherited = has_handler(comm, inherited_);
  const Copied copied(*this, comm);
  return std::make_shared<MpiTeam>(comm, process_.comms().resilient(), process_.watch(), std::move(near),
                                   is_inherited ? copying_ : library_errors_return());
}

TeamFactory::NewTeam TeamFactory::make(MPI_Comm comm) {
  bool met = false;
  try {
    // Making a communicator has no deadline: make sure first that all ranks have come.
    NewTeam made{nullptr, process_.comms().ranks_of(comm)};
    auto near = process_.members().are_near(made.ranks);
    process_.meetings().meet(made.ranks);
    met = true;
    made.team = copy(comm, std::move(near));
    return made;
  } catch (const std::bad_alloc&) {
    withdraw_from(comm, met);
    throw Error(out_of_memory());
  }
}

void TeamFactory::withdraw_from(MPI_Comm comm, bool met) noexcept {
  try {
    if (!met) process_.meetings().meet(process_.comms().ranks_of(comm));
    copy(comm, {})->withdraw();
  } catch (const std::exception&) {
    return;  // a death, or no memory again: the others know
  }
}

}  // namespace fenix_impl

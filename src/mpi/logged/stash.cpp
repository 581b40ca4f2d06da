// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/logged/stash.hpp"

#include <deque>
#include <map>
#include <tuple>

#include "mpi/base/derived.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/real.hpp"

namespace fenix_impl {
namespace {

using StashKey = std::tuple<MPI_Comm, int, int>;  // communicator, source, tag

std::map<StashKey, std::deque<MPI_Message>>& stash() {
  static auto* instance = new std::map<StashKey, std::deque<MPI_Message>>;
  static unsigned repairs = 0;
  // After a repair the messages are in the logs. Their communicators are revoked.
  if (registry().repairs != repairs) instance->clear();
  repairs = registry().repairs;
  return *instance;
}

}  // namespace

void keep_in_stash(MPI_Comm comm, int source, int tag, MPI_Message message) {
  stash()[{comm, source, tag}].push_back(message);
}

/// Puts a message aside which is not for the program. It is the next one of its source with its tag.
int put_aside(MPI_Comm comm, int source, int tag) {
  int flag = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  const int error = real.Improbe(source, tag, now(comm), &flag, &message, MPI_STATUS_IGNORE);
  if (error == MPI_SUCCESS && flag != 0) keep_in_stash(comm, source, tag, message);
  return error;
}

bool take_stashed(MPI_Comm comm, int source, int tag, MPI_Message* message) {
  if (!is_internal(tag)) return false;
  const auto found = stash().find({comm, source, tag});
  if (found == stash().end()) return false;
  *message = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) stash().erase(found);
  return true;
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "core/state/request_queue.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "core/common/waiting.hpp"

namespace fenix_impl {

void RequestQueue::wait_for_requests_of(const Member& member) {
  const auto requests = requests_;  // is_finished() takes them out
  for (const auto& request : requests) {
    const auto& ids = request->members();
    if (std::find(ids.begin(), ids.end(), member.id()) != ids.end()) wait_for(*request);
  }
}

void RequestQueue::wait_for_all() {
  const auto requests = requests_;  // is_finished() takes them out
  for (const auto& request : requests) wait_for(*request);
}

bool RequestQueue::is_finished(Request& request) {
  Protection& protection = attachment_.protection();
  if (request.pending() && !protection.puts_are_copies()) {
    const bool all_there = std::all_of(request.members().begin(), request.members().end(), [&](std::int32_t id) {
      const Member* member = members_.find(id);
      return member == nullptr || protection.is_flushed(*member);
    });
    if (all_there) request.end(Request::State::done);
  }
  if (request.pending()) {
    // It may wait for others, in a thread that cannot see them die.
    if (protection.commits_collectively()) attachment_.team().check();
    return false;
  }
  // A request that failed stays: nothing must be committed then, before the group has been taken up again.
  if (request.state() == Request::State::failed) {
    tell_of_failure(request);
    return true;
  }
  std::erase_if(requests_, [&](const auto& each) { return each.get() == &request; });
  return true;
}

void RequestQueue::tell_of_failure(const Request& request) {
  if (!attachment_.has_team() || request.error().code() != FENIX_ERROR_NO_MEMORY) return;
  const bool is_of_this_team =
      std::any_of(requests_.begin(), requests_.end(), [&](const auto& each) { return each.get() == &request; });
  if (is_of_this_team) attachment_.team().withdraw();
}

void RequestQueue::wait_for(Request& request) {
  constexpr std::chrono::microseconds kNap{20};
  wait_until(attachment_.team(), "an asynchronous store", [&] {
    if (is_finished(request)) return true;
    // The thread that works on it may need this core.
    if (attachment_.protection().puts_are_copies()) std::this_thread::sleep_for(kNap);
    return false;
  });
}

void RequestQueue::check_none_pending() {
  if (requests_.empty()) return;
  const auto requests = requests_;  // is_finished() takes them out
  for (const auto& request : requests) {
    if (!is_finished(*request)) {
      // A store of all members of a group without any has none.
      const auto& ids = request->members();
      throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "a request for " +
                                                      (ids.empty() ? "no member" : name_of_member(ids.front())) +
                                                      " is pending: wait for it before the commit");
    }
    if (request->state() == Request::State::failed) throw Error(request->error());
  }
}

void RequestQueue::cancel() {
  worker_.cancel();
  for (const auto& request : requests_) {
    if (request->pending()) request->end(Request::State::cancelled);
  }
  requests_.clear();
}

}  // namespace fenix_impl

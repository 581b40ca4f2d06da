// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous stores of a group that are under way, and access to members that waits for them.
#pragma once

#include <memory>
#include <vector>

#include "core/member/members.hpp"
#include "core/state/attachment.hpp"
#include "core/state/request.hpp"

namespace fenix_impl {

class RequestQueue {
 public:
  /// Both must outlive it.
  RequestQueue(const Members& members, const Attachment& attachment) : members_(members), attachment_(attachment) {}
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  /// Waits until no request is pending on the member, and gives access to its working slot. Local.
  [[nodiscard]] MemberAccess access(Member& member) {
    if (!requests_.empty()) wait_for_requests_of(member);
    return MemberAccess(member);
  }
  /// Waits until no request is pending on any member. Local.
  void wait_for_all();

  /// Takes the memory for one more, so that add() cannot fail.
  void reserve_one() { requests_.reserve(requests_.size() + 1); }
  /// Notes a request that work, if any, goes on with.
  void add(std::shared_ptr<Request> request) { requests_.push_back(std::move(request)); }
  /// Gives work to the thread of the queue; the request ends when it is done.
  void submit(std::shared_ptr<Request> request, RequestWorker::Work work) {
    worker_.submit(std::move(request), std::move(work));
  }

  /// Whether a request is not pending any more. Moves it along. Local.
  bool is_finished(Request& request);
  /// Tells the others that the request has failed for want of memory: they would wait for this rank. Local.
  void tell_of_failure(const Request& request);
  /// Waits until it is finished. Local.
  void wait_for(Request& request);
  /// Throws Error if a request is pending, or has failed: nothing must be committed then. Local.
  void check_none_pending();
  /// Ends all requests, done or not; no thread touches anything of the group any more.
  void cancel();

 private:
  void wait_for_requests_of(const Member& member);

  const Members& members_;
  const Attachment& attachment_;
  RequestWorker worker_;
  std::vector<std::shared_ptr<Request>> requests_;  // given out, not known to be complete
};

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// No function here that calls libfenix has an object with a destructor meanwhile, but RepeatableCall: control may leave by longjmp.
#include "mpi/logged/fast_calls.hpp"

#include <cstddef>
#include <vector>

#include "mpi/base/derived.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/real.hpp"
#include "mpi/logged/fast_path.hpp"
#include "mpi/logged/fast_requests.hpp"
#include "mpi/logged/outcomes.hpp"
#include "mpi/logged/progress.hpp"
#include "mpi/logged/receive_queue.hpp"
#include "mpi/logged/receive_start.hpp"
#include "mpi/logged/receive_step.hpp"

namespace fenix_impl {
namespace {

/// Whether the program may be kept in MPI, and goes on after failures without a word of them.
bool may_be_fast() {
  return is_transparent.load(std::memory_order_acquire) && !calls_may_overlap() && !calls_need_progress();
}

/// Notes that MPI has completed a request.
void complete(FastRequest* request) {
  if (!request->is_send) {
    if (request->generation == fast_path_generation()) {
      request->open->remove(request->receive.number);
    } else {
      end_receive(request->receive, MPI_STATUS_IGNORE);
    }
  }
  fast_requests().give_back(request);
}

/// Memory for requests of MPI that is used again.
struct Waited {
  std::vector<FastRequest*> requests;  // null: there is none
  std::vector<MPI_Request> inner;
};

Waited& waited() {
  static auto* instance = new Waited;
  return *instance;
}

/// Finds all of them. Returns false if one is not for here. One of MPI's own, as a generalized request, would be complete after a wait that a
/// failure has ended, and its status would be lost.
bool find_all(int count, const MPI_Request* requests, Waited* all) {
  const unsigned repairs = registry().repairs;
  all->requests.resize(static_cast<std::size_t>(count));
  all->inner.resize(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    FastRequest* const found = requests[i] != MPI_REQUEST_NULL ? fast_requests().find(requests[i]) : nullptr;
    const bool is_for_here = found != nullptr ? found->repairs == repairs : requests[i] == MPI_REQUEST_NULL;
    if (!is_for_here) return false;
    all->requests[at] = found;
    all->inner[at] = found != nullptr ? found->inner : requests[i];
  }
  return true;
}

/// Tests a request of MPI among some. Notes an error that tells of no failure as MPI_Waitall does, and returns any other one.
int test_one(MPI_Request* request, MPI_Status* statuses, std::size_t at, int* of_all) {
  int flag = 0;
  MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + at;
  const int error = real.Test(request, &flag, status);
  if (error == MPI_SUCCESS) {
    if (flag != 0 && status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;
    return MPI_SUCCESS;
  }
  if (tells_of_failure(error)) return error;
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
  *request = MPI_REQUEST_NULL;
  *of_all = MPI_ERR_IN_STATUS;
  return MPI_SUCCESS;
}

/// Waits for requests of MPI, and returns at the first error that tells of a failure. MPI_Waitall and MPI_Testall are not for this: Open MPI lets go
/// of requests then that are still under way, and what they receive comes later, into memory that may be used for something else
/// (tests/open_mpi/freed_requests.cpp).
int wait_for_each(std::vector<MPI_Request>& requests, MPI_Status* statuses) {
  constexpr unsigned kLooksAtOne = 64;
  int of_all = MPI_SUCCESS;
  unsigned looks = 0;
  for (std::size_t i = 0; statuses != MPI_STATUSES_IGNORE && i < requests.size(); ++i) {
    if (requests[i] == MPI_REQUEST_NULL) (void)test_one(&requests[i], statuses, i, &of_all);
  }
  for (std::size_t i = 0; i < requests.size();) {
    if (requests[i] == MPI_REQUEST_NULL) {
      ++i;
      continue;
    }
    if (const int error = test_one(&requests[i], statuses, i, &of_all); error != MPI_SUCCESS) return error;
    if (requests[i] == MPI_REQUEST_NULL || ++looks % kLooksAtOne != 0) continue;
    // The peer of this one may wait for a dead one, of which another request tells.
    for (std::size_t other = i + 1; other < requests.size(); ++other) {
      if (requests[other] == MPI_REQUEST_NULL) continue;
      if (const int error = test_one(&requests[other], statuses, other, &of_all); error != MPI_SUCCESS) return error;
    }
  }
  return of_all;
}

}  // namespace

bool begin_fast_receive(const LoggedReceive& wanted, MPI_Request* request, int* error) {
  if (is_wildcard(wanted) || is_internal(wanted.tag) || !may_be_fast()) return false;
  const RepeatableCall call;
  const FastReceive fast = fast_receive(wanted.source, wanted.tag, wanted.comm);
  if (!fast.is_allowed || fast.open == nullptr || fast.cancellable == nullptr) return false;
  if (has_unmatched_receives()) return false;
  const unsigned repairs = registry().repairs;
  const unsigned generation = fast_path_generation();
  FastRequest* const taken = fast_requests().take();
  if (taken == nullptr) return false;
  const int begun =
      real.Irecv(wanted.buffer, wanted.count, wanted.type, wanted.source, wanted.tag, now(wanted.comm), &taken->inner);
  if (begun != MPI_SUCCESS || registry().repairs != repairs) {
    if (begun == MPI_SUCCESS) drain(&taken->inner);
    fast_requests().give_back(taken);
    *error = begun;
    return begun != MPI_SUCCESS && !tells_of_failure(begun);
  }
  taken->is_send = false;
  taken->sent = 0;
  taken->repairs = repairs;
  taken->generation = generation;
  taken->open = fast.open;
  taken->order = next_order_of_receives();
  taken->receive = wanted;
  taken->receive.number = ++*fast.begun;
  taken->receive.receive = ++*fast.cancellable;
  taken->receive.is_logged = false;
  taken->receive.repairs = repairs;
  fast.open->add(taken->receive.number);
  *request = taken->handle;
  *error = MPI_SUCCESS;
  return true;
}

bool add_fast_send(const Send& send, const Started& started, MPI_Request* request) {
  if (started.inner == MPI_REQUEST_NULL || !is_transparent.load(std::memory_order_acquire) || calls_may_overlap())
    return false;
  FastRequest* const taken = fast_requests().take();
  if (taken == nullptr) return false;
  taken->inner = started.inner;
  taken->is_send = true;
  taken->send = send;
  taken->sent = started.number;
  taken->repairs = registry().repairs;
  *request = taken->handle;
  return true;
}

bool wait_fast(MPI_Request* request, MPI_Status* status, int* error) {
  if (fast_requests().empty() || !may_be_fast()) return false;
  FastRequest* const found = fast_requests().find(*request);
  if (found == nullptr || found->repairs != registry().repairs) return false;
  const RepeatableCall call;
  // Its begin may have met a failure.
  if (found->repairs != registry().repairs) return false;
  *error = real.Wait(&found->inner, status);
  if (*error != MPI_SUCCESS) (void)look_at_wait(PMPI_Wtime());
  if (found->repairs != registry().repairs) return false;
  complete(found);
  *request = MPI_REQUEST_NULL;
  return true;
}

bool wait_fast_for_all(int count, MPI_Request* requests, MPI_Status* statuses, int* error) {
  if (fast_requests().empty() || count <= 0 || !may_be_fast()) return false;
  Waited& all = waited();
  const unsigned repairs = registry().repairs;
  if (!find_all(count, requests, &all)) return false;
  const RepeatableCall call;
  // Its begin may have met a failure.
  if (registry().repairs != repairs) return false;
  *error = wait_for_each(all.inner, statuses);
  if (*error != MPI_SUCCESS) (void)look_at_wait(PMPI_Wtime());
  const bool has_failed = registry().repairs != repairs;
  for (std::size_t i = 0; i < all.requests.size(); ++i) {
    FastRequest* const each = all.requests[i];
    if (each == nullptr) continue;
    each->inner = all.inner[i];
    if (has_failed || each->inner != MPI_REQUEST_NULL) continue;
    complete(each);
    requests[i] = MPI_REQUEST_NULL;
  }
  return !has_failed;
}

}  // namespace fenix_impl

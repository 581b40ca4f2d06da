// SPDX-License-Identifier: BSD-3-Clause
// Calls of the program that test requests, or wait for some of several. Where messages are logged, their outcomes are logged, too.
// No function here that calls libfenix has an object with a destructor meanwhile: control may leave by longjmp.
#include <fenix_mpi/persistent.h>

#include <algorithm>
#include <vector>

#include "base/of_thread.hpp"
#include "mpi/base/log_scope.hpp"
#include "mpi/base/stand_in_table.hpp"
#include "mpi/calls/completions.hpp"
#include "mpi/logged/fast_requests.hpp"
#include "mpi/logged/outcomes.hpp"

namespace fenix_impl {
namespace {

/// Whether the outcome for some requests is logged. A replacement finds something else in messages that it has stored itself.
bool is_logged_outcome(int count, const MPI_Request* requests) {
  make_stand_ins_of(count, requests);
  const bool are_all_logged = logs_messages.load(std::memory_order_acquire);
  if (!are_all_logged && comm_of_log.load(std::memory_order_acquire) == nullptr) return false;
  return std::any_of(requests, requests + std::max(count, 0), [are_all_logged](MPI_Request each) {
    if (each == MPI_REQUEST_NULL) return false;
    const auto stand_in = find_stand_in(each);
    if (!stand_in) return are_all_logged;
    return stand_in->kind != StandIn::Kind::send && stand_in->kind != StandIn::Kind::receive;
  });
}

/// Tests until there is something: the predecessor of this process has found it.
template <class Test>
int repeat_until_found(const Test& test, int* flag) {
  for (const double since = PMPI_Wtime();;) {
    const int error = test();
    if (error != MPI_SUCCESS || *flag != 0) return error;
    if (const int due = pause_wait(forced_waits_end() ? since : PMPI_Wtime());
        due != MPI_SUCCESS && !tells_of_failure(due)) {
      return raise_on(MPI_COMM_WORLD, due);
    }
  }
}

/// Does a call whose outcome is a flag.
template <class Test>
int decide(DeterminantKind call, const Test& test, int* flag) {
  int count = 0;
  int outcome = 1;
  int error = next_determinant(call, /*may_be_negative=*/true, 1, &count, &outcome);
  if (error != MPI_SUCCESS) return raise_on(MPI_COMM_WORLD, error);
  *flag = 0;
  if (count == 0) return MPI_SUCCESS;
  if (count != kFreeOutcome) return repeat_until_found(test, flag);
  error = test();
  note_determinant(call, error != MPI_SUCCESS || *flag != 0 ? 1 : 0, &outcome);
  return error;
}

/// Requests of the program.
struct Requests {
  int count = 0;
  MPI_Request* first = nullptr;
};

/// Completes a request with which the predecessor of this process has gone on.
int complete(int index, const Requests& requests, MPI_Status* status) {
  int flag = 0;
  if (index < 0 || index >= requests.count || requests.first[index] == MPI_REQUEST_NULL) {
    return raise_on(MPI_COMM_WORLD, MPI_ERR_REQUEST);
  }
  return repeat_until_found([&] { return test(requests.first + index, &flag, status); }, &flag);
}

/// Does a call whose outcome is an index. attempt: the call itself; returns an error.
template <class Attempt>
int decide_index(DeterminantKind call, const Attempt& attempt, const Requests& requests, int* index, int* flag,
                 MPI_Status* status) {
  const bool waits = call == DeterminantKind::waitany;
  int length = 0;
  int error = next_determinant(call, !waits, 1, &length, index);
  if (error != MPI_SUCCESS) return raise_on(MPI_COMM_WORLD, error);
  if (length == kFreeOutcome) {
    error = attempt();
    note_determinant(call, waits || error != MPI_SUCCESS || *flag != 0 ? 1 : 0, index);
    return error;
  }
  *flag = length;
  if (length == 0) *index = MPI_UNDEFINED;
  // There is nothing to complete.
  if (*index == MPI_UNDEFINED) return length == 0 ? MPI_SUCCESS : attempt();
  return complete(*index, requests, status);
}

/// Memory for indices that is used again.
std::vector<int>& indices_for(int count) {
  auto& indices = of_thread<std::vector<int>>();
  indices.assign(static_cast<std::size_t>(std::max(count, 1)), MPI_UNDEFINED);
  return indices;
}

/// Does a call whose outcome is several indices. attempt: the call itself; returns an error.
template <class Attempt>
int decide_indices(DeterminantKind call, const Attempt& attempt, const Requests& requests, int* outcount, int* indices,
                   MPI_Status* statuses) {
  std::vector<int>& forced = indices_for(requests.count);
  const bool may_be_negative = call == DeterminantKind::testsome;
  int length = 0;
  int error = next_determinant(call, may_be_negative, std::max(requests.count, 1), &length, forced.data());
  if (error != MPI_SUCCESS) return raise_on(MPI_COMM_WORLD, error);
  if (length == kFreeOutcome) {
    error = attempt();
    if (*outcount == MPI_UNDEFINED) {
      note_determinant(call, 1, outcount);
    } else {
      note_determinant(call, *outcount, indices);
    }
    return error;
  }
  if (length == 1 && forced[0] == MPI_UNDEFINED) return attempt();
  *outcount = length;
  for (int i = 0; i < length; ++i) {
    indices[i] = forced[static_cast<std::size_t>(i)];
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
    const int of_one = complete(indices[i], requests, status);
    if (of_one == MPI_SUCCESS) continue;
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = of_one;
    error = MPI_ERR_IN_STATUS;
  }
  return error;
}

}  // namespace

int with_stand_ins_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!is_logged_outcome(1, request)) return test(request, flag, status);
  return decide(
      DeterminantKind::test, [&] { return test(request, flag, status); }, flag);
}

int with_stand_ins_Testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status array_of_statuses[]) {
  const auto attempt = [&] { return test_all(count, array_of_requests, flag, array_of_statuses); };
  return is_logged_outcome(count, array_of_requests) ? decide(DeterminantKind::testall, attempt, flag) : attempt();
}

int with_stand_ins_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  const auto attempt = [&] { return get_status(request, flag, status); };
  return is_logged_outcome(1, &request) ? decide(DeterminantKind::get_status, attempt, flag) : attempt();
}

int with_stand_ins_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag, MPI_Status* status) {
  const auto attempt = [&] { return test_any(count, array_of_requests, index, flag, status); };
  if (!is_logged_outcome(count, array_of_requests)) return attempt();
  return decide_index(DeterminantKind::testany, attempt, {count, array_of_requests}, index, flag, status);
}

int with_stand_ins_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  const auto attempt = [&] { return wait_any(count, array_of_requests, index, status); };
  if (!is_logged_outcome(count, array_of_requests)) return attempt();
  int flag = 0;
  return decide_index(DeterminantKind::waitany, attempt, {count, array_of_requests}, index, &flag, status);
}

int with_stand_ins_Testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                            MPI_Status array_of_statuses[]) {
  const auto attempt = [&] {
    return test_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
  };
  if (!is_logged_outcome(incount, array_of_requests)) return attempt();
  return decide_indices(DeterminantKind::testsome, attempt, {incount, array_of_requests}, outcount, array_of_indices,
                        array_of_statuses);
}

int with_stand_ins_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                            MPI_Status array_of_statuses[]) {
  const auto attempt = [&] {
    return wait_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
  };
  if (!is_logged_outcome(incount, array_of_requests)) return attempt();
  return decide_indices(DeterminantKind::waitsome, attempt, {incount, array_of_requests}, outcount, array_of_indices,
                        array_of_statuses);
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Attributes belong to the handle of a communicator, and are copied when it is duplicated, whatever does its work: newcomm is NULL,
// rank 1 of 4 dies and is replaced. Resume mode "return".
#include <array>
#include <csignal>

#include "../check.hpp"
#include "comms.hpp"

namespace {

int role = -1;
int error = -1;
int extra_state = 0;
std::array<int, 8> values{};
int copied = 0;
int deleted = 0;
int handled = 0;
int handled_code = MPI_SUCCESS;
MPI_Comm copied_from = MPI_COMM_NULL;
void* deleted_value = nullptr;
int counted = MPI_KEYVAL_INVALID;
int private_key = MPI_KEYVAL_INVALID;
int failing = MPI_KEYVAL_INVALID;
int own_error = MPI_SUCCESS;

/// A duplicate has the next value.
int copy(MPI_Comm comm, int, void* extra, void* value, void* out, int* wanted) {
  check::require(extra == &extra_state, "another extra state in a copy function");
  ++copied;
  copied_from = comm;
  *static_cast<void**>(out) = static_cast<int*>(value) + 1;
  *wanted = 1;
  return MPI_SUCCESS;
}

int remove(MPI_Comm, int, void* value, void* extra) {
  check::require(extra == &extra_state, "another extra state in a delete function");
  ++deleted;
  deleted_value = value;
  return MPI_SUCCESS;
}

int refuse(MPI_Comm, int, void*, void*, void*, int*) { return own_error; }

void handle(MPI_Comm*, int* code, ...) {
  ++handled;
  handled_code = *code;
}

int* value_of(MPI_Comm comm, int key) {
  int* value = nullptr;
  int there = 0;
  check::success(MPI_Comm_get_attr(comm, key, static_cast<void*>(&value), &there), "MPI_Comm_get_attr");
  return there != 0 ? value : nullptr;
}

void expect_copies(int count, MPI_Comm from, MPI_Comm duplicate, int* value, const char* what) {
  check::expect_equal(copied, count, std::string("calls of the copy function after ") + what);
  check::require(copied_from == from, std::string(what) + ": the copy function got another communicator");
  check::require(value_of(duplicate, counted) == value, std::string(what) + ": another value");
  check::require(value_of(duplicate, private_key) == nullptr, std::string(what) + ": an attribute that is not copied");
  int size = -1;
  check::success(MPI_Comm_size(duplicate, &size), what);
  check::expect_equal(size, 4, std::string("size after ") + what);
}

void expect_deleted(MPI_Comm& comm, int* value, const char* what) {
  const int before = deleted;
  check::success(MPI_Comm_free(&comm), what);
  check::expect_equal(deleted, before + 1, std::string("calls of the delete function in ") + what);
  check::require(deleted_value == value, std::string(what) + " deletes another value");
  check::require(comm == MPI_COMM_NULL, std::string(what) + " leaves the handle");
}

/// Duplicates in all ways. value: of the attribute of comm.
void duplicate(MPI_Comm comm, int* value) {
  MPI_Comm made = MPI_COMM_NULL;
  int before = copied;
  check::success(MPI_Comm_dup(comm, &made), "MPI_Comm_dup");
  expect_copies(before + 1, comm, made, value + 1, "MPI_Comm_dup");
  expect_deleted(made, value + 1, "MPI_Comm_free after MPI_Comm_dup");
  before = copied;
  check::success(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made), "MPI_Comm_dup_with_info");
  expect_copies(before + 1, comm, made, value + 1, "MPI_Comm_dup_with_info");
  expect_deleted(made, value + 1, "MPI_Comm_free after MPI_Comm_dup_with_info");
  for (const bool with_info : {false, true}) {
    MPI_Request request = MPI_REQUEST_NULL;
    before = copied;
    const int code = with_info ? MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &made, &request)
                               : MPI_Comm_idup(comm, &made, &request);
    check::success(code, "MPI_Comm_idup");
    check::success(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait after MPI_Comm_idup");
    expect_copies(before + 1, comm, made, value + 1, "MPI_Comm_idup");
    check::success(MPI_Barrier(made), "MPI_Barrier after MPI_Comm_idup");
    expect_deleted(made, value + 1, "MPI_Comm_free after MPI_Comm_idup");
  }
}

/// A copy function that fails makes the call fail, through the error handler.
void fail_to_duplicate(MPI_Comm comm) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_set_attr(comm, failing, values.data());
  const int before = handled;
  check::expect_equal(MPI_Comm_dup(comm, &made), own_error, "code of MPI_Comm_dup with a copy function that fails");
  check::require(made == MPI_COMM_NULL, "there is a communicator all the same");
  check::expect_equal(handled, before + 1, "calls of the error handler");
  check::expect_equal(handled_code, own_error, "code in the error handler");
  MPI_Comm_delete_attr(comm, failing);
  check::success(MPI_Barrier(comm), "MPI_Barrier");
}

void create_keys() {
  MPI_Comm_create_keyval(copy, remove, &counted, &extra_state);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &private_key, nullptr);
  MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &failing, nullptr);
  MPI_Add_error_class(&own_error);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  create_keys();
  MPI_Comm_set_attr(MPI_COMM_WORLD, counted, &values[0]);
  MPI_Comm_set_attr(MPI_COMM_WORLD, private_key, &values[7]);
  MPI_Comm_set_attr(MPI_COMM_SELF, counted, &values[6]);
  Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  Fenix_Init(&role, MPI_COMM_WORLD, nullptr, &argc, &argv, 1, &error);
  check::success(error, "Fenix_Init");
  const int rank = rank_in(MPI_COMM_WORLD);
  // Fenix_Init shrinks MPI_COMM_WORLD, and Open MPI's shrink copies attributes.
  copied = deleted = 0;

  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  check::expect_equal(copied, 0, "calls of the copy function before the first duplicate");

  // The recovered rank gets the duplicates that a repair has made: with the attributes that it has set, and its error handler.
  MPI_Comm child = MPI_COMM_NULL;
  MPI_Comm later = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  check::success(MPI_Comm_dup(MPI_COMM_WORLD, &child), "MPI_Comm_dup");
  expect_copies(1, MPI_COMM_WORLD, child, &values[1], "the first duplicate");
  check::success(MPI_Comm_idup(MPI_COMM_WORLD, &later, &request), "MPI_Comm_idup");
  check::success(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  expect_copies(2, MPI_COMM_WORLD, later, &values[1], "the second duplicate");
  MPI_Errhandler inherited = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(child, &inherited);
  check::require(inherited == handler, "the duplicate has another error handler");
  MPI_Errhandler_free(&inherited);
  MPI_Comm_set_attr(child, counted, &values[3]);
  check::require(deleted == 1 && deleted_value == &values[1], "an attribute that is replaced is not deleted");
  if (role == FENIX_ROLE_INITIAL_RANK) {
    duplicate(MPI_COMM_WORLD, &values[0]);
    duplicate(child, &values[3]);
    duplicate(later, &values[1]);
    fail_to_duplicate(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) raise(SIGKILL);
    check::require(is_failure(MPI_Barrier(later)), "a barrier with a dead rank");
  }
  check::expect_equal(role, rank == 1 ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK, "role");

  duplicate(MPI_COMM_WORLD, &values[0]);
  duplicate(child, &values[3]);
  duplicate(later, &values[1]);
  fail_to_duplicate(child);
  // Keys live as long as there are attributes.
  MPI_Comm_free_keyval(&counted);
  const int before = copied;
  MPI_Comm grandchild = MPI_COMM_NULL;
  check::success(MPI_Comm_dup(child, &grandchild), "MPI_Comm_dup after MPI_Comm_free_keyval");
  check::expect_equal(copied, before + 1, "calls of the copy function after MPI_Comm_free_keyval");
  expect_deleted(grandchild, &values[4], "MPI_Comm_free of a duplicate of a duplicate");
  expect_deleted(child, &values[3], "MPI_Comm_free of a communicator that was replaced");
  expect_deleted(later, &values[1], "MPI_Comm_free after MPI_Comm_idup and a repair");
  MPI_Errhandler_free(&handler);
  check::success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comms/attributes.hpp"

#include <iterator>
#include <limits>
#include <map>
#include <mutex>

#include "mpi/base/real.hpp"
#include "mpi/comms/predefined_attributes.hpp"

namespace fenix_impl {
namespace {

/// A key for attributes, as the program has created it.
struct Key {
  int number = std::numeric_limits<int>::min();
  MPI_Comm_copy_attr_function* copy = nullptr;
  void* extra_state = nullptr;
};

struct Keys {
  std::mutex mutex;
  std::map<int, Key> by_number;
};

/// They outlive MPI_Finalize.
Keys& keys() {
  static auto* instance = new Keys;
  return *instance;
}

thread_local bool mpi_copies = true;

/// Replaces a key by the one with the next number. Returns false at the end.
bool next(Key& key) {
  const std::lock_guard lock(keys().mutex);
  const auto found = keys().by_number.upper_bound(key.number);
  if (found == keys().by_number.end()) return false;
  key = found->second;
  return true;
}

/// Replaces a key by the one with the number before. Returns false at the end.
bool previous(Key& key) {
  const std::lock_guard lock(keys().mutex);
  const auto found = keys().by_number.lower_bound(key.number);
  if (found == keys().by_number.begin()) return false;
  key = std::prev(found)->second;
  return true;
}

/// The copy function of all keys, as MPI has it.
int copy_one(MPI_Comm comm, int number, void* extra_state, void* value, void* copied, int* wanted) {
  *wanted = 0;
  if (!mpi_copies) return MPI_SUCCESS;
  Key key;
  key.number = number - 1;
  if (!next(key) || key.number != number) return MPI_ERR_KEYVAL;
  return key.copy(comm, number, extra_state, value, copied, wanted);
}

/// Returns a communicator of this process alone, on which an error has no consequences.
MPI_Comm quiet_self() {
  static const MPI_Comm quiet = [] {
    MPI_Comm made = MPI_COMM_NULL;
    real.Comm_split(MPI_COMM_SELF, 0, 0, &made);
    real.Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
  }();
  return quiet;
}

/// Whether MPI still knows a key: one that was freed lives as long as attributes have it.
bool exists(int number) {
  void* value = nullptr;
  int there = 0;
  return PMPI_Comm_get_attr(quiet_self(), number, static_cast<void*>(&value), &there) == MPI_SUCCESS;
}

/// Returns whether a communicator has an attribute.
bool get(MPI_Comm comm, const Key& key, void*& value) {
  int there = 0;
  return exists(key.number) &&
         PMPI_Comm_get_attr(comm, key.number, static_cast<void*>(&value), &there) == MPI_SUCCESS && there != 0;
}

}  // namespace

int copy_attributes(MPI_Comm from, MPI_Comm to) {
  if (has_those_of_world(from)) note_duplicate_of_world(to, true);
  for (Key key; next(key);) {
    void* value = nullptr;
    if (!get(from, key, value)) continue;
    void* copied = nullptr;
    int wanted = 0;
    int error = key.copy(from, key.number, key.extra_state, value, static_cast<void*>(&copied), &wanted);
    if (error == MPI_SUCCESS && wanted != 0) error = PMPI_Comm_set_attr(to, key.number, copied);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

void let_mpi_copy_attributes(bool let) { mpi_copies = let; }

int delete_attributes(MPI_Comm comm) {
  note_duplicate_of_world(comm, false);
  for (Key key; next(key);) {
    void* value = nullptr;
    if (!get(comm, key, value)) continue;
    const int error = PMPI_Comm_delete_attr(comm, key.number);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

void delete_attributes_of_self() {
  Key key;
  for (key.number = std::numeric_limits<int>::max(); previous(key);) {
    void* value = nullptr;
    if (get(MPI_COMM_SELF, key, value)) (void)PMPI_Comm_delete_attr(MPI_COMM_SELF, key.number);
  }
}

}  // namespace fenix_impl

using namespace fenix_impl;

extern "C" {

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                            MPI_Comm_delete_attr_function* comm_delete_attr_fn, int* comm_keyval, void* extra_state) {
  // Without a copy function, MPI is to say what is wrong.
  const bool complete = comm_copy_attr_fn != nullptr;
  const int error =
      real.Comm_create_keyval(complete ? copy_one : nullptr, comm_delete_attr_fn, comm_keyval, extra_state);
  if (error != MPI_SUCCESS || !complete) return error;
  const std::lock_guard lock(keys().mutex);
  keys().by_number[*comm_keyval] = {*comm_keyval, comm_copy_attr_fn, extra_state};
  return MPI_SUCCESS;
}

int PMPI_Comm_free_keyval(int* comm_keyval) {
  const int number = comm_keyval != nullptr ? *comm_keyval : MPI_KEYVAL_INVALID;
  const int error = real.Comm_free_keyval(comm_keyval);
  if (error != MPI_SUCCESS || exists(number)) return error;
  const std::lock_guard lock(keys().mutex);
  keys().by_number.erase(number);
  return MPI_SUCCESS;
}

decltype(PMPI_Comm_create_keyval) MPI_Comm_create_keyval __attribute__((weak, alias("PMPI_Comm_create_keyval")));
decltype(PMPI_Comm_free_keyval) MPI_Comm_free_keyval __attribute__((weak, alias("PMPI_Comm_free_keyval")));

// The names of MPI 1, which mpi.h does not declare any more. Old programs have them.
#define FENIX_OLD_NAME(OLD, OWN, NEW) decltype(NEW) OWN __asm__(OLD) __attribute__((weak, alias(#NEW)))
FENIX_OLD_NAME("PMPI_Keyval_create", fenix_keyval_create_p, PMPI_Comm_create_keyval);
FENIX_OLD_NAME("MPI_Keyval_create", fenix_keyval_create, PMPI_Comm_create_keyval);
FENIX_OLD_NAME("PMPI_Keyval_free", fenix_keyval_free_p, PMPI_Comm_free_keyval);
FENIX_OLD_NAME("MPI_Keyval_free", fenix_keyval_free, PMPI_Comm_free_keyval);
#undef FENIX_OLD_NAME
}

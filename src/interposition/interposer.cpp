// SPDX-License-Identifier: BSD-3-Clause
#include "interposition/interposer.hpp"

#include <dlfcn.h>

#include "base/error.hpp"

namespace fenix_impl {

namespace {

const Interposer* find_interposer() {
  using Get = const Interposer* (*)();
  // By name: a program may have libfenix linked into it, and libfenix_mpi preloaded.
  const auto get = reinterpret_cast<Get>(dlsym(RTLD_DEFAULT, "fenix_mpi_interposer"));
  return get != nullptr ? get() : nullptr;
}

}  // namespace

void check_interposer_version() {
  const Interposer* const there = find_interposer();
  if (there == nullptr || there->version == kInterfaceVersion) return;
  throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "libfenix and libfenix_mpi are not of the same version");
}

const Interposer* interposer() {
  static const Interposer* const found = [] {
    const Interposer* const there = find_interposer();
    const bool is_usable = there != nullptr && there->version == kInterfaceVersion && there->is_in_front();
    if (!is_usable) return static_cast<const Interposer*>(nullptr);
    fenix_own_mpi = there->real;
    return there;
  }();
  return found;
}

}  // namespace fenix_impl

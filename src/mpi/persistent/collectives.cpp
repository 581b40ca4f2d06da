// SPDX-License-Identifier: BSD-3-Clause
// No function here has an object with a destructor: control may leave by longjmp.
#include "mpi/persistent/collectives.hpp"

#include "mpi/base/libfenix.hpp"
#include "mpi/base/persistent_table.hpp"

namespace fenix_impl {

int do_collective(const Collective& call, int* executes) {
  return raise_on(call.comm, call_libfenix([&](const PersistServices& libfenix) {
                    return libfenix.collective(call, delivers(call.comm), executes);
                  }));
}

}  // namespace fenix_impl

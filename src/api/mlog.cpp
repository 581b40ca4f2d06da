// SPDX-License-Identifier: BSD-3-Clause
// Message logging: names only.
#include <fenix.h>

#include "api/entry.hpp"

using namespace fenix_impl;

namespace {

int unavailable() {
  return ready_entry(
      []() -> int { throw Error(FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE, "this library has no message logging"); });
}

}  // namespace

extern "C" {

int Fenix_Mlog_create(int /*mlog_id*/, MPI_Comm* /*comm*/, int /*depth*/) { return unavailable(); }
int Fenix_Mlog_activate(int /*mlog_id*/) { return unavailable(); }

int Fenix_Mlog_active(int* mlog_id) {
  return ready_entry([&]() -> int {
    require(mlog_id, "mlog_id");
    *mlog_id = FENIX_MLOG_NONE;
    throw Error(FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE, "this library has no message logging");
  });
}

int Fenix_Mlog_begin_region(int /*mlog_id*/, int /*region_id*/) { return unavailable(); }
int Fenix_Mlog_activate_region(int /*mlog_id*/, int /*region_id*/) { return unavailable(); }
int Fenix_Mlog_sync(int /*mlog_id*/, int /*region_id*/) { return unavailable(); }
int Fenix_Mlog_create_data_member(int /*mlog_id*/, int /*group_id*/, int /*member_id*/) { return unavailable(); }
int Fenix_Mlog_define_data_member(int /*mlog_id*/, int /*group_id*/, int /*member_id*/) { return unavailable(); }
int Fenix_Mlog_stage(int /*mlog_id*/, int /*group_id*/, int /*member_id*/) { return unavailable(); }

int Fenix_Mlog_lrestore(int /*mlog_id*/, int /*group_id*/, int /*member_id*/, int /*time_stamp*/) {
  return unavailable();
}

int Fenix_Mlog_delete(int /*mlog_id*/) { return unavailable(); }

}  // extern "C"

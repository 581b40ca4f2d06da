// SPDX-License-Identifier: BSD-3-Clause
//
// C++: message logging. See <fenix/mlog.h>. All functions except active() throw RuntimeException if there is an error; without
// libfenix_mpi with FENIX_ERROR_MLOG_LIBRARY_UNAVAILABLE.
#ifndef FENIX_CXX_MLOG_HPP
#define FENIX_CXX_MLOG_HPP

#include "process.hpp"

namespace fenix::mlog {

/// Calls Fenix_Mlog_create.
/// @param mlog_id, comm, depth as in C
/// @return as in C
inline int create(int mlog_id, MPI_Comm& comm, int depth) { return check(Fenix_Mlog_create(mlog_id, &comm, depth)); }
/// Calls Fenix_Mlog_activate.
/// @param mlog_id as in C
/// @return as in C
inline int activate(int mlog_id) { return check(Fenix_Mlog_activate(mlog_id)); }
/// Calls Fenix_Mlog_activate_region.
/// @param mlog_id, region_id as in C
/// @return as in C
inline int activate(int mlog_id, int region_id) { return check(Fenix_Mlog_activate_region(mlog_id, region_id)); }
/// Gets the active log.
/// @return its id, or FENIX_MLOG_NONE
inline int active() {
  int mlog_id = FENIX_MLOG_NONE;
  (void)Fenix_Mlog_active(&mlog_id);
  return mlog_id;
}
/// Calls Fenix_Mlog_begin_region.
/// @param mlog_id, region_id as in C
/// @return as in C
inline int begin_region(int mlog_id, int region_id) { return check(Fenix_Mlog_begin_region(mlog_id, region_id)); }
/// Calls Fenix_Mlog_sync.
/// @param mlog_id, region_id as in C
/// @return as in C
inline int sync(int mlog_id, int region_id = FENIX_MLOG_CONTINUE) { return check(Fenix_Mlog_sync(mlog_id, region_id)); }
/// Calls Fenix_Mlog_create_data_member.
/// @param mlog_id, group_id, member_id as in C
/// @return as in C
inline int create_data_member(int mlog_id, int group_id, int member_id) {
  return check(Fenix_Mlog_create_data_member(mlog_id, group_id, member_id));
}
/// Calls Fenix_Mlog_define_data_member.
/// @param mlog_id, group_id, member_id as in C
/// @return as in C
inline int define_data_member(int mlog_id, int group_id, int member_id) {
  return check(Fenix_Mlog_define_data_member(mlog_id, group_id, member_id));
}
/// Calls Fenix_Mlog_stage.
/// @param mlog_id, group_id, member_id as in C
/// @return as in C
inline int stage(int mlog_id, int group_id, int member_id) {
  return check(Fenix_Mlog_stage(mlog_id, group_id, member_id));
}
/// Calls Fenix_Mlog_lrestore.
/// @param mlog_id, group_id, member_id, time_stamp as in C
/// @return as in C
inline int lrestore(int mlog_id, int group_id, int member_id, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST) {
  return check(Fenix_Mlog_lrestore(mlog_id, group_id, member_id, time_stamp));
}
/// Calls Fenix_Mlog_delete.
/// @param mlog_id as in C
/// @return as in C
inline int mlog_delete(int mlog_id) { return check(Fenix_Mlog_delete(mlog_id)); }

}  // namespace fenix::mlog

#endif

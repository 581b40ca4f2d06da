// SPDX-License-Identifier: BSD-3-Clause
//
// C++: forms of C functions with other arguments, as Fenix has or had them. They return codes, as the C functions do.
#ifndef FENIX_CXX_OVERLOADS_HPP
#define FENIX_CXX_OVERLOADS_HPP

#include "process.hpp"

/// Does the same as Fenix_Callback_register_at, for any callable.
/// @param callback callable; owned by the library
/// @param location before or after the repair
/// @return the code of the C function
int Fenix_Callback_register(fenix::FenixCallbackFunc callback, int location = FENIX_CALLBACK_POST_RECOVERY);

/// Does the same as Fenix_get_rank_role, as in the released Fenix 1.0.
/// @param comm, rank, role as for Fenix_get_rank_role
/// @return the code of the C function
inline int Fenix_get_role(MPI_Comm comm, int rank, int* role) { return Fenix_get_rank_role(comm, rank, role); }

/// Does the same as Fenix_Data_member_attr_get with this rank as source_rank, as in the current Fenix.
/// @param group_id, member_id, attribute_name, attribute_value, flag as for the C function
/// @return the code of the C function
inline int Fenix_Data_member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value,
                                      int* flag) {
  return fenix_detail_own_attr_get(group_id, member_id, attribute_name, attribute_value, flag);
}

#endif

// SPDX-License-Identifier: BSD-3-Clause
//
// C++: what was stored in data groups, read and verified. <fenix/cxx/data.hpp> says what holds for all functions.
#ifndef FENIX_CXX_RESTORING_HPP
#define FENIX_CXX_RESTORING_HPP

#include "../c.h"

#include <cstdio>
#include <iostream>

#include "data_subset.hpp"

namespace fenix {
namespace data {

// NOLINTBEGIN(performance-no-int-to-ptr): FENIX_DATA_RESTORE_INPLACE

// As target_buffer, a null pointer is the source buffer, like FENIX_DATA_RESTORE_INPLACE and as in the current Fenix.

/// Calls Fenix_Data_member_restore.
/// @param group_id, member_id, max_count, time_stamp as in C
/// @param target_buffer as in C; null: the source buffer
/// @param data_found receives the elements found, unless the call returns an error; SUBSET_IGNORE: not needed
/// @return the code of the C function, if it is no error
int member_restore(int group_id, int member_id, void* target_buffer = FENIX_DATA_RESTORE_INPLACE,
                   MPI_Count max_count = FENIX_DATA_RESTORE_FULL, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                   DataSubset& data_found = SUBSET_IGNORE);

/// Calls Fenix_Data_member_restore_from_rank.
/// @param group_id, member_id, source_rank, max_count, time_stamp as in C
/// @param target_buffer as in C; null: the source buffer
/// @param data_found receives the elements found, unless the call returns an error; SUBSET_IGNORE: not needed
/// @return the code of the C function, if it is no error
int member_restore_from_rank(int group_id, int member_id, int source_rank,
                             void* target_buffer = FENIX_DATA_RESTORE_INPLACE,
                             MPI_Count max_count = FENIX_DATA_RESTORE_FULL, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                             DataSubset& data_found = SUBSET_IGNORE);

/// Calls Fenix_Data_member_lrestore.
/// @param group_id, member_id, max_count, time_stamp as in C
/// @param target_buffer as in C; null: the source buffer
/// @param data_found receives the elements found, unless the call returns an error; SUBSET_IGNORE: not needed
/// @return the code of the C function, if it is no error
[[deprecated("use member_load")]] int member_lrestore(int group_id, int member_id,
                                                      void* target_buffer = FENIX_DATA_RESTORE_INPLACE,
                                                      MPI_Count max_count = FENIX_DATA_RESTORE_FULL,
                                                      int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                                                      DataSubset& data_found = SUBSET_IGNORE);

// NOLINTEND(performance-no-int-to-ptr)

/// Calls Fenix_Data_member_load.
/// @param group_id, member_id, time_stamp as in C
/// @param data_found receives the elements found, unless the call returns an error; SUBSET_IGNORE: not needed
/// @return the code of the C function, if it is no error
int member_load(int group_id, int member_id, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                DataSubset& data_found = SUBSET_IGNORE);

/// Calls Fenix_Data_member_load_to.
/// @param group_id, member_id, max_count, time_stamp as in C
/// @param target_buffer as in C; null: the source buffer
/// @param data_found receives the elements found, unless the call returns an error; SUBSET_IGNORE: not needed
/// @return the code of the C function, if it is no error
int member_load(int group_id, int member_id, void* target_buffer, MPI_Count max_count = FENIX_DATA_RESTORE_FULL,
                int time_stamp = FENIX_DATA_SNAPSHOT_ALL, DataSubset& data_found = SUBSET_IGNORE);

/// Calls Fenix_Data_member_load_begin.
/// @param group_id, member_id, file, time_stamp as in C
/// @param data_found receives the elements found, unless the call returns an error; SUBSET_IGNORE: not needed
/// @return the code of the C function, if it is no error
int member_load_begin(int group_id, int member_id, FILE** file, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST,
                      DataSubset& data_found = SUBSET_IGNORE);

/// Calls Fenix_Data_member_load_begin and opens a stream over the file, as member_stage_begin does.
/// @param group_id, member_id, time_stamp as in C
/// @param stream set to a stream over the file, owned by the library, valid until member_load_end
/// @param data_found receives the elements found, unless the call returns an error; SUBSET_IGNORE: not needed
/// @return the code of the C function, if it is no error
int member_load_begin(int group_id, int member_id, std::iostream** stream, int time_stamp = FENIX_DATA_SNAPSHOT_LATEST,
                      DataSubset& data_found = SUBSET_IGNORE);

/// Calls Fenix_Data_member_load_end.
/// @param group_id, member_id as in C
/// @return the code of the C function, if it is no error
int member_load_end(int group_id, int member_id);

/// Calls Fenix_Data_member_repair.
/// @param group_id, member_id as in C
/// @return the code of the C function, if it is no error
int member_repair(int group_id, int member_id);

/// Calls Fenix_Data_verify.
/// @param group_id, num_mended, num_lost as in C
/// @return the code of the C function, if it is no error
int verify(int group_id, int* num_mended = nullptr, int* num_lost = nullptr);

}  // namespace data
}  // namespace fenix

#endif

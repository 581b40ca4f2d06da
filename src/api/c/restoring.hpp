// SPDX-License-Identifier: BSD-3-Clause
// Restores, in the forms of <fenix/data.h> and of <fenix/spec.h>.
#pragma once

#include <fenix/data.h>

namespace fenix_impl {

/// The place where the application wants elements.
struct Destination {
  void* buffer = nullptr;
  MPI_Count max_count = FENIX_DATA_RESTORE_FULL;
  /// As in specification 1.0: NULL needs no data, and more elements than max_count are an error. Otherwise as in the API reference.
  bool by_specification = false;
};

/// Implements Fenix_Data_member_restore.
int restore_on_all(int group_id, int member_id, const Destination& destination, int time_stamp,
                   Fenix_Data_subset* found_data);
/// Implements Fenix_Data_member_restore_from_rank.
int restore_from_rank(int group_id, int member_id, const Destination& destination, int time_stamp,
                      Fenix_Data_subset* found_data, int source_rank);

}  // namespace fenix_impl

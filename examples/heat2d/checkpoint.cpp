// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint.hpp"

#include <fenix.hpp>
#include <stdexcept>

namespace heat2d {

namespace {

constexpr int kGroup = 1;
constexpr int kField = 1;
constexpr int kStep = 2;

// Creates a member or sets its buffer. A replacement learns from its peers that the member exists, but not its own
// buffer.
void attach_member(int member, void* buffer, int count, MPI_Datatype type) {
  if (Fenix_Data_member_created(kGroup, member) == 1) {
    require(Fenix_Data_member_attr_set(kGroup, member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, buffer, nullptr));
  } else {
    require(Fenix_Data_member_create(kGroup, member, buffer, count, type));
  }
}

}  // namespace

void require(int code) {
  if (code < 0) throw std::runtime_error(fenix::error_message());
}

// Creates the group and its members. Returns false if the checkpoints are lost.
bool Checkpoint::attach(MPI_Comm comm, Field& field) {
  int flag = FENIX_SUCCESS;
  require(Fenix_Data_group_create(kGroup, comm, 0, depth_, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, &flag));
  attach_member(kField, field.cells(), field.cell_count(), MPI_DOUBLE);
  attach_member(kStep, &step_, 1, MPI_INT);
  return flag != FENIX_ERROR_NODATA_FOUND;
}

Resumption Checkpoint::resume(MPI_Comm comm, Field& field) {
  Resumption from;
  from.lost = !attach(comm, field);
  const int found = Fenix_Data_member_restore(kGroup, kStep, &from.step, 1, FENIX_DATA_SNAPSHOT_LATEST, nullptr);
  if (found == FENIX_ERROR_NODATA_FOUND) {
    field.reset();
    return from;
  }
  require(found);
  require(Fenix_Data_member_restore(kGroup, kField, field.cells(), field.cell_count(), FENIX_DATA_SNAPSHOT_LATEST,
                                    nullptr));
  require(Fenix_Data_group_get_snapshot_at_position(kGroup, 0, &from.time_stamp));
  return from;
}

void Checkpoint::save(Field& field, int step) {
  step_ = step;
  // Each step moves the cells of the field to another buffer.
  require(Fenix_Data_member_attr_set(kGroup, kField, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, field.cells(), nullptr));
  require(Fenix_Data_member_store(kGroup, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL));
  require(Fenix_Data_commit_barrier(kGroup, FENIX_TIME_STAMP_IGNORE));
}

}  // namespace heat2d

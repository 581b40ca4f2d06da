// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <fenix.hpp>
#include <stdexcept>
#include <vector>

namespace heat2d {

namespace {

constexpr int kGroup = 1;
constexpr int kField = 1;
constexpr int kState = 2;
constexpr int kNumbers = 2;  // ints in the state

bool has_snapshots() {
  int snapshots = 0;
  require(Fenix_Data_group_get_number_of_snapshots(kGroup, &snapshots));
  return snapshots > 0;
}

// Returns false if there is no data. All other errors are exceptions.
bool found(int code) {
  if (code == FENIX_ERROR_NODATA_FOUND) return false;
  require(code);
  return true;
}

bool restore_from(int source, int member, void* target, int count) {
  return found(
      Fenix_Data_member_restore_from_rank(kGroup, member, target, count, FENIX_DATA_SNAPSHOT_LATEST, nullptr, source));
}

// Lists the ranks of a grid that have cells of a block.
std::vector<int> ranks_with_cells_of(const Block& block, const Grid& grid) {
  std::vector<int> ranks;
  for (int rank = 0; rank < grid.columns * grid.rows; ++rank) {
    if (overlap(block, block_of(grid, rank)).width > 0) ranks.push_back(rank);
  }
  return ranks;
}

bool all_agree(bool well, MPI_Comm comm) {
  int all = well ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  return all == 1;
}

int largest(int number, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MAX, comm);
  return number;
}

}  // namespace

void require(int code) {
  if (code < 0) throw std::runtime_error(fenix::error_message());
}

// Creates the group and its members. Returns false if the checkpoints are lost.
bool MemoryCheckpoint::attach(MPI_Comm comm, Field& field) {
  int flag = FENIX_SUCCESS;
  require(Fenix_Data_group_create(kGroup, comm, 0, depth_, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, &flag));
  // A replacement learns from its peers that the members exist, but not its own buffers.
  require(Fenix_Data_member_define(kGroup, kField, field.cells(), field.cell_count(), MPI_DOUBLE));
  require(Fenix_Data_member_define(kGroup, kState, &state_, kNumbers, MPI_INT));
  return flag != FENIX_ERROR_NODATA_FOUND;
}

bool MemoryCheckpoint::restore(Field& field) {
  const int latest = FENIX_DATA_SNAPSHOT_LATEST;
  return found(Fenix_Data_member_restore(kGroup, kState, &state_, kNumbers, latest, nullptr)) &&
         found(Fenix_Data_member_restore(kGroup, kField, field.cells(), field.cell_count(), latest, nullptr));
}

// Fills the field of a communicator that has shrunk from the blocks of the ranks that there were before, the dead among
// them. Returns false if they are lost.
bool MemoryCheckpoint::divide_anew(MPI_Comm comm, Field& field) {
  if (!restore_from(0, kState, &state_, kNumbers)) return false;
  const Grid before = make_grid(field.grid().width, field.grid().height, state_.ranks);
  const std::vector<int> sources = ranks_with_cells_of(field.block(), before);
  // All ranks make as many calls.
  const int calls = largest(static_cast<int>(sources.size()), comm);
  std::vector<double> cells;
  bool complete = true;
  for (int call = 0; call < calls && complete; ++call) {
    const int source = sources[std::min(static_cast<std::size_t>(call), sources.size() - 1)];
    const Block block = block_of(before, source);
    cells.resize(static_cast<std::size_t>(cells_with_frame(block)));
    complete = all_agree(restore_from(source, kField, cells.data(), cells_with_frame(block)), comm);
    if (complete) field.take_over(block, cells.data());
  }
  return complete;
}

Resumption MemoryCheckpoint::resume(MPI_Comm comm, Field& field) {
  Resumption from;
  from.lost = !attach(comm, field);
  const bool whole = restore(field);
  const bool divided = !whole && all_agree(has_snapshots(), comm);
  if (whole || divided) require(Fenix_Data_group_get_snapshot_at_position(kGroup, 0, &from.time_stamp));
  if (divided && !divide_anew(comm, field)) {
    from.lost = true;
    from.time_stamp = -1;
  }
  if (from.time_stamp < 0) {
    state_.step = 0;
    field.reset();
  }
  from.step = state_.step;
  MPI_Comm_size(comm, &state_.ranks);
  // The blocks of a communicator that has shrunk are not protected again until the next commit.
  if (divided) save(field, from.step);
  return from;
}

void MemoryCheckpoint::save(Field& field, int step) {
  state_.step = step;
  // Each step moves the cells of the field to another buffer.
  require(Fenix_Data_member_attr_set(kGroup, kField, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, field.cells(), nullptr));
  require(Fenix_Data_member_store(kGroup, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL));
  require(Fenix_Data_commit_barrier(kGroup, FENIX_TIME_STAMP_IGNORE));
}

}  // namespace heat2d

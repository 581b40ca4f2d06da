// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints in files, one for each rank, from which another job goes on.
#ifndef HEAT2D_CHECKPOINT_FILES_HPP
#define HEAT2D_CHECKPOINT_FILES_HPP

#include <mpi.h>

#include <filesystem>
#include <set>
#include <string>

#include "checkpoint.hpp"
#include "field.hpp"

namespace heat2d {

class FileCheckpoint : public Checkpoint {
 public:
  explicit FileCheckpoint(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// A checkpoint counts only if all ranks have their whole file of it, with the right hash, for this plate and number
  /// of ranks.
  Resumption resume(MPI_Comm comm, Field& field) override;
  void save(Field& field, int step) override;

 private:
  std::string prefix() const { return "rank-" + std::to_string(rank_) + ".step-"; }
  std::filesystem::path path_of(int step) const { return folder_ / (prefix() + std::to_string(step)); }
  std::set<int> complete_steps(Field& field) const;
  void remove_all_but(int step) const;

  std::filesystem::path folder_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
};

}  // namespace heat2d

#endif

// SPDX-License-Identifier: BSD-3-Clause
// The requests of a rank about the datasets of the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "keeper/client/connection.hpp"
#include "store/part.hpp"
#include "store/plan.hpp"

namespace fenix_impl {

/// All throw Error(FENIX_ERROR_STORE), and what check throws.
class DatasetClient {
 public:
  using Check = KeeperConnection::Check;

  explicit DatasetClient(KeeperConnection& connection) : connection_(connection) {}

  struct Found {
    std::optional<DatasetPlan> plan;    ///< of the dataset to go on from
    bool is_chosen = false;             ///< by the user
    std::vector<std::string> unusable;  ///< what would have come before it, and why it cannot be used
  };
  /// Returns the dataset to go on from. Waits while a newer one of an earlier run is being written.
  [[nodiscard]] Found find(const Search& search, const Check& check);
  /// Whether all data that a rank has stored in a dataset is there, as it was written: reads it, piece by piece.
  [[nodiscard]] bool verify(const DatasetName& name, std::int32_t rank, const Check& check);
  /// Returns what a rank has stored in a dataset, or nullopt if it is not there.
  [[nodiscard]] std::optional<StoredRank> rank(const DatasetName& name, std::int32_t rank, const Check& check);
  /// Reads data into a file in memory. Returns false if it is damaged, or not there.
  [[nodiscard]] bool read(const Reading& reading, int file, const Check& check);
  [[nodiscard]] std::vector<Listed> list(const Check& check);
  /// Return false if there is no such dataset.
  [[nodiscard]] bool remove(const std::string& name, const Check& check);
  [[nodiscard]] bool set_current(const std::string& name, const Check& check);
  /// Whether a dataset is complete.
  [[nodiscard]] bool is_complete(const DatasetName& name, const Check& check);
  /// Tells that this run has committed since it began with a dataset. Does not wait.
  void note_taken(const DatasetName& name);

 private:
  [[nodiscard]] bool call_about(KeeperOp op, const std::string& name, const Check& check);

  KeeperConnection& connection_;
};

}  // namespace fenix_impl

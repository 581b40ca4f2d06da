// SPDX-License-Identifier: BSD-3-Clause
// Lists of the snapshots that a group has, as time stamps, newest first. They work while the group is detached, too.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/log/epochs.hpp"
#include "core/state/archive.hpp"
#include "core/state/operation_context.hpp"
#include "core/state/stored_archive.hpp"

namespace fenix_impl {

class SnapshotLists {
 public:
  /// archive: of the group, which may get one later.
  /// stored: a dataset in its place, which the group may get later, too.
  SnapshotLists(const OperationContext& context, const std::unique_ptr<Archive>& archive,
                const std::unique_ptr<StoredArchive>& stored)
      : context_(context), archive_(archive), stored_(stored) {}

  /// Returns the snapshots that are known here to be on all ranks. Local.
  [[nodiscard]] std::vector<int> on_all() const;
  /// Returns the snapshots of this rank: its own newest commits, whatever the others have made. Until the first one after the
  /// communicator has shrunk, those from before. Local.
  [[nodiscard]] std::vector<int> own() const;

  /// Counts the snapshots that all ranks have now. Collective: the same number on all, which also get to know what check throws.
  std::size_t count(const std::function<void()>& check);
  /// Returns the snapshots that were counted. If this rank has changed something since, those on all ranks. Local.
  [[nodiscard]] std::vector<int> counted() const { return counted_ ? *counted_ : on_all(); }
  /// Makes counted() forget what was counted: this rank changes something.
  void forget_count() { counted_.reset(); }

 private:
  [[nodiscard]] std::vector<int> newest_first(std::span<const Epoch> epochs) const;
  /// Returns what counts until the team has a snapshot of its own.
  [[nodiscard]] std::span<const Epoch> archived() const;

  const OperationContext& context_;
  const std::unique_ptr<Archive>& archive_;
  const std::unique_ptr<StoredArchive>& stored_;
  std::optional<std::vector<int>> counted_;
};

}  // namespace fenix_impl

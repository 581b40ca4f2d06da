// SPDX-License-Identifier: BSD-3-Clause
// Committing: what was stored becomes a snapshot. DESIGN.md walks through a commit.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/state/operation_context.hpp"
#include "core/steps/kept_elements.hpp"

namespace fenix_impl {

/// Keeps its memory between commits: a commit is to do without allocations.
class CommitOperation {
 public:
  explicit CommitOperation(const OperationContext& context) : context_(context) {}
  CommitOperation(const CommitOperation&) = delete;
  CommitOperation& operator=(const CommitOperation&) = delete;

  /// Local with copies; with parity the ranks of a redundancy set commit together. Returns the time stamp.
  int run();
  /// Returns when all ranks have made the latest commit of this one. Collective. In place, it is decided then, and the own copies are
  /// overwritten.
  void wait_for_all();
  /// Runs a store that can fail on this rank alone, before a commit: if it fails, the redundancy set gets an error in its commit.
  void run_before(const std::function<void()>& store);
  /// Tells the redundancy set that this rank does not encode with it, if ranks encode.
  void decline();

 private:
  template <class Work>
  void do_or_decline(Work&& work);
  [[nodiscard]] bool fills_slot(const Member& member) const;
  [[nodiscard]] bool in_place() const { return context_.parameters.commits_in_place(); }
  [[nodiscard]] bool encodes_in_place() const;
  [[nodiscard]] Record next_record(Epoch epoch);
  [[nodiscard]] std::optional<MemberVersion> finish_version(Member& member, Epoch epoch);
  void find_unchanged(Member& member, const MemberVersion* base);
  void complete_hash(Member& member, const MemberVersion* base, MemberVersion& version);
  void complete_hashes(Record& record);
  void note_changes();
  void note_hashes(Member& member);
  void prepare(const Record& record);
  template <class Work>
  void keeping_buffers(Work&& work);
  void finish(LoggedRecord&& logged);

  const OperationContext& context_;
  std::vector<Change> changes_;  // for the redundancy set
  KeptElements kept_elements_;
  std::vector<BlockHashes> hashes_;  // of members, by their places, that it computes as it encodes
};

}  // namespace fenix_impl

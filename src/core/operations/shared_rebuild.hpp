// SPDX-License-Identifier: BSD-3-Clause
// Shared rebuild: the ranks of a redundancy set that are left decode what a replacement lacks, each a share, and write it there. The
// replacement's link then carries the data once; if it decoded alone, it would carry it once from each source. The reasons are
// in docs/design/redundancy.md.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/state/operation_context.hpp"

namespace fenix_impl {

class SharedRebuild {
 public:
  /// missing: the ranks that have nothing, the same on all ranks.
  SharedRebuild(const OperationContext& context, const std::set<int>& missing);

  /// Collective over the team. copies: of the records of this rank, if it is missing; else none. Returns the slots of this rank that
  /// are as their records say, with their redundancy. It has to rebuild the others alone.
  std::set<MemberSlot> run(std::span<const CommitLog::RecordCopy> copies);

 private:
  /// A slot that the ranks make together, and the ranks that do so, by index in the redundancy set.
  struct Job {
    int loser = 0;
    LostSlot lost;
    std::vector<std::optional<std::uint32_t>> sources;
    std::vector<bool> helps;
  };
  struct Statement;

  [[nodiscard]] bool is_missing(int rank) const { return missing_.count(rank) != 0; }
  [[nodiscard]] bool wants_help() const;
  void look_for_lost(std::span<const CommitLog::RecordCopy> copies);
  void exchange_lost();
  [[nodiscard]] std::vector<Statement> statements();
  [[nodiscard]] Statement statement_about(const Job& job, std::span<const LoggedRecord> records, bool choosy);
  void exchange_statements();
  void note_statement(Job& job, std::size_t index, const Statement& said) const;
  [[nodiscard]] bool is_shared(const Job& job) const;
  [[nodiscard]] bool make_share(const Job& job);
  [[nodiscard]] std::set<MemberSlot> exchange_results();
  [[nodiscard]] bool is_right(const LostSlot& lost) const;

  const OperationContext& context_;
  const std::set<int>& missing_;
  SharedDecoder* decoder_;
  int self_;
  std::vector<int> peers_;             // the other ranks of the redundancy set, if one of them or this one is missing
  std::vector<LostSlot> mine_;         // that this rank has lost
  std::vector<MemberVersion> wanted_;  // the versions that they are to have
  std::vector<Job> jobs_;              // of the redundancy set, the same on all of its ranks
};

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// The commits of this rank that may still be needed, and the log in which their records stand.
//
// Knows nothing of members, teams and archives: what all ranks have committed is read from the progress in the control region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/types.hpp"
#include "core/common/group_parameters.hpp"
#include "core/common/group_ranks.hpp"
#include "core/log/control.hpp"
#include "core/log/epochs.hpp"
#include "core/log/log_memory.hpp"

namespace fenix_impl {

class CommitLog {
 public:
  /// A record of this rank on one of its holders.
  struct RecordCopy {
    Epoch epoch;
    std::uint32_t entry = 0;
    int copy = 0;  ///< number of the copy, which says who the holder is
  };
  /// Places that a commit leaves free: one for the record that says that a snapshot was deleted.
  static constexpr std::size_t kEntriesToSpare = 1;

  /// Both must outlive the log.
  CommitLog(const GroupParameters& parameters, const GroupRanks& ranks) : parameters_(parameters), ranks_(ranks) {}
  CommitLog(const CommitLog&) = delete;
  CommitLog& operator=(const CommitLog&) = delete;

  [[nodiscard]] LogMemory& memory() { return memory_; }
  [[nodiscard]] const LogMemory& memory() const { return memory_; }

  // ---------------------------------------------------------------------------------------------------------- queries

  [[nodiscard]] Generation generation() const { return generation_; }
  /// Returns the epoch of the latest commit, or the one from which the group goes on.
  [[nodiscard]] Epoch last() const { return last_; }
  /// Returns the commits that may still be needed, oldest first.
  [[nodiscard]] std::span<const LoggedRecord> records() const { return records_; }
  /// Returns the latest record whose snapshot has not been deleted, or null.
  [[nodiscard]] const LoggedRecord* latest() const;
  /// Returns the record of an epoch whose snapshot has not been deleted, or null.
  [[nodiscard]] const LoggedRecord* at(Epoch epoch) const;
  /// Whether records are missing of the snapshots that are kept.
  [[nodiscard]] bool has_gaps() const;
  /// Returns the epochs of the newest depth + 1 snapshots of this rank, less those that it has deleted since. Oldest first. What
  /// other ranks have committed makes no difference.
  [[nodiscard]] std::vector<Epoch> own_snapshots() const;
  /// Returns the latest epoch that is known to be committed on every rank.
  [[nodiscard]] Epoch known_on_all() { return memory_.control().commits.reached_by_all(); }
  /// Whether this rank has the place of a dead one of which nothing was left, and has not committed since.
  [[nodiscard]] bool has_lost_data() const { return has_lost_data_; }

  /// Returns an entry without a record if more than to_spare are free.
  [[nodiscard]] std::optional<std::uint32_t> free_entry(std::size_t to_spare) const;
  [[nodiscard]] bool is_full() const { return records_.size() + kEntriesToSpare >= memory_.entries(); }

  // ----------------------------------------------------------------------------------------------------------- commits

  /// Returns the record of the next commit, without members; its memory is that of records which were forgotten.
  [[nodiscard]] Record begin_record(Epoch epoch);
  /// Makes sure that a record finds memory in its entry, here and on the holders. Throws Error(FENIX_ERROR_NO_MEMORY).
  void make_room(const LoggedRecord& logged) {
    memory_.control().make_room(ranks_.placement, ranks_.rank, logged.record, logged.entry);
  }
  /// Takes the memory that append() needs.
  void prepare_append();
  /// Writes the record here and on the holders. The commit counts when this returns.
  void write(const LoggedRecord& logged) {
    memory_.control().write_record(ranks_.placement, ranks_.rank, logged.record, logged.entry);
  }
  /// Seals the own record of an epoch, and notes the commit, unless that has been done.
  void seal_own(Epoch epoch, std::uint32_t entry);
  /// Notes a commit that was written. Takes no memory after prepare_append().
  void append(LoggedRecord&& logged) noexcept;
  /// Forgets the records that no rank needs any more, as all have committed later ones. True if some commit is on all ranks.
  bool forget_old();
  /// Voids the records that have been forgotten, here and on the holders: what they describe may be overwritten from here on.
  void void_forgotten();

  // ----------------------------------------------------------------------------------------------------------- deletion

  /// Puts a record that says "deleted" in the place of each that condition chooses; done is called after each. Others have to
  /// see that the epoch was committed, and what this rank may have reused since.
  template <class Condition, class Done>
  void delete_if(Condition&& condition, Done&& done) {
    for (LoggedRecord& logged : records_) {
      if (logged.record.deleted || !condition(logged.record.epoch)) continue;
      replace_by_tombstone(logged);
      done();
    }
  }

  // ------------------------------------------------------------------------------------------------- damage, taking up

  /// Writes own records again that are not what they were when they were committed. Returns how many.
  std::uint64_t mend_own();
  /// Voids all records, own and held, except those of the given epochs and those of epochs before oldest.
  void keep_only(std::span<const Epoch> epochs, Epoch oldest = {});
  /// Goes on from base with the given epochs, which are all that is left. Peers must not publish before all ranks have done this.
  void resume(Generation generation, Epoch base, std::span<const Epoch> epochs);
  /// Goes on from base without any record, in a new generation; what is announced to the redundancy set goes on as it was. Peers must not publish
  /// commits before all ranks have done this.
  void begin_anew(Generation generation, Epoch base);
  /// Notes that nothing is left of what the rank before had, under a policy without redundancy.
  void accept_loss() { has_lost_data_ = true; }
  /// Forgets the records; the log stays as it is.
  void forget_records() { records_.clear(); }
  /// Forgets all: records, epochs and the control region.
  void clear();

 private:
  void replace_by_tombstone(LoggedRecord& logged);
  [[nodiscard]] Epoch oldest_kept_with(Epoch epoch) const;
  void note_oldest_own() noexcept;

  const GroupParameters& parameters_;
  const GroupRanks& ranks_;
  LogMemory memory_{parameters_, ranks_};
  Generation generation_;
  Epoch last_;
  std::vector<LoggedRecord> records_;
  Epoch oldest_own_;  // snapshots before it are older than depth, whatever was deleted since
  bool has_lost_data_ = false;
  // Memory to use again: a commit is to do without allocations.
  std::vector<std::vector<MemberVersion>> spare_versions_;
  mutable std::vector<std::uint32_t> used_;
};

/// Whether an epoch is among some.
[[nodiscard]] bool contains(std::span<const Epoch> epochs, Epoch epoch);

}  // namespace fenix_impl

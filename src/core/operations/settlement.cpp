// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/settlement.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"

namespace fenix_impl {
namespace {

/// The knowledge of some ranks about a group. Sent to other ranks.
struct GroupKnowledge {
  std::int32_t group_id = 0;
  std::uint32_t copies = 0;   // of each record on other ranks
  std::uint64_t pending = 0;  // latest epoch whose commit is pending on some rank
  std::uint64_t decided = 0;  // latest epoch that some rank knows to be committed on all
  std::uint64_t redundant = 0;

  void merge(const GroupKnowledge& other) {
    pending = std::max(pending, other.pending);
    decided = std::max(decided, other.decided);
    copies = std::max(copies, other.copies);
    redundant |= other.redundant;
  }
};

/// The knowledge of some ranks about a rank of the former team. Sent to other ranks, a byte for each.
enum RankKnowledge : std::uint8_t {
  kLives = 1,
  kHasRecord = 2,  // its record of the pending commit is sealed in the memory of a living rank
  kIsKept = 4      // a living rank keeps its records
};

/// The start of a record in a message, which follows.
struct RecordHeader {
  std::int32_t owner = 0;
  std::uint32_t entry = 0;
  std::uint64_t bytes = 0;
};

GroupKnowledge knowledge_of(GroupData& data) {
  const GroupRanks& ranks = data.attachment.ranks();
  return {data.parameters.id, static_cast<std::uint32_t>(ranks.placement.copies()), data.pending.epoch().value,
          data.log.known_on_all().value, data.parameters.policy.has_redundancy() ? 1U : 0U};
}

bool has(const std::vector<CommittedEpoch>& epochs, Epoch epoch) {
  return std::any_of(epochs.begin(), epochs.end(), [&](const CommittedEpoch& each) { return each.epoch == epoch; });
}

class Settlement {
 public:
  /// data: null on a rank that does not have the group.
  Settlement(Team& team, const GroupKnowledge& all, GroupData* data) : team_(team), all_(all), data_(data) {}

  void run() {
    const Epoch pending{all_.pending};
    exchange_rank_knowledge(pending);
    decided_ = is_decided() ? pending : Epoch{all_.pending - 1};
    log().info("group {}: the commit of epoch {} was cut short, and {}", all_.group_id, all_.pending,
               decided_ == pending ? "counts" : "does not count");
    fault_point("settle.agreed");
    // A rank may have died when only some of its holders had its record. All must have it before anything is overwritten.
    if (decided_ == pending && all_.copies > 1 && some_have_failed()) spread_records();
    if (data_ != nullptr) settle_own();
  }

 private:
  void exchange_rank_knowledge(Epoch pending) {
    std::vector<std::uint8_t> mine;
    if (data_ != nullptr) {
      const GroupRanks& ranks = data_->attachment.ranks();
      const CommitLog& log = data_->log;
      mine.resize(static_cast<std::size_t>(ranks.size));
      const auto at = [&](int rank) -> std::uint8_t& { return mine.at(static_cast<std::size_t>(rank)); };
      at(ranks.rank) = static_cast<std::uint8_t>(kLives | (has(log.memory().own_epochs(), pending) ? kHasRecord : 0));
      for (int copy = 0; copy < ranks.placement.copies(); ++copy) {
        std::uint8_t& kept = at(ranks.placement.kept(ranks.rank, copy));
        kept =
            static_cast<std::uint8_t>(kept | kIsKept | (has(log.memory().held_epochs(copy), pending) ? kHasRecord : 0));
      }
    }
    ranks_ = team_.reduce_lists(std::span<const std::uint8_t>(mine),
                                [](std::vector<std::uint8_t>& into, std::span<const std::uint8_t> from) {
                                  into.resize(std::max(into.size(), from.size()));
                                  for (std::size_t i = 0; i < from.size(); ++i) into[i] |= from[i];
                                });
  }

  // Without redundancy, the others go on without a rank that has died.
  [[nodiscard]] bool is_decided() const {
    if (all_.decided >= all_.pending) return true;
    return std::all_of(ranks_.begin(), ranks_.end(), [&](std::uint8_t rank) {
      return (rank & kHasRecord) != 0 || (all_.redundant == 0 && (rank & kLives) == 0);
    });
  }

  // Whether nobody who lives could know that a dead rank has sealed the pending commit.
  [[nodiscard]] bool is_unsure() const {
    return all_.redundant != 0 && std::any_of(ranks_.begin(), ranks_.end(),
                                              [](std::uint8_t rank) { return (rank & (kLives | kIsKept)) == 0; });
  }

  [[nodiscard]] bool some_have_failed() const {
    return std::any_of(ranks_.begin(), ranks_.end(), [](std::uint8_t rank) { return (rank & kLives) == 0; });
  }

  [[nodiscard]] bool has_failed(int rank) const {
    return rank >= 0 && static_cast<std::size_t>(rank) < ranks_.size() &&
           (ranks_[static_cast<std::size_t>(rank)] & kLives) == 0;
  }

  void spread_records() {
    std::vector<std::byte> mine;
    if (data_ != nullptr) append_held(mine);
    for (const auto& theirs : team_.gather_lists(std::span<const std::byte>(mine))) {
      if (data_ != nullptr) take_missing(theirs);
    }
    fault_point("settle.spread");
    team_.barrier();
  }

  void append_held(std::vector<std::byte>& mine) const {
    const GroupRanks& ranks = data_->attachment.ranks();
    for (int copy = 0; copy < ranks.placement.copies(); ++copy) {
      const int owner = ranks.placement.kept(ranks.rank, copy);
      if (!has_failed(owner)) continue;
      for (const auto& [record, entry] : held_log(copy).read_all()) {
        if (record.epoch != decided_ || record.deleted) continue;
        const RecordHeader header{owner, entry, record_bytes(record)};
        const std::size_t start = mine.size();
        mine.resize(start + sizeof header + header.bytes);
        std::memcpy(mine.data() + start, &header, sizeof header);
        (void)encode(record, std::span(mine).subspan(start + sizeof header));
        const std::uint64_t seal = record_seal(record.epoch);
        std::memcpy(mine.data() + start + sizeof header, &seal, sizeof seal);
      }
    }
  }

  void take_missing(std::span<const std::byte> theirs) {
    const GroupRanks& ranks = data_->attachment.ranks();
    while (!theirs.empty()) {
      RecordHeader header;
      if (theirs.size() < sizeof header) throw Error(FENIX_ERROR_INTERN, "a record of a dead rank is cut short");
      std::memcpy(&header, theirs.data(), sizeof header);
      theirs = theirs.subspan(sizeof header);
      if (header.bytes > theirs.size()) throw Error(FENIX_ERROR_INTERN, "a record of a dead rank is cut short");
      const auto record = decode(theirs.first(header.bytes));
      theirs = theirs.subspan(header.bytes);
      if (!record || record->epoch != decided_ || record->owner != header.owner) continue;
      if (header.entry >= data_->log.memory().entries()) continue;
      for (int copy = 0; copy < ranks.placement.copies(); ++copy) {
        if (ranks.placement.kept(ranks.rank, copy) != header.owner) continue;
        if (has(data_->log.memory().held_epochs(copy), decided_)) continue;
        take(copy, header.entry, *record);
      }
    }
  }

  // Without memory for it, this rank goes on: the others wait for it, and the record is somewhere else.
  void take(int copy, std::uint32_t entry, const Record& record) const {
    try {
      data_->log.memory().control().region.reserve(held_log(copy).offset(entry), record_bytes(record));
      held_log(copy).put(entry, record);
    } catch (const Error& error) {
      log().warn("group {}: a record of rank {} cannot be kept here: {}", all_.group_id, record.owner, error.what());
    }
  }

  [[nodiscard]] const RecordLog& held_log(int copy) const {
    return data_->log.memory().control().held_logs.at(static_cast<std::size_t>(copy));
  }

  void settle_own() {
    PendingCommit& pending = data_->pending;
    CommitLog& log = data_->log;
    if (!pending.epoch().none() && pending.epoch() <= decided_) {
      log.seal_own(pending.epoch(), pending.entry());
      fault_point("settle.sealed");
      pending.copy([] { fault_point("settle.half_copied"); });
      fault_point("settle.copied");
    } else {
      pending.drop();
      // Perhaps it was on all ranks: the application has to be told, though the records are gone.
      if (decided_.value < all_.pending && is_unsure()) data_->owes_loss_report = true;
    }
    log.keep_only({}, decided_.next());
    fault_point("settle.voided");
  }

  Team& team_;
  const GroupKnowledge& all_;
  GroupData* data_;
  std::vector<std::uint8_t> ranks_;  // RankKnowledge of the former team
  Epoch decided_;
};

}  // namespace

void settle_commits(Team& team, std::span<GroupData* const> groups) {
  fault_point("settle.begin");
  std::vector<GroupKnowledge> mine;
  for (GroupData* data : groups) {
    if (data->parameters.commits_in_place()) mine.push_back(knowledge_of(*data));
  }
  const auto all = team.reduce_lists(std::span<const GroupKnowledge>(mine), [](std::vector<GroupKnowledge>& into,
                                                                               std::span<const GroupKnowledge> from) {
    for (const GroupKnowledge& each : from) {
      const auto place = std::lower_bound(into.begin(), into.end(), each,
                                          [](const auto& a, const auto& b) { return a.group_id < b.group_id; });
      if (place != into.end() && place->group_id == each.group_id) {
        place->merge(each);
      } else {
        into.insert(place, each);
      }
    }
  });
  for (const GroupKnowledge& each : all) {
    if (each.pending == 0) continue;
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const GroupData* data) { return data->parameters.id == each.group_id; });
    Settlement(team, each, found == groups.end() ? nullptr : *found).run();
  }
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/shared_rebuild.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <new>
#include <stdexcept>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"

namespace fenix_impl {
/// A rank's part in the making of a lost slot. Sent to other ranks.
struct SharedRebuild::Statement {
  enum Flags : std::uint32_t {
    kHelps = 1,    ///< it makes a share
    kIsSource = 2  ///< it has a slot of the same snapshot, without damage
  };

  std::uint32_t flags = 0;
  std::uint32_t slot = 0;
};

SharedRebuild::SharedRebuild(const OperationContext& context, const std::set<int>& missing)
    : context_(context),
      missing_(missing),
      decoder_(context.protection().shared_decoder()),
      self_(context.attachment.rank()) {
  if (decoder_ == nullptr) return;
  const auto redundancy_set = decoder_->redundancy_set();
  if (std::none_of(redundancy_set.begin(), redundancy_set.end(), [&](int rank) { return is_missing(rank); })) return;
  std::copy_if(redundancy_set.begin(), redundancy_set.end(), std::back_inserter(peers_),
               [&](int rank) { return rank != self_; });
}

// All ranks of the team take part in each exchange, also those that have nobody to tell something.
std::set<MemberSlot> SharedRebuild::run(std::span<const CommitLog::RecordCopy> copies) {
  if (decoder_ == nullptr || missing_.empty()) return {};
  if (is_missing(self_) && wants_help()) look_for_lost(copies);
  exchange_lost();
  // The others of a redundancy set know as well that there is nothing to do in it.
  if (jobs_.empty()) peers_.clear();
  exchange_statements();
  return exchange_results();
}

// ---------------------------------------------------------------------------------------------------------- what is lost

// Whether the others are to make what this rank lacks. The data of a single source comes to this rank once in any case.
bool SharedRebuild::wants_help() const {
  const auto left = std::count_if(peers_.begin(), peers_.end(), [&](int rank) { return !is_missing(rank); });
  return left > 1 && decoder_->needed() > 1 && environment::word("FENIX_REBUILD") != "alone";
}

void SharedRebuild::look_for_lost(std::span<const CommitLog::RecordCopy> copies) {
  const Control& control = context_.control();
  const Placement& placement = context_.attachment.ranks().placement;
  std::set<MemberSlot> seen;
  for (const CommitLog::RecordCopy& copy : copies) {
    if (copy.entry >= context_.log.memory().entries()) continue;
    const RecordLog& log = control.held_logs.at(static_cast<std::size_t>(copy.copy));
    const auto record =
        record_at(*control.remote, placement.holder(self_, copy.copy), log.offset(copy.entry), copy.epoch);
    if (!record) continue;
    for (const MemberVersion& version : record->members) {
      const Member* member = context_.members.find(version.member_id);
      if (member == nullptr || version_in(*record, *member) == nullptr) continue;
      const bool fits = version.slot < member->memory.layout().slots() &&
                        version.element_bytes == member->element_bytes() && version.bytes() <= member->bytes_of(self_);
      if (!fits || !seen.insert({version.member_id, version.slot}).second) continue;
      mine_.push_back({copy.epoch, version.member_id, version.slot});
      wanted_.push_back(version);
    }
  }
}

void SharedRebuild::exchange_lost() {
  auto lost = context_.team().ask(peers_, std::span<const LostSlot>(mine_));
  if (peers_.empty()) return;
  lost[self_] = mine_;
  const auto redundancy_set = decoder_->redundancy_set();
  for (const int rank : redundancy_set) {
    // Nothing is written to a rank that has its data.
    if (!is_missing(rank)) continue;
    for (const LostSlot& each : lost[rank]) {
      jobs_.push_back({rank, each, {}, {}});
      jobs_.back().sources.resize(redundancy_set.size());
      jobs_.back().helps.resize(redundancy_set.size());
    }
  }
  if (!jobs_.empty()) fault_point("rebuild.announced");
}

// ------------------------------------------------------------------------------------------------------------- who helps

// If there are ranks to spare, damaged ones are left out: their damage would not be noticed in the parity.
std::vector<SharedRebuild::Statement> SharedRebuild::statements() {
  const auto redundancy_set = decoder_->redundancy_set();
  const auto left =
      std::count_if(redundancy_set.begin(), redundancy_set.end(), [&](int rank) { return !is_missing(rank); });
  const bool choosy = context_.parameters.hashing != 0 && left > decoder_->needed();
  const auto records = is_missing(self_) ? std::vector<LoggedRecord>() : context_.control().own_log.read_all();
  std::vector<Statement> said;
  for (const Job& job : jobs_) said.push_back(statement_about(job, records, choosy));
  return said;
}

SharedRebuild::Statement SharedRebuild::statement_about(const Job& job, std::span<const LoggedRecord> records,
                                                        bool choosy) {
  const Member* member = context_.members.find(job.lost.member_id);
  if (is_missing(self_) || member == nullptr) return {};
  for (const auto& [record, entry] : records) {
    if (record.epoch != job.lost.epoch || record.deleted) continue;
    const MemberVersion* version = version_in(record, *member);
    if (version == nullptr || version->slot >= member->memory.layout().slots()) continue;
    if (version->bytes() > member->bytes_of(self_)) continue;
    const bool sound = !choosy || own_is_sound(context_.parameters, *member, *version);
    return {Statement::kHelps | (sound ? Statement::kIsSource : 0U), version->slot};
  }
  return {Statement::kHelps, 0};
}

void SharedRebuild::exchange_statements() {
  const auto mine = statements();
  auto said = context_.team().ask(peers_, std::span<const Statement>(mine));
  if (jobs_.empty()) return;
  said[self_] = mine;
  const auto redundancy_set = decoder_->redundancy_set();
  for (std::size_t i = 0; i < redundancy_set.size(); ++i) {
    const auto& statements = said[redundancy_set[i]];
    if (statements.size() != jobs_.size()) throw Error(FENIX_ERROR_INTERN, "a rank knows of other lost slots");
    for (std::size_t job = 0; job < jobs_.size(); ++job) note_statement(jobs_[job], i, statements[job]);
  }
}

void SharedRebuild::note_statement(Job& job, std::size_t index, const Statement& said) const {
  if (is_missing(decoder_->redundancy_set()[index])) return;
  job.helps[index] = (said.flags & Statement::kHelps) != 0;
  if ((said.flags & Statement::kIsSource) != 0) job.sources[index] = said.slot;
}

// ---------------------------------------------------------------------------------------------------------------- shares

// All ranks of the redundancy set come to the same result.
bool SharedRebuild::is_shared(const Job& job) const {
  const auto sources =
      std::count_if(job.sources.begin(), job.sources.end(), [](const auto& each) { return each.has_value(); });
  return sources >= decoder_->needed() && std::count(job.helps.begin(), job.helps.end(), true) > 1;
}

// Whether this rank has done what it has to.
bool SharedRebuild::make_share(const Job& job) {
  const auto redundancy_set = decoder_->redundancy_set();
  const auto self = std::find(redundancy_set.begin(), redundancy_set.end(), self_) - redundancy_set.begin();
  if (!is_shared(job)) return false;
  if (!job.helps[static_cast<std::size_t>(self)]) return true;
  const Share share{static_cast<int>(std::count(job.helps.begin(), job.helps.begin() + self, true)),
                    static_cast<int>(std::count(job.helps.begin(), job.helps.end(), true))};
  try {
    Member& member = *context_.members.find(job.lost.member_id);
    return decoder_->make_share(member, job.loser, job.lost.slot, job.sources, share);
  } catch (const Error& error) {
    if (error.code() != FENIX_ERROR_NO_MEMORY || !context_.team().sound()) throw;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  log().info("group {}: no memory to take part in rebuilding rank {}", context_.parameters.id, job.loser);
  return false;
}

std::set<MemberSlot> SharedRebuild::exchange_results() {
  std::vector<std::uint8_t> done;
  for (const Job& job : jobs_) done.push_back(make_share(job) ? 1 : 0);
  if (!jobs_.empty()) fault_point("rebuild.shared");
  const auto all = context_.team().ask(peers_, std::span<const std::uint8_t>(done));
  std::set<MemberSlot> there;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    const LostSlot& lost = jobs_[job].lost;
    if (jobs_[job].loser != self_ || done[job] == 0) continue;
    const bool whole = std::all_of(all.begin(), all.end(),
                                   [&](const auto& each) { return job < each.second.size() && each.second[job] != 0; });
    if (whole && is_right(lost)) there.insert({lost.member_id, lost.slot});
  }
  if (!mine_.empty()) {
    log().info("group {}: {} of {} slots were made by other ranks", context_.parameters.id, there.size(), mine_.size());
  }
  return there;
}

bool SharedRebuild::is_right(const LostSlot& lost) const {
  const auto found = std::find_if(mine_.begin(), mine_.end(), [&](const LostSlot& each) {
    return each.member_id == lost.member_id && each.slot == lost.slot;
  });
  const MemberVersion& version = wanted_[static_cast<std::size_t>(found - mine_.begin())];
  const SlotView slot = context_.members.find(lost.member_id)->memory.own_slot(lost.slot);
  return make_right_table(slot, version.found, version.element_bytes, version.hash) || context_.parameters.hashing == 0;
}

}  // namespace fenix_impl

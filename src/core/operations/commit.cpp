// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/commit.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/simd/hash.hpp"
#include "core/common/meeting.hpp"
#include "core/steps/commit_faults.hpp"
#include "core/steps/committable.hpp"
#include "core/steps/part_writer.hpp"

namespace fenix_impl {
namespace {

// A store checks this too. Members can still be in more pieces later: when a snapshot was deleted that had them whole.
void check_fits(const Record& record, const RecordLog& log) {
  if (record_bytes(record) <= log.entry_bytes()) return;
  throw Error(FENIX_ERROR_SUBSET_NUM_BLOCKS,
              "the members are in more pieces than a record can describe: store one of them as a whole");
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- versions

// Whether the snapshot under construction has a slot of its own for the member, or shares that of the latest one.
bool CommitOperation::fills_slot(const Member& member) const {
  return context_.protection().stores_always_take_slot() ? member.working().is_stored()
                                                         : !member.working().stored().empty();
}

std::optional<MemberVersion> CommitOperation::finish_version(Member& member, Epoch epoch) {
  const MemberVersion* base = latest_version(context_.log, member);
  const WorkingSlot& working = member.working();
  if (!working.is_stored()) return base != nullptr ? std::optional(*base) : std::nullopt;

  const bool hashing = context_.parameters.hashing != 0;
  const std::uint64_t no_hash = hashing ? hash_of_table({}, 0) : 0;
  MemberVersion version{member.id(), 0, member.element_bytes(), 0, epoch, no_hash, working.stored()};
  version.size = member.info().resizeable ? working.size() : member.own_count();
  if (!fills_slot(member)) {
    if (base == nullptr) return version;
    version.slot = base->slot;
    version.hash = base->hash;
    version.found = base->found;
    return version;
  }
  const std::uint32_t slot = *working.number();
  version.slot = slot;
  if (base != nullptr) {
    version.found = version.found | base->found;
    const IntervalSet carried = (base->found - working.stored()) & working.history().stale(slot);
    PartWriter(context_.protection(), in_place()).carry_over(member, base->slot, slot, carried);
    if (hashing) kept_elements_.check(context_, member, *base, carried);
  }
  fault_point("commit.carried");
  if (hashing && encodes_in_place()) {
    // Parity is made in the commit, and other hashes with it: only now it can be seen what has changed.
    find_unchanged(member, base);
  } else if (hashing) {
    complete_hash(member, base, version);
  }
  context_.protection().flush(member);
  return version;
}

void CommitOperation::find_unchanged(Member& member, const MemberVersion* base) {
  const std::uint64_t all = member.info().resizeable ? 0 : member.own_count();
  PartWriter(context_.protection(), true)
      .find_unchanged(context_.requests.access(member), base,
                      blocks_within(member.working().stored(), all, member.element_bytes()));
}

void CommitOperation::complete_hash(Member& member, const MemberVersion* base, MemberVersion& version) {
  version.hash =
      PartWriter(context_.protection(), in_place()).complete_table(context_.requests.access(member), base, version);
}

// Completes the hashes of a record after the encoding.
void CommitOperation::complete_hashes(Record& record) {
  for (MemberVersion& version : record.members) {
    Member& member = *context_.members.find(version.member_id);
    if (version.stored_in != record.epoch || !fills_slot(member)) continue;
    const MemberAccess access = context_.requests.access(member);
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i].member == &member && changes_[i].hashes != nullptr) access.slot().note_hashed(hashes_[i].done);
    }
    complete_hash(member, latest_version(context_.log, member), version);
  }
}

// -------------------------------------------------------------------------------------------------------------- commit

// The redundancy set would wait for this rank. An asynchronous store comes first, on all ranks.
void CommitOperation::decline() {
  CollectiveEncoder* const encoder = context_.protection().encoder();
  if (encoder == nullptr) return;
  context_.requests.wait_for_all();
  encoder->decline(context_.attachment.waiting());
}

// Runs a step that can fail on this rank alone: it comes before all that is done together.
template <class Work>
void CommitOperation::do_or_decline(Work&& work) {
  try {
    work();
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    const CollectiveEncoder* const encoder = context_.protection().encoder();
    const bool broken = encoder != nullptr && encoder->is_broken();
    if (error.code() != FENIX_ERROR_TIMEOUT && !broken) decline();
    throw;
  } catch (const std::bad_alloc&) {
    decline();
    throw Error(out_of_memory());
  }
}

void CommitOperation::run_before(const std::function<void()>& store) {
  do_or_decline([&] { store(); });
}

int CommitOperation::run() {
  CommitLog& log = context_.log;
  if (!context_.parameters.keeps_all()) do_or_decline([&] { check_committable(context_); });
  const Epoch epoch = log.last().next();
  // This rank may be far ahead of the others: then all entries have records that are still needed.
  context_.reclaimer.wait_for_others("all ranks to commit an earlier snapshot, before its record is reused", [&] {
    context_.reclaimer.forget_old();
    return !log.is_full();
  });
  LoggedRecord logged;
  do_or_decline([&] {
    logged = {next_record(epoch), *log.free_entry(CommitLog::kEntriesToSpare)};
    check_fits(logged.record, log.memory().control().own_log);
    log.make_room(logged);
    prepare(logged.record);
    note_changes();
  });
  if (CollectiveEncoder* const encoder = context_.protection().encoder()) {
    encoder->encode({EncodeFor::Call::commit, epoch}, changes_, context_.attachment.waiting());
    if (encodes_in_place() && context_.parameters.hashing != 0) complete_hashes(logged.record);
  }
  context_.before_record();
  if (in_place()) context_.pending.begin(epoch, logged.entry);
  keeping_buffers([&] {
    log.write(logged);
    finish(std::move(logged));
  });
  return context_.parameters.time_stamp_of(epoch);
}

// If this rank gives up while its commit is pending, the application gets its buffers back. After a death, the repair comes first.
template <class Work>
void CommitOperation::keeping_buffers(Work&& work) {
  try {
    work();
  } catch (const MpiError&) {
    throw;
  } catch (...) {
    if (!context_.pending.epoch().none()) context_.pending.keep_buffers();
    throw;
  }
}

bool CommitOperation::encodes_in_place() const { return in_place() && context_.protection().commits_collectively(); }

Record CommitOperation::next_record(Epoch epoch) {
  Record record = context_.log.begin_record(epoch);
  for (const auto& member : context_.members) {
    if (auto version = finish_version(*member, epoch)) record.members.push_back(std::move(*version));
  }
  return record;
}

// Notes the changes that the redundancy set has to know.
void CommitOperation::note_changes() {
  if (!context_.protection().commits_collectively()) return;
  changes_.clear();
  for (const auto& member : context_.members) {
    const WorkingSlot& working = member->working();
    if (!working.is_stored()) {
      // Parity is also about the versions that the others carry on.
      const MemberVersion* base = latest_version(context_.log, *member);
      if (base != nullptr) changes_.push_back({member.get(), {}, base->stored_in});
      continue;
    }
    const IntervalSet changed = (working.stored() - working.unchanged()) | working.history().stale(*working.number());
    const std::uint64_t room = member->memory.counts().at(context_.attachment.rank());
    changes_.push_back({member.get(), changed.within(0, room) - working.encoded(), {}});
    changes_.back().is_in_buffer = in_place() && member->is_whole_in_buffer(context_.attachment.rank());
    if (in_place() && context_.parameters.hashing != 0) note_hashes(*member);
  }
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const bool computes = changes_[i].carried_from.none() && in_place() && context_.parameters.hashing != 0;
    changes_[i].hashes = computes ? &hashes_[i] : nullptr;
  }
}

// Lets the encoding of the latest change compute the hashes of blocks all of whose elements were stored.
void CommitOperation::note_hashes(Member& member) {
  std::vector<std::uint64_t>& table = context_.requests.access(member).slot().table();
  table.resize(hash_blocks(member.memory.layout().own_bytes()));
  const std::uint64_t all = member.info().resizeable ? 0 : member.own_count();
  hashes_.resize(std::max(hashes_.size(), changes_.size()));
  BlockHashes& hashes = hashes_[changes_.size() - 1];
  const WorkingSlot& working = member.working();
  hashes = {table, blocks_within(working.stored(), all, member.element_bytes()) - working.hashed(), {}};
}

// Takes the memory for the steps after the commit: they must not fail.
void CommitOperation::prepare(const Record& record) {
  context_.pending.drop();
  const bool hashing = context_.parameters.hashing != 0;
  for (const auto& member : context_.members) {
    if (!member->working().is_stored()) continue;
    const bool fills = fills_slot(*member);
    const MemberAccess access = context_.requests.access(*member);
    if (fills) access.slot().prepare_commit();
    if (!in_place()) continue;
    context_.pending.prepare(access, hashing && fills ? hash_blocks(record.find(member->id())->bytes()) : 0);
  }
  context_.log.prepare_append();
}

void CommitOperation::finish(LoggedRecord&& logged) {
  const Epoch epoch = logged.record.epoch;
  for (const auto& member : context_.members) {
    const bool fills = fills_slot(*member);
    context_.requests.access(*member).slot().commit(epoch, fills);
  }
  context_.log.append(std::move(logged));
  // Others may wait for this, now or later.
  together(context_.team(), [&] { context_.control().commits.advance(*context_.control().remote, epoch); });
  fault_point("commit.published");
  context_.reclaimer.forget_old();
}

void CommitOperation::wait_for_all() {
  CommitLog& log = context_.log;
  keeping_buffers([&] {
    context_.reclaimer.wait_for_others("all ranks to commit", [&] { return log.known_on_all() >= log.last(); });
  });
  if (!context_.pending.epoch().none()) {
    fault_point("commit.decided");
    context_.pending.copy([] { fault_point("commit.half_copied"); });
    fault_point("commit.copied");
  }
  // Otherwise ranks that have not heard of this commit would have to ask for it.
  together(context_.team(), [&] { context_.control().commits.pass_on(*context_.control().remote); });
  fault_point("commit.on_all");
  const bool encodes = context_.parameters.policy.encodes();
  if (!log.records().empty())
    offer_own_to_faults(context_.members, log.memory().control(), log.records().back(), encodes);
  offer_held_to_faults(context_.members, log.memory().control(), encodes);
  context_.reclaimer.forget_old();
  // The next store overwrites what protects the snapshot before. If more ranks die than the policy covers, those that are left may go
  // back to that one, and without hashes nobody would see what has become of it.
  if (in_place() && context_.parameters.hashing == 0) together(context_.team(), [&] { log.void_forgotten(); });
}

}  // namespace fenix_impl

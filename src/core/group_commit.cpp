// SPDX-License-Identifier: BSD-3-Clause
// Committing, deleting, and making the ranks agree on what there is.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/copy.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "core/commit_faults.hpp"
#include "core/group.hpp"
#include "core/meeting.hpp"
#include "core/waiting.hpp"

namespace fenix_impl {

void Group::check_committable() {
  const auto requests = requests_;  // finished() takes them out
  for (const auto& request : requests) {
    if (!finished(*request)) {
      throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "a request for member_id " +
                                                      std::to_string(request->members().front()) +
                                                      " is pending: wait for it before the commit");
    }
    if (request->state() == Request::State::failed) throw Error(request->error());
  }
  for (const auto& member : members_) {
    if (member->file && !member->file_is_loading) {
      throw Error(FENIX_ERROR_MEMBER_STAGING,
                  "member_id " + std::to_string(member->info.id) + " is open: Fenix_Data_member_stage_end first");
    }
    if (!member->working.staged.empty()) {
      throw Error(FENIX_ERROR_INVALID_LOGIC_CALL,
                  "member_id " + std::to_string(member->info.id) +
                      " has been staged and not stored: store FENIX_DATA_SUBSET_PRESTAGED");
    }
  }
  if (last_.value > static_cast<std::uint64_t>(FENIX_TIME_STAMP_MAX - parameters_.start_time_stamp)) {
    throw Error(FENIX_ERROR_INVALID_TIMESTAMP, "the time stamps of the group are used up");
  }
}

// ------------------------------------------------------------------------------------------------------------- versions

// Whether the snapshot under construction has a slot of its own for the member, or shares that of the latest one.
bool Group::fills_slot(const Member& member) const {
  return protection_->takes_slot_always() ? member.working.is_stored : !member.working.stored.empty();
}

std::optional<MemberVersion> Group::finish_version(Member& member, Epoch epoch) {
  const MemberVersion* base = latest_version(member);
  const Working& working = member.working;
  if (!working.is_stored) return base != nullptr ? std::optional(*base) : std::nullopt;

  const std::uint64_t no_hash = parameters_.hashing != 0 ? hash_of_table({}, 0) : 0;
  MemberVersion version{member.info.id, 0, member.element_bytes(), 0, epoch, no_hash, working.stored};
  version.size = member.info.resizeable ? working.size : member.own_count;
  if (!fills_slot(member)) {
    if (base == nullptr) return version;
    version.slot = base->slot;
    version.hash = base->hash;
    version.found = base->found;
    return version;
  }
  const std::uint32_t slot = *working.slot;
  version.slot = slot;
  IntervalSet changed = working.stored;
  if (base != nullptr) {
    version.found = version.found | base->found;
    const IntervalSet carried = (base->found - working.stored) & member.stale[slot];
    carry_over(member, base->slot, slot, carried);
    changed = changed | carried;
  }
  fault_point("commit.carried");
  if (parameters_.hashing != 0) {
    complete_table(member, base, version, changed);
    version.hash = hash_of_table(member.own_slot(slot).table, version.bytes());
  }
  protection_->complete(member);
  return version;
}

void Group::carry_over(const Member& member, std::uint32_t from, std::uint32_t to, const IntervalSet& elements) const {
  const auto source = member.own_slot(from).data;
  const auto target = member.own_slot(to).data;
  const std::uint32_t bytes = member.element_bytes();
  for (const Interval& each : elements.intervals()) {
    const std::size_t begin = each.first * bytes;
    const std::size_t length = each.count() * bytes;
    const Stores stores = worth_streaming(length) ? Stores::streaming : Stores::cached;
    const auto mirror = protection_->mirror(member, to, begin, length);
    if (mirror.empty()) {
      copy_bytes(target.subspan(begin, length), source.subspan(begin, length), stores);
      protection_->put(member, to, begin, length);
    } else {
      copy_twice(target.subspan(begin, length), mirror, source.subspan(begin, length), stores);
    }
  }
}

// The hashes that stores have not computed; then the table is protected as well.
void Group::complete_table(const Member& member, const MemberVersion* base, const MemberVersion& version,
                           const IntervalSet& changed) const {
  const SlotView slot = member.own_slot(version.slot);
  const auto data = slot.data.first(version.bytes());
  const std::uint32_t bytes = member.element_bytes();
  const std::uint64_t blocks = hash_blocks(data.size());
  const std::uint64_t base_blocks = base != nullptr ? hash_blocks(base->bytes()) : 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    if (member.working.hashed.covers(block, block + 1)) continue;
    const std::uint64_t first = block * kHashBlock / bytes;
    const std::uint64_t end = ((block + 1) * kHashBlock + bytes - 1) / bytes;
    slot.table[block] = block < base_blocks && !changed.meets(first, end)
                            ? member.own_slot(base->slot).table[block]
                            : hash_of_block(data, block, version.found, bytes);
  }
  protection_->put_table(member, version.slot, blocks);
}

// -------------------------------------------------------------------------------------------------------------- commit

// The cohort would wait for this rank. What an asynchronous store has to say to it comes first, on all ranks.
void Group::decline_commit() {
  if (!protection_->takes_slot_always()) return;
  const auto requests = requests_;  // finished() takes them out
  for (const auto& request : requests) wait_for(*request);
  protection_->decline(waiting());
}

// What can fail on this rank alone comes before what is done together.
template <class Work>
void Group::do_or_decline(Work&& work) {
  try {
    work();
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != FENIX_ERROR_TIMEOUT && !protection_->broken()) decline_commit();
    throw;
  } catch (const std::bad_alloc&) {
    decline_commit();
    throw Error(out_of_memory());
  }
}

int Group::commit() {
  fault_point("commit.begin");
  if (keeps_all()) together(team(), [&] { grow_log_if_full(); });
  // With copies the ranks commit one by one: no other one waits for this one here.
  if (!protection_->takes_slot_always()) return alone([&] { return commit_alone(); });
  return together(team(), [&] { return commit_alone(); });
}

void Group::commit_on_all(int& time_stamp) {
  fault_point("commit.begin");
  if (keeps_all()) together(team(), [&] { grow_log_if_full(); });
  try {
    time_stamp = commit_alone();
  } catch (const Error& error) {
    if (error.code() == FENIX_ERROR_NO_MEMORY) team().withdraw();
    throw;
  } catch (const std::bad_alloc&) {
    team().withdraw();
    throw;
  }
  wait_for_commit_on_all();
}

int Group::commit_alone() {
  if (!keeps_all()) do_or_decline([&] { check_committable(); });
  const Epoch epoch = last_.next();
  // This rank may be far ahead of the others: then all places have records that are still needed.
  wait_for_others("all ranks to commit an earlier snapshot, before its record is reused", [&] {
    forget_old_records();
    return records_.size() + kPlacesToSpare < log_places();
  });
  PlacedRecord placed;
  do_or_decline([&] {
    placed = {next_record(epoch), *free_place(kPlacesToSpare)};
    control_.make_room(placement_, team_rank_, placed.record, placed.place);
    prepare_after_commit();
    note_changes();
  });
  if (protection_->takes_slot_always()) {
    protection_->encode({EncodeFor::Call::commit, epoch}, changes_, waiting());
  }
  control_.write_record(placement_, team_rank_, placed.record, placed.place);
  after_commit(std::move(placed));
  return time_stamp_of(epoch);
}

std::optional<std::uint32_t> Group::free_place(std::size_t to_spare) const {
  if (records_.size() + to_spare >= log_places()) return std::nullopt;
  used_.clear();
  for (const PlacedRecord& placed : records_) used_.push_back(placed.place);
  return lowest_free(log_places(), used_);
}

Record Group::next_record(Epoch epoch) {
  Record record{epoch, generation_,     time_stamp_of(epoch), parameters_.id, team_rank_, oldest_kept_with(epoch),
                false, spare_versions()};
  for (const auto& member : members_) {
    if (auto version = finish_version(*member, epoch)) record.members.push_back(std::move(*version));
  }
  return record;
}

std::vector<MemberVersion> Group::spare_versions() {
  if (spare_versions_.empty()) return {};
  std::vector<MemberVersion> versions = std::move(spare_versions_.back());
  spare_versions_.pop_back();
  versions.clear();
  return versions;
}

Epoch Group::oldest_kept_with(Epoch epoch) const {
  Epoch oldest = epoch;
  std::size_t kept = 1;
  for (auto placed = records_.rbegin(); placed != records_.rend() && kept < kept_snapshots(); ++placed) {
    if (placed->record.deleted) continue;
    oldest = placed->record.epoch;
    ++kept;
  }
  return oldest;
}

Wait Group::waiting() const {
  return [this](const char* waited_for, const std::function<bool()>& ready) { wait_until(team(), waited_for, ready); };
}

// What the cohort has to know.
void Group::note_changes() {
  if (!protection_->takes_slot_always()) return;
  changes_.clear();
  for (const auto& member : members_) {
    if (!member->working.is_stored) {
      // Parity is about what the others carry on, too.
      const MemberVersion* base = latest_version(*member);
      if (base != nullptr) changes_.push_back({member.get(), {}, base->stored_in});
      continue;
    }
    const IntervalSet changed = member->working.stored | member->stale[*member->working.slot];
    const std::uint64_t room = member->counts.at(team_rank_);
    changes_.push_back({member.get(), changed.within(0, room) - member->working.encoded, {}});
  }
}

// Takes the memory for what comes after the commit: that must not fail.
void Group::prepare_after_commit() {
  for (const auto& member : members_) {
    if (!fills_slot(*member)) continue;
    for (std::size_t slot = 0; slot < member->stale.size(); ++slot) {
      member->stale_next[slot] = member->stale[slot] | member->working.stored;
    }
  }
  if (records_.size() == records_.capacity()) records_.reserve(2 * records_.size() + 1);
  spare_versions_.reserve(records_.capacity());
}

void Group::after_commit(PlacedRecord placed) {
  const Epoch epoch = placed.record.epoch;
  for (auto& member : members_) {
    if (fills_slot(*member)) {
      std::swap(member->stale, member->stale_next);
      member->stale[*member->working.slot] = {};
      member->slot_epochs[*member->working.slot] = epoch;
    }
    member->working = {};
  }
  records_.push_back(std::move(placed));
  last_ = epoch;
  has_lost_data_ = false;
  // Others may wait for this, now or later.
  together(team(), [&] { control_.commits.advance(*control_.exposure, epoch); });
  fault_point("commit.published");
  forget_old_records();
}

void Group::wait_for_commit_on_all() {
  wait_for_others("all ranks to commit", [&] { return known_on_all() >= last_; });
  // Those that it has not told yet would have to ask it.
  together(team(), [&] { control_.commits.pass_on(*control_.exposure); });
  fault_point("commit.on_all");
  if (!records_.empty()) offer_own_to_faults(members_, control_, records_.back(), parameters_.policy.encodes());
  offer_held_to_faults(members_, control_, parameters_.policy.encodes());
  forget_old_records();
}

void Group::clean_up() { forget_old_records(); }

// ------------------------------------------------------------------------------------------------------------- deletion

void Group::delete_snapshot(const SnapshotChoice& choice) {
  if (latest_record() == nullptr) throw Error(FENIX_ERROR_NODATA_FOUND, "the group has no snapshot");
  const Epoch epoch = own_epoch(choice);
  fault_point("delete.begin");
  // The thread of an asynchronous store looks at what is forgotten here.
  if (attached()) {
    for (const auto& member : members_) wait_for_requests_of(*member);
    // What is older than depth must not come up again in the place of what is deleted.
    find_commits();
    forget_old_records();
  }
  for (PlacedRecord& placed : records_) {
    const bool chosen = choice.kind == SnapshotChoice::Kind::all || placed.record.epoch == epoch;
    if (chosen && !placed.record.deleted) delete_record(placed);
  }
  forget_old_records();
}

// A record that says "deleted" takes the place of the one that was. It is needed: others have to see that the epoch was
// committed, and what this rank may have reused since.
void Group::delete_record(PlacedRecord& placed) {
  const Record& record = placed.record;
  Record tombstone{
      record.epoch, record.generation, record.time_stamp, record.group_id, record.owner, record.oldest_kept, true, {}};
  const std::uint32_t place = free_place(0).value();
  control_.write_record(placement_, team_rank_, tombstone, place);
  const std::uint32_t before = std::exchange(placed.place, place);
  placed.record = std::move(tombstone);
  fault_point("delete.written");
  control_.clear_record(placement_, team_rank_, before);
  fault_point("delete.done");
  // What slots had in common with the latest snapshot is not known any more, if that has gone.
  for (auto& member : members_) member->forget_slots();
}

bool Group::make_consistent() {
  return together(team(), [&] { return remove_inconsistent(); });
}

bool Group::remove_inconsistent() {
  fault_point("barrier.begin");
  const auto ghosts = meet(team(), Operation::consistency, 0, ghost_ ? 1 : 0, [] {});
  if (ghosts.bits != 0) return false;

  const auto consistent = consistent_now();
  for (PlacedRecord& placed : records_) {
    const auto& epochs = consistent.epochs;
    const bool keep = std::find(epochs.begin(), epochs.end(), placed.record.epoch) != epochs.end();
    if (!keep && !placed.record.deleted && placed.record.epoch <= consistent.newest) delete_record(placed);
  }
  fault_point("barrier.snapshots");
  std::vector<std::int32_t> ids;
  for (const auto& member : members_) ids.push_back(member->info.id);
  const auto on_all = team().reduce_lists(
      std::span<const std::int32_t>(ids), [](std::vector<std::int32_t>& into, std::span<const std::int32_t> from) {
        std::erase_if(into, [&](std::int32_t id) { return std::find(from.begin(), from.end(), id) == from.end(); });
      });
  for (const std::int32_t id : ids) {
    if (std::find(on_all.begin(), on_all.end(), id) != on_all.end()) continue;
    delete_member(*find(id));
    deleted_members_.erase(id);
  }
  fault_point("barrier.done");
  forget_old_records();
  return true;
}

}  // namespace fenix_impl

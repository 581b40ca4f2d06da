// SPDX-License-Identifier: BSD-3-Clause
#include "core/group_recovery.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/operations/release.hpp"
#include "core/operations/settlement.hpp"
#include "core/steps/adoption.hpp"
#include "core/steps/exposing.hpp"

namespace fenix_impl {

void GroupRecovery::settle(Team& team, std::span<const GroupRecovery> groups) {
  std::vector<GroupData*> data;
  for (const GroupRecovery& each : groups) data.push_back(&each.data_);
  settle_commits(team, data);
}

// -------------------------------------------------------------------------------------------------------- inherited memory

void GroupRecovery::describe(const Shape& shape, KeptMemory memory) {
  data_.shape = shape;
  data_.inherited.kept = std::make_unique<KeptMemory>(std::move(memory));
}

void GroupRecovery::forget_tries() {
  data_.inherited.tries = 0;
  if (data_.inherited.kept) data_.inherited.kept->tries = 0;
}

bool GroupRecovery::adopt_memory(std::span<const OrphanedRegion> regions) {
  return Adoption(data_.context).adopt(regions);
}

bool GroupRecovery::adopt_kept_memory() {
  const auto kept = std::move(data_.inherited.kept);
  if (!kept) return false;
  data_.inherited.origin = kept->origin;
  data_.inherited.tries = kept->tries + 1;
  return adopt_memory(kept->regions);
}

// ------------------------------------------------------------------------------------------------------------------ archive

void GroupRecovery::archive_snapshots() {
  const Attachment& attachment = data_.attachment;
  auto archive =
      std::make_unique<Archive>(data_.shape, data_.parameters.policy, attachment.ranks().placement, attachment.rank());
  for (const auto& member : data_.members) archive->expect_member(member->id());
  Control& control = data_.log.memory().control();
  archive->take_control(std::move(control.region), control.own_log, control.held_logs);
  for (const auto& member : data_.members) {
    const SlotLayout layout = member->memory.layout();
    Counts counts = std::move(member->memory.counts());
    archive->take_member(member->info(), member->release_memory(), layout, std::move(counts));
  }
  data_.archive = std::move(archive);
  forget_snapshots();
}

void GroupRecovery::drop_overwritten() {
  if (!data_.parameters.commits_in_place()) return;
  const RecordLog& log = data_.log.memory().control().own_log;
  for (const LoggedRecord& logged : log.read_all()) {
    const bool is_overwritten = std::any_of(data_.members.begin(), data_.members.end(), [&](const auto& member) {
      const MemberVersion* version = version_in(logged.record, *member);
      return version != nullptr && member->memory.own_is_newer_than(version->stored_in);
    });
    if (is_overwritten) log.clear(logged.entry);
  }
}

void GroupRecovery::forget_snapshots() { Release(data_).forget_snapshots(); }

void GroupRecovery::keep_archive(const Shape& shape, const Placement& placement, std::vector<Epoch> epochs) {
  std::unique_ptr<Archive>& archive = data_.archive;
  if (!archive || archive->shape() != shape) archive = std::make_unique<Archive>();
  archive->set_epochs(shape, placement, std::move(epochs));
}

void GroupRecovery::attach_archive() {
  if (data_.archive) data_.archive->attach(data_.attachment.team(), data_.attachment.path());
}

// --------------------------------------------------------------------------------------------------------------- a new team

void GroupRecovery::set_team(NewTeam next) {
  Release(data_).detach();
  data_.attachment.attach(std::move(next.team), std::move(next.path), std::move(next.order), next.memory_is_real,
                          data_.log.memory().control());
  data_.shape = next.shape;
}

void GroupRecovery::take_memory(std::uint32_t entries, std::size_t least_entry_bytes) {
  data_.log.memory().take_entries(entries, least_entry_bytes);
  data_.log.memory().control().reserve_records(record_bytes(data_.members.size(), data_.members.size()));
  for (const auto& member : data_.members) take_member_memory(data_.context, *member);
}

void GroupRecovery::expose() {
  Control& control = data_.log.memory().control();
  control.remote = expose_control(data_.context, control.region);
  for (const auto& member : data_.members) {
    MemberMemory& memory = member->memory;
    memory.adopt(expose_member(data_.context, *member, memory.region(), memory.layout()));
    expose_buffer(data_.context, *member);
  }
}

// --------------------------------------------------------------------------------------------------------------- snapshots

// Epochs may come again: data of before must not be taken for theirs.
void GroupRecovery::note_own_slots() const {
  if (!data_.parameters.commits_in_place()) return;
  for (const auto& member : data_.members) {
    if (member->memory.region().bytes().empty()) continue;
    const MemberVersion* version = latest_version(data_.log, *member);
    member->memory.note_own(version != nullptr ? version->stored_in : Epoch{});
  }
}

void GroupRecovery::begin_anew(Epoch base) {
  for (const auto& member : data_.members) {
    data_.requests.access(*member).slot().reset();
    member->forget_slots();
    member->set_created_after(std::min(member->info().created_after, base));
  }
  // Time stamps may come again with other data.
  data_.log.begin_anew({data_.log.generation().value + 1}, base);
  note_own_slots();
}

void GroupRecovery::resume(Generation generation, Epoch base, std::span<const Epoch> epochs) {
  data_.log.resume(generation, base, epochs);
  // Records older than a member are about another one with its id, also after epochs begin to be counted anew.
  for (const auto& member : data_.members) {
    member->set_created_after(std::min(member->info().created_after, base));
    member->memory.region().claim();
    member->allocated.region().claim();
  }
  data_.log.memory().control().region.claim();
  note_own_slots();
  data_.state = GroupState::working;
  data_.inherited.orphaned = {};
}

void GroupRecovery::end_rejoin() {
  data_.inherited.origin.reset();
  data_.owes_loss_report = false;
}

}  // namespace fenix_impl

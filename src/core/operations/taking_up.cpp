// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/taking_up.hpp"

#include <algorithm>
#include <utility>

#include "core/steps/adoption.hpp"
#include "core/steps/exposing.hpp"

namespace fenix_impl {

void TakingUp::detach() {
  parts_.requests.cancel();
  Control& control = parts_.log.memory().control();
  // Memory that was kept before stays if the group has not been taken up since: then it is what counts.
  if (parts_.state == GroupState::working) {
    parts_.state = GroupState::complete;
    if (control.remote) parts_.orphaned = Adoption(parts_.context).keep();
  }
  parts_.attachment.drop_protection();
  control.remote.reset();
  if (parts_.archive) parts_.archive->detach();
  for (const auto& member : parts_.members) member->detach();
  parts_.attachment.detach();
}

void TakingUp::forget_snapshots() {
  parts_.log.clear();
  for (const auto& member : parts_.members) (void)member->release_memory();
}

void TakingUp::mark_deleted() {
  parts_.requests.cancel();
  if (CollectiveEncoder* const encoder = parts_.attachment.protection().encoder()) encoder->leave();
  for (const auto& member : parts_.members) (void)member->release_memory();
  parts_.members.clear();
  parts_.log.forget_records();
  parts_.archive.reset();
  parts_.state = GroupState::deleted;
}

void TakingUp::give_back_all() {
  mark_deleted();
  parts_.attachment.drop_protection();
  parts_.log.memory().control().remote.reset();
  parts_.attachment.path().give_back(parts_.attachment.team());
}

void TakingUp::archive_snapshots() {
  const Attachment& attachment = parts_.attachment;
  auto archive = std::make_unique<Archive>(parts_.shape, parts_.parameters.policy, attachment.ranks().placement,
                                           attachment.rank());
  for (const auto& member : parts_.members) archive->expect_member(member->id());
  Control& control = parts_.log.memory().control();
  archive->take_control(std::move(control.region), control.own_log, control.held_logs);
  for (const auto& member : parts_.members) {
    const SlotLayout layout = member->memory.layout();
    Counts counts = std::move(member->memory.counts());
    archive->take_member(member->info(), member->release_memory(), layout, std::move(counts));
  }
  parts_.archive = std::move(archive);
  forget_snapshots();
}

void TakingUp::keep_archive(const Shape& shape, const Placement& placement, std::vector<Epoch> epochs) {
  std::unique_ptr<Archive>& archive = parts_.archive;
  if (!archive || archive->shape() != shape) archive = std::make_unique<Archive>();
  archive->set_epochs(shape, placement, std::move(epochs));
}

void TakingUp::attach_archive() {
  if (parts_.archive) parts_.archive->attach(parts_.attachment.team(), parts_.attachment.path());
}

void TakingUp::set_team(std::shared_ptr<Team> team, std::shared_ptr<Path> path, std::vector<int> order,
                        bool memory_is_real) {
  detach();
  parts_.attachment.attach(std::move(team), std::move(path), std::move(order), memory_is_real,
                           parts_.log.memory().control());
}

bool TakingUp::adopt_memory(std::span<const OrphanedRegion> regions) { return Adoption(parts_.context).adopt(regions); }

void TakingUp::take_memory(std::uint32_t entries, std::size_t least_entry_bytes) {
  parts_.log.memory().take_entries(entries, least_entry_bytes);
  parts_.log.memory().control().reserve_records(record_bytes(parts_.members.size(), parts_.members.size()));
  for (const auto& member : parts_.members) take_member_memory(parts_.context, *member);
}

void TakingUp::expose() {
  Control& control = parts_.log.memory().control();
  control.remote = expose_control(parts_.context, control.region);
  for (const auto& member : parts_.members) {
    MemberMemory& memory = member->memory;
    memory.adopt(expose_member(parts_.context, *member, memory.region(), memory.layout()));
    expose_buffer(parts_.context, *member);
  }
}

void TakingUp::begin_anew(Epoch base) {
  for (const auto& member : parts_.members) {
    parts_.requests.access(*member).slot().reset();
    member->forget_slots();
    member->set_created_after(std::min(member->info().created_after, base));
  }
  // Time stamps may come again with other data.
  parts_.log.begin_anew({parts_.log.generation().value + 1}, base);
}

void TakingUp::resume(Generation generation, Epoch base, std::span<const Epoch> epochs) {
  parts_.log.resume(generation, base, epochs);
  // Records older than a member are about another one with its id, also after epochs begin to be counted anew.
  for (const auto& member : parts_.members) {
    member->set_created_after(std::min(member->info().created_after, base));
    member->memory.region().claim();
    member->allocated.region().claim();
  }
  parts_.log.memory().control().region.claim();
  parts_.state = GroupState::working;
  parts_.orphaned = {};
}

}  // namespace fenix_impl

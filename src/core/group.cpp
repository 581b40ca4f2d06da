// SPDX-License-Identifier: BSD-3-Clause
// Members, memory and attachment of a group. Storing is in group_store.cpp, restoring in group_restore.cpp, rebuilding in
// group_rebuild.cpp.
#include "core/group.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "core/meeting.hpp"

namespace fenix_impl {
namespace {

constexpr std::size_t kPage = 4096;

// Commits without stores may run ahead of the slowest rank by a few epochs before they have to wait for it.
constexpr std::size_t kSparePlaces = 8;

std::size_t to_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

Group::~Group() {
  detach();
  forget_snapshots();
}

Member* Group::find(std::int32_t member_id) const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const auto& member) { return member->info.id == member_id; });
  return found == members_.end() ? nullptr : found->get();
}

void Group::create_member(const MemberInfo& info, const void* buffer, std::uint64_t count,
                          const std::function<void()>& check_arguments) {
  const std::uint64_t same_on_all[] = {static_cast<std::uint64_t>(info.id), info.element_bytes};
  auto counts = meet(team(), Operation::member_create, hash_bytes(std::as_bytes(std::span(same_on_all))), count, [&] {
    check_arguments();
    if (find(info.id) != nullptr) {
      throw Error(FENIX_ERROR_MEMBER_EXISTS, "member_id " + std::to_string(info.id) + " exists in the group");
    }
    if (record_bytes(members_.size() + 1) > RecordLog::kPlaceBytes) {
      throw Error(FENIX_ERROR_NO_MEMORY, "the group has as many members as a record can describe");
    }
  });

  auto member = std::make_unique<Member>();
  member->info = info;
  member->counts = std::move(counts);
  member->own_count = count;
  member->buffer = buffer;
  (void)meet(team(), Operation::member_memory, 0, 0, [&] {
    reserve_records(members_.size() + 1);
    take_member_memory(*member);
  });
  fault_point("member.memory");
  expose_member(*member);
  members_.push_back(std::move(member));
}

void Group::detach() {
  control_exposure_.reset();
  for (auto& member : members_) {
    member->exposure.reset();
    member->working.reset();
  }
  team_.reset();
  path_.reset();
}

void Group::set_team(std::shared_ptr<Team> team, std::shared_ptr<Path> path) {
  detach();
  team_ = std::move(team);
  path_ = std::move(path);
  team_size_ = team_->size();
  team_rank_ = team_->rank();
  pairing_ = Pairing(team_size_, std::min(parameters_.separation, std::max(team_size_ - 1, 1)));
  regions_may_be_touched_ = regions_may_be_touched_ || path_->may_touch_regions_later();
}

void Group::forget_snapshots() {
  records_.clear();
  base_ = {};
  if (regions_may_be_touched_) control_.leak();
  control_ = Region();
  board_ = Board();
  own_log_ = RecordLog();
  held_log_ = RecordLog();
  reserved_record_bytes_ = 0;
  for (auto& member : members_) {
    if (regions_may_be_touched_) member->region.leak();
    member->region = Region();
    member->counts.clear();
  }
}

void Group::arrange_members(std::span<const MemberInfo> order) {
  const auto place = [&](const std::unique_ptr<Member>& member) {
    return std::find_if(order.begin(), order.end(), [&](const MemberInfo& info) { return info.id == member->info.id; });
  };
  std::erase_if(members_, [&](const auto& member) { return place(member) == order.end(); });
  std::sort(members_.begin(), members_.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

void Group::adopt_member(const MemberInfo& info, std::vector<std::uint64_t> counts) {
  Member* member = find(info.id);
  if (member == nullptr) {
    member = members_.emplace_back(std::make_unique<Member>()).get();
    member->info = info;
  }
  member->own_count = counts.at(static_cast<std::size_t>(team_rank_));
  member->counts = std::move(counts);
}

void Group::drop_member(std::int32_t member_id) {
  std::erase_if(members_, [&](const auto& member) { return member->info.id == member_id; });
}

void Group::take_memory() {
  if (control_.bytes().empty()) lay_out_control();
  reserve_records(members_.size());
  for (auto& member : members_) take_member_memory(*member);
}

void Group::lay_out_control() {
  const auto ranks = static_cast<std::size_t>(team_size_);
  const std::size_t board_bytes = to_pages(ranks * Board::kEntryBytes);
  const std::size_t log_bytes = log_places() * RecordLog::kPlaceBytes;
  control_ = Region(kPage + board_bytes + 2 * log_bytes);
  control_.reserve(0, kPage + board_bytes);
  const auto bytes = control_.bytes();
  board_ = Board(bytes.subspan(kPage, ranks * Board::kEntryBytes), kPage);
  own_log_ = RecordLog(bytes.subspan(kPage + board_bytes, log_bytes), kPage + board_bytes);
  held_log_ = RecordLog(bytes.subspan(kPage + board_bytes + log_bytes, log_bytes), kPage + board_bytes + log_bytes);
}

void Group::reserve_records(std::size_t members) {
  const std::size_t needed = to_pages(record_bytes(members));
  if (needed <= reserved_record_bytes_) return;
  for (std::size_t place = 1; place <= log_places(); ++place) {
    control_.reserve(own_log_.offset({place}), needed);
    control_.reserve(held_log_.offset({place}), needed);
  }
  reserved_record_bytes_ = needed;
}

void Group::take_member_memory(Member& member) const {
  if (!member.region.bytes().empty()) return;
  const std::uint64_t held_bytes = is_protected() ? member.bytes_of(held()) : 0;
  member.layout = SlotLayout(slots(), member.bytes_of(team_rank_), held_bytes);
  Region region(member.layout.end());
  region.reserve(0, member.layout.end());
  member.region = std::move(region);
}

void Group::expose() {
  std::unique_ptr<Exposure> exposure;
  (void)meet(team(), Operation::group_attach, 0, 0, [&] { exposure = path_->expose(team(), control_); });
  control_exposure_ = std::move(exposure);
  for (auto& member : members_) expose_member(*member);
}

void Group::expose_member(Member& member) {
  member.holder_layout = SlotLayout(slots(), member.bytes_of(holder()), member.bytes_of(team_rank_));
  std::unique_ptr<Exposure> exposure;
  (void)meet(team(), Operation::member_attach, static_cast<std::uint64_t>(member.info.id), 0,
             [&] { exposure = path_->expose(team(), member.region); });
  member.exposure = std::move(exposure);
}

std::size_t Group::log_places() const { return static_cast<std::size_t>(parameters_.depth) + kSparePlaces; }

int Group::time_stamp_of(Epoch epoch) const { return parameters_.start_time_stamp + static_cast<int>(epoch.value) - 1; }

const Record* Group::record_of(Epoch epoch) const {
  const auto found = std::find_if(records_.begin(), records_.end(), [&](const Record& r) { return r.epoch == epoch; });
  return found == records_.end() ? nullptr : &*found;
}

Epoch Group::oldest_needed(Epoch on_all) const {
  const auto depth = static_cast<std::uint64_t>(parameters_.depth);
  return {on_all.value > depth ? on_all.value - depth : 1};
}

std::vector<int> Group::snapshots() {
  std::vector<int> time_stamps;
  if (records_.empty()) return time_stamps;
  // Looked up once: it may move on at any time.
  const Epoch newest = board_.reached_by_all();
  const Epoch oldest = oldest_needed(newest);
  for (auto record = records_.rbegin(); record != records_.rend(); ++record) {
    if (record->epoch <= newest && record->epoch >= oldest) time_stamps.push_back(record->time_stamp);
  }
  return time_stamps;
}

}  // namespace fenix_impl

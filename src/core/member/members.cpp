// SPDX-License-Identifier: BSD-3-Clause
#include "core/member/members.hpp"

#include <algorithm>
#include <utility>

namespace fenix_impl {

Member* Members::find(std::int32_t member_id) const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const auto& member) { return member->id() == member_id; });
  return found == members_.end() ? nullptr : found->get();
}

Member& Members::add(std::unique_ptr<Member> member) {
  deleted_.erase(member->id());
  return *members_.emplace_back(std::move(member));
}

void Members::keep_file_of(Member& member) {
  member.end_file();
  for (const FileUse use : {FileUse::staging, FileUse::loading}) {
    if (member.has_ended_file(use)) orphaned_files_.push_back({member.id(), use, member.close_file()});
  }
}

bool Members::close_ended_file(std::int32_t member_id, FileUse use) {
  Member* member = find(member_id);
  if (member != nullptr && member->has_ended_file(use)) {
    (void)member->close_file();
    return true;
  }
  return std::erase_if(orphaned_files_, [&](const OrphanedFile& orphaned) {
           return orphaned.member_id == member_id && orphaned.use == use;
         }) != 0;
}

void Members::close_ended_files(std::int32_t member_id) {
  for (const FileUse use : {FileUse::staging, FileUse::loading}) (void)close_ended_file(member_id, use);
}

void Members::forget(Member& member) {
  keep_file_of(member);
  if (!member.allocated.is_there()) return;
  member.allocated.hide();
  orphaned_buffers_[member.id()] = std::move(member.allocated);
}

Region Members::buffer_for(const Member& member, const ElementType& type, std::uint64_t count) const {
  const auto bytes = type.buffer_bytes(count);
  if (!bytes) throw Error(out_of_memory());
  const auto orphaned = orphaned_buffers_.find(member.id());
  const bool is_orphaned = !member.allocated.is_there() && orphaned != orphaned_buffers_.end();
  return (is_orphaned ? orphaned->second : member.allocated).grown(*bytes);
}

void Members::put_buffer(Member& member, Region grown) {
  const auto orphaned = orphaned_buffers_.find(member.id());
  if (!member.allocated.is_there() && orphaned != orphaned_buffers_.end()) {
    member.allocated = std::move(orphaned->second);
    orphaned_buffers_.erase(orphaned);
  }
  member.allocated.replace(std::move(grown));
}

void Members::take_buffer(Member& member) {
  if (!member.info().allocated) return;
  put_buffer(member, buffer_for(member, *member.info().type, member.own_count()));
}

void Members::clear() {
  for (const auto& member : members_) keep_file_of(*member);
  members_.clear();
  orphaned_buffers_.clear();
}

void Members::drop(std::int32_t member_id) {
  if (Member* member = find(member_id)) keep_file_of(*member);
  std::erase_if(members_, [&](const auto& member) { return member->id() == member_id; });
}

void Members::arrange(std::span<const MemberInfo> order) {
  const auto position = [&](const std::unique_ptr<Member>& member) {
    return std::find_if(order.begin(), order.end(), [&](const MemberInfo& info) { return info.id == member->id(); });
  };
  for (const auto& member : members_) {
    if (position(member) == order.end()) forget(*member);
  }
  std::erase_if(members_, [&](const auto& member) { return position(member) == order.end(); });
  std::sort(members_.begin(), members_.end(), [&](const auto& a, const auto& b) { return position(a) < position(b); });
}

void Members::adopt(const MemberInfo& info, Counts counts, std::uint32_t slots, int own_rank) {
  Member* member = find(info.id);
  if (member == nullptr) member = members_.emplace_back(std::make_unique<Member>(info)).get();
  if (!info.resizeable) member->set_count(counts.at(own_rank));
  member->memory.adopt_sizes(std::move(counts), slots);
}

const MemberVersion* latest_version(const CommitLog& log, const Member& member) {
  const LoggedRecord* latest = log.latest();
  return latest != nullptr ? version_in(latest->record, member) : nullptr;
}

bool has_data_of(const CommitLog& log, const Member& member) {
  return !member.working().is_untouched() || latest_version(log, member) != nullptr;
}

std::uint64_t size_of(const CommitLog& log, const Member& member) {
  if (!member.info().resizeable) return member.own_count();
  const MemberVersion* version = latest_version(log, member);
  return version != nullptr ? version->size : 0;
}

Error unknown_here(const Member& member) {
  return {FENIX_ERROR_INVALID_MEMBERID,
          name_of(member) + " has to be created on this rank first: the policy has no redundancy"};
}

const MemberVersion* version_at(const CommitLog& log, const Member& member, Epoch epoch) {
  const LoggedRecord* logged = log.at(epoch);
  return logged != nullptr ? version_in(logged->record, member) : nullptr;
}

}  // namespace fenix_impl

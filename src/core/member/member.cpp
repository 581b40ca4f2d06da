// SPDX-License-Identifier: BSD-3-Clause
#include "core/member/member.hpp"

namespace fenix_impl {

void Member::detach() {
  end_file();
  memory.hide();
  allocated.hide();
  working_.reset();
  sizes_agreed_ = false;
  // The peers' part of these slots is not known any more.
  working_.history().forget_slots();
}

bool Member::is_whole_in_buffer(int own_rank) const {
  const std::uint64_t elements = memory.counts().at(own_rank);
  if (!allocated.is_exposed() || !info_.type->contiguous() || info_.resizeable || elements != own_count_) return false;
  if (elements * element_bytes() > allocated.bytes()) return false;
  if (elements == 0) return true;
  const auto& sources = working_.sources();
  return sources.size() == 1 && sources.front().buffer == allocated.data() &&
         sources.front().elements.covers(0, elements);
}

Region Member::release_memory() {
  end_file();
  working_.history().drop_slots();
  return memory.release();
}

std::FILE* Member::open_file(std::unique_ptr<SlotFile> file, FileUse use) {
  file_ = std::move(file);
  file_use_ = use;
  file_has_ended_ = false;
  return file_->file();
}

void Member::end_file() {
  if (file_ == nullptr) return;
  file_->cut();
  file_has_ended_ = true;
}

const MemberVersion* version_in(const Record& record, const Member& member) {
  const MemberVersion* version = record.find(member.id());
  return version != nullptr && version->stored_in > member.info().created_after ? version : nullptr;
}

std::string name_of_member(std::int32_t member_id) { return "member_id " + std::to_string(member_id); }

}  // namespace fenix_impl

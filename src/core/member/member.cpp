// SPDX-License-Identifier: BSD-3-Clause
#include "core/member/member.hpp"

namespace fenix_impl {

void Member::detach() {
  memory.hide();
  working_.reset();
  sizes_agreed_ = false;
  if (!file_is_loading_) file_.reset();
  // The peers' part of these slots is not known any more.
  working_.forget_slots();
}

Region Member::release_memory() {
  working_.drop_slots();
  return memory.release();
}

std::FILE* Member::open_file(std::unique_ptr<SlotFile> file, bool to_load) {
  file_ = std::move(file);
  file_is_loading_ = to_load;
  return file_->file();
}

const MemberVersion* version_in(const Record& record, const Member& member) {
  const MemberVersion* version = record.find(member.id());
  return version != nullptr && version->stored_in > member.info().created_after ? version : nullptr;
}

std::string name_of_member(std::int32_t member_id) { return "member_id " + std::to_string(member_id); }

}  // namespace fenix_impl

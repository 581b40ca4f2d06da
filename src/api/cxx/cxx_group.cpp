// SPDX-License-Identifier: BSD-3-Clause
// Handle that owns a group.
#include <fenix.hpp>

#include <utility>

namespace fenix::data {

Group::Group(int id, GroupCreateArgs args) : id_(id) {
  int flag = FENIX_SUCCESS;
  int* wanted = std::exchange(args.flag, &flag);
  const int code = group_create(id, args);
  if (code < FENIX_SUCCESS) throw RuntimeException(code, error_message());
  data_lost_ = flag == FENIX_ERROR_NODATA_FOUND;
  if (wanted != nullptr) *wanted = flag;
}

Group::Group(Group&& other) noexcept
    : id_(other.id_), owned_(std::exchange(other.owned_, false)), data_lost_(other.data_lost_) {}

Group::~Group() noexcept(false) {
  const bool unwinding = std::uncaught_exceptions() > exceptions_;
  if (owned_ && !unwinding && initialized() && !finalized()) group_delete(id_);
}

int Group::release() noexcept {
  owned_ = false;
  return id_;
}

}  // namespace fenix::data

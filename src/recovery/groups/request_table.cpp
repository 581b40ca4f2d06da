// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/request_table.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"

namespace fenix_impl {

std::uint64_t RequestTable::next_id() {
  const std::lock_guard lock(mutex_);
  return ++last_id_;
}

void RequestTable::add(std::shared_ptr<Request> request, int group_id) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = request->id();
  entries_[id] = {std::move(request), group_id, 0};
}

std::uint64_t RequestTable::add_flush(std::uint64_t flush, int group_id) {
  const std::lock_guard lock(mutex_);
  entries_[++last_id_] = {nullptr, group_id, flush};
  return last_id_;
}

RequestTable::Entry RequestTable::find(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (id > last_id_) throw Error(FENIX_ERROR_DATA_WAIT, "request was never given out");
  const auto found = entries_.find(id);
  return found == entries_.end() ? Entry{} : found->second;
}

void RequestTable::remove(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  entries_.erase(id);
}

void RequestTable::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

}  // namespace fenix_impl

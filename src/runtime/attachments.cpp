// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/attachments.hpp"

#include <utility>

namespace fenix_impl {

void Attachments::add(const Key& key, Object object) {
  const std::lock_guard lock(mutex_);
  objects_[key].push_back(std::move(object));
}

// Objects that go are moved out first, and destroyed when the lock is gone: locals are destroyed in reverse order.

void Attachments::keep_newest(const Key& key) {
  Objects old;
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return;
  old.swap(found->second);
  found->second.push_back(std::move(old.back()));
}

void Attachments::drop_newest(const Key& key) {
  Object newest;
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return;
  newest = std::move(found->second.back());
  found->second.pop_back();
  if (found->second.empty()) objects_.erase(found);
}

void Attachments::drop(const Key& key) {
  Objects old;
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return;
  old.swap(found->second);
  objects_.erase(found);
}

void Attachments::drop_member(int group, int member) {
  for (const Kind kind : {Kind::serializer, Kind::staging, Kind::loading}) drop({group, member, kind});
}

void Attachments::drop_group(int group) {
  std::vector<Objects> old;
  const std::lock_guard lock(mutex_);
  for (auto entry = objects_.begin(); entry != objects_.end();) {
    if (entry->first.group == group) {
      old.push_back(std::move(entry->second));
      entry = objects_.erase(entry);
    } else {
      ++entry;
    }
  }
}

void Attachments::clear() {
  std::map<Key, Objects> old;
  const std::lock_guard lock(mutex_);
  old.swap(objects_);
}

}  // namespace fenix_impl

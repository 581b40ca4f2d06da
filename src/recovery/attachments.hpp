// SPDX-License-Identifier: BSD-3-Clause
// Objects of the C++ interface that belong to members: serializers, and streams over files that are open.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

namespace fenix_impl {

/// Owns the objects that the C interface knows by address. May be used by several threads at once; the objects are destroyed
/// outside of its lock.
class Attachments {
 public:
  enum class Kind { serializer, staging, loading };
  struct Key {
    int group = 0;
    int member = 0;
    Kind kind = Kind::serializer;

    bool operator<(const Key& other) const {
      return std::tie(group, member, kind) < std::tie(other.group, other.member, other.kind);
    }
  };
  using Object = std::shared_ptr<void>;

  /// Keeps what the key has so far as well: which one is in use is not known while a call is under way.
  void add(const Key& key, Object object);
  /// The newest is in use: the others are destroyed.
  void keep_newest(const Key& key);
  /// The newest is not in use: it is destroyed.
  void drop_newest(const Key& key);
  void drop(const Key& key);
  void drop_member(int group, int member);
  void drop_group(int group);
  void clear();

 private:
  using Objects = std::vector<Object>;

  std::mutex mutex_;
  std::map<Key, Objects> objects_;
};

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Objects of the C++ interface that belong to members: serializers, and streams over files that are open.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

namespace fenix_impl {

/// Owns the objects that the C interface knows by address. Several threads may use it at once; the objects are
/// destroyed outside of its lock.
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

  /// Keeps the earlier objects of the key as well: during a call it is not known which one is in use.
  void add(const Key& key, Object object);
  /// Destroys all but the newest, which is in use.
  void keep_newest(const Key& key);
  /// Destroys the newest, which is not in use.
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

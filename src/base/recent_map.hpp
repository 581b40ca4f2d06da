// SPDX-License-Identifier: BSD-3-Clause
// A map in the order of its keys, which finds the keys of late without a search.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <utility>

namespace fenix_impl {

/// Hash: of a key. Values stay where they are until they are removed.
template <class Key, class Value, class Hash>
class RecentMap {
 public:
  RecentMap() = default;
  RecentMap(const RecentMap& other) : all_(other.all_) {}
  RecentMap(RecentMap&& other) noexcept : all_(std::move(other.all_)) { other.clear(); }
  RecentMap& operator=(const RecentMap& other) {
    if (this != &other) *this = RecentMap(other);
    return *this;
  }
  RecentMap& operator=(RecentMap&& other) noexcept {
    if (this == &other) return *this;
    forget_places();
    all_ = std::move(other.all_);
    other.clear();
    return *this;
  }
  ~RecentMap() = default;

  /// Returns the value of a key, and makes one if there is none.
  [[nodiscard]] Value& operator[](const Key& key) {
    Place& place = recent_[Hash()(key) % kPlaces];
    if (place.value == nullptr || place.key != key) place = {key, &all_[key]};
    return *place.value;
  }
  /// Returns the value of a key, or null.
  [[nodiscard]] const Value* find(const Key& key) const {
    const Place& place = recent_[Hash()(key) % kPlaces];
    if (place.value != nullptr && place.key == key) return place.value;
    const auto found = all_.find(key);
    return found != all_.end() ? &found->second : nullptr;
  }
  [[nodiscard]] Value* find(const Key& key) {
    return const_cast<Value*>(static_cast<const RecentMap&>(*this).find(key));
  }

  /// Returns all keys and values, in the order of the keys.
  [[nodiscard]] const std::map<Key, Value>& all() const { return all_; }
  void erase(const Key& key) {
    Place& place = recent_[Hash()(key) % kPlaces];
    if (place.value != nullptr && place.key == key) place = {};
    all_.erase(key);
  }
  /// Removes those for which suits is true.
  template <class Suits>
  void erase_if(const Suits& suits) {
    forget_places();
    std::erase_if(all_, suits);
  }
  void clear() {
    forget_places();
    all_.clear();
  }

 private:
  struct Place {
    Key key{};
    Value* value = nullptr;
  };
  static constexpr std::size_t kPlaces = 16;

  void forget_places() { recent_.fill({}); }

  std::map<Key, Value> all_;
  std::array<Place, kPlaces> recent_{};
};

}  // namespace fenix_impl

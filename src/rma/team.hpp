// SPDX-License-Identifier: BSD-3-Clause
// Ranks that work together, and the few collective operations that the library needs outside the data path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "base/location.hpp"

namespace fenix_impl {

/// All operations are collective over the team, except where they say "local". None waits for ever: they throw PeerFailure
/// when a member has died, when the team is dissolved or when a repair has begun somewhere, and Error(FENIX_ERROR_TIMEOUT)
/// after FENIX_TIMEOUT seconds, and Error(FENIX_ERROR_NO_MEMORY) when a member has withdrawn. Then the team is not sound any more, and of no further use. A failure need not show on all ranks: an
/// operation that has done its part for some may throw for others.
class Team {
 public:
  /// What ranks tell each other of themselves is never longer; a length from a peer that is more is not believed.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

  Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  virtual ~Team() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// Local: where this rank runs.
  [[nodiscard]] virtual Location location() const { return {}; }
  /// Local: false after an operation that was cut short: messages of it may still come, and would be taken for later ones.
  [[nodiscard]] virtual bool sound() const { return true; }
  /// Local: throws PeerFailure if there is reason to. Moves pending work along.
  virtual void check() = 0;
  /// all receives size() pieces of mine.size() bytes, in the order of ranks.
  virtual void allgather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  /// Takes into the first what the second says. Associative and commutative, and what is taken in twice counts once.
  using Merge = std::function<void(std::span<std::byte> into, std::span<const std::byte> from)>;
  /// mine becomes what all ranks have said, merged: the same on all. At most kMostReduced bytes.
  virtual void allreduce(std::span<std::byte> mine, const Merge& merge);
  static constexpr std::size_t kMostReduced = 128;
  /// Local: this rank cannot go on, for want of memory. Ends every wait of every member with Error(FENIX_ERROR_NO_MEMORY).
  virtual void withdraw() noexcept = 0;
  /// Local: ends every wait of every member with PeerFailure.
  virtual void dissolve() noexcept = 0;

  /// Returns when all have called it.
  void barrier() {
    (void)reduce(char{0}, [](char&, char) {});
  }

  /// allreduce of a value. merge(T& into, const T& from), as Merge.
  template <class T, class MergeValues>
  T reduce(T mine, MergeValues&& merge) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kMostReduced);
    allreduce(std::as_writable_bytes(std::span(&mine, 1)),
              [&](std::span<std::byte> into, std::span<const std::byte> from) {
                T all;
                T more;
                std::memcpy(&all, into.data(), sizeof all);
                std::memcpy(&more, from.data(), sizeof more);
                merge(all, more);
                std::memcpy(into.data(), &all, sizeof all);
              });
    return mine;
  }

  /// Whether it holds on all ranks.
  bool all_of(bool mine) {
    return reduce(static_cast<std::uint8_t>(mine ? 1 : 0),
                  [](std::uint8_t& all, std::uint8_t more) { all = all != 0 && more != 0 ? 1 : 0; }) != 0;
  }

  /// allgather of one value per rank.
  template <class T>
  std::vector<T> gather(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(size()));
    allgather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    return all;
  }

  /// Of as many values as each rank has; by rank.
  template <class T>
  std::vector<std::vector<T>> gather_lists(std::span<const T> mine) {
    const auto lengths = gather(static_cast<std::uint64_t>(mine.size()));
    const std::uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
    if (longest > kMostBytes / sizeof(T)) throw Error(FENIX_ERROR_INTERN, "a rank has a list that is longer than any");
    std::vector<T> padded(mine.begin(), mine.end());
    padded.resize(longest);
    const auto all = gather(std::span<const T>(padded));
    std::vector<std::vector<T>> lists;
    for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * longest);
      lists.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(lengths[rank]));
    }
    return lists;
  }

  /// allgather of equally many values from each rank.
  template <class T>
  std::vector<T> gather(std::span<const T> mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(size()) * mine.size());
    allgather(std::as_bytes(mine), std::as_writable_bytes(std::span(all)));
    return all;
  }
};

// By what every team has. One whose messages cost time has a better way.
inline void Team::allreduce(std::span<std::byte> mine, const Merge& merge) {
  std::vector<std::byte> all(static_cast<std::size_t>(size()) * mine.size());
  allgather(mine, all);
  for (auto rest = std::span<const std::byte>(all); !rest.empty(); rest = rest.subspan(mine.size())) {
    merge(mine, rest.first(mine.size()));
  }
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Ranks that work together, and the few collective operations that the library needs outside the data path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/location.hpp"

namespace fenix_impl {

/// All operations are collective over the team, except where they say "local". None waits for ever. They throw PeerFailure
/// when a member has died, when the team is dissolved or when a repair has begun somewhere. They throw
/// Error(FENIX_ERROR_TIMEOUT) after FENIX_TIMEOUT seconds, and Error(FENIX_ERROR_NO_MEMORY) when a member has withdrawn.
/// Then the team is not sound any more, and of no further use. A failure need not show on all ranks: an operation that has
/// done its part for some may throw for others.
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
  /// The same among some ranks, this one included, ascending: all of them give the same ones. Others may do something else meanwhile.
  virtual void allgather_among(std::span<const int> ranks, std::span<const std::byte> mine, std::span<std::byte> all);
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  /// Takes into the first what the second says. Associative and commutative, and what is taken in twice counts once.
  using Merge = std::function<void(std::span<std::byte> into, std::span<const std::byte> from)>;
  /// mine becomes what all ranks have said, merged: the same on all. At most kMostReduced bytes.
  virtual void allreduce(std::span<std::byte> mine, const Merge& merge);
  static constexpr std::size_t kMostReduced = 192;
  /// The same for lists, which ranks may have of different lengths, and which merging may make shorter or longer.
  using MergeLists = std::function<void(std::vector<std::byte>& into, std::span<const std::byte> from)>;
  virtual void allreduce_lists(std::vector<std::byte>& mine, const MergeLists& merge);
  /// Each rank tells its peers something, and gets to know what they say: by their places in peers. Whom a rank names names
  /// that rank as well; no rank names itself, or another one twice.
  virtual std::vector<std::vector<std::byte>> exchange_with(std::span<const int> peers,
                                                            std::span<const std::byte> mine);
  /// Words for other ranks, or of them, by rank.
  using Words = std::map<int, std::vector<std::byte>>;
  /// Each rank tells others something, of which they need not know. Returns what they have told this one. Nobody tells itself something.
  virtual Words deliver(const Words& words);
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

  /// allreduce_lists of values. merge(std::vector<T>& into, std::span<const T> from).
  template <class T, class MergeValues>
  std::vector<T> reduce_lists(std::span<const T> mine, MergeValues&& merge) {
    const auto bytes = std::as_bytes(mine);
    std::vector<std::byte> all(bytes.begin(), bytes.end());
    allreduce_lists(all, [&](std::vector<std::byte>& into, std::span<const std::byte> from) {
      auto merged = values_in<T>(into);
      merge(merged, std::span<const T>(values_in<T>(from)));
      const auto result = std::as_bytes(std::span(merged));
      into.assign(result.begin(), result.end());
    });
    return values_in<T>(all);
  }

  /// What some ranks have to say, few as a rule: ascending, each once. T can be ordered.
  template <class T>
  std::vector<T> gather_some(std::span<const T> mine) {
    std::vector<T> own(mine.begin(), mine.end());
    std::sort(own.begin(), own.end());
    return reduce_lists(std::span<const T>(own), [](std::vector<T>& into, std::span<const T> from) {
      std::vector<T> both;
      std::set_union(into.begin(), into.end(), from.begin(), from.end(), std::back_inserter(both));
      into = std::move(both);
    });
  }

  /// exchange_with of values: by peer.
  template <class T>
  std::map<int, std::vector<T>> ask(std::span<const int> peers, std::span<const T> mine) {
    const auto said = exchange_with(peers, std::as_bytes(mine));
    std::map<int, std::vector<T>> values;
    for (std::size_t i = 0; i < peers.size(); ++i) values[peers[i]] = values_in<T>(said[i]);
    return values;
  }
  /// deliver of values. A rank may tell itself something, too.
  template <class T>
  std::map<int, std::vector<T>> tell(const std::map<int, std::vector<T>>& values) {
    Words words;
    for (const auto& [to, of_one] : values) {
      const auto bytes = std::as_bytes(std::span(of_one));
      if (to != rank() && !bytes.empty()) words[to] = {bytes.begin(), bytes.end()};
    }
    std::map<int, std::vector<T>> told;
    for (const auto& [from, bytes] : deliver(words)) told[from] = values_in<T>(bytes);
    if (const auto own = values.find(rank()); own != values.end()) told[rank()] = own->second;
    return told;
  }
  /// Gathers one value of each rank.
  template <class T>
  std::map<int, T> ask(std::span<const int> peers, const T& mine) {
    std::map<int, T> values;
    for (const auto& [peer, said] : ask(peers, std::span(&mine, 1))) {
      if (said.size() != 1) throw Error(FENIX_ERROR_INTERN, "what a rank says is not one value");
      values.emplace(peer, said.front());
    }
    return values;
  }

  /// broadcast of as many values as root has.
  template <class T>
  void broadcast_list(std::vector<T>& values, int root) {
    static_assert(std::is_trivially_copyable_v<T>);
    auto length = static_cast<std::uint64_t>(values.size());
    broadcast(std::as_writable_bytes(std::span(&length, 1)), root);
    if (length > kMostBytes / sizeof(T)) throw Error(FENIX_ERROR_INTERN, "what a rank says is longer than can be");
    values.resize(length);
    broadcast(std::as_writable_bytes(std::span(values)), root);
  }

  /// allgather of one value per rank.
  template <class T>
  std::vector<T> gather(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(size()));
    allgather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    return all;
  }

  /// allgather_among of one value per rank, in the order of ranks.
  template <class T>
  std::vector<T> gather_among(std::span<const int> ranks, const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(ranks.size());
    allgather_among(ranks, std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    return all;
  }

  /// Gathers as many values as each rank has; by rank.
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

 private:
  template <class T>
  static std::vector<T> values_in(std::span<const std::byte> bytes) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (bytes.size() % sizeof(T) != 0) throw Error(FENIX_ERROR_INTERN, "what a rank says is no list of such values");
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

// By what every team has. One whose messages cost time has better ways.
inline void Team::allgather_among(std::span<const int> ranks, std::span<const std::byte> mine,
                                  std::span<std::byte> all) {
  std::vector<std::byte> of_all(static_cast<std::size_t>(size()) * mine.size());
  allgather(mine, of_all);
  auto into = all.begin();
  for (const int rank : ranks) {
    const auto piece = std::span(of_all).subspan(static_cast<std::size_t>(rank) * mine.size(), mine.size());
    into = std::copy(piece.begin(), piece.end(), into);
  }
}

inline void Team::allreduce(std::span<std::byte> mine, const Merge& merge) {
  std::vector<std::byte> all(static_cast<std::size_t>(size()) * mine.size());
  allgather(mine, all);
  for (auto rest = std::span<const std::byte>(all); !rest.empty(); rest = rest.subspan(mine.size())) {
    merge(mine, rest.first(mine.size()));
  }
}

inline void Team::allreduce_lists(std::vector<std::byte>& mine, const MergeLists& merge) {
  for (const auto& list : gather_lists(std::span<const std::byte>(mine))) merge(mine, list);
}

inline std::vector<std::vector<std::byte>> Team::exchange_with(std::span<const int> peers,
                                                               std::span<const std::byte> mine) {
  auto all = gather_lists(mine);
  std::vector<std::vector<std::byte>> said;
  for (const int peer : peers) said.push_back(std::move(all.at(static_cast<std::size_t>(peer))));
  return said;
}

inline Team::Words Team::deliver(const Words& words) {
  struct Head {
    std::uint64_t to = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<std::byte> mine;
  for (const auto& [to, content] : words) {
    const Head head{static_cast<std::uint64_t>(to), content.size()};
    const auto bytes = std::as_bytes(std::span(&head, 1));
    mine.insert(mine.end(), bytes.begin(), bytes.end());
    mine.insert(mine.end(), content.begin(), content.end());
  }
  const auto all = gather_lists(std::span<const std::byte>(mine));
  Words told;
  for (std::size_t from = 0; from < all.size(); ++from) {
    for (auto rest = std::span(all[from]); !rest.empty();) {
      Head head;
      std::memcpy(&head, rest.data(), sizeof head);
      const auto content = rest.subspan(sizeof head, head.bytes);
      if (head.to == static_cast<std::uint64_t>(rank()))
        told[static_cast<int>(from)] = {content.begin(), content.end()};
      rest = rest.subspan(sizeof head + head.bytes);
    }
  }
  return told;
}

}  // namespace fenix_impl

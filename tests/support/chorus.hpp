// SPDX-License-Identifier: BSD-3-Clause
// A large team of which one rank is real. The others send the messages and do the writes that it does, at the same time: so everything
// that it handles is counted, for more ranks than any machine here has.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/path.hpp"
#include "rma/team.hpp"

namespace fenix_test {

/// The costs of one rank.
struct Traffic {
  long long collectives = 0;  ///< allgathers, allreduces, broadcasts and exchanges of the library's own
  long long messages = 0;     ///< that this rank sends in them at most
  long long bytes = 0;        ///< that come to this rank in them
  long long words = 0;        ///< written to peers, 8 bytes each
  long long puts = 0;         ///< of longer pieces
  long long gets = 0;
};

/// The team, as rank 0 has it. Messages are those of MpiTeam.
class Chorus final : public fenix_impl::Team {
 public:
  Chorus(int ranks, Traffic& traffic) : ranks_(ranks), traffic_(traffic) {}

  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return ranks_; }
  void check() override {}
  void dissolve() noexcept override {}
  void withdraw() noexcept override {}
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    count(rounds(size()), static_cast<long long>(all.size()));
    repeat(mine, all);
  }
  void allgather_among(std::span<const int> ranks, std::span<const std::byte> mine, std::span<std::byte> all) override {
    count(rounds(static_cast<int>(ranks.size())), static_cast<long long>(all.size()));
    repeat(mine, all);
  }
  void allreduce(std::span<std::byte> mine, const Merge&) override {
    count(rounds(size()), static_cast<long long>(mine.size()) * rounds(size()));
  }
  void allreduce_lists(std::vector<std::byte>& mine, const MergeLists&) override {
    count(2 * rounds(size()), static_cast<long long>(mine.size() + kLength) * rounds(size()));
  }
  std::vector<std::vector<std::byte>> exchange_with(std::span<const int> peers,
                                                    std::span<const std::byte> mine) override {
    const auto number = static_cast<long long>(peers.size());
    count(2 * number, static_cast<long long>(mine.size() + kLength) * number);
    return std::vector<std::vector<std::byte>>(peers.size(), {mine.begin(), mine.end()});
  }
  void broadcast(std::span<std::byte> data, int) override {
    count(rounds(size()), static_cast<long long>(data.size()));
  }

 private:
  static constexpr std::size_t kLength = sizeof(std::uint64_t);

  [[nodiscard]] static long long rounds(int ranks) { return std::bit_width(static_cast<unsigned>(ranks) - 1); }

  static void repeat(std::span<const std::byte> mine, std::span<std::byte> all) {
    for (auto rest = all; !rest.empty(); rest = rest.subspan(mine.size())) {
      std::copy(mine.begin(), mine.end(), rest.begin());
    }
  }

  void count(long long messages, long long bytes) {
    ++traffic_.collectives;
    traffic_.messages += messages;
    traffic_.bytes += bytes;
  }

  int ranks_;
  Traffic& traffic_;
};

/// Regions of the other ranks. Reads find what this rank has. A word about the progress of commits comes back, as another peer would
/// write it. progress: the part of the region where such words are.
class EchoRegions final : public fenix_impl::RemoteRegions {
 public:
  EchoRegions(std::span<std::byte> own, std::span<std::byte> progress, Traffic& traffic)
      : own_(own), progress_(progress), traffic_(traffic) {}

  void put(int, std::size_t, std::span<const std::byte>) override { ++traffic_.puts; }
  void get(int, std::size_t offset, std::span<std::byte> data) override {
    ++traffic_.gets;
    const auto from = own_.subspan(offset, data.size());
    std::copy(from.begin(), from.end(), data.begin());
  }
  void flush(int) override {}
  bool is_flushed(int) override { return true; }
  void put_words(int, std::size_t offset, std::span<const std::uint64_t> words) override {
    traffic_.words += static_cast<long long>(words.size());
    const std::byte* const place = own_.data() + offset;
    if (place < progress_.data() || place >= progress_.data() + progress_.size()) return;
    const auto bytes = std::as_bytes(words);
    std::copy(bytes.begin(), bytes.end(), own_.begin() + static_cast<std::ptrdiff_t>(offset));
  }

 private:
  std::span<std::byte> own_;
  std::span<std::byte> progress_;
  Traffic& traffic_;
};

/// Without addresses: what a path exchanges is its own affair.
class EchoPath final : public fenix_impl::Path {
 public:
  /// progress_bytes: of a group's control region.
  EchoPath(std::size_t progress_bytes, Traffic& traffic) : progress_bytes_(progress_bytes), traffic_(traffic) {}

  [[nodiscard]] std::string_view name() const override { return "echo"; }
  [[nodiscard]] bool puts_are_copies(int) const override { return true; }
  std::unique_ptr<fenix_impl::RemoteRegions> expose(fenix_impl::Team&, const fenix_impl::Region& region) override {
    constexpr std::size_t kProgress = 4096;  // where core/log/control.cpp puts it
    const auto own = region.bytes();
    return std::make_unique<EchoRegions>(own, own.subspan(kProgress, progress_bytes_), traffic_);
  }

 private:
  std::size_t progress_bytes_;
  Traffic& traffic_;
};

}  // namespace fenix_test

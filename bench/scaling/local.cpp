// SPDX-License-Identifier: BSD-3-Clause
// The work and the memory of one rank of a large team. Rank 0 is real. The others send the messages and do the writes that it
// does, at the same time, so that everything that it handles is counted, for more ranks than any machine here has.
// usage: scaling_local RANKS…. Prints JSON, a line for each phase.
#include <malloc.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/group.hpp"
#include "core/log/dissemination.hpp"
#include "recovery/rejoin/rejoin.hpp"
#include "recovery/repair_plan.hpp"

using namespace fenix_impl;

namespace {

struct Traffic {
  long long collectives = 0;  // allgathers, allreduces and broadcasts of the library's own
  long long bytes = 0;        // that come to this rank in them
  long long words = 0;        // written to peers, 8 bytes each
  long long puts = 0;         // of longer pieces
};
Traffic traffic;

class Chorus final : public Team {
 public:
  explicit Chorus(int ranks) : ranks_(ranks) {}
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return ranks_; }
  void check() override {}
  void dissolve() noexcept override {}
  void withdraw() noexcept override {}
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    ++traffic.collectives;
    traffic.bytes += static_cast<long long>(all.size());
    for (auto rest = all; !rest.empty(); rest = rest.subspan(mine.size())) {
      std::copy(mine.begin(), mine.end(), rest.begin());
    }
  }
  void allreduce(std::span<std::byte> mine, const Merge&) override {
    ++traffic.collectives;
    traffic.bytes += static_cast<long long>(mine.size()) * std::bit_width(static_cast<unsigned>(ranks_) - 1);
  }
  void allreduce_lists(std::vector<std::byte>& mine, const MergeLists&) override {
    constexpr std::size_t kLength = sizeof(std::uint64_t);
    ++traffic.collectives;
    traffic.bytes += static_cast<long long>(mine.size() + kLength) * std::bit_width(static_cast<unsigned>(ranks_) - 1);
  }
  std::vector<std::vector<std::byte>> exchange_with(std::span<const int> peers,
                                                    std::span<const std::byte> mine) override {
    constexpr std::size_t kLength = sizeof(std::uint64_t);
    ++traffic.collectives;
    traffic.bytes += static_cast<long long>((mine.size() + kLength) * peers.size());
    return std::vector<std::vector<std::byte>>(peers.size(), {mine.begin(), mine.end()});
  }
  void broadcast(std::span<std::byte> data, int) override {
    ++traffic.collectives;
    traffic.bytes += static_cast<long long>(data.size());
  }

 private:
  int ranks_;
};

/// Writes to this rank, as another peer would, each word about the progress of commits that it writes to a peer.
class Echo final : public RemoteRegions {
 public:
  Echo(std::span<std::byte> own, int ranks) : own_(own), progress_bytes_(Dissemination::bytes(ranks)) {}
  void put(int, std::size_t, std::span<const std::byte>) override { ++traffic.puts; }
  void get(int, std::size_t offset, std::span<std::byte> data) override {
    const auto from = own_.subspan(offset, data.size());
    std::copy(from.begin(), from.end(), data.begin());
  }
  void flush(int) override {}
  bool is_flushed(int) override { return true; }
  void put_words(int, std::size_t offset, std::span<const std::uint64_t> words) override {
    constexpr std::size_t kProgress = 4096;  // where core/control.cpp puts it
    traffic.words += static_cast<long long>(words.size());
    if (offset < kProgress || offset >= kProgress + progress_bytes_) return;
    const auto bytes = std::as_bytes(words);
    std::copy(bytes.begin(), bytes.end(), own_.begin() + static_cast<std::ptrdiff_t>(offset));
  }

 private:
  std::span<std::byte> own_;
  std::size_t progress_bytes_;
};

/// Without addresses: what a path exchanges is its own affair.
class EchoPath final : public Path {
 public:
  [[nodiscard]] std::string_view name() const override { return "echo"; }
  [[nodiscard]] bool puts_are_copies(int) const override { return true; }
  std::unique_ptr<RemoteRegions> expose(Team& team, const Region& region) override {
    return std::make_unique<Echo>(region.bytes(), team.size());
  }
};

long long heap_bytes() {
  const auto info = mallinfo2();
  return static_cast<long long>(info.uordblks + info.hblkhd);
}

/// Prints what the work has cost: once for what is counted, the median of some repetitions for the time.
template <class Work>
void measure(int ranks, const char* phase, int repetitions, Work&& work) {
  std::vector<double> seconds;
  const long long heap_before = heap_bytes();
  traffic = {};
  Traffic once;
  long long heap = 0;
  for (int i = 0; i < repetitions; ++i) {
    const auto before = std::chrono::steady_clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    if (i > 0) continue;
    once = traffic;
    heap = heap_bytes() - heap_before;
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf(
      "{\"ranks\": %d, \"phase\": \"%s\", \"median\": %.9f, \"min\": %.9f, \"max\": %.9f, \"collectives\": %lld, "
      "\"bytes\": %lld, \"words\": %lld, \"puts\": %lld, \"heap\": %lld}\n",
      ranks, phase, seconds[seconds.size() / 2], seconds.front(), seconds.back(), once.collectives, once.bytes,
      once.words, once.puts, heap);
}

void measure_group(int ranks) {
  constexpr int kRepetitions = 9;
  constexpr std::size_t kElements = 8192;
  const GroupParameters parameters{1, 0, 0, {Policy::Kind::ring, Policy::kChosen}};
  std::unique_ptr<Group> group;
  const auto form_group = [&] {
    Generation highest;
    (void)rejoin(
        group, parameters, [] {}, std::make_shared<Chorus>(ranks), [] { return std::make_shared<EchoPath>(); }, {},
        highest);
  };
  measure(ranks, "group", 1, form_group);
  const std::vector<std::uint64_t> data(kElements, 1);
  const auto type = std::make_shared<const ElementType>(ElementType::plain(sizeof data[0]));
  measure(ranks, "member", 1, [&] { group->create_member({7, false, {}, type}, data.data(), data.size(), [] {}); });
  Member* const member = group->find(7);
  const auto store = [&] { group->store(std::span(&member, 1), Selection::all()); };
  int time_stamp = 0;
  measure(ranks, "first store", 1, store);
  group->commit_on_all(time_stamp);
  measure(ranks, "store", kRepetitions, store);
  measure(ranks, "commit", kRepetitions, [&] { (void)group->commit(); });
  store();
  measure(ranks, "commit_barrier", kRepetitions, [&] { group->commit_on_all(time_stamp); });
  std::vector<std::uint64_t> back(kElements);
  measure(ranks, "restore", kRepetitions, [&] { (void)group->restore(7, {}, {back.data(), kElements, false}, [] {}); });
  // Nobody is new: as after a death in another group.
  measure(ranks, "group again", kRepetitions, form_group);
  if (group->snapshots().on_all().empty()) std::abort();
}

void measure_parts(int ranks) {
  constexpr int kRepetitions = 9;
  const auto size = static_cast<std::size_t>(ranks);
  measure(ranks, "placement: copies", kRepetitions, [&] {
    const Placement placement({Policy::Kind::ring, Policy::kChosen}, ranks);
  });
  measure(ranks, "placement: cohorts of 8", kRepetitions, [&] {
    const Placement placement({Policy::Kind::reed_solomon, Policy::kChosen, 8, 2}, ranks);
  });
  std::vector<Location> locations(size);
  for (std::size_t i = 0; i < size; ++i) locations[i] = {i / 1024, i / 64};
  measure(ranks, "order of ranks", kRepetitions, [&] { (void)order_of(locations); });
  std::vector<Seat> seats(size);
  for (int i = 0; i < ranks; ++i) seats[static_cast<std::size_t>(i)] = {i, -1};
  measure(ranks, "plan of a repair", kRepetitions, [&] { (void)plan_repair(ranks + 1, 0, seats); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: scaling_local RANKS...\n");
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    measure_group(std::atoi(argv[i]));
    measure_parts(std::atoi(argv[i]));
  }
}

// SPDX-License-Identifier: BSD-3-Clause
// The work and the memory of one rank of a large team, whose other ranks are simulated (tests/support/chorus.hpp).
// usage: scaling_local RANKS… | --node RANKS:ON_NODE…. Prints JSON, a line for each phase.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/group.hpp"
#include "core/log/dissemination.hpp"
#include "recovery/groups/rejoin/rejoin.hpp"
#include "recovery/process/repair_plan.hpp"
#include "support/chorus.hpp"
#include "support/large_job.hpp"

using namespace fenix_impl;
using namespace fenix_test;

namespace {

Traffic traffic;

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
    (void)rejoin(group, {parameters,
                         [] {},
                         std::make_shared<Chorus>(ranks, traffic),
                         [&] { return std::make_shared<EchoPath>(Dissemination::bytes(ranks), traffic); },
                         {},
                         highest});
  };
  measure(ranks, "group", 1, form_group);
  const std::vector<std::uint64_t> data(kElements, 1);
  const auto type = std::make_shared<const ElementType>(ElementType::plain(sizeof data[0]));
  measure(ranks, "member", 1, [&] {
    group->definition().create_member({7, false, {}, type}, data.data(), data.size(), [] {});
  });
  Member* const member = group->find(7);
  const auto store = [&] { group->stores().store(std::span(&member, 1), Selection::all()); };
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

// Counts what one rank takes of the system on a node with so many others, with copies on the next rank.
void measure_node(int ranks, int on_node) {
  LargeJob job(ranks, on_node, {Policy::Kind::ring, 1});
  const auto print = [&](const char* phase, const InUse& taken) {
    std::printf(
        "{\"ranks\": %d, \"on_node\": %d, \"phase\": \"%s\", \"mappings\": %ld, \"descriptors\": %ld, \"messages\": "
        "%lld, "
        "\"bytes\": %lld}\n",
        ranks, on_node, phase, taken.mappings, taken.descriptors, job.traffic.messages, job.traffic.bytes);
  };
  print("group", job.create_group());
  print("member", job.create_member(0));
  print("member with a buffer", job.create_member(1, true));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: scaling_local RANKS... | scaling_local --node RANKS:ON_NODE...\n");
    return 2;
  }
  if (std::string(argv[1]) == "--node") {
    for (int i = 2; i < argc; ++i) {
      int ranks = 0;
      int on_node = 0;
      if (std::sscanf(argv[i], "%d:%d", &ranks, &on_node) == 2) measure_node(ranks, on_node);
    }
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    measure_group(std::atoi(argv[i]));
    measure_parts(std::atoi(argv[i]));
  }
}

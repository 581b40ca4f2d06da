// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/surroundings.hpp"

#include <fstream>
#include <iterator>
#include <numeric>
#include <set>

#include "base/environment.hpp"
#include "base/environment_checks.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/simd/hash.hpp"
#include "rma/launcher.hpp"
#include "rma/processes.hpp"

namespace fenix_impl {

namespace {

/// Returns the hash of the arguments with which this process was started; its name is the first one.
std::uint64_t hash_of_program() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string arguments{std::istreambuf_iterator<char>(file), {}};
  return hash_bytes(std::as_bytes(std::span(arguments)));
}

}  // namespace

Surroundings Surroundings::here(std::span<const std::string> ignored) {
  Surroundings mine;
  mine.node = this_location().node;
  const std::string all = std::accumulate(ignored.begin(), ignored.end(), std::string());
  if (!all.empty()) mine.ignored = hash_bytes(std::as_bytes(std::span(all))) | 1U;
  mine.program = hash_of_program();
  const auto values = environment::shared();
  std::transform(values.begin(), values.end(), mine.shared.begin(), [](const auto& each) { return each.value; });
  return mine;
}

// The first one, in words.
std::string AllSurroundings::difference(Differing kind) const {
  const auto values = environment::shared();
  for (std::size_t rank = 1; rank < all_.size(); ++rank) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].variable->differing != kind || all_[rank].shared[i] == all_.front().shared[i]) continue;
      return "rank " + std::to_string(rank) + " and rank 0 have different values of " +
             std::string(values[i].variable->name) + " in the environment; mpirun -x gives it to all";
    }
  }
  return {};
}

void AllSurroundings::check() const {
  const auto found = difference(Differing::refused);
  if (!found.empty()) throw Error(FENIX_ERROR_MISMATCH, found);
}

void AllSurroundings::require_one_program() const {
  const auto other = std::find_if(all_.begin(), all_.end(),
                                  [&](const Surroundings& each) { return each.program != all_.front().program; });
  if (other == all_.end()) return;
  throw Error(FENIX_ERROR_MISMATCH, "rank " + std::to_string(other - all_.begin()) +
                                        " and rank 0 run different programs, or have different arguments: a spare "
                                        "could not do what the one that dies has done");
}

void AllSurroundings::warn(int rank, std::span<const std::string> ignored) const {
  const auto self = all_.begin() + rank;
  const bool is_first =
      std::none_of(all_.begin(), self, [&](const Surroundings& each) { return each.ignored == self->ignored; });
  for (const std::string& each : ignored) {
    if (is_first) log().warn("{}", each);
  }
  if (rank != 0) return;
  const auto weakness = weakness_of_launcher(nodes() > 1);
  if (all_.size() > 1 && !weakness.empty()) log().warn("{}", weakness);
  if (const auto found = difference(Differing::warned_of); !found.empty()) log().warn("{}", found);
}

std::size_t AllSurroundings::nodes() const {
  std::set<std::uint64_t> nodes;
  for (const Surroundings& each : all_) nodes.insert(each.node);
  return nodes.size();
}

void AllSurroundings::tell(int ranks, int spares) const {
  const std::string store = environment::text("FENIX_STORE");
  log().info("fenix {}: {} ranks + {} spares on {} {}, path {}, {}", FENIX_VERSION_TEXT, ranks, spares, nodes(),
             nodes() == 1 ? "node" : "nodes", environment::word("FENIX_PATH"),
             store.empty() ? "no store" : "store " + store);
}

}  // namespace fenix_impl

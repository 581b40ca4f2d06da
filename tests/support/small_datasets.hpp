// SPDX-License-Identifier: BSD-3-Clause
// Small datasets for tests of the store: two ranks, each with a writer of its own, and one member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/dataset.hpp"
#include "store/dataset_writer.hpp"
#include "store/file_system.hpp"
#include "store/plan.hpp"

namespace fenix_test {

constexpr int kSmallRanks = 2;
constexpr std::int32_t kSmallGroup = 5;

inline fenix_impl::DatasetPlan small_plan(std::uint32_t run, int time_stamp, const std::string& label = {}) {
  fenix_impl::DatasetPlan plan;
  plan.name = {kSmallGroup, time_stamp, run, 1};
  plan.label = label;
  plan.epoch = static_cast<std::uint64_t>(time_stamp) + 1;
  plan.members = {{3, 1, {}}};
  plan.writers = {0, 1};
  return plan;
}

inline std::vector<std::byte> small_data(const fenix_impl::DatasetName& name, int rank) {
  const auto seed = name.run * 7U + static_cast<unsigned>(name.time_stamp) * 31U + static_cast<unsigned>(rank);
  std::vector<std::byte> bytes(static_cast<std::size_t>(100 + name.time_stamp));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 13U ^ seed);
  return bytes;
}

inline std::vector<fenix_impl::RankSource> small_source(const fenix_impl::DatasetPlan& plan, int rank) {
  const auto read = [all = small_data(plan.name, rank)](std::uint64_t offset, std::span<std::byte> to) {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    return true;
  };
  return {{rank, {}, {{3, small_data(plan.name, rank).size(), read}}}};
}

/// Writes all of a dataset. root: "" is that of a file system in memory.
inline void write_small(fenix_impl::FileSystem& files, const fenix_impl::DatasetPlan& plan) {
  fenix_impl::DatasetWriter writer(files, "", plan);
  writer.write_plan();
  for (int rank = 0; rank < kSmallRanks; ++rank) {
    (void)writer.write_part(static_cast<std::uint32_t>(rank), small_source(plan, rank));
  }
  (void)writer.write_manifest();
}

/// Whether all bytes of a dataset are there, as they were written.
inline bool has_all_bytes(fenix_impl::FileSystem& files, const fenix_impl::DatasetName& name) {
  const auto dataset = fenix_impl::Dataset::open(files, "", name);
  if (!dataset) return false;
  for (int rank = 0; rank < kSmallRanks; ++rank) {
    const auto data = dataset->rank(rank);
    std::vector<std::byte> bytes(small_data(name, rank).size());
    if (!data || !dataset->read(*data, 3, bytes) || bytes != small_data(name, rank)) return false;
  }
  return true;
}

}  // namespace fenix_test

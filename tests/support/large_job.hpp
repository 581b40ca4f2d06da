// SPDX-License-Identifier: BSD-3-Clause
// One rank of a job that has many ranks on its node, and many nodes: what it takes of the system, and its messages, are counted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/group.hpp"
#include "core/log/dissemination.hpp"
#include "recovery/groups/rejoin/rejoin.hpp"
#include "rma/map_path.hpp"
#include "rma/mixed_path.hpp"
#include "support/chorus.hpp"

namespace fenix_test {

/// What this process has of regions.
struct InUse {
  long mappings = 0;
  long descriptors = 0;

  friend InUse operator-(const InUse& a, const InUse& b) {
    return {a.mappings - b.mappings, a.descriptors - b.descriptors};
  }
  bool operator==(const InUse&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const InUse& each) {
  return out << each.mappings << " mappings, " << each.descriptors << " descriptors";
}

inline InUse in_use() {
  const std::string name = "/memfd:fenix";
  InUse now;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) now.mappings += line.find(name) != std::string::npos ? 1 : 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    now.descriptors += std::filesystem::read_symlink(entry, ignored).string().starts_with(name) ? 1 : 0;
  }
  return now;
}

/// Rank 0 of a job of so many ranks, the first on_node of them on its node. Its regions are those of all.
class LargeJob {
 public:
  LargeJob(int ranks, int on_node, const fenix_impl::Policy& policy)
      : ranks_(ranks), on_node_(on_node), policy_(policy) {}

  /// Counts what the work takes for good; traffic is that of the work.
  template <class Work>
  InUse count(Work&& work) {
    traffic = {};
    const InUse before = in_use();
    work();
    return in_use() - before;
  }

  InUse create_group() {
    return count([&] {
      fenix_impl::Generation highest;
      (void)fenix_impl::rejoin(
          group_,
          {{1, 0, 0, policy_}, [] {}, std::make_shared<Chorus>(ranks_, traffic), [&] { return path(); }, {}, highest});
    });
  }
  /// allocated: with a buffer of the library.
  InUse create_member(int id, bool allocated = false) {
    return count([&] {
      fenix_impl::MemberInfo info{id, false, {}, {}};
      info.type = std::make_shared<const fenix_impl::ElementType>(fenix_impl::ElementType::plain(sizeof data_[0]));
      info.allocated = allocated;
      auto& member = group_->definition().create_member(info, allocated ? nullptr : data_.data(), data_.size(), [] {});
      if (allocated) member.claim(member.allocated.data());
    });
  }
  InUse store_and_commit(int id) {
    fenix_impl::Member* const member = group_->find(id);
    return count([&] {
      group_->stores().store(std::span(&member, 1), fenix_impl::Selection::all());
      group_->commit();
    });
  }

  Traffic traffic;

 private:
  std::shared_ptr<fenix_impl::Path> path() {
    using fenix_impl::MapPath;
    if (on_node_ == ranks_) return std::make_shared<MapPath>(MapPath::Keep::yes);
    std::vector<bool> near(static_cast<std::size_t>(ranks_), false);
    std::fill_n(near.begin(), on_node_, true);
    auto across = std::make_shared<EchoPath>(fenix_impl::Dissemination::bytes(ranks_), traffic);
    return std::make_shared<fenix_impl::MixedPath>(std::move(across), MapPath::Keep::yes, std::move(near));
  }

  int ranks_;
  int on_node_;
  fenix_impl::Policy policy_;
  std::vector<std::uint64_t> data_ = std::vector<std::uint64_t>(1000, 7);
  std::unique_ptr<fenix_impl::Group> group_;
};

}  // namespace fenix_test

// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/epochs.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

const CommittedEpoch* find(const std::vector<CommittedEpoch>& epochs, Epoch epoch) {
  const auto found =
      std::find_if(epochs.begin(), epochs.end(), [&](const CommittedEpoch& each) { return each.epoch == epoch; });
  return found == epochs.end() ? nullptr : &*found;
}

constexpr std::uint64_t kSomeUnknown = 1;
constexpr std::uint64_t kSomeHadNone = 2;
constexpr std::uint64_t kKnown = 4;

}  // namespace

std::vector<CommittedEpoch> epochs_in(const RecordLog& log, std::int32_t group_id, int owner) {
  std::vector<CommittedEpoch> epochs;
  for (const auto& [record, entry] : log.read_all()) {
    if (record.group_id != group_id || record.owner != owner) continue;
    epochs.push_back({record.epoch, record.oldest_kept, entry, record.deleted ? 1U : 0U});
  }
  return epochs;
}

void add(CommittedEpochs& epochs, const std::vector<CommittedEpoch>& more) {
  if (!epochs) epochs.emplace();
  for (const CommittedEpoch& each : more) {
    const auto found = std::find_if(epochs->begin(), epochs->end(),
                                    [&](const CommittedEpoch& other) { return other.epoch == each.epoch; });
    if (found == epochs->end()) {
      epochs->push_back(each);
    } else if (each.deleted > found->deleted) {
      *found = each;
    }
  }
  std::sort(epochs->begin(), epochs->end(),
            [](const CommittedEpoch& a, const CommittedEpoch& b) { return a.epoch < b.epoch; });
}

CommonEpochs::CommonEpochs(const CommittedEpochs& of_rank)
    : some_unknown_(!of_rank), some_had_none_(of_rank && of_rank->empty()), common_(of_rank) {}

void CommonEpochs::merge(const CommonEpochs& other) {
  some_unknown_ = some_unknown_ || other.some_unknown_;
  some_had_none_ = some_had_none_ || other.some_had_none_;
  if (!other.common_) return;
  if (!common_) {
    common_ = other.common_;
    return;
  }
  std::erase_if(*common_, [&](const CommittedEpoch& each) { return find(*other.common_, each.epoch) == nullptr; });
  for (CommittedEpoch& each : *common_) {
    const CommittedEpoch* there = find(*other.common_, each.epoch);
    each.oldest_kept = std::max(each.oldest_kept, there->oldest_kept);
    each.deleted = std::max(each.deleted, there->deleted);
  }
}

ConsistentEpochs CommonEpochs::consistent() const {
  ConsistentEpochs result;
  if (!common_ || common_->empty()) return result;
  const CommittedEpoch& newest = common_->back();
  result.newest = newest.epoch;
  for (const CommittedEpoch& each : *common_) {
    if (each.epoch >= newest.oldest_kept && each.deleted == 0) result.epochs.push_back(each.epoch);
  }
  return result;
}

std::vector<std::byte> CommonEpochs::encode() const {
  const std::uint64_t flags =
      (some_unknown_ ? kSomeUnknown : 0U) | (some_had_none_ ? kSomeHadNone : 0U) | (common_ ? kKnown : 0U);
  const std::size_t list = common_ ? common_->size() * sizeof(CommittedEpoch) : 0;
  std::vector<std::byte> bytes(sizeof flags + list);
  std::memcpy(bytes.data(), &flags, sizeof flags);
  if (list > 0) std::memcpy(bytes.data() + sizeof flags, common_->data(), list);
  return bytes;
}

CommonEpochs CommonEpochs::decode(std::span<const std::byte> bytes) {
  std::uint64_t flags = 0;
  if (bytes.size() < sizeof flags || (bytes.size() - sizeof flags) % sizeof(CommittedEpoch) != 0) {
    throw Error(FENIX_ERROR_INTERN, "what a rank says of its commits cannot be");
  }
  std::memcpy(&flags, bytes.data(), sizeof flags);
  CommonEpochs result;
  result.some_unknown_ = (flags & kSomeUnknown) != 0;
  result.some_had_none_ = (flags & kSomeHadNone) != 0;
  if ((flags & kKnown) == 0) return result;
  const auto list = bytes.subspan(sizeof flags);
  result.common_.emplace(list.size() / sizeof(CommittedEpoch));
  if (!list.empty()) std::memcpy(result.common_->data(), list.data(), list.size());
  return result;
}

CommonEpochs common_to_all(Team& team, const CommonEpochs& mine) {
  auto bytes = mine.encode();
  team.allreduce_lists(bytes, [](std::vector<std::byte>& into, std::span<const std::byte> from) {
    CommonEpochs all = CommonEpochs::decode(into);
    all.merge(CommonEpochs::decode(from));
    into = all.encode();
  });
  return CommonEpochs::decode(bytes);
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// The logs of a rank, which peers write to, and those of a peer: whatever is in them, no access leads outside of a region.
#include "core/log/control.hpp"
#include "core/log/epochs.hpp"
#include "core/log/record_finder.hpp"
#include "core/log/record_log.hpp"
#include "core/state/archive.hpp"
#include "core/state/fetching.hpp"
#include "fuzz/support.hpp"
#include "fuzz/two_ranks.hpp"

using namespace fenix_impl;

namespace {

void check(const fuzz::TwoRanks& ranks, std::uint32_t policy_number) {
  Policy policy;
  policy.kind = policy_number % 2 == 0 ? Policy::Kind::buddies : Policy::Kind::parity;
  policy.set_size = 2;
  const Placement placement(policy, 2);
  GroupParameters parameters;
  parameters.policy = policy;
  fuzz::Regions control(ranks.control());
  CommonEpochs epochs;
  for (int rank = 0; rank < 2; ++rank) {
    const RecordLog& own = ranks.own_log(rank);
    for (const auto& [record, entry] : own.read_all()) {
      fuzz::require(entry < own.entries(), "place of a record");
      (void)RecordFinder().find(control, rank, own, record.epoch);
    }
    epochs.merge(CommonEpochs(epochs_in(own, 0, rank)));
  }
  for (const Epoch epoch : epochs.consistent().epochs) {
    std::map<int, Holdings> holdings;
    const SlotLayout layout(fuzz::TwoRanks::kSlots, fuzz::TwoRanks::kSlotBytes, fuzz::TwoRanks::kSlotBytes);
    for (int rank = 0; rank < 2; ++rank) {
      const std::vector<RecordLog> held{ranks.held_log(rank)};
      const Holder holder{placement, rank, ranks.own_log(rank), held, layout, ranks.member(), ranks.counts()};
      holdings.emplace(rank, holdings_of(holder, policy, epoch));
    }
    fuzz::Regions data(ranks.data(layout.end()));
    for (int rank = 0; rank < 2; ++rank) {
      const auto fetched = fetch_version({parameters, placement, holdings, control, data}, ranks.member().id, rank);
      fuzz::require(!fetched || fetched->data.size() == fetched->version.bytes(), "size of what is fetched");
      fuzz::require(!fetched || fetched->data.size() <= fuzz::TwoRanks::kSlotBytes, "a version fits its slot");
    }
  }
  for (int rank = 0; rank < 2; ++rank) {
    const std::vector<Epoch> kept{{2}};
    ranks.own_log(rank).clear_all_but(kept);
    for (const auto& [record, entry] : ranks.own_log(rank).read_all()) {
      fuzz::require(record.epoch == kept[0], "what is left of a log");
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::TwoRanks ranks;
  fuzz::Input input(data, size);
  const auto policy = input.take<std::uint8_t>();
  while (!input.empty()) {
    const auto where = input.take<std::uint8_t>();
    const auto length = input.take<std::uint16_t>();
    ranks.write(where, input.some(length));
  }
  check(ranks, policy);
  ranks.wipe();
  return 0;
}

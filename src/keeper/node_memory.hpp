// SPDX-License-Identifier: BSD-3-Clause
// The memory of ranks that the keeper keeps for the next job: snapshots that are written if no job takes it, and groups. The main
// thread has it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "keeper/flush_job.hpp"
#include "keeper/keeper_peer.hpp"
#include "keeper/keeper_thread.hpp"
#include "keeper/kept_groups.hpp"
#include "keeper/kept_snapshots.hpp"
#include "keeper/local_socket.hpp"
#include "keeper/message.hpp"
#include "keeper/received_offer.hpp"

namespace fenix_impl {

class NodeMemory {
 public:
  using Jobs = std::vector<std::shared_ptr<FlushJob>>;
  /// Writes a line into the log of a run.
  using Note = std::function<void(std::uint32_t run, const std::string& line)>;

  explicit NodeMemory(Note note) : note_(std::move(note)) {}

  [[nodiscard]] bool empty() const { return snapshots_.empty() && groups_.empty(); }
  /// Notes the id of the store that memory is kept for, or 0. Memory of a store that was removed must not go into the one that has its
  /// place.
  void use_store(std::uint64_t store);
  /// Keeps the offer of a rank. Throws std::runtime_error if it is no good.
  void keep(ReceivedOffer offered);
  /// Forgets a dataset that is removed: memory that is kept would be written once more.
  void drop(const DatasetName& name) { snapshots_.drop(name); }
  /// Does what a request asks for; false if it is not about kept memory. Throws std::runtime_error if it is damaged.
  [[nodiscard]] bool carry_out(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram& datagram);
  /// Returns what runs before this one have left, to be written, and forgets their memory.
  [[nodiscard]] Jobs release(std::uint32_t run);
  /// Returns what is kept, to be written, when the lease is over. is_alone: no rank is left. is_in_a_hurry: whatever the lease says.
  [[nodiscard]] Jobs take_when_due(bool is_alone, std::chrono::seconds lease, bool is_in_a_hurry);

 private:
  void forget_until(std::uint32_t run);
  void take_group(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram& datagram);
  void refuse_group(KeeperPeer& peer, const Message& request, const KeptGroupOf& of);
  void give_group(const std::shared_ptr<KeeperPeer>& peer, const Message& request);

  Note note_;
  std::uint64_t store_ = 0;  ///< id of the store that memory is kept for
  KeptSnapshots snapshots_;
  KeptGroups groups_;
  std::set<std::tuple<std::uint32_t, std::int32_t, std::int32_t>> noted_refusals_;  ///< run, group, rank in the log
  std::optional<KeeperThread::Clock::time_point> alone_since_;  ///< time since which no rank is left
};

}  // namespace fenix_impl

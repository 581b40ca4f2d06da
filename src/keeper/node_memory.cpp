// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/node_memory.hpp"

#include <unistd.h>

#include <stdexcept>

#include "keeper/descriptors_left.hpp"
#include "store/fields.hpp"

namespace fenix_impl {

void NodeMemory::use_store(std::uint64_t store) {
  if (store == 0 || store == store_) return;
  if (std::exchange(store_, store) == 0) return;
  snapshots_.clear();
  groups_.clear();
}

void NodeMemory::keep(ReceivedOffer offered) {
  snapshots_.keep(offered.plan, offered.writer, std::move(offered.offer), std::move(offered.regions));
}

bool NodeMemory::carry_out(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram& datagram) {
  switch (request.op) {
    case KeeperOp::forget:
      forget_until(FieldReader(request.body).number<std::uint32_t>());
      return true;
    case KeeperOp::keep_group:
      take_group(peer, request, datagram);
      return true;
    case KeeperOp::drop_group:
      if (const auto of = decode_body<KeptGroupOf>(request.body)) groups_.drop(*of);
      return true;
    case KeeperOp::drop_kept:
      if (const auto dropped = decode_body<Dropped>(request.body)) snapshots_.drop(*dropped);
      return true;
    case KeeperOp::kept_group:
      give_group(peer, request);
      return true;
    case KeeperOp::list_groups:
      peer->answer({request.op, request.id, KeeperCode::done, {}, {}}, to_memory_file(encode_body(groups_.all())));
      return true;
    default:
      return false;
  }
}

void NodeMemory::forget_until(std::uint32_t run) {
  snapshots_.forget_until(run);
  groups_.forget_until(run);
}

void NodeMemory::take_group(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram& datagram) {
  auto regions = std::exchange(peer->regions, {});
  const bool lacks_files = std::exchange(peer->lacks_regions, false) || datagram.lacks_files;
  const auto of = decode_body<KeptGroupOf>(request.body);
  if (of && lacks_files) return refuse_group(*peer, request, *of);
  if (!of || datagram.files.size() != 1) throw std::runtime_error("no memory of a group");
  groups_.keep({*of, peer, of->run, std::move(datagram.files.front()), std::move(regions)});
}

// Older memory of the rank stays: what is of no use in it is noticed when it is taken.
void NodeMemory::refuse_group(KeeperPeer& peer, const Message& request, const KeptGroupOf& of) {
  peer.answer({request.op, request.id, KeeperCode::failed, kNoDescriptors, {}});
  if (!noted_refusals_.emplace(of.run, of.group, of.rank).second) return;
  note_(of.run, "the memory of group " + std::to_string(of.group) + " on rank " + std::to_string(of.rank) +
                    " is not kept: " + kNoDescriptors);
}

// The next job may begin before the ranks of the last one know that they have to end. Their last writes would damage it.
void NodeMemory::give_group(const std::shared_ptr<KeeperPeer>& peer, const Message& request) {
  const auto search = decode_body<KeptSearch>(request.body);
  KeptGroups::Kept* const kept = search ? groups_.find(*search) : nullptr;
  if (kept == nullptr) return peer->answer({request.op, request.id, KeeperCode::none, {}, {}});
  if (groups_.is_in_use(*kept, *peer, search->run)) {
    return peer->answer({request.op, request.id, KeeperCode::in_use, {}, {}});
  }
  kept->user = peer;
  kept->run_of_user = search->run;
  KeptGroupAt at{::getpid(), {}};
  for (const Descriptor& each : kept->regions) at.files.push_back(each.get());
  peer->answer({request.op, request.id, KeeperCode::done, {}, encode_body(at)}, kept->description);
}

// Its ranks are the only ones that live: nobody is to come who goes on with the memory.
NodeMemory::Jobs NodeMemory::release(std::uint32_t run) {
  if (run == 0) return {};
  groups_.forget_until(run - 1);
  return snapshots_.take_complete_until(run - 1);
}

// A run that was killed may be started again, and takes the memory. If it is not, its last commits are written: all keepers of the job do
// so, and the datasets of which all have a part are complete.
NodeMemory::Jobs NodeMemory::take_when_due(bool is_alone, std::chrono::seconds lease, bool is_in_a_hurry) {
  if (!is_alone || empty()) {
    alone_since_.reset();
    return {};
  }
  if (!alone_since_) alone_since_ = KeeperThread::Clock::now();
  const bool is_over = KeeperThread::Clock::now() - *alone_since_ >= lease;
  if (!is_over && !is_in_a_hurry) return {};
  groups_.clear();
  return snapshots_.take_complete();
}

}  // namespace fenix_impl

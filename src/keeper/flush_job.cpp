// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/flush_job.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/pages.hpp"
#include "keeper/local_socket.hpp"
#include "keeper/verified_source.hpp"
#include "store/fields.hpp"

namespace fenix_impl {

void KeeperPeer::answer(const Message& message, const Descriptor& file) const {
  const int fd = file.get();
  // One that does not get its answer gives up by itself.
  (void)send_datagram(socket.get(), encode(message), std::span<const int>(&fd, file ? 1 : 0));
}

PeerMemory::PeerMemory(const Descriptor& file, std::uint64_t offset, std::uint64_t bytes, bool to_be_written) {
  if (bytes == 0) return;
  struct stat status {};
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  // To touch what was cut off would end this process.
  const bool is_fixed = seals >= 0 && (static_cast<unsigned>(seals) & F_SEAL_SHRINK) != 0;
  const bool is_there = ::fstat(file.get(), &status) == 0 && is_fixed &&
                        offset <= static_cast<std::uint64_t>(status.st_size) &&
                        bytes <= static_cast<std::uint64_t>(status.st_size) - offset;
  if (!is_there) throw std::runtime_error("the memory of a rank is not where it said");
  const std::uint64_t begin = offset / system_page() * system_page();
  mapped_bytes_ = static_cast<std::size_t>(offset - begin + bytes);
  mapped_ = ::mmap(nullptr, mapped_bytes_, to_be_written ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file.get(),
                   static_cast<off_t>(begin));
  if (mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    throw std::runtime_error("the memory of a rank cannot be mapped");
  }
  bytes_ = {static_cast<std::byte*>(mapped_) + (offset - begin), static_cast<std::size_t>(bytes)};
}

PeerMemory::PeerMemory(PeerMemory&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      mapped_bytes_(other.mapped_bytes_),
      bytes_(std::exchange(other.bytes_, {})) {}

PeerMemory::~PeerMemory() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

FlushJob::FlushJob(DatasetPlan plan, std::uint32_t writer) : plan_(std::move(plan)), writer_(writer) {
  for (std::size_t rank = 0; rank < plan_.writers.size(); ++rank) {
    if (plan_.writers[rank] == writer) ranks_.push_back(static_cast<std::int32_t>(rank));
  }
}

RankSource OfferedRank::source() const {
  RankSource source{offer.rank, offer.record, {}};
  for (std::size_t i = 0; i < memory.size(); ++i) {
    source.members.push_back(verified_source(offer.members[i], memory[i].bytes()));
  }
  return source;
}

void FlushJob::add(RankOffer offer, std::vector<Descriptor> regions) {
  if (!std::binary_search(ranks_.begin(), ranks_.end(), offer.rank) || regions.size() != offer.members.size()) {
    throw std::runtime_error("an offer does not fit its plan");
  }
  auto offered = std::make_shared<OfferedRank>();
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const MemberOffer& member = offer.members[i];
    offered->memory.emplace_back(regions[i], member.offset, member.bytes(), /*to_be_written=*/false);
  }
  offered->offer = std::move(offer);
  // The work with an earlier offer of the rank has begun.
  if (!is_submitted) offers_[offered->offer.rank] = std::move(offered);
}

void FlushJob::add_waiter(const std::shared_ptr<KeeperPeer>& peer, std::uint64_t request) {
  const std::lock_guard lock(mutex_);
  waiters_.push_back({peer, request});
}

std::vector<RankSource> FlushJob::sources() const {
  std::vector<RankSource> sources;
  for (const auto& [rank, offered] : offers_) sources.push_back(offered->source());
  return sources;
}

void FlushJob::end(KeeperCode code, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (ended_.exchange(true)) return;
  for (const Waiter& each : waiters_) each.peer->answer({KeeperOp::flush, each.request, code, text, {}});
}

void FlushJob::tell_progress() {
  constexpr std::chrono::seconds kBetween{1};
  if (ended_ || Clock::now() - told_ < kBetween) return;
  told_ = Clock::now();
  FieldWriter body;
  body.number(written_.load());
  const std::lock_guard lock(mutex_);
  for (const Waiter& each : waiters_) {
    each.peer->answer({KeeperOp::progress, each.request, KeeperCode::done, {}, body.all()});
  }
}

}  // namespace fenix_impl

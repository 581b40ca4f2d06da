// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/meetings.hpp"

#include <span>

#include "base/simd/hash.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {
namespace {

constexpr int kEndTag = 4;

// Meetings of different ranks may go on at the same time, in several threads.
constexpr int kFirstMeetingTag = 16;
constexpr int kMeetingTags = 1 << 14;

}  // namespace

void Meetings::wait_for(const std::vector<int>& ranks, int tag, const char* waited_for) {
  std::unique_lock lock(mutex_);
  auto& kept = barriers_[{tag, ranks}];
  if (!kept) kept = std::make_shared<ResumableBarrier>(comms_.world(), ranks, tag);
  const auto barrier = kept;
  lock.unlock();
  MpiTeam world(comms_.world(), members_.seating().active, comms_.resilient());
  barrier->wait([&] { world.check(); }, waited_for);
  lock.lock();
  barriers_.erase({tag, ranks});
}

void Meetings::meet(const std::vector<int>& ranks) {
  const auto number = static_cast<int>(hash_bytes(std::as_bytes(std::span(ranks))) % kMeetingTags);
  wait_for(ranks, kFirstMeetingTag + number, "all ranks to come");
}

void Meetings::meet_at_end() { wait_for(members_.all_ranks(), kEndTag, "all ranks to finish"); }

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "core/state/pending_commit.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "base/simd/copy.hpp"

namespace fenix_impl {

void PendingCommit::prepare(const MemberAccess& access, std::uint64_t blocks) {
  if (used_ == parts_.size()) parts_.emplace_back();
  Part& part = parts_[used_++];
  part.slot = &access.slot();
  part.member = &access.member();
  part.member_id = access.member().id();
  part.blocks = blocks;
  part.sources.clear();
  for (const StoredFrom& source : part.slot->sources()) {
    IntervalSet changed = source.elements - part.slot->unchanged();
    if (!changed.empty()) part.sources.push_back({source.buffer, std::move(changed)});
  }
}

void PendingCommit::begin(Epoch epoch, std::uint32_t entry) noexcept {
  for (Part& part : parts()) {
    std::swap(part.table, part.slot->table());
    part.spill = std::move(part.slot->spill());
    part.slot = nullptr;
  }
  epoch_ = epoch;
  entry_ = entry;
}

void PendingCommit::drop() noexcept {
  for (Part& part : parts()) {
    part.sources.clear();
    Spill().swap(part.spill);
  }
  used_ = 0;
  epoch_ = {};
}

std::uint64_t PendingCommit::bytes_left() const {
  std::uint64_t all = 0;
  for (const Part& part : std::span(parts_).first(used_)) {
    for (const StoredFrom& source : part.sources) all += source.elements.count() * part.member->element_bytes();
  }
  return all;
}

void PendingCommit::copy_part(const Part& part, std::uint64_t half, std::uint64_t& done, void (*at_half)()) const {
  const Member& member = *part.member;
  const ElementType& type = *member.info().type;
  const std::uint64_t bytes = member.element_bytes();
  const SlotView slot = member.memory.own_slot(0);
  const std::uint64_t at_once = std::max<std::uint64_t>(half / bytes, 1);
  const Stores stores = worth_streaming(half * 2) ? Stores::streaming : Stores::cached;
  for (const StoredFrom& source : part.sources) {
    for (const Interval& each : source.elements.intervals()) {
      for (std::uint64_t first = each.first; first < each.end; first += at_once) {
        const std::uint64_t count = std::min(at_once, each.end - first);
        const auto to = slot.data.subspan(first * bytes, count * bytes);
        if (source.buffer == nullptr) {
          copy_bytes(to, std::span(part.spill).subspan(first * bytes, count * bytes), stores);
        } else if (type.contiguous()) {
          copy_bytes(to, {static_cast<const std::byte*>(source.buffer) + first * bytes, count * bytes}, stores);
        } else {
          type.pack(source.buffer, first, count, to.data());
        }
        const bool before = done < half;
        done += count * bytes;
        if (before && done >= half) at_half();
      }
    }
  }
  std::copy_n(part.table.begin(), part.blocks, slot.table.begin());
}

void PendingCommit::copy(void (*at_half)()) {
  const std::uint64_t middle = (bytes_left() + 1) / 2;
  std::uint64_t done = 0;
  for (const Part& part : parts()) {
    // It may have been deleted since.
    if (members_.find(part.member_id) != part.member) continue;
    part.member->memory.note_own_being_written();
    copy_part(part, middle, done, at_half);
    part.member->memory.note_own(epoch_);
  }
  drop();
}

void PendingCommit::keep_buffers() {
  try {
    for (Part& part : parts()) {
      if (members_.find(part.member_id) != part.member) continue;
      const std::uint64_t bytes = part.member->element_bytes();
      for (StoredFrom& source : part.sources) {
        if (source.buffer == nullptr) continue;
        part.spill.resize(std::max<std::uint64_t>(part.spill.size(), source.elements.end() * bytes));
        for (const Interval& each : source.elements.intervals()) {
          part.member->info().type->pack(source.buffer, each.first, each.count(),
                                         part.spill.data() + each.first * bytes);
        }
        source.buffer = nullptr;
      }
    }
  } catch (const std::bad_alloc&) {
    log().warn(
        "a commit in place was cut short, and there is no memory to keep what was stored: the buffers must not be "
        "changed");
  }
}

}  // namespace fenix_impl

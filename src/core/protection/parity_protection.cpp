// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection/parity_protection.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "core/protection/bounced_encoding.hpp"

namespace fenix_impl {
namespace {

// These stand in the place of a size: the member was not stored, or all of it is in the buffer that the others can read.
constexpr std::uint64_t kCarried = 1;
constexpr std::uint64_t kInBuffer = 2;

/// Leaves the protection broken at its end, unless all that was begun has been done.
class StepInCommon {
 public:
  explicit StepInCommon(std::atomic<bool>& broken) : broken_(broken) {}
  StepInCommon(const StepInCommon&) = delete;
  StepInCommon& operator=(const StepInCommon&) = delete;
  ~StepInCommon() {
    if (!done_) broken_ = true;
  }
  void done() { done_ = true; }

 private:
  std::atomic<bool>& broken_;
  bool done_ = false;
};

const MemberVersion* find(const Record& announcement, const Change& change) {
  return announcement.find(change.member->id());
}

IntervalSet in_bytes(const IntervalSet& elements, std::uint32_t element_bytes, std::uint64_t end) {
  IntervalSet bytes;
  const IntervalSet there = elements.within(0, end / element_bytes);
  for (const Interval& each : there.intervals()) {
    bytes.append({each.first * element_bytes, each.end * element_bytes});
  }
  return bytes;
}

/// Makes the announcement of a rank to its redundancy set. It has the form of a record: for each member, the elements that have
/// changed, and in stored_in the commit after which the slot was not touched.
void make_announcement(const ProtectionContext& group, std::uint64_t number, const EncodeFor& purpose,
                       std::span<const Change> changes, Record& record) {
  record.epoch = {number};
  record.time_stamp = static_cast<std::int32_t>(purpose.call);
  record.oldest_kept = purpose.epoch;
  record.group_id = group.parameters.id;
  record.owner = group.rank;
  record.deleted = false;
  record.members.clear();
  for (const Change& change : changes) {
    const Member& member = *change.member;
    if (!change.carried_from.none()) {
      record.members.push_back({member.id(), 0, member.element_bytes(), kCarried, change.carried_from, 0, {}});
      continue;
    }
    const std::uint32_t slot = *member.working().number();
    record.members.push_back({member.id(), slot, member.element_bytes(), change.is_in_buffer ? kInBuffer : 0,
                              member.working().history().epoch_of(slot).next(), 0, change.elements});
  }
  if (record_bytes(record) <= group.control.announcement.entry_bytes()) return;
  for (MemberVersion& each : record.members) each.found = IntervalSet(0, each.found.end());
}

}  // namespace

ParityProtection::ParityProtection(const ProtectionContext& context)
    : Protection(context),
      redundancy_set_(context_.placement.redundancy_set(context_.rank)),
      index_(context_.placement.index_in_set(context_.rank)),
      parity_(context_.placement.copies()),
      encoder_(static_cast<int>(redundancy_set_.size()), parity_, std::vector<bool>(redundancy_set_.size(), true)) {}

// --------------------------------------------------------------------------------------------------------------- layout

std::uint64_t ParityProtection::most_bytes(const Member& member, const Counts& counts) const {
  std::uint64_t most = 0;
  for (const int rank : redundancy_set_) most = std::max(most, counts.at(rank));
  return most * member.element_bytes();
}

Stripes ParityProtection::stripes_of(const Member& member, const Counts& counts) const {
  const std::uint64_t unit = Stripes::unit_for(most_bytes(member, counts), ranks() - parity_, member.info().resizeable);
  return {ranks(), parity_, unit};
}

std::uint64_t ParityProtection::held_bytes(const Member& member, const Counts& counts) const {
  return stripes_of(member, counts).parity_bytes(most_bytes(member, counts));
}

void ParityProtection::prepare(const Member& member) const {
  for (const int rank : redundancy_set_) {
    const SlotLayout& there = member.memory.layout_of(rank);
    if (rank == context_.rank) continue;
    member.memory.remote().expect_access(rank, there.own_offset(0), there.held_offset(0) - there.own_offset(0));
  }
}

SetSlot ParityProtection::slot_of(const Member& member, int rank, std::uint32_t slot) const {
  const SlotLayout& layout = member.memory.layout_of(rank);
  if (slot >= layout.slots() || member.bytes_of(rank) > layout.own_bytes()) return {};
  return {rank, layout.own_offset(slot), member.bytes_of(rank), layout.held_offset(slot)};
}

// ------------------------------------------------------------------------------------------------------------- encoding

void ParityProtection::make_room_for_announcement(const Wait& wait) {
  const std::size_t length = record_bytes(mine_);
  if (length <= context_.control.reserved) return;
  try {
    context_.control.region.reserve(context_.control.announcement.offset(0), length);
  } catch (const Error&) {
    refuse(wait);
    throw;
  }
}

void ParityProtection::announce(const Wait& wait) {
  Control& control = context_.control;
  // Other ranks may still be reading the announcement before.
  wait("the cohort to encode what was stored before",
       [&] { return control.finished.reached_by_first(ranks()).value + 1 >= announcements_; });
  (void)control.announcement.write_unsealed(0, mine_);
  control.announcement.seal(0, mine_.epoch);
  fault_point("encode.announced");
  control.announced.publish(*control.remote, redundancy_set_, index_, {announcements_});
  wait("the cohort to store", [&] { return control.announced.reached_by_first(ranks()).value >= announcements_; });
  fault_point("encode.met");
}

void ParityProtection::read_announcements() {
  theirs_.resize(redundancy_set_.size());
  for (std::size_t i = 0; i < redundancy_set_.size(); ++i) read_announcement(i);
}

void ParityProtection::read_announcement(std::size_t of) {
  Control& control = context_.control;
  Record& record = theirs_[of];
  const bool read = fetch_record(*control.remote, redundancy_set_[of], control.announcement.offset(0), bytes_) &&
                    decode(bytes_, record);
  if (read && record.epoch.value == announcements_ && record.owner == redundancy_set_[of]) return;
  if (!control.announced.has_left(static_cast<int>(of))) {
    throw Error(FENIX_ERROR_INTERN,
                "the announcement of rank " + std::to_string(redundancy_set_[of]) + " cannot be read");
  }
  record = {};
  record.deleted = true;
}

void ParityProtection::finish(const Wait& wait) {
  Control& control = context_.control;
  control.finished.publish(*control.remote, redundancy_set_, index_, {announcements_});
  fault_point("encode.done");
  // A rank that returns to the application could delay reads of its memory that its core has to carry out. If buffers of the application
  // are read, no commit may be decided before: a rank that gives up waiting changes its buffer.
  if (!puts_are_copies() || reads_buffers_) {
    wait("the cohort to encode", [&] { return control.finished.reached_by_first(ranks()).value >= announcements_; });
  }
}

void ParityProtection::encode(const EncodeFor& purpose, std::span<const Change> changes, const Wait& wait) {
  if (parity_ == 0) return;
  StepInCommon step(broken_);
  ++announcements_;
  reads_buffers_ = false;
  make_announcement(context_, announcements_, purpose, changes, mine_);
  make_room_for_announcement(wait);
  announce(wait);
  read_announcements();
  for (std::size_t i = 0; i < theirs_.size(); ++i) {
    const std::string why = difference(theirs_[i], changes);
    if (why.empty()) continue;
    // All ranks of the redundancy set come to this, and none encodes.
    finish(wait);
    step.done();
    throw Error(theirs_[i].deleted ? FENIX_ERROR_INVALID_LOGIC_CALL : FENIX_ERROR_MISMATCH,
                "rank " + std::to_string(redundancy_set_[i]) + " " + why);
  }
  if (context_.parameters.commits_in_place()) {
    encode_in_place(changes, wait);
  } else {
    for (const Change& change : changes) {
      if (change.carried_from.none()) encode_member(change, false);
    }
  }
  finish(wait);
  step.done();
}

// The steps of the encoding are counted like announcements.
void ParityProtection::encode_in_place(std::span<const Change> changes, const Wait& wait) {
  BouncedEncoding encoding(context_.control, redundancy_set_, index_, encoder_, announcements_);
  for (const Change& change : changes) {
    if (!change.carried_from.none()) continue;
    if (all_are_in_buffers(change)) {
      reads_buffers_ = true;
      encode_member(change, true);
      continue;
    }
    Member& member = *change.member;
    const Stripes stripes = stripes_of(member, member.memory.counts());
    std::vector<SetSlot> slots;
    IntervalSet changed;
    bool all_known = true;
    for (std::size_t i = 0; i < theirs_.size(); ++i) {
      const MemberVersion& version = *find(theirs_[i], change);
      const std::uint64_t bytes = member.bytes_of(redundancy_set_[i]);
      slots.push_back({redundancy_set_[i], 0, bytes, 0});
      changed = changed | in_bytes(version.found, member.element_bytes(), bytes);
      // The parity in the slots belongs to one and the same commit on all ranks, or is made anew.
      all_known = all_known && version.stored_in == find(theirs_[0], change)->stored_in;
    }
    if (!all_known || find(theirs_[0], change)->stored_in == Epoch{}.next()) changed = IntervalSet::everything();
    const auto parity = member.memory.held_slot(*member.working().number()).data;
    const auto used = stripes.parity_bytes(most_bytes(member, member.memory.counts()));
    encoding.add(change, stripes, changed, std::move(slots), parity.first(used));
  }
  announcements_ = encoding.run(wait);
}

// Returns the reason why this rank cannot encode together with another one; empty if it can.
std::string ParityProtection::difference(const Record& other, std::span<const Change> changes) const {
  if (other.deleted) return other.epoch.none() ? "has deleted the group" : "cannot commit";
  if (other.time_stamp != mine_.time_stamp) return "commits while this one stores asynchronously, or the other way";
  if (other.oldest_kept != mine_.oldest_kept) return "has made another number of commits than this one";
  const bool same =
      other.members.size() == changes.size() && std::all_of(changes.begin(), changes.end(), [&](const Change& each) {
        const MemberVersion* version = find(other, each);
        if (version == nullptr || (version->size == kCarried) == each.carried_from.none()) return false;
        return each.carried_from.none() || version->stored_in == each.carried_from;
      });
  return same ? "" : "has stored other members, or has other snapshots of them: store all, or call Fenix_Data_barrier";
}

void ParityProtection::refuse(const Wait& wait) {
  mine_.members.clear();
  mine_.deleted = true;
  announce(wait);
  finish(wait);
}

void ParityProtection::decline(const Wait& wait) {
  if (parity_ == 0) return;
  StepInCommon step(broken_);
  ++announcements_;
  make_announcement(context_, announcements_, {}, {}, mine_);
  refuse(wait);
  step.done();
}

void ParityProtection::leave() noexcept {
  if (parity_ == 0) return;
  Control& control = context_.control;
  try {
    control.announced.leave(*control.remote, redundancy_set_, index_);
    control.finished.leave(*control.remote, redundancy_set_, index_);
  } catch (const std::exception& error) {
    // Others may wait for FENIX_TIMEOUT now, unless they see the same.
    log().info("group {}: {}", context_.parameters.id, error.what());
  }
}

bool ParityProtection::all_are_in_buffers(const Change& change) const {
  return std::all_of(theirs_.begin(), theirs_.end(),
                     [&](const Record& each) { return find(each, change)->size == kInBuffer; });
}

// Reads the working slots, or the buffers of the application.
void ParityProtection::encode_member(const Change& change, bool in_buffers) {
  Member& member = *change.member;
  const std::uint32_t own = *member.working().number();
  const Stripes stripes = stripes_of(member, member.memory.counts());
  const std::uint64_t all = stripes.parity_bytes(most_bytes(member, member.memory.counts()));
  std::vector<SetSlot> slots;
  IntervalSet ranges;
  bool all_known = !member.working().history().epoch_of(own).none();
  for (std::size_t i = 0; i < theirs_.size(); ++i) {
    const MemberVersion& version = *find(theirs_[i], change);
    slots.push_back(in_buffers
                        ? SetSlot{redundancy_set_[i], MemberBuffer::kOffset, member.bytes_of(redundancy_set_[i]), 0}
                        : slot_of(member, redundancy_set_[i], version.slot));
    if (slots.back().rank == SetSlot::kMissing) {
      throw Error(FENIX_ERROR_INTERN,
                  "rank " + std::to_string(redundancy_set_[i]) + " announces a slot that it does not have");
    }
    // The parity in the own slot belongs to the slots of the others at the same commit. If they are of another commit,
    // all of the parity is made anew.
    all_known = all_known && version.stored_in == member.working().history().epoch_of(own).next();
    if (!all_known) continue;
    const auto changed = in_bytes(version.found, member.element_bytes(), slots.back().element_bytes);
    ranges = ranges | stripes.parity_of(index_, static_cast<int>(i), changed);
  }
  if (!all_known) ranges = IntervalSet(0, all);
  RemoteRegions& remote = in_buffers ? member.allocated.remote() : member.memory.remote();
  SetSlots redundancy_set(remote, stripes, std::move(slots));
  const auto parity = member.memory.held_slot(own).data;
  const std::uint64_t read = ranges.count() * static_cast<std::uint64_t>(stripes.data());
  const Stores stores = worth_streaming(read) ? Stores::streaming : Stores::cached;
  ranges = ranges.within(0, all);
  for (const Interval& each : ranges.intervals()) {
    for (std::uint64_t begin = each.first; begin < each.end; begin += kEncodedPiece) {
      const auto bytes = std::min<std::uint64_t>(kEncodedPiece, each.end - begin);
      redundancy_set.compute(encoder_, {index_, true, begin}, parity.subspan(begin, bytes), stores);
      fault_point("encode.piece");
    }
  }
}

}  // namespace fenix_impl

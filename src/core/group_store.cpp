// SPDX-License-Identifier: BSD-3-Clause
// Storing: staged elements are protected. DESIGN.md, "the life of a snapshot", names the same steps.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "base/copy.hpp"
#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "core/group.hpp"
#include "core/meeting.hpp"
#include "core/waiting.hpp"

namespace fenix_impl {
namespace {

// A stop is noticed between two pieces.
constexpr std::uint64_t kStoredPiece = std::uint64_t{4} << 20;

// Gaps that are cheaper to send than to leave out. What is in them is the same in both slots, or belongs to no element.
constexpr std::uint64_t kGap = 256;

// The blocks that lie within elements, so that nothing that comes later in the commit can change them. all: elements that
// the member has; the last block ends with them.
IntervalSet blocks_within(const IntervalSet& elements, std::uint64_t all, std::uint32_t element_bytes) {
  IntervalSet blocks;
  for (const Interval& each : elements.intervals()) {
    const std::uint64_t end = each.end * element_bytes;
    blocks.append({hash_blocks(each.first * element_bytes), each.end == all ? hash_blocks(end) : end / kHashBlock});
  }
  return blocks;
}

/// Calls piece(block, begin, end) for the bytes of the elements, block by block of the table of hashes.
template <class Piece>
void for_each_piece(const IntervalSet& elements, std::uint32_t element_bytes, Piece&& piece) {
  for (const Interval& each : elements.intervals()) {
    const std::uint64_t end = each.end * element_bytes;
    for (std::uint64_t begin = each.first * element_bytes; begin < end;) {
      const std::uint64_t block = begin / kHashBlock;
      const std::uint64_t stop = std::min(end, (block + 1) * kHashBlock);
      piece(block, begin, stop);
      begin = stop;
    }
  }
}

/// Until the request has been seen to be complete: its peers may need this rank's help for theirs as well.
void keep_moving(Path& path, const Request& request, const std::atomic<bool>& stop) {
  constexpr std::chrono::microseconds kNap{50};
  while (!stop && request.pending() && path.make_progress()) std::this_thread::sleep_for(kNap);
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- one part

Group::Part Group::begin_store(Member& member, const Selection& selection, bool in_one_pass) {
  unspill(member);
  Working& working = member.working;
  Part part{&member, {}, {}, false, false};
  if (selection.kind == Selection::Kind::staged) {
    part.elements = working.staged;
  } else if (member.serializer) {
    part.elements = stage_with_serializer(member, selection);
  } else {
    part.elements = elements_of(member, selection);
    in_one_pass = in_one_pass && member.info.type->contiguous() && has_room(member, part.elements);
    if (!in_one_pass) (void)stage_elements(member, member.buffer, part.elements);
  }
  const std::uint64_t all = member.info.resizeable ? 0 : member.own_count;
  if (parameters_.hashing != 0) part.blocks = blocks_within(part.elements, all, member.element_bytes());
  const bool from_buffer = selection.kind != Selection::Kind::staged && !member.serializer;
  if (from_buffer && in_one_pass) store_in_one_pass(part);
  if (protection_->takes_slot_always()) (void)take_slot(member);
  return part;
}

Group::Stored Group::once_stored(const Part& part) {
  const Working& working = part.member->working;
  return {part.member,
          true,
          working.stored | part.elements,
          working.staged - part.elements,
          working.hashed | part.blocks,
          std::max(working.size, part.elements.end())};
}

void Group::swap(Stored& stored) noexcept {
  Working& working = stored.member->working;
  std::swap(working.is_stored, stored.is_stored);
  std::swap(working.stored, stored.stored);
  std::swap(working.staged, stored.staged);
  std::swap(working.hashed, stored.hashed);
  std::swap(working.size, stored.size);
}

// The source is read once, hashed while it is in the cache, and written to all places.
void Group::store_in_one_pass(Part& part) {
  if (part.elements.empty()) return;
  Member& member = *part.member;
  (void)take_slot(member);
  const std::uint32_t number = *member.working.slot;
  const SlotView slot = member.own_slot(number);
  const auto* source = static_cast<const std::byte*>(member.buffer);
  const std::uint64_t all = part.elements.count() * member.element_bytes();
  const Stores stores = worth_streaming(all) ? Stores::streaming : Stores::cached;
  // From here on the slot is not what it was, whatever happens.
  note_staged(member, part.elements);
  std::uint64_t done = 0;
  part.mirrored = true;
  for_each_piece(part.elements, member.element_bytes(),
                 [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
                   const std::span<const std::byte> from(source + begin, end - begin);
                   const auto to = slot.data.subspan(begin, end - begin);
                   const auto mirror = protection_->mirror(member, number, begin, end - begin);
                   part.mirrored = part.mirrored && !mirror.empty();
                   if (part.blocks.covers(block, block + 1)) {
                     slot.table[block] = copy_and_hash(to, mirror, from, stores);
                   } else if (mirror.empty()) {
                     copy_bytes(to, from, stores);
                   } else {
                     copy_twice(to, mirror, from, stores);
                   }
                   if (part.mirrored && done <= all / 2 && done + from.size() > all / 2) fault_point("store.half");
                   done += from.size();
                 });
  part.hashed = true;
}

// What is in the own slot is made redundant, and hashed.
void Group::protect(const Part& part, const std::atomic<bool>& stop) const {
  if (part.elements.empty() || (part.mirrored && part.hashed)) return;
  const Member& member = *part.member;
  const std::uint32_t number = *member.working.slot;
  const SlotView slot = member.own_slot(number);
  const std::uint32_t bytes = member.element_bytes();
  const std::uint64_t all = part.elements.count() * bytes;
  const Stores stores = worth_streaming(all) ? Stores::streaming : Stores::cached;
  bool mirrored = part.mirrored;
  if (!mirrored) {
    const Interval first = part.elements.intervals().front();
    mirrored = !protection_->mirror(member, number, first.first * bytes, bytes).empty();
    if (!mirrored) put(part, stop);
  }
  std::uint64_t done = 0;
  for_each_piece(part.elements, bytes, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    if (stop) return;
    const auto data = slot.data.subspan(begin, end - begin);
    const auto mirror =
        mirrored && !part.mirrored ? protection_->mirror(member, number, begin, end - begin) : std::span<std::byte>{};
    const bool to_hash = !part.hashed && part.blocks.covers(block, block + 1);
    if (to_hash && mirror.empty()) {
      slot.table[block] = hash_bytes(slot.data.subspan(begin, end - begin));
    } else if (to_hash) {
      slot.table[block] = copy_and_hash(mirror, {}, data, stores);
    } else if (!mirror.empty()) {
      copy_bytes(mirror, data, stores);
    }
    if (!mirror.empty() && done <= all / 2 && done + data.size() > all / 2) fault_point("store.half");
    done += data.size();
  });
}

// Where the network has to do it.
void Group::put(const Part& part, const std::atomic<bool>& stop) const {
  const Member& member = *part.member;
  const std::uint32_t bytes = member.element_bytes();
  std::uint64_t left = part.elements.count() * bytes / 2;
  const auto send = [&](std::uint64_t begin, std::uint64_t end) {
    for (; begin < end && !stop; begin = std::min(end, begin + kStoredPiece)) {
      protection_->put(member, *member.working.slot, begin, std::min(end - begin, kStoredPiece));
    }
  };
  const IntervalSet elements = part.elements.without_gaps(kGap / bytes);
  for (const Interval& each : elements.intervals()) {
    const std::uint64_t begin = each.first * bytes;
    const std::uint64_t end = each.end * bytes;
    const std::uint64_t middle = begin + std::min(end - begin, left);
    send(begin, middle);
    if (left > 0 && middle - begin == left) fault_point("store.half");
    left -= middle - begin;
    send(middle, end);
  }
}

// --------------------------------------------------------------------------------------------------------------- stores

void Group::begin_stores(std::span<Member* const> members, const Selection& selection, const Check& check) {
  fault_point("store.begin");
  if (has_to_settle(members)) {
    together(team(), [&] { settle(members, selection, check); });
    return;
  }
  alone([&] {
    if (check) check();
    for (const Member* member : members) check_storable(*member, selection);
  });
}

void Group::store(std::span<Member* const> members, const Selection& selection, const Check& check) {
  begin_stores(members, selection, check);
  alone([&] { store_alone(members, selection); });
}

void Group::store_alone(std::span<Member* const> members, const Selection& selection) {
  static const std::atomic<bool> never{false};
  for (Member* member : members) {
    wait_for_requests_of(*member);
    const Part part = begin_store(*member, is_open_ended(*member, selection) ? Selection::staged() : selection, true);
    fault_point("store.staged");
    protect(part, never);
    protection_->complete(*member);
    // Not before: what is not protected must not be committed.
    Stored stored = once_stored(part);
    swap(stored);
    fault_point("store.done");
  }
}

std::shared_ptr<Request> Group::store_asynchronously(std::span<Member* const> members, const Selection& selection,
                                                     std::uint64_t request_id, const Check& check) {
  begin_stores(members, selection, check);
  try {
    return alone([&] { return begin_request(members, selection, request_id); });
  } catch (const Error& error) {
    // The cohort's threads wait for this rank's.
    if (error.code() == FENIX_ERROR_NO_MEMORY && protection_->takes_slot_always()) team().withdraw();
    throw;
  }
}

std::shared_ptr<Request> Group::begin_request(std::span<Member* const> members, const Selection& selection,
                                              std::uint64_t request_id) {
  std::vector<std::int32_t> ids;
  std::vector<Part> parts;
  std::vector<Stored> stored;
  for (Member* member : members) {
    wait_for_requests_of(*member);
    parts.push_back(begin_store(*member, is_open_ended(*member, selection) ? Selection::staged() : selection, false));
    stored.push_back(once_stored(parts.back()));
    ids.push_back(member->info.id);
  }
  fault_point("store.staged");
  auto request = std::make_shared<Request>(request_id, std::move(ids));
  requests_.reserve(requests_.size() + 1);
  const auto protect_all = [this](const std::vector<Part>& all, const std::atomic<bool>& stop) {
    for (const Part& part : all) protect(part, stop);
  };
  // What is under way is the network's, where it copies: only its end has to be looked for.
  if (!protection_->puts_are_copies()) protect_all(parts, std::atomic<bool>{false});
  for (Stored& each : stored) swap(each);
  try {
    if (protection_->puts_are_copies()) {
      worker_.submit(request, [this, protect_all, parts = std::move(parts)](const std::atomic<bool>& stop) {
        protect_all(parts, stop);
        if (!stop) encode_early(parts, stop);
      });
    } else {
      worker_.submit(std::make_shared<Request>(0, std::vector<std::int32_t>{}),
                     [path = path_, request](const std::atomic<bool>& stop) { keep_moving(*path, *request, stop); });
    }
  } catch (...) {
    for (Stored& each : stored) swap(each);
    throw;
  }
  requests_.push_back(request);
  fault_point("istore.begun");
  return request;
}

// What the cohort has to do together need not wait for the commit.
void Group::encode_early(std::span<const Part> parts, const std::atomic<bool>& stop) const {
  if (!protection_->takes_slot_always()) return;
  std::vector<Change> changes;
  for (const Part& part : parts) changes.push_back({part.member, part.elements, {}});
  constexpr std::chrono::microseconds kNap{20};
  const Deadline deadline;
  const auto wait = [&](const char* waited_for, const std::function<bool()>& ready) {
    while (!ready()) {
      if (stop) throw Error(FENIX_ERROR_CANCELLED, "an asynchronous store was cancelled");
      deadline.check(waited_for);
      std::this_thread::sleep_for(kNap);
    }
  };
  try {
    protection_->encode({EncodeFor::Call::asynchronous_store, last_}, changes, wait);
  } catch (const Error& refused) {
    // The ranks do different things, and nobody has encoded: that is for the commit to judge.
    if (protection_->broken()) throw;
    log().warn("group {}: {}", parameters_.id, refused.what());
    return;
  }
  for (const Part& part : parts) part.member->working.encoded = part.member->working.encoded | part.elements;
}

bool Group::finished(Request& request) {
  if (request.pending() && !protection_->puts_are_copies()) {
    const bool all_there = std::all_of(request.members().begin(), request.members().end(), [&](std::int32_t id) {
      const Member* member = find(id);
      return member == nullptr || protection_->settled(*member);
    });
    if (all_there) request.end(Request::State::done);
  }
  if (request.pending()) {
    // It may wait for others, in a thread that cannot see them die.
    if (protection_->takes_slot_always()) team().check();
    return false;
  }
  // What failed stays: nothing must be committed then, before the group has been taken up again.
  if (request.state() == Request::State::failed) {
    tell_of_failure(request);
    return true;
  }
  std::erase_if(requests_, [&](const auto& each) { return each.get() == &request; });
  return true;
}

void Group::tell_of_failure(const Request& request) {
  if (!team_ || request.error().code() != FENIX_ERROR_NO_MEMORY) return;
  const bool is_of_this_team =
      std::any_of(requests_.begin(), requests_.end(), [&](const auto& each) { return each.get() == &request; });
  if (is_of_this_team) team().withdraw();
}

void Group::wait_for(Request& request) {
  constexpr std::chrono::microseconds kNap{20};
  wait_until(team(), "an asynchronous store", [&] {
    if (finished(request)) return true;
    // The thread that works on it may need this core.
    if (protection_->puts_are_copies()) std::this_thread::sleep_for(kNap);
    return false;
  });
}

void Group::wait_for_requests_of(const Member& member) {
  const auto requests = requests_;  // finished() takes them out
  for (const auto& request : requests) {
    const auto& ids = request->members();
    if (std::find(ids.begin(), ids.end(), member.info.id) != ids.end()) wait_for(*request);
  }
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Storing: staged elements are protected. DESIGN.md, "the life of a snapshot", names the same steps.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "core/group.hpp"
#include "core/waiting.hpp"

namespace fenix_impl {
namespace {

// A stop is noticed between two pieces.
constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;

// Gaps that are cheaper to send than to leave out. What is in them is the same in both slots, or belongs to no element.
constexpr std::uint64_t kGap = 256;

// The blocks that lie within elements, so that nothing that comes later in the commit can change them. all: elements that
// the member has; the last block ends with them.
IntervalSet blocks_within(const IntervalSet& elements, std::uint64_t all, std::uint32_t element_bytes) {
  std::vector<Interval> blocks;
  for (const Interval& each : elements.intervals()) {
    const std::uint64_t end = each.end * element_bytes;
    blocks.push_back({hash_blocks(each.first * element_bytes), each.end == all ? hash_blocks(end) : end / kHashBlock});
  }
  return IntervalSet::of(std::move(blocks));
}

/// Until the request has been seen to be complete: its peers may need this rank's help for theirs as well.
void keep_moving(Path& path, const Request& request, const std::atomic<bool>& stop) {
  constexpr std::chrono::microseconds kNap{50};
  while (!stop && request.pending() && path.make_progress()) std::this_thread::sleep_for(kNap);
}

}  // namespace

Group::Part Group::begin_store(Member& member, const Selection& selection) {
  unspill(member);
  Working& working = member.working;
  IntervalSet elements = selection.kind == Selection::Kind::staged ? working.staged
                         : member.serializer                       ? stage_with_serializer(member, selection)
                                             : stage_elements(member, member.buffer, elements_of(member, selection));
  const std::uint64_t all = member.info.resizeable ? 0 : member.own_count;
  Part part{&member, std::move(elements), {}};
  part.blocks = blocks_within(part.elements, all, member.element_bytes());
  working.is_stored = true;
  working.stored = working.stored | part.elements;
  working.staged = working.staged - part.elements;
  working.hashed = working.hashed | part.blocks;
  working.size = std::max(working.size, part.elements.end());
  return part;
}

void Group::protect(const Part& part, const std::atomic<bool>& stop) const {
  const Member& member = *part.member;
  if (part.elements.empty()) return;
  const std::uint32_t slot = *member.working.slot;
  const auto data = member.own_slot(slot).data;
  const std::size_t at_holder = member.holder_layout.held_offset(slot);
  const std::uint32_t bytes = member.element_bytes();
  std::uint64_t left = part.elements.count() * bytes / 2;
  const auto send = [&](std::uint64_t begin, std::uint64_t end) {
    for (; begin < end && !stop; begin = std::min(end, begin + kPiece)) {
      member.exposure->put(holder(), at_holder + begin, data.subspan(begin, std::min(end - begin, kPiece)));
    }
  };
  for (const Interval& each : part.elements.without_gaps(kGap / bytes).intervals()) {
    const std::uint64_t begin = each.first * bytes;
    const std::uint64_t end = each.end * bytes;
    const std::uint64_t middle = begin + std::min(end - begin, left);
    send(begin, middle);
    if (left > 0 && middle - begin == left) fault_point("store.half");
    left -= middle - begin;
    send(middle, end);
  }
}

void Group::hash(const Part& part) {
  if (part.blocks.empty()) return;
  const Member& member = *part.member;
  const SlotView slot = member.own_slot(*member.working.slot);
  const std::uint64_t end = member.info.resizeable ? slot.data.size() : member.own_count * member.element_bytes();
  for (const Interval& each : part.blocks.intervals()) {
    for (std::uint64_t block = each.first; block < each.end; ++block) {
      slot.table[block] = hash_of_block(slot.data.first(end), block, IntervalSet::everything(), member.element_bytes());
    }
  }
}

void Group::begin_stores(std::span<Member* const> members, const Selection& selection, const Check& check) {
  fault_point("store.begin");
  if (has_to_settle(members)) {
    settle(members, selection, check);
    return;
  }
  if (check) check();
  for (const Member* member : members) check_storable(*member, selection);
}

void Group::store(std::span<Member* const> members, const Selection& selection, const Check& check) {
  static const std::atomic<bool> never{false};
  begin_stores(members, selection, check);
  for (Member* member : members) {
    wait_for_requests_of(*member);
    const Part part = begin_store(*member, is_open_ended(*member, selection) ? Selection::staged() : selection);
    fault_point("store.staged");
    if (is_protected()) {
      protect(part, never);
      member->exposure->complete(holder());
    }
    hash(part);
    fault_point("store.done");
  }
}

std::shared_ptr<Request> Group::store_asynchronously(std::span<Member* const> members, const Selection& selection,
                                                     std::uint64_t request_id, const Check& check) {
  begin_stores(members, selection, check);
  std::vector<std::int32_t> ids;
  std::vector<Part> parts;
  for (Member* member : members) {
    wait_for_requests_of(*member);
    parts.push_back(begin_store(*member, is_open_ended(*member, selection) ? Selection::staged() : selection));
    ids.push_back(member->info.id);
  }
  fault_point("store.staged");
  auto request = std::make_shared<Request>(request_id, std::move(ids));
  auto work = [this, parts = std::move(parts)](const std::atomic<bool>& stop) {
    for (const Part& part : parts) {
      if (is_protected()) protect(part, stop);
      if (!stop) hash(part);
    }
  };
  if (path_->puts_are_copies()) {
    worker_.submit(request, std::move(work));
  } else {
    // What is under way is the network's: only its end has to be looked for.
    work(std::atomic<bool>{false});
    worker_.submit(std::make_shared<Request>(0, std::vector<std::int32_t>{}),
                   [path = path_, request](const std::atomic<bool>& stop) { keep_moving(*path, *request, stop); });
  }
  requests_.push_back(request);
  fault_point("istore.begun");
  return request;
}

bool Group::finished(Request& request) {
  if (request.pending() && !path_->puts_are_copies()) {
    const bool all_there = std::all_of(request.members().begin(), request.members().end(), [&](std::int32_t id) {
      const Member* member = find(id);
      return member == nullptr || !is_protected() || member->exposure->settled(holder());
    });
    if (all_there) request.end(Request::State::done);
  }
  if (request.pending()) return false;
  // What failed stays: nothing must be committed then, before the group has been taken up again.
  if (request.state() == Request::State::failed) return true;
  std::erase_if(requests_, [&](const auto& each) { return each.get() == &request; });
  return true;
}

void Group::wait_for(Request& request) {
  wait_until(team(), "an asynchronous store", [&] { return finished(request); });
}

void Group::wait_for_requests_of(const Member& member) {
  const auto requests = requests_;  // finished() takes them out
  for (const auto& request : requests) {
    const auto& ids = request->members();
    if (std::find(ids.begin(), ids.end(), member.info.id) != ids.end()) wait_for(*request);
  }
}

}  // namespace fenix_impl

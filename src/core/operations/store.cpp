// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/store.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"

namespace fenix_impl {
namespace {

using Stop = PartWriter::Stop;

/// Keeps the network moving until the request has been seen to be complete: its peers may need this rank's help for theirs.
void keep_moving(Path& path, const Request& request, const Stop& stop) {
  constexpr std::chrono::microseconds kNap{50};
  while (!stop && request.pending() && path.make_progress()) std::this_thread::sleep_for(kNap);
}

/// Encodes now what the redundancy set has to do together: that need not wait for the commit. In the thread of the queue.
void encode_early(const GroupParameters& parameters, CollectiveEncoder& encoder, Epoch last,
                  std::span<const Part> parts, const Stop& stop) {
  std::vector<Change> changes;
  for (const Part& part : parts) changes.push_back({&part.access.member(), part.elements, {}});
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
    encoder.encode({EncodeFor::Call::asynchronous_store, last}, changes, wait);
  } catch (const Error& refused) {
    // The ranks do different things, and nobody has encoded: the commit will report it.
    if (encoder.is_broken()) throw;
    log().warn("group {}: {}", parameters.id, refused.what());
    return;
  }
  for (const Part& part : parts) part.access.slot().note_encoded(part.elements);
}

/// A part, and the state of its working slot after the store.
struct Pending {
  MemberAccess access;
  WorkingSlot::Stored stored;

  void swap() noexcept { access.slot().swap(stored); }
};

Pending once_stored(const Part& part, bool in_place) {
  const WorkingSlot& slot = part.access.slot();
  Pending pending{part.access, in_place ? slot.once_stored_from(part.buffer, part.elements, part.blocks)
                                        : slot.once_stored(part.elements, part.blocks)};
  if (!part.unchanged.empty()) {
    pending.stored.unchanged = pending.stored.unchanged | part.unchanged;
    // Skipped elements are as before.
    pending.stored.stale = part.stale | (part.elements - part.skipped);
  }
  return pending;
}

// An open-ended member has been staged by the agreement on sizes.
Selection left_to_store(const Member& member, const Selection& selection) {
  return is_open_ended(member, selection) ? Selection::staged() : selection;
}

}  // namespace

IntervalSet StoreOperation::blocks_to_hash(const Member& member, const IntervalSet& elements) const {
  if (context_.parameters.hashing == 0) return {};
  const std::uint64_t all = member.info().resizeable ? 0 : member.own_count();
  return blocks_within(elements, all, member.element_bytes());
}

// Asynchronous stores are not compared: the latest snapshot may be another one when their thread comes to it.
void StoreOperation::compare_with_latest(Part& part, bool compares) const {
  const WorkingSlot& slot = part.access.slot();
  if (!compares || !slot.number() || part.blocks.count() < Similarity::kFewToCompare) return;
  part.base = latest_version(context_.log, part.access.member());
  part.stale = slot.history().stale(*slot.number());
}

// Elements stay in the buffer until the commit, or in the spill if the application gets the buffer back before it.
Part StoreOperation::begin_part_in_place(Member& member, const Selection& selection, bool keeps_buffer) {
  const MemberAccess access = context_.requests.access(member);
  (void)context_.reclaimer.take_slot(access);
  Part part(access);
  if (selection.kind == Selection::Kind::staged) {
    part.elements = member.working().staged();
  } else if (member.serializer()) {
    part.elements = staging_.stage_with_serializer(access, selection);
  } else {
    part.elements = elements_of(member, selection);
    if (keeps_buffer) {
      part.buffer = member.buffer();
    } else {
      staging_.stage_elements(access, member.buffer(), part.elements);
    }
  }
  // Parity is made in the commit, in one pass with the hashes.
  if (context_.protection().commits_collectively()) return part;
  part.blocks = blocks_to_hash(member, part.elements);
  compare_with_latest(part, keeps_buffer);
  // The holder's slot is not what it was, whatever happens.
  access.slot().note_protected(part.elements, member.element_bytes());
  return part;
}

Part StoreOperation::begin_part(Member& member, const Selection& selection, bool in_one_pass) {
  if (context_.parameters.commits_in_place()) return begin_part_in_place(member, selection, in_one_pass);
  const MemberAccess access = context_.requests.access(member);
  staging_.unspill(access);
  const bool is_staged = selection.kind == Selection::Kind::staged;
  const bool from_buffer = !is_staged && !member.serializer();
  Part part(access);
  if (is_staged) {
    part.elements = member.working().staged();
  } else if (member.serializer()) {
    part.elements = staging_.stage_with_serializer(access, selection);
  } else {
    part.elements = elements_of(member, selection);
    in_one_pass = in_one_pass && member.info().type->contiguous() && Staging::has_room(member, part.elements);
    if (!in_one_pass) staging_.stage_elements(access, member.buffer(), part.elements);
  }
  part.blocks = blocks_to_hash(member, part.elements);
  if (from_buffer && in_one_pass && !part.elements.empty()) {
    (void)context_.reclaimer.take_slot(access);
    compare_with_latest(part, true);
    // From here on the slot is not what it was, whatever happens.
    access.slot().note_staged(part.elements, member.element_bytes());
    writer_.copy_in_one_pass(part);
  }
  if (context_.protection().stores_always_take_slot()) (void)context_.reclaimer.take_slot(access);
  return part;
}

void StoreOperation::run(std::span<Member* const> members, const Selection& selection) {
  static const Stop never{false};
  for (Member* member : members) {
    Part part = begin_part(*member, left_to_store(*member, selection), true);
    fault_point("store.staged");
    writer_.protect(part, never);
    context_.protection().flush(*member);
    // Not before: elements that are not protected must not be committed.
    Pending pending = once_stored(part, context_.parameters.commits_in_place());
    pending.swap();
    fault_point("store.done");
  }
}

std::shared_ptr<Request> StoreOperation::begin(std::span<Member* const> members, const Selection& selection,
                                               std::uint64_t request_id) {
  std::vector<std::int32_t> ids;
  std::vector<Part> parts;
  std::vector<Pending> pending;
  for (Member* member : members) {
    parts.push_back(begin_part(*member, left_to_store(*member, selection), false));
    pending.push_back(once_stored(parts.back(), context_.parameters.commits_in_place()));
    ids.push_back(member->id());
  }
  fault_point("store.staged");
  auto request = std::make_shared<Request>(request_id, std::move(ids));
  context_.requests.reserve_one();
  if (!context_.protection().puts_are_copies()) {
    // The network copies from here on: only the end of it has to be looked for.
    const Stop never{false};
    for (Part& part : parts) writer_.protect(part, never);
  }
  for (Pending& each : pending) each.swap();
  try {
    submit(request, std::move(parts));
  } catch (...) {
    for (Pending& each : pending) each.swap();
    throw;
  }
  context_.requests.add(request);
  fault_point("istore.begun");
  return request;
}

void StoreOperation::submit(const std::shared_ptr<Request>& request, std::vector<Part> parts) {
  Protection& protection = context_.protection();
  if (!protection.puts_are_copies()) {
    context_.requests.submit(
        std::make_shared<Request>(0, std::vector<std::int32_t>{}),
        [path = context_.attachment.shared_path(), request](const Stop& stop) { keep_moving(*path, *request, stop); });
    return;
  }
  // The access to the members goes with the work.
  context_.requests.submit(request, [&context = context_, parts = std::move(parts)](const Stop& stop) mutable {
    const bool in_place = context.parameters.commits_in_place();
    for (Part& part : parts) PartWriter(context.protection(), in_place).protect(part, stop);
    CollectiveEncoder* const encoder = context.protection().encoder();
    if (!stop && encoder != nullptr && !in_place)
      encode_early(context.parameters, *encoder, context.log.last(), parts, stop);
  });
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/restore_from.hpp"

#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "core/common/meeting.hpp"
#include "core/steps/same_on_all.hpp"
#include "core/steps/snapshot_epochs.hpp"

namespace fenix_impl {
namespace {

// In a rank's note: it has an archive.
constexpr std::uint64_t kArchived = std::uint64_t{1} << 62;

Fetched checked(std::optional<Fetched> fetched, const Member& member, int source) {
  if (!fetched) {
    throw Error(FENIX_ERROR_NODATA_FOUND,
                name_of(member) + " of rank " + std::to_string(source) + " is not in the snapshot, or lost");
  }
  if (fetched->version.element_bytes != member.element_bytes()) {
    throw Error(FENIX_ERROR_MISMATCH, name_of(member) + " had elements of another size");
  }
  return std::move(*fetched);
}

}  // namespace

Found RestoreFrom::run(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, int source,
                       const std::function<void()>& check) {
  fault_point("restore.begin");
  const Member* member = context_.members.find(member_id);
  Found found;
  std::uint64_t serializers = 0;
  const Fetched fetched = together(context_.team(), [&] {
    Where where = agree(member_id, choice, check);
    std::optional<Fetched> result;
    const auto ready = meet(context_.team(), Operation::restore_ready, 0, note_of_serializer(*member), [&] {
      result = fetch(member_id, source, where);
      found = found_in(result->version, choice, member->info().resizeable, target.limit);
      check_target(found, target, *member);
    });
    serializers = ready.bits;
    return std::move(*result);
  });
  fault_point("restore.ready");
  write_on_all(context_.team(), serializers, [&] { write_to(target, *member, fetched.data, found.elements); });
  fault_point("restore.done");
  return found;
}

// Every rank says what it has of the snapshot.
RestoreFrom::Where RestoreFrom::agree(std::int32_t member_id, const SnapshotChoice& choice,
                                      const std::function<void()>& check) {
  const Member* member = context_.members.find(member_id);
  // This rank may not know yet that all have committed something newer: then the archive is still there.
  const bool has_archive = stored_ != nullptr || (archive_ != nullptr && archive_->attached());
  const bool only_archived = has_archive && context_.log.records().empty();
  const std::uint64_t note = epoch_note(context_.log) | (only_archived ? kArchived : 0);
  const auto notes = meet(context_.team(), Operation::restore_from, hash_of(member_id, choice), note, [&] {
    (void)context_.log.mend_own();
    check();
    if (member == nullptr) {
      throw Error(FENIX_ERROR_INVALID_MEMBERID, name_of_member(member_id) + " is not in the group");
    }
  });
  Where where;
  // Until the new communicator has data of its own, the numbers are those of the one before.
  where.archived = (notes.bits & kArchived) != 0;
  if (where.archived && !has_archive) {
    throw Error(FENIX_ERROR_INTERN, "a rank has put snapshots aside that this one knows nothing of");
  }
  fault_point("restore.met");
  if (where.archived && stored_ != nullptr) {
    where.epoch = choose_epoch(context_.parameters, choice, stored_->epochs());
  } else if (where.archived) {
    where.epoch = choose_epoch(context_.parameters, choice, archive_->epochs());
    where.holdings = all_archived_holdings(member_id, where.epoch);
  } else {
    where.epoch = agree_on_epoch(context_, choice, notes);
    context_.control().state(own_holdings(member, where.epoch));
    context_.team().barrier();
  }
  return where;
}

Fetched RestoreFrom::fetch(std::int32_t member_id, int source, Where& where) {
  const Member& member = *context_.members.find(member_id);
  const GroupRanks& group = context_.attachment.ranks();
  const bool is_in_store = where.archived && stored_ != nullptr;
  const int ranks = is_in_store ? stored_->ranks() : where.archived ? archive_->shape().ranks : group.size;
  if (source < 0 || source >= ranks) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                "source_rank " + std::to_string(source) + " is not in [0, " + std::to_string(ranks) + ")");
  }
  if (is_in_store) return checked(stored_->fetch(member_id, source, context_.team()), member, source);
  if (!where.archived) where.holdings = holdings_about(source);
  const Placement& placement = where.archived ? archive_->placement() : group.placement;
  RemoteRegions& control = where.archived ? archive_->control() : *context_.control().remote;
  RemoteRegions* const data = where.archived ? archive_->member(member_id) : &member.memory.remote();
  std::optional<Fetched> fetched;
  if (data != nullptr) {
    fetched = fetch_version({context_.parameters, placement, where.holdings, control, *data}, member_id, source);
  }
  return checked(std::move(fetched), member, source);
}

// No rank can tell without asking by which rank old numbers are kept now: so all say it.
std::map<int, Holdings> RestoreFrom::all_archived_holdings(std::int32_t member_id, Epoch epoch) {
  std::map<int, Holdings> holdings;
  for (const Holdings& each : context_.team().gather(archive_->holdings(member_id, epoch))) {
    holdings.emplace(static_cast<int>(holdings.size()), each);
  }
  return holdings;
}

// Asks the ranks that have some of what a rank has stored, or of what it takes to make that anew.
std::map<int, Holdings> RestoreFrom::holdings_about(int rank) const {
  const Control& control = context_.control();
  std::map<int, Holdings> holdings{{rank, control.statement_of<Holdings>(rank)}};
  for (const int partner : context_.attachment.ranks().placement.partners(rank)) {
    holdings.emplace(partner, control.statement_of<Holdings>(partner));
  }
  return holdings;
}

Holdings RestoreFrom::own_holdings(const Member* member, Epoch epoch) const {
  if (member == nullptr) return {};
  const GroupRanks& ranks = context_.attachment.ranks();
  const Control& control = context_.control();
  const MemberMemory& memory = member->memory;
  return holdings_of({ranks.placement, ranks.rank, control.own_log, control.held_logs, memory.layout(), member->info(),
                      memory.counts()},
                     context_.parameters.policy, epoch);
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Restoring what another rank has stored, or a rank that is no more: every rank says what it has, and each fetches what it wants.
#include <map>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "core/fetching.hpp"
#include "core/group.hpp"
#include "core/meeting.hpp"

namespace fenix_impl {
namespace {

// In a rank's note: it has an archive.
constexpr std::uint64_t kArchived = std::uint64_t{1} << 62;

}  // namespace

Found Group::restore_from(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, int source,
                          const Check& check) {
  fault_point("restore.begin");
  Found found;
  const Fetched fetched =
      together(team(), [&] { return fetch_together(member_id, choice, target, source, check, found); });
  fault_point("restore.ready");
  alone([&] { write_to(target, *find(member_id), fetched.data, found.elements); });
  fault_point("restore.done");
  return found;
}

Fetched Group::fetch_together(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, int source,
                              const Check& check, Found& found) {
  const Member* member = find(member_id);
  // That all have committed something newer may not be known here yet, and then the archive is still there.
  const bool only_archived = archive_ != nullptr && archive_->attached() && records_.empty();
  const std::uint64_t note = epoch_note() | (only_archived ? kArchived : 0);
  const auto notes = meet(team(), Operation::restore_from, hash_of(member_id, choice), note, [&] {
    (void)mend_own_records();
    check();
    if (member == nullptr) {
      throw Error(FENIX_ERROR_INVALID_MEMBERID, "member_id " + std::to_string(member_id) + " is not in the group");
    }
  });
  // Until the new communicator has data of its own, the numbers are those of the one before.
  const bool archived = (notes.bits & kArchived) != 0;
  if (archived && (archive_ == nullptr || !archive_->attached())) {
    throw Error(FENIX_ERROR_INTERN, "a rank has put snapshots aside that this one knows nothing of");
  }
  const int ranks = archived ? archive_->shape().ranks : team_size_;
  fault_point("restore.met");
  const Epoch epoch = archived ? chosen(choice, archive_->epochs()) : agree_on_epoch(choice, notes);
  std::map<int, Holdings> holdings;
  if (archived) {
    holdings = all_archived_holdings(member_id, epoch);
  } else {
    control_.state(own_holdings(member, epoch));
    team().barrier();
  }
  const Placement& placement = archived ? archive_->placement() : placement_;
  std::optional<Fetched> fetched;
  (void)meet(team(), Operation::restore_ready, 0, 0, [&] {
    if (source < 0 || source >= ranks) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                  "source_rank " + std::to_string(source) + " is not in [0, " + std::to_string(ranks) + ")");
    }
    if (!archived) holdings = holdings_about(source);
    Exposure& control = archived ? archive_->control() : *control_.exposure;
    Exposure* const data = archived ? archive_->member(member_id) : member->exposure.get();
    if (data != nullptr) fetched = fetch_version({parameters_, placement, holdings, control, *data}, member_id, source);
    if (!fetched) {
      throw Error(FENIX_ERROR_NODATA_FOUND, "member_id " + std::to_string(member_id) + " of rank " +
                                                std::to_string(source) + " is not in the snapshot, or lost");
    }
    if (fetched->version.element_bytes != member->element_bytes()) {
      throw Error(FENIX_ERROR_MISMATCH, "member_id " + std::to_string(member_id) + " had elements of another size");
    }
    found = found_in(fetched->version, choice, member->info.resizeable);
    check_room(found, target);
    check_writable(found, target, *member);
  });
  return std::move(*fetched);
}

// By which rank old numbers are kept now, nobody can tell without asking: so all say it.
std::map<int, Holdings> Group::all_archived_holdings(std::int32_t member_id, Epoch epoch) {
  std::map<int, Holdings> holdings;
  for (const Holdings& each : team().gather(archive_->holdings(member_id, epoch))) {
    holdings.emplace(static_cast<int>(holdings.size()), each);
  }
  return holdings;
}

// Whoever has some of what a rank has stored, or of what it takes to make that anew.
std::map<int, Holdings> Group::holdings_about(int rank) const {
  std::map<int, Holdings> holdings{{rank, control_.statement_of<Holdings>(rank)}};
  for (const int partner : placement_.partners(rank)) {
    holdings.emplace(partner, control_.statement_of<Holdings>(partner));
  }
  return holdings;
}

Holdings Group::own_holdings(const Member* member, Epoch epoch) const {
  if (member == nullptr) return {};
  return holdings_of(
      {placement_, team_rank_, control_.own_log, control_.held_logs, member->layout, member->info, member->counts},
      parameters_.policy, epoch);
}

}  // namespace fenix_impl

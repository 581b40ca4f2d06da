// SPDX-License-Identifier: BSD-3-Clause
// Restoring what another rank has stored, or a rank that is no more: every rank says what it has, and each fetches.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "core/group.hpp"
#include "core/meeting.hpp"

namespace fenix_impl {
namespace {

// In a rank's note: it has an archive.
constexpr std::uint64_t kArchived = std::uint64_t{1} << 62;

/// A version as it was fetched.
struct Fetched {
  MemberVersion version;
  std::vector<std::byte> data;
  std::vector<std::uint64_t> table;
};

std::optional<Record> fetch_record(Exposure& control, int rank, std::size_t offset) {
  std::vector<std::byte> bytes(record_format::kHeadBytes);
  control.get(rank, offset, bytes);
  const auto length = length_in_head(bytes, RecordLog::kPlaceBytes);
  if (!length) return std::nullopt;
  bytes.resize(*length);
  control.get(rank, offset, bytes);
  return decode(bytes);
}

std::optional<Fetched> fetch(Exposure& control, Exposure& member, int rank, const Holding& holding,
                             std::int32_t member_id) {
  const auto record = fetch_record(control, rank, holding.record_offset);
  const MemberVersion* version = record ? record->find(member_id) : nullptr;
  if (version == nullptr || record->owner != holding.stored_by) return std::nullopt;
  Fetched result{*version, std::vector<std::byte>(version->bytes()), {}};
  result.table.resize(hash_blocks(version->bytes()));
  member.get(rank, holding.data_offset, result.data);
  member.get(rank, holding.table_offset, std::as_writable_bytes(std::span(result.table)));
  if (!verify({result.data, result.table}, version->found, version->element_bytes, version->hash)) return std::nullopt;
  return result;
}

}  // namespace

Found Group::restore_from(std::int32_t member_id, const SnapshotChoice& choice, const Target& target, int source,
                          const Check& check) {
  fault_point("restore.begin");
  const Member* member = find(member_id);
  const std::array<std::int64_t, 3> same_on_all{member_id, static_cast<std::int64_t>(choice.kind), choice.time_stamp};
  const std::uint64_t note = epoch_note() | (archive_ != nullptr && archive_->attached() ? kArchived : 0);
  auto notes = meet(team(), Operation::restore_from, hash_bytes(std::as_bytes(std::span(same_on_all))), note, [&] {
    check();
    if (member == nullptr) {
      throw Error(FENIX_ERROR_INVALID_MEMBERID, "member_id " + std::to_string(member_id) + " is not in the group");
    }
  });
  // Until the new communicator has data of its own, the numbers are those of the one before.
  const bool archived =
      std::all_of(notes.begin(), notes.end(), [](std::uint64_t each) { return (each & kArchived) != 0; });
  const int ranks = archived ? archive_->shape().ranks : team_size_;
  for (std::uint64_t& each : notes) each &= ~kArchived;
  fault_point("restore.met");
  const Epoch epoch = archived ? archived_epoch(choice) : agree_on_epoch(choice, notes);
  const Holdings mine =
      archived ? archive_->holdings(member_id, epoch)
               : holdings(control_.own_log, team_rank_, control_.held_log, held(), member->layout, member_id, epoch);
  const auto all = team().gather(mine);
  std::optional<Fetched> fetched;
  Found found;
  (void)meet(team(), Operation::restore_ready, 0, 0, [&] {
    if (source < 0 || source >= ranks) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                  "source_rank " + std::to_string(source) + " is not in [0, " + std::to_string(ranks) + ")");
    }
    for (int rank = 0; rank < team_size_ && !fetched; ++rank) {
      for (const Holding* holding :
           {&all[static_cast<std::size_t>(rank)].own, &all[static_cast<std::size_t>(rank)].held}) {
        if (fetched || holding->stored_by != source || holding->record_offset == Holding::kNothing) continue;
        Exposure& control = archived ? archive_->control() : *control_exposure_;
        Exposure& data = archived ? archive_->member(member_id) : *member->exposure;
        fetched = fetch(control, data, rank, *holding, member_id);
        if (!fetched) log().warn("group {} member {}: the copy on rank {} is damaged", parameters_.id, member_id, rank);
      }
    }
    if (!fetched) {
      throw Error(FENIX_ERROR_NODATA_FOUND, "member_id " + std::to_string(member_id) + " of rank " +
                                                std::to_string(source) + " is not in the snapshot, or lost");
    }
    if (fetched->version.element_bytes != member->element_bytes()) {
      throw Error(FENIX_ERROR_MISMATCH, "member_id " + std::to_string(member_id) + " had elements of another size");
    }
    found = found_in(fetched->version, choice, member->info.resizeable);
    check_room(found, target);
  });
  fault_point("restore.ready");
  write_to(target, *member, fetched->data, found.elements);
  fault_point("restore.done");
  return found;
}

Epoch Group::archived_epoch(const SnapshotChoice& choice) const {
  const auto& epochs = archive_->epochs();
  if (epochs.empty()) throw Error(FENIX_ERROR_NODATA_FOUND, "the group has no consistent snapshot");
  if (choice.kind != SnapshotChoice::Kind::at) return epochs.back();
  for (const Epoch epoch : epochs) {
    if (time_stamp_of(epoch) == choice.time_stamp) return epoch;
  }
  throw Error(FENIX_ERROR_INVALID_TIMESTAMP, "no snapshot has the time_stamp " + std::to_string(choice.time_stamp));
}

}  // namespace fenix_impl

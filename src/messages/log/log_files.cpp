// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/log_files.hpp"

#include "base/error.hpp"
#include "base/fault.hpp"
#include "messages/log/log_entries.hpp"

namespace fenix_impl {
namespace {

Signature signature_of_place(const Journal& journal) { return {log_entry::kSpilled, journal.slot(), 0}; }

}  // namespace

void LogFiles::begin(const SpillOptions& options, int slot) {
  if (!spill_ && !options.folder.empty()) spill_ = std::make_unique<LogSpill>(options, slot);
}

bool LogFiles::note_place(Journal& held) {
  const auto place = std::as_bytes(std::span(&spill_->place(), 1));
  try {
    const std::uint64_t number = held.writer().latest_number() + 1;
    held.writer().append(signature_of_place(held), 1, {place.size(), place}, number);
  } catch (const Error& error) {
    if (error.code() != FENIX_ERROR_NO_MEMORY) throw;
    return false;
  }
  noted_place_ = spill_->place();
  fault_point("mlog.placed");
  return true;
}

std::optional<SpillPlace> LogFiles::take_over(const LogJournals& journals) {
  const int own_slot = journals.held.slot();
  if (noted_place_ != SpillPlace()) return std::nullopt;
  const auto told = journals.held.reader().messages_of(own_slot, signature_of_place(journals.held));
  if (told.empty()) return std::nullopt;
  SpillPlace place;
  if (!journals.held.reader().read(own_slot, told.back(), std::as_writable_bytes(std::span(&place, 1)))) {
    throw Error(FENIX_ERROR_NODATA_FOUND, "the place of the files of a predecessor is damaged");
  }
  if (!spill_->take_over(place)) return place;
  noted_place_ = place;
  // A journal that was taken back has what its owner had discarded.
  const auto files = spill_->numbers();
  const auto is_in_files = [&files](const Entry* entry) {
    const auto found = entry != nullptr ? files.find(entry->head.signature) : files.end();
    return found != files.end() && found->second.covers(entry->head.number, entry->head.number + 1);
  };
  for (Journal* const journal : {&journals.messages, &journals.held}) {
    while (is_in_files(journal->ring().find_oldest(DeterminantLog::kDepth)))
      (void)journal->ring().release_oldest(DeterminantLog::kDepth);
  }
  return std::nullopt;
}

std::vector<DeterminantLog::Older> LogFiles::determinants(const Journal& held) const {
  std::vector<DeterminantLog::Older> determinants;
  if (!spill_ || spill_->place().determinants == 0) return determinants;
  const Signature signature = DeterminantLog::signature_in(held);
  SpillReader files(spill_->options().folder, spill_->place(),
                    [&](const Signature& each) { return each == signature; });
  if (!files.look()) throw Error(FENIX_ERROR_NODATA_FOUND, "the decisions of a predecessor cannot be read");
  for (const Spilled& each : files.all()) {
    DeterminantLog::Older& one = determinants.emplace_back();
    one.number = each.entry.head.number;
    one.payload.resize(each.entry.head.bytes);
    if (!files.read(each, one.payload)) {
      throw Error(FENIX_ERROR_NODATA_FOUND, "the decisions of a predecessor are damaged");
    }
  }
  return determinants;
}

std::optional<EntryHead> LogFiles::find(const Signature& signature, std::uint64_t number) {
  if (!spill_) return std::nullopt;
  // Entries go to the files while it repeats.
  if (reader_ == nullptr || place_of_reader_ != spill_->place()) {
    place_of_reader_ = spill_->place();
    reader_ = std::make_unique<SpillReader>(spill_->options().folder, place_of_reader_,
                                            [](const Signature&) { return true; });
    (void)reader_->look();
  }
  const auto spilled = reader_->find(signature, number);
  return spilled ? std::optional(spilled->entry.head) : std::nullopt;
}

bool LogFiles::give(int reader, const TakeEntry& take) const {
  if (!spill_) return true;
  SpillReader files(spill_->options().folder, spill_->place(),
                    [reader](const Signature& each) { return each.destination == reader; });
  (void)files.look();
  std::vector<std::byte> payload;
  for (const Spilled& each : files.all()) {
    payload.resize(each.entry.head.bytes);
    if (!is_logged(each.entry.head) || !files.read(each, payload)) continue;
    if (!take(each.entry.head, payload)) return false;
  }
  return true;
}

}  // namespace fenix_impl

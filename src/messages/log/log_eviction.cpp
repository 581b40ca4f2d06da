// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/log_eviction.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "messages/log/log_entries.hpp"

namespace fenix_impl {

void LogEviction::note_place(const LogJournals& journals) {
  if (files_.are_noted() || files_.note_place(journals.held)) return;
  // A journal that was taken back may have far more than there is room for.
  while (can_spill() && journals.held.ring().find_oldest(DeterminantLog::kDepth) != nullptr) {
    if (spill(journals, journals.held) || files_.note_place(journals.held)) return;
  }
  while (discard_oldest(journals, journals.held)) {
    if (files_.note_place(journals.held)) return;
  }
  throw Error(FENIX_ERROR_NO_MEMORY, "the log of messages has no room for the place of its files");
}

// The oldest part of the log goes to the files all at once: then the ring has room for a while, and its start moves on. The place of the
// files is in the journal before the entries leave it: a replacement knows from it what has to be in the files.
bool LogEviction::spill(const LogJournals& journals, Journal& from) {
  constexpr std::size_t kPart = 4;
  if (!can_spill()) return false;
  LogSpill& files = *files_.spill();
  std::vector<LogSpill::Item> items;
  const std::vector<Entry> entries =
      from.ring().oldest_messages(DeterminantLog::kDepth, from.ring().needed_bytes() / kPart);
  items.reserve(entries.size());
  for (const Entry& each : entries) {
    items.push_back({each.head, from.writer().payload_of(each), each.head.depth == DeterminantLog::kDepth});
  }
  if (items.empty()) return false;
  const std::uint64_t determinants = files.place().determinants;
  if (!files.append(items) || (files.place().determinants != determinants && !files.sync())) {
    give_up_files(journals);
    return false;
  }
  const bool is_noted = files_.note_place(journals.held);
  // The note may have moved some of them to the end of the ring: these stay, and others must not go in their place. The rest is in its order.
  auto written = items.begin();
  std::uint64_t spilled_determinants = 0;
  for (const Entry* oldest = from.ring().find_oldest(DeterminantLog::kDepth); oldest != nullptr;
       oldest = from.ring().find_oldest(DeterminantLog::kDepth)) {
    written = std::find_if(written, items.end(), [&](const LogSpill::Item& each) {
      return each.head.signature == oldest->head.signature && each.head.number == oldest->head.number;
    });
    if (written == items.end()) break;
    if (!is_logged(oldest->head)) spilled_determinants = oldest->head.number;
    (void)from.ring().release_oldest(DeterminantLog::kDepth);
    ++written;
  }
  determinants_.note_spilled(spilled_determinants);
  return is_noted || files_.note_place(journals.held);
}

// The files have older messages than those that are about to be discarded.
void LogEviction::give_up_files(const LogJournals& journals) {
  LogSpill& files = *files_.spill();
  log().warn("the log of messages cannot go on in files: {}", files.why());
  for (const auto& [signature, numbers] : files.numbers()) {
    if (signature == DeterminantLog::signature_in(journals.held)) {
      (void)determinants_.lose(journals.held, numbers.end() - 1);
    } else {
      gaps_.note_missing(flow_of(signature), numbers.end() - 1);
    }
  }
  files.clear();
  note_place(journals);
}

// The log loses entries in the order in which they came, a part of its room at once: this is not done for each message.
bool LogEviction::discard_oldest(const LogJournals& journals, Journal& journal) {
  constexpr double kPart = 1.0 / 64;
  const double enough = journal.writer().filling() - kPart;
  const Entry* oldest = journal.ring().find_oldest(DeterminantLog::kDepth);
  if (oldest == nullptr) return false;
  for (; oldest != nullptr && journal.writer().filling() > enough;
       oldest = journal.ring().find_oldest(DeterminantLog::kDepth)) {
    const EntryHead head = oldest->head;
    // Before it goes: a replacement has to know.
    if (!is_logged(head) && determinants_.lose(journals.held, head.number)) continue;
    (void)journal.ring().release_oldest(DeterminantLog::kDepth);
    if (is_logged(head)) gaps_.note_missing(flow_of(head.signature), head.number);
  }
  return true;
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "messages/persistent/comm_file.hpp"

#include <algorithm>

namespace fenix_impl {

// Messages in the journal are newer than the file: then this process is not the first one of its job. Otherwise an earlier job has left
// the file.
void CommFile::open(Journal& journal, bool& has_earlier) {
  const auto own = journal.reader().messages_of(journal.slot());
  const bool is_known =
      std::any_of(own.begin(), own.end(), [&](const Entry& each) { return each.head.signature.comm_id == comm_id_; });
  has_entries_ = is_known;
  if (!is_known) {
    for (const FiledMessage& each : file_.read()) {
      if (each.head.signature.comm_id != comm_id_) continue;
      journal.writer().append(each.head.signature, each.head.depth, {each.payload.size(), each.payload});
      has_entries_ = has_earlier = true;
    }
  }
  replace(journal);
}

void CommFile::replace(const Journal& journal) {
  file_.replace([&](const PersistFile::Write& write) {
    auto own = journal.reader().messages_of(journal.slot());
    std::sort(own.begin(), own.end(), [](const Entry& a, const Entry& b) { return a.head.number < b.head.number; });
    for (const Entry& each : own) {
      if (each.head.signature.comm_id == comm_id_) write(each.head, journal.writer().payload_of(each));
    }
  });
  bytes_of_messages_ = file_.bytes();
}

void CommFile::append_latest(const Journal& journal) {
  // A file that is twice as long as it was when it was made new is made new again.
  constexpr std::size_t kLeast = std::size_t{1} << 20;
  const Entry& latest = journal.writer().latest();
  if (file_.bytes() > 2 * std::max(bytes_of_messages_, kLeast)) {
    replace(journal);
  } else {
    file_.append(latest.head, journal.writer().payload_of(latest));
  }
  has_entries_ = true;
}

}  // namespace fenix_impl

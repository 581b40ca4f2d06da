// SPDX-License-Identifier: BSD-3-Clause
// Persistent communicators whose messages are in files, too.
#include "messages/persistent/persistent_comms.hpp"

#include <algorithm>

#include "messages/journal/contribution.hpp"

namespace fenix_impl {

// Messages in the journal are newer than the file: then this process is not the first one of its job. Otherwise an earlier job has left
// the file.
void Persistence::open_file(Communicator& comm) {
  comm.file.emplace(comm.options.folder, comm.channel, journal_->slot());
  const auto own = journal_->messages_of(journal_->slot());
  const bool is_known = std::any_of(own.begin(), own.end(),
                                    [&](const Entry& each) { return each.head.signature.channel == comm.channel; });
  comm.has_entries = is_known;
  if (!is_known) {
    for (const FiledMessage& each : comm.file->read()) {
      if (each.head.signature.channel != comm.channel) continue;
      journal_->append(each.head.signature, each.head.depth, {each.payload.size(), each.payload});
      has_failed_ = true;
      comm.has_entries = true;
    }
  }
  replace_file(comm);
}

void Persistence::replace_file(Communicator& comm) {
  comm.file->replace([&](const PersistFile::Write& write) {
    auto own = journal_->messages_of(journal_->slot());
    std::sort(own.begin(), own.end(), [](const Entry& a, const Entry& b) { return a.head.number < b.head.number; });
    for (const Entry& each : own) {
      if (each.head.signature.channel == comm.channel) write(each.head, journal_->own_payload(each));
    }
  });
  comm.bytes_of_messages = comm.file->bytes();
}

void Persistence::file_latest(Communicator& comm) {
  // A file that is twice as long as it was when it was made new is made new again.
  constexpr std::size_t kLeast = std::size_t{1} << 20;
  const Entry& latest = journal_->latest();
  if (comm.file->bytes() > 2 * std::max(comm.bytes_of_messages, kLeast)) {
    replace_file(comm);
  } else {
    comm.file->append(latest.head, journal_->own_payload(latest));
  }
}

}  // namespace fenix_impl

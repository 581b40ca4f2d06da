// SPDX-License-Identifier: BSD-3-Clause
// The file of a persistent communicator, which follows the journal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "messages/journal/journal.hpp"
#include "messages/persistent/persist_file.hpp"

namespace fenix_impl {

/// All functions throw MpiError(MPI_ERR_IO). Local.
class CommFile {
 public:
  CommFile(const std::string& folder, std::uint64_t comm_id, int slot)
      : comm_id_(comm_id), file_(folder, comm_id, slot) {}

  /// Begins with what the journal has. Where that has nothing of this communicator, messages of an earlier job are stored in it, from the file.
  /// has_earlier: becomes true with the first of them. Throws as JournalWriter::append does.
  void open(Journal& journal, bool& has_earlier);
  /// Adds the message that was stored last.
  void append_latest(const Journal& journal);
  /// Whether it has something of this rank.
  [[nodiscard]] bool has_entries() const { return has_entries_; }

 private:
  void replace(const Journal& journal);

  std::uint64_t comm_id_;
  PersistFile file_;
  bool has_entries_ = false;
  std::size_t bytes_of_messages_ = 0;  // of the file when it was made new
};

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// The file with the messages that this rank has stored on one persistent communicator, for a job that goes on after the end of this
// one. docs/journal-format.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "messages/journal/entry.hpp"

namespace fenix_impl {

/// A message with its bytes.
struct FiledMessage {
  EntryHead head;
  std::vector<std::byte> payload;
};

class PersistFile {
 public:
  /// Nothing is opened yet. Throws MpiError(MPI_ERR_IO), as all functions here do.
  PersistFile(const std::string& folder, std::uint64_t comm_id, int slot);
  PersistFile(PersistFile&& other) noexcept;
  PersistFile& operator=(PersistFile&& other) noexcept;
  PersistFile(const PersistFile&) = delete;
  PersistFile& operator=(const PersistFile&) = delete;
  ~PersistFile();

  /// Returns the messages in the file, oldest first: those that are still kept, and whole. None if there is no file.
  [[nodiscard]] std::vector<FiledMessage> read() const;
  /// Calls write for each message that is to be in the file, and puts a new file in the place of the old one, all at once.
  using Write = std::function<void(const EntryHead& head, std::span<const std::byte> payload)>;
  void replace(const std::function<void(const Write&)>& write_all);
  /// Adds a message. It is in the file when this returns, whatever happens to this process.
  void append(const EntryHead& head, std::span<const std::byte> payload);
  /// Returns the bytes of the file.
  [[nodiscard]] std::size_t bytes() const { return end_; }

 private:
  void open_new(const std::string& path);
  void close() noexcept;

  std::string path_;
  std::uint64_t comm_id_ = 0;
  std::int32_t slot_ = 0;
  int fd_ = -1;
  std::size_t end_ = 0;
};

/// Returns the messages in the bytes of a file for a communicator and a slot. Any bytes may be given.
[[nodiscard]] std::vector<FiledMessage> messages_in(std::span<const std::byte> file, std::uint64_t comm_id,
                                                    std::int32_t slot);

}  // namespace fenix_impl

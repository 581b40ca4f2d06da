// SPDX-License-Identifier: BSD-3-Clause
// The files in which a log of messages goes on when its memory is full. One rank writes them, and any rank that sees the folder reads
// them. docs/journal-format.md describes the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/interval_set.hpp"
#include "messages/journal/spill_file.hpp"

namespace fenix_impl {

/// FENIX_MLOG_SPILL and FENIX_MLOG_SPILL_SIZE.
struct SpillOptions {
  static constexpr std::uint64_t kDefaultBytes = std::uint64_t{1} << 30;

  std::string folder;                        ///< none if empty
  std::uint64_t most_bytes = kDefaultBytes;  ///< of the files of a rank
};

/// The files of this rank. Throws Error(FENIX_ERROR_NO_MEMORY) where it says so, and nothing else.
class LogSpill {
 public:
  /// An entry that is about to leave the memory.
  struct Item {
    EntryHead head;
    std::span<const std::byte> payload;
    bool has_determinants = false;
  };
  /// The numbers of entries, by signature.
  using Numbers = std::map<Signature, IntervalSet>;

  /// Makes no file yet. slot: of the rank whose log it is.
  LogSpill(SpillOptions options, int slot);
  LogSpill(const LogSpill&) = delete;
  LogSpill& operator=(const LogSpill&) = delete;
  /// Removes the files.
  ~LogSpill();

  /// Goes on with the files of a predecessor. Returns false if they are not all there: then this rank has none of them. Removes those of
  /// which nobody knows.
  [[nodiscard]] bool take_over(const SpillPlace& place);
  /// Makes a file if there is none, so that others can find out whether they see it. Local.
  void show();
  /// Adds entries, all or none. They are in the files when this returns true, whatever happens to this process. Returns false if the folder
  /// has no room, or the files would be too large.
  [[nodiscard]] bool append(std::span<const Item> items);
  /// Has what is in the files survive the loss of the node, if the folder does. Returns false if the system says that it cannot.
  [[nodiscard]] bool sync();
  /// Removes the oldest file. Returns the numbers that were in it; nothing if there is no file.
  [[nodiscard]] std::optional<Numbers> drop_oldest();
  /// Notes that nobody needs the entries of a signature up to a number: files that have nothing else go.
  void release_until(const Signature& signature, std::uint64_t number);
  /// Removes all files.
  void clear();

  [[nodiscard]] const SpillPlace& place() const { return place_; }
  /// Returns the numbers of all entries in the files.
  [[nodiscard]] Numbers numbers() const;
  /// Returns the bytes of all files.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const SpillOptions& options() const { return options_; }
  /// Returns why the latest append or sync has returned false.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  struct File {
    std::uint64_t bytes = 0;
    Numbers numbers;
  };

  [[nodiscard]] std::uint64_t file_bytes() const;
  [[nodiscard]] bool read_files(const SpillPlace& place);
  [[nodiscard]] bool open_next();
  [[nodiscard]] bool fail(const std::string& what);
  void remove_oldest();
  void close();

  SpillOptions options_;
  SpillPlace place_;
  std::deque<File> files_;  // from place_.first on
  std::uint64_t bytes_ = 0;
  int fd_ = -1;  // of the newest file
  std::map<Signature, std::uint64_t> released_;
  std::vector<std::byte> buffer_;
  std::string why_;
};

}  // namespace fenix_impl

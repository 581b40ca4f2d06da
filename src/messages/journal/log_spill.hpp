// SPDX-License-Identifier: BSD-3-Clause
// The files in which a log of messages goes on when its memory is full. One rank writes them, and any rank that sees the folder reads
// them. docs/journal-format.md describes the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/interval_set.hpp"
#include "messages/journal/entry.hpp"

namespace fenix_impl {

/// FENIX_MLOG_SPILL and FENIX_MLOG_SPILL_SIZE.
struct SpillOptions {
  static constexpr std::uint64_t kDefaultBytes = std::uint64_t{1} << 30;

  std::string folder;                        ///< none if empty
  std::uint64_t most_bytes = kDefaultBytes;  ///< of the files of a rank
};

/// Place of the files of a rank, for other processes.
struct SpillPlace {
  std::uint64_t id = 0;     ///< of the process that has made them; 0: there are none
  std::int32_t slot = 0;    ///< of that rank
  std::uint32_t first = 0;  ///< file that is still there
  std::uint32_t last = 0;   ///< newest file
  std::uint32_t zero = 0;
  std::uint64_t end = 0;        ///< bytes of the newest file; 0: there is none yet
  std::uint64_t decisions = 0;  ///< number of the latest entry with decisions that is in them

  bool operator==(const SpillPlace&) const = default;
};

/// An entry in a file.
struct Spilled {
  std::uint32_t file = 0;
  Entry entry;
};

/// The files of this rank. Throws Error(FENIX_ERROR_NO_MEMORY) where it says so, and nothing else.
class LogSpill {
 public:
  /// An entry that is about to leave the memory.
  struct Item {
    EntryHead head;
    std::span<const std::byte> payload;
    bool has_decisions = false;
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

/// Reads the files of a rank that may be writing them.
class SpillReader {
 public:
  /// wanted: whether entries of a signature are of interest.
  SpillReader(std::string folder, const SpillPlace& place, std::function<bool(const Signature&)> wanted);

  /// Looks for entries that have come since, from the oldest file on that is there. Returns false if a file cannot be read, or has less
  /// than the place says.
  [[nodiscard]] bool look();
  /// Returns the newest entry of a signature with a number; nothing if there is none.
  [[nodiscard]] std::optional<Spilled> find(const Signature& signature, std::uint64_t number) const;
  /// Returns all entries, those of a signature by ascending numbers.
  [[nodiscard]] std::vector<Spilled> all() const;
  /// Reads the payload of an entry. Returns false if it is not there any more, or is damaged.
  [[nodiscard]] bool read(const Spilled& spilled, std::span<std::byte> to) const;

 private:
  struct At {
    std::uint32_t file = 0;
    std::uint64_t position = 0;
    std::uint64_t number = 0;
  };

  [[nodiscard]] std::optional<std::uint32_t> file_after(std::uint32_t file) const;
  [[nodiscard]] std::optional<Spilled> entry_at(const At& at, const Signature& signature) const;
  [[nodiscard]] int open_file(std::uint32_t file) const;

  std::string folder_;
  SpillPlace place_;
  std::function<bool(const Signature&)> wanted_;
  std::uint32_t next_file_;  // to be looked into
  std::uint64_t next_position_ = 0;
  std::map<Signature, std::vector<At>> found_;  // by ascending numbers
  mutable Descriptor opened_;                   // latest file that was read
  mutable std::uint32_t opened_file_ = 0;
};

/// Calls see for each whole entry of a file, in their order, from a position on; 0: from the first one on. Returns the position behind the
/// last one; nothing if the file cannot be read, or is not of this rank. Any bytes may be in it. Payloads are not read.
[[nodiscard]] std::optional<std::uint64_t> scan_spill_file(const std::string& path, const SpillPlace& of,
                                                           std::uint32_t file, std::uint64_t from,
                                                           const std::function<void(const Entry&)>& see);

/// Returns the numbers of the files that there are, ascending.
[[nodiscard]] std::vector<std::uint32_t> spill_files(const std::string& folder, const SpillPlace& of);

/// Removes them.
void remove_spill_files(const std::string& folder, const SpillPlace& of);

/// Removes those of jobs of this user and this node whose launcher is gone. Files of another node stay, and those from before this node was
/// restarted.
void remove_spill_files_of_ended_jobs(const std::string& folder);

/// Returns the path of a file.
[[nodiscard]] std::string spill_file_path(const std::string& folder, const SpillPlace& of, std::uint32_t file);

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Reads the files in which the log of a rank goes on, while that rank may be writing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "messages/journal/spill_file.hpp"

namespace fenix_impl {

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

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/spill_reader.hpp"

#include <fcntl.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/simd/hash.hpp"

namespace fenix_impl {

SpillReader::SpillReader(std::string folder, const SpillPlace& place, std::function<bool(const Signature&)> wanted)
    : folder_(std::move(folder)), place_(place), wanted_(std::move(wanted)), next_file_(place.first) {}

// A file that has a later one does not grow any more. Its writer removes files that nobody needs.
bool SpillReader::look() {
  if (place_.id == 0) return true;
  bool is_all = place_.end != 0;
  for (;;) {
    const auto later = file_after(next_file_);
    const auto end = scan_spill_file(
        spill_file_path(folder_, place_, next_file_), place_, next_file_, next_position_, [this](const Entry& each) {
          if (!wanted_(each.head.signature)) return;
          found_[each.head.signature].push_back({next_file_, each.position, each.head.number});
        });
    next_position_ = end.value_or(next_position_);
    const bool is_told = next_file_ <= place_.last;
    if (is_told && (!end || (next_file_ == place_.last && *end < place_.end))) is_all = false;
    if (!later) break;
    next_file_ = *later;
    next_position_ = 0;
  }
  for (auto& [signature, found] : found_) {
    const auto by_number = [](const At& a, const At& b) { return a.number < b.number; };
    if (!std::is_sorted(found.begin(), found.end(), by_number)) std::stable_sort(found.begin(), found.end(), by_number);
  }
  return is_all && next_file_ >= place_.last;
}

std::optional<std::uint32_t> SpillReader::file_after(std::uint32_t file) const {
  const std::vector<std::uint32_t> files = spill_files(folder_, place_);
  const auto later = std::upper_bound(files.begin(), files.end(), file);
  return later != files.end() ? std::optional(*later) : std::nullopt;
}

int SpillReader::open_file(std::uint32_t file) const {
  if (!opened_ || opened_file_ != file) {
    opened_ = Descriptor(::open(spill_file_path(folder_, place_, file).c_str(), O_RDONLY | O_CLOEXEC));
    opened_file_ = file;
  }
  return opened_.get();
}

std::optional<Spilled> SpillReader::entry_at(const At& at, const Signature& signature) const {
  const int fd = open_file(at.file);
  Spilled spilled{at.file, {{}, at.position}};
  EntryHead& head = spilled.entry.head;
  if (fd < 0 || read_spilled(fd, std::as_writable_bytes(std::span(&head, 1)), at.position) != sizeof head) return {};
  const bool is_it = head.seal == seal_of(head, at.position) && head.signature == signature && head.number == at.number;
  return is_it ? std::optional(spilled) : std::nullopt;
}

std::optional<Spilled> SpillReader::find(const Signature& signature, std::uint64_t number) const {
  const auto all = found_.find(signature);
  if (all == found_.end()) return std::nullopt;
  // A successor may have written one again that was damaged: the newest one counts.
  const auto behind = std::upper_bound(all->second.begin(), all->second.end(), number,
                                       [](std::uint64_t wanted, const At& each) { return wanted < each.number; });
  const bool is_there = behind != all->second.begin() && std::prev(behind)->number == number;
  return is_there ? entry_at(*std::prev(behind), signature) : std::nullopt;
}

std::vector<Spilled> SpillReader::all() const {
  std::vector<Spilled> all;
  for (const auto& [signature, found] : found_) {
    for (const At& each : found) {
      if (const auto entry = entry_at(each, signature)) all.push_back(*entry);
    }
  }
  return all;
}

bool SpillReader::read(const Spilled& spilled, std::span<std::byte> to) const {
  const int fd = open_file(spilled.file);
  if (fd < 0 || to.size() != spilled.entry.head.bytes) return false;
  return read_spilled(fd, to, spilled.entry.payload()) == to.size() && hash_bytes(to) == spilled.entry.head.hash;
}

}  // namespace fenix_impl

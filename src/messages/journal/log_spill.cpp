// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/log_spill.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "base/descriptor.hpp"
#include "base/fault.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint64_t kMostSpillFile = std::uint64_t{64} << 20;
constexpr std::uint64_t kLeastSpillFile = std::uint64_t{1} << 20;
constexpr std::uint64_t kSpillFiles = 8;  // of which there is room for at least so many

std::uint64_t random_spill_id() {
  std::random_device device;
  const std::uint64_t id = std::uint64_t{device()} << 32U | device();
  return id != 0 ? id : 1;
}

}  // namespace

LogSpill::LogSpill(SpillOptions options, int slot) : options_(std::move(options)) {
  place_.id = random_spill_id();
  place_.slot = slot;
}

LogSpill::~LogSpill() { clear(); }

void LogSpill::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool LogSpill::fail(const std::string& what) {
  why_ = what + ": " + std::strerror(errno);
  return false;
}

std::uint64_t LogSpill::file_bytes() const {
  return std::clamp(options_.most_bytes / kSpillFiles, kLeastSpillFile, kMostSpillFile);
}

bool LogSpill::open_next() {
  const std::uint32_t next = files_.empty() ? place_.first : place_.last + 1;
  const std::string path = spill_file_path(options_.folder, place_, next);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return fail("making " + path);
  const SpillFileHead head = spill_head_of(place_, next);
  if (!write_spilled(fd, std::as_bytes(std::span(&head, 1)), 0)) {
    const bool failed = fail("writing " + path);
    ::close(fd);
    ::unlink(path.c_str());
    return failed;
  }
  // Entries of the file before are to survive a loss of the node before later ones do.
  if (fd_ >= 0 && ::fdatasync(fd_) != 0) (void)fail("writing " + path);
  close();
  fd_ = fd;
  if (files_.empty()) place_.first = next;
  place_.last = next;
  place_.end = sizeof head;
  files_.emplace_back();
  files_.back().bytes = sizeof head;
  bytes_ += sizeof head;
  return true;
}

// All with one call of the system: then a death in the middle leaves whole entries, and one that is not whole at the end.
bool LogSpill::append(std::span<const Item> items) {
  std::size_t size = 0;
  for (const Item& each : items) size += entry_bytes(each.payload.size());
  if (size == 0) return true;
  if (bytes_ + size + sizeof(SpillFileHead) > options_.most_bytes) {
    why_ = "FENIX_MLOG_SPILL_SIZE is " + std::to_string(options_.most_bytes) + " bytes";
    return false;
  }
  const bool needs_file = fd_ < 0 || (place_.end > sizeof(SpillFileHead) && place_.end + size > file_bytes());
  if (needs_file && !open_next()) return false;
  buffer_.assign(size, std::byte{});
  std::size_t at = 0;
  for (const Item& each : items) {
    EntryHead head = each.head;
    head.seal = seal_of(head, place_.end + at);
    std::memcpy(buffer_.data() + at, &head, sizeof head);
    std::copy(each.payload.begin(), each.payload.end(),
              buffer_.begin() + static_cast<std::ptrdiff_t>(at + sizeof head));
    at += entry_bytes(each.payload.size());
  }
  if (!write_spilled(fd_, buffer_, place_.end)) {
    return fail("writing " + spill_file_path(options_.folder, place_, place_.last));
  }
  fault_point("mlog.spilled");
  File& file = files_.back();
  for (const Item& each : items) {
    IntervalSet& numbers = file.numbers[each.head.signature];
    if (each.head.number >= numbers.end()) {
      numbers.append({each.head.number, each.head.number + 1});
    } else {
      numbers = numbers | IntervalSet(each.head.number, each.head.number + 1);
    }
    if (each.has_determinants) place_.determinants = std::max(place_.determinants, each.head.number);
  }
  file.bytes += size;
  bytes_ += size;
  place_.end += size;
  return true;
}

bool LogSpill::sync() {
  if (fd_ < 0 || ::fdatasync(fd_) == 0) return true;
  return fail("writing " + spill_file_path(options_.folder, place_, place_.last));
}

bool LogSpill::take_over(const SpillPlace& place) {
  clear();
  const bool is_taken = place.end == 0 || read_files(place);
  // Its owner may have died before it could tell of a file.
  for (const std::uint32_t file : spill_files(options_.folder, place)) {
    const bool is_own = place_.id == place.id && file >= place_.first && file <= place_.last && !files_.empty();
    if (!is_own) ::unlink(spill_file_path(options_.folder, place, file).c_str());
  }
  return is_taken;
}

bool LogSpill::read_files(const SpillPlace& place) {
  std::deque<File> files;
  std::uint64_t all = 0;
  for (std::uint32_t number = place.first; number - place.first <= place.last - place.first; ++number) {
    File& file = files.emplace_back();
    const auto end =
        scan_spill_file(spill_file_path(options_.folder, place, number), place, number, 0, [&](const Entry& each) {
          IntervalSet& numbers = file.numbers[each.head.signature];
          numbers = numbers | IntervalSet(each.head.number, each.head.number + 1);
        });
    if (!end || (number == place.last && *end < place.end)) return false;
    file.bytes = *end;
    all += *end;
  }
  // The newest one may end with an entry that a death has cut short: the next entry begins a new one.
  files_ = std::move(files);
  bytes_ = all;
  place_ = place;
  place_.end = files_.back().bytes;
  // The job may go on here while nothing of it is left on the node of the predecessor.
  for (std::uint32_t number = place.first; number - place.first <= place.last - place.first; ++number) {
    const Descriptor fd(::open(spill_file_path(options_.folder, place, number).c_str(), O_WRONLY | O_CLOEXEC));
    const SpillFileHead head = spill_head_of(place, number);
    if (fd) (void)write_spilled(fd.get(), std::as_bytes(std::span(&head, 1)), 0);
  }
  return true;
}

void LogSpill::show() {
  if (files_.empty()) (void)open_next();
}

std::optional<LogSpill::Numbers> LogSpill::drop_oldest() {
  if (files_.empty()) return std::nullopt;
  Numbers numbers = std::move(files_.front().numbers);
  remove_oldest();
  return numbers;
}

void LogSpill::remove_oldest() {
  if (files_.size() == 1) close();
  ::unlink(spill_file_path(options_.folder, place_, place_.first).c_str());
  bytes_ -= files_.front().bytes;
  files_.pop_front();
  ++place_.first;
  if (!files_.empty()) return;
  place_.last = place_.first;
  place_.end = 0;
}

void LogSpill::release_until(const Signature& signature, std::uint64_t number) {
  if (files_.empty()) return;
  std::uint64_t& released = released_[signature];
  released = std::max(released, number);
  const auto is_needless = [this](const auto& each) {
    const auto found = released_.find(each.first);
    return found != released_.end() && each.second.end() <= found->second + 1;
  };
  while (!files_.empty() && std::all_of(files_.front().numbers.begin(), files_.front().numbers.end(), is_needless)) {
    remove_oldest();
  }
}

void LogSpill::clear() {
  while (!files_.empty()) remove_oldest();
  close();
  released_.clear();
  place_.determinants = 0;
}

LogSpill::Numbers LogSpill::numbers() const {
  Numbers all;
  for (const File& file : files_) {
    for (const auto& [signature, numbers] : file.numbers) {
      IntervalSet& of = all[signature];
      of = of | numbers;
    }
  }
  return all;
}

}  // namespace fenix_impl

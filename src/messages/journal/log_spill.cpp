// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/log_spill.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <random>
#include <system_error>
#include <utility>

#include "base/fault.hpp"
#include "base/hash.hpp"
#include "rma/processes.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint64_t kMostSpillFile = std::uint64_t{64} << 20;
constexpr std::uint64_t kLeastSpillFile = std::uint64_t{1} << 20;
constexpr std::uint64_t kSpillFiles = 8;  // of which there is room for at least so many

constexpr const char* kSpillName = "fenix-mlog-";

/// First bytes of a file.
struct SpillFileHead {
  std::array<char, 8> magic{'F', 'E', 'N', 'I', 'X', 'S', 'P', '1'};
  std::uint64_t id = 0;
  std::int32_t slot = 0;
  std::uint32_t file = 0;
  std::uint64_t node = 0;     // of the job whose file it is
  std::int32_t launcher = 0;  // of the job there
  std::uint32_t zero = 0;
  std::array<std::uint64_t, 3> zeros{};

  [[nodiscard]] bool is_of(const SpillPlace& place, std::uint32_t number) const {
    return magic == SpillFileHead().magic && id == place.id && slot == place.slot && file == number;
  }
};
static_assert(sizeof(SpillFileHead) == journal_format::kHeadBytes);

SpillFileHead spill_head_of(const SpillPlace& place, std::uint32_t file) {
  static const std::uint64_t node = node_id();
  static const pid_t launcher = launcher_of_this_process();
  return {SpillFileHead().magic, place.id, place.slot, file, node, launcher, 0, {}};
}

std::uint64_t random_spill_id() {
  std::random_device device;
  const std::uint64_t id = std::uint64_t{device()} << 32U | device();
  return id != 0 ? id : 1;
}

bool write_spilled(int fd, std::span<const std::byte> bytes, std::uint64_t position) {
  // To write beyond the limit of the process would raise SIGXFSZ.
  rlimit limit{};
  const bool is_limited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (is_limited && position + bytes.size() > limit.rlim_cur) {
    errno = EFBIG;
    return false;
  }
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    position += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// Reads as much as there is. Returns nothing if the system refuses.
std::optional<std::size_t> read_spilled(int fd, std::span<std::byte> to, std::uint64_t position) {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t read = ::pread(fd, to.data() + done, to.size() - done, static_cast<off_t>(position + done));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return std::nullopt;
    if (read == 0) break;
    done += static_cast<std::size_t>(read);
  }
  return done;
}

/// Reads heads, which lie close together where messages are small: many at once.
class SpillHeads {
 public:
  explicit SpillHeads(int fd) : fd_(fd) {}

  /// Returns false if there is none.
  bool read(std::uint64_t position, EntryHead& head) {
    if (position < begin_ || position + sizeof head > begin_ + window_.size()) {
      window_.resize(kWindow);
      begin_ = position;
      window_.resize(read_spilled(fd_, window_, position).value_or(0));
      if (window_.size() < sizeof head) return false;
    }
    std::memcpy(&head, window_.data() + (position - begin_), sizeof head);
    return true;
  }

 private:
  static constexpr std::size_t kWindow = std::size_t{64} << 10;

  int fd_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> window_;
};

}  // namespace

std::string spill_file_path(const std::string& folder, const SpillPlace& of, std::uint32_t file) {
  std::array<char, 96> name{};
  std::snprintf(name.data(), name.size(), "/%s%016llx.%d.%u", kSpillName, static_cast<unsigned long long>(of.id),
                static_cast<int>(of.slot), file);
  return folder + name.data();
}

std::vector<std::uint32_t> spill_files(const std::string& folder, const SpillPlace& of) {
  const std::string path = spill_file_path(folder, of, 0);
  const std::string prefix = path.substr(folder.size() + 1, path.size() - folder.size() - 2);
  std::vector<std::uint32_t> files;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = each.path().filename();
    std::uint32_t number = 0;
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const auto read = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    if (read.ec == std::errc() && read.ptr == name.data() + name.size()) files.push_back(number);
  }
  std::sort(files.begin(), files.end());
  return files;
}

void remove_spill_files(const std::string& folder, const SpillPlace& of) {
  for (const std::uint32_t file : spill_files(folder, of)) ::unlink(spill_file_path(folder, of, file).c_str());
}

std::optional<std::uint64_t> scan_spill_file(const std::string& path, const SpillPlace& of, std::uint32_t file,
                                             std::uint64_t from, const std::function<void(const Entry&)>& see) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  SpillFileHead head;
  const auto read = read_spilled(fd.get(), std::as_writable_bytes(std::span(&head, 1)), 0);
  if (read != sizeof head || !head.is_of(of, file)) return std::nullopt;
  std::uint64_t position = std::max<std::uint64_t>(from, sizeof head);
  SpillHeads heads(fd.get());
  EntryHead entry;
  while (position <= bytes && bytes - position >= journal_format::kHeadBytes && heads.read(position, entry)) {
    const std::uint64_t room = bytes - position - journal_format::kHeadBytes;
    const bool is_whole = entry.seal == seal_of(entry, position) && entry.kind == EntryKind::message &&
                          entry.version == journal_format::kVersion && entry.bytes <= room &&
                          entry_bytes(entry.bytes) <= room + journal_format::kHeadBytes;
    if (!is_whole) break;
    see({entry, position});
    position += entry_bytes(entry.bytes);
  }
  return position;
}

void remove_spill_files_of_ended_jobs(const std::string& folder) {
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(folder, error)) {
    if (each.path().filename().string().rfind(kSpillName, 0) != 0) continue;
    const Descriptor fd(::open(each.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) continue;
    SpillFileHead head;
    const auto read = read_spilled(fd.get(), std::as_writable_bytes(std::span(&head, 1)), 0);
    if (read != sizeof head || head.magic != SpillFileHead().magic || head.node != node_id()) continue;
    if (head.launcher > 0 && ::kill(head.launcher, 0) != 0 && errno == ESRCH) ::unlink(each.path().c_str());
  }
}

// -------------------------------------------------------------------------------------------------------------------- writing

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
    if (each.has_decisions) place_.decisions = std::max(place_.decisions, each.head.number);
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
  place_.decisions = 0;
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

// -------------------------------------------------------------------------------------------------------------------- reading

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

// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/region_logs.hpp"

#include <fenix/codes.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "recovery/interposer.hpp"

namespace fenix_impl {
namespace {

std::string named(int id) { return "mlog_id " + std::to_string(id); }

}  // namespace

RegionLogs::Log& RegionLogs::at(int id) { return const_cast<Log&>(static_cast<const RegionLogs&>(*this).at(id)); }

const RegionLogs::Log& RegionLogs::at(int id) const {
  const auto found = logs_.find(id);
  if (found == logs_.end()) throw Error(FENIX_ERROR_INVALID_MLOGID, named(id) + " does not exist");
  return found->second;
}

bool RegionLogs::has(int id) const { return logs_.count(id) != 0; }

void RegionLogs::create(int id, MPI_Comm name, std::uint64_t channel, int depth, const PersistOptions& options) {
  const auto found = logs_.find(id);
  if (found != logs_.end() && !found->second.is_past)
    throw Error(FENIX_ERROR_MLOG_EXISTS, named(id) + " exists already");
  persistence_.log_messages(options);
  if (found != logs_.end() && found->second.channel == channel) {
    found->second.name = name;
    found->second.depth = depth;
    found->second.is_past = false;
    return;
  }
  logs_[id] = {name, channel, depth, false, kNoRegion, {}};
}

void RegionLogs::remove(int id) {
  const Log& log = at(id);
  if (active_ == id) activate(FENIX_MLOG_NONE);
  persistence_.release_messages(persistence_.message_numbers(log.channel));
  persistence_.set_message_numbers(log.channel, {});
  logs_.erase(id);
}

void RegionLogs::activate(int id) {
  const bool is_none = id == FENIX_MLOG_NONE;
  const Log* const log = is_none ? nullptr : &at(id);
  active_ = id;
  if (!is_none && std::exchange(has_left_calls_, false)) interposer()->forget_calls();
  interposer()->set_log(is_none ? MPI_COMM_NULL : log->name, is_none ? 0 : log->channel);
}

// A successor that comes to the region again finds the mark of its predecessor.
void RegionLogs::begin_region(int id, int region) {
  Log& log = at(id);
  Mark mark{region, persistence_.message_numbers(log.channel)};
  if (region < 0) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "region_id " + std::to_string(region) + " is negative");
  if (region < log.region || (region == log.region && log.marks.back().numbers != mark.numbers)) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                "region_id " + std::to_string(region) + " does not come after region " + std::to_string(log.region));
  }
  if (region == log.region) return;
  fault_point("mlog.region");
  persistence_.store_mark(log.channel, static_cast<std::uint32_t>(log.depth) + 2, bytes_of(mark));
  log.region = region;
  log.marks.push_back(std::move(mark));
  while (log.marks.size() > static_cast<std::size_t>(log.depth) + 1) log.marks.pop_front();
  persistence_.release_messages(log.marks.front().numbers);
}

void RegionLogs::sync(int id, int region) {
  Log& log = at(id);
  if (region == FENIX_MLOG_CONTINUE) return;
  if (region < 0) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "region_id " + std::to_string(region) + " is negative");
  // Regions that this rank has begun, or its predecessor. The newest mark of a region counts.
  std::deque<Mark> marks;
  for (const auto& bytes : persistence_.marks(log.channel)) {
    Mark mark = mark_of(bytes);
    while (!marks.empty() && marks.back().region >= mark.region) marks.pop_back();
    marks.push_back(std::move(mark));
  }
  const auto found = std::find_if(marks.begin(), marks.end(), [&](const Mark& mark) { return mark.region == region; });
  if (found == marks.end()) {
    // It has not begun yet: the rank is at its begin, with the state that was restored.
    if (marks.empty() || region > marks.back().region) return;
    throw Error(FENIX_ERROR_NODATA_FOUND, "region_id " + std::to_string(region) + " of " + named(id) +
                                              " is not kept any more: the depth of the log is " +
                                              std::to_string(log.depth));
  }
  persistence_.set_message_numbers(log.channel, found->numbers);
  log.region = region;
  marks.erase(std::next(found), marks.end());
  log.marks = std::move(marks);
  fault_point("mlog.synced");
}

std::vector<std::byte> RegionLogs::bytes_of(const Mark& mark) {
  const auto numbers = std::as_bytes(std::span<const Number>(mark.numbers));
  std::vector<std::byte> bytes(sizeof mark.region + numbers.size());
  std::memcpy(bytes.data(), &mark.region, sizeof mark.region);
  std::copy(numbers.begin(), numbers.end(), bytes.begin() + sizeof mark.region);
  return bytes;
}

RegionLogs::Mark RegionLogs::mark_of(std::span<const std::byte> bytes) {
  Mark mark;
  if (bytes.size() < sizeof mark.region || (bytes.size() - sizeof mark.region) % sizeof(Number) != 0) {
    throw Error(FENIX_ERROR_NODATA_FOUND, "the state of a message log has another size");
  }
  std::memcpy(&mark.region, bytes.data(), sizeof mark.region);
  const auto numbers = bytes.subspan(sizeof mark.region);
  mark.numbers.resize(numbers.size() / sizeof(Number));
  std::memcpy(mark.numbers.data(), numbers.data(), numbers.size());
  return mark;
}

std::vector<std::byte> RegionLogs::state(int id) const {
  const Log& log = at(id);
  return bytes_of({log.region, persistence_.message_numbers(log.channel)});
}

void RegionLogs::restore(int id, std::span<const std::byte> state) {
  Log& log = at(id);
  Mark mark = mark_of(state);
  persistence_.set_message_numbers(log.channel, mark.numbers);
  log.region = mark.region;
  log.marks.clear();
  if (mark.region != kNoRegion) log.marks.push_back(std::move(mark));
}

void RegionLogs::note_repair(bool starts_over) {
  if (!starts_over) return;
  for (auto& [id, log] : logs_) log.is_past = true;
  if (active_ == FENIX_MLOG_NONE) return;
  activate(FENIX_MLOG_NONE);
  // Not now: calls that are under way come to their ends by themselves.
  has_left_calls_ = true;
}

void RegionLogs::clear() {
  if (active_ != FENIX_MLOG_NONE) activate(FENIX_MLOG_NONE);
  logs_.clear();
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/region_logs.hpp"

#include <fenix/codes.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "interposition/interposer.hpp"

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

void RegionLogs::create(int id, MPI_Comm name, std::uint64_t comm_id, int depth, const LogOptions& options) {
  require_none(id);
  persistence_.logged().log_messages(options);
  note(id, name, comm_id, depth);
}

void RegionLogs::create_after_repair(int id, MPI_Comm name, std::uint64_t comm_id, int depth,
                                     const LogOptions& options) {
  require_none(id);
  persistence_.logged().log_messages_after_repair(options);
  note(id, name, comm_id, depth);
}

void RegionLogs::require_none(int id) const {
  const auto found = logs_.find(id);
  if (found != logs_.end() && !found->second.is_stale)
    throw Error(FENIX_ERROR_MLOG_EXISTS, named(id) + " exists already");
}

void RegionLogs::note(int id, MPI_Comm name, std::uint64_t comm_id, int depth) {
  const auto found = logs_.find(id);
  falls_back_ = false;
  if (found != logs_.end() && found->second.comm_id == comm_id) {
    found->second.name = name;
    found->second.depth = depth;
    found->second.is_stale = false;
    return;
  }
  Log& log = logs_[id] = {};
  log.name = name;
  log.comm_id = comm_id;
  log.depth = depth;
}

void RegionLogs::remove(int id) {
  const Log& log = at(id);
  if (active_ == id) activate(FENIX_MLOG_NONE);
  persistence_.checkpoints().release(persistence_.checkpoints().numbers(log.comm_id), /*only_received=*/false);
  persistence_.checkpoints().set_numbers(log.comm_id, {});
  logs_.erase(id);
}

void RegionLogs::activate(int id) {
  const bool is_none = id == FENIX_MLOG_NONE;
  const Log* const log = is_none ? nullptr : &at(id);
  active_ = id;
  if (!is_none && std::exchange(has_left_calls_, false)) interposer()->forget_calls();
  interposer()->set_log(is_none ? MPI_COMM_NULL : log->name, is_none ? 0 : log->comm_id);
}

// A successor that comes to the region again finds the mark of its predecessor.
void RegionLogs::begin_region(int id, int region) {
  Log& log = at(id);
  Mark mark{region, persistence_.checkpoints().numbers(log.comm_id)};
  if (region < 0) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "region_id " + std::to_string(region) + " is negative");
  if (region < log.region || (region == log.region && log.marks.back().numbers != mark.numbers)) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                "region_id " + std::to_string(region) + " does not come after region " + std::to_string(log.region));
  }
  if (region == log.region) return;
  fault_point("mlog.region");
  persistence_.checkpoints().store_mark(log.comm_id, static_cast<std::uint32_t>(log.depth) + 2, bytes_of(mark));
  log.region = region;
  log.marks.push_back(std::move(mark));
  while (log.marks.size() > static_cast<std::size_t>(log.depth) + 1) log.marks.pop_front();
  persistence_.checkpoints().release(log.marks.front().numbers,
                                     log.is_stored && persistence_.journals().have_messages_alone());
}

void RegionLogs::sync(int id, int region) {
  Log& log = at(id);
  if (region == FENIX_MLOG_CONTINUE) return;
  if (region < 0) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "region_id " + std::to_string(region) + " is negative");
  falls_back_ = false;
  // Regions that this rank has begun, or its predecessor. The newest mark of a region counts.
  std::deque<Mark> marks;
  for (const auto& bytes : persistence_.checkpoints().marks(log.comm_id)) {
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
  if (!log.is_stored && persistence_.journals().have_messages_alone() && persistence_.comms().has_failed()) {
    throw Error(FENIX_ERROR_NODATA_FOUND,
                "the state of " + named(id) +
                    " was not restored: messages of this rank's predecessor are lost that had "
                    "not been received; FENIX_MLOG_COPIES would have kept them");
  }
  persistence_.checkpoints().set_numbers(log.comm_id, found->numbers);
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

// Words: bytes of the mark; the mark; for each late message its number, its bytes, and they.
std::vector<std::byte> RegionLogs::store_state(int id) {
  Log& log = at(id);
  std::vector<std::byte> state;
  const auto add = [&state](std::span<const std::byte> bytes) {
    state.insert(state.end(), bytes.begin(), bytes.end());
  };
  const auto add_value = [&add](const auto& value) { add(std::as_bytes(std::span(&value, 1))); };
  const std::vector<std::byte> mark = bytes_of({log.region, persistence_.checkpoints().numbers(log.comm_id)});
  add_value(std::uint64_t{mark.size()});
  add(mark);
  for (const SenderLog::Late& each : persistence_.checkpoints().late_messages(log.comm_id)) {
    add_value(Number{each.flow, 1, each.number});
    add_value(std::uint64_t{each.content.size()});
    add(each.content);
  }
  log.is_stored = true;
  return state;
}

void RegionLogs::restore(int id, std::span<const std::byte> state) {
  Log& log = at(id);
  const auto take = [&state](std::uint64_t bytes) {
    if (bytes > state.size()) {
      throw Error(FENIX_ERROR_NODATA_FOUND, "the state of a message log has another size");
    }
    const auto taken = state.first(bytes);
    state = state.subspan(bytes);
    return taken;
  };
  const auto take_value = [&take](auto& value) { std::memcpy(&value, take(sizeof value).data(), sizeof value); };
  std::uint64_t bytes = 0;
  take_value(bytes);
  Mark mark = mark_of(take(bytes));
  std::vector<SenderLog::Late> late;
  while (!state.empty()) {
    Number number;
    take_value(number);
    take_value(bytes);
    const auto content = take(bytes);
    late.push_back({number.flow, number.number, {content.begin(), content.end()}});
  }
  persistence_.checkpoints().set_numbers(log.comm_id, mark.numbers);
  log.region = mark.region;
  log.is_stored = true;
  falls_back_ = false;
  log.marks.clear();
  if (mark.region != kNoRegion) log.marks.push_back(std::move(mark));
  for (const SenderLog::Late& each : late) {
    const auto rank = persistence_.logged().log_late(log.name, present(log.name), each);
    if (rank) interposer()->send_later(log.name, *rank, each.flow.tag, each.content.data(), each.content.size());
  }
  fault_point("mlog.restored");
}

int RegionLogs::answer(DeterminantKind question, const std::function<int()>& ask) {
  if (answer_) return *answer_;
  const auto before = persistence_.logged().with_determinants(
      [&](DeterminantLog& determinants) { return determinants.next(question, /*may_be_negative=*/false); });
  if (before) return answer_.emplace(before->at(0));
  const int answer = ask();
  persistence_.logged().with_determinants(
      [&](DeterminantLog& determinants) { determinants.note(question, std::span<const int>(&answer, 1)); });
  return answer_.emplace(answer);
}

void RegionLogs::fall_back() {
  if (!in_use()) return;
  falls_back_ = true;
  leave_calls();
}

void RegionLogs::note_repair(bool starts_over) {
  if (!starts_over) return;
  // The program asks anew.
  answer_.reset();
  for (auto& [id, log] : logs_) log.is_stale = true;
  leave_calls();
}

void RegionLogs::leave_calls() {
  if (active_ == FENIX_MLOG_NONE) return;
  activate(FENIX_MLOG_NONE);
  // Not now: calls that are under way come to their ends by themselves.
  has_left_calls_ = true;
}

void RegionLogs::clear() {
  if (active_ != FENIX_MLOG_NONE) activate(FENIX_MLOG_NONE);
  logs_.clear();
  answer_.reset();
  falls_back_ = false;
}

}  // namespace fenix_impl

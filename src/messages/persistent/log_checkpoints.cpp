// SPDX-License-Identifier: BSD-3-Clause
#include "messages/persistent/log_checkpoints.hpp"

#include "base/error.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint64_t kMarks = 0x6D61726B73U;  // in the identifiers of marks

}  // namespace

std::vector<FlowNumber> LogCheckpoints::numbers(std::uint64_t comm_id) {
  const auto turn = turns_.take();
  journals_.require();
  return log_.numbers().numbers_of(journals_.of_log(), comm_id);
}

void LogCheckpoints::set_numbers(std::uint64_t comm_id, std::span<const FlowNumber> numbers) {
  const auto turn = turns_.take();
  log_.numbers().set_numbers_of(comm_id, numbers);
}

void LogCheckpoints::release(std::span<const FlowNumber> numbers, bool only_received) {
  const auto turn = turns_.take();
  journals_.require();
  log_.collector().release_until(journals_.of_log(), numbers, only_received);
}

void LogCheckpoints::meet() {
  const auto turn = turns_.take();
  journals_.require();
  log_.meet_at_checkpoint(journals_.team(), journals_.of_log());
}

void LogCheckpoints::note(bool is_on_all) {
  const auto turn = turns_.take();
  log_.gaps().note_checkpoint(is_on_all);
}

bool LogCheckpoints::log_is_filling() {
  constexpr double kHalf = 0.5;
  const auto turn = turns_.take();
  journals_.require();
  return log_.eviction().has_lost_some() || journals_.of_log().messages.writer().filling() > kHalf;
}

std::vector<SenderLog::Late> LogCheckpoints::late_messages(std::uint64_t comm_id) {
  const auto turn = turns_.take();
  journals_.require();
  return log_.sender().late_messages(journals_.of_log(), comm_id);
}

void LogCheckpoints::store_mark(std::uint64_t comm_id, std::uint32_t kept, std::span<const std::byte> mark) {
  const auto turn = turns_.take();
  journals_.require();
  log_.writer().write_determinants(journals_.of_log());
  log_.writer().append(journals_.of_log(), {comm_id ^ kMarks, journals_.held().slot(), 0}, kept, {mark.size(), mark});
}

std::vector<std::vector<std::byte>> LogCheckpoints::marks(std::uint64_t comm_id) {
  const auto turn = turns_.take();
  journals_.require();
  const Journal& journal = journals_.held();
  std::vector<std::vector<std::byte>> marks;
  for (const Entry& each : journal.reader().messages_of(journal.slot(), {comm_id ^ kMarks, journal.slot(), 0})) {
    std::vector<std::byte>& mark = marks.emplace_back(each.head.bytes);
    if (!journal.reader().read(journal.slot(), each, mark)) {
      throw Error(FENIX_ERROR_NODATA_FOUND, "the numbers of messages at the begin of a region are damaged");
    }
  }
  return marks;
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "messages/persistent/persistence.hpp"

#include <cstdint>

#include "core/common/meeting.hpp"

namespace fenix_impl {

void Persistence::detach(bool starts_over) {
  journals_.detach();
  logged_.forget_flows();
  close_fast_path();
  note_start_over(starts_over);
}

void Persistence::note_start_over(bool starts_over) {
  starts_over_ = starts_over;
  if (starts_over) comms_.note_stale();
}

void Persistence::reattach(bool falls_back, const std::function<void(const char* why)>& fall_back) {
  TeamFactory::NewTeam made = teams_.make(process_.comms().resilient());
  together(*made.team, [&] {
    journals_.reattach(made, comms_.has_failed());
    logged_.begin_files();
    Journal& held = journals_.held();
    // The outcomes on which messages depend are lost with a rank, or had no room.
    const bool is_mine_lost = held.recovery().has_lost_messages() && held.recovery().is_needed();
    const bool had_no_room = log_.lacks_determinants_of_predecessor(journals_.of_log());
    const auto losses = made.team->reduce(std::uint64_t{is_mine_lost ? 1U : 0U} | (had_no_room ? 2U : 0U),
                                          [](std::uint64_t& into, std::uint64_t from) { into |= from; });
    if (!falls_back && losses != 0) {
      falls_back = true;
      fall_back((losses & 1U) != 0 ? "what it had decided is lost: no rank is left that has it"
                                   : "its log lacks what it had decided, as there was no room");
    }
    if (falls_back) log_.discard_all(journals_.of_log());
    if (!made.team->all_of(log_.reattach(*made.team, journals_.of_log(), starts_over_ || falls_back)) && !falls_back) {
      fall_back("files of FENIX_MLOG_SPILL that are needed cannot be read by all ranks");
      log_.discard_all(journals_.of_log());
      (void)log_.reattach(*made.team, journals_.of_log(), /*goes_back=*/true);
    }
    held.recovery().forget_loss();
  });
}

void Persistence::clear() {
  comms_.clear();
  logged_.clear();
  log_.clear();
  journals_.clear();
}

bool Persistence::stays(const StoredMessage& message) {
  const auto turn = turns_.take();
  journals_.require();
  int level = MPI_THREAD_MULTIPLE;
  MPI_Query_thread(&level);
  return message.source_slot == journals_.held().slot() && level != MPI_THREAD_MULTIPLE;
}

bool Persistence::read(const StoredMessage& message, std::span<std::byte> to) {
  const auto turn = turns_.take();
  journals_.require();
  return message.read(message.source_slot, to);
}

}  // namespace fenix_impl

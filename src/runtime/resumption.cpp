// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/resumption.hpp"

#include <cassert>
#include <cstddef>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "recovery/process/vain_turns.hpp"

namespace fenix_impl {
namespace {

// The first question of a repair; those of the participants follow.
constexpr int kOwesRecoveredRole = 1;

constexpr int shift_of(std::size_t participant) {
  return 1 + static_cast<int>(participant) * RepairParticipant::kMostQuestions;
}

constexpr int said_to(std::size_t participant, int some_said_yes) {
  return some_said_yes >> shift_of(participant) & ((1 << RepairParticipant::kMostQuestions) - 1);
}

}  // namespace

Resumption::Resumption(Process& process, const FailureDetector& detector, std::vector<RepairParticipant*> participants)
    : process_(process), detector_(detector), participants_(std::move(participants)) {
  assert(shift_of(participants_.size()) <= Repair::kMostQuestions);
}

void Resumption::begin() {
  process_.repair().ask([this] { return answers(); });
}

int Resumption::answers() const {
  int all = owes_recovered_role_ ? kOwesRecoveredRole : 0;
  for (std::size_t i = 0; i < participants_.size(); ++i) all |= participants_[i]->answers() << shift_of(i);
  return all;
}

void Resumption::run() {
  detach_all();
  owes_recovered_role_ = process_.members().role() == FENIX_ROLE_RECOVERED_RANK;
  for (VainTurns turns; !try_once();) {
    process_.repair().run();
    if (process_.members().failed().empty()) {
      turns.note_turn(process_.comms().resilient());
    } else {
      turns.note_failure();
    }
    detach_all();
    owes_recovered_role_ = owes_recovered_role_ || process_.members().role() == FENIX_ROLE_RECOVERED_RANK;
  }
  owes_recovered_role_ = false;
}

void Resumption::detach_all() {
  const int some_said_yes = process_.repair().some_said_yes();
  for (std::size_t i = 0; i < participants_.size(); ++i) participants_[i]->detach(said_to(i, some_said_yes));
}

bool Resumption::try_once() {
  const int some_said_yes = process_.repair().some_said_yes();
  if (some_said_yes == 0) return true;
  try {
    process_.run_with_active(
        [this](Team& team) { process_.members().restore_recovered_roles(team, owes_recovered_role_); });
    for (std::size_t i = 0; i < participants_.size(); ++i) participants_[i]->reattach(said_to(i, some_said_yes));
    return true;
  } catch (const PeerFailure&) {
    return false;
  } catch (const MpiError& error) {
    if (detector_.comes_from_failure(error.mpi_error())) return false;
    log().warn("after the repair: {}", error.what());
  } catch (const std::exception& error) {
    log().warn("after the repair: {}", error.what());
  }
  put_off();
  return true;
}

void Resumption::put_off() {
  for (RepairParticipant* const each : participants_) each->put_off();
}

}  // namespace fenix_impl

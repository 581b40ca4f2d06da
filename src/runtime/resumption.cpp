// SPDX-License-Identifier: BSD-3-Clause
// After a repair: what the library has is taken up again, on the communicator that was made.
#include "runtime/runtime.hpp"

#include <cstring>

#include "base/deadline.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "interposition/interposer.hpp"
#include "interposition/job_end.hpp"
#include "recovery/process/comm_functions.hpp"
#include "recovery/process/surroundings.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {
namespace {

std::string text_of_dead(const std::vector<int>& ranks) {
  if (ranks.empty()) return "a rank has died";
  const std::string first = "rank " + std::to_string(ranks.front());
  return ranks.size() == 1 ? first + " has died"
                           : first + " and " + std::to_string(ranks.size() - 1) + " more have died";
}

}  // namespace

int Runtime::answers_in_repairs() const {
  return (groups_.uses_world() ? Process::kUsesWorld : 0) |
         (groups_.has_pending_commits() ? Process::kHasPendingCommits : 0) |
         (owes_recovered_role_ ? Process::kOwesRecoveredRole : 0) |
         (persistence_.journals().in_use() ? Process::kUsesPersistence : 0) |
         (persistence_.lacks_messages() || region_logs_.falls_back() ? Process::kLacksMessages : 0);
}

// Does what has to be done before control resumes. Programs that need nothing of it pay nothing.
void Runtime::go_on_after_repair() {
  detach_all();
  owes_recovered_role_ = process_->role() == FENIX_ROLE_RECOVERED_RANK;
  for (VainTurns turns; !try_to_go_on();) {
    process_->repair();
    if (process_->failed().empty()) {
      turns.note_turn(process_->resilient());
    } else {
      turns.note_death();
    }
    detach_all();
    owes_recovered_role_ = owes_recovered_role_ || process_->role() == FENIX_ROLE_RECOVERED_RANK;
  }
  owes_recovered_role_ = false;
}

void Runtime::detach_all() {
  groups_.detach_all();
  const bool falls_back = (process_->some_said_yes() & Process::kLacksMessages) != 0;
  if (falls_back) {
    end_job_that_cannot_go_back("logs lack messages that are needed, as there was no room");
    log().log(warning_of_all(rank_in(process_->resilient())),
              "a log of messages lacks some that are needed: all ranks have to go back");
    region_logs_.fall_back();
  }
  // A program that knows nothing of Fenix does not know either that it has fewer ranks now.
  if (process_->shrunk()) end_job_without_spares();
  const bool starts_over = survivors_start_over();
  persistence_.detach(starts_over);
  region_logs_.note_repair(starts_over);
  checkpoints_.clear();
  if (process_->role() == FENIX_ROLE_RECOVERED_RANK) persistence_.comms().note_replacement();
}

// Returns false if a rank has died.
bool Runtime::try_to_go_on() {
  if (process_->some_said_yes() == 0) return true;
  try {
    process_->restore_recovered_roles(owes_recovered_role_);
    if ((process_->some_said_yes() & Process::kHasPendingCommits) != 0) {
      process_->run_with_active([this](Team& team) { groups_.settle_commits(team); });
    }
    if ((process_->some_said_yes() & Process::kUsesWorld) != 0) take_up_world();
    if ((process_->some_said_yes() & Process::kUsesPersistence) != 0) take_up_persistence();
    return true;
  } catch (const PeerFailure&) {
    return false;
  } catch (const MpiError& error) {
    if (comes_from_failure(error.mpi_error())) return false;
    log().warn("after the repair: {}", error.what());
  } catch (const std::exception& error) {
    log().warn("after the repair: {}", error.what());
  }
  // The group is settled when it is taken up.
  groups_.keep_buffers();
  return true;
}

// Local functions find the group of all ranks on replacements, too, when control resumes. After an error that is no failure, the first
// collective call tries again.
void Runtime::take_up_world() {
  try {
    groups_.form_world();
    fault_point("world.formed");
  } catch (const MpiError&) {
    throw;
  } catch (const PeerFailure&) {
    throw;
  } catch (const std::exception& error) {
    log().warn("FENIX_DATA_GROUP_WORLD_ID could not be taken up: {}", error.what());
  }
}

// After an error that is no failure, messages on persistent communicators are refused.
void Runtime::take_up_persistence() {
  try {
    const bool falls_back = (process_->some_said_yes() & Process::kLacksMessages) != 0;
    persistence_.take_up(falls_back, [this](const char* why) {
      end_job_that_cannot_go_back(why);
      log().log(warning_of_all(rank_in(process_->resilient())), "a rank has died, and {}: all ranks have to go back",
                why);
      region_logs_.fall_back();
      const bool starts_over = survivors_start_over();
      persistence_.note_start_over(starts_over);
      region_logs_.note_repair(starts_over);
    });
    fault_point("persist.taken_up");
  } catch (const MpiError&) {
    throw;
  } catch (const std::exception& error) {
    if (dynamic_cast<const PeerFailure*>(&error) != nullptr) throw;
    log().warn("what was stored on persistent communicators could not be taken up: {}", error.what());
  }
}

void Runtime::end_job_that_cannot_go_back(const char* why) const {
  if (interposer() == nullptr || !interposer()->must_go_on()) return;
  const int rank = rank_in(process_->resilient());
  abort_job(JobEnd::begins_again, rank,
            text_of_dead(process_->failed()) + ", and " + why + ": the job has to begin again", /*waits=*/rank != 0);
}

void Runtime::end_job_without_spares() const {
  end_job_that_cannot_go_back("no spare process is left to take its place");
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/participants.hpp"

#include <exception>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "recovery/process/comm_functions.hpp"
#include "runtime/job_ending.hpp"

namespace fenix_impl {
namespace {

enum QuestionOfGroups : int { kUsesWorld = 1, kHasPendingCommits = 2 };

enum QuestionOfLogs : int { kUsesPersistence = 1, kLacksMessages = 2 };

}  // namespace

// --------------------------------------------------------------------------------------------------------------------- groups

int GroupsInRepair::answers() const {
  return (groups_.uses_world() ? kUsesWorld : 0) | (groups_.has_pending_commits() ? kHasPendingCommits : 0);
}

void GroupsInRepair::detach(int /*said_yes*/) { groups_.detach_all(); }

void GroupsInRepair::reattach(int said_yes) {
  if ((said_yes & kHasPendingCommits) != 0) {
    process_.run_with_active([this](Team& team) { groups_.settle_commits(team); });
  }
  if ((said_yes & kUsesWorld) != 0) reattach_world();
}

// Local functions find the group of all ranks on replacements, too, when control resumes. After an error that is no failure, the first
// collective call tries again.
void GroupsInRepair::reattach_world() {
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

// A group is settled when it is taken up.
void GroupsInRepair::put_off() { groups_.keep_buffers(); }

// ----------------------------------------------------------------------------------------------------------------------- logs

int LogsInRepair::answers() const {
  return (persistence_.journals().in_use() ? kUsesPersistence : 0) |
         (persistence_.lacks_messages() || region_logs_.falls_back() ? kLacksMessages : 0);
}

void LogsInRepair::detach(int said_yes) {
  if ((said_yes & kLacksMessages) != 0) {
    end_job_that_cannot_go_back(process_, "logs lack messages that are needed, as there was no room");
    log().log(warning_of_all(rank_in(process_.comms().resilient())),
              "a log of messages lacks some that are needed: all ranks have to go back");
    region_logs_.fall_back();
  }
  // A program that knows nothing of Fenix does not know either that it has fewer ranks now.
  if (process_.members().shrunk()) end_job_without_spares(process_);
  const bool starts_over = policy_.survivors_start_over();
  persistence_.detach(starts_over);
  region_logs_.note_repair(starts_over);
  if (process_.members().role() == FENIX_ROLE_RECOVERED_RANK) persistence_.comms().note_replacement();
}

// After an error that is no failure, messages on persistent communicators are refused.
void LogsInRepair::reattach(int said_yes) {
  if ((said_yes & kUsesPersistence) == 0) return;
  try {
    persistence_.reattach((said_yes & kLacksMessages) != 0, [this](const char* why) {
      end_job_that_cannot_go_back(process_, why);
      log().log(warning_of_all(rank_in(process_.comms().resilient())),
                "a rank has died, and {}: all ranks have to go back", why);
      region_logs_.fall_back();
      const bool starts_over = policy_.survivors_start_over();
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

// ---------------------------------------------------------------------------------------------------------------- checkpoints

void CheckpointsInRepair::detach(int /*said_yes*/) { checkpoints_.clear(); }

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/spawn/spawning.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/last_resort.hpp"
#include "base/log.hpp"
#include "recovery/process/comm_functions.hpp"
#include "recovery/process/spawn/companions.hpp"
#include "recovery/process/spawn/crossing_comms.hpp"
#include "recovery/process/spawn/mail.hpp"
#include "rma/mpi_errors.hpp"
#include "rma/mpi_team.hpp"
#include "rma/quiet_comm.hpp"

namespace fenix_impl {
namespace {

constexpr int kHelloTag = 11;
constexpr int kInvitationTag = 12;
constexpr int kContactTag = 13;
constexpr int kConfirmTag = 14;

// This is in the environment of a replacement only: the number of the spawn. A parent alone proves nothing:
// applications spawn processes as well.
constexpr const char* kMarker = "FENIX_REPLACEMENT";
// The number of the use of Fenix that it has to join.
constexpr const char* kUse = "FENIX_REPLACEMENT_USE";

// Variables that the launcher gives to each process anew, or that belong to a node.
constexpr std::array<std::string_view, 6> kNotPassedOn{"FENIX_REPLACEMENT", "PMIX_", "PRTE_", "OMPI_", "SLURM",
                                                       "HOSTNAME="};

bool is_own_program(const std::string& path) {
  struct stat there {};
  struct stat own {};
  return stat(path.c_str(), &there) == 0 && stat("/proc/self/exe", &own) == 0 && there.st_dev == own.st_dev &&
         there.st_ino == own.st_ino;
}

/// Returns the path by which this process was started, if it still leads to its program, or else that of the program. Interpreters find
/// their packages, and some programs their task, by the path.
std::string own_program(const std::string& word) {
  std::error_code ignored;  // an empty path cannot be run
  std::vector<std::string> folders;
  if (word.find('/') == std::string::npos) {
    const char* path = std::getenv("PATH");
    std::istringstream list(path != nullptr ? path : "");
    for (std::string folder; std::getline(list, folder, ':');) folders.push_back(folder + '/');
  } else {
    folders.emplace_back();
  }
  for (const std::string& folder : folders) {
    if (is_own_program(folder + word)) return std::filesystem::absolute(folder + word, ignored).string();
  }
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

std::vector<std::string> own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (words.empty()) throw Error(FENIX_ERROR_SPAWNING_FAILED, "spawning: the command of this process is not known");
  words.front() = own_program(words.front());
  // Open MPI starts env, which is always there: it would wait for ever for a program that is not.
  if (access(words.front().c_str(), X_OK) != 0) {
    throw Error(FENIX_ERROR_SPAWNING_FAILED, "spawning: " + words.front() + " cannot be run any more");
  }
  return words;
}

/// Returns the command of this process, in its environment. mpirun does not pass on variables that it was given, and Open MPI limits
/// values in an MPI_Info to 255 characters. MPI_Comm_spawn itself passes on OMPI_MCA_ variables.
std::vector<std::string> replacement_command(int number, int use) {
  std::vector<std::string> words{"/usr/bin/env", std::string(kMarker) + '=' + std::to_string(number),
                                 std::string(kUse) + '=' + std::to_string(use)};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    // env would take these for something else.
    if (text.find('=') == std::string_view::npos || text.starts_with('=') || text.starts_with('-')) continue;
    const bool stays = std::any_of(kNotPassedOn.begin(), kNotPassedOn.end(),
                                   [&](std::string_view begin) { return text.starts_with(begin); });
    if (!stays) words.emplace_back(text);
  }
  std::vector<std::string> own = own_command();
  // A program whose path has a "=" would be taken for one more variable. The shell drops variables with names that it
  // does not accept.
  if (own.front().find('=') != std::string::npos) {
    for (const char* word : {"/bin/sh", "-c", "exec \"$0\" \"$@\""}) words.emplace_back(word);
  }
  for (std::string& word : own) words.push_back(std::move(word));
  return words;
}

MPI_Comm parent() {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  return parent;
}

/// Makes one communicator of both sides of another. Open MPI's MPI_Intercomm_merge never ends if a rank dies in it, and
/// takes ten times as long.
MPI_Comm unite(MPI_Comm between, bool first, const Invitation& invitation) {
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Group other = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(between, &own);
  MPI_Comm_remote_group(between, &other);
  MPI_Group_union(first ? own : other, first ? other : own, &all);
  MPI_Comm united = MPI_COMM_NULL;
  const std::string tag = std::string("fenix.") + invitation.port.data();
  const int result = MPI_Comm_create_from_group(all, tag.c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN, &united);
  for (MPI_Group* group : {&own, &other, &all}) MPI_Group_free(group);
  check_mpi(result, "MPI_Comm_create_from_group");
  return united;
}

void talk_to(MPI_Comm joined, int begin, int end) {
  char nothing = 0;
  Mail mail(joined);
  for (int rank = begin; rank < end; ++rank) {
    mail.receive(&nothing, 0, rank, kContactTag);
    mail.send(&nothing, 0, rank, kContactTag);
  }
  mail.wait("first words with a replacement");
}

/// Lets every rank of united talk to those in [begin, end), and makes a copy of it: agreements on a communicator that
/// comes from a group disturb those on MPI_COMM_WORLD.
MPI_Comm introduce_all(MPI_Comm united, int begin, int end) {
  try {
    talk_to(united, begin, end);
    int rank = 0;
    MPI_Comm_rank(united, &rank);
    MPI_Comm joined = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(united, 0, rank, &joined), "MPI_Comm_split");
    MPI_Comm_set_errhandler(joined, MPI_ERRORS_RETURN);
    return joined;
  } catch (...) {
    MPIX_Comm_revoke(united);
    throw;
  }
}

}  // namespace

bool is_replacement() { return parent() != MPI_COMM_NULL && std::getenv(kMarker) != nullptr; }

int use_of_replacement() {
  const char* use = std::getenv(kUse);
  return use != nullptr ? std::atoi(use) : 1;
}

// From here on the destructor runs, whatever fails: nobody waits for an invitation that does not come.
Recruits::Recruits(const Invitation& invitation, MPI_Info keys, int use) : Recruits(invitation.recruits) {
  try {
    spawn(invitation.spawn, keys, use);
    fault_point("spawn.started");
    meet();
    fault_point("spawn.met");
  } catch (const PeerFailure&) {
    throw Error(FENIX_ERROR_SPAWNING_FAILED, "spawning: a new process has died before it reached Fenix_Init");
  } catch (const Error& error) {
    throw Error(FENIX_ERROR_SPAWNING_FAILED, std::string("spawning: ") + error.what());
  }
}

void Recruits::spawn(int number, MPI_Info keys, int use) {
  if (use == 0) {
    throw Error(FENIX_ERROR_SPAWNING_FAILED,
                "a new process would come to an earlier Fenix_Init first, which needs FENIX_SPARE_FINALIZE_RELEASE");
  }
  std::vector<std::string> words = replacement_command(number, use);
  std::vector<char*> arguments;
  for (std::size_t i = 1; i < words.size(); ++i) arguments.push_back(words[i].data());
  arguments.push_back(nullptr);
  const QuietComm quiet(MPI_COMM_SELF);
  free_crossing_comms_at_finalize();
  // MPI_Comm_spawn waits until the new processes are in MPI_Init. If they die before, it would wait for ever.
  const LastResort resort;
  const int result = MPI_Comm_spawn(words.front().c_str(), arguments.data(), count_, keys, 0, MPI_COMM_SELF, &children_,
                                    MPI_ERRCODES_IGNORE);
  check_mpi(result, "MPI_Comm_spawn");
  MPI_Comm_set_errhandler(children_, MPI_ERRORS_RETURN);
}

void Recruits::meet() {
  // MPI may still write here if the wait ends early.
  static char word = 0;
  const LastResort resort;
  Mail mail(children_);
  std::exception_ptr first;
  // All hear of this rank, whichever of them has died: they wait for its word before the invitation.
  for (int child = 0; child < count_; ++child) {
    try {
      mail.receive(&word, 1, child, kHelloTag);
      mail.send(&word, 1, child, kHelloTag);
    } catch (const std::exception&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  mail.wait("the replacements to reach Fenix_Init", Deadline(), [this] {
    note_told_deaths();
    if (!dead_.empty()) throw PeerFailure(MPIX_ERR_PROC_FAILED);
  });
}

void Recruits::note_told_deaths() {
  const std::vector<int> told = told_deaths(children_, count_);
  dead_.insert(dead_.end(), told.begin(), told.end());
}

// All are told, whichever of them has died: the ones after it, that they are not needed. The first error is thrown after that.
void Recruits::invite(const Invitation& invitation) {
  told_ = true;
  struct Letters {
    Invitation welcome;
    Invitation refusal;
  };
  auto letters = std::make_unique<Letters>();
  letters->welcome = invitation;
  const Invitation* told = &letters->welcome;
  std::exception_ptr first;
  note_told_deaths();
  if (!dead_.empty()) {
    first = std::make_exception_ptr(PeerFailure(MPIX_ERR_PROC_FAILED));
    told = &letters->refusal;
  }
  // One for all: the other ranks wait meanwhile.
  const Deadline deadline;
  for (int child = 0; child < count_; ++child) {
    try {
      if (std::find(dead_.begin(), dead_.end(), child) != dead_.end()) throw PeerFailure(MPIX_ERR_PROC_FAILED);
      Mail mail(children_);
      mail.send(told, static_cast<int>(sizeof *told), child, kInvitationTag);
      mail.wait("an invitation to be sent", deadline);
    } catch (const std::exception&) {
      if (!first) first = std::current_exception();
      told = &letters->refusal;
    }
  }
  if (!first) return;
  // MPI may still read them, for ever: a later repair must not write there.
  (void)letters.release();
  std::rethrow_exception(first);
}

Recruits::~Recruits() {
  if (told_ || children_ == MPI_COMM_NULL) return;
  try {
    invite({});
  } catch (const std::exception& error) {
    log().info("spawning: {}", error.what());
  }
}

Invitation report_to_recruiter() {
  fault_point("recruit.begin");  // reads the marker
  // Processes that this one starts are no replacements.
  unsetenv(kMarker);
  unsetenv(kUse);
  free_crossing_comms_at_finalize();
  MPI_Comm recruiter = parent();
  MPI_Comm_set_errhandler(recruiter, MPI_ERRORS_RETURN);
  // MPI may still write here if the wait ends early.
  static char word = 0;
  static Invitation invitation;
  // If the recruiter has died, Open MPI may not find its address, and does not stop looking for it.
  const LastResort resort;
  try {
    const Deadline deadline;
    CompanionWatch companions(recruiter);
    const auto look = [&companions] { companions.look(); };
    Mail mail(recruiter);
    mail.receive(&word, 1, 0, kHelloTag);
    mail.send(&word, 1, 0, kHelloTag);
    mail.wait("the rank that has started this one", deadline, look);
    fault_point("recruit.met");
    mail.receive(&invitation, static_cast<int>(sizeof invitation), 0, kInvitationTag);
    mail.wait("an invitation", deadline, look);
  } catch (const std::exception& error) {
    log().info("a replacement that nobody asks in: {}", error.what());
    return {};
  }
  invitation.port.back() = '\0';
  return invitation;
}

MPI_Comm join_with_recruits(MPI_Comm living, const Invitation& invitation) {
  free_crossing_comms_at_finalize();
  // If a new process dies before it connects, the first rank waits for it, and the others for the first rank. Its end frees them.
  constexpr double kFirst = 1.5;
  constexpr double kOthers = 3;
  const LastResort resort(rank_in(living) == 0 ? kFirst : kOthers);
  MPI_Comm between = MPI_COMM_NULL;
  check_mpi(MPI_Comm_accept(invitation.port.data(), MPI_INFO_NULL, 0, living, &between), "MPI_Comm_accept");
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  MPI_Comm united = unite(between, /*first=*/true, invitation);
  fault_point("spawn.united");
  return introduce_all(united, size_of(living), size_of(united));
}

MPI_Comm join_as_recruit(const Invitation& invitation) {
  fault_point("recruit.connect");
  const LastResort resort;
  const QuietComm quiet(MPI_COMM_WORLD);
  MPI_Comm between = MPI_COMM_NULL;
  check_mpi(MPI_Comm_connect(invitation.port.data(), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between), "MPI_Comm_connect");
  MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
  MPI_Comm united = unite(between, /*first=*/false, invitation);
  fault_point("recruit.united");
  return introduce_all(united, 0, size_of(united) - invitation.recruits);
}

// A death is no error here: the next step on joined notices it, and the others get their word.
void confirm_to_recruits(MPI_Comm joined, const Invitation& invitation) {
  // MPI may still read it if the wait ends early.
  static const char word = 0;
  const int size = size_of(joined);
  const Deadline deadline;
  for (int rank = size - invitation.recruits; rank < size; ++rank) {
    try {
      Mail mail(joined);
      mail.send(&word, 1, rank, kConfirmTag);
      mail.wait("a confirmation to be sent", deadline);
    } catch (const std::exception& error) {
      log().info("spawning: {}", error.what());
    }
  }
}

void wait_for_confirmation(MPI_Comm joined) {
  static char word = 0;
  Mail mail(joined);
  mail.receive(&word, 1, 0, kConfirmTag);
  mail.wait("the others to join");
}

}  // namespace fenix_impl

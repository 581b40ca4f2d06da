// SPDX-License-Identifier: BSD-3-Clause
// An application that checks what it gets back: every byte, the time stamp, and that nothing it saw committed is lost.
// What goes wrong meanwhile is up to FENIX_FAULT, or to --kill; what is expected then, to the options.
#include <fenix.hpp>
#include <mpi.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kGroup = 7;
constexpr int kStepMember = 1000;  // the step counter; the others are 0, 1, …

struct Options {
  int spares = 1;
  int depth = 0;
  int members = 2;
  int steps = 12;
  int count = 1000;  // elements of member 0 on rank 0
  int groups = 1;
  bool spawn = false;
  bool spawn_as_setting = false;
  bool die_before_init = false;  // spawned processes come as far as MPI_Init, but not to Fenix_Init
  bool die_early = false;        // spawned processes do not come as far as MPI_Init
  bool deleted = false;          // the program is no longer there when processes are spawned
  std::string spawn_key;         // KEY=VALUE in the info of Fenix_Init
  bool must_shrink = false;      // because nothing can be spawned
  bool barrier = true;
  bool tolerated = true;     // the policy covers the deaths
  bool latest_lost = false;  // or all, or nothing: it depends on how far the others are
  bool must_recover = true;  // there has to be a repair
  bool shared_fate = false;  // the group has to warn of it, and to lose what is lost
  int progress = 0;          // pause after each step, in milliseconds, and rank 0 prints it
  bool read_older = false;   // after a repair, restore older snapshots as well
  bool in_place = false;     // commits are in place: buffers stay until the commit returns
  bool allocated = false;    // the library has the memory for the buffers
  std::string policy = "buddies";
  std::string resume = "jump";
  std::string kill;        // RANK@STEP[,RANK@STEP…]: dies at the start of that step, in the first life
  std::string kill_again;  // the same for ranks of the repaired communicator, after the first repair
  int size = 0;            // with --spawn: of the communicator after repairs
};

// What survives a jump.
Options options;
MPI_Comm comm = MPI_COMM_NULL;
MPI_Comm before_failures = MPI_COMM_NULL;  // of all first processes, if several die at once
int rank = -1;
int first_rank = -1;  // in MPI_COMM_WORLD
int role = -1;
int init_error = 0;
int first_stamp = 0;  // of step 0
bool stamps_may_begin_anew = false;
int seen_committed = -1;  // the newest time stamp that is known to have been committed on all ranks
int repairs = 0;
int repairs_of_all = 0;  // the most that any rank has seen
std::int64_t step = 0;
std::vector<std::vector<std::int64_t>> owned;  // by group and member, as data
std::vector<std::span<std::int64_t>> data;

[[noreturn]] void fail(const std::string& what) {
  std::printf("FENIX-TEST-FAIL rank %d (first %d), step %lld: %s [%s]\n", rank, first_rank,
              static_cast<long long>(step), what.c_str(), Fenix_Error_message());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
  std::abort();
}

void require(bool condition, const std::string& what) {
  if (!condition) fail(what);
}

// Returns false if the call was cut short by a failure, in resume mode "return".
bool good(int code, const char* call) {
  if (code == FENIX_ERROR_CANCELLED && options.resume == "return") return false;
  require(code == FENIX_SUCCESS, std::string(call) + " returned " + std::to_string(code));
  return true;
}

bool first_life() { return repairs == 0 && role != FENIX_ROLE_RECOVERED_RANK; }

std::size_t elements(int member, int owner) {
  return static_cast<std::size_t>(options.count + 13 * owner + 7 * member) * (member % 3 == 2 && owner == 0 ? 0U : 1U);
}

std::int64_t value(int group, int member, std::int64_t at_step, int owner, std::size_t index) {
  return ((group * 31 + member) * 1'000'003 + at_step) * 1'000'033 + owner * 10'007 + static_cast<std::int64_t>(index);
}

void fill(int group, int member, std::int64_t at_step) {
  auto& values = data[static_cast<std::size_t>(group * options.members + member)];
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(group, member, at_step, rank, i);
}

void check_values(const std::vector<std::int64_t>& values, int group, int member, std::int64_t at_step) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    require(values[i] == value(group, member, at_step, rank, i),
            "member " + std::to_string(member) + " has a wrong element " + std::to_string(i));
  }
}

// Member 1 is stored at every third step only: other snapshots carry it on.
std::int64_t stored_at(int member, std::int64_t at_step) { return member == 1 ? at_step / 3 * 3 : at_step; }

std::pair<int, int*> policy_of(const std::string& name) {
  static int parity[] = {5, 1, 4};
  static int neighbours[] = {1, 1};
  static int reed_solomon[] = {1, 4, 2};
  // The library chooses the partners.
  static int chosen_parity[] = {5, FENIX_DATA_SEPARATION_AUTO, 2};
  static int chosen_reed_solomon[] = {FENIX_DATA_SEPARATION_AUTO, 4, 2};
  if (name == "chosen-xor") return {FENIX_DATA_POLICY_IN_MEMORY_RAID, chosen_parity};
  if (name == "chosen-rs") return {FENIX_DATA_POLICY_REED_SOLOMON, chosen_reed_solomon};
  if (name == "neighbours") return {FENIX_DATA_POLICY_IN_MEMORY_RAID, neighbours};
  if (name == "chosen-ring") return {FENIX_DATA_POLICY_PEER_RANK_SEPARATION, nullptr};
  if (name == "xor") return {FENIX_DATA_POLICY_IN_MEMORY_RAID, parity};
  if (name == "rs") return {FENIX_DATA_POLICY_REED_SOLOMON, reed_solomon};
  return {FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr};
}

// The group knows it after a repair, replacements too, unless the death came before it was set.
bool set_in_place(int group) {
  int in_place = -1;
  require(Fenix_Data_group_get_in_place(group, &in_place) == FENIX_SUCCESS, "get_in_place");
  if (in_place == 1) return true;
  require(seen_committed < 0, "the group does not commit in place any more");
  return good(Fenix_Data_group_set_in_place(group, 1), "set_in_place");
}

bool allocate(int group, int member) {
  std::int64_t* base = nullptr;
  const std::size_t count = elements(member, rank);
  if (!good(Fenix_Data_member_allocate(kGroup + group, member, static_cast<int>(count), MPI_INT64_T, &base),
            "member_allocate")) {
    return false;
  }
  data[static_cast<std::size_t>(group * options.members + member)] = {base, count};
  return true;
}

bool create_groups() {
  for (int group = 0; group < options.groups; ++group) {
    int flag = 1;
    const auto [policy, policy_values] = policy_of(options.policy);
    const int code = Fenix_Data_group_create(kGroup + group, comm, 0, options.depth, policy, policy_values, &flag);
    if (!good(code, "group_create")) return false;
    if (options.tolerated) require(flag != FENIX_ERROR_NODATA_FOUND, "snapshots were lost");
    if (options.in_place && !set_in_place(kGroup + group)) return false;
    if (options.shared_fate) {
      const bool first = repairs == 0 && role != FENIX_ROLE_RECOVERED_RANK;
      require(flag == (first ? FENIX_WARNING_SHARED_FATE : FENIX_ERROR_NODATA_FOUND),
              "flag of group_create " + std::to_string(flag));
    }
    for (int member = 0; member < options.members; ++member) {
      if (options.allocated) {
        if (!allocate(group, member)) return false;
        continue;
      }
      const auto number = static_cast<std::size_t>(group * options.members + member);
      auto& values = owned[number];
      values.resize(elements(member, rank));
      data[number] = values;
      if (Fenix_Data_member_created(kGroup + group, member) == 1) {
        if (values.empty()) continue;
        require(Fenix_Data_member_attr_set(kGroup + group, member, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, values.data(),
                                           nullptr) == FENIX_SUCCESS,
                "attr_set");
      } else if (!good(Fenix_Data_member_create(kGroup + group, member, values.data(), static_cast<int>(values.size()),
                                                MPI_INT64_T),
                       "member_create")) {
        return false;
      }
    }
    if (Fenix_Data_member_created(kGroup + group, kStepMember) == 1) {
      require(Fenix_Data_member_attr_set(kGroup + group, kStepMember, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &step,
                                         nullptr) == FENIX_SUCCESS,
              "attr_set");
    } else if (!good(Fenix_Data_member_create(kGroup + group, kStepMember, &step, 1, MPI_INT64_T), "member_create")) {
      return false;
    }
  }
  return true;
}

bool restore_one(int group, int time_stamp, std::int64_t& got_step) {
  std::int64_t restored = -1;
  const int code = Fenix_Data_member_restore(kGroup + group, kStepMember, &restored, 1, time_stamp, nullptr);
  if (code == FENIX_ERROR_NODATA_FOUND) {
    got_step = 0;
    return true;
  }
  if (!good(code, "restore of the step")) return false;
  for (int member = 0; member < options.members; ++member) {
    std::vector<std::int64_t> values(elements(member, rank) + 3, -1);
    const auto wanted = static_cast<int>(elements(member, rank));
    if (!good(Fenix_Data_member_restore(kGroup + group, member, values.data(), wanted, time_stamp, nullptr),
              "restore")) {
      return false;
    }
    for (std::size_t i = elements(member, rank); i < values.size(); ++i) require(values[i] == -1, "wrote past the end");
    values.resize(elements(member, rank));
    check_values(values, group, member, stored_at(member, restored));
  }
  got_step = restored + 1;
  return true;
}

// Groups are committed one after the other: one may be a step ahead of another. Takes it back to the common step.
bool take_back(int group, std::int64_t to) {
  int count = 0;
  require(Fenix_Data_group_get_number_of_snapshots(kGroup + group, &count) == FENIX_SUCCESS, "number_of_snapshots");
  for (int position = 0; position < count; ++position) {
    int time_stamp = -1;
    std::int64_t here = 0;
    require(Fenix_Data_group_get_snapshot_at_position(kGroup + group, position, &time_stamp) == FENIX_SUCCESS,
            "position");
    if (!restore_one(group, time_stamp, here)) return false;
    if (here == to) return true;
  }
  require(to == 0, "no snapshot has the common step");
  return true;
}

// All ranks must have the same step; nothing that was seen committed may be lost.
bool restore() {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(options.groups));
  for (int group = 0; group < options.groups; ++group) {
    if (!restore_one(group, FENIX_DATA_SNAPSHOT_LATEST, steps[static_cast<std::size_t>(group)])) return false;
  }
  const std::int64_t next = *std::min_element(steps.begin(), steps.end());
  for (int group = 0; group < options.groups; ++group) {
    if (steps[static_cast<std::size_t>(group)] != next && !take_back(group, next)) return false;
  }
  std::int64_t mine[2] = {next, -next};
  std::int64_t most[2] = {0, 0};
  int committed = -1;
  if (MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, comm) != MPI_SUCCESS) return false;
  if (MPI_Allreduce(&seen_committed, &committed, 1, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS) return false;
  if (MPI_Allreduce(&repairs, &repairs_of_all, 1, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS) return false;
  require(most[0] == -most[1], "ranks restored different steps");
  if (options.tolerated) {
    require(next > committed, "restored step " + std::to_string(next - 1) + ", though time stamp " +
                                  std::to_string(committed) + " was committed");
  } else {
    // If the last copy of a record is damaged: the death may come before the damage, or before the others have overwritten what
    // an older snapshot needs.
    require(next == 0 || (options.latest_lost && next <= committed + 1),
            "restored step " + std::to_string(next - 1) + ", which was lost");
    stamps_may_begin_anew = options.latest_lost && next == 0;
  }
  step = next;
  if (options.read_older && options.tolerated) {
    int count = 0;
    require(Fenix_Data_group_get_number_of_snapshots(kGroup, &count) == FENIX_SUCCESS, "number_of_snapshots");
    require(count == static_cast<int>(std::min<std::int64_t>(step, options.depth + 1)),
            "there are " + std::to_string(count) + " snapshots");
    for (int position = 0; position < count; ++position) {
      int time_stamp = -1;
      require(Fenix_Data_group_get_snapshot_at_position(kGroup, position, &time_stamp) == FENIX_SUCCESS, "at_position");
      require(time_stamp == static_cast<int>(step) - 1 - position, "an older snapshot has a wrong time stamp");
      std::int64_t older = 0;
      if (!restore_one(0, time_stamp, older)) return false;
      require(older == time_stamp + 1, "an older snapshot has a wrong step");
    }
  }
  return true;
}

bool in_list(const std::string& list, int who) {
  const std::string self = std::to_string(who) + "@" + std::to_string(step);
  return ("," + list + ",").find("," + self + ",") != std::string::npos;
}

/// Waits for the others that die at this step: the death of the first would cut those short that have not come to it.
void meet_victims() {
  int processes = 0;
  MPI_Comm_size(before_failures, &processes);
  std::vector<MPI_Request> requests;
  for (int other = 0; other < processes; ++other) {
    if (other == first_rank || !in_list(options.kill, other)) continue;
    requests.resize(requests.size() + 2);
    MPI_Irecv(nullptr, 0, MPI_BYTE, other, 0, before_failures, &requests[requests.size() - 2]);
    MPI_Issend(nullptr, 0, MPI_BYTE, other, 0, before_failures, &requests[requests.size() - 1]);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void maybe_die() {
  if (repairs_of_all == 1 && in_list(options.kill_again, rank)) raise(SIGKILL);
  if (role == FENIX_ROLE_RECOVERED_RANK || repairs > 0) return;
  if (!in_list(options.kill, first_rank)) return;
  if (before_failures != MPI_COMM_NULL) meet_victims();
  raise(SIGKILL);
}

bool one_step() {
  maybe_die();
  for (int group = 0; group < options.groups; ++group) {
    for (int member = 0; member < options.members; ++member) {
      if (stored_at(member, step) != step) continue;
      fill(group, member, step);
      if (!good(Fenix_Data_member_store(kGroup + group, member, FENIX_DATA_SUBSET_FULL), "store")) return false;
      // The buffer is ours again: what was stored must not change with it.
      if (!options.in_place) fill(group, member, -1);
    }
    if (!good(Fenix_Data_member_store(kGroup + group, kStepMember, FENIX_DATA_SUBSET_FULL), "store")) return false;
    int time_stamp = -1;
    const int code = options.barrier ? Fenix_Data_commit_barrier(kGroup + group, &time_stamp)
                                     : Fenix_Data_commit(kGroup + group, &time_stamp);
    if (!good(code, "commit")) return false;
    for (int member = 0; options.in_place && member < options.members; ++member) fill(group, member, -1);
    if (stamps_may_begin_anew) first_stamp = time_stamp - static_cast<int>(step);
    stamps_may_begin_anew = false;
    require(time_stamp == first_stamp + step || options.groups > 1 || options.must_shrink,
            "commit gave the time stamp " + std::to_string(time_stamp));
  }
  if (!options.barrier && MPI_Barrier(comm) != MPI_SUCCESS) return false;
  seen_committed = static_cast<int>(step);
  if (options.progress > 0) {
    if (rank == 0) std::printf("step %lld\n", static_cast<long long>(step));
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::milliseconds(options.progress));
  }
  ++step;
  return true;
}

// As an application does that begins anew after a failure: from here on, a commit that was cut short must not need the buffers.
void overwrite_buffers() {
  for (auto& values : data) std::fill(values.begin(), values.end(), -2);
  step = -1;
}

// True while a failure from outside is still to come: on a slow machine the steps alone may be over before it.
bool failure_is_to_come() {
  return options.progress > 0 && options.must_recover && role == FENIX_ROLE_INITIAL_RANK && step < 10 * options.steps;
}

bool run() {
  if (options.in_place && !first_life()) overwrite_buffers();
  if (!create_groups() || !restore()) return false;
  while (step < options.steps || failure_is_to_come()) {
    if (!one_step()) return false;
  }
  return true;
}

// The list tells of all whose places were filled since the program last had control.
void check_fail_list() {
  int size = 0;
  MPI_Comm_size(comm, &size);
  int* failed = nullptr;
  const int number = Fenix_Process_fail_list(&failed);
  require(number > 0 && std::is_sorted(failed, failed + number), "the list of the failed");
  for (int other = 0; Fenix_get_error() == FENIX_SUCCESS && other < size; ++other) {
    int role_of_other = -1;
    require(Fenix_get_rank_role(comm, other, &role_of_other) == FENIX_SUCCESS, "get_rank_role");
    const bool listed = std::find(failed, failed + number, other) != failed + number;
    require(listed == (role_of_other == FENIX_ROLE_RECOVERED_RANK),
            "rank " + std::to_string(other) + " has role " + std::to_string(role_of_other) +
                ", listed as failed: " + std::to_string(static_cast<int>(listed)));
  }
}

// All places are filled, or nothing could be spawned and everybody is told.
void check_size() {
  if (!options.spawn) return;
  int size = 0;
  MPI_Comm_size(comm, &size);
  require(size == options.size, "the communicator has " + std::to_string(size) + " ranks");
  const int expected = options.must_shrink && repairs > 0 ? FENIX_ERROR_SPAWNING_FAILED : FENIX_SUCCESS;
  require(Fenix_get_error() == expected, "error " + std::to_string(Fenix_get_error()));
  require(init_error == expected || options.resume != "jump", "error of Fenix_Init " + std::to_string(init_error));
}

void count_repair(MPI_Comm, int, void*) { ++repairs; }

// From the latest repair to the end. False if a failure has cut it short, in the resume modes that come back here.
bool attempt() {
  try {
    MPI_Comm_rank(comm, &rank);
    if (repairs > 0 || role == FENIX_ROLE_RECOVERED_RANK) {
      check_size();
      check_fail_list();
    }
    if (!run()) return false;
    if (!good(Fenix_Finalize(), "Fenix_Finalize")) return false;
    require(role != FENIX_ROLE_INITIAL_RANK || !options.must_recover, "no failure was repaired");
    require(role != FENIX_ROLE_SURVIVOR_RANK || repairs > 0, "the callback of a survivor was not called");
    return true;
  } catch (const fenix::CommException& failure) {
    require(options.resume == "throw", "an exception in another resume mode");
    require(failure.repaired_comm == comm, "the exception has another communicator");
    return false;
  }
}

Options parse(int argc, char** argv) {
  Options parsed;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto number = [&] { return std::atoi(argv[++i]); };
    if (name == "--spares")
      parsed.spares = number();
    else if (name == "--depth")
      parsed.depth = number();
    else if (name == "--policy")
      parsed.policy = argv[++i];
    else if (name == "--members")
      parsed.members = number();
    else if (name == "--steps")
      parsed.steps = number();
    else if (name == "--count")
      parsed.count = number();
    else if (name == "--groups")
      parsed.groups = number();
    else if (name == "--spawn")
      parsed.spawn = true;
    else if (name == "--spawn-as-setting")
      parsed.spawn = parsed.spawn_as_setting = true;
    else if (name == "--die-before-init")
      parsed.die_before_init = true;
    else if (name == "--die-early")
      parsed.die_early = true;
    else if (name == "--deleted")
      parsed.deleted = true;
    else if (name == "--spawn-key")
      parsed.spawn_key = argv[++i];
    else if (name == "--must-shrink")
      parsed.must_shrink = true;
    else if (name == "--plain")
      parsed.barrier = false;
    else if (name == "--lost")
      parsed.tolerated = false;
    else if (name == "--latest-lost")
      parsed.latest_lost = true, parsed.tolerated = false;
    else if (name == "--shared-fate")
      parsed.shared_fate = true;
    else if (name == "--progress")
      parsed.progress = number();
    else if (name == "--no-repair")
      parsed.must_recover = false;
    else if (name == "--read-older")
      parsed.read_older = true;
    else if (name == "--in-place")
      parsed.in_place = true;
    else if (name == "--allocated")
      parsed.allocated = true;
    else if (name == "--resume")
      parsed.resume = argv[++i];
    else if (name == "--size")
      parsed.size = number();
    else if (name == "--kill-again")
      parsed.kill_again = argv[++i];
    else if (name == "--kill")
      parsed.kill = argv[++i];
    else
      std::exit(2);
  }
  return parsed;
}

MPI_Info info_of_init() {
  if (options.spawn_key.empty()) return MPI_INFO_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  const std::size_t middle = options.spawn_key.find('=');
  MPI_Info_set(info, options.spawn_key.substr(0, middle).c_str(), options.spawn_key.substr(middle + 1).c_str());
  return info;
}

// Goes on as a copy of this program, which is then deleted.
void become_deleted(char** argv) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  if (self.filename() == "copy") {
    std::filesystem::remove_all(self.parent_path());
    return;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "fenix-scenario-XXXXXX").string();
  require(mkdtemp(folder.data()) != nullptr, "mkdtemp");
  const std::string copy = folder + "/copy";
  std::filesystem::copy_file(self, copy);
  execv(copy.c_str(), argv);
  fail("execv");
}

}  // namespace

int main(int argc, char** argv) {
  options = parse(argc, argv);
  if (options.deleted) become_deleted(argv);
  if (options.die_early && std::getenv("FENIX_REPLACEMENT") != nullptr) raise(SIGKILL);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &first_rank);
  if (options.die_before_init && std::getenv("FENIX_REPLACEMENT") != nullptr) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    raise(SIGKILL);
  }
  if (options.kill.find(',') != std::string::npos && std::getenv("FENIX_REPLACEMENT") == nullptr) {
    MPI_Comm_dup(MPI_COMM_WORLD, &before_failures);
    MPI_Comm_set_errhandler(before_failures, MPI_ERRORS_RETURN);
  }
  owned.resize(static_cast<std::size_t>(options.members * options.groups));
  data.resize(owned.size());
  if (options.resume == "return") Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_RETURN);
  if (options.resume == "throw") Fenix_set_option(FENIX_RESUME_MODE, FENIX_RESUME_THROW);

  MPI_Info info = info_of_init();
  const bool spawn = options.spawn && !options.spawn_as_setting;
  if (options.spawn_as_setting) Fenix_set_option(FENIX_RECOVERY_MODE, FENIX_RECOVERY_SPAWN);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, options.spares, spawn ? 1 : 0, info, &init_error);
  if (init_error < 0 && !options.must_shrink) fail("Fenix_Init returned " + std::to_string(init_error));
  if (repairs == 0 && role != FENIX_ROLE_SURVIVOR_RANK) Fenix_Callback_register(count_repair, nullptr);
  while (!attempt()) {
  }
  std::printf("FENIX-TEST-OK rank %d role %d repairs %d\n", rank, role, repairs);
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process.hpp"

#include <sched.h>
#include <mpi-ext.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <memory>
#include <numeric>
#include <span>
#include <thread>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "base/last_resort.hpp"
#include "base/log.hpp"
#include "recovery/derived.hpp"
#include "rma/mpi_team.hpp"
#include "rma/processes.hpp"

namespace fenix_impl {
namespace {

constexpr int kFinishTag = 1;

constexpr int kEndTag = 4;

// Meetings of different ranks may go on at the same time, in several threads.
constexpr int kFirstMeetingTag = 16;
constexpr int kMeetingTags = 1 << 14;

// Of no message. A probe that finds a message returns at once, without making progress for anything else.
constexpr int kNoTag = 0;

// A spare that notices a death gives the active ranks this long to begin the repair: they notice it themselves as a rule,
// and until then it would burn a core in the agreement that the repair starts with.
constexpr std::chrono::seconds kPatience{1};

// All ranks know of a repair that has begun within this time.
constexpr std::chrono::milliseconds kNoticeTakes{500};

constexpr std::chrono::microseconds kShortestNap{100};
constexpr std::chrono::microseconds kLongestNap{10'000};

// Who waits for this rank, or for one of another node, may have begun to do so a while later.
constexpr double kTimeoutsOfARound = 4;

// Processes that die on their way may have good reasons to.
constexpr int kSpawnAttempts = 3;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

MPI_Comm split(MPI_Comm comm, int color, int key) {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm, color, key, &part), "MPI_Comm_split");
  return part;
}

void free_comm(MPI_Comm& comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

bool is_revoked(MPI_Comm comm) {
  int revoked = 0;
  MPIX_Comm_is_revoked(comm, &revoked);
  return revoked != 0;
}

void revoke(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL && !is_revoked(comm)) MPIX_Comm_revoke(comm);
}

/// Ranks of comm that are known here to be dead.
std::vector<int> known_failed(MPI_Comm comm) {
  MPI_Group failed = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  if (MPIX_Comm_get_failed(comm, &failed) != MPI_SUCCESS) return {};
  MPI_Comm_group(comm, &all);
  int count = 0;
  MPI_Group_size(failed, &count);
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::vector<int> ranks(numbers.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  if (count > 0) MPI_Group_translate_ranks(failed, count, numbers.data(), all, ranks.data());
  MPI_Group_free(&failed);
  MPI_Group_free(&all);
  return ranks;
}

}  // namespace

void Process::start(MPI_Comm comm, int spares, MPI_Errhandler handler) {
  handler_ = handler;
  spares_ = spares;
  check_mpi(MPI_Comm_dup(comm, &world_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(world_, &rank);
  MPI_Comm_size(world_, &size);
  const auto addresses = MpiTeam(world_, size, world_).gather(watch_.address());
  watch_.observe(addresses);
  for (int each = 0; each < size; ++each) {
    const SilenceWatch::Address& address = addresses[static_cast<std::size_t>(each)];
    if (address.node == node_id()) on_node_[each] = address;
  }
  const bool spare = rank >= size - spares;
  roles_.assign(static_cast<std::size_t>(size - spares), FENIX_ROLE_INITIAL_RANK);
  role_ = spare ? FENIX_ROLE_SPARE_RANK : FENIX_ROLE_INITIAL_RANK;
  own_seat_ = spare ? Seat{-1, rank - places()} : Seat{rank, -1};
  resilient_ = split(world_, spare ? MPI_UNDEFINED : 0, rank);
  if (!spare) MPI_Comm_set_errhandler(resilient_, handler_);
}

void Process::wait_for(const std::vector<int>& places, int tag, const char* waited_for) {
  std::unique_lock lock(barriers_mutex_);
  auto& kept = barriers_[{tag, places}];
  if (!kept) kept = std::make_shared<ResumableBarrier>(world_, places, tag);
  const auto barrier = kept;
  lock.unlock();
  MpiTeam world(world_, this->places(), resilient_);
  barrier->wait([&] { world.check(); }, waited_for);
  lock.lock();
  barriers_.erase({tag, places});
}

void Process::meet(const std::vector<int>& places) {
  const auto number = static_cast<int>(hash_bytes(std::as_bytes(std::span(places))) % kMeetingTags);
  wait_for(places, kFirstMeetingTag + number, "all ranks to come");
}

std::vector<int> Process::all_places() const {
  std::vector<int> all(static_cast<std::size_t>(places()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void Process::abandon_start() { revoke(world_); }

std::vector<int> Process::places_of(MPI_Comm comm) const {
  if (comm == MPI_COMM_NULL) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_NULL");
  if (is_revoked(comm)) {
    // By a repair that is just beginning, or by an earlier one: the former shows on the resilient communicator, too.
    for (const Deadline deadline(kNoticeTakes); !deadline.passed();) {
      if (look_for_failures() != MPI_SUCCESS) throw PeerFailure(MPIX_ERR_REVOKED);
    }
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is from before a repair: derive it again");
  }
  // Open MPI compares each rank with each where it translates.
  if (comm == resilient_) return all_places();
  MPI_Group theirs = MPI_GROUP_NULL;
  MPI_Group ours = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(comm, &theirs), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(resilient_, &ours), "MPI_Comm_group");
  int size = 0;
  MPI_Group_size(theirs, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::vector<int> places(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Group_translate_ranks(theirs, size, ranks.data(), ours, places.data());
  MPI_Group_free(&theirs);
  MPI_Group_free(&ours);
  if (std::find(places.begin(), places.end(), MPI_UNDEFINED) != places.end()) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is not a resilient communicator, or is one from before a repair");
  }
  return places;
}

std::vector<bool> Process::are_near(const std::vector<int>& places) const {
  std::vector<bool> near;
  for (const int place : places) near.push_back(on_node_.count(place) != 0);
  return near;
}

int Process::waiting_spares() const {
  const auto failed = known_failed(world_);
  const auto dead_spares = std::count_if(failed.begin(), failed.end(), [&](int rank) { return rank >= places(); });
  return spares_ - static_cast<int>(dead_spares);
}

int Process::look_for_failures() const {
  int found = 0;
  // On world: what the application sends on the resilient communicator is not looked at. Errors show below.
  MPI_Iprobe(MPI_ANY_SOURCE, kNoTag, world_, &found, MPI_STATUS_IGNORE);
  if (is_revoked(resilient_)) return MPIX_ERR_REVOKED;
  return known_failed(resilient_).empty() ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED;
}

bool Process::agree_to(Intent intent) {
  const LastResort resort(kTimeoutsOfARound);
  int finish = intent == Intent::finish ? 1 : 0;
  // The result is the same on all living ranks, whatever the call returns. It works on a revoked communicator.
  MPIX_Comm_agree(world_, &finish);
  return finish == (intent == Intent::finish ? 1 : 0);
}

void Process::call_all_to_repair() {
  revoke(resilient_);
  revoke_derived(handler_);
  revoke(world_);
}

void Process::repair() {
  noticed_ = MPI_Wtime();
  fault_point("repair.begin");
  call_all_to_repair();
  const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::round);
  (void)agree_to(Intent::repair);
  rebuild_communicators();
}

void Process::rebuild_communicators() {
  spawn_attempts_ = 0;
  spawn_overdue_ = false;
  while (true) {
    const LastResort resort(kTimeoutsOfARound);
    fault_point("repair.agreed");
    MPI_Comm living = MPI_COMM_NULL;
    // Fault tolerant in itself: an error means that yet another rank has died meanwhile.
    if (MPIX_Comm_shrink(world_, &living) != MPI_SUCCESS) continue;
    MPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
    fault_point("repair.shrunk");
    if (reinforce(living) && build_and_adopt(living)) return;
    log().info("another rank died during the repair: repairing again");
    world_ = living;
  }
}

bool Process::build_and_adopt(MPI_Comm living) {
  Rebuilt rebuilt;
  int built = build_on(living, rebuilt) ? 1 : 0;
  fault_point("repair.built");
  // Frees those that still wait in build_on for a rank that has left it.
  if (built == 0) revoke(living);
  MPIX_Comm_agree(living, &built);
  // Damaged communicators are never freed: see MpiTeam::~MpiTeam.
  if (built == 0) return false;
  adopt(rebuilt);
  fault_point("repair.done");
  return true;
}

bool Process::all_do(MPI_Comm living, const std::function<void()>& step) {
  int done = 1;
  try {
    step();
  } catch (const std::exception& error) {
    log().info("repair: {}", error.what());
    revoke(living);
    done = 0;
  }
  // What it returns is the same on all ranks, and tells of those that have died without saying no.
  return MPIX_Comm_agree(living, &done) == MPI_SUCCESS && done != 0;
}

bool Process::reinforce(MPI_Comm& living) {
  spawning_failed_ = false;
  if (!may_spawn_) return true;
  int missing = 0;
  if (!all_do(living, [&] { missing = count_missing(living); })) return false;
  if (missing == 0 || spawning_failed_) return true;
  return recruit(living, missing);
}

// Seats are in the order of the living, as they were in that of all: where some are left out, those are dead.
std::vector<Seat> Process::seats_in(MPI_Comm living) const {
  MpiTeam team(living, size_of(living), living);
  const int rank = team.rank();
  const int number = number_of(own_seat_);
  std::vector<int> beside;
  if (rank > 0) beside.push_back(rank - 1);
  if (rank + 1 < team.size()) beside.push_back(rank + 1);
  const auto numbers = team.ask(beside, number);
  const int before = rank > 0 ? numbers.at(rank - 1) : -1;
  if (before >= number || before < (rank > 0 ? 0 : -1)) {
    throw Error(FENIX_ERROR_INTERN, "the living are not in the order that they had");
  }
  std::vector<int> dead;
  for (int each = before + 1; each < number; ++each) dead.push_back(each);
  const int all = places() + spares_;
  for (int each = number + 1; rank + 1 == team.size() && each < all; ++each) dead.push_back(each);
  dead = team.gather_some(std::span<const int>(dead));
  std::vector<Seat> seats;
  for (int each = 0; each < all; ++each) {
    if (std::binary_search(dead.begin(), dead.end(), each)) continue;
    seats.push_back(each < places() ? Seat{each, -1} : Seat{-1, each - places()});
  }
  if (seats.size() != static_cast<std::size_t>(team.size()) ||
      number_of(seats[static_cast<std::size_t>(rank)]) != number) {
    throw Error(FENIX_ERROR_INTERN, "the living are not in the order that they had");
  }
  return seats;
}

int Process::count_missing(MPI_Comm living) {
  struct Attempts {
    std::int32_t made = 0;
    std::int32_t overdue = 0;
  };
  const auto seats = seats_in(living);
  const Attempts mine{spawn_attempts_, spawn_overdue_ ? 1 : 0};
  const Attempts most = MpiTeam(living, size_of(living), living).reduce(mine, [](Attempts& into, const Attempts& from) {
    into.made = std::max(into.made, from.made);
    into.overdue = std::max(into.overdue, from.overdue);
  });
  spawn_attempts_ = most.made;
  const int missing = places() - static_cast<int>(plan_repair(places(), spares_, seats).active.size());
  spawning_failed_ = missing > 0 && (most.overdue != 0 || spawn_attempts_ == kSpawnAttempts);
  return missing;
}

std::unique_ptr<Recruits> Process::call_recruits(Invitation& invitation) {
  try {
    auto recruits = std::make_unique<Recruits>(invitation, spawn_keys_);
    check_mpi(MPI_Open_port(MPI_INFO_NULL, invitation.port.data()), "MPI_Open_port");
    invitation.welcome = 1;
    return recruits;
  } catch (const Error& error) {
    log().warn("{}", error.what());
    return nullptr;
  }
}

bool Process::recruit(MPI_Comm& living, int missing) {
  ++spawn_attempts_;
  ++spawns_;
  const bool recruiter = rank_in(living) == 0;
  const Deadline deadline;
  std::unique_ptr<Recruits> recruits;
  Invitation invitation{0, spawns_, places(), spares_, missing, {}};
  const bool lived = all_do(living, [&] {
    fault_point("spawn.begin");
    if (recruiter) recruits = call_recruits(invitation);
    MpiTeam(living, size_of(living), living).broadcast(std::as_writable_bytes(std::span(&invitation, 1)), 0);
    fault_point("spawn.told");
  });
  // A recruiter that was killed because it could not get out of MPI_Comm_spawn: the next one could not either.
  spawn_overdue_ = deadline.passed();
  if (!lived) return false;
  spawning_failed_ = invitation.welcome == 0;
  if (spawning_failed_) return true;
  return let_in(living, invitation, recruits.get());
}

bool Process::let_in(MPI_Comm& living, const Invitation& invitation, Recruits* recruits) {
  MPI_Comm joined = MPI_COMM_NULL;
  const bool lived = all_do(living, [&] {
    if (recruits != nullptr) recruits->invite(invitation);
    joined = join_with_recruits(living, invitation);
    fault_point("spawn.joined");
  });
  if (!lived) {
    // Frees the replacements that have joined and wait for the others.
    revoke(joined);
    return false;
  }
  fault_point("spawn.agreed");
  if (recruits != nullptr) confirm_to_recruits(joined, invitation);
  fault_point("spawn.confirmed");
  living = joined;
  has_recruits_ = true;
  // From here on they are spares: those in the places of the dead are used up.
  spares_ += invitation.recruits;
  return true;
}

bool Process::start_as_replacement(MPI_Errhandler handler) {
  noticed_ = MPI_Wtime();
  handler_ = handler;
  const Invitation invitation = report_to_recruiter();
  if (invitation.welcome == 0) return false;
  MPI_Comm joined = MPI_COMM_NULL;
  try {
    joined = join_as_recruit(invitation);
    fault_point("recruit.joined");
    wait_for_confirmation(joined);
  } catch (const std::exception& error) {
    log().info("a replacement that could not join: {}", error.what());
    // The others may wait for it, or believe that it has joined: they must see that it has not.
    raise(SIGKILL);
  }
  fault_point("recruit.confirmed");
  spawns_ = invitation.spawn;
  spares_ = invitation.spares + invitation.recruits;
  roles_.assign(static_cast<std::size_t>(invitation.places), FENIX_ROLE_SURVIVOR_RANK);
  role_ = FENIX_ROLE_SPARE_RANK;
  own_seat_ = {-1, invitation.spares + rank_in(MPI_COMM_WORLD)};
  has_recruits_ = true;
  const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::round);
  if (build_and_adopt(joined)) return true;
  world_ = joined;
  rebuild_communicators();
  return true;
}

// Who is on this node, and watches it. Processes stay where they are: all have to be asked only if some are new.
void Process::watch_living(MPI_Comm living, const std::vector<Seat>& seats) {
  if (has_recruits_) {
    const auto addresses = MpiTeam(living, size_of(living), living).gather(watch_.address());
    watch_.observe(addresses);
    on_node_.clear();
    for (std::size_t i = 0; i < seats.size(); ++i) {
      if (addresses[i].node == node_id()) on_node_[number_of(seats[i])] = addresses[i];
    }
    return;
  }
  std::vector<SilenceWatch::Address> addresses;
  for (const Seat& seat : seats) {
    const auto near = on_node_.find(number_of(seat));
    if (near != on_node_.end()) addresses.push_back(near->second);
  }
  watch_.observe(addresses);
}

bool Process::build_on(MPI_Comm living, Rebuilt& rebuilt) {
  try {
    const int rank = rank_in(living);
    rebuilt.seats = seats_in(living);
    watch_living(living, rebuilt.seats);
    RepairPlan& plan = rebuilt.plan;
    plan = plan_repair(places(), spares_, rebuilt.seats);

    const auto place = std::find(plan.active.begin(), plan.active.end(), rank);
    const bool active = place != plan.active.end();
    const auto key = active ? place - plan.active.begin()
                            : static_cast<std::ptrdiff_t>(plan.active.size()) +
                                  (std::find(plan.spares.begin(), plan.spares.end(), rank) - plan.spares.begin());
    rebuilt.world = split(living, 0, static_cast<int>(key));
    MPI_Comm_set_errhandler(rebuilt.world, MPI_ERRORS_RETURN);
    fault_point("repair.world");
    rebuilt.resilient = split(rebuilt.world, active ? 0 : MPI_UNDEFINED, static_cast<int>(key));
    return true;
  } catch (const std::exception& error) {
    log().info("repair: {}", error.what());
    revoke(rebuilt.world);
    return false;
  }
}

void Process::renumber_node(const Rebuilt& rebuilt) {
  std::map<int, SilenceWatch::Address> renumbered;
  const auto give = [&](int living, std::size_t number) {
    const auto near = on_node_.find(number_of(rebuilt.seats[static_cast<std::size_t>(living)]));
    if (near != on_node_.end()) renumbered[static_cast<int>(number)] = near->second;
  };
  const RepairPlan& plan = rebuilt.plan;
  for (std::size_t i = 0; i < plan.active.size(); ++i) give(plan.active[i], i);
  for (std::size_t i = 0; i < plan.spares.size(); ++i) give(plan.spares[i], plan.active.size() + i);
  on_node_ = std::move(renumbered);
  has_recruits_ = false;
}

void Process::adopt(const Rebuilt& rebuilt) {
  const RepairPlan& plan = rebuilt.plan;
  renumber_node(rebuilt);
  world_ = rebuilt.world;
  barriers_.clear();
  // The old one is not freed: the application may have copies of the handle, and requests on it.
  resilient_ = rebuilt.resilient;
  if (resilient_ != MPI_COMM_NULL) MPI_Comm_set_errhandler(resilient_, handler_);
  roles_.clear();
  for (const bool recovered : plan.recovered) {
    roles_.push_back(recovered ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK);
  }
  spares_ = static_cast<int>(plan.spares.size());
  failed_ = plan.failed;
  shrunk_ = plan.shrunk;
  int rank = 0;
  MPI_Comm_rank(world_, &rank);
  const bool active = rank < places();
  role_ = active ? roles_[static_cast<std::size_t>(rank)] : static_cast<int>(FENIX_ROLE_SPARE_RANK);
  own_seat_ = active ? Seat{rank, -1} : Seat{-1, rank - places()};
  ++repairs_;
  repaired_ = MPI_Wtime();
  log().info("repaired: {} active ranks, {} spares, {} dead, {:.1f} ms", places(), spares_, failed_.size(),
             (repaired_ - noticed_) * 1e3);
}

bool Process::world_revoked() {
  int found = 0;
  // A look into the queue lets MPI notice what has happened. Deaths of other ranks must not hide messages: acknowledge them.
  if (MPI_Iprobe(MPI_ANY_SOURCE, kFinishTag, world_, &found, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    MPIX_Comm_failure_ack(world_);
  }
  return is_revoked(world_);
}

bool Process::told_to_finish() {
  int found = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, kFinishTag, world_, &found, &status) != MPI_SUCCESS || found == 0) return false;
  char message = 0;
  return MPI_Recv(&message, 1, MPI_CHAR, status.MPI_SOURCE, kFinishTag, world_, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

bool Process::active_rank_failed() {
  const auto failed = known_failed(world_);
  return std::any_of(failed.begin(), failed.end(), [&](int rank) { return rank < places(); });
}

bool Process::wait_as_spare(unsigned wait_mode, bool repairs) {
  auto nap = kShortestNap;
  Deadline patience(kPatience);
  while (true) {
    fault_point("spare.waits");
    const bool revoked = world_revoked();
    if (!active_rank_failed()) patience = Deadline(kPatience);
    if (revoked || (repairs && patience.passed())) {
      repair();
      if (!is_spare()) return true;
      patience = Deadline(kPatience);
      continue;
    }
    if (told_to_finish()) {
      const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::round);
      if (agree_to(Intent::finish)) return false;
      noticed_ = MPI_Wtime();
      rebuild_communicators();
      if (!is_spare()) return true;
      continue;
    }
    if (wait_mode == FENIX_SPARE_WAIT_YIELD) sched_yield();
    if (wait_mode == FENIX_SPARE_WAIT_SLEEP) {
      std::this_thread::sleep_for(nap);
      nap = std::min(nap * 2, kLongestNap);
    }
  }
}

void Process::wait_for_all_to_finish() { wait_for(all_places(), kEndTag, "all ranks to finish"); }

void Process::release_spares() {
  const char message = 0;
  // If this rank dies before it has told all of them, they notice, and all repair instead of finishing.
  for (int spare = places(); spare < places() + spares_; ++spare) {
    MPI_Send(&message, 1, MPI_CHAR, spare, kFinishTag, world_);
  }
}

bool Process::finish(bool repairs, const std::function<void()>& before_end) {
  try {
    fault_point("finish.begin");
    wait_for_all_to_finish();
    fault_point("finish.met");
    if (own_seat_.place == 0) release_spares();
  } catch (const PeerFailure&) {
    if (repairs) {
      repair();
      return false;
    }
    // Rank 0 may be among the dead: everybody tells the spares.
    release_spares();
  }
  const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::round);
  if (!agree_to(Intent::finish)) {
    noticed_ = MPI_Wtime();
    rebuild_communicators();
    return false;
  }
  fault_point("finish.agreed");
  before_end();
  free_comm(resilient_);
  free_comm(world_);
  watch_.end();
  return true;
}

}  // namespace fenix_impl

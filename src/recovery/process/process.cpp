// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/process/process.hpp"

#include <sched.h>
#include <mpi-ext.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <numeric>
#include <span>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "base/last_resort.hpp"
#include "base/log.hpp"
#include "interposition/interposer.hpp"
#include "recovery/process/comm_functions.hpp"
#include "recovery/process/derived.hpp"
#include "rma/mpi_team.hpp"
#include "rma/processes.hpp"

namespace fenix_impl {
namespace {

constexpr int kFinishTag = 1;

constexpr int kEndTag = 4;

// Meetings of different ranks may go on at the same time, in several threads.
constexpr int kFirstMeetingTag = 16;
constexpr int kMeetingTags = 1 << 14;

// A spare that notices a death gives the active ranks this long to begin the repair. As a rule they notice it
// themselves; until then the spare would burn a core in the agreement with which the repair starts.
constexpr std::chrono::seconds kPatience{1};

// Votes in the agreement at the end of a repair: this, and behind it a bit for each question whose answer is no.
constexpr int kBuilt = 1;
constexpr int kFirstQuestion = 1;

constexpr std::chrono::microseconds kShortestNap{100};
constexpr std::chrono::microseconds kLongestNap{10'000};

/// Makes the derived communicators of the program anew. Collective over resilient; nothing is done without one.
bool rebuild_derived(MPI_Comm resilient, const RepairPlan& plan) {
  if (resilient == MPI_COMM_NULL) return true;
  const auto recovered = std::make_unique<bool[]>(plan.recovered.size());
  std::copy(plan.recovered.begin(), plan.recovered.end(), recovered.get());
  return interposer()->rebuild(resilient, plan.former.data(), recovered.get()) == MPI_SUCCESS;
}

/// Says whether a step has succeeded on all ranks, and frees those that wait in it for this one. Collective over living.
/// yes: questions whose answer is yes here. some_yes: here or elsewhere.
bool agree_on(MPI_Comm living, bool done, int yes, int& some_yes) {
  // Bits that all have set are left.
  int votes = (done ? kBuilt : 0) | (Process::kQuestions & ~yes) << kFirstQuestion;
  if (!done) revoke(living);
  MPIX_Comm_agree(living, &votes);
  some_yes = Process::kQuestions & ~(votes >> kFirstQuestion);
  return (votes & kBuilt) != 0;
}

bool agree_on(MPI_Comm living, bool done) {
  int nobody = 0;
  return agree_on(living, done, 0, nobody);
}

}  // namespace

void Process::wait_for(const std::vector<int>& ranks, int tag, const char* waited_for) {
  std::unique_lock lock(barriers_mutex_);
  auto& kept = barriers_[{tag, ranks}];
  if (!kept) kept = std::make_shared<ResumableBarrier>(world_, ranks, tag);
  const auto barrier = kept;
  lock.unlock();
  MpiTeam world(world_, seating_.active, resilient_);
  barrier->wait([&] { world.check(); }, waited_for);
  lock.lock();
  barriers_.erase({tag, ranks});
}

void Process::meet(const std::vector<int>& ranks) {
  const auto number = static_cast<int>(hash_bytes(std::as_bytes(std::span(ranks))) % kMeetingTags);
  wait_for(ranks, kFirstMeetingTag + number, "all ranks to come");
}

std::vector<int> Process::all_ranks() const {
  std::vector<int> all(static_cast<std::size_t>(seating_.active));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

MPI_Comm Process::name() const { return interposer() != nullptr ? interposer()->name() : resilient_; }

MPI_Group Process::group_of(const std::vector<int>& ranks) const {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(resilient_, &all), "MPI_Comm_group");
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&all);
  return some;
}

MPI_Group Process::group_of_spares() const {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group spares = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(world_, &all), "MPI_Comm_group");
  std::vector<int> ranks(static_cast<std::size_t>(seating_.spares));
  std::iota(ranks.begin(), ranks.end(), seating_.active);
  MPI_Group_incl(all, seating_.spares, ranks.data(), &spares);
  MPI_Group_free(&all);
  return spares;
}

std::vector<int> Process::ranks_of(MPI_Comm comm) const {
  if (comm == MPI_COMM_NULL) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is MPI_COMM_NULL");
  constexpr const char* kPast = "comm is from before a repair: derive it again";
  if (has_handler(comm, handlers_.past)) throw Error(FENIX_ERROR_INVALID_ARGUMENT, kPast);
  if (is_revoked(comm)) {
    // A repair revokes it that is just beginning, which shows on the resilient communicator, too. Or the program did, or has given a
    // communicator from before a repair another handler.
    for (const Deadline deadline(kNoticeTakes); !deadline.passed();) {
      if (look_for_failures() != MPI_SUCCESS) throw PeerFailure(MPIX_ERR_REVOKED);
    }
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, kPast);
  }
  // Translation is skipped where it can be: Open MPI compares each rank with each.
  if (comm == resilient_) return all_ranks();
  MPI_Group theirs = MPI_GROUP_NULL;
  MPI_Group ours = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(comm, &theirs), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(resilient_, &ours), "MPI_Comm_group");
  int size = 0;
  MPI_Group_size(theirs, &size);
  std::vector<int> numbers(static_cast<std::size_t>(size));
  std::vector<int> ranks(numbers.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  MPI_Group_translate_ranks(theirs, size, numbers.data(), ours, ranks.data());
  MPI_Group_free(&theirs);
  MPI_Group_free(&ours);
  if (std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) != ranks.end()) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "comm is not a resilient communicator, or is one from before a repair");
  }
  return ranks;
}

std::vector<bool> Process::are_near(const std::vector<int>& ranks) const {
  std::vector<bool> near;
  for (const int rank : ranks) near.push_back(node_.includes(rank));
  return near;
}

int Process::waiting_spares() const {
  const auto failed = known_failed(world_);
  const auto dead_spares =
      std::count_if(failed.begin(), failed.end(), [&](int rank) { return rank >= seating_.active; });
  return seating_.spares - static_cast<int>(dead_spares);
}

int Process::look_for_failures() const {
  // Looks on world: messages of the application on the resilient communicator are left alone. Errors show below.
  make_progress(world_);
  // A repair revokes both. If world was the first, probes on it make no progress any more, and the other one would never show.
  if (is_revoked(resilient_) || is_revoked(world_)) return MPIX_ERR_REVOKED;
  return known_failed(resilient_).empty() ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED;
}

bool Process::agree_to(Intent intent) {
  const LastResort resort(kTimeoutsOfARound);
  constexpr int kFinish = 1;
  constexpr int kSpawn = 2;
  constexpr int kNoActive = 4;
  // Spares do not know the present setting of the active ranks. Alone they have their own.
  int votes = (intent == Intent::finish ? kFinish : 0) | (is_spare() || allows_spawning_ ? kSpawn : 0) |
              (is_spare() ? kNoActive : 0);
  // The result is the same on all living ranks, whatever the call returns. It works on a revoked communicator.
  MPIX_Comm_agree(world_, &votes);
  reinforcement_.allow((votes & kNoActive) != 0 ? allows_spawning_ : (votes & kSpawn) != 0);
  return ((votes & kFinish) != 0) == (intent == Intent::finish);
}

void Process::call_all_to_repair() {
  revoke(resilient_);
  revoke_derived(handlers_.present, resilient_);
  revoke(world_);
  watch_.ring();
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
  reinforcement_.begin();
  vain_turns_ = {};
  while (!try_to_rebuild()) {
    log().info("repairing again");
    vain_turns_.note_turn(world_);
  }
}

bool Process::try_to_rebuild() {
  const LastResort resort(kTimeoutsOfARound);
  fault_point("repair.agreed");
  MPI_Comm living = MPI_COMM_NULL;
  // The shrink is fault tolerant in itself: as a rule an error means that yet another rank has died in the meantime.
  if (!vain_turns_.run([&] { check_mpi(MPIX_Comm_shrink(world_, &living), "MPIX_Comm_shrink"); })) return false;
  MPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN);
  fault_point("repair.shrunk");
  if (size_of(living) < size_of(world_)) vain_turns_.note_death();
  const bool done = reinforcement_.run(living) && build_and_adopt(living);
  if (!done) world_ = living;
  return done;
}

bool Process::build_and_adopt(MPI_Comm living) {
  Rebuilt rebuilt;
  // Damaged communicators are never freed: see MpiTeam::~MpiTeam.
  const bool built = build_on(living, rebuilt);
  fault_point("repair.built");
  if (!agree_on(living, built, answer_(), some_said_yes_)) return false;
  // Not before: a rank that lacks the resilient communicator could not end the waits of others there.
  if (interposer() != nullptr && !agree_on(living, rebuild_derived(rebuilt.resilient, rebuilt.plan))) return false;
  adopt(rebuilt);
  fault_point("repair.done");
  return true;
}

void Process::run_with_active(const std::function<void(Team& team)>& work) {
  MpiTeam active(world_, seating_.active, resilient_);
  work(active);
}

void Process::restore_recovered_roles(bool had_it) {
  MpiTeam world(world_, seating_.active, resilient_);
  const int self = world.rank();
  for (const int rank : world.gather_some(std::span<const int>(&self, had_it ? 1 : 0))) {
    roles_.at(static_cast<std::size_t>(rank)) = FENIX_ROLE_RECOVERED_RANK;
    // Otherwise the numbers before this repair are others.
    if (!shrunk_ && std::find(failed_.begin(), failed_.end(), rank) == failed_.end()) failed_.push_back(rank);
  }
  std::sort(failed_.begin(), failed_.end());
  role_ = roles_.at(static_cast<std::size_t>(self));
}

bool Process::build_on(MPI_Comm living, Rebuilt& rebuilt) {
  const bool built = vain_turns_.run([&] { build(living, rebuilt, Occasion::repair); });
  if (!built) revoke(rebuilt.world);
  return built;
}

void Process::build(MPI_Comm living, Rebuilt& rebuilt, Occasion occasion) {
  const int rank = rank_in(living);
  if (occasion == Occasion::repair && fault_fails("repair.memory")) throw Error(out_of_memory());
  rebuilt.seats = seating_.seats_in(living);
  if (node_.has_joined() && occasion == Occasion::repair) tell_slots(living);
  node_.watch_living(living, seating_, rebuilt.seats);
  if (occasion == Occasion::start) fault_point("init.watched");
  RepairPlan& plan = rebuilt.plan;
  plan = plan_repair(seating_.active, seating_.spares, rebuilt.seats);

  const auto found = std::find(plan.active.begin(), plan.active.end(), rank);
  const bool active = found != plan.active.end();
  const auto key = active ? found - plan.active.begin()
                          : static_cast<std::ptrdiff_t>(plan.active.size()) +
                                (std::find(plan.spares.begin(), plan.spares.end(), rank) - plan.spares.begin());
  // Where nobody changes its place, the living are the world already. All messages on it have arrived.
  rebuilt.world = keeps_order(plan) ? living : split(living, 0, static_cast<int>(key));
  MPI_Comm_set_errhandler(rebuilt.world, MPI_ERRORS_RETURN);
  if (occasion == Occasion::repair) fault_point("repair.world");
  // Not of the new world: a rank that has failed to get that one could not end the waits of others here.
  rebuilt.resilient = split(living, active ? 0 : MPI_UNDEFINED, static_cast<int>(key));
}

// Processes that have joined do not know the slots. The first of the living has been there before.
void Process::tell_slots(MPI_Comm living) {
  if (slots_.by_rank().empty()) slots_.begin(seating_.active);
  std::vector<int> told = slots_.by_rank();
  told.resize(static_cast<std::size_t>(seating_.active));
  told.push_back(slots_.number());
  check_mpi(MPI_Bcast(told.data(), static_cast<int>(told.size()), MPI_INT, 0, living), "MPI_Bcast");
  const int number = told.back();
  told.pop_back();
  slots_.take(told, number);
}

void Process::adopt_communicators(const Rebuilt& rebuilt, Occasion occasion) {
  const RepairPlan& plan = rebuilt.plan;
  node_.renumber(seating_, rebuilt.seats, plan);
  slots_.renumber(plan.former, rebuilt.world);
  world_ = rebuilt.world;
  barriers_.clear();
  if (occasion == Occasion::repair && interposer() == nullptr) replace_handler(handlers_.present, handlers_.past);
  // Not all communicators of the program are recorded: intercommunicators, for example.
  if (occasion == Occasion::repair && interposer() != nullptr) {
    for_each_communicator([this](MPI_Comm comm) {
      if (has_handler(comm, handlers_.present)) interposer()->note_past(comm);
    });
  }
  // The old communicator is not freed: the application may have copies of the handle, and requests on it.
  resilient_ = rebuilt.resilient;
  if (resilient_ != MPI_COMM_NULL) MPI_Comm_set_errhandler(resilient_, handlers_.present);
  if (occasion == Occasion::repair && interposer() != nullptr && resilient_ != MPI_COMM_NULL) {
    interposer()->adopt(resilient_, handlers_.present);
  }
  roles_.clear();
  for (const bool recovered : plan.recovered) {
    roles_.push_back(recovered ? FENIX_ROLE_RECOVERED_RANK : FENIX_ROLE_SURVIVOR_RANK);
  }
  shrunk_ = plan.shrunk;
  const int rank = rank_in(world_);
  seating_ = {static_cast<int>(roles_.size()), static_cast<int>(plan.spares.size()), {}};
  seating_.own = seating_.seat_of(rank);
  const bool active = seating_.own.rank >= 0;
  role_ = active ? roles_[static_cast<std::size_t>(rank)] : static_cast<int>(FENIX_ROLE_SPARE_RANK);
}

void Process::adopt(const Rebuilt& rebuilt) {
  adopt_communicators(rebuilt, Occasion::repair);
  failed_ = rebuilt.plan.failed;
  ++repairs_;
  repaired_ = MPI_Wtime();
  log().info("repaired: {} active ranks, {} spares, {} dead, {:.1f} ms", seating_.active, seating_.spares,
             failed_.size(), (repaired_ - noticed_) * 1e3);
}

bool Process::world_revoked() {
  int found = 0;
  // A look into the queue lets MPI notice failures. Deaths of other ranks must not hide messages: acknowledge them.
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

bool Process::needs_spare(bool repairs) {
  const auto failed = known_failed(world_);
  const auto dead = std::count_if(failed.begin(), failed.end(), [&](int rank) { return rank < seating_.active; });
  return dead >= (repairs ? 1 : seating_.active);
}

bool Process::wait_as_spare(unsigned wait_mode, bool repairs) {
  auto nap = kShortestNap;
  Deadline patience(kPatience);
  while (true) {
    fault_point("spare.waits");
    const std::uint32_t rings = watch_.rings();
    const bool revoked = world_revoked();
    if (!needs_spare(repairs)) patience = Deadline(kPatience);
    if (revoked || patience.passed()) {
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
      nap = watch_.sleep(rings, nap) ? kShortestNap : std::min(nap * 2, kLongestNap);
    }
  }
}

void Process::wait_for_all_to_finish() { wait_for(all_ranks(), kEndTag, "all ranks to finish"); }

void Process::release_spares() {
  const char message = 0;
  // If this rank dies before it has told all spares, they notice, and all repair instead of finishing.
  for (int spare = seating_.active; spare < seating_.all(); ++spare) {
    MPI_Send(&message, 1, MPI_CHAR, spare, kFinishTag, world_);
  }
  watch_.ring();
}

bool Process::finish(bool repairs, const std::function<void()>& before_repair,
                     const std::function<void()>& before_end) {
  try {
    fault_point("finish.begin");
    wait_for_all_to_finish();
    fault_point("finish.met");
    if (seating_.own.rank == 0) release_spares();
  } catch (const PeerFailure&) {
    if (repairs) throw;
    // Rank 0 may be among the dead: every rank tells the spares.
    release_spares();
  }
  {
    const SilenceWatch::Wait wait(watch_, SilenceWatch::Wait::Kind::round);
    if (!agree_to(Intent::finish)) {
      noticed_ = MPI_Wtime();
      call_all_to_repair();
      before_repair();
      rebuild_communicators();
      return false;
    }
  }
  fault_point("finish.agreed");
  before_end();
  let_go_of_communicators();
  free_comm(world_);
  watch_.end();
  return true;
}

void Process::let_go_of_communicators() {
  replace_handler(handlers_.present, MPI_ERRORS_RETURN);
  replace_handler(handlers_.past, MPI_ERRORS_RETURN);
}

}  // namespace fenix_impl

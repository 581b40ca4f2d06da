// SPDX-License-Identifier: BSD-3-Clause
// A team whose ranks are threads of one process, and can die at any step.
//
// A rank dies by an exception that ends its thread. Its peers learn of it as they would with MPI: their collective calls
// and checks throw PeerFailure, except those that were complete already. Bytes that it had written to its peers stay.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "rma/map_path.hpp"
#include "rma/path.hpp"
#include "rma/team.hpp"
#include "support/failing_allocations.hpp"

namespace fenix_test {

constexpr int kTimeoutSeconds = 20;

// Waits of the library end soon enough to be seen as failures of the test.
inline const bool timeout_is_set = setenv("FENIX_TIMEOUT", std::to_string(kTimeoutSeconds).c_str(), 0) == 0;

/// Ends the thread of a rank that dies. Not a std::exception, so that nobody takes it for an error.
struct Death {};

/// How long a rank lives, in steps. Before, within and after each operation that peers can notice there is a step.
class Life {
 public:
  static constexpr int kEndless = -1;

  void set_steps(int steps) { steps_ = steps; }
  [[nodiscard]] bool ends_now() { return steps_ >= 0 && steps_-- == 0; }

 private:
  int steps_ = kEndless;
};

/// The state that the ranks of a team share.
class Crew {
 public:
  explicit Crew(int size)
      : size_(size),
        next_round_(static_cast<std::size_t>(size)),
        dead_(next_round_.size()),
        left_(next_round_.size()) {}

  [[nodiscard]] int size() const { return size_; }

  /// Ranks, as bits, that see failures early: in collective operations that were complete, as MPI may do, and in reads and
  /// writes of a dead rank's memory, as paths other than this one do.
  void set_unlucky(unsigned ranks) { unlucky_ = ranks; }

  void kill(int rank) {
    const std::lock_guard lock(mutex_);
    dead_[index(rank)] = true;
    changed_.notify_all();
  }

  [[nodiscard]] bool is_dead(int rank) {
    const std::lock_guard lock(mutex_);
    return dead_[index(rank)];
  }

  /// The rank takes part in nothing any more: waiting for it is a mistake of the code under test.
  void leave(int rank) {
    const std::lock_guard lock(mutex_);
    left_[index(rank)] = true;
    changed_.notify_all();
  }

  /// The next phase begins with all.
  void all_return() {
    const std::lock_guard lock(mutex_);
    left_.assign(left_.size(), false);
  }

  void dissolve() {
    const std::lock_guard lock(mutex_);
    dissolved_ = true;
    changed_.notify_all();
  }

  /// A rank has no memory to go on with.
  void withdraw() {
    const std::lock_guard lock(mutex_);
    withdrawn_ = true;
    changed_.notify_all();
  }

  void check(int rank) {
    const std::lock_guard lock(mutex_);
    if (dead_[index(rank)]) throw Death{};
    if (dissolved_ || has_dead()) fail();
    look_for_withdrawals();
  }

  /// The peer dies whose memory the rank wants to access when it has accessed others so many times, and the rank sees it.
  void cut_off(int rank, int accesses) {
    cut_off_ = rank;
    accesses_ = accesses;
  }

  /// How often a rank has accessed the memory of its peers.
  [[nodiscard]] int accesses_of(int rank) {
    const std::lock_guard lock(mutex_);
    return accessed_[rank];
  }

  /// Called before each access to the memory of a peer.
  void reach_out(int rank, int target) {
    const std::lock_guard lock(mutex_);
    if (target != rank) ++accessed_[rank];
    if (rank == cut_off_ && target != rank && accesses_-- == 0) {
      dead_[index(target)] = true;
      fail();
    }
    if (is_unlucky(rank) && (dissolved_ || dead_[index(target)])) fail();
  }

  /// A step of a rank: it may be its last one.
  void step(int rank, Life& life) {
    const std::lock_guard lock(mutex_);
    if (life.ends_now()) die(rank);
    if (dead_[index(rank)]) throw Death{};
  }

  /// Takes part in the rank's next collective operation. root: whose piece all get, or kAll.
  std::vector<std::byte> share(int rank, Life& life, int root, std::span<const std::byte> mine) {
    step(rank, life);
    std::vector<std::byte> result;
    {
      std::unique_lock lock(mutex_);
      if (dead_[index(rank)]) throw Death{};
      if (dissolved_) fail();
      look_for_withdrawals();
      Round& round = rounds_[next_round_[index(rank)]++];
      give(round, rank, root, mine);
      if (life.ends_now()) die(rank);
      // Wakes the others when they can go on, and get the lock.
      if (complete(round)) {
        lock.unlock();
        changed_.notify_all();
        lock.lock();
      }
      await(lock, rank, round);
      if (has_dead() && is_unlucky(rank)) fail();
      result = round.data;
    }
    step(rank, life);
    return result;
  }

  static constexpr int kAll = -1;

 private:
  struct Round {
    int root = kAll;
    std::size_t piece = 0;
    std::vector<bool> given;
    std::vector<std::byte> data;
  };

  [[nodiscard]] static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  [[nodiscard]] bool is_unlucky(int rank) const { return (unlucky_ >> rank & 1U) != 0; }
  [[nodiscard]] bool has_dead() const { return std::find(dead_.begin(), dead_.end(), true) != dead_.end(); }

  [[noreturn]] void die(int rank) {
    dead_[index(rank)] = true;
    changed_.notify_all();
    throw Death{};
  }

  [[noreturn]] void fail() {
    dissolved_ = true;
    changed_.notify_all();
    constexpr int some_mpi_error = 75;
    throw fenix_impl::PeerFailure(some_mpi_error);
  }

  void look_for_withdrawals() const {
    if (withdrawn_) throw fenix_impl::Error(FENIX_ERROR_NO_MEMORY, "a rank has no memory to go on with");
  }

  void give(Round& round, int rank, int root, std::span<const std::byte> mine) const {
    const bool first = round.given.empty();
    if (first) {
      round = {root, mine.size(), std::vector<bool>(index(size_)), {}};
      round.data.resize(root == kAll ? mine.size() * index(size_) : mine.size());
    }
    if (round.root != root || round.piece != mine.size()) {
      throw std::logic_error("rank " + std::to_string(rank) + " makes another collective call than its peers");
    }
    round.given[index(rank)] = true;
    if (root != kAll && root != rank) return;
    std::copy(mine.begin(), mine.end(),
              round.data.begin() + static_cast<std::ptrdiff_t>(root == kAll ? index(rank) * mine.size() : 0));
  }

  [[nodiscard]] bool misses(const Round& round, int rank) const {
    return !round.given[index(rank)] && (round.root == kAll || round.root == rank);
  }

  [[nodiscard]] bool complete(const Round& round) const {
    for (int rank = 0; rank < size_; ++rank) {
      if (misses(round, rank)) return false;
    }
    return true;
  }

  void await(std::unique_lock<std::mutex>& lock, int waiting, const Round& round) {
    const fenix_impl::Deadline deadline{std::chrono::seconds(kTimeoutSeconds)};
    while (!complete(round)) {
      if (dead_[index(waiting)]) throw Death{};
      if (dissolved_ || has_dead()) fail();
      look_for_withdrawals();
      for (int rank = 0; rank < size_; ++rank) {
        if (misses(round, rank) && left_[index(rank)]) {
          throw std::logic_error("a collective call waits for rank " + std::to_string(rank) + ", which has ended");
        }
      }
      if (deadline.passed()) throw std::logic_error("a collective call waits for ever");
      changed_.wait_for(lock, std::chrono::seconds(1));
    }
  }

  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, Round> rounds_;
  std::vector<std::size_t> next_round_;
  std::vector<bool> dead_;
  std::vector<bool> left_;
  bool dissolved_ = false;
  bool withdrawn_ = false;
  unsigned unlucky_ = 0;
  int cut_off_ = -1;
  int accesses_ = 0;
  std::map<int, int> accessed_;
};

class ThreadTeam final : public fenix_impl::Team {
 public:
  ThreadTeam(std::shared_ptr<Crew> crew, int rank, std::shared_ptr<Life> life, fenix_impl::Location location = {})
      : crew_(std::move(crew)), rank_(rank), life_(std::move(life)), location_(location) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return crew_->size(); }
  [[nodiscard]] bool sound() const override { return sound_; }
  [[nodiscard]] fenix_impl::Location location() const override { return location_; }
  void check() override {
    unless_cut_short([&] { crew_->check(rank_); });
  }
  void dissolve() noexcept override { crew_->dissolve(); }
  void withdraw() noexcept override {
    const AllocationsSucceed here;
    sound_ = false;
    crew_->withdraw();
  }

  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override { share(Crew::kAll, mine, all); }

  void broadcast(std::span<std::byte> data, int root) override { share(root, data, data); }

  // Merges as MpiTeam does: what is merged already, of several ranks, and of some of them twice.
  void allreduce(std::span<std::byte> mine, const Merge& merge) override {
    const AllocationsSucceed here;
    const auto ranks = static_cast<std::size_t>(size());
    std::vector<std::byte> merged(ranks * mine.size());
    allgather(mine, merged);
    const auto piece = [&](std::vector<std::byte>& of, std::size_t rank) {
      return std::span(of).subspan(rank % ranks * mine.size(), mine.size());
    };
    for (std::size_t distance = 1; distance < ranks; distance *= 2) {
      auto before = merged;
      for (std::size_t rank = 0; rank < ranks; ++rank)
        merge(piece(merged, rank), piece(before, rank + ranks - distance));
    }
    const auto result = piece(merged, static_cast<std::size_t>(rank_));
    std::copy(result.begin(), result.end(), mine.begin());
  }

  void allreduce_lists(std::vector<std::byte>& mine, const MergeLists& merge) override {
    const AllocationsSucceed here;
    auto merged = gather_lists(std::span<const std::byte>(mine));
    for (std::size_t distance = 1; distance < merged.size(); distance *= 2) {
      const auto before = merged;
      for (std::size_t rank = 0; rank < merged.size(); ++rank)
        merge(merged[rank], before[(rank + merged.size() - distance) % merged.size()]);
    }
    mine = merged[static_cast<std::size_t>(rank_)];
  }

 private:
  void share(int root, std::span<const std::byte> mine, std::span<std::byte> all) {
    unless_cut_short([&] {
      const auto result = crew_->share(rank_, *life_, root, mine);
      std::copy(result.begin(), result.end(), all.begin());
    });
  }

  template <class Work>
  void unless_cut_short(Work&& work) {
    const AllocationsSucceed here;
    try {
      work();
    } catch (...) {
      sound_ = false;
      throw;
    }
  }

  bool sound_ = true;
  std::shared_ptr<Crew> crew_;
  int rank_;
  std::shared_ptr<Life> life_;
  fenix_impl::Location location_;
};

/// Passes on to other remote regions. The rank may die between any two of its operations, and halfway through those that are
/// not seen all at once.
class MortalRemoteRegions final : public fenix_impl::RemoteRegions {
 public:
  MortalRemoteRegions(std::unique_ptr<RemoteRegions> inner, std::shared_ptr<Crew> crew, int rank,
                      std::shared_ptr<Life> life, bool apart)
      : inner_(std::move(inner)), crew_(std::move(crew)), rank_(rank), life_(std::move(life)), apart_(apart) {}

  std::span<std::byte> direct(int target, std::size_t offset, std::size_t bytes) override {
    crew_->reach_out(rank_, target);
    step();
    return apart_ ? std::span<std::byte>() : inner_->direct(target, offset, bytes);
  }
  void reach(int target) override { inner_->reach(target); }
  void reserve(int target, std::size_t offset, std::size_t bytes) override { inner_->reserve(target, offset, bytes); }
  void put(int target, std::size_t offset, std::span<const std::byte> data) override {
    const std::size_t half = data.size() / 2;
    crew_->reach_out(rank_, target);
    step();
    inner_->put(target, offset, data.first(half));
    step();
    inner_->put(target, offset + half, data.subspan(half));
    step();
  }
  void get(int target, std::size_t offset, std::span<std::byte> data) override {
    crew_->reach_out(rank_, target);
    step();
    inner_->get(target, offset, data);
    step();
  }
  void flush(int target) override { inner_->flush(target); }
  [[nodiscard]] bool is_flushed(int target) override { return inner_->is_flushed(target); }
  void put_words(int target, std::size_t offset, std::span<const std::uint64_t> words) override {
    crew_->reach_out(rank_, target);
    for (std::size_t i = 0; i < words.size(); ++i) {
      step();
      inner_->put_words(target, offset + i * sizeof words[i], words.subspan(i, 1));
    }
    step();
  }

 private:
  void step() { crew_->step(rank_, *life_); }

  std::unique_ptr<RemoteRegions> inner_;
  std::shared_ptr<Crew> crew_;
  int rank_;
  std::shared_ptr<Life> life_;
  bool apart_;
};

/// The path of ranks that are threads: each other's regions are mapped, once more in the same process.
class MortalPath final : public fenix_impl::Path {
 public:
  /// apart: nobody gets at the others' bytes but by reads and writes, as over a network.
  MortalPath(std::shared_ptr<Crew> crew, int rank, std::shared_ptr<Life> life, bool apart = false)
      : crew_(std::move(crew)), rank_(rank), life_(std::move(life)), apart_(apart) {}

  /// The region that was exposed first: the control region of a group, while it exists.
  [[nodiscard]] std::span<std::byte> first_region() const { return first_region_; }

  /// Exposes so many regions more, and no others.
  void expose_at_most(int regions) { left_ = regions; }

  /// Says from now on that it makes all memory real.
  void say_real() { says_real_ = true; }

  [[nodiscard]] std::string_view name() const override { return map_.name(); }
  [[nodiscard]] bool puts_are_copies(int target) const override { return map_.puts_are_copies(target); }
  [[nodiscard]] bool makes_memory_real() const override { return says_real_; }
  std::unique_ptr<fenix_impl::RemoteRegions> expose(fenix_impl::Team& team, const fenix_impl::Region& region) override {
    if (first_region_.empty()) first_region_ = region.bytes();
    auto exposed = map_.expose(team, region);
    if (left_ == 0) throw fenix_impl::Error(FENIX_ERROR_NO_MEMORY, "the path exposes no more regions");
    if (left_ > 0) --left_;
    return std::make_unique<MortalRemoteRegions>(std::move(exposed), crew_, rank_, life_, apart_);
  }

 private:
  fenix_impl::MapPath map_;
  std::span<std::byte> first_region_;
  std::shared_ptr<Crew> crew_;
  int rank_;
  std::shared_ptr<Life> life_;
  bool apart_;
  bool says_real_ = false;
  int left_ = -1;  ///< regions that it still exposes; negative: any number
};

}  // namespace fenix_test

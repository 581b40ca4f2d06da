// SPDX-License-Identifier: BSD-3-Clause
// Ranks that are threads, with a journal each.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "messages/journal/journal.hpp"
#include "support/one_processor.hpp"
#include "support/thread_team.hpp"

namespace fenix_test {

constexpr std::size_t kJournalRing = fenix_impl::Ring::bytes_for(10240);

inline std::vector<std::byte> journal_bytes(std::size_t bytes, unsigned value) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(value * 31 + i);
  return data;
}

enum class JobEnd { done, failed, died };

/// Ranks with a journal each. The dead get a new process with the next repair.
class JournalJob {
 public:
  using Work = std::function<void(int rank, fenix_impl::Journal& journal)>;

  JournalJob(int ranks, int copies, bool apart, std::size_t ring_bytes = kJournalRing)
      : apart_(apart), journals_(static_cast<std::size_t>(ranks)) {
    parameters_ = {ring_bytes, copies, 1};
    for (int rank = 0; rank < ranks; ++rank) make(rank, false);
    new_team();
  }

  [[nodiscard]] int size() const { return static_cast<int>(journals_.size()); }
  [[nodiscard]] fenix_impl::Journal& journal(int rank) { return *journals_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] fenix_impl::Team& team(int rank) { return *teams_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool is_dead(int rank) const { return journals_[static_cast<std::size_t>(rank)] == nullptr; }
  void doom(int rank, int steps) { lives_[static_cast<std::size_t>(rank)]->set_steps(steps); }
  void set_unlucky(unsigned ranks) { crew_->set_unlucky(ranks); }

  void kill(int rank) {
    crew_->kill(rank);
    journals_[static_cast<std::size_t>(rank)].reset();
  }

  /// Runs work on all living ranks at once. How it ended, by rank.
  std::vector<JobEnd> run(const Work& work) {
    std::vector<JobEnd> ends(journals_.size(), JobEnd::died);
    const OneProcessor together;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size(); ++rank) {
      if (is_dead(rank)) continue;
      threads.emplace_back([&, rank] {
        JobEnd& end = ends[static_cast<std::size_t>(rank)];
        try {
          work(rank, journal(rank));
          end = JobEnd::done;
        } catch (const fenix_impl::PeerFailure&) {
          end = JobEnd::failed;
        } catch (const Death&) {
          end = JobEnd::died;
        } catch (const std::exception& error) {
          ADD_FAILURE() << "rank " << rank << ": " << error.what();
        }
        if (end != JobEnd::done) crew_->leave(rank);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (int rank = 0; rank < size(); ++rank) {
      if (ends[static_cast<std::size_t>(rank)] == JobEnd::died) journals_[static_cast<std::size_t>(rank)].reset();
    }
    crew_->all_return();
    return ends;
  }

  /// Attaches to the team that there is.
  std::vector<JobEnd> attach() {
    return run([this](int rank, fenix_impl::Journal& journal) {
      std::vector<int> slots(journals_.size());
      for (int i = 0; i < size(); ++i) slots[static_cast<std::size_t>(i)] = i;
      const auto index = static_cast<std::size_t>(rank);
      const auto choose = [&] { return std::make_shared<MortalPath>(crew_, rank, lives_[index], apart_); };
      journal.attach(*teams_[index], choose, slots);
    });
  }

  /// Replaces the dead, and makes a team of all.
  void replace() {
    for (int rank = 0; rank < size(); ++rank) {
      if (is_dead(rank)) make(rank, true);
    }
    new_team();
  }

  void repair() {
    replace();
    while (std::find_if(journals_.begin(), journals_.end(), [](const auto& each) { return !each->is_attached(); }) !=
           journals_.end()) {
      const auto ends = attach();
      if (std::all_of(ends.begin(), ends.end(), [](JobEnd end) { return end == JobEnd::done; })) return;
      replace();
    }
  }

 private:
  void make(int rank, bool is_new) {
    journals_[static_cast<std::size_t>(rank)] = std::make_unique<fenix_impl::Journal>(parameters_, rank, is_new);
  }
  void new_team() {
    crew_ = std::make_shared<Crew>(size());
    lives_.clear();
    teams_.clear();
    for (int rank = 0; rank < size(); ++rank) {
      if (!is_dead(rank)) journal(rank).detach();
      lives_.push_back(std::make_shared<Life>());
      teams_.push_back(std::make_shared<ThreadTeam>(crew_, rank, lives_.back()));
    }
  }

  bool apart_;
  fenix_impl::JournalParameters parameters_;
  std::vector<std::unique_ptr<fenix_impl::Journal>> journals_;
  std::shared_ptr<Crew> crew_;
  std::vector<std::shared_ptr<Life>> lives_;
  std::vector<std::shared_ptr<ThreadTeam>> teams_;
};

}  // namespace fenix_test

// SPDX-License-Identifier: BSD-3-Clause
// A job of several ranks in one process: phases of work on a team, deaths, and repairs in between.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/group.hpp"
#include "core/group_recovery.hpp"
#include "recovery/groups/rejoin/rejoin.hpp"
#include "support/one_processor.hpp"
#include "support/thread_team.hpp"

namespace fenix_test {

/// How a rank's part in a phase ended.
struct Outcome {
  enum class Ending { done, failure_seen, died, error, broken };

  Ending ending = Ending::broken;
  Fenix_Return_codes code = FENIX_SUCCESS;  ///< for error
  std::string text;                         ///< for error, broken

  bool operator==(Ending other) const { return ending == other; }
};

using Ending = Outcome::Ending;

inline std::ostream& operator<<(std::ostream& out, Ending ending) {
  constexpr const char* names[] = {"done", "failure seen", "died", "error", "broken"};
  return out << names[static_cast<int>(ending)];
}

inline std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << outcome.ending << " " << outcome.code << " " << outcome.text;
}

/// One rank: a place in the job, and what its process has.
struct Rank {
  int number = 0;  ///< in the team
  int origin = 0;  ///< what number was before the team shrank: tells whose data it has
  bool alive = true;
  fenix_impl::Location location;
  std::shared_ptr<Life> life;
  std::shared_ptr<ThreadTeam> team;
  std::shared_ptr<MortalPath> path;
  std::unique_ptr<fenix_impl::Group> group;
  std::map<int, std::vector<std::uint32_t>> buffers;  ///< source buffers by member
  bool allocates = false;                             ///< the library has the memory for source buffers

  void lose_everything() {
    alive = false;
    group.reset();
    buffers.clear();
  }
};

class Job {
 public:
  using Body = std::function<void(Rank&)>;

  explicit Job(int size) {
    for (int number = 0; number < size; ++number) {
      Rank& each = ranks_.emplace_back();
      each.number = each.origin = number;
    }
    form_team();
  }

  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] Rank& rank(int number) { return ranks_.at(static_cast<std::size_t>(number)); }
  [[nodiscard]] std::vector<Rank>& ranks() { return ranks_; }
  [[nodiscard]] Crew& crew() { return *crew_; }

  /// From here on, each rank is on a node of its own, as far as access to memory goes. Makes a new team.
  void put_apart() {
    apart_ = true;
    form_team();
  }

  /// The rank dies after so many steps of the next phase. unlucky: see Crew.
  void doom(int number, int steps, unsigned unlucky = 0) {
    rank(number).life->set_steps(steps);
    crew_->set_unlucky(unlucky);
  }

  /// The rank dies now.
  void kill(int number) {
    crew_->kill(number);
    rank(number).lose_everything();
  }

  /// Runs body on all living ranks at once, each in a thread. Outcomes of the others are "died".
  std::vector<Outcome> run(const Body& body) {
    std::vector<Outcome> outcomes(ranks_.size(), {Ending::died, FENIX_SUCCESS, ""});
    const OneProcessor together;
    std::vector<std::thread> threads;
    for (Rank& each : ranks_) {
      if (!each.alive) continue;
      threads.emplace_back([&, this] { outcomes[static_cast<std::size_t>(each.number)] = run_one(each, body); });
    }
    for (std::thread& thread : threads) thread.join();
    crew_->all_return();
    return outcomes;
  }

  /// Gives new processes the places of the dead, and all a new team.
  void repair() {
    for (Rank& each : ranks_) each.alive = true;
    form_team();
  }

  /// Settles commits in place that were cut short, as the library does before the application gets control. Ranks may die
  /// meanwhile: they are replaced.
  void settle() {
    bool settled = false;
    while (!settled) {
      const auto outcomes = run([](Rank& each) {
        std::vector<fenix_impl::GroupRecovery> formed;
        if (each.group && each.group->ranks().size > 0) formed.push_back(each.group->recovery());
        fenix_impl::GroupRecovery::settle(*each.team, formed);
      });
      settled = std::all_of(outcomes.begin(), outcomes.end(),
                            [](const Outcome& each) { return each.ending == Ending::done; });
      if (!settled) repair();
    }
  }

  /// Closes up the places of the dead, and gives all a new team.
  void shrink() {
    std::erase_if(ranks_, [](const Rank& each) { return !each.alive; });
    int number = 0;  ///< in the team
    for (Rank& each : ranks_) each.number = number++;
    form_team();
  }

 private:
  void form_team() {
    crew_ = std::make_shared<Crew>(size());
    for (Rank& each : ranks_) {
      if (each.group) each.group->detach();
      each.life = std::make_shared<Life>();
      each.team = std::make_shared<ThreadTeam>(crew_, each.number, each.life, each.location);
      each.path = std::make_shared<MortalPath>(crew_, each.number, each.life, apart_);
    }
  }

  Outcome run_one(Rank& each, const Body& body) {
    const auto outcome = [&]() -> Outcome {
      try {
        body(each);
        return {Ending::done, FENIX_SUCCESS, ""};
      } catch (const Death&) {
        each.lose_everything();
        return {Ending::died, FENIX_SUCCESS, ""};
      } catch (const fenix_impl::PeerFailure&) {
        crew_->dissolve();
        return {Ending::failure_seen, FENIX_SUCCESS, ""};
      } catch (const fenix_impl::Error& error) {
        return {Ending::error, error.code(), error.what()};
      } catch (const std::exception& error) {
        return {Ending::broken, FENIX_SUCCESS, error.what()};
      }
    }();
    crew_->leave(each.number);
    return outcome;
  }

  std::vector<Rank> ranks_;
  std::shared_ptr<Crew> crew_;
  bool apart_ = false;
};

}  // namespace fenix_test

// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fenix.hpp>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace heat2d {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Converts a time of MPI_Wtime, which has another origin in each process.
double epoch_seconds(double wtime) { return now() - MPI_Wtime() + wtime; }

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", 1e3 * seconds);
  return text;
}

std::string with_process(const std::string& who, int number, int process) {
  const std::string name = who + std::to_string(number);
  return process > 0 ? name + " (process " + std::to_string(process) + ")" : name;
}

// Chooses the survivor that knows of most deaths: other ranks may have joined after the first of several failures.
int choose_reporter(const std::vector<News>& news) {
  const auto most =
      std::max_element(news.begin(), news.end(), [](const News& a, const News& b) { return a.recent < b.recent; });
  return most->recent > 0 ? static_cast<int>(most - news.begin()) : -1;
}

template <typename Value>
Value latest(const std::vector<News>& news, Value News::*value) {
  Value most = news.front().*value;
  for (const News& rank : news) most = std::max(most, rank.*value);
  return most;
}

double first_noticed(const std::vector<News>& news) {
  double first = 0.0;
  for (const News& rank : news) {
    if (rank.noticed > 0.0 && (first <= 0.0 || rank.noticed < first)) first = rank.noticed;
  }
  return first;
}

}  // namespace

bool is_spawned() {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  return parent != MPI_COMM_NULL;
}

Reporter::Reporter(std::filesystem::path out) : out_(std::move(out)) {}

void Reporter::note_failure(int step) {
  const std::vector<int> dead = fenix::fail_list();
  double noticed = 0.0;
  double repaired = 0.0;
  if (Fenix_Process_repair_times(&noticed, &repaired) == FENIX_SUCCESS && recent_.empty()) {
    noticed_ = epoch_seconds(noticed);
  }
  recent_.insert(recent_.end(), dead.begin(), dead.end());
  deaths_ += static_cast<int>(dead.size());
  step_ = std::max(step_, step);
}

std::vector<News> Reporter::exchange(MPI_Comm comm) const {
  News mine{};
  mine.process = getpid();
  MPI_Comm_rank(MPI_COMM_WORLD, &mine.world_rank);
  mine.spawned = is_spawned() ? 1 : 0;
  mine.step = step_;
  mine.recent = static_cast<int>(recent_.size());
  mine.deaths = deaths_;
  mine.failures = failures_;
  mine.noticed = noticed_;
  double noticed = 0.0;
  double repaired = 0.0;
  if (Fenix_Process_repair_times(&noticed, &repaired) == FENIX_SUCCESS) mine.repaired = epoch_seconds(repaired);
  mine.restored = now();

  int size = 0;
  MPI_Comm_size(comm, &size);
  std::vector<News> news(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, news.data(), sizeof mine, MPI_BYTE, comm);
  return news;
}

int Reporter::report(MPI_Comm comm, const Resumption& from) {
  const std::vector<News> news = exchange(comm);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const int reporter = choose_reporter(news);
  if (reporter == rank) print(news, from);
  // All ranks keep their data until the report is printed.
  MPI_Barrier(comm);

  processes_.clear();
  for (const News& each : news) processes_.push_back(each.process);
  deaths_ = latest(news, &News::deaths);
  failures_ = latest(news, &News::failures) + (reporter >= 0 ? 1 : 0);
  recent_.clear();
  step_ = -1;
  noticed_ = 0.0;
  return reporter;
}

int Reporter::process_of(int dead) const {
  return static_cast<std::size_t>(dead) < processes_.size() ? processes_[static_cast<std::size_t>(dead)] : 0;
}

double Reporter::time_of_first_kill() const {
  double first = 0.0;
  for (const int dead : recent_) {
    double seconds = 0.0;
    std::ifstream(out_ / "kills" / std::to_string(process_of(dead))) >> seconds;
    if (seconds > 0.0 && (first <= 0.0 || seconds < first)) first = seconds;
  }
  return first;
}

void Reporter::print_death(std::ostream& text, int dead, const std::vector<News>& news) const {
  const int ranks = static_cast<int>(news.size());
  const int ranks_before = processes_.empty() ? ranks : static_cast<int>(processes_.size());
  if (dead >= ranks_before) {
    text << "heat2d: spare " << dead - ranks_before << " died\n";
    return;
  }
  const bool again = std::count(recent_.begin(), recent_.end(), dead) > 1;
  text << "heat2d: " << with_process("rank ", dead, process_of(dead)) << " died in step "
       << latest(news, &News::step) + 1 << (again ? ", and so did its replacement" : "") << "\n        ";
  if (ranks < ranks_before) {
    text << "nobody took over: " << ranks << " ranks share the plate\n";
  } else {
    const News& successor = news[static_cast<std::size_t>(dead)];
    text << (successor.spawned != 0 ? "a new process (process " + std::to_string(successor.process) + ")"
                                    : with_process("spare ", successor.world_rank - ranks, successor.process))
         << " took over\n";
  }
}

void Reporter::print_times(std::ostream& text, const std::vector<News>& news) const {
  const double noticed = first_noticed(news);
  const double repaired = latest(news, &News::repaired);
  const double killed = time_of_first_kill();
  text << "        ";
  if (killed > 0.0) text << "noticed after " << milliseconds(noticed - killed) << ", ";
  text << "repaired in " << milliseconds(repaired - noticed) << ", restored in "
       << milliseconds(latest(news, &News::restored) - repaired) << "\n";
}

void Reporter::print(const std::vector<News>& news, const Resumption& from) const {
  std::ostringstream text;
  for (const int dead : std::set<int>(recent_.begin(), recent_.end())) print_death(text, dead, news);
  if (from.time_stamp >= 0) {
    text << "        all went on from time stamp " << from.time_stamp << ", step " << from.step << "\n";
  } else {
    text << "        " << (from.lost ? "all copies of a checkpoint were lost" : "there was no checkpoint yet")
         << ": all started again from step 0\n";
  }
  print_times(text, news);
  // Printed by one call, so that it is not mixed with lines of other ranks.
  const std::string all = text.str();
  std::fwrite(all.data(), 1, all.size(), stdout);
  std::fflush(stdout);
}

}  // namespace heat2d

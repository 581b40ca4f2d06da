// SPDX-License-Identifier: BSD-3-Clause
// Schedules as text: a word and numbers on each line.
#include "schedule.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace fenix_simulation {
namespace {

constexpr std::array<std::string_view, 9> kActions{"die",       "node_dies", "stop",     "flip",       "refuse",
                                                   "no_memory", "pass",      "job_dies", "power_fails"};

template <class Work>
void visit(Work& work, auto&& visitor) {
  visitor("seed_of_work", work.seed);
  visitor("ranks", work.ranks);
  visitor("spares", work.spares);
  visitor("ranks_per_node", work.ranks_per_node);
  visitor("steps", work.steps);
  visitor("barrier_of", work.barrier_of);
  visitor("partial_of", work.partial_of);
  visitor("skipped_of", work.skipped_of);
  visitor("deletions_of", work.deletions_of);
  visitor("messages_of", work.messages_of);
  visitor("verified_of", work.verified_of);
  visitor("inspected_of", work.inspected_of);
  visitor("asynchronous", work.asynchronous);
  visitor("releases", work.releases);
  visitor("warm", work.warm);
  visitor("path", work.path);
  visitor("timeout", work.timeout);
  visitor("jobs", work.jobs);
  visitor("later_ranks", work.later_ranks);
  visitor("pause", work.pause);
  visitor("flush_of", work.flush_of);
  visitor("named_of", work.named_of);
  visitor("asked_of", work.asked_of);
  visitor("fetched_of", work.fetched_of);
  visitor("lease", work.lease);
  visitor("kept", work.kept);
  visitor("flush_timeout", work.flush_timeout);
}

template <class Around>
void visit_surroundings(Around& around, auto&& visitor) {
  visitor("yields", around.yields);
  visitor("stalls", around.stalls);
  visitor("late_notices", around.late_notices);
  visitor("slow_notices", around.slow_notices);
  visitor("slow_network", around.slow_network);
  visitor("rendezvous", around.rendezvous);
  visitor("uneven", around.uneven);
  visitor("basic_keys", around.basic_keys);
  visitor("open_mpi", around.open_mpi);
  visitor("disk_errors", around.disk_errors);
  visitor("disk_hangs", around.disk_hangs);
}

void read_group(std::istringstream& line, Schedule& schedule) {
  GroupPlan group;
  int policy = 0;
  line >> policy >> group.separation >> group.size >> group.losses >> group.depth >> group.hashing >> group.in_place;
  group.policy = static_cast<Policy>(policy);
  for (MemberPlan member; line >> member.count >> member.spread >> member.bytes;) group.members.push_back(member);
  line.clear();
  schedule.work.groups.push_back(group);
}

void read_edit(std::istringstream& line, Schedule& schedule) {
  std::string kind;
  Edit edit;
  line >> kind >> edit.who >> edit.from >> edit.to >> edit.salt;
  if (!find_kind(kind, edit.kind)) throw std::runtime_error("no kind of choice: " + kind);
  schedule.edits.push_back(edit);
}

void read_line(const std::string& text, Schedule& schedule) {
  std::istringstream line(text);
  std::string word;
  if (!(line >> word) || word.starts_with('#')) return;
  bool known = false;
  const auto read = [&](std::string_view name, auto& value) {
    if (word == name) known = static_cast<bool>(line >> value);
  };
  read("seed", schedule.seed);
  visit(schedule.work, read);
  visit_surroundings(schedule.surroundings, read);
  if (known) return;
  if (word == "group") {
    read_group(line, schedule);
  } else if (word == "edit") {
    read_edit(line, schedule);
  } else if (Event event; parse(text, event)) {
    schedule.events.push_back(event);
    return;
  } else {
    throw std::runtime_error("not a line of a schedule: " + text);
  }
  if (line.fail()) throw std::runtime_error("a line of a schedule lacks something: " + text);
}

}  // namespace

std::string text_of(const Event& event) {
  std::ostringstream text;
  text << kActions[static_cast<std::size_t>(event.what)] << ' ' << event.process << ' ';
  if (event.when == Event::When::place) text << "place " << event.number;
  if (event.when == Event::When::point) text << "point " << event.point << ' ' << event.number;
  if (event.when == Event::When::time) text << "time " << event.number;
  text << " later " << event.later << " after " << event.after;
  if (event.at >= 0) text << " at " << event.at;
  return text.str();
}

bool parse(const std::string& line, Event& event) {
  std::istringstream text(line);
  std::string action;
  std::string when;
  std::string word;
  event = Event();
  text >> action >> event.process >> when;
  const auto* const found = std::find(kActions.begin(), kActions.end(), action);
  if (found == kActions.end()) return false;
  event.what = static_cast<Event::What>(found - kActions.begin());
  event.when = when == "place" ? Event::When::place : when == "point" ? Event::When::point : Event::When::time;
  if (event.when == Event::When::point) text >> event.point;
  text >> event.number >> word >> event.later >> word >> event.after;
  if (text.fail()) return false;
  if (text >> word) text >> event.at;
  return word == "after" || !text.fail();
}

std::string text_of(const Schedule& schedule) {
  std::ostringstream text;
  const auto write = [&](std::string_view name, const auto& value) { text << name << ' ' << value << '\n'; };
  write("seed", schedule.seed);
  visit(schedule.work, write);
  visit_surroundings(schedule.surroundings, write);
  for (const GroupPlan& group : schedule.work.groups) {
    text << "group " << static_cast<int>(group.policy) << ' ' << group.separation << ' ' << group.size << ' '
         << group.losses << ' ' << group.depth << ' ' << group.hashing << ' ' << group.in_place;
    for (const MemberPlan& member : group.members) {
      text << ' ' << member.count << ' ' << member.spread << ' ' << member.bytes;
    }
    text << '\n';
  }
  for (const Event& event : schedule.events) text << text_of(event) << '\n';
  for (const Edit& edit : schedule.edits) {
    text << "edit " << name_of(edit.kind) << ' ' << edit.who << ' ' << edit.from << ' ' << edit.to << ' ' << edit.salt
         << '\n';
  }
  return text.str();
}

Schedule schedule_in(const std::string& text) {
  Schedule schedule;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) read_line(line, schedule);
  return schedule;
}

}  // namespace fenix_simulation

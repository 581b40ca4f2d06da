// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace torture {
namespace {

Type type_of(const std::string& name) {
  if (name == "bytes") return Type::bytes;
  return name == "holes" ? Type::holes : Type::words;
}

GroupPlan read_group(std::istream& fields) {
  GroupPlan group;
  fields >> group.id >> group.depth >> group.hashing >> group.barrier >> group.in_place >> group.policy;
  for (int value = 0; fields >> value;) group.values.push_back(value);
  return group;
}

MemberPlan read_member(std::istream& fields) {
  MemberPlan member;
  std::string type;
  fields >> member.id >> type >> member.count >> member.spread >> member.empty_rank >> member.resizeable >>
      member.allocated;
  member.type = type_of(type);
  return member;
}

}  // namespace

Plan read_plan(const std::string& file) {
  Plan plan;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string key;
    fields >> key;
    if (key == "seed") fields >> plan.seed;
    if (key == "spares") fields >> plan.spares;
    if (key == "steps") fields >> plan.steps;
    if (key == "pause_us") fields >> plan.pause_us;
    if (key == "threads") fields >> plan.threads;
    if (key == "tolerated") fields >> plan.tolerated;
    if (key == "relaunched") fields >> plan.relaunched;
    if (key == "damage") fields >> plan.damage;
    if (key == "release") fields >> plan.release;
    if (key == "resume") fields >> plan.resume;
    if (key == "interposed") fields >> plan.interposed;
    if (key == "persist") fields >> plan.persist_copies >> plan.persist_is_covered;
    if (key == "group") plan.groups.push_back(read_group(fields));
    if (key == "member") plan.groups.back().members.push_back(read_member(fields));
  }
  if (plan.groups.empty()) std::exit(2);
  return plan;
}

}  // namespace torture

// SPDX-License-Identifier: BSD-3-Clause
#include "cost.hpp"

#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace fenix_simulation {
namespace {

// Each name of a file, and where its value goes.
std::map<std::string, double*> places_in(Machine& machine) {
  return {{"node_latency", &machine.node_message.latency},
          {"node_byte", &machine.node_message.byte},
          {"network_latency", &machine.network_message.latency},
          {"network_byte", &machine.network_message.byte},
          {"node_access_latency", &machine.node_access.latency},
          {"node_access_byte", &machine.node_access.byte},
          {"network_access_latency", &machine.network_access.latency},
          {"network_access_byte", &machine.network_access.byte},
          {"call", &machine.call},
          {"copy_byte", &machine.copy_byte},
          {"hash_byte", &machine.hash_byte},
          {"nap", &machine.nap},
          {"notice", &machine.notice},
          {"eager", &machine.eager},
          {"agree_base", &machine.agree.base},
          {"agree_factor", &machine.agree.factor},
          {"shrink_base", &machine.shrink.base},
          {"shrink_factor", &machine.shrink.factor}};
}

double value_in(const std::string& text, const std::string& where) {
  std::size_t end = 0;
  double value = -1;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end == 0 || end != text.size() || !std::isfinite(value) || value < 0) {
    throw std::runtime_error(where + ": \"" + text + "\" is no number of at least 0");
  }
  return value;
}

}  // namespace

namespace detail {
const Machine* the_machine = nullptr;
}

Time Growth::of(std::size_t processes) const {
  return static_cast<Time>(base + factor * std::log2(static_cast<double>(processes)));
}

Time Machine::collective(bool on_node, std::size_t processes, std::size_t bytes) const {
  const Link& link = on_node ? node_message : network_message;
  const auto rounds = static_cast<double>(std::bit_width(processes - 1));
  return static_cast<Time>(rounds * link.latency + link.byte * static_cast<double>(bytes));
}

Machine read_machine(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  Machine machine;
  auto missing = places_in(machine);
  const auto known = missing;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string where = path + ":" + std::to_string(number);
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    std::string value;
    std::string rest;
    if (!(words >> name)) continue;
    if (known.count(name) == 0) throw std::runtime_error(where + ": unknown name " + name);
    if (missing.count(name) == 0) throw std::runtime_error(where + ": " + name + " has a value already");
    if (!(words >> value)) throw std::runtime_error(where + ": " + name + " has no value");
    if (words >> rest) throw std::runtime_error(where + ": \"" + rest + "\" after the value of " + name);
    *missing.at(name) = value_in(value, where + ": " + name);
    missing.erase(name);
  }
  std::string names;
  for (const auto& [name, place] : missing) names += " " + name;
  if (!names.empty()) throw std::runtime_error(path + ": no value for" + names);
  return machine;
}

}  // namespace fenix_simulation

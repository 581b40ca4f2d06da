// SPDX-License-Identifier: BSD-3-Clause
// Fault points of the simulation, in the place of src/base/fault.cpp: places at which the world may let something go wrong.
#include "base/fault.hpp"

#include "cost.hpp"
#include "world.hpp"

namespace fenix_impl {

void fault_point(const char* name) { fault_point(name, {}); }

void fault_point(const char* name, std::span<std::byte> bytes) {
  // Where costs are counted, nothing goes wrong, and a point takes no time.
  if (fenix_simulation::machine() != nullptr || fenix_simulation::present_process() == nullptr) return;
  auto& world = fenix_simulation::world();
  world.pass_point(name);
  world.damage(bytes);
  world.step();
}

bool fault_fails(const char* name) {
  if (fenix_simulation::machine() != nullptr || fenix_simulation::present_process() == nullptr) return false;
  auto& world = fenix_simulation::world();
  world.pass_point(name);
  return world.takes_refusal(name);
}

void set_fault_hook(FaultHook /*hook*/) {}

void set_fault_listener(FaultListener /*listener*/) {}

}  // namespace fenix_impl

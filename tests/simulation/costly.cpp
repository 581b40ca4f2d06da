// SPDX-License-Identifier: BSD-3-Clause
// Functions of other libraries whose time counts.
#include <isa-l/erasure_code.h>
#include <xxhash.h>

#include "cost.hpp"
#include "world.hpp"

namespace {

void charge_hash(std::size_t bytes) {
  const auto* machine = fenix_simulation::machine();
  if (machine != nullptr) fenix_simulation::world().charge(machine->hash_byte * static_cast<double>(bytes));
}

}  // namespace

extern "C" {

XXH_errorcode simulated_XXH3_64bits_update(XXH3_state_t* state, const void* data, std::size_t bytes) {
  charge_hash(bytes);
  return XXH3_64bits_update(state, data, bytes);
}

XXH64_hash_t simulated_XXH3_64bits_withSeed(const void* data, std::size_t bytes, XXH64_hash_t seed) {
  charge_hash(bytes);
  return XXH3_64bits_withSeed(data, bytes, seed);
}

void simulated_ec_encode_data(int bytes, int sources, int targets, unsigned char* tables, unsigned char** from,
                              unsigned char** to) {
  const auto* machine = fenix_simulation::machine();
  if (machine != nullptr) fenix_simulation::world().charge(machine->copy_byte * bytes * sources * targets);
  ec_encode_data(bytes, sources, targets, tables, from, to);
}
}

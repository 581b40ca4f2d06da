// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/callbacks.hpp"

#include <utility>

namespace fenix_impl {

thread_local Callbacks::OfThread Callbacks::here_;

void Callbacks::push(Fenix_Callback_location location, Function function) {
  auto added = std::make_unique<Function>(std::move(function));
  const std::lock_guard lock(mutex_);
  at(location).push_back(std::move(added));
}

bool Callbacks::pop(Fenix_Callback_location location) {
  Functions unused;
  const std::lock_guard lock(mutex_);
  Functions& functions = at(location);
  if (functions.empty()) return false;
  popped_.push_back(std::move(functions.back()));
  functions.pop_back();
  unused = take_popped();
  return true;
}

void Callbacks::clear() {
  Functions unused;
  const std::lock_guard lock(mutex_);
  for (Functions& functions : functions_) {
    for (auto& function : functions) popped_.push_back(std::move(function));
    functions.clear();
  }
  unused = take_popped();
}

Callbacks::Functions Callbacks::take_popped() {
  return rounds_under_way_ == 0 ? std::exchange(popped_, {}) : Functions();
}

std::size_t Callbacks::begin_round(Fenix_Callback_location location) {
  const std::lock_guard lock(mutex_);
  ++rounds_under_way_;
  ++here_.depth;
  ++here_.rounds;
  return at(location).size();
}

void Callbacks::end_round(int depth) {
  Functions unused;
  const std::lock_guard lock(mutex_);
  rounds_under_way_ -= std::exchange(here_.depth, depth) - depth;
  unused = take_popped();
}

const Callbacks::Function* Callbacks::find(Fenix_Callback_location location, std::size_t position) {
  const std::lock_guard lock(mutex_);
  const Functions& functions = at(location);
  return position < functions.size() ? functions[position].get() : nullptr;
}

void Callbacks::call_all(Fenix_Callback_location location, MPI_Comm comm, int error, bool (*dropped)()) {
  const int depth = here_.depth;
  const std::size_t number = begin_round(location);
  const unsigned long round = here_.rounds;
  for (std::size_t i = 0; i < number && round == here_.rounds; ++i) {
    const Function* const function = find(location, i);
    if (function == nullptr) break;
    try {
      (*function)(comm, error);
    } catch (...) {
      if (!dropped()) {
        end_round(depth);
        throw;
      }
    }
  }
  end_round(depth);
}

}  // namespace fenix_impl

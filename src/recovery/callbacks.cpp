// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/callbacks.hpp"

#include <utility>

namespace fenix_impl {

void Callbacks::push(Fenix_Callback_location location, Function function) {
  forget_popped();
  at(location).push_back(std::make_unique<Function>(std::move(function)));
}

bool Callbacks::pop(Fenix_Callback_location location) {
  forget_popped();
  Functions& functions = at(location);
  if (functions.empty()) return false;
  popped_.push_back(std::move(functions.back()));
  functions.pop_back();
  forget_popped();
  return true;
}

void Callbacks::clear() {
  for (Functions& functions : functions_) functions.clear();
  popped_.clear();
  depth_ = 0;
}

void Callbacks::forget_popped() {
  if (depth_ == 0) popped_.clear();
}

void Callbacks::call_all(Fenix_Callback_location location, MPI_Comm comm, int error, bool (*dropped)()) {
  const Functions& functions = at(location);
  const std::size_t number = functions.size();
  const unsigned long round = ++rounds_;
  const int depth = depth_++;
  for (std::size_t i = 0; i < number && i < functions.size() && round == rounds_; ++i) {
    try {
      (*functions[i])(comm, error);
    } catch (...) {
      if (!dropped()) {
        depth_ = depth;
        throw;
      }
    }
  }
  depth_ = depth;
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Memory of a thread that is used again and again. The main thread's is never destroyed: a program may call MPI in functions of atexit()
// and in destructors of static objects, which come after those of thread_local objects.
#pragma once

#include <unistd.h>

#include <utility>

namespace fenix_impl {

/// Returns the object of this thread for the place of the call.
template <class T, class Place = decltype([] {})>
T& of_thread() {
  static thread_local T* object = nullptr;
  struct Ender {
    ~Ender() { delete std::exchange(object, nullptr); }
  };
  if (object == nullptr) {
    object = new T;
    if (::gettid() != ::getpid()) {
      [[maybe_unused]] static thread_local const Ender ender;
    }
  }
  return *object;
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Memory of what the program gets handles of: at the same addresses in each run, as programs may compare handles.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace fenix_simulation {

class Objects {
 public:
  Objects();
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;
  ~Objects();

  /// Makes an object that lives as long as this.
  template <class T, class... Arguments>
  T* make(Arguments&&... arguments) {
    T* made = new (take(sizeof(T))) T{std::forward<Arguments>(arguments)...};
    enders_.push_back({made, [](void* object) { static_cast<T*>(object)->~T(); }});
    return made;
  }

 private:
  struct Ender {
    void* object;
    void (*end)(void*);
  };
  void* take(std::size_t bytes);

  std::size_t used_ = 0;
  std::vector<Ender> enders_;
};

}  // namespace fenix_simulation

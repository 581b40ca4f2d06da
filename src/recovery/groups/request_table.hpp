// SPDX-License-Identifier: BSD-3-Clause
// The requests that the application has been given and whose end it has not seen.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "core/state/request.hpp"

namespace fenix_impl {

class RequestTable {
 public:
  struct Entry {
    std::shared_ptr<Request> request;  ///< null: it was given out, and its end has been told
    int group_id = 0;
    std::uint64_t flush = 0;  ///< the request is a flush, with this number
  };

  [[nodiscard]] std::uint64_t next_id();
  void add(std::shared_ptr<Request> request, int group_id);
  /// Notes a flush, and returns the id of its request.
  std::uint64_t add_flush(std::uint64_t flush, int group_id);
  /// Returns the request. Throws Error(FENIX_ERROR_DATA_WAIT) for an id that was never given out. 0 stands for no
  /// request.
  [[nodiscard]] Entry find(std::uint64_t id);
  void remove(std::uint64_t id);
  void clear();

 private:
  std::mutex mutex_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, Entry> entries_;
};

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Work with files that a rank waits for, but not without end: a file system that hangs must not stop the job.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace scr_impl {

/// Returns FENIX_FLUSH_TIMEOUT, or its default.
std::chrono::milliseconds patience();

/// Tells whether earlier work has not ended yet.
std::atomic<bool>& is_stuck();

/// Does work in a thread of its own, which must own all that it uses. Returns nothing if it has not ended in time; then no other work is begun
/// before it has.
template <class Work>
std::optional<std::invoke_result_t<Work>> in_time(Work work) {
  if (is_stuck()) return std::nullopt;
  auto promise = std::make_shared<std::promise<std::invoke_result_t<Work>>>();
  auto result = promise->get_future();
  is_stuck() = true;
  auto act = [promise, work = std::move(work)]() mutable {
    try {
      promise->set_value(work());
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
    is_stuck() = false;
  };
  try {
    std::thread(std::move(act)).detach();
  } catch (const std::system_error&) {
    is_stuck() = false;
    return std::nullopt;
  }
  if (result.wait_for(patience()) != std::future_status::ready) return std::nullopt;
  // The thread says so a moment after the result is there.
  while (is_stuck()) std::this_thread::yield();
  return result.get();
}

}  // namespace scr_impl

// SPDX-License-Identifier: BSD-3-Clause
// An asynchronous store, and the thread that carries out such stores where the network does not.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace fenix_impl {

class Request {
 public:
  enum class State { pending, done, failed, cancelled };

  Request(std::uint64_t id, std::vector<std::int32_t> members) : id_(id), members_(std::move(members)) {}

  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] const std::vector<std::int32_t>& members() const { return members_; }
  [[nodiscard]] State state() const { return state_.load(std::memory_order_acquire); }
  [[nodiscard]] bool pending() const { return state() == State::pending; }
  /// Returns the reason of the failure. Valid in state failed.
  [[nodiscard]] const Error& error() const { return *error_; }

  void end(State state) { state_.store(state, std::memory_order_release); }
  void fail(const Error& error) {
    error_ = error;
    end(State::failed);
  }

 private:
  std::uint64_t id_;
  std::vector<std::int32_t> members_;
  std::atomic<State> state_{State::pending};
  std::optional<Error> error_;
};

/// A thread that works off requests in their order. Local. It starts with the first request.
class RequestWorker {
 public:
  /// The work of a request. It looks at stop now and then, and returns early if it is set.
  using Work = std::function<void(const std::atomic<bool>& stop)>;

  RequestWorker() = default;
  RequestWorker(const RequestWorker&) = delete;
  RequestWorker& operator=(const RequestWorker&) = delete;
  ~RequestWorker();

  void submit(std::shared_ptr<Request> request, Work work);
  /// Ends all requests, done or not, and returns when the thread touches nothing any more.
  void cancel();

 private:
  struct Job {
    std::shared_ptr<Request> request;
    Work work;
  };

  void start();
  void run();
  void work_off(const Job& job);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool busy_ = false;
  bool quit_ = false;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace fenix_impl

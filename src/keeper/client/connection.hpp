// SPDX-License-Identifier: BSD-3-Clause
// The connection of a rank to the keeper of its node, which is started when it is needed.
//
// Threads may use it at the same time. No wait is longer than the limit; the caller's check runs while it waits, and may throw.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "keeper/client/exchange.hpp"
#include "keeper/local_socket.hpp"
#include "keeper/message.hpp"
#include "keeper/request_error.hpp"
#include "store/store_run.hpp"

namespace fenix_impl {

/// All throw Error(FENIX_ERROR_STORE), and what check throws.
class KeeperConnection {
 public:
  using Check = std::function<void()>;

  /// A process of a job that has ended has so long for its end, and is asked for so often.
  static constexpr std::chrono::milliseconds kTimeToEnd{5000};
  static constexpr std::chrono::milliseconds kBetweenQuestions{50};

  /// program: path of fenix-keeper. hello: for it; the root is a folder that exists.
  KeeperConnection(std::string program, Hello hello)
      : limit_(hello.seconds), exchange_(std::move(program), std::move(hello)) {}
  KeeperConnection(const KeeperConnection&) = delete;
  KeeperConnection& operator=(const KeeperConnection&) = delete;

  /// Returns the name at which the keeper is reached.
  [[nodiscard]] const std::string& socket_name() { return exchange_.socket().name(); }
  /// Returns a number that changes when another keeper has taken the place of one that has ended.
  [[nodiscard]] std::uint64_t number();
  /// Tells the keeper of this node, and each later one, which run this rank belongs to. Does not wait.
  void join(const StoreRun& run);
  /// Takes what the keeper has said. Does not wait.
  void look();
  /// Returns why the keeper has last refused to keep memory, once; nullopt if it has not.
  [[nodiscard]] std::optional<std::string> refusal();

  /// Sends a request that has no answer. Does not wait.
  void tell(KeeperOp op, std::vector<std::byte> body);
  /// Sends a request, and waits for the answer. One that a keeper has lost goes to the next one.
  [[nodiscard]] KeeperAnswer call(KeeperOp op, const std::vector<std::byte>& body, std::span<const int> files,
                                  const Check& check);
  /// Does so, and waits for each answer so long.
  [[nodiscard]] KeeperAnswer call_within(std::chrono::milliseconds limit, KeeperOp op,
                                         const std::vector<std::byte>& body, std::span<const int> files,
                                         const Check& check);
  /// Asks again as long as the keeper says that another process has to end first.
  [[nodiscard]] KeeperAnswer call_until(std::chrono::milliseconds limit, KeeperOp op,
                                        const std::vector<std::byte>& body, std::span<const int> files,
                                        const Check& check);
  /// Sends a request to one keeper, and waits for the answer.
  [[nodiscard]] KeeperAnswer ask(KeeperOp op, const std::vector<std::byte>& body, std::span<const int> files,
                                 std::chrono::milliseconds limit, const Check& check);
  /// Sends a request that is answered with a list, in a file.
  template <class Entry>
  [[nodiscard]] std::vector<Entry> list_of(KeeperOp op, const Check& check) {
    const KeeperAnswer answer = call(op, {}, {}, check);
    if (answer.files.size() != 1) fail_damaged_answer();
    auto list = decode_body<std::vector<Entry>>(read_memory_file(answer.files.front()));
    if (!list) fail_damaged_answer();
    return std::move(*list);
  }

  /// Does work with what is said, which no other thread uses meanwhile.
  template <class Work>
  decltype(auto) with_exchange(Work&& work) {
    const std::lock_guard lock(mutex_);
    return std::forward<Work>(work)(exchange_);
  }

 private:
  KeeperAnswer await(std::uint64_t id, const Deadline& deadline, const Check& check);

  std::chrono::seconds limit_;  ///< time for an answer
  std::mutex mutex_;            ///< lock of the exchange
  KeeperExchange exchange_;
};

}  // namespace fenix_impl

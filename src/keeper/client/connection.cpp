// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/client/connection.hpp"

#include <poll.h>

#include <thread>

namespace fenix_impl {

std::uint64_t KeeperConnection::number() {
  const std::lock_guard lock(mutex_);
  return exchange_.socket().connections();
}

void KeeperConnection::join(const StoreRun& run) {
  std::unique_lock lock(mutex_);
  if (!exchange_.socket().set_run(run)) return;
  const auto hello = encode_body(exchange_.socket().hello());
  const bool is_connected = exchange_.socket().is_open();
  lock.unlock();
  // Otherwise it is said when there is a connection.
  if (is_connected) tell(KeeperOp::hello, hello);
}

void KeeperConnection::look() {
  const std::lock_guard lock(mutex_);
  if (exchange_.socket().is_open()) (void)exchange_.pump();
}

std::optional<std::string> KeeperConnection::refusal() {
  const std::lock_guard lock(mutex_);
  return exchange_.take_refusal();
}

void KeeperConnection::tell(KeeperOp op, std::vector<std::byte> body) {
  const std::lock_guard lock(mutex_);
  Message request{op, 0, KeeperCode::done, {}, std::move(body)};
  exchange_.tell(request, {}, {});
}

KeeperAnswer KeeperConnection::call(KeeperOp op, const std::vector<std::byte>& body, std::span<const int> files,
                                    const Check& check) {
  return call_within(limit_, op, body, files, check);
}

// Another keeper can do what one that was killed has not: all requests may be repeated.
KeeperAnswer KeeperConnection::call_within(std::chrono::milliseconds limit, KeeperOp op,
                                           const std::vector<std::byte>& body, std::span<const int> files,
                                           const Check& check) {
  for (int attempt = 1;; ++attempt) {
    KeeperAnswer answer = ask(op, body, files, limit, check);
    if (answer.is_lost && attempt < KeeperExchange::kMostAttempts) continue;
    if (answer.message.code == KeeperCode::failed) fail_request(answer.message.text);
    return answer;
  }
}

KeeperAnswer KeeperConnection::call_until(std::chrono::milliseconds limit, KeeperOp op,
                                          const std::vector<std::byte>& body, std::span<const int> files,
                                          const Check& check) {
  for (const Deadline deadline(limit);; std::this_thread::sleep_for(kBetweenQuestions)) {
    KeeperAnswer answer = call(op, body, files, check);
    if (answer.message.code != KeeperCode::in_use || deadline.passed()) return answer;
    if (check) check();
  }
}

KeeperAnswer KeeperConnection::ask(KeeperOp op, const std::vector<std::byte>& body, std::span<const int> files,
                                   std::chrono::milliseconds limit, const Check& check) {
  std::unique_lock lock(mutex_);
  Message request{op, 0, KeeperCode::done, {}, body};
  const std::uint64_t id = exchange_.send(request, files, {});
  lock.unlock();
  try {
    return await(id, Deadline(limit), check);
  } catch (...) {
    lock.lock();
    exchange_.forget(id);
    throw;
  }
}

KeeperAnswer KeeperConnection::await(std::uint64_t id, const Deadline& deadline, const Check& check) {
  constexpr int kMilliseconds = 20;
  std::unique_lock lock(mutex_);
  while (true) {
    (void)exchange_.pump();
    if (auto answer = exchange_.take_answer(id)) return std::move(*answer);
    pollfd watched{exchange_.socket().get(), POLLIN, 0};
    lock.unlock();
    if (check) check();
    (void)::poll(&watched, 1, kMilliseconds);
    if (deadline.passed()) fail_request("no answer in time");
    lock.lock();
  }
}

}  // namespace fenix_impl

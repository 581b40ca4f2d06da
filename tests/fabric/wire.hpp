// SPDX-License-Identifier: BSD-3-Clause
// Transfers on their way: cut, held back and mixed up as the modes say, and handed to the core by a thread of the provider.
#pragma once

#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <thread>

namespace hostile {

/// A transfer of the user.
struct Transfer {
  void* context = nullptr;
  bool writes = true;
  std::size_t left = 0;  ///< pieces that have not ended
  int error = 0;         ///< of the first piece that failed
  bool told = false;
};

/// The part of a transfer that the core carries out at once.
struct Piece : fi_context2 {
  std::shared_ptr<Transfer> transfer;
  std::byte* local = nullptr;
  std::size_t bytes = 0;
  std::uint64_t remote = 0;
  std::uint64_t key = 0;
  fi_addr_t address = 0;
  std::chrono::steady_clock::time_point not_before;
};

class Wire {
 public:
  Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() { stop(); }

  void use(fid_ep* endpoint) { endpoint_ = endpoint; }
  void use(fid_cq* queue) { queue_ = queue; }
  /// Nothing is sent afterwards.
  void stop();

  ssize_t post(bool writes, const fi_msg_rma& message);
  ssize_t read(std::span<fi_cq_entry> entries);
  ssize_t read_error(fi_cq_err_entry& entry);
  /// Nothing more goes to that address: its user has removed it.
  void forget(fi_addr_t address);

 private:
  using Pieces = std::list<std::unique_ptr<Piece>>;

  void cut(std::unique_ptr<Piece> whole);
  void hold_back(Piece& piece);
  ssize_t send(Piece& piece);
  void send_due();
  void reap();
  void end(std::unique_ptr<Piece> piece, int error);
  void tell(const std::shared_ptr<Transfer>& transfer);
  void run(const std::stop_token& token);

  std::mutex mutex_;
  std::condition_variable_any woken_;
  fid_ep* endpoint_ = nullptr;
  fid_cq* queue_ = nullptr;
  Pieces held_;  // not handed to the core yet, in any order
  std::deque<std::shared_ptr<Transfer>> ended_;
  std::deque<std::shared_ptr<Transfer>> failed_;
  std::chrono::steady_clock::time_point line_is_free_;
  std::mt19937 random_;
  std::jthread thread_;
};

}  // namespace hostile

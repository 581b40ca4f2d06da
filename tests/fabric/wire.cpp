// SPDX-License-Identifier: BSD-3-Clause
#include "wire.hpp"

#include <rdma/fi_errno.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <utility>

#include "modes.hpp"

namespace hostile {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr std::size_t kMostHeld = 4096;
constexpr std::size_t kWord = 8;

}  // namespace

Wire::Wire() {
  if (modes().delays()) thread_ = std::jthread([this](const std::stop_token& token) { run(token); });
}

void Wire::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

ssize_t Wire::post(bool writes, const fi_msg_rma& message) {
  const std::lock_guard lock(mutex_);
  if (held_.size() >= kMostHeld) return -FI_EAGAIN;
  auto piece = std::make_unique<Piece>();
  piece->transfer = std::make_shared<Transfer>();
  piece->transfer->context = message.context;
  piece->transfer->writes = writes;
  piece->transfer->left = 1;
  piece->local = static_cast<std::byte*>(message.msg_iov->iov_base);
  piece->bytes = message.msg_iov->iov_len;
  piece->remote = message.rma_iov->addr;
  piece->key = message.rma_iov->key;
  piece->address = message.addr;
  if (!modes().delays()) {
    const ssize_t result = send(*piece);
    if (result == 0) (void)piece.release();
    return result;
  }
  if (modes().early && writes) tell(piece->transfer);
  cut(std::move(piece));
  woken_.notify_one();
  return 0;
}

// Words stay whole, and nothing else does.
void Wire::cut(std::unique_ptr<Piece> whole) {
  while (modes().late && whole->transfer->writes && whole->bytes > kWord) {
    const std::size_t most = std::max(kWord, whole->bytes / 2 / kWord * kWord);
    const std::size_t bytes =
        std::uniform_int_distribution<std::size_t>(1, most / kWord)(random_) * kWord - whole->remote % kWord;
    if (bytes == 0 || bytes >= whole->bytes) break;
    auto part = std::make_unique<Piece>(*whole);
    part->bytes = bytes;
    whole->local += bytes;
    whole->remote += bytes;
    whole->bytes -= bytes;
    ++whole->transfer->left;
    hold_back(*part);
    held_.push_back(std::move(part));
    if (whole->transfer->left > 6) break;
  }
  hold_back(*whole);
  held_.push_back(std::move(whole));
}

void Wire::hold_back(Piece& piece) {
  piece.not_before = Clock::now();
  if (modes().late || modes().early)
    piece.not_before += microseconds(std::uniform_int_distribution<>(0, 3000)(random_));
  if (!modes().slow) return;
  line_is_free_ = std::max(line_is_free_, piece.not_before) + microseconds(20 * piece.bytes / 1024);
  piece.not_before = line_is_free_ + microseconds(2000);
}

ssize_t Wire::send(Piece& piece) {
  const iovec local{piece.local, piece.bytes};
  const fi_rma_iov remote{piece.remote, piece.bytes, piece.key};
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.iov_count = 1;
  message.addr = piece.address;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = static_cast<fi_context2*>(&piece);
  return piece.transfer->writes ? fi_writemsg(endpoint_, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION)
                                : fi_readmsg(endpoint_, &message, FI_COMPLETION);
}

void Wire::send_due() {
  const auto now = Clock::now();
  for (auto each = held_.begin(); each != held_.end();) {
    if ((*each)->not_before > now || (modes().deaf && (*each)->transfer->writes)) {
      ++each;
      continue;
    }
    const ssize_t result = send(**each);
    if (result == -FI_EAGAIN) {
      ++each;
      continue;
    }
    auto piece = std::move(*each);
    each = held_.erase(each);
    if (result == 0) {
      (void)piece.release();
    } else {
      end(std::move(piece), static_cast<int>(-result));
    }
  }
}

void Wire::reap() {
  std::array<fi_cq_entry, 16> entries{};
  for (;;) {
    const ssize_t count = fi_cq_read(queue_, entries.data(), entries.size());
    const auto piece_of = [](void* context) {
      return std::unique_ptr<Piece>(static_cast<Piece*>(static_cast<fi_context2*>(context)));
    };
    for (ssize_t i = 0; i < count; ++i) end(piece_of(entries[static_cast<std::size_t>(i)].op_context), 0);
    if (count == -FI_EAVAIL) {
      fi_cq_err_entry failed{};
      if (fi_cq_readerr(queue_, &failed, 0) == 1 && failed.op_context != nullptr)
        end(piece_of(failed.op_context), failed.err);
      continue;
    }
    if (count <= 0) return;
  }
}

void Wire::end(std::unique_ptr<Piece> piece, int error) {
  Transfer& transfer = *piece->transfer;
  if (error != 0 && transfer.error == 0) transfer.error = error;
  if (--transfer.left == 0) tell(piece->transfer);
}

void Wire::tell(const std::shared_ptr<Transfer>& transfer) {
  if (std::exchange(transfer->told, true)) return;
  (transfer->error == 0 ? ended_ : failed_).push_back(transfer);
}

ssize_t Wire::read(std::span<fi_cq_entry> entries) {
  const std::lock_guard lock(mutex_);
  if (modes().delays()) send_due();
  reap();
  if (!failed_.empty()) return -FI_EAVAIL;
  std::size_t count = 0;
  for (; count < entries.size() && !ended_.empty(); ended_.pop_front()) {
    entries[count++].op_context = ended_.front()->context;
  }
  return count > 0 ? static_cast<ssize_t>(count) : -FI_EAGAIN;
}

ssize_t Wire::read_error(fi_cq_err_entry& entry) {
  const std::lock_guard lock(mutex_);
  if (failed_.empty()) return -FI_EAGAIN;
  entry = {};
  entry.op_context = failed_.front()->context;
  entry.err = failed_.front()->error;
  failed_.pop_front();
  return 1;
}

void Wire::forget(fi_addr_t address) {
  const std::lock_guard lock(mutex_);
  for (auto each = held_.begin(); each != held_.end();) {
    if ((*each)->address != address) {
      ++each;
      continue;
    }
    auto piece = std::move(*each);
    each = held_.erase(each);
    end(std::move(piece), FI_ECANCELED);
  }
}

// Nobody has to make calls for what has been posted.
void Wire::run(const std::stop_token& token) {
  std::unique_lock lock(mutex_);
  while (!token.stop_requested()) {
    (void)woken_.wait(lock, token, [&] { return !held_.empty(); });
    if (!token.stop_requested() && endpoint_ != nullptr) send_due();
    lock.unlock();
    std::this_thread::sleep_for(microseconds(300));
    lock.lock();
  }
}

}  // namespace hostile

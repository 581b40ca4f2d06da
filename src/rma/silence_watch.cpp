// SPDX-License-Identifier: BSD-3-Clause
#include "rma/silence_watch.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <new>
#include <thread>
#include <utility>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "rma/processes.hpp"
#include "rma/window_files.hpp"

namespace fenix_impl {
namespace {

constexpr int kLooks = 10;  // until a process is killed, at least

int open_process(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

void kill_process(int process) { (void)syscall(SYS_pidfd_send_signal, process, SIGKILL, nullptr, 0); }

// Sleeps as long as the word, which other processes map as well, has this value.
void sleep_on(std::uint32_t& word, std::uint32_t value, Deadline::Clock::duration time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  timespec most{};
  most.tv_sec = seconds.count();
  most.tv_nsec = std::chrono::nanoseconds(time - seconds).count();
  (void)syscall(SYS_futex, &word, FUTEX_WAIT, value, &most, nullptr, 0);
}

void wake_on(std::uint32_t& word) { (void)syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

}  // namespace

/// The contents of a process's page.
struct SilenceWatch::Words {
  std::uint64_t rounds;
  std::uint32_t rings;
  std::uint32_t sleeps;
};

SilenceWatch::Words& SilenceWatch::words_on(std::span<std::byte> page) {
  return *reinterpret_cast<Words*>(page.data() + Region::kHeaderBytes);
}

SilenceWatch::~SilenceWatch() {
  for (const Peer& peer : peers_) close(peer.process);
}

SilenceWatch::Address SilenceWatch::address() {
  if (!page_) {
    page_.emplace(sizeof(Words));
    page_->reserve(Region::kHeaderBytes, sizeof(Words));
    set_rounds(rounds_);
  }
  return {page_->address(), node_id(), rounds_};
}

void SilenceWatch::set_rounds(std::uint64_t rounds) {
  rounds_ = rounds;
  if (page_) std::atomic_ref(words_on(page_->bytes()).rounds).store(rounds, std::memory_order_relaxed);
}

std::uint32_t SilenceWatch::rings() { return page_ ? std::atomic_ref(words_on(page_->bytes()).rings).load() : 0; }

bool SilenceWatch::sleep(std::uint32_t rings, Deadline::Clock::duration time) {
  if (!page_) {
    std::this_thread::sleep_for(time);
    return false;
  }
  Words& words = words_on(page_->bytes());
  // A rank that rings looks at this after its ring, and the kernel at the rings after this: one of them sees the other.
  std::atomic_ref(words.sleeps).store(1);
  sleep_on(words.rings, rings, time);
  std::atomic_ref(words.sleeps).store(0);
  return std::atomic_ref(words.rings).load() != rings;
}

void SilenceWatch::ring() {
  const std::lock_guard lock(mutex_);
  for (const Peer& peer : peers_) {
    Words& words = words_on(peer.page.bytes());
    std::atomic_ref(words.rings).fetch_add(1);
    if (std::atomic_ref(words.sleeps).load() != 0) wake_on(words.rings);
  }
}

// None if the process has died, or cannot be reached: then nobody can watch it.
std::optional<SilenceWatch::Peer> SilenceWatch::reach(const Address& address) {
  const int process = open_process(address.page.pid);
  if (process < 0) return std::nullopt;
  try {
    // Of this process, and not of another one that has got its id: the key in the page says so.
    return Peer{address.page, process, map_peer_region(address.page)};
  } catch (const Error&) {
    close(process);
    return std::nullopt;
  }
}

void SilenceWatch::observe(std::span<const Address> processes) {
  const std::uint64_t node = node_id();
  std::vector<Peer> peers;
  std::uint64_t rounds = rounds_;
  const std::lock_guard lock(mutex_);
  for (const Address& address : processes) {
    // A process that was spawned into a round takes part in it.
    rounds = std::max(rounds, address.rounds);
    if (address.node != node || address.page.pid == getpid()) continue;
    const auto known = std::find_if(peers_.begin(), peers_.end(),
                                    [&](const Peer& peer) { return peer.address.key == address.page.key; });
    if (known != peers_.end()) {
      peers.push_back(std::move(*known));
      peers_.erase(known);
    } else if (auto peer = reach(address)) {
      peers.push_back(std::move(*peer));
    }
  }
  for (const Peer& peer : peers_) {
    if (is_gone(peer.address.pid)) remove_window_files(peer.address.pid);
    close(peer.process);
  }
  peers_ = std::move(peers);
  set_rounds(rounds);
}

void SilenceWatch::end() {
  observe({});
  page_.reset();
}

SilenceWatch::Wait::Wait(SilenceWatch& watch, Kind kind)
    : watch_(watch),
      round_(begin(kind)),
      ticker_(std::clamp<Deadline::Clock::duration>(watch.patience_ / kLooks, std::chrono::milliseconds(1),
                                                    LivedClock::kBetweenLooks),
              [this] { look(); }) {}

std::uint64_t SilenceWatch::Wait::begin(Kind kind) const {
  if (kind != Kind::round) return 0;
  watch_.set_rounds(watch_.rounds_ + 1);
  return watch_.rounds_;
}

void SilenceWatch::Wait::look() noexcept {
  const std::lock_guard lock(watch_.mutex_);
  try {
    for (const Peer& peer : watch_.peers_) look_at(peer);
  } catch (const std::bad_alloc&) {
    // At the next look there may be memory again.
  }
}

void SilenceWatch::Wait::look_at(const Peer& peer) {
  const auto now = Deadline::Clock::now();
  const pid_t pid = peer.address.pid;
  const bool stopped = is_stopped(pid);
  const std::uint64_t rounds = std::atomic_ref(words_on(peer.page.bytes()).rounds).load(std::memory_order_relaxed);
  if (!stopped && rounds >= round_) {
    silent_since_.erase(pid);
    return;
  }
  const auto since = silent_since_.emplace(pid, now).first->second;
  // A rank that is missing may be held up by one that is stopped.
  if (now - since < (stopped ? 1 : 2) * watch_.patience_) return;
  log().warn("process {} has been silent for FENIX_TIMEOUT while others waited for it: killed", pid);
  kill_process(peer.process);
}

}  // namespace fenix_impl

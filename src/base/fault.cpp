// SPDX-License-Identifier: BSD-3-Clause
#include "base/fault.hpp"

#ifdef FENIX_FAULT_INJECTION

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/environment.hpp"

namespace fenix_impl {
namespace {

struct Fault {
  std::string point;
  int remaining = 0;
  std::string action;
  std::optional<std::uint64_t> value;
};

// The launcher tells the rank before MPI is up, so that fault points work at any time.
std::string own_rank() {
  const char* rank = std::getenv("PMIX_RANK");
  const char* spawn = std::getenv("FENIX_REPLACEMENT");
  const std::string prefix = spawn != nullptr ? std::string("s") + spawn + "." : "";
  return prefix + (rank != nullptr ? rank : "0");
}

std::vector<Fault> read_environment() {
  std::vector<Fault> faults;
  std::istringstream list(environment::text("FENIX_FAULT"));
  for (std::string entry; std::getline(list, entry, ',');) {
    std::istringstream fields(entry);
    std::string point;
    std::string rank;
    std::string count;
    std::string action;
    std::getline(fields, point, ':');
    std::getline(fields, rank, ':');
    std::getline(fields, count, ':');
    std::getline(fields, action);
    if (rank != own_rank()) continue;
    Fault fault{point, std::atoi(count.c_str()), action.empty() ? "kill" : action, {}};
    if (const std::size_t equals = action.find('='); equals != std::string::npos) {
      fault.action = action.substr(0, equals);
      fault.value = std::strtoull(action.c_str() + equals + 1, nullptr, 10);
    }
    faults.push_back(fault);
  }
  return faults;
}

void flip_bit(std::span<std::byte> bytes, std::optional<std::uint64_t> bit) {
  if (bytes.empty()) return;
  const std::uint64_t number = bit.value_or(bytes.size() * 8 / 2) % (bytes.size() * 8);
  bytes[number / 8] ^= std::byte{1} << (number % 8);
}

std::atomic<FaultHook> fault_hook{nullptr};
std::atomic<FaultListener> fault_listener{nullptr};

/// True if what comes next has to fail.
bool pass(const char* name, std::span<std::byte> bytes) {
  static std::mutex mutex;  // some points are passed by several threads
  static std::vector<Fault> faults = read_environment();
  bool fails = false;
  std::uint64_t delay = 0;
  if (const FaultListener listener = fault_listener; listener != nullptr) listener(name);
  if (faults.empty()) return false;
  {
    const std::lock_guard lock(mutex);
    for (Fault& fault : faults) {
      if (fault.point != name || --fault.remaining != 0) continue;
      if (fault.action == "kill") ::raise(SIGKILL);
      if (fault.action == "stop") ::kill(::getpid(), SIGSTOP);
      if (fault.action == "flip") flip_bit(bytes, fault.value);
      if (fault.action == "delay") delay += fault.value.value_or(100);
      if (fault.action == "fail") fails = true;
    }
  }
  if (delay > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay));
  return fails;
}

}  // namespace

void fault_point(const char* name) { (void)pass(name, {}); }

void fault_point(const char* name, std::span<std::byte> bytes) { (void)pass(name, bytes); }

bool fault_fails(const char* name) {
  const FaultHook hook = fault_hook;
  const bool asked = hook != nullptr && hook(name);
  return pass(name, {}) || asked;
}

void set_fault_hook(FaultHook hook) { fault_hook = hook; }

void set_fault_listener(FaultListener listener) { fault_listener = listener; }

}  // namespace fenix_impl

#endif

// SPDX-License-Identifier: BSD-3-Clause
#include "isolated.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace fenix_simulation {
namespace {

constexpr rlim_t kMostSeconds = 60;  // of the processor, for a schedule that takes some 10 ms

// All that an outcome consists of, as bytes.

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};
template <>
struct IsList<std::string> : std::true_type {};

template <class T>
inline constexpr bool is_struct = std::is_same_v<T, Outcome> || std::is_same_v<T, Happened>;

template <class Visitor, class Value>
void visit(Value& value, Visitor& visitor) {
  if constexpr (std::is_same_v<std::remove_const_t<Value>, Happened>) {
    visitor(value.event);
    visitor(value.time);
    visitor(value.place);
    visitor(value.points);
    visitor(value.passages);
  } else {
    visitor(value.verdict.promise);
    visitor(value.verdict.text);
    visitor(value.hash);
    visitor(value.switches);
    visitor(value.time);
    visitor(value.happened);
    visitor(value.passages);
    visitor(value.restores);
    visitor(value.done);
  }
}

struct Packer {
  std::string bytes;

  template <class T>
  void operator()(const T& value) {
    if constexpr (is_struct<T>) {
      visit(value, *this);
    } else if constexpr (IsList<T>::value) {
      (*this)(value.size());
      for (const auto& each : value) (*this)(each);
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
};

struct Unpacker {
  const std::string& bytes;
  std::size_t at = 0;

  template <class T>
  void operator()(T& value) {
    if constexpr (is_struct<T>) {
      visit(value, *this);
    } else if constexpr (IsList<T>::value) {
      std::size_t size = 0;
      (*this)(size);
      value.resize(size);
      for (auto& each : value) (*this)(each);
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      if (at + sizeof value > bytes.size()) std::abort();
      std::memcpy(&value, bytes.data() + at, sizeof value);
      at += sizeof value;
    }
  }
};

// Memory that lacks, or a chain of calls without an end, ends a process as a crash does; so does a computation that nothing ends.
Outcome crash_of(int status) {
  Outcome outcome;
  const int signal = WTERMSIG(status);
  outcome.verdict = {"crash", signal == SIGXCPU ? "it computes without an end" : "signal " + std::to_string(signal)};
  return outcome;
}

[[noreturn]] void run_here(const Schedule& schedule, int pipe) {
  const rlimit most{kMostSeconds, kMostSeconds + 1};
  setrlimit(RLIMIT_CPU, &most);
  Packer packer;
  packer(run(schedule));
  for (std::size_t at = 0; at < packer.bytes.size();) {
    const ssize_t written = write(pipe, packer.bytes.data() + at, packer.bytes.size() - at);
    if (written <= 0) std::abort();
    at += static_cast<std::size_t>(written);
  }
  _exit(0);
}

std::string all_of(int pipe) {
  std::string bytes;
  std::array<char, std::size_t{1} << 16> piece{};
  for (ssize_t length = 0; (length = read(pipe, piece.data(), piece.size())) > 0;) {
    bytes.append(piece.data(), static_cast<std::size_t>(length));
  }
  return bytes;
}

}  // namespace

Outcome run_isolated(const Schedule& schedule) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) std::abort();
  const pid_t pid = fork();
  if (pid < 0) std::abort();
  if (pid == 0) run_here(schedule, ends[1]);
  close(ends[1]);
  const std::string bytes = all_of(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) return crash_of(status);
  if (WEXITSTATUS(status) != 0) return {.verdict = {"crash", "status " + std::to_string(WEXITSTATUS(status))}};
  Outcome outcome;
  Unpacker unpacker{bytes};
  unpacker(outcome);
  return outcome;
}

}  // namespace fenix_simulation

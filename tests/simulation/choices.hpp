// SPDX-License-Identifier: BSD-3-Clause
// Everything that a schedule leaves open, drawn from its seed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fenix_simulation {

/// Kinds of decisions. The answer 0 is harmless for each of them.
enum class Kind : std::uint8_t {
  delay,    ///< time that a step takes
  stall,    ///< whether a process is held up for long
  yield,    ///< whether another process goes on at an access to shared memory
  tear,     ///< pieces of a copy
  notice,   ///< time until a death is known
  network,  ///< time that a message takes
  loss,     ///< messages of a dead process that do not arrive
  race,     ///< whether a call that overlaps with a failure fails
  agree,    ///< whether a dead rank counts in an agreement
  revoke,   ///< time that a revocation takes
  nap,      ///< time that a sleep takes beyond what was asked for
  random,   ///< bytes of the system
  disk,     ///< what a disk refuses, how long it takes, and what it loses
  kKinds
};
inline constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::kKinds);

std::string_view name_of(Kind kind);
bool find_kind(std::string_view name, Kind& kind);

/// Mixes bits, the same on every machine.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Other answers for some draws of a process.
struct Edit {
  static constexpr int kAll = -2;
  Kind kind = Kind::delay;
  int who = 0;
  std::uint64_t from = 0;  ///< number of the draw
  std::uint64_t to = 0;    ///< the first one behind
  std::uint64_t salt = 0;  ///< 0: all answers are harmless

  friend bool operator==(const Edit&, const Edit&) = default;
};

/// Draws. Each kind of each process has its own sequence, so that a schedule stays much the same when another process does
/// more or less than before.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : seed_(mixed(seed)) {}

  void edit(const std::vector<Edit>& edits) { edits_ = edits; }
  /// Answers 0 from now on.
  void make_harmless() { is_harmless_ = true; }
  /// Returns a number below a bound. who: number of a process, or −1 for the world.
  std::uint64_t draw(Kind kind, int who, std::uint64_t below) {
    if (below <= 1 || is_harmless_) return 0;
    const std::uint64_t number = next(kind, who);
    std::uint64_t salt = 0;
    if (!edits_.empty() && is_edited(kind, who, number, salt) && salt == 0) return 0;
    const auto place = static_cast<std::uint64_t>(kind) << 56U ^ static_cast<std::uint64_t>(who + 1) << 40U ^ number;
    return mixed(seed_ ^ salt ^ mixed(place)) % below;
  }

 private:
  std::uint64_t next(Kind kind, int who) {
    const auto index = static_cast<std::size_t>(who + 1);
    if (index >= counts_.size()) counts_.resize(index + 1);
    return counts_[index][static_cast<std::size_t>(kind)]++;
  }
  [[nodiscard]] bool is_edited(Kind kind, int who, std::uint64_t number, std::uint64_t& salt) const;

  std::uint64_t seed_;
  bool is_harmless_ = false;
  std::vector<std::array<std::uint64_t, kKinds>> counts_;
  std::vector<Edit> edits_;
};

/// A sequence of its own, for what is drawn before a schedule begins.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(mixed(seed)) {}
  std::uint64_t below(std::uint64_t bound) { return bound <= 1 ? 0 : (state_ = mixed(state_)) % bound; }
  int between(int least, int most) {
    return least + static_cast<int>(below(static_cast<std::uint64_t>(most - least + 1)));
  }
  /// True once in so many cases.
  bool once_in(std::uint64_t cases) { return below(cases) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace fenix_simulation

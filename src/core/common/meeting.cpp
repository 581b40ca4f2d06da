// SPDX-License-Identifier: BSD-3-Clause
#include "core/common/meeting.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint32_t kNobody = ~std::uint32_t{0};

// A value that all ranks should bring alike.
struct Saying {
  std::uint64_t value = 0;          // of the first rank that brings one
  std::uint32_t first = kNobody;    // number of that rank
  std::uint32_t differs = kNobody;  // first rank that brings another value

  void merge(const Saying& other) {
    const Saying early = first <= other.first ? *this : other;
    const Saying late = first <= other.first ? other : *this;
    *this = {early.value, early.first, std::min(early.differs, late.value == early.value ? late.differs : late.first)};
  }
};

// The contribution of some ranks to a meeting; at its end, of all of them.
struct Note {
  Saying operation;
  Saying arguments;
  std::uint32_t failed = kNobody;  // first rank that has an error
  std::int32_t code = 0;           // of its error
  MeetingValues values;

  void merge(const Note& other) {
    operation.merge(other.operation);
    arguments.merge(other.arguments);
    if (other.failed < failed) {
      failed = other.failed;
      code = other.code;
    }
    values.least = std::min(values.least, other.values.least);
    values.bits |= other.values.bits;
  }
};

// The reason why a rank cannot go on: only told if some rank cannot.
using Text = std::array<char, 136>;

// A damaged message need not have a valid code, nor a text that ends.
Fenix_Return_codes code_of(const Note& note) {
  const bool is_code = note.code >= FENIX_ERROR_UNINITIALIZED && note.code <= FENIX_WARNING_SHARED_FATE;
  return is_code ? static_cast<Fenix_Return_codes>(note.code) : FENIX_ERROR_INTERN;
}

// The error that local has thrown, if any. Takes no memory: there may be none.
std::optional<Error> run(const std::function<void()>& local) {
  std::optional<Error> result;
  try {
    local();
  } catch (const MpiError&) {
    throw;  // a death, most likely: others do not come to the meeting either
  } catch (const Error& error) {
    result = error;
  } catch (const std::bad_alloc&) {
    result = out_of_memory();
  } catch (const std::length_error&) {
    result = out_of_memory();
  }
  return result;
}

// Thrown on all ranks; a rank that has no memory for the text does without it.
[[noreturn]] void fail(Fenix_Return_codes code, std::size_t rank, const char* what, const char* why = "") {
  try {
    throw Error(code, "rank " + std::to_string(rank) + what + why);
  } catch (const std::bad_alloc&) {
    throw Error(out_of_memory());
  }
}

}  // namespace

MeetingValues meet(Team& team, Operation operation, std::optional<std::uint64_t> arguments, std::uint64_t value,
                   const std::function<void()>& local) {
  const auto self = static_cast<std::uint32_t>(team.rank());
  const auto own_error = run(local);
  Note mine{{static_cast<std::uint64_t>(operation), self}, {}, kNobody, 0, {value, value}};
  if (arguments) mine.arguments = {*arguments, self};
  if (own_error) {
    mine.failed = self;
    mine.code = own_error->code();
  }
  const Note all = team.reduce(mine, [](Note& into, const Note& from) { into.merge(from); });
  const bool knows_why = all.failed < all.operation.differs;
  if (knows_why) {
    if (all.failed >= static_cast<std::uint32_t>(team.size())) {
      throw Error(FENIX_ERROR_INTERN, "what a rank says at a meeting cannot be");
    }
    Text text{};
    if (own_error) std::strncpy(text.data(), own_error->what(), text.size() - 1);
    team.broadcast(std::as_writable_bytes(std::span(text)), static_cast<int>(all.failed));
    text.back() = '\0';
    if (!own_error) fail(code_of(all), all.failed, ": ", text.data());
  }
  if (own_error) throw Error(*own_error);
  if (all.operation.differs != kNobody) {
    fail(FENIX_ERROR_MISMATCH, all.operation.differs, " and rank 0 made different collective calls");
  }
  if (all.arguments.differs != kNobody) {
    fail(FENIX_ERROR_MISMATCH, all.arguments.differs, " and rank 0 gave different arguments");
  }
  return all.values;
}

}  // namespace fenix_impl

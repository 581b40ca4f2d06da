// SPDX-License-Identifier: BSD-3-Clause
#include "core/meeting.hpp"

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

// All ranks get it from all, so it is short.
struct Note {
  std::uint32_t operation = 0;
  std::int32_t code = 0;
  std::uint64_t arguments = 0;
  std::uint64_t value = 0;
};

// Why a rank cannot go on: only told if there is one that cannot.
using Text = std::array<char, 136>;

// What a damaged message says need not be a code, nor have an end.
Fenix_Return_codes code_of(const Note& note) {
  const bool is_code = note.code >= FENIX_ERROR_UNINITIALIZED && note.code <= FENIX_WARNING_SHARED_FATE;
  return is_code ? static_cast<Fenix_Return_codes>(note.code) : FENIX_ERROR_INTERN;
}

// What local has thrown, if anything. Takes no memory: there may be none.
std::optional<Error> run(const std::function<void()>& local, Note& mine) {
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
  if (result) mine.code = result->code();
  return result;
}

/// The first rank whose operation is another one than that of rank 0, or that has an error: the same on all ranks. The number of
/// ranks if there is none.
std::size_t first_that_stops(const std::vector<Note>& notes) {
  const auto stops = [&](const Note& note) { return note.operation != notes[0].operation || note.code != 0; };
  return static_cast<std::size_t>(std::find_if(notes.begin(), notes.end(), stops) - notes.begin());
}

// On all ranks: one that has no memory for the text does without.
[[noreturn]] void fail(Fenix_Return_codes code, std::size_t rank, const char* what, const char* why = "") {
  try {
    throw Error(code, "rank " + std::to_string(rank) + what + why);
  } catch (const std::bad_alloc&) {
    throw Error(out_of_memory());
  }
}

}  // namespace

std::vector<std::uint64_t> meet(Team& team, Operation operation, std::uint64_t arguments, std::uint64_t value,
                                const std::function<void()>& local) {
  Note mine{static_cast<std::uint32_t>(operation), 0, arguments, value};
  const auto own_error = run(local, mine);
  std::vector<std::uint64_t> values(static_cast<std::size_t>(team.size()));
  const auto notes = team.gather(mine);
  const std::size_t first = first_that_stops(notes);
  if (first < notes.size() && notes[first].operation == notes[0].operation) {
    Text text{};
    if (own_error) std::strncpy(text.data(), own_error->what(), text.size() - 1);
    team.broadcast(std::as_writable_bytes(std::span(text)), static_cast<int>(first));
    text.back() = '\0';
    if (!own_error) fail(code_of(notes[first]), first, ": ", text.data());
  }
  if (own_error) throw Error(*own_error);
  if (first < notes.size()) fail(FENIX_ERROR_MISMATCH, first, " and rank 0 made different collective calls");

  std::transform(notes.begin(), notes.end(), values.begin(), [](const Note& note) { return note.value; });
  for (std::size_t rank = 0; rank < notes.size(); ++rank) {
    if (notes[rank].arguments != notes[0].arguments) {
      fail(FENIX_ERROR_MISMATCH, rank, " and rank 0 gave different arguments");
    }
  }
  return values;
}

}  // namespace fenix_impl

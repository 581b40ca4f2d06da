// SPDX-License-Identifier: BSD-3-Clause
#include "core/meeting.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

struct Note {
  std::uint32_t operation = 0;
  std::int32_t code = 0;
  std::uint64_t arguments = 0;
  std::uint64_t value = 0;
  std::array<char, 136> text{};
};

std::optional<Error> run(const std::function<void()>& local) {
  try {
    local();
  } catch (const MpiError&) {
    throw;  // a death, most likely: others do not come to the meeting either
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::uint64_t> meet(Team& team, Operation operation, std::uint64_t arguments, std::uint64_t value,
                                const std::function<void()>& local) {
  const auto own_error = run(local);
  Note mine{static_cast<std::uint32_t>(operation), 0, arguments, value, {}};
  if (own_error) {
    mine.code = own_error->code();
    std::strncpy(mine.text.data(), own_error->what(), mine.text.size() - 1);
  }
  const auto notes = team.gather(mine);
  if (own_error) throw *own_error;

  std::vector<std::uint64_t> values;
  values.reserve(notes.size());
  for (std::size_t rank = 0; rank < notes.size(); ++rank) {
    const Note& note = notes[rank];
    if (note.operation != notes[0].operation) {
      throw Error(FENIX_ERROR_MISMATCH, "rank " + std::to_string(rank) + " and rank 0 made different collective calls");
    }
    if (note.code != 0) {
      throw Error(static_cast<Fenix_Return_codes>(note.code), "rank " + std::to_string(rank) + ": " + note.text.data());
    }
    values.push_back(note.value);
  }
  for (std::size_t rank = 0; rank < notes.size(); ++rank) {
    if (notes[rank].arguments != notes[0].arguments) {
      throw Error(FENIX_ERROR_MISMATCH, "rank " + std::to_string(rank) + " and rank 0 gave different arguments");
    }
  }
  return values;
}

}  // namespace fenix_impl

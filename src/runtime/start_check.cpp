// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/start_check.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

#include "base/environment.hpp"
#include "base/environment_checks.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "interposition/interposer.hpp"
#include "recovery/process/surroundings.hpp"
#include "rma/mpi_errors.hpp"
#include "rma/mpi_team.hpp"

namespace fenix_impl {
namespace {

struct Note {
  std::int32_t code = 0;
  StartArguments arguments;
  Surroundings surroundings;
  std::array<char, 240> text{};
};

/// Throws Error for arguments and an environment that are wrong on this rank alone.
void check_arguments(const StartArguments& own, const Outputs& outputs) {
  environment::check();
  if (outputs.comm == nullptr && interposer() == nullptr) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "newcomm is NULL, which needs the library libfenix_mpi before MPI");
  }
  if (outputs.role == nullptr) throw Error(FENIX_ERROR_INVALID_ARGUMENT, "role is NULL");
  if (own.spares < 0 || own.spares >= own.size) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                "spare_ranks " + std::to_string(own.spares) + " is not in [0, size of comm)");
  }
}

/// Throws the Error that a rank has found, or one if it has other arguments than the first one.
void check_note(const Note& note, const StartArguments& first) {
  const StartArguments& its = note.arguments;
  const std::string who = "rank " + std::to_string(its.rank);
  if (note.code != 0) {
    throw Error(static_cast<Fenix_Return_codes>(note.code), who + ": " + note.text.data());
  }
  const auto require_same = [&](bool same, const char* what) {
    if (same) return;
    throw Error(FENIX_ERROR_MISMATCH,
                who + " and rank " + std::to_string(first.rank) + " gave different values of " + what);
  };
  require_same(its.spares == first.spares, "spare_ranks");
  require_same((its.spawn != 0) == (first.spawn != 0), "spawn");
  require_same(its.resume_mode == first.resume_mode, "FENIX_RESUME_MODE in info");
  require_same(its.recovery_mode == first.recovery_mode, "FENIX_RECOVERY_MODE");
  require_same(its.spare_finalize_mode == first.spare_finalize_mode, "FENIX_SPARE_FINALIZE_MODE");
  require_same(its.drains == first.drains, "FENIX_DRAIN");
  require_same(its.unhandled_mode == first.unhandled_mode, "FENIX_UNHANDLED_MODE in info");
}

/// Throws Error if the ranks do not suit each other, and warns of what they differ in.
void compare_surroundings(const AllSurroundings& surroundings, int rank, const StartArguments& own,
                          std::span<const std::string> ignored) {
  surroundings.check();
  const bool is_transparent = interposer() != nullptr && interposer()->must_go_on();
  if (is_transparent && own.spares > 0) surroundings.require_one_program();
  surroundings.warn(rank, ignored);
  if (rank == 0) surroundings.tell(own.size - own.spares, own.spares);
}

}  // namespace

void check_start(MPI_Comm living, StartArguments own, const Outputs& outputs, std::vector<std::string> ignored,
                 Storage& storage) {
  Note mine;
  int rank = 0;
  MPI_Comm_rank(living, &rank);
  if (rank == 0) own.run = storage.job().begin_run();
  mine.arguments = own;
  for (auto& each : environment::ignored()) ignored.push_back(std::move(each));
  mine.surroundings = Surroundings::here(ignored);
  try {
    check_arguments(own, outputs);
  } catch (const Error& error) {
    mine.code = error.code();
    std::strncpy(mine.text.data(), error.what(), mine.text.size() - 1);
  }
  std::vector<Note> notes(static_cast<std::size_t>(size_of(living)));
  fault_point("init.begin");
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, notes.data(), sizeof mine, MPI_BYTE, living), "MPI_Allgather");
  if (mine.code != 0) throw Error(static_cast<Fenix_Return_codes>(mine.code), mine.text.data());
  const StartArguments& first = notes.front().arguments;
  storage.job().adopt_run(first.run);
  for (const Note& note : notes) check_note(note, first);
  std::vector<Surroundings> all;
  std::transform(notes.begin(), notes.end(), std::back_inserter(all),
                 [](const Note& each) { return each.surroundings; });
  compare_surroundings(AllSurroundings(std::move(all)), rank, own, ignored);
}

}  // namespace fenix_impl

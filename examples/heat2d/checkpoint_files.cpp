// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint_files.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <vector>

#include "files.hpp"

namespace heat2d {

namespace {

constexpr std::uint64_t kMagic = 0x3130446432746168;

struct Header {
  std::uint64_t magic = kMagic;
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::int32_t columns = 0;
  std::int32_t rows = 0;
  std::int32_t rank = 0;
  std::int32_t step = 0;
  std::uint64_t hash = 0;  // of the cells

  bool operator==(const Header&) const = default;
};

// Computes a hash in four lanes, so that a core multiplies four numbers at once.
std::uint64_t hash_of(std::span<const double> cells) {
  constexpr std::uint64_t kPrime = 0x9E3779B185EBCA87;
  std::array<std::uint64_t, 4> lanes{1, 2, 3, 4};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::uint64_t& lane = lanes[i % lanes.size()];
    lane = std::rotl((lane ^ std::bit_cast<std::uint64_t>(cells[i])) * kPrime, 31);
  }
  std::uint64_t hash = cells.size();
  for (const std::uint64_t lane : lanes) hash = std::rotl((hash ^ lane) * kPrime, 31);
  return hash;
}

Header header_of(Field& field, int rank, int step) {
  const Grid& grid = field.grid();
  return {.width = grid.width,
          .height = grid.height,
          .columns = grid.columns,
          .rows = grid.rows,
          .rank = rank,
          .step = step,
          .hash = hash_of({field.cells(), static_cast<std::size_t>(field.cell_count())})};
}

std::size_t bytes_of(Field& field) { return static_cast<std::size_t>(field.cell_count()) * sizeof(double); }

// Reads a file into the field. Returns false if it is not whole, or not of this rank and step.
bool read(const std::filesystem::path& path, Field& field, int rank, int step) {
  Header header;
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  file.read(reinterpret_cast<char*>(field.cells()), static_cast<std::streamsize>(bytes_of(field)));
  return file && file.peek() == std::ifstream::traits_type::eof() && header == header_of(field, rank, step);
}

// Gets the newest step up to a limit; −1 if there is none.
int newest(const std::set<int>& steps, int limit) {
  const auto after = steps.upper_bound(limit);
  return after == steps.begin() ? -1 : *std::prev(after);
}

int least(int number, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MIN, comm);
  return number;
}

// Finds the newest step that is in the sets of all ranks; −1 if there is none.
int newest_of_all(const std::set<int>& steps, MPI_Comm comm) {
  for (int limit = INT_MAX;;) {
    const int common = least(newest(steps, limit), comm);
    if (common < 0 || least(steps.contains(common) ? 1 : 0, comm) == 1) return common;
    limit = common - 1;
  }
}

}  // namespace

std::set<int> FileCheckpoint::complete_steps(Field& field) const {
  std::set<int> steps;
  const std::string begin = prefix();
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin)) continue;
    int step = -1;
    const char* const last = name.data() + name.size();
    const auto [end, error] = std::from_chars(name.data() + begin.size(), last, step);
    if (error == std::errc() && end == last && read(entry.path(), field, rank_, step)) steps.insert(step);
  }
  return steps;
}

// Removes the files of this rank that no resumption needs any more, and incomplete ones.
void FileCheckpoint::remove_all_but(int step) const {
  std::vector<std::filesystem::path> old;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().filename().string().starts_with(prefix()) && entry.path() != path_of(step)) {
      old.push_back(entry.path());
    }
  }
  for (const std::filesystem::path& path : old) std::filesystem::remove(path);
}

Resumption FileCheckpoint::resume(MPI_Comm comm, Field& field) {
  comm_ = comm;
  MPI_Comm_rank(comm, &rank_);
  std::filesystem::create_directories(folder_);
  Resumption from;
  const int step = newest_of_all(complete_steps(field), comm);
  remove_all_but(step);
  if (step < 0) {
    if (rank_ == 0) std::printf("heat2d: no files yet: starts from step 0\n");
    std::fflush(stdout);
    field.reset();
    return from;
  }
  if (!read(path_of(step), field, rank_, step)) throw std::runtime_error(path_of(step).string() + ": has changed");
  if (rank_ == 0) std::printf("heat2d: goes on from the files of step %d\n", step);
  std::fflush(stdout);
  from.step = step;
  return from;
}

void FileCheckpoint::save(Field& field, int step) {
  const Header header = header_of(field, rank_, step);
  write_file(path_of(step), std::as_bytes(std::span(&header, 1)),
             {reinterpret_cast<const std::byte*>(field.cells()), bytes_of(field)});
  // The checkpoint before is needed until all ranks have this one.
  MPI_Barrier(comm_);
  remove_all_but(step);
}

}  // namespace heat2d

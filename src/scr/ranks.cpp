// SPDX-License-Identifier: BSD-3-Clause
#include "scr/ranks.hpp"

#include <climits>
#include <cstdint>
#include <numeric>
#include <unordered_set>

namespace scr_impl {
namespace {

/// Names of all ranks, one after the other, each with a zero at its end.
struct GatheredNames {
  std::vector<char> text;
  std::vector<int> counts;  ///< of names, of each rank
};

/// Begins of parts with these sizes; the last one is the end of all.
std::vector<int> begins_of(const std::vector<int>& sizes) {
  std::vector<int> begins(sizes.size() + 1, 0);
  std::partial_sum(sizes.begin(), sizes.end(), begins.begin() + 1);
  return begins;
}

/// Collects the names on rank 0.
std::optional<GatheredNames> gather_names(MPI_Comm comm, const std::vector<std::string>& names) {
  std::string own;
  for (const std::string& name : names) own.append(name).append(1, '\0');
  std::int64_t bytes = static_cast<std::int64_t>(own.size());
  // MPI counts in int.
  if (MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, comm) != MPI_SUCCESS || bytes > INT_MAX)
    return std::nullopt;
  const int ranks = rank_of(comm) == 0 ? size_of(comm) : 0;
  const int sizes[] = {static_cast<int>(own.size()), static_cast<int>(names.size())};
  std::vector<int> all(static_cast<std::size_t>(ranks) * 2);
  if (MPI_Gather(sizes, 2, MPI_INT, all.data(), 2, MPI_INT, 0, comm) != MPI_SUCCESS) return std::nullopt;
  GatheredNames gathered;
  std::vector<int> lengths;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    lengths.push_back(all[i]);
    gathered.counts.push_back(all[i + 1]);
  }
  const std::vector<int> begins = begins_of(lengths);
  gathered.text.resize(static_cast<std::size_t>(begins.back()));
  if (MPI_Gatherv(own.data(), sizes[0], MPI_CHAR, gathered.text.data(), lengths.data(), begins.data(), MPI_CHAR, 0,
                  comm) != MPI_SUCCESS)
    return std::nullopt;
  return gathered;
}

}  // namespace

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

bool agree(MPI_Comm comm, bool holds) {
  int all = holds ? 1 : 0;
  return MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all != 0;
}

bool broadcast(MPI_Comm comm, std::string& text) {
  int size = static_cast<int>(text.size());
  if (MPI_Bcast(&size, 1, MPI_INT, 0, comm) != MPI_SUCCESS) return false;
  text.resize(static_cast<std::size_t>(size));
  return MPI_Bcast(text.data(), size, MPI_CHAR, 0, comm) == MPI_SUCCESS;
}

std::optional<SharedFiles> compare_files(MPI_Comm comm, const std::vector<std::string>& names) {
  const auto gathered = gather_names(comm, names);
  if (!gathered) return std::nullopt;
  SharedFiles files;
  std::vector<char> is_first;
  std::unordered_set<std::string> known;
  for (std::size_t at = 0; at < gathered->text.size();) {
    const std::string name = gathered->text.data() + at;
    at += name.size() + 1;
    is_first.push_back(known.insert(name).second ? 1 : 0);
    if (is_first.back() != 0) {
      files.all.push_back(name);
    } else if (files.shared.empty()) {
      files.shared = name;
    }
  }
  const std::vector<int> begins = begins_of(gathered->counts);
  std::vector<char> own(names.size());
  const int code = MPI_Scatterv(is_first.data(), gathered->counts.data(), begins.data(), MPI_CHAR, own.data(),
                                static_cast<int>(own.size()), MPI_CHAR, 0, comm);
  if (code != MPI_SUCCESS || !broadcast(comm, files.shared)) return std::nullopt;
  files.is_own.assign(own.begin(), own.end());
  return files;
}

}  // namespace scr_impl

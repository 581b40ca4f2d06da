// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comms/topology.hpp"

#include <algorithm>
#include <cstddef>

#include "base/of_thread.hpp"
#include "mpi/base/real.hpp"
#include "mpi/comms/gathering.hpp"

namespace fenix_impl {
namespace {

using Numbers = std::vector<std::int64_t>;

int size_in(MPI_Comm comm) {
  int size = 0;
  real.Comm_size(comm, &size);
  return size;
}

std::vector<int> ints(int count) { return std::vector<int>(static_cast<std::size_t>(count)); }

void append(Numbers& numbers, const std::vector<int>& more) { numbers.insert(numbers.end(), more.begin(), more.end()); }

void read_cart(MPI_Comm comm, Numbers& numbers) {
  int count = 0;
  real.Cartdim_get(comm, &count);
  std::vector<int> dims = ints(count);
  std::vector<int> periods = ints(count);
  std::vector<int> own = ints(count);
  real.Cart_get(comm, count, dims.data(), periods.data(), own.data());
  append(numbers, dims);
  append(numbers, periods);
}

void read_graph(MPI_Comm comm, Numbers& numbers) {
  int nodes = 0;
  int edges = 0;
  real.Graphdims_get(comm, &nodes, &edges);
  std::vector<int> index = ints(nodes);
  std::vector<int> ends = ints(edges);
  real.Graph_get(comm, nodes, edges, index.data(), ends.data());
  append(numbers, index);
  append(numbers, ends);
}

/// The neighbours of one rank: numbers of sources and of destinations, whether there are weights, sources, their weights,
/// destinations, their weights.
std::vector<int> own_neighbours(MPI_Comm comm) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  real.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  std::vector<int> sources = ints(in);
  std::vector<int> source_weights = ints(in);
  std::vector<int> destinations = ints(out);
  std::vector<int> destination_weights = ints(out);
  real.Dist_graph_neighbors(comm, in, sources.data(), weighted != 0 ? source_weights.data() : MPI_UNWEIGHTED, out,
                            destinations.data(), weighted != 0 ? destination_weights.data() : MPI_UNWEIGHTED);
  std::vector<int> all = {in, out, weighted};
  for (const auto* part : {&sources, &source_weights, &destinations, &destination_weights}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

int read_dist_graph(MPI_Comm comm, Numbers& numbers) {
  auto& neighbours = of_thread<Gathering<int>>();
  neighbours.set_own(own_neighbours(comm));
  const int error = neighbours.run(comm);
  if (error != MPI_SUCCESS) return error;
  for (std::size_t rank = 0; rank < neighbours.size(); ++rank) {
    const auto one = neighbours.of(rank);
    numbers.insert(numbers.end(), one.begin(), one.end());
  }
  return MPI_SUCCESS;
}

std::vector<int> to_ints(const Numbers& numbers, std::size_t first, std::size_t count) {
  const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(first);
  std::vector<int> result(count);
  std::transform(begin, begin + static_cast<std::ptrdiff_t>(count), result.begin(),
                 [](std::int64_t number) { return static_cast<int>(number); });
  return result;
}

int make_dist_graph(MPI_Comm plain, const Numbers& numbers, MPI_Comm* made) {
  int rank = 0;
  real.Comm_rank(plain, &rank);
  std::size_t at = 0;
  for (int other = 0; other < rank; ++other) at += 3 + 2 * static_cast<std::size_t>(numbers[at] + numbers[at + 1]);
  const auto in = static_cast<std::size_t>(numbers[at]);
  const auto out = static_cast<std::size_t>(numbers[at + 1]);
  const bool weighted = numbers[at + 2] != 0;
  const auto sources = to_ints(numbers, at + 3, in);
  const auto source_weights = to_ints(numbers, at + 3 + in, in);
  const auto destinations = to_ints(numbers, at + 3 + 2 * in, out);
  const auto destination_weights = to_ints(numbers, at + 3 + 2 * in + out, out);
  // An empty array of weights must not be null.
  const auto weights = [&](const std::vector<int>& given) {
    if (!weighted) return static_cast<const int*>(MPI_UNWEIGHTED);
    return given.empty() ? static_cast<const int*>(MPI_WEIGHTS_EMPTY) : given.data();
  };
  return real.Dist_graph_create_adjacent(plain, static_cast<int>(in), sources.data(), weights(source_weights),
                                         static_cast<int>(out), destinations.data(), weights(destination_weights),
                                         MPI_INFO_NULL, 0, made);
}

}  // namespace

int read_topology(MPI_Comm comm, Topology& topology) {
  int kind = MPI_UNDEFINED;
  const int error = real.Topo_test(comm, &kind);
  if (error != MPI_SUCCESS) return error;
  topology.kind = kind;
  if (kind == MPI_DIST_GRAPH) return read_dist_graph(comm, topology.numbers);
  if (kind == MPI_CART) read_cart(comm, topology.numbers);
  if (kind == MPI_GRAPH) read_graph(comm, topology.numbers);
  return MPI_SUCCESS;
}

int make_with_topology(MPI_Comm plain, const Topology& topology, MPI_Comm* made) {
  const Numbers& numbers = topology.numbers;
  if (topology.kind == MPI_DIST_GRAPH) return make_dist_graph(plain, numbers, made);
  if (topology.kind == MPI_GRAPH) {
    const auto nodes = static_cast<std::size_t>(size_in(plain));
    const auto index = to_ints(numbers, 0, nodes);
    const auto edges = to_ints(numbers, nodes, numbers.size() - nodes);
    return real.Graph_create(plain, static_cast<int>(nodes), index.data(), edges.data(), 0, made);
  }
  const std::size_t count = numbers.size() / 2;
  const auto dims = to_ints(numbers, 0, count);
  const auto periods = to_ints(numbers, count, count);
  return real.Cart_create(plain, static_cast<int>(count), dims.data(), periods.data(), 0, made);
}

}  // namespace fenix_impl

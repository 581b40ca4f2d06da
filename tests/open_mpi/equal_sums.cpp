// SPDX-License-Identifier: BSD-3-Clause
// Compares reductions of doubles bit for bit: repeated, on a new communicator in which a spare or spawned process has the place of a
// dead one, and with processes in another order. Knows nothing of Fenix: it tests Open MPI.
//
// usage, after ". scripts/env.sh":
//   build:  mpicxx -std=c++20 -O2 -o equal_sums tests/open_mpi/equal_sums.cpp
//   run:    timeout -s KILL 60 mpirun --with-ft ulfm [--mca coll_tuned_… …] -n N ./equal_sums spare|spawn|plain [hashes]
//   spare   the last rank is the spare: the communicator has N − 1 ranks
//   spawn   a spawned process takes the place of the dead one
//   plain   nobody dies
//   hashes  prints a line for the hash of each result, to compare runs with one another
//
// The contribution of a rank depends on its number in the communicator only. Rank 0 prints a line for each difference, a line for each
// comparison, and a summary.
// Seen: no difference at all without the component han. With han, and no death, results depend on which rank is on which node.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mpi.h>
#include <numeric>
#include <signal.h>
#include <string>
#include <unistd.h>
#include <vector>
#include <mpi-ext.h>

static const int sizes[] = {1,    2,    3,     7,     64,    100,    513,    1000,   1024,
                            2048, 4096, 10000, 16384, 65536, 100003, 262144, 1000000};
using Results = std::map<std::string, uint64_t>;  // for each call, the hash of the bits of its result
static uint64_t hash(const std::vector<double>& v) {
  uint64_t h = 1469598103934665603u;
  for (double d : v) {
    uint64_t b;
    memcpy(&b, &d, 8);
    h = (h ^ b) * 1099511628211u;
    h ^= h >> 29;
  }
  return h;
}

// Returns values from 1e-8 to 1e8 of both signs.
static double value(int rank, int i) {
  const double x = std::sin(i * 12.9898 + rank * 78.233 + 1) * 43758.5453;
  return (x - std::floor(x) - 0.5) * std::pow(10.0, (i * 7 + rank * 5) % 17 - 8);
}

static int unequal_ranks;

static Results run(MPI_Comm comm, bool all_sizes = true) {
  int me, n;
  Results results;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  for (int size : sizes) {
    if (!all_sizes && size > 20000) continue;
    std::vector<double> in(size), out(size);
    for (int i = 0; i < size; ++i) in[i] = value(me, i);
    MPI_Allreduce(in.data(), out.data(), size, MPI_DOUBLE, MPI_SUM, comm);
    uint64_t mine = hash(out), first = mine;
    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, comm);
    int differs = first != mine, any = 0;
    MPI_Allreduce(&differs, &any, 1, MPI_INT, MPI_MAX, comm);
    if (any) ++unequal_ranks;
    results["allreduce " + std::to_string(size)] = first;
    out = in;
    MPI_Allreduce(MPI_IN_PLACE, out.data(), size, MPI_DOUBLE, MPI_SUM, comm);
    mine = hash(out);
    MPI_Bcast(&mine, 1, MPI_UINT64_T, 0, comm);
    results["allreduce in place " + std::to_string(size)] = mine;
    for (int root : {0, n - 1}) {
      MPI_Reduce(in.data(), out.data(), size, MPI_DOUBLE, MPI_SUM, root, comm);
      mine = hash(out);
      MPI_Bcast(&mine, 1, MPI_UINT64_T, root, comm);
      results[std::string("reduce to ") + (root ? "last " : "first ") + std::to_string(size)] = mine;
    }
    MPI_Scan(in.data(), out.data(), size, MPI_DOUBLE, MPI_SUM, comm);
    mine = hash(out);
    MPI_Bcast(&mine, 1, MPI_UINT64_T, n - 1, comm);
    results["scan " + std::to_string(size)] = mine;
    std::vector<int> counts(n, size / n);
    counts[0] += size % n;
    std::vector<double> part(counts[me]), whole(size);
    MPI_Reduce_scatter(in.data(), part.data(), counts.data(), MPI_DOUBLE, MPI_SUM, comm);
    std::vector<int> starts(n, 0);
    std::partial_sum(counts.begin(), counts.end() - 1, starts.begin() + 1);
    MPI_Allgatherv(part.data(), counts[me], MPI_DOUBLE, whole.data(), counts.data(), starts.data(), MPI_DOUBLE, comm);
    results["reduce_scatter " + std::to_string(size)] = hash(whole);
  }
  return results;
}

static int compare(const char* title, const Results& a, const Results& b, bool print) {
  int different = 0;
  for (auto& [name, h] : b)
    if (auto at = a.find(name); at != a.end() && at->second != h) {
      ++different;
      if (print) printf("DIFFERENT %s: %s\n", title, name.c_str());
    }
  if (print) printf("%-60s %zu compared, %d different\n", title, b.size(), different);
  return different;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent, comm, world = MPI_COMM_WORLD;
  int me, n;
  MPI_Comm_get_parent(&parent);
  // Take the place of the dead rank: this is a spawned process.
  if (parent != MPI_COMM_NULL) {
    int key;
    MPI_Intercomm_merge(parent, 1, &world);
    MPI_Bcast(&key, 1, MPI_INT, 0, world);
    MPI_Comm_split(world, 0, key, &comm);
    run(comm);
    MPI_Barrier(comm);
    MPI_Finalize();
    return 0;
  }
  const bool spare = argc > 1 && std::string(argv[1]) == "spare";
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &me);
  MPI_Comm_size(world, &n);
  if (spare) --n;
  MPI_Comm_split(world, me < n ? 0 : MPI_UNDEFINED, me, &comm);
  Results first;
  const bool print = me == 0;
  const int dead = n - 1 > 1 ? 1 : n - 1;
  if (comm != MPI_COMM_NULL) {
    first = run(comm);
    int different = 0;
    for (int i = 0; i < 5; ++i) different += compare("repeated", first, run(comm, i == 0), false);
    if (print) printf("%-60s %d different\n", "repeated 5 times on the same communicator", different);
    MPI_Comm other;
    MPI_Comm_dup(comm, &other);
    compare("MPI_Comm_dup", first, run(other), print);
    MPI_Comm_split(comm, 0, -me, &other);
    const Results reversed = run(other);  // the same on all ranks
    compare("ranks on processes in reverse order", first, reversed, print);
    MPI_Comm_split(comm, 0, me ^ 1, &other);
    compare("ranks on processes in order 1 0 3 2", first, run(other), print);
  }
  const bool plain = argc > 1 && std::string(argv[1]) == "plain";  // nobody dies
  auto finish = [&] {
    printf("results that were not the same on all ranks: %d\n", unequal_ranks);
    uint64_t total = 0;
    for (auto& [name, h] : first) {
      total = total * 31 + h;
      if (argc > 2) printf("hash %s %016lx\n", name.c_str(), static_cast<unsigned long>(h));
    }
    int same = 0, all = 0;
    for (auto& [name, h] : first)
      if (name.rfind("allreduce in place ", 0) == 0) {
        ++all;
        same += h == first.at("allreduce " + name.substr(19));
      }
    printf("allreduce in place equal to not in place: %d of %d; all hashes together %016lx\n", same, all,
           static_cast<unsigned long>(total));
    fflush(stdout);
  };
  if (plain) {
    if (print) finish();
    MPI_Barrier(world);
    MPI_Finalize();
    return 0;
  }
  // Kill a rank; the others shrink. A spare or a new process takes the place.
  if (me == dead) {
    usleep(100000);
    raise(SIGKILL);
  }
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
  } else {
    usleep(200000);
  }
  MPI_Comm shrunk, placed, merged;
  MPIX_Comm_revoke(world);
  MPIX_Comm_shrink(world, &shrunk);
  if (spare) {
    MPI_Comm_split(shrunk, 0, me == n ? dead : me, &placed);
  } else {
    MPI_Comm children;
    int key = me;
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, shrunk, &children, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(children, 0, &merged);
    int number = dead;
    MPI_Bcast(&number, 1, MPI_INT, 0, merged);
    MPI_Comm_split(merged, 0, key, &placed);
  }
  int place;
  MPI_Comm_rank(placed, &place);
  const Results replaced = run(placed);
  if (print) {
    compare(spare ? "a spare in the place of the dead rank" : "a spawned process in the place of the dead rank", first,
            replaced, true);
    finish();
  }
  MPI_Barrier(placed);
  MPI_Finalize();
}

// SPDX-License-Identifier: BSD-3-Clause
//
// Particles that move through a channel, from rank to rank.
// plain.cpp and protected.cpp are the same program, without Fenix and with it: diff plain.cpp protected.cpp
//
// mpicxx -std=c++20 -O2 -o protected protected.cpp -I$F/include -L$F/lib -Wl,-rpath,$F/lib -lfenix
// mpirun --with-ft ulfm -n 5 ./protected [STEPS]
// F: the folder where Fenix is installed. With 20000 steps there is time to kill a rank.
//
// Each rank has a part of the channel, and the particles in it. They enter on rank 0, are carried along,
// are pushed about at random, and leave behind the last rank. So the ranks have different numbers of
// particles, which change.
#include <fenix.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace data = fenix::data;

enum { SPARES = 1, INTERVAL = 5, GROUP = 0, PARTICLES = 0, STATE = 1 };

struct Particle {
  double x, y;      // in [0, 1) each; x is along the channel
  std::int64_t id;  // in the order of entry
};

struct State {
  std::int64_t step, entered, left;
  std::uint64_t random;  // of the random numbers of this rank
};

static MPI_Comm comm = MPI_COMM_NULL;
static int role, error, rank, ranks;
static int steps = 200;

static std::vector<Particle> particles;
static State state;

// Gives a number in [0, 1).
static double random_number() {
  state.random += 0x9e3779b97f4a7c15;
  std::uint64_t z = state.random;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static void begin() {
  state = {0, 0, 0, static_cast<std::uint64_t>(rank + 1) << 32};
  particles.clear();
}

static void enter() {
  if (rank != 0) return;
  const int number = 40 + static_cast<int>(30 * random_number());
  for (int i = 0; i < number; ++i) particles.push_back({0, random_number(), state.entered++});
}

static void move() {
  for (Particle& particle : particles) {
    const double y = particle.y;
    particle.x += 0.04 * y * (1 - y) + 0.004 * (random_number() - 0.5);
    particle.y += 0.05 * (random_number() - 0.5);
    particle.x = std::fabs(particle.x);
    if (particle.y < 0 || particle.y >= 1) particle.y = y;
  }
}

// Gives the rank in whose part of the channel a particle is; the number of ranks if it has left.
static int place_of(const Particle& particle) { return particle.x < 1 ? static_cast<int>(particle.x * ranks) : ranks; }

// Sends each particle to the rank where it is now.
static void migrate() {
  const auto size = static_cast<std::size_t>(ranks);
  std::vector<std::vector<Particle>> outgoing(size);
  for (const Particle& particle : particles) {
    const int place = place_of(particle);
    if (place < ranks) outgoing[static_cast<std::size_t>(place)].push_back(particle);
    if (place == ranks) ++state.left;
  }

  std::vector<int> sends(size), receives(size), send_offsets(size), receive_offsets(size);
  std::vector<Particle> all;
  for (std::size_t to = 0; to < size; ++to) {
    sends[to] = static_cast<int>(outgoing[to].size() * sizeof(Particle));
    all.insert(all.end(), outgoing[to].begin(), outgoing[to].end());
  }
  MPI_Alltoall(sends.data(), 1, MPI_INT, receives.data(), 1, MPI_INT, comm);
  std::exclusive_scan(sends.begin(), sends.end(), send_offsets.begin(), 0);
  std::exclusive_scan(receives.begin(), receives.end(), receive_offsets.begin(), 0);
  const int bytes = std::accumulate(receives.begin(), receives.end(), 0);
  particles.resize(static_cast<std::size_t>(bytes) / sizeof(Particle));
  MPI_Alltoallv(all.data(), sends.data(), send_offsets.data(), MPI_BYTE, particles.data(), receives.data(),
                receive_offsets.data(), MPI_BYTE, comm);
}

// Prints how many particles there are, a sum over them, and a number that depends on each bit of them.
static void report() {
  struct {
    std::int64_t number, left;
    std::uint64_t bits;
  } mine = {static_cast<std::int64_t>(particles.size()), state.left, 0}, all = {};
  double mine_x = 0, all_x = 0;
  for (const Particle& particle : particles) {
    std::uint64_t words[3];
    std::memcpy(words, &particle, sizeof words);
    mine.bits += words[0] * 3 + words[1] * 5 + words[2] * 7;
    mine_x += particle.x;
  }
  MPI_Reduce(&mine, &all, 3, MPI_UINT64_T, MPI_SUM, 0, comm);
  MPI_Reduce(&mine_x, &all_x, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(ranks));
  MPI_Gather(&mine.number, 1, MPI_INT64_T, numbers.data(), 1, MPI_INT64_T, 0, comm);
  if (rank != 0) return;
  std::printf("step %3d: %5d particles, %5d have left, mean x %.16e, bits %016llx, on each rank",
              static_cast<int>(state.step), static_cast<int>(all.number), static_cast<int>(all.left),
              all_x / static_cast<double>(all.number), static_cast<unsigned long long>(all.bits));
  for (const std::int64_t number : numbers) std::printf(" %d", static_cast<int>(number));
  std::printf("\n");
}

// Tells Fenix what to protect. Each store says where the particles are, and how many.
static void protect() {
  data::group_create(GROUP, {.depth = 0});
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(sizeof(Particle), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  data::member_define(GROUP, PARTICLES, nullptr, FENIX_RESIZEABLE, type);
  MPI_Type_free(&type);
  data::member_define(GROUP, STATE, &state, sizeof state, MPI_BYTE);
}

// Gives false if nothing was committed yet, or it is lost.
static bool restore() {
  try {
    data::member_restore(GROUP, STATE);
  } catch (const fenix::RuntimeException& exception) {
    if (exception.error != FENIX_ERROR_NODATA_FOUND) throw;
    return false;
  }
  int number = 0;
  data::member_attr_get(GROUP, PARTICLES, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &number);
  particles.resize(static_cast<std::size_t>(number));
  data::member_restore(GROUP, PARTICLES, particles.data(), number);
  return true;
}

static void save() {
  data::member_attr_set(GROUP, PARTICLES, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, particles.data());
  data::member_store(GROUP, PARTICLES,
                     particles.empty() ? fenix::DataSubset() : fenix::DataSubset(particles.size() - 1));
  data::member_store(GROUP, STATE);
  data::commit_barrier(GROUP);
}

// From the start, or from the latest failure, to the end.
static void run() {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (error == FENIX_WARNING_SPARE_RANKS_DEPLETED) MPI_Abort(comm, EXIT_FAILURE);  // the channel is for all ranks
  protect();
  if (!restore()) begin();
  if (rank == 0 && role != FENIX_ROLE_INITIAL_RANK)
    std::printf("a rank has died: on from step %d\n", static_cast<int>(state.step));
  while (state.step < steps) {
    enter();
    move();
    migrate();
    ++state.step;
    if (state.step % 10 == 0) report();
    if (state.step % INTERVAL == 0) save();
  }
  fenix::check(Fenix_Finalize());
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc > 1) steps = std::atoi(argv[1]);
  fenix::init({.role = &role, .out_comm = &comm, .spares = SPARES, .err = &error});
  for (bool done = false; !done;) {
    try {
      run();
      done = true;
    } catch (const fenix::CommException&) {
      // comm is written anew: once more from the top
    } catch (const fenix::RuntimeException& exception) {
      std::fprintf(stderr, "%s\n", exception.what());
      MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}

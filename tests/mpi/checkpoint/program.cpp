// SPDX-License-Identifier: BSD-3-Clause
// A random program, the same on all ranks for a seed: messages with tags and sizes, wildcards, probes, tests, collective operations in all
// forms, delays. Ranks take checkpoints at steps of their own choice. Its values have a closed form, whatever the order of messages. Choices
// that are not determined are told with the messages: after a restart all ranks know one history.
//
//   checkpoint_program SEED STEPS SPARES [--deaths N] [--kill RANK@STEP]… [--after RANK@LINES]… [--every N] [--log BYTES] [--least N]
//                     [--expect none|some] [--collectives 0|1] [--pending 1] [--plain 1] [--pause MICROSECONDS]
//
// --kill: the rank dies before a step; --after: when it has committed so many checkpoints. --deaths: in all, also by FENIX_FAULT. --plain: without
// any call of Fenix, for FENIX_SPARES. --pause: between steps; rank 0 prints their numbers, for tests/nodes/beside.
#include <fenix.hpp>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../check.hpp"

using check::require;
using check::success;

namespace {

constexpr int kGroup = 1;
constexpr int kStateMember = 1;
constexpr int kDataMember = 2;
constexpr int kLogMember = 3;
constexpr int kMostRanks = 8;
constexpr int kMostChoices = 4096;
constexpr int kData = 16384;
constexpr std::int64_t kModulus = 1'000'000'007;

struct Known {
  std::int64_t choices = 0;
  std::int64_t hash = 0;
};

struct State {
  std::int64_t step = 0;
  std::int64_t value = 0;
  std::int64_t choices = 0;
  std::array<std::int64_t, kMostChoices> hashes{};  ///< of the own choices, by their number
  std::array<Known, kMostRanks> known{};            ///< choices of the ranks, as far as this one has heard of them
};

/// A message: the value of its sender, and what it knows.
struct Said {
  std::int64_t value = 0;
  std::array<Known, kMostRanks> known{};
};

enum class Kind {
  message,
  crossing,
  gather,
  ordered,
  tested,
  probed,
  bcast,
  reduce,
  allreduce,
  barrier,
  collect,
  scan,
  exchange,
  ibarrier,
  iallreduce,
  ibcast,
  delay,
  kinds
};

struct Step {
  Kind kind = Kind::delay;
  int from = 0;
  int to = 0;
  int tag = 0;
  int bytes = 0;  ///< behind what is said
  int delayed = 0;
  int microseconds = 0;
};

struct At {
  int rank = 0;
  int number = 0;
};

struct Options {
  unsigned seed = 0;
  int steps = 0;
  int spares = 0;
  int deaths = 0;
  int every = 20;
  int log = 1 << 20;
  int least = 0;  // checkpoints at the end
  bool has_collectives = true;
  bool is_plain = false;
  int pause = 0;
  bool has_pending = false;  // a message to itself is under way at each place for a checkpoint
  std::string expected = "any";
  std::vector<At> kills;
  std::vector<At> after;
};

Options options;
std::vector<Step> program;
MPI_Comm comm = MPI_COMM_NULL;
MPI_Comm half = MPI_COMM_NULL;  // even and odd ranks
int role = 0;
int error = 0;
bool is_replacement = false;
int rank_of_this = 0;
int size = 0;
State state;
std::array<std::int64_t, kData> data;
std::vector<char> buffer(1 << 18);
std::vector<char> other(1 << 18);

std::vector<Step> make_program() {
  std::mt19937 chance(options.seed);
  const auto below = [&](int limit) { return static_cast<int>(chance() % static_cast<unsigned>(limit)); };
  std::vector<Step> steps(static_cast<std::size_t>(options.steps));
  for (Step& step : steps) {
    step.kind = static_cast<Kind>(below(static_cast<int>(Kind::kinds)));
    if (!options.has_collectives) {
      constexpr std::array kMessages{Kind::message, Kind::crossing, Kind::tested, Kind::probed};
      step.kind = kMessages[static_cast<std::size_t>(below(static_cast<int>(kMessages.size())))];
    }
    step.from = below(size);
    step.to = below(size);
    step.tag = below(3);
    const int chosen = below(20);
    step.bytes = chosen == 0 ? 200'000 : chosen < 4 ? 9'000 : below(64);
    step.delayed = below(size);
    const int length = below(80);
    step.microseconds = length == 0 ? 30'000 : length < 10 ? below(4000) : 0;
  }
  return steps;
}

std::int64_t mixed(std::int64_t a, std::int64_t b) { return (a * 31 + b * 7 + 3) % kModulus; }

// ------------------------------------------------------------------------------------------------------------------ closed form

std::vector<std::int64_t> expected_values() {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) values[static_cast<std::size_t>(i)] = i + 1;
  for (const Step& step : program) {
    const std::vector<std::int64_t> before = values;
    std::int64_t sum = 0;
    for (const std::int64_t each : before) sum = (sum + each) % kModulus;
    std::int64_t& to = values[static_cast<std::size_t>(step.to)];
    const std::int64_t from = before[static_cast<std::size_t>(step.from)];
    std::int64_t all = 0;
    switch (step.kind) {
      case Kind::message:
      case Kind::tested:
      case Kind::probed:
        to = mixed(to, from);
        break;
      case Kind::crossing:
        to = mixed(mixed(to, from), from);
        break;
      case Kind::gather:
      case Kind::ordered:
      case Kind::reduce:
        to = mixed(to, sum);
        break;
      case Kind::collect:
        for (const std::int64_t each : before) all = mixed(all, each);
        to = mixed(to, all);
        break;
      case Kind::bcast:
      case Kind::ibcast:
        for (std::int64_t& each : values) each = mixed(each, from);
        break;
      case Kind::allreduce:
      case Kind::iallreduce:
        for (std::int64_t& each : values) each = mixed(each, sum);
        break;
      case Kind::scan:
        for (int i = 0; i < size; ++i) {
          all = (all + before[static_cast<std::size_t>(i)]) % kModulus;
          values[static_cast<std::size_t>(i)] = mixed(values[static_cast<std::size_t>(i)], all);
        }
        break;
      case Kind::exchange:
        for (int i = 0; i < size; ++i) {
          std::int64_t got = 0;
          for (int j = i % 2; j < size; j += 2) got = mixed(got, before[static_cast<std::size_t>(j)]);
          values[static_cast<std::size_t>(i)] = mixed(values[static_cast<std::size_t>(i)], got);
        }
        break;
      default:
        break;
    }
  }
  return values;
}

// ------------------------------------------------------------------------------------------------------------------- histories

void choose(std::int64_t choice) {
  require(state.choices + 1 < kMostChoices, "room for choices");
  const auto before = static_cast<std::size_t>(state.choices++);
  state.hashes[before + 1] = mixed(state.hashes[before], choice + 1);
  state.known[static_cast<std::size_t>(rank_of_this)] = {state.choices, state.hashes[before + 1]};
}

void hear(const Said& said) {
  for (int i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    Known& known = state.known[at];
    if (said.known[at].choices == known.choices) require(said.known[at].hash == known.hash, "one history");
    if (i == rank_of_this) {
      const Known& of_this = said.known[at];
      require(of_this.choices <= state.choices, "nobody knows a choice that was not made");
      require(of_this.hash == state.hashes[static_cast<std::size_t>(of_this.choices)],
              "others know the choices of this rank");
    } else if (said.known[at].choices > known.choices) {
      known = said.known[at];
    }
  }
}

/// All know the same of each other.
void compare_histories() {
  std::array<Said, kMostRanks> all;
  Said mine{state.value, state.known};
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm);
  for (int i = 0; i < size; ++i) hear(all[static_cast<std::size_t>(i)]);
}

// ----------------------------------------------------------------------------------------------------------------------- steps

int pack_message(const Step& step) {
  const Said said{state.value, state.known};
  std::memcpy(buffer.data(), &said, sizeof said);
  std::memset(buffer.data() + sizeof said, static_cast<int>(state.value % 100), static_cast<std::size_t>(step.bytes));
  return static_cast<int>(sizeof said) + step.bytes;
}

Said unpack_message(const std::vector<char>& from, const Step& step) {
  Said said;
  std::memcpy(&said, from.data(), sizeof said);
  for (int i = 0; i < step.bytes; i += 97) {
    require(from[sizeof said + static_cast<std::size_t>(i)] == static_cast<char>(said.value % 100),
            "the bytes of a message");
  }
  hear(said);
  return said;
}

void send(const Step& step, int to, int tag) {
  const int bytes = pack_message(step);
  if (step.tag == 2) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(buffer.data(), bytes, MPI_BYTE, to, tag, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(buffer.data(), bytes, MPI_BYTE, to, tag, comm);
  }
}

void receive(const Step& step, int from, int tag, std::vector<char>& into) {
  MPI_Recv(into.data(), static_cast<int>(into.size()), MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
  (void)step;
}

void message(const Step& step) {
  if (step.from == step.to) {
    if (rank_of_this == step.to) state.value = mixed(state.value, state.value);
    return;
  }
  if (rank_of_this == step.from) send(step, step.to, step.tag);
  if (rank_of_this != step.to) return;
  receive(step, step.from, step.tag, other);
  state.value = mixed(state.value, unpack_message(other, step).value);
}

// Two messages that are received in the other order than they were sent.
void crossing(const Step& step) {
  if (step.from == step.to) {
    if (rank_of_this == step.to) state.value = mixed(mixed(state.value, state.value), state.value);
    return;
  }
  if (rank_of_this == step.from) {
    send({step.kind, 0, 0, 0, step.bytes % 1000, 0, 0}, step.to, 1);
    send({step.kind, 0, 0, 0, step.bytes % 1000, 0, 0}, step.to, 0);
  }
  if (rank_of_this != step.to) return;
  const Step small{step.kind, 0, 0, 0, step.bytes % 1000, 0, 0};
  receive(small, step.from, 0, other);
  const std::int64_t second = unpack_message(other, small).value;
  receive(small, step.from, 1, other);
  state.value = mixed(mixed(state.value, second), unpack_message(other, small).value);
}

/// One rank receives from all others in the order in which they come. is_probed: it asks whose message is there, and receives any one of that
/// rank.
void gather(const Step& step, bool is_probed) {
  const int tag = 100 + static_cast<int>(state.step);
  if (rank_of_this != step.to) return send(step, step.to, tag);
  std::int64_t sum = state.value;
  for (int i = 1; i < size; ++i) {
    MPI_Status status;
    int from = MPI_ANY_SOURCE;
    if (is_probed) {
      MPI_Probe(MPI_ANY_SOURCE, tag, comm, &status);
      from = status.MPI_SOURCE;
    }
    MPI_Recv(other.data(), static_cast<int>(other.size()), MPI_BYTE, from, is_probed ? MPI_ANY_TAG : tag, comm,
             &status);
    check::expect_equal(status.MPI_TAG, tag, "the tag of a message");
    sum = (sum + unpack_message(other, step).value) % kModulus;
    choose(status.MPI_SOURCE);
  }
  state.value = mixed(state.value, sum % kModulus);
}

void tested(const Step& step) {
  if (step.from == step.to) return message(step);
  if (rank_of_this == step.from) send(step, step.to, step.tag);
  if (rank_of_this != step.to) return;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(other.data(), static_cast<int>(other.size()), MPI_BYTE, step.from, step.tag, comm, &request);
  int tests = 0;
  for (int flag = 0; flag == 0; ++tests) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  choose(tests % 5);
  state.value = mixed(state.value, unpack_message(other, step).value);
}

// The tag depends on the latest choice of the sender: if that was made anew, nobody may wait for the tag of before.
void probed(const Step& step) {
  if (step.from == step.to) return message(step);
  if (rank_of_this == step.from) {
    send(step, step.to, 10 + static_cast<int>(state.hashes[static_cast<std::size_t>(state.choices)] % 7));
  }
  if (rank_of_this != step.to) return;
  int probes = 0;
  MPI_Status status;
  for (int flag = 0; flag == 0; ++probes) MPI_Iprobe(step.from, MPI_ANY_TAG, comm, &flag, &status);
  choose(probes % 5);
  receive(step, status.MPI_SOURCE, status.MPI_TAG, other);
  state.value = mixed(state.value, unpack_message(other, step).value);
}

void bcast(const Step& step, bool waits_later) {
  Said said{state.value, state.known};
  if (waits_later) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(&said, sizeof said, MPI_BYTE, step.from, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Bcast(&said, sizeof said, MPI_BYTE, step.from, comm);
  }
  hear(said);
  state.value = mixed(state.value, said.value);
}

void collect(const Step& step) {
  std::array<Said, kMostRanks> all;
  const Said mine{state.value, state.known};
  MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, step.to, comm);
  if (rank_of_this != step.to) return;
  std::int64_t value = 0;
  for (int i = 0; i < size; ++i) {
    hear(all[static_cast<std::size_t>(i)]);
    value = mixed(value, all[static_cast<std::size_t>(i)].value);
  }
  state.value = mixed(state.value, value);
}

void exchange() {
  int ranks = 0;
  MPI_Comm_size(half, &ranks);
  std::array<std::int64_t, kMostRanks> mine;
  std::array<std::int64_t, kMostRanks> all{};
  mine.fill(state.value);
  MPI_Alltoall(mine.data(), 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, half);
  std::int64_t got = 0;
  for (int i = 0; i < ranks; ++i) got = mixed(got, all[static_cast<std::size_t>(i)]);
  state.value = mixed(state.value, got);
}

void execute(const Step& step) {
  if (step.microseconds > 0 && rank_of_this == step.delayed) usleep(static_cast<unsigned>(step.microseconds));
  std::int64_t sum = 0;
  switch (step.kind) {
    case Kind::message:
      return message(step);
    case Kind::crossing:
      return crossing(step);
    case Kind::gather:
      return gather(step, false);
    case Kind::ordered:
      return gather(step, true);
    case Kind::tested:
      return tested(step);
    case Kind::probed:
      return probed(step);
    case Kind::bcast:
      return bcast(step, false);
    case Kind::ibcast:
      return bcast(step, true);
    case Kind::reduce:
      MPI_Reduce(&state.value, &sum, 1, MPI_INT64_T, MPI_SUM, step.to, comm);
      if (rank_of_this == step.to) state.value = mixed(state.value, sum % kModulus);
      return;
    case Kind::allreduce:
      MPI_Allreduce(&state.value, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
      state.value = mixed(state.value, sum % kModulus);
      return;
    case Kind::iallreduce: {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Iallreduce(&state.value, &sum, 1, MPI_INT64_T, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      state.value = mixed(state.value, sum % kModulus);
      return;
    }
    case Kind::barrier:
      MPI_Barrier(comm);
      return;
    case Kind::ibarrier: {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibarrier(comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      return;
    }
    case Kind::collect:
      return collect(step);
    case Kind::scan:
      MPI_Scan(&state.value, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
      state.value = mixed(state.value, sum % kModulus);
      return;
    case Kind::exchange:
      return exchange();
    default:
      return;
  }
}

constexpr int kTagToItself = 50;

void send_to_itself() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&state.value, 1, MPI_INT64_T, rank_of_this, kTagToItself, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void receive_from_itself() {
  std::int64_t value = 0;
  MPI_Recv(&value, 1, MPI_INT64_T, rank_of_this, kTagToItself, comm, MPI_STATUS_IGNORE);
  check::expect_equal(value, state.value, "the message of a rank to itself");
}

// ----------------------------------------------------------------------------------------------------------------- checkpoints

std::int64_t datum(int i) { return state.value * 3 + state.step + i; }

/// Returns the time stamp from which all go on.
int begin() {
  int time_stamp = FENIX_CHECKPOINT_NONE;
  success(Fenix_Data_group_create(kGroup, comm, 0, 1, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, nullptr),
          "group_create");
  success(Fenix_Data_member_define(kGroup, kStateMember, &state, sizeof state, MPI_BYTE), "member_define");
  success(Fenix_Data_member_define(kGroup, kDataMember, data.data(), kData, MPI_INT64_T), "member_define");
  // Each rank may give another number.
  const int log_bytes = options.log + 8 * rank_of_this;
  success(Fenix_Checkpoint_begin(kGroup, kLogMember, log_bytes, &time_stamp), "Fenix_Checkpoint_begin");
  if (time_stamp == FENIX_CHECKPOINT_NONE) {
    state = {};
    state.value = rank_of_this + 1;
    return time_stamp;
  }
  success(Fenix_Data_member_restore(kGroup, kStateMember, &state, sizeof state, time_stamp, nullptr), "restore");
  success(Fenix_Data_member_restore(kGroup, kDataMember, data.data(), kData, time_stamp, nullptr), "restore");
  for (int i = 0; i < kData; ++i) {
    if (data[static_cast<std::size_t>(i)] != datum(i)) check::fail("the data of the checkpoint is that of another one");
  }
  return time_stamp;
}

/// Whether a rank comes to a place where it can take a checkpoint: each at other steps.
bool is_place() { return (state.step * 7 + rank_of_this * 3) % (rank_of_this + 2) == 0; }

void look_for_checkpoint() {
  if (rank_of_this == 0 && state.step % options.every == options.every - 1) {
    success(Fenix_Checkpoint_request(), "Fenix_Checkpoint_request");
  }
  if (!is_place()) return;
  for (int i = 0; i < kData; ++i) data[static_cast<std::size_t>(i)] = datum(i);
  success(Fenix_Checkpoint_potential(nullptr), "Fenix_Checkpoint_potential");
}

void die_if_told() {
  if (options.pause > 0) {
    if (rank_of_this == 0) std::printf("step %d\n", static_cast<int>(state.step));
    std::fflush(stdout);
    usleep(static_cast<useconds_t>(options.pause));
  }
  if (is_replacement) return;
  for (const At& each : options.kills) {
    if (each.rank == rank_of_this && each.number == state.step) raise(SIGKILL);
  }
  int lines = 0;
  for (const At& each : options.after) {
    if (each.rank != rank_of_this) continue;
    success(Fenix_Checkpoint_count(&lines), "Fenix_Checkpoint_count");
    if (lines >= each.number) raise(SIGKILL);
  }
}

/// Executes the program without any call of Fenix.
void run_plain() {
  comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank_of_this);
  MPI_Comm_size(comm, &size);
  // A spare has the number that mpirun has given it.
  const char* const number = std::getenv("PMIX_RANK");
  is_replacement = number != nullptr && std::atoi(number) >= size;
  program = make_program();
  MPI_Comm_split(comm, rank_of_this % 2, rank_of_this, &half);
  state.value = rank_of_this + 1;
  for (; state.step < options.steps; ++state.step) {
    die_if_told();
    execute(program[static_cast<std::size_t>(state.step)]);
  }
  compare_histories();
  check::expect_equal(state.value, expected_values()[static_cast<std::size_t>(rank_of_this)], "the value at the end");
  check::ok(rank_of_this);
  MPI_Finalize();
}

void read_options(int argc, char** argv) {
  options.seed = static_cast<unsigned>(std::atoi(argv[1]));
  options.steps = std::atoi(argv[2]);
  options.spares = std::atoi(argv[3]);
  for (int i = 4; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    At at;
    if (name == "--deaths") options.deaths = std::atoi(argv[i + 1]);
    if (name == "--every") options.every = std::atoi(argv[i + 1]);
    if (name == "--log") options.log = std::atoi(argv[i + 1]);
    if (name == "--pause") options.pause = std::atoi(argv[i + 1]);
    if (name == "--plain") options.is_plain = std::atoi(argv[i + 1]) != 0;
    if (name == "--pending") options.has_pending = std::atoi(argv[i + 1]) != 0;
    if (name == "--collectives") options.has_collectives = std::atoi(argv[i + 1]) != 0;
    if (name == "--least") options.least = std::atoi(argv[i + 1]);
    if (name == "--expect") options.expected = argv[i + 1];
    if (name != "--kill" && name != "--after") continue;
    require(std::sscanf(argv[i + 1], "%d@%d", &at.rank, &at.number) == 2, "RANK@NUMBER");
    (name == "--kill" ? options.kills : options.after).push_back(at);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  require(argc > 3, "SEED STEPS SPARES");
  read_options(argc, argv);
  if (options.is_plain) {
    run_plain();
    return 0;
  }
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, options.spares, 0, MPI_INFO_NULL, &error);
  is_replacement = is_replacement || role == FENIX_ROLE_RECOVERED_RANK;
  MPI_Comm_rank(comm, &rank_of_this);
  MPI_Comm_size(comm, &size);
  if (program.empty()) program = make_program();
  MPI_Comm_split(comm, rank_of_this % 2, rank_of_this, &half);
  const int time_stamp = begin();
  if (rank_of_this == 0) std::printf("begins with checkpoint %d, step %d\n", time_stamp, static_cast<int>(state.step));
  if (role != FENIX_ROLE_INITIAL_RANK && options.expected != "any") {
    require((time_stamp != FENIX_CHECKPOINT_NONE) == (options.expected == "some"),
            "a checkpoint to begin with: " + options.expected);
  }
  bool is_behind_place = time_stamp != FENIX_CHECKPOINT_NONE;
  while (state.step < options.steps) {
    // A checkpoint is taken between the two: after a restart the message comes from the log.
    if (options.has_pending && !is_behind_place) send_to_itself();
    if (!options.has_pending || !is_behind_place) look_for_checkpoint();
    if (options.has_pending) receive_from_itself();
    is_behind_place = false;
    die_if_told();
    execute(program[static_cast<std::size_t>(state.step)]);
    ++state.step;
  }
  compare_histories();
  int lines = 0;
  if (rank_of_this == 0) success(Fenix_Checkpoint_count(&lines), "Fenix_Checkpoint_count");
  for (int i = 0; i < kData; ++i) data[static_cast<std::size_t>(i)] = datum(i);
  success(Fenix_Checkpoint_finish(), "Fenix_Checkpoint_finish");
  int none = 0;
  check::expect_equal(Fenix_Checkpoint_count(&none), FENIX_ERROR_INVALID_LOGIC_CALL, "a count after the end");
  check::expect_equal(state.value, expected_values()[static_cast<std::size_t>(rank_of_this)], "the value at the end");
  if (rank_of_this == 0) {
    std::printf("%d checkpoints since the start\n", lines);
    require(lines >= options.least, "so many checkpoints");
  }
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank_of_this);
  MPI_Finalize();
  return 0;
}

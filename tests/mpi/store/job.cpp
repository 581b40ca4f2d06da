// SPDX-License-Identifier: BSD-3-Clause
// A job that computes, commits and flushes, and goes on from the store when it is started again, on any number of ranks. The field has the
// same values in each step, whatever happens, so each element can be checked.
//
// Prints "run R from STEP of N ranks" when it begins, on rank 0, and "FENIX-TEST-OK" at the end.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "../check.hpp"

using check::expect_equal;
using check::require;
using check::success;

namespace {

constexpr int kGroup = 5;
constexpr int kField = 0;
constexpr int kWhere = 1;
constexpr int kList = -7;  // FENIX_RESIZEABLE
constexpr int kHoles = 3;  // its datatype has holes
constexpr int kSome = 4;   // only ranks with even numbers have elements
constexpr int kOwn = 5;    // its buffer is the library's
constexpr int kGone = 6;   // deleted after the first commit
constexpr int kOther = 9;  // a group that commits each second step
constexpr int kCount = 10;

struct Options {
  int steps = 6;
  int naps = 0;  // milliseconds of a step
  long elements = 3000;
  int every = 0;  // commits are flushed by themselves
  int sync = 0;   // each so many-th step is flushed, and waited for
  int async = 0;  // each so many-th step is flushed by a request
  int policy = FENIX_DATA_POLICY_IMR;
  int separation = 1;
  int cohort = 3;
  int losses = 1;
  int mode = 1;  // of IMR: copies in pairs, or 5: XOR
  int depth = 1;
  int in_place = 0;
  int hashing = 1;
  int from = -2;        // step from which the job must begin; -1: anew
  std::string fetch;    // dataset to begin with
  int asks = 0;         // 1: commits when the library says so, and ends when it says so
  int halt = -1;        // step in which rank 1 has the job end
  int lists = 0;        // 1: prints the datasets, and deletes the one of step 5
  std::string full;     // a flush is refused on all ranks, and this is in the text; empty: it is not refused
  std::string until;    // file that must be there before the last step ends; empty: none
  int from_steps = -1;  // steps after the first one of this job; -1: up to the last one
  int unusable = 0;     // 1: the store cannot be used, and all ranks are told
  int says = 0;         // 1: prints each step that has been committed, and each one that has been flushed
  int other = 0;        // 1: there is another group, which is not flushed
  int deletes = 0;      // 1: deletes the group in the end, and dies
  int refuses = 0;      // 1: rank 1 cannot use the newest dataset
  std::string missing;  // dataset that is fetched in vain, with commits in memory
};

/// Step and ranks of a snapshot, for a job that has another number of them.
struct Where {
  std::int32_t step = -1;
  std::int32_t ranks = 0;
};

std::uint64_t value(long element, int step) {
  std::uint64_t mixed = static_cast<std::uint64_t>(element) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(step);
  mixed ^= mixed >> 29U;
  return mixed * 0xBF58476D1CE4E5B9U;
}

long begin_of(const Options& options, int rank, int ranks) { return options.elements * rank / ranks; }

int list_unit = 1;

int length_of_list(int rank, int step) { return (rank * 7 + step * 3) % 11 * list_unit; }

class Field {
 public:
  Field(const Options& options, int rank, int ranks)
      : options_(options), rank_(rank), ranks_(ranks), begin_(begin_of(options, rank, ranks)) {
    values.resize(static_cast<std::size_t>(begin_of(options, rank + 1, ranks) - begin_));
  }

  void set(int step) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(begin_ + static_cast<long>(i), step);
    list.assign(static_cast<std::size_t>(length_of_list(rank_, step)), step * 100 + rank_);
    where = {step, ranks_};
    for (int i = 0; i < kCount; ++i) {
      const auto at = static_cast<std::size_t>(i);
      holes[3 * at] = holes[3 * at + 2] = number(step, i);
      some[at] = number(step, i) + 0.5;
      own[i] = -number(step, i);
      other[at] = 3 * number(step, i);
    }
  }

  void check_others(int step) const {
    for (int i = 0; i < kCount; ++i) {
      const auto at = static_cast<std::size_t>(i);
      expect_equal(holes[3 * at], number(step, i), "an element with holes");
      expect_equal(holes[3 * at + 1], -1, "a hole");
      expect_equal(holes[3 * at + 2], number(step, i), "an element with holes");
      if (rank_ % 2 == 0) require(some[at] == number(step, i) + 0.5, "an element of some ranks");
      expect_equal(own[i], -number(step, i), "an element of the library's buffer");
    }
  }

  [[nodiscard]] int number(int step, int i) const { return step * 1000 + rank_ * 20 + i; }

  void check(int step) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      require(values[i] == value(begin_ + static_cast<long>(i), step),
              [&] { return "element " + std::to_string(i) + " of step " + std::to_string(step) + " is wrong"; });
    }
  }

  void check_list(int step) const {
    const auto length = static_cast<std::size_t>(length_of_list(rank_, step));
    for (std::size_t i = 0; i < length; ++i) expect_equal(list[i], step * 100 + rank_, "an element of the list");
    for (std::size_t i = length; i < list.size(); ++i) expect_equal(list[i], -1, "an element beyond the list");
  }

  /// Takes the part of a block of another rank that belongs to this one.
  void take(int old_rank, int old_ranks, const std::vector<std::uint64_t>& block) {
    const long first = begin_of(options_, old_rank, old_ranks);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const long at = begin_ + static_cast<long>(i) - first;
      if (at >= 0 && at < static_cast<long>(block.size())) values[i] = block[static_cast<std::size_t>(at)];
    }
  }

  [[nodiscard]] int rank() const { return rank_; }

  std::vector<std::uint64_t> values;
  std::vector<int> list;
  Where where;
  std::vector<int> holes = std::vector<int>(3 * kCount, -1);
  std::vector<double> some = std::vector<double>(kCount, -1);
  std::vector<int> other = std::vector<int>(kCount, -1);
  int* own = nullptr;

 private:
  Options options_;
  int rank_;
  int ranks_;
  long begin_;
};

/// Restores on the same number of ranks, or returns what group_create or restore says.
int restore(Field& field) {
  Fenix_Data_subset found{};
  const int code = Fenix_Data_member_restore(kGroup, kWhere, &field.where, 2, FENIX_DATA_SNAPSHOT_LATEST, &found);
  if (code != FENIX_SUCCESS) return code;
  success(Fenix_Data_member_restore(kGroup, kField, field.values.data(), static_cast<int>(field.values.size()),
                                    FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE),
          "restore of the field");
  field.list.assign(std::size_t{16} * static_cast<std::size_t>(list_unit), -1);
  // All that the snapshot has: longer lists of earlier steps have left elements beyond its size in the slot.
  success(Fenix_Data_member_restore(kGroup, kList, field.list.data(), FENIX_DATA_RESTORE_FULL,
                                    FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE),
          "restore of the list");
  int length = -1;
  success(Fenix_Data_member_attr_get(kGroup, kList, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &length, nullptr),
          "length of the list");
  expect_equal(length, length_of_list(field.rank(), field.where.step), "the length of the list");
  success(Fenix_Data_member_restore(kGroup, kHoles, field.holes.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST,
                                    FENIX_DATA_SUBSET_IGNORE),
          "restore of what has holes");
  const int of_some = Fenix_Data_member_restore(kGroup, kSome, field.some.data(), field.rank() % 2 == 0 ? kCount : 0,
                                                FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE);
  if (field.rank() % 2 == 0) success(of_some, "restore of what some ranks have");
  success(Fenix_Data_member_restore(kGroup, kOwn, FENIX_DATA_RESTORE_INPLACE, kCount, FENIX_DATA_SNAPSHOT_LATEST,
                                    FENIX_DATA_SUBSET_IGNORE),
          "restore in place");
  field.check_others(field.where.step);
  return FENIX_SUCCESS;
}

/// Restores what other ranks have stored, of another number of ranks.
int restore_from_ranks(const Options& options, Field& field) {
  int code = Fenix_Data_member_restore_from_rank(kGroup, kWhere, &field.where, 2, FENIX_DATA_SNAPSHOT_LATEST,
                                                 FENIX_DATA_SUBSET_IGNORE, 0);
  if (code != FENIX_SUCCESS) return code;
  const int ranks = field.where.ranks;
  for (int old = 0; old < ranks; ++old) {
    const long count = begin_of(options, old + 1, ranks) - begin_of(options, old, ranks);
    std::vector<std::uint64_t> block(static_cast<std::size_t>(count));
    success(Fenix_Data_member_restore_from_rank(kGroup, kField, block.data(), static_cast<int>(count),
                                                FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE, old),
            "restore from rank " + std::to_string(old));
    field.take(old, ranks, block);
  }
  return FENIX_SUCCESS;
}

/// Waits for a file, for two minutes at most.
void await_file(const std::string& file) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!std::filesystem::exists(file) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Options read(int argc, char** argv) {
  Options options;
  const auto is = [&](int i, const char* name) { return std::strcmp(argv[i], name) == 0; };
  for (int i = 1; i + 1 < argc; i += 2) {
    const char* const text = argv[i + 1];
    if (is(i, "--steps")) options.steps = std::atoi(text);
    if (is(i, "--nap")) options.naps = std::atoi(text);
    if (is(i, "--elements")) options.elements = std::atol(text);
    if (is(i, "--every")) options.every = std::atoi(text);
    if (is(i, "--other")) options.other = std::atoi(text);
    if (is(i, "--list")) list_unit = std::atoi(text);
    if (is(i, "--sync")) options.sync = std::atoi(text);
    if (is(i, "--async")) options.async = std::atoi(text);
    if (is(i, "--depth")) options.depth = std::atoi(text);
    if (is(i, "--in-place")) options.in_place = std::atoi(text);
    if (is(i, "--hashing")) options.hashing = std::atoi(text);
    if (is(i, "--from")) options.from = std::atoi(text);
    if (is(i, "--asks")) options.asks = std::atoi(text);
    if (is(i, "--halt")) options.halt = std::atoi(text);
    if (is(i, "--lists")) options.lists = std::atoi(text);
    if (is(i, "--full")) options.full = text;
    if (is(i, "--until")) options.until = text;
    if (is(i, "--from-steps")) options.from_steps = std::atoi(text);
    if (is(i, "--unusable")) options.unusable = std::atoi(text);
    if (is(i, "--says")) options.says = std::atoi(text);
    if (is(i, "--deletes")) options.deletes = std::atoi(text);
    if (is(i, "--refuses")) options.refuses = std::atoi(text);
    if (is(i, "--fetch")) options.fetch = text;
    if (is(i, "--missing")) options.missing = text;
    if (is(i, "--separation")) options.separation = std::atoi(text);
    if (is(i, "--cohort")) options.cohort = std::atoi(text);
    if (is(i, "--losses")) options.losses = std::atoi(text);
    if (is(i, "--policy")) {
      options.policy = std::strcmp(text, "rs") == 0      ? FENIX_DATA_POLICY_REED_SOLOMON
                       : std::strcmp(text, "local") == 0 ? FENIX_DATA_POLICY_LOCAL
                                                         : FENIX_DATA_POLICY_IMR;
      if (std::strcmp(text, "xor") == 0) options.mode = 5;
    }
  }
  return options;
}

void create_members(Field& field) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  success(Fenix_Data_member_define(kGroup, kHoles, field.holes.data(), kCount, type), "definition of what has holes");
  MPI_Type_free(&type);
  success(Fenix_Data_member_define(kGroup, kSome, field.some.data(), field.rank() % 2 == 0 ? kCount : 0, MPI_DOUBLE),
          "definition of what some ranks have");
  success(Fenix_Data_member_allocate(kGroup, kOwn, kCount, MPI_INT, &field.own), "allocation");
  success(Fenix_Data_member_define(kGroup, kField, field.values.data(), static_cast<int>(field.values.size()),
                                   MPI_UINT64_T),
          "definition of the field");
  success(Fenix_Data_member_define(kGroup, kWhere, &field.where, 2, MPI_INT32_T), "definition of where");
  success(Fenix_Data_member_define(kGroup, kList, nullptr, FENIX_RESIZEABLE, MPI_INT), "definition of the list");
}

void store(Field& field) {
  success(Fenix_Data_member_attr_set(kGroup, kList, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, field.list.data(), nullptr),
          "buffer of the list");
  success(Fenix_Data_member_store(kGroup, kField, FENIX_DATA_SUBSET_FULL), "store of the field");
  success(Fenix_Data_member_store(kGroup, kWhere, FENIX_DATA_SUBSET_FULL), "store of where");
  for (const int member : {kHoles, kSome, kOwn}) {
    success(Fenix_Data_member_store(kGroup, member, FENIX_DATA_SUBSET_FULL),
            "store of member " + std::to_string(member));
  }
  if (Fenix_Data_member_created(kGroup, kGone) == 1) {
    success(Fenix_Data_member_attr_set(kGroup, kGone, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &field.where, nullptr),
            "buffer");
    success(Fenix_Data_member_store(kGroup, kGone, FENIX_DATA_SUBSET_FULL), "store of what is to be deleted");
  }
  Fenix_Data_subset some{};
  const int length = static_cast<int>(field.list.size());
  if (length > 0) {
    success(Fenix_Data_subset_create(1, 0, length - 1, 1, &some), "subset");
    success(Fenix_Data_member_store(kGroup, kList, some), "store of the list");
    success(Fenix_Data_subset_delete(&some), "end of the subset");
  } else {
    success(Fenix_Data_member_store(kGroup, kList, FENIX_DATA_SUBSET_EMPTY), "store of nothing");
  }
}

/// Fetches a dataset that is not there, or is damaged: the commits in memory stay.
void fetch_in_vain(const Options& options, Field& field, int step) {
  expect_equal(Fenix_Data_fetch(kGroup, options.missing.c_str(), nullptr), FENIX_ERROR_NODATA_FOUND,
               "fetch of what is not there");
  success(restore(field), "restore after a fetch in vain");
  expect_equal(field.where.step, step, "the step after a fetch in vain");
  field.check(step);
}

/// Whether a step is to be committed. All ranks must have been told the same.
bool should_commit(const Options& options, MPI_Comm comm, int step) {
  if (options.asks == 0) return true;
  int flag = -1;
  success(Fenix_Data_need_commit(kGroup, &flag), "need_commit");
  int told[] = {flag, -flag};
  MPI_Allreduce(MPI_IN_PLACE, told, 2, MPI_INT, MPI_MAX, comm);
  expect_equal(told[0], -told[1], "what need_commit says to other ranks");
  return flag != 0 || step + 1 == options.steps;
}

/// Forms the second group, and checks what it has: it may be some steps behind.
void form_other_group(const Options& options, MPI_Comm comm, Field& field, int step) {
  success(Fenix_Data_group_create(kOther, comm, 0, 0, FENIX_DATA_POLICY_LOCAL, nullptr, nullptr),
          "group_create of the other");
  success(Fenix_Data_member_define(kOther, kField, field.other.data(), kCount, MPI_INT),
          "definition in the other group");
  if (options.every > 0) success(Fenix_Data_group_set_flush(kOther, 1), "set_flush of the other group");
  const int code = Fenix_Data_member_restore(kOther, kField, field.other.data(), kCount, FENIX_DATA_SNAPSHOT_LATEST,
                                             FENIX_DATA_SUBSET_IGNORE);
  if (code != FENIX_SUCCESS) return;
  const int behind = (field.other[0] / 3 - field.rank() * 20) / 1000;
  require(behind <= step, "the other group is ahead");
  for (int i = 0; i < kCount; ++i) {
    expect_equal(field.other[static_cast<std::size_t>(i)], 3 * field.number(behind, i),
                 "an element of the other group");
  }
}

void commit_other_group() {
  success(Fenix_Data_member_store(kOther, kField, FENIX_DATA_SUBSET_FULL), "store in the other group");
  success(Fenix_Data_commit(kOther, nullptr), "commit of the other group");
}

bool should_end(const Options& options, MPI_Comm comm, int step) {
  if (options.asks == 0) return false;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (step == options.halt && rank == 1) success(Fenix_Process_halt("enough"), "halt");
  int flag = -1;
  success(Fenix_Process_should_halt(&flag), "should_halt");
  int told[] = {flag, -flag};
  MPI_Allreduce(MPI_IN_PLACE, told, 2, MPI_INT, MPI_MAX, comm);
  expect_equal(told[0], -told[1], "what should_halt says to other ranks");
  return flag != 0;
}

void list_datasets() {
  int number = 0;
  success(Fenix_Data_get_number_of_datasets(&number), "number of datasets");
  std::string unwanted;
  for (int i = 0; i < number; ++i) {
    char name[FENIX_DATASET_NAME_MAX];
    char label[FENIX_DATASET_NAME_MAX];
    int complete = -1;
    success(Fenix_Data_get_dataset_at_position(i, name, label, &complete), "dataset");
    std::printf("dataset %s %s %d\n", name, label, complete);
    if (std::string(label) == "step-5") unwanted = name;
  }
  expect_equal(Fenix_Data_dataset_delete("5.99.1.1"), FENIX_ERROR_NODATA_FOUND, "deletion of none");
  expect_equal(Fenix_Data_dataset_set_current("5.99.1.1"), FENIX_ERROR_NODATA_FOUND, "choice of none");
  success(Fenix_Data_dataset_delete(unwanted.c_str()), "deletion");
}

void work(const Options& options, MPI_Comm comm, bool is_first) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  Field field(options, rank, ranks);
  int flag = -1;
  int values[] = {options.separation, options.cohort, options.losses};
  if (options.policy == FENIX_DATA_POLICY_IMR) values[0] = options.mode;
  if (options.policy == FENIX_DATA_POLICY_IMR) values[1] = ranks > 1 ? options.separation : 0;
  if (options.policy == FENIX_DATA_POLICY_IMR) values[2] = options.cohort;
  if (options.unusable != 0) {
    expect_equal(Fenix_Data_group_create(kGroup, comm, 0, 0, FENIX_DATA_POLICY_LOCAL, nullptr, &flag),
                 FENIX_ERROR_STORE, "group_create without a store that can be used");
    return;
  }
  success(Fenix_Data_group_create(kGroup, comm, 0, options.depth, ranks > 1 ? options.policy : FENIX_DATA_POLICY_LOCAL,
                                  values, &flag),
          "group_create");
  if (options.hashing == 0) success(Fenix_Data_group_set_hashing(kGroup, 0), "set_hashing");
  if (options.in_place != 0) success(Fenix_Data_group_set_in_place(kGroup, 1), "set_in_place");
  create_members(field);
  int code = FENIX_SUCCESS;
  if (is_first && !options.fetch.empty()) success(Fenix_Data_fetch(kGroup, options.fetch.c_str(), nullptr), "fetch");
  code = restore(field);
  if (code == FENIX_ERROR_NODATA_FOUND) code = restore_from_ranks(options, field);
  for (int refusals = options.refuses; is_first && refusals > 0; --refusals) {
    expect_equal(Fenix_Data_restart_done(kGroup, rank == 1 ? 0 : 1), FENIX_WARNING_RESUMED, "restart_done");
    success(restore(field), "restore after a refusal");
    success(Fenix_Data_restart_done(kGroup, 1), "restart_done");
  }
  if (is_first && options.lists != 0 && rank == 0) list_datasets();
  int step = -1;
  if (code == FENIX_SUCCESS) {
    step = field.where.step;
    field.check(step);
    if (field.where.ranks == ranks) field.check_list(step);
  } else {
    expect_equal(code, FENIX_ERROR_NODATA_FOUND, "what restore returns");
  }
  int run = 0;
  int origin = 0;
  success(Fenix_Process_get_run(&run, &origin), "get_run");
  if (rank == 0) {
    std::printf("run %d from %d of %d ranks, origin %d, flag %d\n", run, step, ranks, origin, flag);
    std::fflush(stdout);
  }
  if (is_first && options.from > -2) expect_equal(step, options.from, "the first step");
  if (options.every > 0) success(Fenix_Data_group_set_flush(kGroup, options.every), "set_flush");
  const bool has_other = options.other != 0 || (options.every > 0 && options.naps == 0 && options.asks == 0);
  if (has_other) form_other_group(options, comm, field, step);
  if (Fenix_Data_member_created(kGroup, kGone) == 0) {
    success(Fenix_Data_member_create(kGroup, kGone, &field.where, 2, MPI_INT32_T), "creation");
  }
  Fenix_Request request = FENIX_REQUEST_NULL;
  const int end = options.from_steps < 0 ? options.steps : step + 1 + options.from_steps;
  int commits = 0;
  bool is_over = false;
  while (!is_over && ++step < end) {
    field.set(step);
    if (options.asks != 0) {
      if (options.naps > 0) std::this_thread::sleep_for(std::chrono::milliseconds(options.naps));
      is_over = should_end(options, comm, step);
      if (!should_commit(options, comm, step) && !is_over) continue;
    }
    ++commits;
    store(field);
    int stamp = -1;
    success(Fenix_Data_commit_barrier(kGroup, &stamp), "commit");
    if (options.asks == 0) expect_equal(stamp, step, "the time stamp");
    if (options.says != 0 && rank == 0) {
      std::printf("step %d\n", step);
      std::fflush(stdout);
    }
    if (!options.missing.empty()) fetch_in_vain(options, field, step);
    if (has_other && step % 2 == 0) commit_other_group();
    if (step == 4 && Fenix_Data_member_created(kGroup, kGone) == 1) {
      success(Fenix_Data_member_delete(kGroup, kGone), "deletion");
    }
    if (options.asks == 0 && options.naps > 0) std::this_thread::sleep_for(std::chrono::milliseconds(options.naps));
    if (!options.until.empty() && step + 1 == end) await_file(options.until);
    if (options.sync > 0 && (step + 1) % options.sync == 0) {
      const std::string name = "step-" + std::to_string(step);
      if (!options.full.empty()) {
        expect_equal(Fenix_Data_flush(kGroup, stamp, nullptr), FENIX_ERROR_STORE, "flush without room");
        const bool says_why = std::string(Fenix_Error_message()).find(options.full) != std::string::npos;
        require(says_why, "text of a flush without room");
        int failed = -1;
        success(Fenix_Data_flush_state(kGroup, stamp, &failed, nullptr), "flush_state");
        expect_equal(failed, FENIX_FLUSH_FAILED, "state after a flush without room");
        continue;
      }
      success(Fenix_Data_flush(kGroup, FENIX_DATA_SNAPSHOT_LATEST, name.c_str()), "flush");
      int state = -1;
      success(Fenix_Data_flush_state(kGroup, stamp, &state, nullptr), "flush_state");
      expect_equal(state, FENIX_FLUSH_COMPLETE, "state after a flush");
      if (options.says != 0 && rank == 0) {
        std::printf("flushed %d\n", step);
        std::fflush(stdout);
      }
    }
    if (options.async > 0 && (step + 1) % options.async == 0) {
      success(Fenix_Data_wait(request), "wait");
      success(Fenix_Data_iflush(kGroup, stamp, nullptr, &request), "iflush");
    }
  }
  success(Fenix_Data_wait(request), "wait");
  if (rank == 0) std::printf("%d commits%s\n", commits, is_over ? ", told to end" : "");
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read(argc, argv);
  MPI_Init(&argc, &argv);
  int spares = 0;
  if (const char* const text = std::getenv("STORE_SPARES")) spares = std::atoi(text);
  int role = 0;
  int error = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, spares, 0, MPI_INFO_NULL, &error);
  work(options, comm, role == FENIX_ROLE_INITIAL_RANK);
  if (options.deletes != 0) {
    success(Fenix_Data_group_delete(kGroup), "group_delete");
    MPI_Barrier(comm);
    std::raise(SIGKILL);
  }
  Fenix_Finalize();
  std::printf("FENIX-TEST-OK\n");
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}

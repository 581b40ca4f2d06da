// SPDX-License-Identifier: BSD-3-Clause
// Subsets, staging, storing, requests, committing.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "rows.hpp"

namespace bad_input {
namespace {

constexpr int kBad = FENIX_ERROR_INVALID_ARGUMENT;
constexpr int kTime = FENIX_ERROR_INVALID_LOGIC_CALL;
const int kNotMade = 0;

FILE* file = nullptr;
Fenix_Request request{};

// Handles are constants of the library: they are read when a row runs, not before.
Fenix_Data_subset never_made() { return {&kNotMade}; }
Fenix_Data_subset deleted() { return FENIX_SUBSET_NULL; }

void add_here(Rows& rows, const std::string& function, const char* argument, int code, const char* named,
              const std::function<Outcome()>& call) {
  rows.push_back({function, argument, code, named, Told::here, [=](bool) { return call(); }});
}

// ------------------------------------------------------------------------------------------------------------- subsets

template <class Number>
void add_regular_rows(Rows& rows, const char* function,
                      int (*create)(Number, Number, Number, Number, Fenix_Data_subset*)) {
  static Fenix_Data_subset made{};
  const auto add = [&](const char* argument, int code, const char* named, std::array<Number, 4> with) {
    add_here(rows, function, argument, code, named,
             [=]() -> Outcome { return create(with[0], with[1], with[2], with[3], &made); });
  };
  add("num_blocks 0", FENIX_ERROR_SUBSET_NUM_BLOCKS, "num_blocks 0", {0, 0, 1, 2});
  add("num_blocks negative", FENIX_ERROR_SUBSET_NUM_BLOCKS, "num_blocks -1", {-1, 0, 1, 2});
  add("start_offset negative", FENIX_ERROR_SUBSET_START_OFFSET, "start offset -1", {1, -1, 1, 2});
  add("end_offset before start_offset", FENIX_ERROR_SUBSET_END_OFFSET, "end offset 3", {1, 4, 3, 2});
  add("stride 0", FENIX_ERROR_SUBSET_STRIDE, "stride 0", {2, 0, 1, 0});
  add("stride negative", FENIX_ERROR_SUBSET_STRIDE, "stride -2", {2, 0, 1, -2});
  add_here(rows, function, "subset_specifier NULL", kBad, "subset_specifier",
           [=]() -> Outcome { return create(1, 0, 0, 1, nullptr); });
}

template <class Number, class Array>
void add_irregular_rows(Rows& rows, const char* function, int (*create)(Number, Array*, Array*, Fenix_Data_subset*)) {
  static Fenix_Data_subset made{};
  static Number low[] = {0, 10};
  static Number high[] = {5, 15};
  static Number below[] = {0, -1};
  static Number before[] = {5, 9};
  const auto add = [&](const char* argument, int code, const char* named, Number blocks, Number* starts, Number* ends) {
    add_here(rows, function, argument, code, named, [=]() -> Outcome { return create(blocks, starts, ends, &made); });
  };
  add("num_blocks 0", FENIX_ERROR_SUBSET_NUM_BLOCKS, "num_blocks 0", 0, low, high);
  add("num_blocks negative", FENIX_ERROR_SUBSET_NUM_BLOCKS, "num_blocks -1", -1, low, high);
  add("array_start_offsets NULL", kBad, "array_start_offsets", 2, nullptr, high);
  add("array_end_offsets NULL", kBad, "array_end_offsets", 2, low, nullptr);
  add("start offset negative", FENIX_ERROR_SUBSET_START_OFFSET, "block 1", 2, below, high);
  add("end offset before its start offset", FENIX_ERROR_SUBSET_END_OFFSET, "block 1", 2, low, before);
  add_here(rows, function, "subset_specifier NULL", kBad, "subset_specifier",
           [=]() -> Outcome { return create(2, low, high, nullptr); });
}

void add_subset_query_rows(Rows& rows) {
  static MPI_Count number = 0;
  static Fenix_Data_subset handle{};
  const char* const remove = "Fenix_Data_subset_delete";
  add_here(rows, remove, "subset_specifier NULL", kBad, "subset_specifier",
           [] { return Fenix_Data_subset_delete(nullptr); });
  add_here(rows, remove, "subset that was never created", kBad, "subset_specifier", [] {
    handle = never_made();
    return Fenix_Data_subset_delete(&handle);
  });
  add_here(rows, remove, "FENIX_SUBSET_NULL", kBad, "subset_specifier", [] {
    handle = deleted();
    return Fenix_Data_subset_delete(&handle);
  });
  add_here(rows, remove, "FENIX_DATA_SUBSET_FULL", kBad, "subset_specifier", [] {
    handle = FENIX_DATA_SUBSET_FULL;
    return Fenix_Data_subset_delete(&handle);
  });
  const char* const blocks = "Fenix_Data_subset_get_number_of_blocks";
  add_here(rows, blocks, "subset that was never created", kBad, "subset",
           [] { return Fenix_Data_subset_get_number_of_blocks(never_made(), &number); });
  add_here(rows, blocks, "FENIX_DATA_SUBSET_PRESTAGED", kBad, "PRESTAGED",
           [] { return Fenix_Data_subset_get_number_of_blocks(FENIX_DATA_SUBSET_PRESTAGED, &number); });
  add_here(rows, blocks, "number_of_blocks NULL", kBad, "number_of_blocks",
           [] { return Fenix_Data_subset_get_number_of_blocks(FENIX_DATA_SUBSET_FULL, nullptr); });
  const char* const block = "Fenix_Data_subset_get_block";
  const auto get = [](MPI_Count position) {
    return Fenix_Data_subset_get_block(FENIX_DATA_SUBSET_FULL, position, &number, &number);
  };
  add_here(rows, block, "position negative", FENIX_ERROR_INVALID_POSITION, "position -1", [=] { return get(-1); });
  add_here(rows, block, "position = number of blocks", FENIX_ERROR_INVALID_POSITION, "position 1",
           [=] { return get(1); });
  add_here(rows, block, "subset that has been deleted", kBad, "subset",
           [] { return Fenix_Data_subset_get_block(deleted(), 0, &number, &number); });
  add_here(rows, block, "FENIX_DATA_SUBSET_PRESTAGED", kBad, "PRESTAGED",
           [] { return Fenix_Data_subset_get_block(FENIX_DATA_SUBSET_PRESTAGED, 0, &number, &number); });
  add_here(rows, block, "start_offset NULL", kBad, "start_offset",
           [] { return Fenix_Data_subset_get_block(FENIX_DATA_SUBSET_FULL, 0, nullptr, &number); });
  add_here(rows, block, "end_offset NULL", kBad, "end_offset",
           [] { return Fenix_Data_subset_get_block(FENIX_DATA_SUBSET_FULL, 0, &number, nullptr); });
}

// ------------------------------------------------------------------------------------------------------------- staging

// What staging and storing have in common: a selection that does not fit the member.
struct SelectionCase {
  const char* argument;
  int member;
  Fenix_Data_subset (*subset)();
  int code;
  const char* named;
};

Fenix_Data_subset full() { return FENIX_DATA_SUBSET_FULL; }
Fenix_Data_subset beyond() {
  static const Subset subset(1, kCount - 1, kCount, 1);
  return subset;
}
Fenix_Data_subset pieces() {
  static const Subset subset(70000, 0, 0, 2);
  return subset;
}

std::vector<SelectionCase> selection_cases() {
  return {
      {"subset that was never created", kMember, never_made, kBad, "subset"},
      {"FENIX_SUBSET_NULL", kMember, deleted, kBad, "subset"},
      {"subset that goes beyond the member", kMember, beyond, FENIX_ERROR_SUBSET_END_OFFSET, "element 40"},
      {"FENIX_DATA_SUBSET_FULL for a member that is FENIX_RESIZEABLE", kGrowing, full, kBad, "member_id 6"},
      {"subset of more pieces than a record can describe", kGrowing, pieces, FENIX_ERROR_SUBSET_NUM_BLOCKS, "pieces"},
  };
}

int stage_inplace(int member, Fenix_Data_subset subset) {
  void* taken_over = std::calloc(1 << 18, 1);  // more than any of the subsets below asks for
  const int code = Fenix_Data_member_stage_inplace(kGroup, member, taken_over, subset);
  if (code != FENIX_SUCCESS) std::free(taken_over);
  return code;
}

// Writes so many bytes to the file of a member, and closes it.
Outcome stage_bytes(std::size_t bytes) {
  static const char junk[2 * sizeof buffer] = {};
  (void)Fenix_Data_member_stage_begin(kGroup, kMember, &file);
  (void)std::fwrite(junk, 1, bytes, file);
  return Fenix_Data_member_stage_end(kGroup, kMember);
}

void add_stage_rows(Rows& rows) {
  using Stage = std::function<int(int, Fenix_Data_subset)>;
  const Stage stage = [](int member, Fenix_Data_subset subset) {
    return Fenix_Data_member_stage(kGroup, member, subset);
  };
  for (const auto& [name, call] : {std::pair<const char*, Stage>{"Fenix_Data_member_stage", stage},
                                   {"Fenix_Data_member_stage_inplace", stage_inplace}}) {
    for (const SelectionCase& each : selection_cases()) {
      add_here(rows, name, each.argument, each.code, each.named,
               [=, call = call]() -> Outcome { return call(each.member, each.subset()); });
    }
    add_here(rows, name, "FENIX_DATA_SUBSET_PRESTAGED", kBad, "subset_specifier",
             [call = call]() -> Outcome { return call(kMember, FENIX_DATA_SUBSET_PRESTAGED); });
  }
  add_here(rows, "Fenix_Data_member_stage", "member without a source buffer", kBad, "member_id 7", [] {
    return with_new_member(nullptr, [] { return Fenix_Data_member_stage(kGroup, kNew, FENIX_DATA_SUBSET_FULL); });
  });
  add_here(rows, "Fenix_Data_member_stage_inplace", "buf NULL", kBad, "buf",
           [] { return Fenix_Data_member_stage_inplace(kGroup, kMember, nullptr, FENIX_DATA_SUBSET_FULL); });
}

// The memory that stage_memory gives, for the snapshot after the one under construction.
Outcome stage_memory_of_another_snapshot() {
  return with_new_member(buffer, [] {
    void* memory = nullptr;
    (void)Fenix_Data_member_store(kGroup, kNew, FENIX_DATA_SUBSET_FULL);
    (void)Fenix_Data_member_stage_memory(kGroup, kNew, &memory);
    return Fenix_Data_member_stage_inplace(kGroup, kNew, static_cast<char*>(memory) + sizeof(double),
                                           FENIX_DATA_SUBSET_FULL);
  });
}

Outcome stage_memory_of_another_member() {
  return with_new_member(buffer, [] {
    void* memory = nullptr;
    (void)Fenix_Data_member_stage_memory(kGroup, kMember, &memory);
    return Fenix_Data_member_stage_inplace(kGroup, kNew, memory, FENIX_DATA_SUBSET_FULL);
  });
}

// The memory has room for as many elements as there were.
Outcome stage_memory_that_is_too_small() {
  return with_new_member(buffer, [] {
    void* memory = nullptr;
    (void)Fenix_Data_member_stage_memory(kGroup, kNew, &memory);
    int count = 1 << 20;
    (void)Fenix_Data_member_attr_set(kGroup, kNew, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &count, nullptr);
    return Fenix_Data_member_stage_inplace(kGroup, kNew, memory, FENIX_DATA_SUBSET_FULL);
  });
}

Outcome stage_memory_with_holes() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &type);
  MPI_Type_commit(&type);
  Outcome outcome = with_new_member(buffer, [&] {
    void* memory = nullptr;
    (void)Fenix_Data_member_attr_set(kGroup, kNew, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE, &type, nullptr);
    return Fenix_Data_member_stage_memory(kGroup, kNew, &memory);
  });
  MPI_Type_free(&type);
  return outcome;
}

void add_memory_rows(Rows& rows) {
  const char* const memory = "Fenix_Data_member_stage_memory";
  add_here(rows, memory, "memory NULL", kBad, "memory",
           [] { return Fenix_Data_member_stage_memory(kGroup, kMember, nullptr); });
  add_here(rows, memory, "member that is FENIX_RESIZEABLE", kBad, "member_id 6", [] {
    void* there = nullptr;
    return Fenix_Data_member_stage_memory(kGroup, kGrowing, &there);
  });
  add_here(rows, memory, "member whose datatype has holes", kBad, "member_id 7", stage_memory_with_holes);
  const char* const stage = "Fenix_Data_member_stage_inplace";
  add_here(rows, stage, "buf that is memory of the member, but not what Fenix_Data_member_stage_memory gave", kBad,
           "buf", stage_memory_of_another_snapshot);
  add_here(rows, stage, "buf from Fenix_Data_member_stage_memory of another member", kBad, "buf",
           stage_memory_of_another_member);
  add_here(rows, stage, "buf from Fenix_Data_member_stage_memory, before the count was raised", kBad, "buf",
           stage_memory_that_is_too_small);
}

void add_file_rows(Rows& rows) {
  add_here(rows, "Fenix_Data_member_stage_begin", "file NULL", kBad, "file",
           [] { return Fenix_Data_member_stage_begin(kGroup, kMember, nullptr); });
  const char* const stage_end = "Fenix_Data_member_stage_end";
  add_here(rows, stage_end, "member without an open file", kTime, "member_id 5",
           [] { return Fenix_Data_member_stage_end(kGroup, kMember); });
  add_here(rows, stage_end, "file with a part of an element", kBad, "member_id 5",
           [] { return stage_bytes(sizeof(double) + 3); });
  add_here(rows, stage_end, "file written beyond the member", kBad, "member_id 5",
           [] { return stage_bytes(sizeof buffer + 1); });
  const auto begin_load = [](FILE** to, int time_stamp) {
    return Fenix_Data_member_load_begin(kGroup, kMember, to, time_stamp, FENIX_DATA_SUBSET_IGNORE);
  };
  add_here(rows, stage_end, "member with a file open for loading", kTime, "member_id 5", [=] {
    (void)begin_load(&file, FENIX_DATA_SNAPSHOT_LATEST);
    Outcome outcome = Fenix_Data_member_stage_end(kGroup, kMember);
    (void)Fenix_Data_member_load_end(kGroup, kMember);
    return outcome;
  });
  const char* const begin = "Fenix_Data_member_load_begin";
  add_here(rows, begin, "file NULL", kBad, "file", [=] { return begin_load(nullptr, FENIX_DATA_SNAPSHOT_LATEST); });
  add_here(rows, begin, "time_stamp before all snapshots", FENIX_ERROR_NODATA_FOUND, "time_stamp 0",
           [=] { return begin_load(&file, 0); });
  add_here(rows, begin, "time_stamp that is negative and no constant", FENIX_ERROR_INVALID_TIMESTAMP, "time_stamp -7",
           [=] { return begin_load(&file, -7); });
  const char* const load_end = "Fenix_Data_member_load_end";
  add_here(rows, load_end, "member without an open file", kTime, "member_id 5",
           [] { return Fenix_Data_member_load_end(kGroup, kMember); });
  add_here(rows, load_end, "member with a file open for staging", kTime, "member_id 5", [] {
    (void)Fenix_Data_member_stage_begin(kGroup, kMember, &file);
    Outcome outcome = Fenix_Data_member_load_end(kGroup, kMember);
    (void)Fenix_Data_member_stage_end(kGroup, kMember);
    return outcome;
  });
}

// ------------------------------------------------------------------------------------------------------------- storing

using Store = std::function<int(int, Fenix_Data_subset)>;

void add_store_rows(Rows& rows, const char* function, const Store& store) {
  for (const SelectionCase& each : selection_cases()) {
    // A member that has been stored is stored without a word to the others.
    const Told told = each.member == kMember ? Told::here : Told::all;
    rows.push_back({function, each.argument, each.code, each.named, told, [=](bool wrong) -> Outcome {
                      return store(each.member, wrong ? each.subset() : FENIX_DATA_SUBSET_EMPTY);
                    }});
  }
  rows.push_back({function, "member without a source buffer", kBad, "member_id 7", Told::all, [=](bool wrong) {
                    return with_new_member(wrong ? nullptr : buffer,
                                           [&]() -> Outcome { return store(kNew, FENIX_DATA_SUBSET_FULL); });
                  }});
  rows.push_back({function, "subset that was never created, in the first store of a member", kBad, "subset_specifier",
                  Told::all, [=](bool wrong) {
                    return with_new_member(buffer, [&]() -> Outcome {
                      return store(kNew, wrong ? never_made() : FENIX_DATA_SUBSET_FULL);
                    });
                  }});
  rows.push_back({function, "FENIX_DATA_MEMBER_ALL with a subset that one member does not allow", kBad, "member_id 6",
                  Told::all, [=](bool wrong) -> Outcome {
                    return store(FENIX_DATA_MEMBER_ALL, wrong ? FENIX_DATA_SUBSET_FULL : FENIX_DATA_SUBSET_EMPTY);
                  }});
  rows.push_back({function, "FENIX_DATA_MEMBER_ALL while a file is open for staging", FENIX_ERROR_MEMBER_STAGING,
                  "member_id 5", Told::all, [=](bool wrong) {
                    if (wrong) (void)Fenix_Data_member_stage_begin(kGroup, kMember, &file);
                    Outcome outcome = store(FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_EMPTY);
                    if (wrong) (void)Fenix_Data_member_stage_end(kGroup, kMember);
                    return outcome;
                  }});
  rows.push_back({function, "member_id that differs between ranks, in the first store", FENIX_ERROR_MISMATCH,
                  "different arguments", Told::differs, [=](bool) {
                    return with_new_member(buffer, [&]() -> Outcome {
                      return store(first_of_two_kinds() ? kGrowing : kNew, FENIX_DATA_SUBSET_EMPTY);
                    });
                  }});
  rows.push_back({function, "member whose datatype was set differently on the ranks", FENIX_ERROR_MISMATCH,
                  "different arguments", Told::differs, [=](bool) {
                    return with_new_member(buffer, [&]() -> Outcome {
                      MPI_Datatype type = MPI_INT;
                      if (first_of_two_kinds()) {
                        (void)Fenix_Data_member_attr_set(kGroup, kNew, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE, &type,
                                                         nullptr);
                      }
                      return store(kNew, FENIX_DATA_SUBSET_FULL);
                    });
                  }});
}

void add_request_rows(Rows& rows) {
  const auto in_first_store = [&](const char* function, auto store) {
    add_here(rows, function, "request NULL", kBad, "request",
             [=] { return store(kGroup, kMember, FENIX_DATA_SUBSET_FULL, nullptr); });
    rows.push_back(
        {function, "request NULL, in the first store of a member", kBad, "request", Told::all, [=](bool wrong) {
           return with_new_member(buffer, [&]() -> Outcome {
             return store(kGroup, kNew, FENIX_DATA_SUBSET_FULL, wrong ? nullptr : &request);
           });
         }});
  };
  in_first_store("Fenix_Data_member_istore", Fenix_Data_member_istore);
  in_first_store("Fenix_Data_member_istorev", Fenix_Data_member_istorev);
  static int flag = 0;
  add_here(rows, "Fenix_Data_wait", "request that was never given out", FENIX_ERROR_DATA_WAIT, "request",
           [] { return Fenix_Data_wait({std::numeric_limits<std::uint64_t>::max()}); });
  add_here(rows, "Fenix_Data_test", "request that was never given out", FENIX_ERROR_DATA_WAIT, "request",
           [] { return Fenix_Data_test({std::numeric_limits<std::uint64_t>::max()}, &flag); });
  add_here(rows, "Fenix_Data_test", "flag NULL", kBad, "flag",
           [] { return Fenix_Data_test(FENIX_REQUEST_NULL, nullptr); });
}

// ---------------------------------------------------------------------------------------------------------- committing

using Commit = std::function<int(int)>;

// A member of many bytes, so that its protection has not ended when the commit comes. A group of its own: if the commit
// comes too late, if only on some ranks, it is tried again.
Outcome commit_while_pending(const Commit& commit) {
  constexpr int kGroupOfMany = 11;
  constexpr int kMany = 4 << 20;
  static std::vector<double> many(kMany, 1.0);
  (void)Fenix_Data_group_create(kGroupOfMany, comm, 0, 0, FENIX_DATA_POLICY_IMR, good_policy(), nullptr);
  (void)Fenix_Data_member_create(kGroupOfMany, kMember, many.data(), kMany, MPI_DOUBLE);
  Outcome outcome = FENIX_SUCCESS;
  int all_failed = 0;
  for (int tries = 0; tries < 20 && all_failed == 0; ++tries) {
    (void)Fenix_Data_member_istore(kGroupOfMany, kMember, FENIX_DATA_SUBSET_FULL, &request);
    outcome = commit(kGroupOfMany);
    (void)Fenix_Data_wait(request);
    const int failed = outcome.code != FENIX_SUCCESS ? 1 : 0;
    // Ranks that have committed wait for this one.
    if (failed != 0) (void)commit(kGroupOfMany);
    MPI_Allreduce(&failed, &all_failed, 1, MPI_INT, MPI_MIN, comm);
  }
  (void)Fenix_Data_group_delete(kGroupOfMany);
  (void)Fenix_Data_barrier(kGroupOfMany);
  return outcome;
}

// A group that keeps all snapshots meets in each commit. prepare and repair: what is wrong on the rank that is wrong.
Outcome commit_keeping_all(bool wrong, const Commit& commit, void (*prepare)(int), void (*repair)(int)) {
  constexpr int kGroupKeepingAll = 12;
  (void)Fenix_Data_group_create(kGroupKeepingAll, comm, 0, -1, FENIX_DATA_POLICY_IMR, good_policy(), nullptr);
  (void)Fenix_Data_member_create(kGroupKeepingAll, kMember, buffer, kCount, MPI_DOUBLE);
  (void)Fenix_Data_member_store(kGroupKeepingAll, kMember, FENIX_DATA_SUBSET_FULL);
  if (wrong) prepare(kGroupKeepingAll);
  Outcome outcome = commit(kGroupKeepingAll);
  if (wrong) repair(kGroupKeepingAll);
  (void)Fenix_Data_group_delete(kGroupKeepingAll);
  (void)Fenix_Data_barrier(kGroupKeepingAll);
  return outcome;
}

void stage_all(int group) { (void)Fenix_Data_member_stage(group, kMember, FENIX_DATA_SUBSET_FULL); }
void open_file(int group) { (void)Fenix_Data_member_stage_begin(group, kMember, &file); }
void close_file(int group) { (void)Fenix_Data_member_stage_end(group, kMember); }
void leave(int) {}

void add_commit_rows_of(Rows& rows, const char* function, const Commit& commit) {
  add_here(rows, function, "group with elements that were staged and not stored", kTime, "member_id 5", [=] {
    (void)Fenix_Data_member_stage(kGroup, kMember, FENIX_DATA_SUBSET_FULL);
    Outcome outcome = commit(kGroup);
    (void)Fenix_Data_member_store(kGroup, kMember, FENIX_DATA_SUBSET_PRESTAGED);
    return outcome;
  });
  rows.push_back({function, "group of depth −1 with elements that were staged and not stored", kTime, "member_id 5",
                  Told::all, [=](bool wrong) { return commit_keeping_all(wrong, commit, stage_all, leave); }});
  rows.push_back({function, "group of depth −1 with a member that has a file open for staging",
                  FENIX_ERROR_MEMBER_STAGING, "member_id 5", Told::all,
                  [=](bool wrong) { return commit_keeping_all(wrong, commit, open_file, close_file); }});
}

void add_checkpoint_rows(Rows& rows) {
  static int unknown_ids[] = {kMember, kUnknown};
  static int known_ids[] = {kMember};
  const char* const function = "Fenix_Data_checkpoint";
  const auto add = [&](const char* argument, int code, const char* named, int number, int* ids,
                       Fenix_Data_subset (*subset)() = full) {
    // Right on this rank, but a rank that is wrong ends it for all: a member of the group is FENIX_RESIZEABLE.
    rows.push_back({function, argument, code, named, Told::all, [=](bool wrong) -> Outcome {
                      if (!wrong) return Fenix_Data_checkpoint(kGroup, FENIX_DATA_SUBSET_EMPTY, 1, known_ids, nullptr);
                      const Fenix_Data_subset empty = FENIX_DATA_SUBSET_EMPTY;
                      return Fenix_Data_checkpoint(kGroup, subset == full ? empty : subset(), number, ids, nullptr);
                    }});
  };
  add("num_storev below FENIX_STOREV_ALL", kBad, "num_storev -2", -2, known_ids);
  add("storev_ids NULL", kBad, "storev_ids", 2, nullptr);
  add("storev_ids with an id of no member", FENIX_ERROR_INVALID_MEMBERID, "member_id 99", 2, unknown_ids);
  add("subset that was never created", kBad, "subset", 0, nullptr, never_made);
  add("subset that goes beyond a member", FENIX_ERROR_SUBSET_END_OFFSET, "element 40", 0, nullptr, beyond);
  rows.push_back({"Fenix_Data_checkpointv", "subset that was never created", kBad, "subset", Told::all, [](bool wrong) {
                    return Fenix_Data_checkpointv(kGroup, wrong ? never_made() : FENIX_DATA_SUBSET_EMPTY, nullptr);
                  }});
}

}  // namespace

void add_subset_rows(Rows& rows) {
  add_regular_rows(rows, "Fenix_Data_subset_create", Fenix_Data_subset_create);
  add_regular_rows(rows, "Fenix_Data_subset_create_c", Fenix_Data_subset_create_c);
  constexpr MPI_Count kMost = std::numeric_limits<MPI_Count>::max();
  static Fenix_Data_subset made{};
  add_here(rows, "Fenix_Data_subset_create_c", "stride that leads beyond 64 bits", FENIX_ERROR_SUBSET_STRIDE, "stride",
           [] { return Fenix_Data_subset_create_c(3, 0, 0, kMost / 2 + 1, &made); });
  add_here(rows, "Fenix_Data_subset_create_c", "num_blocks beyond the memory that there is", FENIX_ERROR_NO_MEMORY,
           "memory", [] { return Fenix_Data_subset_create_c(MPI_Count{1} << 60, 0, 0, 2, &made); });
  add_irregular_rows(rows, "Fenix_Data_subset_createv", Fenix_Data_subset_createv);
  add_irregular_rows(rows, "Fenix_Data_subset_createv_c", Fenix_Data_subset_createv_c);
  add_subset_query_rows(rows);
}

void add_staging_rows(Rows& rows) {
  add_stage_rows(rows);
  add_file_rows(rows);
  add_memory_rows(rows);
}

void add_storing_rows(Rows& rows) {
  add_store_rows(rows, "Fenix_Data_member_store",
                 [](int member, Fenix_Data_subset subset) { return Fenix_Data_member_store(kGroup, member, subset); });
  add_store_rows(rows, "Fenix_Data_member_storev",
                 [](int member, Fenix_Data_subset subset) { return Fenix_Data_member_storev(kGroup, member, subset); });
  add_store_rows(rows, "Fenix_Data_member_istore", [](int member, Fenix_Data_subset subset) {
    return Fenix_Data_member_istore(kGroup, member, subset, &request);
  });
  add_store_rows(rows, "Fenix_Data_member_istorev", [](int member, Fenix_Data_subset subset) {
    return Fenix_Data_member_istorev(kGroup, member, subset, &request);
  });
  add_request_rows(rows);
}

void add_committing_rows(Rows& rows) {
  const std::vector<std::pair<const char*, Commit>> commits{
      {"Fenix_Data_commit", [](int group) { return Fenix_Data_commit(group, nullptr); }},
      {"Fenix_Data_commit_barrier", [](int group) { return Fenix_Data_commit_barrier(group, nullptr); }},
      {"Fenix_Data_commit_cleanup", [](int group) { return Fenix_Data_commit_cleanup(group, nullptr); }},
      {"Fenix_Data_checkpoint",
       [](int group) { return Fenix_Data_checkpoint(group, FENIX_DATA_SUBSET_EMPTY, 0, nullptr, nullptr); }},
      {"Fenix_Data_checkpointv",
       [](int group) { return Fenix_Data_checkpointv(group, FENIX_DATA_SUBSET_EMPTY, nullptr); }}};
  for (const auto& [function, commit] : commits) add_commit_rows_of(rows, function, commit);
  // A checkpoint waits for the requests of the members that it stores: all.
  for (const auto& [function, commit] : {commits[0], commits[1], commits[2]}) {
    add_here(rows, function, "group with a request that is pending", kTime, "member_id 5",
             [=, commit = commit] { return commit_while_pending(commit); });
  }
  add_checkpoint_rows(rows);
  add_here(rows, "Fenix_Data_snapshot_delete", "time_stamp of no snapshot", FENIX_ERROR_INVALID_TIMESTAMP,
           "time_stamp 1000000", [] { return Fenix_Data_snapshot_delete(kGroup, 1000000); });
  add_here(rows, "Fenix_Data_snapshot_delete", "time_stamp that is negative and no constant",
           FENIX_ERROR_INVALID_TIMESTAMP, "time_stamp -7", [] { return Fenix_Data_snapshot_delete(kGroup, -7); });
  add_here(rows, "Fenix_Data_snapshot_delete", "time_stamp FENIX_DATA_SNAPSHOT_LATEST", FENIX_ERROR_INVALID_TIMESTAMP,
           "time_stamp -1", [] { return Fenix_Data_snapshot_delete(kGroup, FENIX_DATA_SNAPSHOT_LATEST); });
  add_here(rows, "Fenix_Data_snapshot_delete", "group without snapshots", FENIX_ERROR_NODATA_FOUND, "snapshot",
           [] { return Fenix_Data_snapshot_delete(kOtherGroup, FENIX_DATA_SNAPSHOT_ALL); });
}

}  // namespace bad_input

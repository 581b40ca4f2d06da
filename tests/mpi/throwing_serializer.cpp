// SPDX-License-Identifier: BSD-3-Clause
// Serializers that throw on one rank, in each call that runs them: the rank gets an error, no other rank waits for it until the
// time-out, and once the serializer works again, so does everything. With the name of a policy: buddies, xor, or keep_all.
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;
namespace data = fenix::data;

constexpr int kGroup = 3;
constexpr int kCount = 500;
constexpr int kThrower = 1;

MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
std::vector<int> buffer(kCount);

// The object that serializers throw now, in that direction.
enum class Thrown { nothing, number, text, error };
Thrown thrown = Thrown::nothing;
int throws_in = 0;

void throw_if_due(int direction) {
  if (rank != kThrower || direction != throws_in) return;
  switch (thrown) {
    case Thrown::nothing:
      return;
    case Thrown::number:
      throw 42;
    case Thrown::text:
      throw std::string("a text");
    case Thrown::error:
      throw std::runtime_error("an error");
  }
}

void transfer(FILE* file, int direction, void* values, MPI_Count offset, MPI_Count count) {
  auto* from = static_cast<int*>(values) + offset;
  const auto number = static_cast<std::size_t>(count == 0 ? kCount : count);
  if (direction == FENIX_SERIALIZE) {
    require(std::fwrite(from, sizeof(int), number, file) == number, "a write failed");
  } else {
    require(std::fread(from, sizeof(int), number, file) == number, "a read failed");
  }
}

// Throws between two writes: something is in the file already.
void serialize(FILE* file, int direction, void* values, MPI_Count offset, MPI_Count count) {
  if (count != 1) throw_if_due(direction);
  transfer(file, direction, values, offset, count);
  if (count == 1) throw_if_due(direction);
}

extern "C" void serialize_in_c(FILE* file, int direction, void* values, int offset, int count, void*) {
  serialize(file, direction, values, offset, count);
}

extern "C" void serialize_in_c_large(FILE* file, int direction, void* values, MPI_Count offset, MPI_Count count,
                                     void*) {
  serialize(file, direction, values, offset, count);
}

void fill(int turn) {
  for (int i = 0; i < kCount; ++i) buffer[static_cast<std::size_t>(i)] = turn * 10'000 + rank * 1'000 + i;
}

void expect_values(int turn, const std::string& what) {
  const std::vector<int> got = buffer;
  fill(turn);
  require(got == buffer, what + ": other values than those stored");
}

// Runs a call that fails: it must not take as long as a wait for a rank that does not come.
int quickly(const std::string& what, const std::function<int()>& call) {
  const auto start = std::chrono::steady_clock::now();
  const int code = call();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  require(took.count() < 10, what + " took " + std::to_string(took.count()) + " s");
  return code;
}

void expect_on_all(const std::string& what, const std::function<int()>& call) {
  expect_equal(quickly(what, call), FENIX_ERROR_INVALID_ARGUMENT, what + " with a serializer that throws");
}

// wanted: the code of the ranks whose serializer does not throw.
void expect_on_thrower(const std::string& what, int wanted, const std::function<int()>& call) {
  const int code = quickly(what, call);
  expect_equal(code, rank == kThrower ? FENIX_ERROR_INVALID_ARGUMENT : wanted, what + " with a serializer that throws");
}

struct Kind {
  std::string name;
  bool encodes;
  bool keeps_all;
};

int store(int member) { return Fenix_Data_member_store(kGroup, member, FENIX_DATA_SUBSET_FULL); }

int restore(int member) {
  return Fenix_Data_member_restore(kGroup, member, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL,
                                   FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE);
}

int restore_from(int member) {
  return Fenix_Data_member_restore_from_rank(kGroup, member, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL,
                                             FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE, rank);
}

int load(int member) {
  return Fenix_Data_member_load(kGroup, member, FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE);
}

int checkpoint() { return Fenix_Data_checkpoint(kGroup, FENIX_DATA_SUBSET_FULL, 0, nullptr, nullptr); }

int store_asynchronously(int member) {
  Fenix_Request request;
  const int code = Fenix_Data_member_istore(kGroup, member, FENIX_DATA_SUBSET_FULL, &request);
  return code == FENIX_SUCCESS ? Fenix_Data_wait(request) : code;
}

void expect_all_in_order(int member, int turn) {
  thrown = Thrown::nothing;
  fill(turn);
  success(store(member), "store");
  success(Fenix_Data_commit_barrier(kGroup, nullptr), "commit_barrier");
  fill(99);
  success(restore(member), "restore");
  expect_values(turn, "restored");
}

void fail_in_stores(const Kind& kind, int member, bool resizeable) {
  throws_in = FENIX_SERIALIZE;
  const bool meets = resizeable;
  if (meets) {
    expect_on_all("store", [&] { return store(member); });
    expect_on_all("istore", [&] { return store_asynchronously(member); });
    expect_on_all("checkpoint", checkpoint);
    return;
  }
  expect_on_thrower("checkpoint",
                    kind.keeps_all ? FENIX_ERROR_INVALID_ARGUMENT
                    : kind.encodes ? FENIX_ERROR_INVALID_LOGIC_CALL
                                   : FENIX_SUCCESS,
                    checkpoint);
  // The others have committed one by one.
  if (!kind.keeps_all && !kind.encodes && rank == kThrower) success(Fenix_Data_commit(kGroup, nullptr), "commit");
  expect_on_thrower("store", FENIX_SUCCESS, [&] { return store(member); });
  expect_on_thrower("istore", FENIX_SUCCESS, [&] { return store_asynchronously(member); });
}

void fail_in_restores(int member) {
  throws_in = FENIX_DESERIALIZE;
  expect_on_all("restore", [&] { return restore(member); });
  expect_on_all("restore_from_rank", [&] { return restore_from(member); });
  expect_on_thrower("load", FENIX_SUCCESS, [&] { return load(member); });
}

void fail_everywhere(const Kind& kind, int member, bool resizeable) {
  int turn = 0;
  expect_all_in_order(member, turn);
  for (const Thrown what : {Thrown::number, Thrown::text, Thrown::error}) {
    thrown = what;
    fill(50);
    fail_in_stores(kind, member, resizeable);
    expect_all_in_order(member, ++turn);
    thrown = what;
    fail_in_restores(member);
    expect_all_in_order(member, ++turn);
  }
}

void create_group(const Kind& kind) {
  int flag = 0;
  int cohort[] = {5, 1, 3};
  const int depth = kind.keeps_all ? -1 : 1;
  if (kind.encodes) {
    success(Fenix_Data_group_create(kGroup, comm, 0, depth, FENIX_DATA_POLICY_IN_MEMORY_RAID, cohort, &flag),
            "group_create");
  } else {
    success(Fenix_Data_group_create(kGroup, comm, 0, depth, FENIX_DATA_POLICY_IN_MEMORY_RAID, nullptr, &flag),
            "group_create");
  }
}

void test(const Kind& kind, const std::string& language, int count, const std::function<int()>& create) {
  check::context() = kind.name + ", " + language + (count == FENIX_RESIZEABLE ? ", resizeable: " : ": ");
  create_group(kind);
  success(create(), "member_create");
  fail_everywhere(kind, 1, count == FENIX_RESIZEABLE);
  success(Fenix_Data_member_delete(kGroup, 1), "member_delete");
  success(Fenix_Data_group_delete(kGroup), "group_delete");
  success(Fenix_Data_barrier(kGroup), "barrier");
}

void test_all(const Kind& kind) {
  for (const int count : {kCount, static_cast<int>(FENIX_RESIZEABLE)}) {
    test(kind, "C++", count, [&] {
      return data::member_create(kGroup, 1, buffer.data(), count, MPI_INT, data::SerializeFileFunc(serialize));
    });
    test(kind, "C", count,
         [&] { return Fenix_Data_member_fcreate(kGroup, 1, buffer.data(), count, MPI_INT, serialize_in_c, nullptr); });
    test(kind, "C with large counts", count, [&] {
      return Fenix_Data_member_fcreate_c(kGroup, 1, buffer.data(), count, MPI_INT, serialize_in_c_large, nullptr);
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  require(argc >= 2, "arguments");
  const std::string policy = argv[1];
  int role = -1;
  int error = -1;
  MPI_Init(&argc, &argv);
  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, 0, 0, MPI_INFO_NULL, &error);
  MPI_Comm_rank(comm, &rank);
  test_all({policy, policy.find("xor") == 0, policy.find("keep_all") != std::string::npos});
  success(Fenix_Finalize(), "Fenix_Finalize");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

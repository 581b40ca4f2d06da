// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface: each function does what the C function does. 4 ranks and 1 spare; rank 1 dies when all has been tried,
// and what its place and the others get back is compared.
#include <mpi.h>
#include <mpi-ext.h>

#include <array>
#include <complex>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"

namespace {

using check::expect_equal;
using check::require;
using check::success;
using fenix::DataSubset;
using Ids = std::vector<int>;
namespace data = fenix::data;

constexpr int kGroup = 1;
constexpr int kPlain = 10;    // a vector as span
constexpr int kMasked = 11;   // with a serializer over a stream
constexpr int kFile = 12;     // with a serializer over a FILE
constexpr int kScratch = 13;  // comes and goes
constexpr std::size_t kCount = 100;
constexpr long kMask = 0x5a5a5a5a;

MPI_Comm comm = MPI_COMM_NULL;
int role = -1;
int error = -1;
int rank = -1;
std::vector<long> plain(kCount);
std::vector<long> masked(kCount);
std::vector<long> filed(kCount);

long value(int member, int version, std::size_t index) {
  return rank * 1'000'000L + member * 10'000L + version * 1'000L + static_cast<long>(index);
}

void fill(std::vector<long>& elements, int member, int version) {
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = value(member, version, i);
}

void expect_version(const std::vector<long>& elements, int member, int version, const DataSubset& where,
                    const std::string& what) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (where.includes(i))
      expect_equal(elements[i], value(member, version, i), what + ", element " + std::to_string(i));
  }
}

const DataSubset kAll(kCount - 1);

// --------------------------------------------------------------------------------------------------------- serializers

int masked_calls = 0;
int file_calls = 0;

// Stores the elements with a mask over them.
void mask_stream(std::iostream& stream, int direction, void* buffer, MPI_Count offset, MPI_Count count) {
  ++masked_calls;
  const std::span elements(static_cast<long*>(buffer) + offset, static_cast<std::size_t>(count));
  for (long& element : elements) {
    long bits = element ^ kMask;
    if (direction == FENIX_SERIALIZE) {
      stream.write(reinterpret_cast<const char*>(&bits), sizeof bits);
    } else {
      stream.read(reinterpret_cast<char*>(&bits), sizeof bits);
      element = bits ^ kMask;
    }
  }
  require(stream.good(), "the stream of a serializer");
}

// As programs for the current Fenix have it: with int.
void plain_file(FILE* file, int direction, void* buffer, int offset, int count) {
  ++file_calls;
  long* const start = static_cast<long*>(buffer) + offset;
  const auto number = static_cast<std::size_t>(count);
  const std::size_t done = direction == FENIX_SERIALIZE ? std::fwrite(start, sizeof(long), number, file)
                                                        : std::fread(start, sizeof(long), number, file);
  expect_equal(static_cast<long>(done), count, "elements through the file");
}

data::SerializeFunc mask_with(std::shared_ptr<int> owned) {
  return data::SerializeStreamFunc([owned](auto&&... arguments) { mask_stream(arguments...); });
}

// ------------------------------------------------------------------------------------------------------ process recovery

int callbacks_called = 0;
void fenix_invoke_all() { fenix::callback_invoke_all(); }
void stage_scratch() { data::member_stage(kGroup, kScratch); }
int exceptions_thrown = 0;

void processes() {
  expect_equal(fenix::get_option(fenix::RESUME_MODE), fenix::THROW, "resume mode");
  fenix::set_option(fenix::UNHANDLED_MODE, fenix::SILENT);
  expect_equal(fenix::get_option(fenix::UNHANDLED_MODE), fenix::SILENT, "unhandled mode");
  expect_equal(fenix::nspare(), 1, "spares");
  expect_equal(fenix::n_ranks_with_role(fenix::INITIAL_RANK), 4, "initial ranks");
  expect_equal(fenix::rank_role(comm, 3), fenix::INITIAL_RANK, "role of rank 3");
  check::expect_thrown(FENIX_ERROR_INVALID_ARGUMENT, "rank_role of rank 99", [] { fenix::rank_role(comm, 99); });
  check::expect_thrown(FENIX_ERROR_INVALID_LOGIC_CALL, "invoke_all without a repair", fenix_invoke_all);
  check::expect_thrown(FENIX_ERROR_INVALID_LOGIC_CALL, "comm_persist without libfenix_mpi",
                       [] { (void)fenix::comm_persist(comm, "key"); });
  // Squashed, an exception of a callback disturbs neither the repair nor later callbacks.
  fenix::set_option(fenix::CALLBACK_EXCEPTION_MODE, fenix::SQUASH);
  success(fenix::callback_register([](MPI_Comm, int) { ++callbacks_called; }), "callback_register");
  success(fenix::callback_register([](MPI_Comm repaired, int code) {
            ++exceptions_thrown;
            throw fenix::CommException(repaired, FENIX_SUCCESS, code);
          }),
          "callback_register");
  success(fenix::callback_register([](MPI_Comm, int) { check::fail("a popped callback is called"); }), "register");
  success(fenix::callback_pop(), "callback_pop");
  require(fenix::fail_list().empty(), "fail list at the start");
  expect_equal(fenix::detect_failures(), MPI_SUCCESS, "detect_failures");
  expect_equal(fenix::check(FENIX_WARNING_PARTIAL_RESTORE), FENIX_WARNING_PARTIAL_RESTORE, "check of a warning");
  expect_equal(fenix::role(), fenix::INITIAL_RANK, "role");
  expect_equal(fenix::error(), FENIX_SUCCESS, "error");
  MPI_Comm own = MPI_COMM_NULL;
  int revoked = 0;
  MPI_Comm_dup(MPI_COMM_SELF, &own);
  expect_equal(fenix::comm_revoke(own), MPI_SUCCESS, "comm_revoke");
  MPIX_Comm_is_revoked(own, &revoked);
  require(revoked != 0, "a communicator after comm_revoke");
  MPI_Comm_free(&own);
}

// ------------------------------------------------------------------------------------------------------- groups, members

void create_group() {
  require(!data::group_members(kGroup) && !data::group_snapshots(kGroup), "a group before its creation");
  require(!data::group_created(kGroup), "group_created");
  success(data::group_create(kGroup, {.depth = 3}), "group_create");
  require(data::group_created(kGroup), "group_created");
  std::array<int, 3> values{};
  int name = 0;
  success(data::group_get_redundancy_policy(kGroup, &name, values.data()), "get_redundancy_policy");
  expect_equal(name, FENIX_DATA_POLICY_IMR, "policy");
  int separation = 1;
  int flag = 0;
  success(data::group_set_redundancy_policy(kGroup, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, &separation, &flag), "set");
  success(data::group_get_redundancy_policy(kGroup, &name, values.data()), "get_redundancy_policy");
  expect_equal(name, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, "policy");
  expect_equal(values[0], 1, "separation");
  require(data::group_hashing(kGroup) == true && !data::group_hashing(99), "group_hashing");
  success(data::group_set_hashing(kGroup, false), "group_set_hashing");
  require(data::group_hashing(kGroup) == false, "group_hashing, off");
  success(data::group_set_hashing(kGroup, true), "group_set_hashing");
  require(data::group_in_place(kGroup) == false && !data::group_in_place(99), "group_in_place");
  check::expect_thrown(FENIX_ERROR_INVALID_DEPTH, "group_set_in_place", [] { data::group_set_in_place(kGroup, true); });
  success(data::group_set_in_place(kGroup, false), "group_set_in_place");
  require(data::group_members(kGroup) == Ids{}, "members of a new group");
}

void create_members() {
  success(data::member_create(kGroup, kPlain, std::span(plain)), "member_create of a span");
  check::expect_thrown(FENIX_ERROR_MEMBER_EXISTS, "member_create again",
                       [] { data::member_create(kGroup, kPlain, plain.data(), kCount, MPI_LONG); });
  success(data::member_create(kGroup, kMasked, masked.data(), kCount, MPI_LONG, mask_with(nullptr)), "with a stream");
  success(data::member_create(kGroup, kFile, filed.data(), kCount, MPI_LONG, data::SerializeFileFunc(plain_file)),
          "with a file");
  require(data::member_created(kGroup, kMasked) && !data::member_created(kGroup, 99), "member_created");
  require(data::member_footprint(kGroup, kPlain) > 0 && !data::member_footprint(kGroup, 99), "member_footprint");
  require(data::group_members(kGroup) == Ids{kPlain, kMasked, kFile}, "members");
}

template <class... Types>
void expect_sizes_of_datatypes() {
  for (const auto& [type, wanted] : {std::pair(data::datatype_of<Types>(), sizeof(Types))...}) {
    int size = 0;
    MPI_Type_size(type, &size);
    expect_equal(size, static_cast<long>(wanted), "size of a datatype");
  }
}

void datatypes() {
  expect_sizes_of_datatypes<bool, char, signed char, unsigned char, std::byte, wchar_t, short, unsigned short, int,
                            unsigned, long, unsigned long, long long, unsigned long long, float, double, long double,
                            std::complex<float>, std::complex<double>, std::complex<long double>>();
  require(data::datatype_of<const double>() == MPI_DOUBLE, "datatype of a constant");
}

void attributes() {
  int count = 0;
  int flag = 0;
  // The group of all ranks is created by its first collective call.
  check::expect_thrown(FENIX_ERROR_INVALID_MEMBERID, "attr_get of a member that the group of all does not have", [&] {
    data::member_attr_get(FENIX_DATA_GROUP_WORLD_ID, 99, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &count, &flag);
  });
  success(data::member_attr_get(kGroup, kPlain, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &count, &flag), "attr_get");
  expect_equal(count, kCount, "count of the span");
  count = 0;
  success(data::member_attr_get(kGroup, kPlain, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &count, &flag, 3 - rank),
          "attr_get of another rank");
  expect_equal(count, kCount, "count on another rank");
  void* buffer = nullptr;
  success(data::member_attr_get(kGroup, kPlain, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &buffer, &flag), "attr_get");
  require(buffer == plain.data() && flag == 1, "source buffer");
  success(data::member_attr_set(kGroup, kPlain, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, masked.data()), "attr_set");
  success(data::member_attr_get(kGroup, kPlain, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &buffer), "attr_get");
  require(buffer == masked.data(), "source buffer that was set");
  success(data::member_attr_set(kGroup, kPlain, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, plain.data()), "attr_set");
}

// ------------------------------------------------------------------------------------------------------------- subsets

// The functions of the library; tests/unit/data_subset_test.cpp compares them with sets of single elements.
void subsets() {
  using Bounds = DataSubset::Bounds;
  const std::vector<Bounds> two{{5, 6}, {0, 2}};
  const int first[] = {5, 0};
  const int last[] = {6, 2};
  const DataSubset both(two);
  require(both == DataSubset(2, first, last) && both == DataSubset({0, 2}) + DataSubset({5, 6}), "two blocks");
  require(both.blocks() == std::vector<Bounds>{{0, 2}, {5, 6}}, "blocks in order");
  require((both & DataSubset({2, 5})).blocks() == std::vector<Bounds>{{2, 2}, {5, 5}}, "common elements");
  require((both - DataSubset({1, 5})).blocks() == std::vector<Bounds>{{0, 0}, {6, 6}}, "elements without others");
  require(both.bounded(5).blocks() == std::vector<Bounds>{{0, 2}, {5, 5}}, "elements up to an end");
  DataSubset more = both;
  more += DataSubset({3, 4});
  require(more.blocks() == std::vector<Bounds>{{0, 6}} && more.includes_all(6), "all elements");
  require(both.count() == 5 && both.includes(5) && !both.includes(4), "elements of a subset");
  require(both.str() == "[0, 2] [5, 6]", "text " + both.str());
}

MPI_Count blocks_of(const Fenix_Data_subset& subset) {
  MPI_Count number = -1;
  const int code = Fenix_Data_subset_get_number_of_blocks(subset, &number);
  return code == FENIX_SUCCESS ? number : code;
}

// Owners of subsets of C. A subset that was deleted is refused.
void owned_subsets() {
  data::Subset owner(DataSubset({1, 2}, 3, 10));
  const Fenix_Data_subset made = owner.get();
  expect_equal(blocks_of(made), 3, "blocks of a subset of C");
  require(DataSubset(made) == DataSubset({1, 2}, 3, 10), "a subset of C, converted back");
  data::Subset other(DataSubset({4, 4}));
  const Fenix_Data_subset former = other.get();
  other = std::move(owner);
  require(other.get().impl == made.impl && owner.get().impl == FENIX_SUBSET_NULL.impl, "a subset that was moved");
  expect_equal(blocks_of(former), FENIX_ERROR_INVALID_ARGUMENT, "blocks of a subset whose owner has another one");
  Fenix_Data_subset released = other.release();
  require(released.impl == made.impl && other.get().impl == FENIX_SUBSET_NULL.impl, "a subset that was released");
  owner = data::Subset(released);
  success(Fenix_Data_subset_create(1, 0, 0, 1, owner.out()), "subset_create into an owner");
  const Fenix_Data_subset newest = owner.get();
  expect_equal(blocks_of(newest), 1, "blocks of the subset that replaced it");
  owner.reset();
  expect_equal(blocks_of(newest), FENIX_ERROR_INVALID_ARGUMENT, "blocks of a subset that was deleted");
}

// --------------------------------------------------------------------------------------------------- storing, restoring

void stores() {
  int time_stamp = -1;
  fill(plain, kPlain, 0);
  fill(masked, kMasked, 0);
  fill(filed, kFile, 0);
  success(data::member_store(kGroup), "store of all");
  success(data::commit_barrier(kGroup, &time_stamp), "commit_barrier");
  expect_equal(time_stamp, 0, "time stamp");
  require(masked_calls > 0 && file_calls > 0, "the serializers were not called");

  // Subsets, synchronously and not; the second differs between ranks.
  const DataSubset some({10, 14}, 3, 20);
  const DataSubset own({50, 60 + static_cast<std::size_t>(rank)});
  fill(plain, kPlain, 1);
  success(data::member_store(kGroup, kPlain, some), "store of a subset");
  success(data::member_storev(kGroup, kPlain, own), "storev");
  Fenix_Request request = FENIX_REQUEST_NULL;
  fill(masked, kMasked, 1);
  success(data::member_istore(kGroup, &request, {.member_id = kMasked, .subset = some}), "istore");
  success(data::wait(request), "wait");
  check::expect_thrown(FENIX_ERROR_DATA_WAIT, "wait for a request that was never given out",
                       [] { data::wait({std::numeric_limits<std::uint64_t>::max()}); });
  fill(filed, kFile, 1);
  success(data::member_istorev(kGroup, kFile, own, &request), "istorev");
  for (int flag = 0; flag == 0;) {
    flag = 7;
    success(data::test(request, &flag), "test");
    require(flag == 0 || flag == 1, "flag of test");
  }
  success(data::commit(kGroup), "commit");
  success(data::barrier(kGroup), "barrier");
  require(data::group_snapshots(kGroup) == Ids{1, 0}, "snapshots");

  DataSubset found;
  std::vector<long> got(kCount, -1);
  success(data::member_restore(kGroup, kPlain, got.data(), kCount, 1, found), "restore");
  require(found == kAll, "found " + found.str());
  expect_version(got, kPlain, 1, some + own, "what was stored as subset");
  expect_version(got, kPlain, 0, kAll - (some + own), "what was not");
  success(data::member_restore(kGroup, kMasked, std::span(got), 1), "restore into a span");
  expect_version(got, kMasked, 1, some, "masked");
  success(data::member_load(kGroup, kFile, std::span(got)), "load into a span");
  expect_version(got, kFile, 1, own, "filed");
}

void other_ways_to_restore() {
  std::vector<long> got(kCount, -1);
  fill(plain, kPlain, 7);
  success(data::member_restore(kGroup, kPlain), "restore in place");
  expect_version(plain, kPlain, 1, DataSubset({10, 14}), "restored in place");
  fill(plain, kPlain, 7);
  success(data::member_load(kGroup, kPlain, 0), "load in place");
  expect_version(plain, kPlain, 0, kAll, "loaded in place");
  DataSubset found;
  std::fill(got.begin(), got.end(), -1);
  // The deprecated form: of this rank's snapshots.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  success(data::member_lrestore(kGroup, kPlain, got.data(), kCount, 0, found), "lrestore");
#pragma GCC diagnostic pop
  require(found == kAll, "found by lrestore: " + found.str());
  expect_version(got, kPlain, 0, kAll, "restored by lrestore");
  const int other = (rank + 1) % 4;
  success(data::member_restore_from_rank(kGroup, kPlain, other, got.data(), kCount, 0), "restore_from_rank");
  for (std::size_t i = 0; i < kCount; ++i) got[i] += (rank - other) * 1'000'000L;
  expect_version(got, kPlain, 0, kAll, "from another rank");
  FILE* file = nullptr;
  success(data::member_load_begin(kGroup, kPlain, &file, 0), "load_begin");
  expect_equal(static_cast<long>(std::fread(got.data(), sizeof(long), kCount, file)), kCount, "elements in the file");
  success(data::member_load_end(kGroup, kPlain), "load_end");
  expect_version(got, kPlain, 0, kAll, "from the file");
  std::fill(got.begin(), got.end(), -1);
  success(data::member_restore(kGroup, kPlain, got.data(), 3, 0), "restore of three elements");
  require(got[2] == value(kPlain, 0, 2) && got[3] == -1, "other elements than the first three");
  check::expect_thrown(FENIX_ERROR_INVALID_LOGIC_CALL, "load_end without begin",
                       [] { data::member_load_end(kGroup, kPlain); });
  success(data::member_repair(kGroup, kPlain), "repair of what is whole");
  check::expect_thrown(FENIX_ERROR_INVALID_GROUPID, "repair without a group", [] { data::member_repair(99, 0); });
  int mended = -1;
  int lost = -1;
  success(data::verify(kGroup, &mended, &lost), "verify of what is whole");
  require(mended == 0 && lost == 0 && data::verify(kGroup) == FENIX_SUCCESS, "numbers of verify");
}

void staging() {
  int time_stamp = -1;
  const DataSubset half({0, kCount / 2 - 1});
  fill(plain, kPlain, 2);
  success(data::member_stage(kGroup, kPlain, half), "stage");
  void* memory = nullptr;
  success(data::member_stage_memory(kGroup, kPlain, &memory), "stage_memory");
  require(static_cast<long*>(memory)[0] == plain[0], "what was staged is in the memory of the snapshot");
  success(data::member_stage_inplace(kGroup, kPlain, memory, half), "stage_inplace of stage_memory");
  auto* taken = static_cast<long*>(std::malloc(kCount * sizeof(long)));
  for (std::size_t i = 0; i < kCount; ++i) taken[i] = value(kPlain, 3, i);
  success(data::member_stage_inplace(kGroup, kPlain, taken, kAll - half), "stage_inplace");
  fill(plain, kPlain, 7);
  success(data::member_store(kGroup, kPlain, data::SUBSET_PRESTAGED), "store of what is staged");

  std::iostream* stream = nullptr;
  success(data::member_stage_begin(kGroup, kMasked, &stream), "stage_begin");
  for (std::size_t i = 0; i < kCount; ++i) {
    const long bits = value(kMasked, 2, i) ^ kMask;
    stream->write(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  require(stream->good(), "the stream of stage_begin");
  success(data::member_stage_end(kGroup, kMasked), "stage_end");
  success(data::member_store(kGroup, kMasked, data::SUBSET_PRESTAGED), "store of the stream");
  success(data::commit_cleanup(kGroup, &time_stamp), "commit_cleanup");
  success(data::barrier(kGroup), "barrier");
  success(data::cleanup(kGroup), "cleanup");
  check::expect_thrown(FENIX_ERROR_INVALID_GROUPID, "cleanup without a group", [] { data::cleanup(99); });

  std::vector<long> got(kCount, -1);
  success(data::member_restore(kGroup, kPlain, std::span(got), time_stamp), "restore");
  expect_version(got, kPlain, 2, half, "staged");
  expect_version(got, kPlain, 3, kAll - half, "staged in place");
  success(data::member_load_begin(kGroup, kMasked, &stream, time_stamp), "load_begin");
  stream->seekg(5 * sizeof(long));
  stream->read(reinterpret_cast<char*>(got.data()), sizeof(long));
  expect_equal(got[0] ^ kMask, value(kMasked, 2, 5), "element 5 in the stream");
  success(data::member_load_end(kGroup, kMasked), "load_end");
  FILE* file = nullptr;
  success(data::member_stage_begin(kGroup, kFile, &file), "stage_begin");
  std::fwrite(filed.data(), sizeof(long), 1, file);
  success(data::member_stage_end(kGroup, kFile), "stage_end");
  success(data::member_store(kGroup, kFile, data::SUBSET_PRESTAGED), "store of the file");
  success(data::commit_barrier(kGroup), "commit_barrier");
}

void checkpoints() {
  int time_stamp = -1;
  for (auto* elements : {&plain, &masked, &filed}) {
    fill(*elements, elements == &plain ? kPlain : elements == &masked ? kMasked : kFile, 4);
  }
  success(data::checkpoint(kGroup, data::SUBSET_FULL, {kFile}), "checkpoint");
  success(data::checkpointv(kGroup, DataSubset({0, 10 + static_cast<std::size_t>(rank)}), &time_stamp), "checkpointv");
  success(data::barrier(kGroup), "barrier");
  const auto snapshots = data::group_snapshots(kGroup);
  require(snapshots && snapshots->front() == time_stamp && snapshots->size() == 4, "snapshots after checkpoints");
  if (rank == 0) success(data::snapshot_delete(kGroup, snapshots->back()), "snapshot_delete");
  success(data::barrier(kGroup), "barrier");
  require(data::group_snapshots(kGroup)->size() == 3, "snapshots after a deletion");
}

// ----------------------------------------------------------------------------------------------------------- ownership

void ownership_of_serializers() {
  const auto first = std::make_shared<int>(0);
  const auto second = std::make_shared<int>(0);
  success(data::member_create(kGroup, kScratch, masked.data(), kCount, MPI_LONG, mask_with(first)), "member_create");
  expect_equal(first.use_count(), 2, "owners of a serializer");
  check::expect_thrown(FENIX_ERROR_MEMBER_EXISTS, "member_create again", [&] {
    data::member_create(kGroup, kScratch, masked.data(), kCount, MPI_LONG, mask_with(second));
  });
  expect_equal(second.use_count(), 1, "owners of a serializer that was refused");
  success(data::member_store(kGroup, kScratch), "store with the first serializer");
  success(data::member_define(kGroup, kScratch, masked.data(), kCount, MPI_LONG, mask_with(second)), "member_define");
  expect_equal(first.use_count(), 1, "owners of a serializer that was replaced");
  expect_equal(second.use_count(), 2, "owners of the one that replaced it");
  success(data::member_define(kGroup, kScratch, masked.data(), kCount, MPI_LONG, data::SerializeFileFunc()), "none");
  expect_equal(second.use_count(), 1, "owners of a serializer that was removed");
  success(data::member_define(kGroup, kScratch, masked.data(), kCount, MPI_LONG, mask_with(second)), "member_define");
  success(data::member_define(kGroup, kScratch, std::span(masked)), "member_define without a serializer");
  expect_equal(second.use_count(), 1, "owners of a serializer that was removed by it");
  success(data::member_define(kGroup, kScratch, masked.data(), kCount, MPI_LONG, mask_with(first)), "member_define");
  check::expect_thrown(FENIX_ERROR_MEMBER_EXISTS, "member_allocate beside a buffer of the application", [] {
    std::span<long> elements;
    data::member_allocate(kGroup, kScratch, kCount, elements);
  });
  expect_equal(first.use_count(), 2, "owners after a member_allocate that was refused");
  success(data::member_delete(kGroup, kScratch), "member_delete");
  expect_equal(first.use_count(), 1, "owners after member_delete");
  success(data::barrier(kGroup), "barrier");
}

void allocated_buffers() {
  std::span<long> elements;
  success(data::member_allocate(kGroup, kScratch, kCount, elements), "member_allocate");
  expect_equal(static_cast<long>(elements.size()), kCount, "elements of member_allocate");
  void* buffer = nullptr;
  success(data::member_attr_get(kGroup, kScratch, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, &buffer), "attr_get");
  require(buffer != nullptr && buffer == elements.data(), "the buffer is not the one of the attribute");
  const auto owned = std::make_shared<int>(0);
  success(data::member_define(kGroup, kScratch, elements.data(), kCount, MPI_LONG, mask_with(owned)), "member_define");
  expect_equal(owned.use_count(), 2, "owners of a serializer of an allocated member");
  void* base = nullptr;
  success(data::member_allocate(kGroup, kScratch, kCount, MPI_LONG, &base), "member_allocate again");
  require(base == buffer, "another buffer");
  expect_equal(owned.use_count(), 1, "owners after member_allocate");
  success(data::member_delete(kGroup, kScratch), "member_delete");
  success(data::barrier(kGroup), "barrier");
}

void bad_serializers() {
  const data::SerializeFunc throws =
      data::SerializeFileFunc([](FILE*, int, void*, MPI_Count, MPI_Count) { throw std::runtime_error("no paper"); });
  success(data::member_define(kGroup, kScratch, masked.data(), kCount, MPI_LONG, throws), "member_define");
  check::expect_thrown(FENIX_ERROR_INVALID_ARGUMENT, "stage that throws", stage_scratch);
  require(fenix::error_message().find("no paper") != std::string::npos, "text: " + fenix::error_message());
  const data::SerializeFunc writes_too_much =
      data::SerializeFileFunc([](FILE* file, int, void* buffer, MPI_Count, MPI_Count count) {
        for (int turn = 0; turn < 3; ++turn) std::fwrite(buffer, sizeof(long), static_cast<std::size_t>(count), file);
      });
  success(data::member_define(kGroup, kScratch, masked.data(), kCount, MPI_LONG, writes_too_much), "member_define");
  check::expect_thrown(FENIX_ERROR_INVALID_ARGUMENT, "stage that writes too much", stage_scratch);
  require(fenix::error_message().find("beyond the member") != std::string::npos, "text: " + fenix::error_message());
  success(data::member_delete(kGroup, kScratch), "member_delete");
  success(data::barrier(kGroup), "barrier");
}

void handles() {
  const auto owned = std::make_shared<int>(0);
  {
    data::Group group(2, {.depth = 0});
    expect_equal(group.id(), 2, "id");
    require(!group.data_lost() && data::group_created(2), "a new group");
    success(data::member_create(2, 0, masked.data(), kCount, MPI_LONG, mask_with(owned)), "member_create");
  }
  require(!data::group_created(2), "the handle deletes its group");
  expect_equal(owned.use_count(), 1, "owners after group_delete");
  MPI_Barrier(comm);  // the id may be used again when all have deleted the group
  try {
    data::Group group(2);
    throw std::runtime_error("leaves the scope");
  } catch (const std::runtime_error&) {
    require(data::group_created(2), "the handle keeps its group when an exception leaves the scope");
  }
  success(data::group_delete(2), "group_delete");
  MPI_Barrier(comm);
  int flag = 0;
  int separation = 1;
  success(data::group_create(2, comm, 7, 0, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, &separation, &flag),
          "group_create");
  std::array<int, 3> values{};
  int name = 0;
  success(data::group_get_redundancy_policy(2, &name, values.data()), "get_redundancy_policy");
  expect_equal(name, FENIX_DATA_POLICY_PEER_RANK_SEPARATION, "policy of a group with all arguments");
  {
    data::Group first(2);
    data::Group second(std::move(first));
    expect_equal(second.id(), 2, "id of a handle that was moved");
    expect_equal(second.release(), 2, "id of a handle that was released");
  }
  require(data::group_created(2), "a group whose handle was released");
  success(data::group_delete(2), "group_delete");
  MPI_Barrier(comm);
  try {
    data::Group group(3, {.depth = -5});
    check::fail("a group of depth -5");
  } catch (const fenix::RuntimeException& bad) {
    expect_equal(bad.error, FENIX_ERROR_INVALID_DEPTH, "code of the exception");
  }
}

// ------------------------------------------------------------------------------------------------------------ two lives

void first_life() {
  for (const auto part : {processes, create_group, create_members, datatypes, attributes, subsets, owned_subsets,
                          stores, other_ways_to_restore, staging, checkpoints, ownership_of_serializers,
                          allocated_buffers, bad_serializers, handles}) {
    part();
  }
  if (rank == 1) raise(SIGKILL);
  MPI_Barrier(comm);
  check::fail("a barrier without rank 1");
}

void second_life() {
  data::Group group(kGroup);
  require(!group.data_lost(), "nothing is lost");
  for (auto* elements : {&plain, &masked, &filed}) elements->assign(kCount, -1);
  success(data::member_define(kGroup, kPlain, std::span(plain)), "member_define");
  success(data::member_define(kGroup, kMasked, masked.data(), kCount, MPI_LONG, mask_with(nullptr)), "member_define");
  success(data::member_define(kGroup, kFile, filed.data(), kCount, MPI_LONG, data::SerializeFileFunc(plain_file)),
          "member_define");
  require(data::group_members(kGroup) == Ids{kPlain, kMasked, kFile}, "members");
  for (const int member : {kPlain, kMasked, kFile}) success(data::member_restore(kGroup, member), "restore");
  expect_version(plain, kPlain, 4, kAll, "plain, restored");
  expect_version(masked, kMasked, 4, kAll, "masked, restored");
  expect_version(filed, kFile, 4, kAll, "filed, restored");
  require(fenix::fail_list() == Ids{1}, "fail list");
  expect_equal(fenix::role(), role, "role after the repair");
  expect_equal(fenix::rank_role(comm, 1), fenix::RECOVERED_RANK, "role of rank 1");
  expect_equal(fenix::n_ranks_with_role(fenix::SURVIVOR_RANK), 3, "survivors");
  expect_equal(callbacks_called, role == fenix::SURVIVOR_RANK ? 1 : 0, "callbacks");
  expect_equal(exceptions_thrown, callbacks_called, "exceptions of callbacks");
  success(fenix::callback_invoke_all(), "callback_invoke_all");
  expect_equal(callbacks_called, role == fenix::SURVIVOR_RANK ? 2 : 0, "callbacks, invoked again");
}

void join_the_survivors() {
  try {
    fenix::throw_exception();
    require(role == fenix::INITIAL_RANK, "no exception after a repair");
  } catch (const fenix::CommException& failure) {
    require(role != fenix::INITIAL_RANK && failure.repaired_comm == comm, "an exception without a repair");
  }
}

bool live() {
  try {
    join_the_survivors();
    role == fenix::INITIAL_RANK ? first_life() : second_life();
    return true;
  } catch (const fenix::CommException& failure) {
    require(failure.repaired_comm == comm, "communicator of the exception");
    expect_equal(failure.fenix_err, FENIX_SUCCESS, "error of Fenix_Init in the exception");
    int error_class = MPI_SUCCESS;
    MPI_Error_class(failure.mpi_err, &error_class);
    require(error_class == MPIX_ERR_PROC_FAILED || error_class == MPIX_ERR_REVOKED, "MPI error in the exception");
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  require(!fenix::initialized() && !data::group_created(kGroup), "before init");
  try {
    fenix::init({.out_comm = &comm, .spares = -1});
    check::fail("init with -1 spares");
  } catch (const fenix::RuntimeException& bad) {
    expect_equal(bad.error, FENIX_ERROR_INVALID_ARGUMENT, "code of the exception");
  }
  fenix::init({.role = &role, .out_comm = &comm, .argc = &argc, .argv = &argv, .spares = 1, .err = &error});
  success(error, "init");
  MPI_Comm_rank(comm, &rank);
  while (!live()) {
  }
  const auto owned = std::make_shared<int>(0);
  success(data::group_create(5), "group_create");
  success(data::member_create(5, 0, masked.data(), kCount, MPI_LONG, mask_with(owned)), "member_create");
  success(Fenix_Finalize(), "Fenix_Finalize");
  expect_equal(owned.use_count(), 1, "owners after Fenix_Finalize");
  require(fenix::finalized(), "finalized");
  check::ok(rank);
  MPI_Finalize();
  return 0;
}

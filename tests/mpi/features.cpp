// SPDX-License-Identifier: BSD-3-Clause
// One way of storing after the other, under any policy and path, with or without deaths. Each feature stores a state that
// follows from rank and step, and checks it byte for byte after each repair.
//
// features NAME [--policy NAME] [--spares N] [--steps N] [--no-repair]
#include <fenix.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int kGroup = 7;
constexpr int kStep = 1000;  // member: the step counter
constexpr int kCount = 3000;

using Values = std::vector<std::int64_t>;

int group_id = kGroup;
int depth = 0;
MPI_Comm comm = MPI_COMM_NULL;
int rank = -1;
int ranks = 0;
int role = -1;
int init_error = 0;
std::int64_t step = 0;
std::int64_t seen_committed = -1;

[[noreturn]] void fail(const std::string& what) {
  std::printf("FENIX-TEST-FAIL rank %d, step %lld: %s [%s]\n", rank, static_cast<long long>(step), what.c_str(),
              Fenix_Error_message());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
  std::abort();
}

void require(bool condition, const std::string& what) {
  if (!condition) fail(what);
}

void success(int code, const std::string& call) {
  if (code != FENIX_SUCCESS) fail(call + " returned " + std::to_string(code));
}

std::int64_t value(int owner, int member, std::int64_t at_step, std::int64_t element) {
  return ((at_step * 1009 + owner) * 31 + member) * 1'000'003 + element;
}

/// Elements [first, first + count) of the member as of a step.
void fill(Values& values, int member, std::int64_t at_step) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = value(rank, member, at_step, static_cast<std::int64_t>(i));
}

/// The elements of a subset, as pairs of first and last.
std::vector<std::pair<MPI_Count, MPI_Count>> blocks_of(const Fenix_Data_subset& subset) {
  MPI_Count number = 0;
  success(Fenix_Data_subset_get_number_of_blocks(subset, &number), "number_of_blocks");
  std::vector<std::pair<MPI_Count, MPI_Count>> blocks(static_cast<std::size_t>(number));
  for (MPI_Count i = 0; i < number; ++i) {
    auto& block = blocks[static_cast<std::size_t>(i)];
    success(Fenix_Data_subset_get_block(subset, i, &block.first, &block.second), "block");
  }
  return blocks;
}

/// Restores the member from a snapshot and requires that exactly the first count elements are found.
Values restored(int member, std::int64_t count, int time_stamp, std::int64_t room = 20000) {
  Values values(static_cast<std::size_t>(room), -1);
  Fenix_Data_subset found;
  const int code =
      Fenix_Data_member_restore(group_id, member, values.data(), static_cast<int>(room), time_stamp, &found);
  require(code == (room > count ? FENIX_WARNING_PARTIAL_RESTORE : FENIX_SUCCESS),
          "restore of member " + std::to_string(member) + " returned " + std::to_string(code));
  const auto blocks = blocks_of(found);
  if (count == 0) {
    require(blocks.empty(), "found elements that were never stored");
  } else {
    require(blocks.size() == 1 && blocks[0].first == 0 && blocks[0].second == count - 1, "found other elements");
  }
  success(Fenix_Data_subset_delete(&found), "subset_delete");
  for (std::size_t i = static_cast<std::size_t>(count); i < values.size(); ++i) {
    require(values[i] == -1, "wrote element " + std::to_string(i) + ", which is not in the snapshot");
  }
  values.resize(static_cast<std::size_t>(count));
  return values;
}

void expect(const Values& values, int owner, int member, const std::function<std::int64_t(std::int64_t)>& stored_at) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto element = static_cast<std::int64_t>(i);
    require(values[i] == value(owner, member, stored_at(element), element),
            "member " + std::to_string(member) + " has a wrong element " + std::to_string(i));
  }
}

/// A way of storing.
class Feature {
 public:
  Feature() = default;
  Feature(const Feature&) = delete;
  Feature& operator=(const Feature&) = delete;
  virtual ~Feature() = default;

  /// Creates the members, or takes them up again.
  virtual void begin() = 0;
  /// Stores the state of a step.
  virtual void store() = 0;
  /// Checks the state of a step in the snapshot with its time stamp.
  virtual void check(std::int64_t at_step) = 0;
  virtual int commit(int* time_stamp) { return Fenix_Data_commit_barrier(group_id, time_stamp); }
  /// Ends the feature on a rank.
  virtual void end() {}
};

void define(int member, void* buffer, int count, MPI_Datatype type = MPI_INT64_T) {
  success(Fenix_Data_member_define(group_id, member, buffer, count, type), "member_define");
}

/// All at the first step; then blocks that move on with each step.
class Subsets final : public Feature {
 public:
  void begin() override { define(0, values_.data(), kCount); }

  void store() override {
    fill(values_, 0, step);
    if (step == 0) {
      success(Fenix_Data_member_store(group_id, 0, FENIX_DATA_SUBSET_FULL), "store");
      return;
    }
    Fenix_Data_subset strided;
    success(Fenix_Data_subset_create(kBlocks, first(step), first(step) + kBlock - 1, kStride, &strided),
            "subset_create");
    success(Fenix_Data_member_store(group_id, 0, strided), "store");
    success(Fenix_Data_subset_delete(&strided), "subset_delete");
    require(strided.impl == FENIX_SUBSET_NULL.impl, "a deleted subset is not null");
    int firsts[] = {2990, 10};
    int lasts[] = {2999, 10};
    Fenix_Data_subset two;
    success(Fenix_Data_subset_createv(2, firsts, lasts, &two), "subset_createv");
    success(Fenix_Data_member_storev(group_id, 0, two), "storev");
    success(Fenix_Data_subset_delete(&two), "subset_delete");
  }

  void check(std::int64_t at_step) override {
    expect(restored(0, kCount, static_cast<int>(at_step)), rank, 0, [&](std::int64_t element) {
      for (std::int64_t from = at_step; from > 0; --from) {
        if (is_in(element, from)) return from;
      }
      return std::int64_t{0};
    });
  }

 private:
  static constexpr int kBlocks = 20;
  static constexpr int kBlock = 7;
  static constexpr int kStride = 100;

  static int first(std::int64_t at) { return static_cast<int>(at * 13 % 90) + rank; }
  static bool is_in(std::int64_t element, std::int64_t at) {
    if (element == 10 || element >= 2990) return true;
    const std::int64_t from = element - first(at);
    return from >= 0 && from / kStride < kBlocks && from % kStride < kBlock;
  }

  Values values_ = Values(kCount);
};

/// Staged early; the buffer has other things in it when it is stored.
class Prestaged final : public Feature {
 public:
  void begin() override {
    define(0, values_.data(), kCount);
    define(1, nullptr, kCount);
  }

  void store() override {
    fill(values_, 0, step);
    success(Fenix_Data_member_stage(group_id, 0, FENIX_DATA_SUBSET_FULL), "stage");
    std::fill(values_.begin(), values_.end(), -7);
    auto* given = static_cast<std::int64_t*>(std::malloc(kCount * sizeof(std::int64_t)));
    for (int i = 0; i < kCount; ++i) given[i] = value(rank, 1, step, i);
    success(Fenix_Data_member_stage_inplace(group_id, 1, given, FENIX_DATA_SUBSET_FULL), "stage_inplace");
    // Nothing of it is for the commit yet.
    int time_stamp = -1;
    const int code = Fenix_Data_commit(group_id, &time_stamp);
    require(code == FENIX_ERROR_INVALID_LOGIC_CALL, "a commit of staged data returned " + std::to_string(code));
    success(Fenix_Data_member_store(group_id, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_PRESTAGED), "store");
  }

  void check(std::int64_t at_step) override {
    for (const int member : {0, 1}) {
      expect(restored(member, kCount, static_cast<int>(at_step)), rank, member, [&](std::int64_t) { return at_step; });
    }
  }

 private:
  Values values_ = Values(kCount);
};

/// Requests, waited for and tested.
class Asynchronous final : public Feature {
 public:
  void begin() override {
    for (int member = 0; member < 3; ++member) define(member, values_[at(member)].data(), kCount);
    if (role != FENIX_ROLE_SURVIVOR_RANK) return;
    // A request that a failure has cancelled says so, once.
    for (const Fenix_Request& request : requests_) {
      const int code = Fenix_Data_wait(request);
      require(code == FENIX_SUCCESS || code == FENIX_ERROR_CANCELLED,
              "wait after a repair returned " + std::to_string(code));
      success(Fenix_Data_wait(request), "wait once more after a repair");
    }
  }

  void store() override {
    for (int member = 0; member < 3; ++member) {
      fill(values_[at(member)], member, step);
      Fenix_Request& request = requests_[at(member)];
      const auto istore = member == 1 ? Fenix_Data_member_istorev : Fenix_Data_member_istore;
      success(istore(group_id, member, FENIX_DATA_SUBSET_FULL, &request), "istore");
      std::fill(values_[at(member)].begin(), values_[at(member)].end(), -7);
    }
    success(Fenix_Data_wait(requests_[2]), "wait");
    success(Fenix_Data_wait(requests_[2]), "wait once more");
    success(Fenix_Data_wait(FENIX_REQUEST_NULL), "wait for no request");
    for (int flag = 0; flag == 0;) {
      flag = 7;
      success(Fenix_Data_test(requests_[0], &flag), "test");
      require(flag == 0 || flag == 1, "flag of test");
    }
    success(Fenix_Data_wait(requests_[1]), "wait");
  }

  void check(std::int64_t at_step) override {
    for (int member = 0; member < 3; ++member) {
      expect(restored(member, kCount, static_cast<int>(at_step)), rank, member, [&](std::int64_t) { return at_step; });
    }
  }

 private:
  static std::size_t at(int member) { return static_cast<std::size_t>(member); }

  std::array<Values, 3> values_{Values(kCount), Values(kCount), Values(kCount)};
  std::array<Fenix_Request, 3> requests_{};
};

/// Other sizes on each rank and at each step.
class Resizeable final : public Feature {
 public:
  void begin() override { define(0, values_.data(), FENIX_RESIZEABLE); }

  void store() override {
    values_.resize(size(step));
    fill(values_, 0, step);
    int flag = 0;
    success(Fenix_Data_member_attr_set(group_id, 0, FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER,
                                       values_.empty() ? &flag : static_cast<void*>(values_.data()), &flag),
            "attr_set");
    Fenix_Data_subset all = FENIX_DATA_SUBSET_EMPTY;
    if (!values_.empty()) {
      success(Fenix_Data_subset_create_c(1, 0, static_cast<MPI_Count>(values_.size()) - 1, 1, &all), "subset_create");
    }
    success(Fenix_Data_member_storev(group_id, 0, all), "storev");
    if (!values_.empty()) success(Fenix_Data_subset_delete(&all), "subset_delete");
  }

  void check(std::int64_t at_step) override {
    const auto count = static_cast<std::int64_t>(size(at_step));
    expect(restored(0, count, static_cast<int>(at_step)), rank, 0, [&](std::int64_t) { return at_step; });
    int told = -1;
    int flag = 0;
    success(Fenix_Data_member_attr_get(group_id, 0, FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, &told, &flag, rank), "attr_get");
    require(flag == 1 && told == count, "the size is " + std::to_string(told));
  }

 private:
  static std::size_t size(std::int64_t at) {
    return static_cast<std::size_t>(at % 4 == 3 && rank == 0 ? 0 : (at % 5) * 1500 + rank * 300 + at * 17);
  }

  Values values_;
};

/// Written through a file, and read through one.
class Files final : public Feature {
 public:
  void begin() override {
    define(0, nullptr, kCount);
    define(1, nullptr, FENIX_RESIZEABLE);
  }

  void store() override {
    for (const int member : {0, 1}) {
      Values values(count(member, step));
      fill(values, member, step);
      std::FILE* file = nullptr;
      success(Fenix_Data_member_stage_begin(group_id, member, &file), "stage_begin");
      const std::size_t half = values.size() / 2;
      require(std::fseek(file, static_cast<long>(half * sizeof values[0]), SEEK_SET) == 0, "fseek");
      require(std::fwrite(&values[half], sizeof values[0], values.size() - half, file) == values.size() - half,
              "fwrite");
      std::rewind(file);
      require(std::fwrite(values.data(), sizeof values[0], half, file) == half, "fwrite");
      success(Fenix_Data_member_stage_end(group_id, member), "stage_end");
      success(Fenix_Data_member_storev(group_id, member, FENIX_DATA_SUBSET_PRESTAGED), "storev");
    }
  }

  void check(std::int64_t at_step) override {
    for (const int member : {0, 1}) {
      std::FILE* file = nullptr;
      Values values(count(member, at_step));
      success(Fenix_Data_member_load_begin(group_id, member, &file, static_cast<int>(at_step), nullptr), "load_begin");
      require(std::fread(values.data(), sizeof values[0], values.size() + 1, file) == values.size(), "fread");
      success(Fenix_Data_member_load_end(group_id, member), "load_end");
      expect(values, rank, member, [&](std::int64_t) { return at_step; });
    }
  }

 private:
  static std::size_t count(int member, std::int64_t at) {
    return member == 0 ? kCount : static_cast<std::size_t>(100 + at * 211 + rank);
  }
};

struct Node {
  std::int64_t value = 0;
  std::unique_ptr<Node> next;
};

/// A list that is written node by node, however many there are.
class Serialized final : public Feature {
 public:
  void begin() override {
    success(Fenix_Data_member_fdefine(group_id, 0, nullptr, FENIX_RESIZEABLE, MPI_INT64_T, serialize, this), "fdefine");
  }

  void store() override {
    list_ = make(step);
    success(Fenix_Data_member_store(group_id, 0, FENIX_DATA_SUBSET_FULL), "store");
  }

  void check(std::int64_t at_step) override {
    list_.reset();
    success(Fenix_Data_member_restore(group_id, 0, FENIX_DATA_RESTORE_INPLACE, FENIX_DATA_RESTORE_FULL,
                                      static_cast<int>(at_step), nullptr),
            "restore");
    const auto wanted = make(at_step);
    const Node* other = list_.get();
    for (const Node* node = wanted.get(); node != nullptr; node = node->next.get()) {
      require(other != nullptr && other->value == node->value, "the list has another node");
      other = other->next.get();
    }
    require(other == nullptr, "the list is too long");
  }

 private:
  static std::unique_ptr<Node> make(std::int64_t at) {
    std::unique_ptr<Node> list;
    for (std::int64_t i = 0; i < 50 + at * 31 + rank; ++i) {
      auto node = std::make_unique<Node>();
      node->value = value(rank, 0, at, i);
      node->next = std::move(list);
      list = std::move(node);
    }
    return list;
  }

  static void serialize(std::FILE* file, int direction, void*, int, int count, void* ctx) {
    auto& self = *static_cast<Serialized*>(ctx);
    if (direction == FENIX_SERIALIZE) {
      for (const Node* node = self.list_.get(); node != nullptr; node = node->next.get()) {
        std::fwrite(&node->value, sizeof node->value, 1, file);
      }
      return;
    }
    auto* place = &self.list_;
    for (int i = 0; i < count; ++i) {
      *place = std::make_unique<Node>();
      if (std::fread(&(*place)->value, sizeof(std::int64_t), 1, file) != 1) return;
      place = &(*place)->next;
    }
  }

  std::unique_ptr<Node> list_;
};

/// Elements with holes: each second pair of three.
class Holes final : public Feature {
 public:
  Holes() {
    MPI_Type_vector(2, 1, 2, MPI_INT64_T, &pair_);
    MPI_Type_create_resized(pair_, 0, 4 * sizeof(std::int64_t), &type_);
    MPI_Type_commit(&type_);
  }

  void begin() override { define(0, values_.data(), kCount, type_); }

  void store() override {
    fill(values_, 0, step);
    success(Fenix_Data_member_store(group_id, 0, FENIX_DATA_SUBSET_FULL), "store");
  }

  void check(std::int64_t at_step) override {
    MPI_Datatype known = MPI_DATATYPE_NULL;
    int flag = 0;
    success(Fenix_Data_member_attr_get(group_id, 0, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE, &known, &flag, 0),
            "attr_get");
    int bytes = 0;
    MPI_Aint lower = 1;
    MPI_Aint extent = 0;
    MPI_Type_size(known, &bytes);
    MPI_Type_get_extent(known, &lower, &extent);
    MPI_Type_free(&known);
    require(flag == 1 && bytes == 16 && lower == 0 && extent == 32, "another datatype");
    Values target(4 * kCount, -1);
    success(Fenix_Data_member_restore(group_id, 0, target.data(), kCount, static_cast<int>(at_step), nullptr),
            "restore");
    for (std::size_t i = 0; i < target.size(); ++i) {
      const bool hole = i % 4 == 1 || i % 4 == 3;
      require(target[i] == (hole ? -1 : value(rank, 0, at_step, static_cast<std::int64_t>(i))), "a wrong element");
    }
  }

 private:
  MPI_Datatype pair_ = MPI_DATATYPE_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  Values values_ = Values(4 * kCount);
};

/// A plain member, stored as a whole: the base of those that differ in other things.
class Plain : public Feature {
 public:
  void begin() override { define(0, values_.data(), kCount); }
  void store() override {
    fill(values_, 0, step);
    success(Fenix_Data_member_store(group_id, 0, FENIX_DATA_SUBSET_FULL), "store");
  }
  void check(std::int64_t at_step) override {
    expect(restored(0, kCount, static_cast<int>(at_step)), rank, 0, [&](std::int64_t) { return at_step; });
  }

 protected:
  Values values_ = Values(kCount);
};

/// Depth -1: all snapshots stay.
class KeepAll final : public Plain {
 public:
  KeepAll() { depth = -1; }
  void check(std::int64_t at_step) override {
    int number = 0;
    success(Fenix_Data_group_get_number_of_snapshots(group_id, &number), "number_of_snapshots");
    require(number == at_step + 1, std::to_string(number) + " snapshots");
    for (std::int64_t older = 0; older <= at_step; ++older) Plain::check(older);
  }
};

/// Snapshots and members come and go.
class Deletion final : public Plain {
 public:
  Deletion() { depth = 3; }
  void begin() override {
    Plain::begin();
    int number = 0;
    success(Fenix_Data_group_get_number_of_members(group_id, &number), "number_of_members");
    for (int position = number - 1; position >= 0; --position) {
      int member = -1;
      success(Fenix_Data_group_get_member_at_position(group_id, &member, position), "member_at_position");
      if (member > 0 && member != kStep) success(Fenix_Data_member_delete(group_id, member), "member_delete");
    }
  }
  void store() override {
    Plain::store();
    const auto passing = static_cast<int>(step) + 1;
    success(Fenix_Data_member_create(group_id, passing, &step, 1, MPI_INT64_T), "member_create");
    success(Fenix_Data_member_store(group_id, passing, FENIX_DATA_SUBSET_FULL), "store");
    if (step % 2 == 0) {
      // On one rank only: the barrier takes it from the others.
      if (rank == step / 2 % ranks) success(Fenix_Data_member_delete(group_id, passing), "member_delete");
      success(Fenix_Data_barrier(group_id), "barrier");
    } else {
      success(Fenix_Data_member_delete(group_id, passing), "member_delete");
    }
    require(Fenix_Data_member_created(group_id, passing) == 0, "a deleted member is still there");
    if (step > 2 && step % 3 == 0) {
      const int code = Fenix_Data_snapshot_delete(group_id, static_cast<int>(step) - 2);
      // A death may have come after the deletion, and taken the step back.
      if (code != FENIX_ERROR_INVALID_TIMESTAMP) success(code, "snapshot_delete");
      success(Fenix_Data_barrier(group_id), "barrier");
    }
  }
  void check(std::int64_t at_step) override {
    int number = 0;
    success(Fenix_Data_group_get_number_of_snapshots(group_id, &number), "number_of_snapshots");
    require(number >= 1 && number <= 4, std::to_string(number) + " snapshots");
    for (int position = 0; position < number; ++position) {
      int time_stamp = -1;
      success(Fenix_Data_group_get_snapshot_at_position(group_id, position, &time_stamp), "snapshot_at_position");
      require(position > 0 || time_stamp == at_step, "the newest snapshot has another time stamp");
      Plain::check(time_stamp);
    }
  }
};

/// All in one call.
class Checkpoint final : public Plain {
 public:
  void begin() override {
    Plain::begin();
    define(1, more_.data(), kCount);
  }
  void store() override {
    fill(values_, 0, step);
    fill(more_, 1, step);
  }
  int commit(int* time_stamp) override {
    int storev[] = {1};
    const int code = step % 2 == 0 ? Fenix_Data_checkpoint(group_id, FENIX_DATA_SUBSET_FULL, 1, storev, time_stamp)
                                   : Fenix_Data_checkpointv(group_id, FENIX_DATA_SUBSET_FULL, time_stamp);
    if (code != FENIX_SUCCESS) return code;
    success(Fenix_Data_barrier(group_id), "barrier");
    success(Fenix_Data_cleanup(group_id), "cleanup");
    return code;
  }
  void check(std::int64_t at_step) override {
    Plain::check(at_step);
    expect(restored(1, kCount, static_cast<int>(at_step)), rank, 1, [&](std::int64_t) { return at_step; });
  }

 private:
  Values more_ = Values(kCount);
};

/// The group that needs no creation.
class World final : public Plain {
 public:
  World() { group_id = FENIX_DATA_GROUP_WORLD_ID; }
  int commit(int* time_stamp) override {
    const int code = Fenix_Data_commit_cleanup(group_id, time_stamp);
    MPI_Barrier(comm);
    return code;
  }
};

/// What other ranks have stored, and this one's own copy.
class FromRank final : public Plain {
 public:
  void check(std::int64_t at_step) override {
    Plain::check(at_step);
    for (int shift = 0; shift < ranks; ++shift) {
      const int source = (rank + shift) % ranks;
      Values target(kCount, -1);
      success(Fenix_Data_member_restore_from_rank(group_id, 0, target.data(), kCount, static_cast<int>(at_step),
                                                  nullptr, source),
              "restore_from_rank");
      expect(target, source, 0, [&](std::int64_t) { return at_step; });
    }
    std::fill(values_.begin(), values_.end(), -1);
    success(Fenix_Data_member_lrestore(group_id, 0, values_.data(), kCount, static_cast<int>(at_step), nullptr),
            "lrestore");
    expect(values_, rank, 0, [&](std::int64_t) { return at_step; });
    std::fill(values_.begin(), values_.end(), -1);
    success(Fenix_Data_member_load(group_id, 0, FENIX_DATA_SNAPSHOT_LATEST, nullptr), "load");
    expect(values_, rank, 0, [&](std::int64_t) { return at_step; });
    success(Fenix_Data_member_repair(group_id, 0), "repair");
  }
};

std::unique_ptr<Feature> make_feature(const std::string& name) {
  if (name == "subsets") return std::make_unique<Subsets>();
  if (name == "prestaged") return std::make_unique<Prestaged>();
  if (name == "asynchronous") return std::make_unique<Asynchronous>();
  if (name == "resizeable") return std::make_unique<Resizeable>();
  if (name == "files") return std::make_unique<Files>();
  if (name == "serialized") return std::make_unique<Serialized>();
  if (name == "holes") return std::make_unique<Holes>();
  if (name == "keep_all") return std::make_unique<KeepAll>();
  if (name == "deletion") return std::make_unique<Deletion>();
  if (name == "checkpoint") return std::make_unique<Checkpoint>();
  if (name == "world") return std::make_unique<World>();
  if (name == "from_rank") return std::make_unique<FromRank>();
  std::exit(2);
}

struct Options {
  std::string feature;
  std::string policy = "buddies";
  int spares = 1;
  int steps = 9;
  bool must_recover = true;
};

Options parse(int argc, char** argv) {
  Options parsed;
  parsed.feature = argc > 1 ? argv[1] : "";
  for (int i = 2; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--policy")
      parsed.policy = argv[++i];
    else if (name == "--spares")
      parsed.spares = std::atoi(argv[++i]);
    else if (name == "--steps")
      parsed.steps = std::atoi(argv[++i]);
    else if (name == "--no-repair")
      parsed.must_recover = false;
    else
      std::exit(2);
  }
  return parsed;
}

void create_group(const std::string& policy) {
  if (group_id == FENIX_DATA_GROUP_WORLD_ID) return;
  // The name of a policy, as --policy has it: a new one is one line.
  int name = 0;
  std::vector<int> values;
  if (policy == "buddies") name = FENIX_DATA_POLICY_IN_MEMORY_RAID, values = {1, 1};
  if (policy == "ring") name = FENIX_DATA_POLICY_PEER_RANK_SEPARATION, values = {3};
  if (policy == "xor") name = FENIX_DATA_POLICY_IN_MEMORY_RAID, values = {5, 1, 4};
  if (policy == "rs") name = FENIX_DATA_POLICY_REED_SOLOMON, values = {1, 4, 2};
  int flag = -1;
  success(Fenix_Data_group_create(group_id, comm, 0, depth, name, values.data(), &flag), "group_create");
  require(flag == FENIX_SUCCESS, "snapshots were lost");
  int known = 0;
  std::array<int, 3> known_values{};
  success(Fenix_Data_group_get_redundancy_policy(group_id, &known, known_values.data(), &flag),
          "get_redundancy_policy");
  require(flag == FENIX_SUCCESS && known == name && std::equal(values.begin(), values.end(), known_values.begin()),
          "another policy");
}

// All ranks have the same step, and nothing that was seen committed is lost.
void restore(Feature& feature) {
  std::int64_t found = -1;
  const int code =
      Fenix_Data_member_restore(group_id, kStep, &found, 1, FENIX_DATA_SNAPSHOT_LATEST, FENIX_DATA_SUBSET_IGNORE);
  if (code != FENIX_ERROR_NODATA_FOUND) success(code, "restore of the step");
  std::int64_t mine[3] = {found, -found, seen_committed};
  std::int64_t most[3] = {0, 0, 0};
  MPI_Allreduce(mine, most, 3, MPI_INT64_T, MPI_MAX, comm);
  require(most[0] == -most[1], "ranks restored different steps");
  require(found >= most[2], "what was committed is gone");
  if (found >= 0) feature.check(found);
  step = found + 1;
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  static const Options options = parse(argc, argv);
  static const std::unique_ptr<Feature> feature = make_feature(options.feature);

  Fenix_Init(&role, MPI_COMM_WORLD, &comm, &argc, &argv, options.spares, &init_error);
  if (init_error < 0) fail("Fenix_Init returned " + std::to_string(init_error));
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  create_group(options.policy);
  define(kStep, &step, 1);
  feature->begin();
  restore(*feature);
  while (step < options.steps) {
    feature->store();
    success(Fenix_Data_member_store(group_id, kStep, FENIX_DATA_SUBSET_FULL), "store of the step");
    int time_stamp = -1;
    success(feature->commit(&time_stamp), "commit");
    require(time_stamp == step, "the commit gave the time stamp " + std::to_string(time_stamp));
    MPI_Barrier(comm);
    seen_committed = step;
    feature->check(step);
    ++step;
  }
  require(role != FENIX_ROLE_INITIAL_RANK || !options.must_recover, "no failure was repaired");
  success(Fenix_Finalize(), "Fenix_Finalize");
  std::printf("FENIX-TEST-OK rank %d role %d\n", rank, role);
  std::fflush(stdout);
  MPI_Finalize();
  return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// Stores and commits a step of a group, in the forms that the seed draws.
#include <cstdlib>
#include <cstring>

#include "journal.hpp"
#include "state.hpp"

namespace torture {
namespace {

constexpr int kScribble = 0x5c;

int group_id(int group) { return state.plan.groups[static_cast<std::size_t>(group)].id; }

/// A subset for the time of a store.
class Subset {
 public:
  Subset(const Blocks& blocks, bool full) {
    if (full) {
      value_ = FENIX_DATA_SUBSET_FULL;
    } else if (!blocks.empty()) {
      create(blocks);
    }
  }
  Subset(const Subset&) = delete;
  Subset& operator=(const Subset&) = delete;
  ~Subset() {
    if (created_) Fenix_Data_subset_delete(&value_);
  }
  operator Fenix_Data_subset() const { return value_; }  // NOLINT: an argument of calls

 private:
  void create(const Blocks& blocks) {
    std::vector<MPI_Count> firsts;
    std::vector<MPI_Count> lasts;
    for (const auto& [first, last] : blocks) {
      firsts.push_back(first);
      lasts.push_back(last);
    }
    success(Fenix_Data_subset_createv_c(static_cast<MPI_Count>(blocks.size()), firsts.data(), lasts.data(), &value_),
            "subset_createv");
    created_ = true;
  }

  Fenix_Data_subset value_ = FENIX_DATA_SUBSET_EMPTY;
  bool created_ = false;
};

struct Item {
  int group;
  int member;
  std::int64_t step;
  std::int64_t base;
  const MemberPlan& plan;
  Blocks blocks;
  bool full;

  [[nodiscard]] int gid() const { return group_id(group); }
  [[nodiscard]] std::span<unsigned char> buffer() const {
    return state.groups[static_cast<std::size_t>(group)].buffers[static_cast<std::size_t>(member)];
  }
  /// The elements of the step into some memory.
  void fill(std::span<unsigned char> into) const { state.contents.fill(into, group, member, state.rank, step, blocks); }
  [[nodiscard]] bool is_held(Form form) const {
    return state.plan.groups[static_cast<std::size_t>(group)].in_place && (form == Form::store || form == Form::storev);
  }
  void scribble() const { std::memset(buffer().data(), kScribble, buffer().size()); }
  [[nodiscard]] Bytes copy() const { return {buffer().begin(), buffer().end()}; }
};

void store_prestaged(const Item& item) {
  success(Fenix_Data_member_storev(item.gid(), item.plan.id, FENIX_DATA_SUBSET_PRESTAGED), "store of what was staged");
}

void stage_inplace(const Item& item, const Subset& subset) {
  Bytes values = item.copy();
  item.fill(values);
  void* given = std::malloc(values.size() + 1);
  std::memcpy(given, values.data(), values.size());
  success(Fenix_Data_member_stage_inplace(item.gid(), item.plan.id, given, subset), "stage_inplace");
  store_prestaged(item);
}

void stage_memory(const Item& item) {
  if (item.blocks.empty()) {
    success(Fenix_Data_member_storev(item.gid(), item.plan.id, FENIX_DATA_SUBSET_EMPTY), "store of nothing");
    return;
  }
  void* memory = nullptr;
  success(Fenix_Data_member_stage_memory(item.gid(), item.plan.id, &memory), "stage_memory");
  Bytes values = item.copy();
  item.fill(values);
  std::memcpy(memory, values.data(), values.size());
  success(Fenix_Data_member_stage_inplace(item.gid(), item.plan.id, memory, FENIX_DATA_SUBSET_FULL), "stage_inplace");
  store_prestaged(item);
}

/// As a file; the elements stand there without their holes.
void stage_file(const Item& item) {
  Bytes values = item.copy();
  item.fill(values);
  const std::size_t extent = bytes_of(item.plan.type);
  values.resize(item.blocks.empty() ? 0 : (static_cast<std::size_t>(item.blocks[0].second) + 1) * extent);
  std::FILE* file = nullptr;
  success(Fenix_Data_member_stage_begin(item.gid(), item.plan.id, &file), "stage_begin");
  if (item.plan.type == Type::holes) {
    for (std::size_t at = 0; at < values.size(); at += extent) {
      require(std::fwrite(&values[at], 8, 1, file) == 1 && std::fwrite(&values[at + 16], 4, 1, file) == 1, "fwrite");
    }
  } else {
    require(std::fwrite(values.data(), 1, values.size(), file) == values.size(), "fwrite");
  }
  success(Fenix_Data_member_stage_end(item.gid(), item.plan.id), "stage_end");
  store_prestaged(item);
}

void store_member(const Item& item, Form form, std::vector<Fenix_Request>& requests) {
  const Subset subset(item.blocks, item.full);
  const int id = item.plan.id;
  if (form == Form::stage_inplace) return stage_inplace(item, subset);
  if (form == Form::stage_memory) return stage_memory(item);
  if (form == Form::file) return stage_file(item);

  item.fill(item.buffer());
  Fenix_Request request = FENIX_REQUEST_NULL;
  switch (form) {
    case Form::store:
      success(Fenix_Data_member_store(item.gid(), id, subset), "store");
      break;
    case Form::istore:
      success(Fenix_Data_member_istore(item.gid(), id, subset, &request), "istore");
      break;
    case Form::istorev:
      success(Fenix_Data_member_istorev(item.gid(), id, subset, &request), "istorev");
      break;
    case Form::stage:
      success(Fenix_Data_member_stage(item.gid(), id, subset), "stage");
      break;
    default:
      success(Fenix_Data_member_storev(item.gid(), id, subset), "storev");
      break;
  }
  // The buffer is the application's again: what was stored must not change with it. In place, it is only when the commit returns.
  if (!item.is_held(form)) item.scribble();
  if (form == Form::stage) store_prestaged(item);
  if (form == Form::istore || form == Form::istorev) requests.push_back(request);
}

Item item_of(int group, int member, std::int64_t step, std::int64_t base) {
  const Contents& contents = state.contents;
  return {group,
          member,
          step,
          base,
          contents.member(group, member),
          contents.blocks(group, member, state.rank, step, base),
          contents.extent(group, member, step, base) == Extent::full};
}

int commit(int group, GroupForm form, int* time_stamp) {
  const GroupPlan& plan = state.plan.groups[static_cast<std::size_t>(group)];
  if (form == GroupForm::checkpoint) {
    return Fenix_Data_checkpoint(plan.id, FENIX_DATA_SUBSET_FULL, 0, nullptr, time_stamp);
  }
  return plan.barrier ? Fenix_Data_commit_barrier(plan.id, time_stamp) : Fenix_Data_commit(plan.id, time_stamp);
}

}  // namespace

void store_step(int group, std::int64_t step) {
  GroupState& now = state.groups[static_cast<std::size_t>(group)];
  const GroupPlan& plan = state.plan.groups[static_cast<std::size_t>(group)];
  const GroupForm form = state.contents.group_form(group, step);
  const auto members = static_cast<int>(plan.members.size());
  now.record = {step, now.base, state.ranks};
  std::vector<Fenix_Request> requests;
  for (int member = 0; member < members; ++member) {
    const Item item = item_of(group, member, step, now.base);
    if (form != GroupForm::each) {
      item.fill(item.buffer());
    } else if (state.contents.extent(group, member, step, now.base) != Extent::none) {
      store_member(item, state.contents.form(group, member, step, now.base), requests);
    }
  }
  if (form == GroupForm::each) {
    success(Fenix_Data_member_store(plan.id, kRecordMember, FENIX_DATA_SUBSET_FULL), "store of the record");
  } else if (form == GroupForm::all) {
    success(Fenix_Data_member_store(plan.id, FENIX_DATA_MEMBER_ALL, FENIX_DATA_SUBSET_FULL), "store of all members");
  }
  for (const Fenix_Request& request : requests) success(Fenix_Data_wait(request), "wait");

  int time_stamp = -1;
  success(commit(group, form, &time_stamp), "commit");
  for (int member = 0; plan.in_place && member < members; ++member) item_of(group, member, step, now.base).scribble();
  require(state.stamps_moved || time_stamp == step, "the commit gave the time stamp " + std::to_string(time_stamp));
  now.next = step + 1;
  if (!plan.barrier || form == GroupForm::checkpoint) {
    // Several commits may follow each other without it.
    if (!state.contents.barrier_after(group, step)) return;
    mpi(MPI_Barrier(state.own));
  }
  now.committed = step;
  note("committed " + std::to_string(group) + " " + std::to_string(step));
}

}  // namespace torture

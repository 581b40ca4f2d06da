// SPDX-License-Identifier: BSD-3-Clause
// Goes through a program: each call is made if the contract says what it does then, and left out otherwise.
#include "orders/plan.hpp"

namespace fenix_orders {

Planner::Planner(const Program& program, bool describes, int most_deaths)
    : program_(program), describes_(describes), deaths_left_(most_deaths) {
  model_.ranks = program.ranks;
  model_.sources.resize(static_cast<std::size_t>(program.ranks));
}

bool Planner::next(Phase& phase) {
  if (at_ == program_.calls.size() && !needs_rejoin_) return false;
  phase = Phase();
  phase.steps.resize(static_cast<std::size_t>(model_.ranks));
  phase_ = &phase;
  if (needs_rejoin_ && !is_created_again_) {
    create_again();
    // The program goes on from what is there then.
    if (cut_group_ != kNone) return true;
  }
  if (needs_rejoin_) take_up();
  while (at_ < program_.calls.size() && dying_.empty()) {
    call_ = &program_.calls[at_++];
    random_ = Random(call_->seed);
    apply(*call_);
  }
  check_buffers();
  phase.dying = std::move(dying_);
  dying_.clear();
  needs_rejoin_ = !phase.dying.empty();
  if (needs_rejoin_ && cut_group_ != kNone) cut_short(phase);
  return true;
}

void Planner::apply(const Call& call) {
  if (call.op == Op::wait) return wait();
  if (call.op == Op::kill) return kill();
  if (call.op == Op::create_group) return create_group(call.group);
  const auto found = model_.groups.find(call.group);
  if (found == model_.groups.end()) return;
  Group& group = found->second;
  Member* const member = group.find(call.member);
  switch (call.op) {
    case Op::create_member:
      return define(group, call.member, true);
    case Op::define:
      return define(group, call.member, false);
    case Op::allocate:
      return allocate(group, call.member);
    case Op::commit:
      return commit(group);
    case Op::checkpoint:
      return checkpoint(group);
    case Op::store_all:
      return store_all(group, false);
    case Op::istore_all:
      return store_all(group, true);
    case Op::query:
      return query(group);
    case Op::delete_snapshot:
      return delete_snapshot(group);
    case Op::barrier:
      return barrier(group);
    case Op::cleanup:
      return cleanup(group);
    case Op::delete_group:
      return delete_group(group);
    case Op::set_policy:
      return set_policy(group);
    case Op::set_in_place:
      return set_in_place(group);
    case Op::verify:
      return verify(group);
    default:
      break;
  }
  if (member == nullptr || !member->is_everywhere()) return;
  switch (call.op) {
    case Op::fill:
      return fill(group, *member);
    case Op::store:
      return store(group, *member, false, false);
    case Op::istore:
      return store(group, *member, true, random_.one_in(5));
    case Op::prestaged:
      return store(group, *member, false, true);
    case Op::bad_store:
      return bad_store(group, *member);
    case Op::stage:
      return stage(group, *member);
    case Op::stage_inplace:
      return stage_inplace(group, *member);
    case Op::stage_memory:
      return stage_memory(group, *member);
    case Op::old_memory:
      return old_memory(group, *member);
    case Op::stage_file:
      return stage_file(group, *member);
    case Op::restore:
    case Op::lrestore:
    case Op::restore_from:
      return restore(group, *member, call.op);
    case Op::repair:
      return repair(group, *member);
    case Op::load_file:
      return load_file(group, *member);
    case Op::attribute:
      return attribute(group, *member);
    case Op::set_count:
      return set_count(group, *member);
    case Op::set_buffer:
      return set_buffer(group, *member);
    case Op::delete_member:
      return delete_member(group, *member);
    default:
      break;
  }
}

// The library writes to buffers only where a restore wants elements, and never to holes.
void Planner::check_buffers() {
  for (const int rank : model_.all_ranks()) {
    std::map<int, Source> sources;
    for (const auto& [id, source] : model_.sources[static_cast<std::size_t>(rank)]) {
      if (!source.is_gone && !source.of_library) sources[id] = source;
    }
    add(
        rank, [&] { return std::string("(look at all buffers)"); },
        [sources = std::move(sources)](Real& real) {
          for (const auto& [id, source] : sources) {
            const Kind& kind = kinds()[static_cast<std::size_t>(source.kind)];
            std::vector<std::byte> expected(static_cast<std::size_t>(kMost) * static_cast<std::size_t>(kind.extent),
                                            std::byte{0xa5});
            for (int element = 0; element < kMost; ++element)
              write(kind, expected.data(), element, source.values[static_cast<std::size_t>(element)]);
            const std::byte* const there = real.buffers.at(id);
            if (std::memcmp(there, expected.data(), expected.size()) == 0) continue;
            const auto at =
                static_cast<int>(std::mismatch(expected.begin(), expected.end(), there).first - expected.begin());
            return "buffer " + number(id) + ", element " + number(at / kind.extent) + ", byte " +
                   number(at % kind.extent) + " is " + number(static_cast<int>(there[at])) + " instead of " +
                   number(static_cast<int>(expected[static_cast<std::size_t>(at)]));
          }
          return std::string();
        });
  }
}

// -------------------------------------------------------------------------------------------------------------- deaths

void Planner::kill() {
  int most = model_.ranks - 1;
  for (const auto& [id, group] : model_.groups) most = std::min(most, group.policy.losses);
  if (model_.groups.empty() || most == 0) return;
  const int deaths = 1 + random_.below(most);
  if (deaths > deaths_left_) return;
  while (static_cast<int>(dying_.size()) < deaths) {
    const int rank = random_.below(model_.ranks);
    if (std::find(dying_.begin(), dying_.end(), rank) == dying_.end()) dying_.push_back(rank);
  }
  if (loses_knowledge()) dying_.clear();
  if (dying_.empty()) return;
  deaths_left_ -= deaths;
  auto chosen = model_.groups.begin();
  std::advance(chosen, random_.below(static_cast<int>(model_.groups.size())));
  if (random_.one_in(2)) store_while_dying(chosen->second);
  for (const int rank : dying_) {
    model_.sources[static_cast<std::size_t>(rank)].clear();
    for (auto& [id, group] : model_.groups) {
      for (Member& member : group.members) {
        OnRank& own = member.on[static_cast<std::size_t>(rank)];
        own.buffer = own.lent = kNone;
        own.is_claimed = own.has_serializer = false;
        own.used_up.clear();
        own.of_other_snapshots.clear();
      }
    }
  }
}

// Whether they alone know of a deletion: then it is not said what becomes of it.
bool Planner::loses_knowledge() const {
  for (const auto& [id, group] : model_.groups) {
    for (const auto& of_rank : group.snapshots) {
      if (!of_rank.empty() && of_rank.back().deleted) return true;
    }
    for (const Member& member : group.members) {
      if (!member.is_everywhere()) return true;
    }
  }
  return false;
}

void Planner::create_again() {
  is_created_again_ = true;
  for (auto& [id, group] : model_.groups) {
    for (const int rank : model_.all_ranks()) {
      add(
          rank, [&, id = id] { return "Fenix_Data_group_create(" + number(id) + ", comm, …), after the repair"; },
          [id = id, policy = group.policy](Real& real) {
            auto values = policy.values;
            int flag = 0;
            const auto difference = expect_code(
                "group_create", Fenix_Data_group_create(id, real.comm, 0, 0, policy.name, values.data(), &flag),
                FENIX_SUCCESS);
            return difference.empty() && flag != FENIX_SUCCESS ? "flag is " + number(flag) : difference;
          });
    }
  }
  if (cut_group_ == kNone) return;
  phase_->cut_group = cut_group_;
  for (const Group& each : outcomes_) {
    const Snapshot* latest = each.latest(0);
    phase_->stamps.push_back(latest == nullptr ? kNone : latest->stamp);
  }
}

void Planner::take_up() {
  needs_rejoin_ = is_created_again_ = false;
  for (auto& [id, group] : model_.groups) {
    group.keep_consistent();
    group.is_touched = group.may_be_touched = group.has_committed;  // what was dropped does not count
    model_.unfreeze(group);
    // How far a survivor has come is not known here.
    for (Member& member : group.members) {
      if (id == cut_group_ && !member.is_allocated) fill(group, member);
    }
    for (Member& member : group.members) take_up(group, member);
  }
  cut_group_ = kNone;
  for (Asked& each : model_.asked) {
    each.is_pending = false;
    each.may_be_cancelled = true;
  }
}

// Work is dropped. A replacement says again what the others cannot know.
void Planner::take_up(Group& group, Member& member) {
  member.has_rejoined = true;
  bool in_all = true;
  for (const int rank : model_.all_ranks()) {
    member.on[static_cast<std::size_t>(rank)].forget_work();
    const Snapshot* latest = group.latest(rank);
    in_all = in_all && latest != nullptr && latest->members.count(member.id) != 0;
  }
  member.is_unsure = member.is_fixed && !in_all;
  for (const int rank : model_.all_ranks()) {
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    if (member.is_allocated) {
      take_up_allocated(group, member, rank);
    } else if (!own.is_claimed && member.has_new_count) {
      const int buffer = new_buffer(rank, group, member, member.kind);
      own.buffer = buffer;
      own.is_claimed = true;
      const bool large = random_of(rank).one_in(2);
      add(
          rank,
          [&] {
            return std::string("Fenix_Data_member_define") + (large ? "_c(" : "(") + number(group.id) + ", " +
                   number(member.id) + ", buffer " + number(buffer) + ", " + number(own.count) + ", " +
                   kinds()[static_cast<std::size_t>(member.kind)].name + ")";
          },
          [group = group.id, id = member.id, buffer, count = own.count, kind = member.kind, large](Real& real) {
            return expect_code("define",
                               either(large, Fenix_Data_member_define, Fenix_Data_member_define_c, group, id,
                                      real.buffers.at(buffer), count, type_of(kind)),
                               FENIX_SUCCESS);
          });
    }
  }
}

void Planner::take_up_allocated(Group& group, Member& member, int rank) {
  OnRank& own = member.on[static_cast<std::size_t>(rank)];
  const bool is_new = own.buffer == kNone;
  const int buffer = is_new ? model_.next_number++ : own.buffer;
  own.buffer = buffer;
  own.is_claimed = true;
  Source& source = model_.sources[static_cast<std::size_t>(rank)][buffer];
  if (is_new) {
    source.kind = member.kind;
    source.group = group.id;
    source.of_library = true;
  }
  add(
      rank,
      [&] {
        return "Fenix_Data_member_allocate(" + number(group.id) + ", " + number(member.id) + ", " + number(own.count) +
               ", &buffer " + number(buffer) + ")";
      },
      [group = group.id, id = member.id, buffer, count = own.count, kind = member.kind, values = source.values,
       is_new](Real& real) {
        void* base = nullptr;
        const Kind& type = kinds()[static_cast<std::size_t>(kind)];
        auto difference =
            expect_code("allocate", Fenix_Data_member_allocate(group, id, count, type.type, &base), FENIX_SUCCESS);
        if (!difference.empty()) return difference;
        auto* const bytes = static_cast<std::byte*>(base);
        if (!is_new && bytes != real.buffers.at(buffer))
          return std::string("allocate gave another address to a survivor");
        real.buffers[buffer] = bytes;
        for (int element = 0; element < count; ++element) {
          if (is_new) write(type, bytes, element, values[static_cast<std::size_t>(element)]);
          if (bytes[element * type.extent] != byte_of(values[static_cast<std::size_t>(element)], 0))
            return "allocate lost element " + number(element);
        }
        return std::string();
      });
}

// ------------------------------------------------------------------------------------------------------------ programs

Program program_of(std::uint64_t seed) {
  constexpr std::pair<Op, int> weights[] = {
      {Op::fill, 10},      {Op::store, 14},        {Op::istore, 5},        {Op::prestaged, 4},
      {Op::stage, 6},      {Op::stage_inplace, 4}, {Op::stage_memory, 8},  {Op::old_memory, 2},
      {Op::stage_file, 6}, {Op::wait, 3},          {Op::commit, 16},       {Op::restore, 8},
      {Op::lrestore, 4},   {Op::restore_from, 3},  {Op::load_file, 2},     {Op::query, 3},
      {Op::attribute, 3},  {Op::set_count, 3},     {Op::set_buffer, 3},    {Op::define, 3},
      {Op::allocate, 3},   {Op::create_member, 3}, {Op::delete_member, 1}, {Op::delete_snapshot, 2},
      {Op::barrier, 2},    {Op::cleanup, 1},       {Op::create_group, 1},  {Op::delete_group, 1},
      {Op::set_policy, 1}, {Op::set_in_place, 1},  {Op::verify, 1},        {Op::kill, 4},
      {Op::bad_store, 2},  {Op::checkpoint, 3},    {Op::store_all, 3},     {Op::istore_all, 2},
      {Op::repair, 1}};
  Random random(seed);
  int all = 0;
  for (const auto& [op, weight] : weights) all += weight;
  Program program{seed, 1 + random.below(4), {}};
  program.calls.push_back({Op::create_group, 1, 0, random.next()});
  program.calls.push_back({random.one_in(8) ? Op::allocate : Op::create_member, 1, 1, random.next()});
  const int length = 6 + random.below(30);
  for (int call = 0; call < length; ++call) {
    int chosen = random.below(all);
    const auto* at = std::begin(weights);
    while (chosen >= at->second) chosen -= (at++)->second;
    program.calls.push_back({at->first, random.one_in(6) ? 2 : 1, random.one_in(3) ? 2 : 1, random.next()});
    if (at->first != Op::kill) continue;
    // As programs do after a repair.
    program.calls.push_back({Op::restore, 1, random.one_in(3) ? 2 : 1, random.next()});
    program.calls.push_back({Op::attribute, 1, program.calls.back().member, random.next()});
  }
  program.calls.push_back({Op::query, 1, 1, random.next()});
  program.calls.push_back({Op::restore, 1, 1, random.next()});
  return program;
}

}  // namespace fenix_orders

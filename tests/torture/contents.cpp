// SPDX-License-Identifier: BSD-3-Clause
#include "contents.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace torture {
namespace {

enum Purpose : std::uint64_t { kValue, kGroupForm, kExtent, kForm, kBlocks, kCount, kBarrier };

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

std::uint64_t number(std::int64_t value) { return static_cast<std::uint64_t>(value); }

void write_element(unsigned char* at, Type type, std::uint64_t word) {
  if (type == Type::bytes) {
    *at = static_cast<unsigned char>(word);
    return;
  }
  std::memcpy(at, &word, sizeof word);
  if (type == Type::holes) {
    const auto second = static_cast<std::uint32_t>(mixed(word));
    std::memcpy(at + 16, &second, sizeof second);
  }
}

}  // namespace

std::uint64_t draw(std::uint64_t seed, std::initializer_list<std::uint64_t> what) {
  std::uint64_t state = mixed(seed + 0x9e3779b97f4a7c15U);
  for (const std::uint64_t part : what) state = mixed(state * 0x9e3779b97f4a7c15U + part + 1);
  return state;
}

std::size_t bytes_of(Type type) {
  switch (type) {
    case Type::bytes:
      return 1;
    case Type::words:
      return 8;
    case Type::holes:
      return 24;
  }
  return 0;
}

const MemberPlan& Contents::member(int group, int member) const {
  return plan_.groups.at(static_cast<std::size_t>(group)).members.at(static_cast<std::size_t>(member));
}

std::int64_t Contents::count(int group, int member, int rank, std::int64_t step) const {
  const MemberPlan& plan = this->member(group, member);
  const std::int64_t most = plan.most_on(rank);
  if (!plan.resizeable) return most;
  const std::uint64_t dice = draw(plan_.seed, {kCount, number(group), number(member), number(rank), number(step)});
  return static_cast<std::int64_t>(dice % number(most + 1));
}

bool Contents::barrier_after(int group, std::int64_t step) const {
  return draw(plan_.seed, {kBarrier, number(group), number(step)}) % 3 > 0;
}

GroupForm Contents::group_form(int group, std::int64_t step) const {
  // What these forms store is FENIX_DATA_SUBSET_FULL.
  for (const MemberPlan& member : plan_.groups[static_cast<std::size_t>(group)].members) {
    if (member.resizeable) return GroupForm::each;
  }
  switch (draw(plan_.seed, {kGroupForm, number(group), number(step)}) % 8) {
    case 0:
      return GroupForm::all;
    case 1:
      return GroupForm::checkpoint;
    default:
      return GroupForm::each;
  }
}

Extent Contents::extent(int group, int member, std::int64_t step, std::int64_t base) const {
  if (group_form(group, step) != GroupForm::each) return Extent::full;
  const std::uint64_t dice = draw(plan_.seed, {kExtent, number(group), number(member), number(step)}) % 100;
  if (this->member(group, member).resizeable) return step != base && dice < 20 ? Extent::none : Extent::parts;
  if (step == base) return dice < 80 ? Extent::full : Extent::parts;
  if (dice < 15) return Extent::none;
  return dice < 55 ? Extent::full : Extent::parts;
}

Form Contents::form(int group, int member, std::int64_t step, std::int64_t base) const {
  const std::uint64_t dice = draw(plan_.seed, {kForm, number(group), number(member), number(step)});
  const MemberPlan& plan = this->member(group, member);
  const bool full = extent(group, member, step, base) == Extent::full;
  // Subsets differ from rank to rank. A file is written from its start. The memory of a snapshot has neither holes nor sizes.
  static constexpr Form kForms[] = {Form::storev, Form::storev, Form::istorev,      Form::stage, Form::stage_inplace,
                                    Form::file,   Form::store,  Form::stage_memory, Form::store, Form::istore};
  const std::size_t forms = plan.resizeable ? 6 : full ? std::size(kForms) : 5;
  const Form form = kForms[dice % forms];
  return form == Form::stage_memory && plan.type == Type::holes ? Form::store : form;
}

Blocks Contents::blocks(int group, int member, int rank, std::int64_t step, std::int64_t base) const {
  const std::int64_t count = this->count(group, member, rank, step);
  const Extent extent = this->extent(group, member, step, base);
  if (count == 0 || extent == Extent::none) return {};
  if (extent == Extent::full || this->member(group, member).resizeable) return {{0, count - 1}};

  std::uint64_t state = draw(plan_.seed, {kBlocks, number(group), number(member), number(rank), number(step)});
  const auto below = [&](std::int64_t bound) {
    state = mixed(state + 0x9e3779b97f4a7c15U);
    return static_cast<std::int64_t>(state % static_cast<std::uint64_t>(std::max<std::int64_t>(bound, 1)));
  };
  Blocks blocks;
  const std::int64_t kind = below(10);
  if (kind == 0) return {};
  if (kind <= 4) {
    // Strided: blocks of one length, one distance apart.
    const std::int64_t stride = 1 + below(std::max<std::int64_t>(count / 3, 2));
    const std::int64_t length = 1 + below(stride);
    const std::int64_t first = below(count);
    for (std::int64_t at = first; at + length <= count && blocks.size() < 40; at += stride) {
      blocks.emplace_back(at, at + length - 1);
    }
    if (blocks.empty()) blocks.emplace_back(first, first);
    return blocks;
  }
  // Regions anywhere, in any order; they may overlap.
  for (std::int64_t left = 1 + below(6); left > 0; --left) {
    const std::int64_t first = below(count);
    blocks.emplace_back(first, first + below(count - first));
  }
  return blocks;
}

void Contents::fill(std::span<unsigned char> buffer, int group, int member, int rank, std::int64_t step,
                    const Blocks& blocks) const {
  const Type type = this->member(group, member).type;
  const std::uint64_t key = draw(plan_.seed, {kValue, number(group), number(member), number(rank), number(step)});
  for (const auto& [first, last] : blocks) {
    unsigned char* at = buffer.data() + static_cast<std::size_t>(first) * bytes_of(type);
    for (std::int64_t element = first; element <= last; ++element, at += bytes_of(type)) {
      write_element(at, type, mixed(key + number(element)));
    }
  }
}

std::vector<bool> Contents::fill_snapshot(Bytes& buffer, int group, int member, int rank, std::int64_t step,
                                          std::int64_t base) const {
  if (this->member(group, member).resizeable) {
    // Each store is of the whole member, and gives it its size.
    std::int64_t last = step;
    while (last > base && extent(group, member, last, base) == Extent::none) --last;
    fill(buffer, group, member, rank, last, blocks(group, member, rank, last, base));
    return std::vector<bool>(static_cast<std::size_t>(count(group, member, rank, last)), true);
  }
  const std::int64_t count = this->member(group, member).most_on(rank);
  std::vector<bool> covered(static_cast<std::size_t>(count));
  // Back to the last step that has it all, and forward from there.
  std::int64_t from = step;
  const Blocks all{{0, count - 1}};
  while (from > base && blocks(group, member, rank, from, base) != all) --from;
  for (; from <= step; ++from) {
    const Blocks stored = blocks(group, member, rank, from, base);
    fill(buffer, group, member, rank, from, stored);
    for (const auto& [first, last] : stored) std::fill(covered.begin() + first, covered.begin() + last + 1, true);
  }
  return covered;
}

Bytes Contents::room(int group, int member, std::int64_t count) const {
  return Bytes(static_cast<std::size_t>(count) * bytes_of(this->member(group, member).type), 0xa5);
}

}  // namespace torture

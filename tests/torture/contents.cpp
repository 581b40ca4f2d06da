// SPDX-License-Identifier: BSD-3-Clause
#include "contents.hpp"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace torture {
namespace {

enum Purpose : std::uint64_t { kValue, kGroupForm, kExtent, kForm, kBlocks };

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

GroupForm Contents::group_form(int group, std::int64_t step) const {
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
  if (step == base) return dice < 80 ? Extent::full : Extent::parts;
  if (dice < 15) return Extent::none;
  return dice < 55 ? Extent::full : Extent::parts;
}

Form Contents::form(int group, int member, std::int64_t step, std::int64_t base) const {
  const std::uint64_t dice = draw(plan_.seed, {kForm, number(group), number(member), number(step)});
  const bool full = extent(group, member, step, base) == Extent::full;
  const bool holes = this->member(group, member).type == Type::holes;
  // Subsets differ from rank to rank; the memory of a snapshot, and a file from its start, take whole members.
  static constexpr Form kOfParts[] = {Form::storev, Form::storev, Form::istorev, Form::stage, Form::stage_inplace};
  static constexpr Form kOfAll[] = {Form::store, Form::store,         Form::storev, Form::istore,
                                    Form::stage, Form::stage_inplace, Form::file,   Form::stage_memory};
  if (!full) return kOfParts[dice % std::size(kOfParts)];
  return kOfAll[dice % (std::size(kOfAll) - (holes ? 1 : 0))];
}

Blocks Contents::blocks(int group, int member, int rank, std::int64_t step, std::int64_t base) const {
  const std::int64_t count = this->member(group, member).count_on(rank);
  const Extent extent = this->extent(group, member, step, base);
  if (count == 0 || extent == Extent::none) return {};
  if (extent == Extent::full) return {{0, count - 1}};

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

void Contents::fill(Bytes& buffer, int group, int member, int rank, std::int64_t step, const Blocks& blocks) const {
  const Type type = this->member(group, member).type;
  const std::uint64_t key = draw(plan_.seed, {kValue, number(group), number(member), number(rank), number(step)});
  for (const auto& [first, last] : blocks) {
    unsigned char* at = buffer.data() + static_cast<std::size_t>(first) * bytes_of(type);
    for (std::int64_t element = first; element <= last; ++element, at += bytes_of(type)) {
      write_element(at, type, mixed(key + number(element)));
    }
  }
}

bool Contents::fill_snapshot(Bytes& buffer, int group, int member, int rank, std::int64_t step,
                             std::int64_t base) const {
  const std::int64_t count = this->member(group, member).count_on(rank);
  // Back to the last step that has it all, and forward from there.
  std::int64_t from = step;
  bool whole = count == 0;
  for (; from >= base; --from) {
    const Blocks stored = blocks(group, member, rank, from, base);
    if (stored.size() == 1 && stored[0].first == 0 && stored[0].second == count - 1) {
      whole = true;
      break;
    }
  }
  std::vector<bool> covered(whole ? 0 : static_cast<std::size_t>(count));
  for (std::int64_t at = std::max(from, base); at <= step; ++at) {
    const Blocks stored = blocks(group, member, rank, at, base);
    fill(buffer, group, member, rank, at, stored);
    if (whole) continue;
    for (const auto& [first, last] : stored) std::fill(covered.begin() + first, covered.begin() + last + 1, true);
  }
  return whole || std::find(covered.begin(), covered.end(), false) == covered.end();
}

Bytes Contents::room(int group, int member, std::int64_t count) const {
  return Bytes(static_cast<std::size_t>(count) * bytes_of(this->member(group, member).type), 0xa5);
}

}  // namespace torture

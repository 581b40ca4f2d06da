// SPDX-License-Identifier: BSD-3-Clause
#include "store/plan.hpp"

#include <algorithm>

#include "store/fields.hpp"
#include "store/sealed_file.hpp"

namespace fenix_impl {
namespace {

/// Calls a function for all numbers of a group, in the order of the file.
template <class Group, class Each>
void for_each_number(Group& group, const Each& each) {
  each(group.start_time_stamp);
  each(group.depth);
  each(group.hashing);
  each(group.in_place);
  each(group.policy);
  each(group.separation);
  each(group.set_size);
  each(group.losses);
}

// Each writer has a rank.
bool has_all_writers(const DatasetPlan& plan) {
  std::vector<bool> found(plan.number_of_writers(), false);
  for (const std::uint32_t writer : plan.writers) found[writer] = true;
  return !plan.writers.empty() && std::find(found.begin(), found.end(), false) == found.end();
}

}  // namespace

std::uint32_t DatasetPlan::number_of_writers() const {
  return writers.empty() ? 0 : *std::max_element(writers.begin(), writers.end()) + 1;
}

std::vector<std::byte> encode(const DatasetPlan& plan) {
  FieldWriter fields;
  fields.text(plan.label);
  fields.number(plan.epoch);
  for_each_number(plan.group, [&](std::int32_t number) { fields.number(number); });
  fields.number(static_cast<std::uint32_t>(plan.members.size()));
  for (const StoredMember& member : plan.members) {
    fields.number(member.id);
    fields.number(member.element_bytes);
    fields.bytes(member.type);
  }
  fields.number(static_cast<std::uint32_t>(plan.writers.size()));
  for (const std::uint32_t writer : plan.writers) fields.number(writer);
  return seal(SealedKind::plan, plan.name.text(), fields.all());
}

std::optional<DatasetPlan> decode_plan(const DatasetName& name, std::span<const std::byte> file) {
  const auto body = unseal(SealedKind::plan, name.text(), file);
  if (!body) return std::nullopt;
  FieldReader fields(*body);
  DatasetPlan plan;
  plan.name = name;
  plan.label = fields.text();
  plan.epoch = fields.number<std::uint64_t>();
  for_each_number(plan.group, [&](std::int32_t& number) { number = fields.number<std::int32_t>(); });
  constexpr std::size_t kMemberBytes = 12;
  plan.members.resize(fields.count(kMemberBytes));
  for (StoredMember& member : plan.members) {
    member.id = fields.number<std::int32_t>();
    member.element_bytes = fields.number<std::uint32_t>();
    const auto type = fields.bytes();
    member.type.assign(type.begin(), type.end());
  }
  plan.writers.resize(fields.count(sizeof(std::uint32_t)));
  for (std::uint32_t& writer : plan.writers) writer = fields.number<std::uint32_t>();
  const bool numbers_fit = std::all_of(plan.writers.begin(), plan.writers.end(),
                                       [&](std::uint32_t writer) { return writer < plan.writers.size(); });
  if (!fields.is_at_end() || !numbers_fit || !has_all_writers(plan)) return std::nullopt;
  return plan;
}

}  // namespace fenix_impl

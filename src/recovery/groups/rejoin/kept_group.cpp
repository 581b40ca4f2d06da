// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/rejoin/kept_group.hpp"

#include <new>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "core/member/member_codec.hpp"
#include "parity/placement.hpp"
#include "recovery/groups/rejoin/rank_order.hpp"
#include "store/fields.hpp"

namespace fenix_impl {
namespace {

/// Number of this description and of the layout of regions (docs/log-format.md): another library may have written them.
constexpr std::uint32_t kFormat = 1;
constexpr std::size_t kLeastBytesOfARun = 3 * sizeof(std::int32_t);
constexpr std::size_t kLeastBytesOfACount = sizeof(std::int32_t) + sizeof(std::uint64_t);

struct DescribedMember {
  MemberInfo info;
  Counts counts;
};

/// The content of a description.
struct Described {
  GroupParameters parameters;
  Shape shape;
  std::int32_t rank = -1;
  std::vector<DescribedMember> members;
  KeptMemory memory;
};

Counts counts_of(const Member& member, int rank) {
  Counts counts = member.memory.counts();
  if (member.info().resizeable) {
    counts.try_emplace(rank, member.own_count());
  } else {
    counts[rank] = member.own_count();
  }
  return counts;
}

void write_parameters(FieldWriter& fields, const GroupParameters& parameters) {
  const Policy& policy = parameters.policy;
  for (const std::int32_t each :
       {parameters.id, parameters.start_time_stamp, parameters.depth, parameters.hashing, parameters.in_place,
        static_cast<std::int32_t>(policy.kind), policy.separation, policy.set_size, policy.losses}) {
    fields.number(each);
  }
}

GroupParameters read_parameters(FieldReader& fields) {
  GroupParameters parameters;
  Policy& policy = parameters.policy;
  std::int32_t kind = 0;
  for (std::int32_t* const each : {&parameters.id, &parameters.start_time_stamp, &parameters.depth, &parameters.hashing,
                                   &parameters.in_place, &kind, &policy.separation, &policy.set_size, &policy.losses}) {
    *each = fields.number<std::int32_t>();
  }
  policy.kind = static_cast<Policy::Kind>(kind);
  return parameters;
}

void write_region(FieldWriter& fields, const Region& region) {
  const RegionAddress address = region.address();
  fields.number(address.bytes);
  fields.number(address.key);
}

OrphanedRegion read_region(FieldReader& fields, std::int64_t what) {
  OrphanedRegion region;
  region.what = what;
  region.address.bytes = fields.number<std::uint64_t>();
  region.address.key = fields.number<std::uint64_t>();
  return region;
}

std::vector<int> read_order(FieldReader& fields, int ranks) {
  std::vector<Run> runs(fields.count(kLeastBytesOfARun));
  for (Run& run : runs) {
    run.first = fields.number<std::int32_t>();
    run.step = fields.number<std::int32_t>();
    run.ranks = fields.number<std::int32_t>();
  }
  return runs.empty() ? std::vector<int>() : order_in(runs, ranks);
}

void read_member(FieldReader& fields, const MemberInfo& info, Described& described) {
  DescribedMember member{info, {}};
  for (std::size_t left = fields.count(kLeastBytesOfACount); left > 0; --left) {
    const auto rank = fields.number<std::int32_t>();
    member.counts[rank] = fields.number<std::uint64_t>();
  }
  const auto slots = fields.number<std::uint32_t>();
  const auto own_bytes = fields.number<std::uint64_t>();
  const auto held_bytes = fields.number<std::uint64_t>();
  OrphanedRegion region = read_region(fields, info.id);
  if (!fields.is_good() || member.counts.count(described.rank) == 0) {
    throw Error(FENIX_ERROR_INTERN, "a kept member is not described whole");
  }
  region.layout = SlotLayout(slots, own_bytes, held_bytes, described.parameters.own_slots(slots));
  described.memory.regions.push_back(region);
  described.members.push_back(std::move(member));
}

Described read(std::span<const std::byte> description, std::int32_t rank, std::int32_t ranks) {
  FieldReader fields(description);
  if (fields.number<std::uint32_t>() != kFormat) throw Error(FENIX_ERROR_INTERN, "a kept group is of another version");
  Described described;
  described.memory.origin.run = fields.number<std::uint32_t>();
  described.memory.origin.generation = {fields.number<std::uint32_t>()};
  described.memory.has_commits = fields.number<std::uint8_t>() != 0;
  described.memory.tries = fields.number<std::uint32_t>();
  described.shape.since = {fields.number<std::uint32_t>()};
  described.shape.ranks = fields.number<std::int32_t>();
  described.rank = fields.number<std::int32_t>();
  if (described.rank != rank || described.shape.ranks != ranks) {
    throw Error(FENIX_ERROR_INTERN, "a kept group is of another rank");
  }
  described.parameters = read_parameters(fields);
  described.memory.log_entries = fields.number<std::uint32_t>();
  described.memory.regions.push_back(read_region(fields, OrphanedRegion::kControl));
  described.memory.regions.back().entries = described.memory.log_entries;
  described.memory.order = read_order(fields, ranks);
  for (const MemberInfo& info : decode_members(fields.bytes())) read_member(fields, info, described);
  const GroupParameters& parameters = described.parameters;
  const bool can_be = makes_sense(parameters.policy) && parameters.depth >= GroupParameters::kKeepAll &&
                      (parameters.in_place == 0 || parameters.in_place == 1);
  if (!fields.is_at_end() || !can_be) {
    throw Error(FENIX_ERROR_INTERN, "a kept group is not described whole");
  }
  return described;
}

}  // namespace

std::vector<std::byte> describe_group(Group& group, std::uint32_t run) {
  const GroupRecovery recovery = group.recovery();
  const CommitLog& log = group.log();
  const GroupRanks& ranks = group.ranks();
  FieldWriter fields;
  fields.number(kFormat);
  fields.number(run);
  fields.number(log.generation().value);
  fields.number(static_cast<std::uint8_t>(log.memory().own_epochs().empty() ? 0 : 1));
  fields.number(recovery.tries());
  fields.number(recovery.shape().since.value);
  fields.number(recovery.shape().ranks);
  fields.number(static_cast<std::int32_t>(ranks.rank));
  write_parameters(fields, group.parameters());
  fields.number(log.memory().entries());
  write_region(fields, log.memory().control().region);
  const auto runs = runs_of(ranks.placement.order());
  fields.number(static_cast<std::uint32_t>(runs.size()));
  for (const Run& each : runs) {
    fields.number(each.first);
    fields.number(each.step);
    fields.number(each.ranks);
  }
  std::vector<MemberInfo> infos;
  for (const auto& member : group.members()) infos.push_back(member->info());
  fields.bytes(encode_members(infos));
  for (const auto& member : group.members()) {
    const Counts counts = counts_of(*member, ranks.rank);
    fields.number(static_cast<std::uint32_t>(counts.size()));
    for (const auto& [rank, elements] : counts) {
      fields.number(static_cast<std::int32_t>(rank));
      fields.number(elements);
    }
    const SlotLayout& layout = member->memory.layout();
    fields.number(layout.slots());
    fields.number(layout.own_bytes());
    fields.number(layout.held_bytes());
    write_region(fields, member->memory.region());
  }
  return fields.all();
}

std::vector<int> regions_of(Group& group) {
  std::vector<int> regions{group.log().memory().control().region.file()->get()};
  for (const auto& member : group.members()) regions.push_back(member->memory.region().file()->get());
  return regions;
}

std::unique_ptr<Group> group_described(std::span<const std::byte> description, std::int32_t process,
                                       std::span<const std::int32_t> files, std::int32_t rank, std::int32_t ranks) {
  try {
    Described described = read(description, rank, ranks);
    KeptMemory& memory = described.memory;
    if (memory.regions.size() != files.size()) return {};
    for (std::size_t i = 0; i < files.size(); ++i) {
      memory.regions[i].owner = rank;
      memory.regions[i].address.pid = process;
      memory.regions[i].address.fd = files[i];
    }
    auto group = std::make_unique<Group>(described.parameters);
    for (std::size_t i = 0; i < described.members.size(); ++i) {
      DescribedMember& member = described.members[i];
      if (group->find(member.info.id) != nullptr) return {};
      group->members().adopt(member.info, std::move(member.counts), memory.regions[i + 1].layout.slots(), rank);
    }
    group->recovery().describe(described.shape, std::move(memory));
    return group;
  } catch (const Error& error) {
    log().info("the memory of an earlier run cannot be used: {}", error.what());
    return {};
  } catch (const std::bad_alloc&) {
    return {};
  } catch (const std::length_error&) {
    return {};
  }
}

}  // namespace fenix_impl

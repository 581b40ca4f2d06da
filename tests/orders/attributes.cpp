// SPDX-License-Identifier: BSD-3-Clause
// Attributes of members, and what groups say of themselves.
#include "orders/plan.hpp"

namespace fenix_orders {
namespace {

/// Arguments of Fenix_Data_member_attr_get, and what it has to give.
struct AttributeOf {
  int name = 0;
  bool large = false;
  int group = 0;
  int member = 0;
  int kind = 0;
  int source = 0;
  int count = 0;   ///< on source
  int rank = 0;    ///< that asks
  int buffer = 0;  ///< on rank

  [[nodiscard]] std::string text() const {
    const char* const names[] = {"COUNT", "SIZE", "DATATYPE"};
    const int which = name == FENIX_DATA_MEMBER_ATTRIBUTE_COUNT ? 0 : name == FENIX_DATA_MEMBER_ATTRIBUTE_SIZE ? 1 : 2;
    return std::string("Fenix_Data_member_attr_get") + (large ? "_c(" : "(") + number(group) + ", " + number(member) +
           ", " + names[which] + " of rank " + number(source) + ", which has " + number(count) +
           " elements, BUFFER: buffer " + number(buffer) + ")";
  }

  int get(int wanted, void* value, int of) const {
    int flag = 0;
    const int code = large ? Fenix_Data_member_attr_get_c(group, member, wanted, value, &flag, of)
                           : (Fenix_Data_member_attr_get)(group, member, wanted, value, &flag, of);
    return code == FENIX_SUCCESS && flag != 1 ? -1 : code;
  }

  template <class Number>
  [[nodiscard]] std::string expect_number(MPI_Count expected) const {
    Number got = 0;
    const auto difference = expect_code("attr_get", get(name, &got, source), FENIX_SUCCESS);
    if (!difference.empty() || static_cast<MPI_Count>(got) == expected) return difference;
    return "the attribute is " + std::to_string(got) + " instead of " + std::to_string(expected);
  }

  [[nodiscard]] std::string expect_type(const Kind& expected) const {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const auto difference = expect_code("attr_get", get(name, &type, source), FENIX_SUCCESS);
    if (!difference.empty()) return difference;
    int bytes = 0;
    MPI_Aint start = 0;
    MPI_Aint extent = 0;
    MPI_Type_size(type, &bytes);
    MPI_Type_get_extent(type, &start, &extent);
    MPI_Type_free(&type);
    return bytes == expected.bytes && extent == expected.extent ? std::string() : "DATATYPE is another one";
  }

  std::string operator()(Real& real) const {
    const Kind& type = kinds()[static_cast<std::size_t>(kind)];
    const bool is_size = name == FENIX_DATA_MEMBER_ATTRIBUTE_SIZE;
    const MPI_Count expected = static_cast<MPI_Count>(count) * (is_size ? type.extent : 1);
    auto difference = name == FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE ? expect_type(type)
                      : large                                      ? expect_number<MPI_Count>(expected)
                      : is_size                                    ? expect_number<std::size_t>(expected)
                                                                   : expect_number<int>(expected);
    void* address = nullptr;
    const int code = get(FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER, static_cast<void*>(&address), rank);
    if (difference.empty()) difference = expect_code("attr_get", code, FENIX_SUCCESS);
    const void* const own = buffer == kNone ? nullptr : real.buffers.at(buffer);
    if (!difference.empty() || address == own) return difference;
    return std::string("BUFFER is another one") + (address == nullptr ? ": NULL" : "");
  }
};

/// Answers of a group about itself on a rank. Where a member has to have memory for so many bytes, they are with its id.
struct Answers {
  int id = 0;
  std::vector<int> stamps;
  std::vector<std::pair<int, MPI_Count>> members;
  Policy policy;
  bool in_place = false;
  bool hashing = false;

  [[nodiscard]] std::string text() const {
    std::string text = "the time stamps of group " + number(id) + ":";
    for (const int each : stamps) text += " " + number(each);
    text += ", members:";
    for (const auto& [member, bytes] : members) text += " " + number(member);
    return text;
  }

  [[nodiscard]] std::string expect_stamps() const {
    int count = kNone;
    auto difference =
        expect_code("get_number_of_snapshots", Fenix_Data_group_get_number_of_snapshots(id, &count), FENIX_SUCCESS);
    if (difference.empty() && count != static_cast<int>(stamps.size()))
      difference = "there are " + number(count) + " snapshots";
    for (int at = 0; difference.empty() && at < count; ++at) {
      int stamp = kNone;
      difference = expect_code("get_snapshot_at_position", Fenix_Data_group_get_snapshot_at_position(id, at, &stamp),
                               FENIX_SUCCESS);
      if (stamp != stamps[static_cast<std::size_t>(at)])
        difference = "at position " + number(at) + " is time stamp " + number(stamp);
    }
    return difference;
  }

  [[nodiscard]] std::string expect_members() const {
    int count = kNone;
    Fenix_Data_group_get_number_of_members(id, &count);
    if (count != static_cast<int>(members.size())) return "there are " + number(count) + " members";
    for (int at = 0; at < count; ++at) {
      const auto& [expected, least] = members[static_cast<std::size_t>(at)];
      int member = kNone;
      MPI_Count bytes = kNone;
      Fenix_Data_group_get_member_at_position(id, &member, at);
      if (member != expected) return "at position " + number(at) + " is member " + number(member);
      if (Fenix_Data_member_created(id, member) != 1) return "member " + number(member) + " has not been created";
      const auto difference = expect_code("footprint", Fenix_Data_member_footprint(id, member, &bytes), FENIX_SUCCESS);
      if (!difference.empty()) return difference;
      if (bytes < least) return "member " + number(member) + " uses " + std::to_string(bytes) + " bytes only";
    }
    constexpr int unknown = 1234;
    return expect_code("member_created", Fenix_Data_member_created(id, unknown), 0);
  }

  [[nodiscard]] std::string expect_policy() const {
    int name = kNone;
    int values[3] = {};
    int flag = 0;
    const auto difference = expect_code(
        "get_redundancy_policy", Fenix_Data_group_get_redundancy_policy(id, &name, values, &flag), FENIX_SUCCESS);
    if (!difference.empty()) return difference;
    if (name != policy.name) return "the policy is " + number(name);
    for (std::size_t at = 0; at < policy.values.size(); ++at) {
      if (policy.values[at] != FENIX_DATA_SEPARATION_AUTO && values[at] != policy.values[at])
        return "value " + std::to_string(at) + " of the policy is " + number(values[at]);
    }
    MPI_Group cohort = MPI_GROUP_NULL;
    const int code = Fenix_Data_group_get_cohort(id, &cohort);
    if (code == FENIX_SUCCESS && cohort != MPI_GROUP_EMPTY) MPI_Group_free(&cohort);
    return expect_code("get_cohort", code, FENIX_SUCCESS);
  }

  std::string operator()(Real&) const {
    auto difference = expect_code("group_created", Fenix_Data_group_created(id), 1);
    if (difference.empty()) difference = expect_stamps();
    if (difference.empty()) difference = expect_members();
    if (difference.empty()) difference = expect_policy();
    int flag = kNone;
    Fenix_Data_group_get_in_place(id, &flag);
    if (difference.empty() && flag != (in_place ? 1 : 0)) difference = "in_place is " + number(flag);
    Fenix_Data_group_get_hashing(id, &flag);
    if (difference.empty() && flag != (hashing ? 1 : 0)) difference = "hashing is " + number(flag);
    return difference;
  }
};

}  // namespace

void Planner::set_buffer(Group& group, Member& member) {
  if (member.is_allocated) return;
  for (const int rank : model_.all_ranks()) {
    Random random = random_of(rank);
    if (random.one_in(2)) set_attribute(rank, group, member, new_buffer(rank, group, member, member.kind));
  }
}

void Planner::set_count(Group& group, Member& member) {
  if (member.is_allocated || member.is_unsure || member.some_work()) return;
  const bool serializes = member.some([](const OnRank& own) { return own.has_serializer; });
  const bool type_too = !member.is_fixed && !serializes && random_.one_in(3);
  if (type_too) member.kind = random_.below(kLargeElements);
  const bool resizeable = random_.one_in(4);
  for (const int rank : model_.all_ranks()) {
    Random random = random_of(rank);
    OnRank& own = member.on[static_cast<std::size_t>(rank)];
    const int count = resizeable || random.one_in(4) ? 0 : 1 + random.below(kMost / 2);
    const int expected = member.is_fixed && count != own.count ? FENIX_ERROR_INVALID_LOGIC_CALL : FENIX_SUCCESS;
    const bool large = random.one_in(2);
    if (type_too) {
      own.buffer = new_buffer(rank, group, member, member.kind);
      set_attribute(rank, group, member, own.buffer);
    }
    add(
        rank,
        [&] {
          return (type_too
                      ? std::string("attr_set(DATATYPE, ") + kinds()[static_cast<std::size_t>(member.kind)].name + "); "
                      : std::string()) +
                 "Fenix_Data_member_attr_set" + (large ? "_c(" : "(") + number(group.id) + ", " + number(member.id) +
                 ", COUNT, " + number(count) + ") = " + number(expected);
        },
        [group = group.id, id = member.id, count, expected, type_too, large, kind = member.kind](Real&) {
          int flag = 0;
          MPI_Datatype type = type_of(kind);
          if (type_too) {
            const auto difference = expect_code(
                "attr_set", Fenix_Data_member_attr_set(group, id, FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE, &type, &flag),
                FENIX_SUCCESS);
            if (!difference.empty()) return difference;
          }
          int value = count;
          MPI_Count large_value = count;
          constexpr int name = FENIX_DATA_MEMBER_ATTRIBUTE_COUNT;
          return expect_code("attr_set",
                             large ? Fenix_Data_member_attr_set_c(group, id, name, &large_value, &flag)
                                   : Fenix_Data_member_attr_set(group, id, name, &value, &flag),
                             expected);
        });
    if (expected == FENIX_SUCCESS) own.count = count;
  }
  if (member.is_fixed) return;
  member.has_new_count = true;
  member.move();
}

void Planner::attribute(Group& group, Member& member) {
  constexpr int names[] = {FENIX_DATA_MEMBER_ATTRIBUTE_COUNT, FENIX_DATA_MEMBER_ATTRIBUTE_SIZE,
                           FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE};
  const int name = names[random_.below(3)];
  for (const int rank : model_.all_ranks()) {
    Random random = random_of(rank);
    const int source = random.below(model_.ranks);
    int count = member.on[static_cast<std::size_t>(source)].count;
    const Snapshot* latest = group.latest(source);
    if (member.is_resizeable() && latest != nullptr && latest->members.count(member.id) != 0)
      count = latest->members.at(member.id).size;
    const AttributeOf attribute{name,
                                random.one_in(2),
                                group.id,
                                member.id,
                                member.kind,
                                source,
                                count,
                                rank,
                                member.on[static_cast<std::size_t>(rank)].buffer};
    add(
        rank, [&] { return attribute.text(); }, attribute);
  }
}

void Planner::query(Group& group) {
  for (const int rank : model_.all_ranks()) {
    Answers answers{group.id, group.stamps(rank), {}, group.policy, group.in_place, group.hashing};
    for (const Member& each : group.members) {
      const OnRank& own = each.on[static_cast<std::size_t>(rank)];
      const MPI_Count bytes = kinds()[static_cast<std::size_t>(each.kind)].bytes;
      const bool is_known = each.is_fixed && !each.is_unsure && !each.is_resizeable();
      if (own.is_here) answers.members.emplace_back(each.id, is_known ? own.count * bytes : 0);
    }
    add(
        rank, [&] { return answers.text(); }, answers);
  }
}

}  // namespace fenix_orders

// SPDX-License-Identifier: BSD-3-Clause
// Attributes of members.
#include "api/c/attributes.hpp"

#include <fenix.h>

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "api/c/groups.hpp"
#include "base/simd/hash.hpp"
#include "rma/mpi_errors.hpp"

using namespace fenix_impl;

namespace {

bool is_changeable(const Group& group, const Member& member) {
  return !member.sizes_agreed() && !has_data_of(group.log(), member);
}

void require_changeable(const Group& group, const Member& member) {
  if (is_changeable(group, member)) return;
  throw Error(FENIX_ERROR_INVALID_LOGIC_CALL,
              named("member_id", member.id()) + " has been stored: its count and datatype are fixed");
}

void check_question(const Group& group, int member_id, int name, const void* value) {
  require_closed(member_of(group, member_id));
  require(value, "attribute_value");
  if (name < FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER || name > FENIX_DATA_MEMBER_ATTRIBUTE_SIZE) {
    throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_NAME, named("attribute_name", name) + " does not exist");
  }
}

// The caller frees it, as in the current Fenix.
MPI_Datatype duplicate_of(const ElementType& type) {
  const QuietTypes quiet;
  MPI_Datatype duplicate = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_dup(type.handle(), &duplicate), "MPI_Type_dup");
  return duplicate;
}

/// Writes an attribute. Count is int, or MPI_Count for the functions with _c. count: elements of the rank in question.
template <class Count>
void write_attribute(const Member& member, int name, std::uint64_t count, void* value) {
  if (name == FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER) {
    *static_cast<const void**>(value) = member.buffer();
  } else if (name == FENIX_DATA_MEMBER_ATTRIBUTE_COUNT) {
    if (count > static_cast<std::uint64_t>(std::numeric_limits<Count>::max())) {
      throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, "the count is too large for an int: use the function with _c");
    }
    *static_cast<Count*>(value) = static_cast<Count>(count);
  } else if (name == FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE) {
    *static_cast<MPI_Datatype*>(value) = duplicate_of(*member.info().type);
  } else {
    using Bytes = std::conditional_t<std::is_same_v<Count, int>, std::size_t, MPI_Count>;
    *static_cast<Bytes*>(value) = static_cast<Bytes>(count * member.info().type->extent());
  }
}

/// Gets an attribute of the member on source_rank, which all ranks ask for at the same time.
template <class Count>
int get_attribute(int group_id, int member_id, int name, void* value, int* flag, int source_rank) {
  return ready_entry([&]() -> int {
    if (flag != nullptr) *flag = 0;
    Group& group = runtime().working_group(group_id);
    const Member* member = group.find(member_id);
    const std::array<std::int32_t, 2> same_on_all{member_id, name};
    const auto size = group.definition().ask_rank(
        source_rank, hash_bytes(std::as_bytes(std::span(same_on_all))),
        member != nullptr ? size_of(group.log(), *member) : 0, [&] {
          check_question(group, member_id, name, value);
          if (source_rank < 0 || source_rank >= group.ranks().size) {
            throw Error(FENIX_ERROR_INVALID_ARGUMENT, named("source_rank", source_rank) + " is not in the group");
          }
        });
    if (name == FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER && source_rank != group.ranks().rank) return FENIX_SUCCESS;
    write_attribute<Count>(*member, name, size, value);
    if (flag != nullptr) *flag = 1;
    return FENIX_SUCCESS;
  });
}

template <class Count>
void set_count_to(const Group& group, Member& member, Count count) {
  if (count < 0) {
    throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, named("attribute_value: count", count) + " is negative");
  }
  check_count(group, member, count);
  set_count(group, member, static_cast<std::uint64_t>(count));
}

void set_type_to(const Group& group, Member& member, MPI_Datatype datatype) {
  try {
    auto type = std::make_shared<const ElementType>(datatype);
    check_type(group, member, *type);
    set_type(member, std::move(type));
  } catch (const Error& error) {
    if (error.code() != FENIX_ERROR_INVALID_ARGUMENT) throw;
    throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, std::string("attribute_value: ") + error.what());
  }
}

template <class Count>
int set_attribute(int group_id, int member_id, int name, void* value, int* flag) {
  return ready_entry([&]() -> int {
    if (flag != nullptr) *flag = 0;
    Group& group = runtime().group(group_id);
    Member& member = closed_member_of(group, member_id);
    if (name != FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER && name != FENIX_DATA_MEMBER_ATTRIBUTE_COUNT &&
        name != FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE) {
      throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_NAME, named("attribute_name", name) + " cannot be set");
    }
    if (name == FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER) {
      member.claim(value);
    } else if (value == nullptr) {
      throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, "attribute_value is NULL");
    } else if (name == FENIX_DATA_MEMBER_ATTRIBUTE_COUNT) {
      set_count_to(group, member, *static_cast<const Count*>(value));
    } else {
      set_type_to(group, member, *static_cast<const MPI_Datatype*>(value));
    }
    if (flag != nullptr) *flag = 1;
    return FENIX_SUCCESS;
  });
}

}  // namespace

namespace fenix_impl {

void check_count(const Group& group, const Member& member, MPI_Count count) {
  if (static_cast<std::uint64_t>(count) == member.own_count()) return;
  require_changeable(group, member);
  if (static_cast<std::uint64_t>(count) > most_elements(*member.info().type)) {
    throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, named("count", count) + ": no memory is that large");
  }
}

void check_type(const Group& group, const Member& member, const ElementType& type) {
  if (type.hash() != member.info().type->hash()) require_changeable(group, member);
}

void set_count(const Group& group, Member& member, std::uint64_t count) {
  if (is_changeable(group, member)) member.redefine_count(count);
}

void set_type(Member& member, std::shared_ptr<const ElementType> type) {
  if (type->hash() != member.info().type->hash()) member.set_type(std::move(type));
}

int get_own_attribute(int group_id, int member_id, int name, void* value, int* flag) {
  return ready_entry([&]() -> int {
    if (flag != nullptr) *flag = 0;
    const Group& group = runtime().group(group_id);
    check_question(group, member_id, name, value);
    const Member& member = member_of(group, member_id);
    write_attribute<int>(member, name, size_of(group.log(), member), value);
    if (flag != nullptr) *flag = 1;
    return FENIX_SUCCESS;
  });
}

}  // namespace fenix_impl

extern "C" {

int Fenix_Data_member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                               int source_rank) {
  return get_attribute<int>(group_id, member_id, attribute_name, attribute_value, flag, source_rank);
}

int fenix_detail_own_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag) {
  return get_own_attribute(group_id, member_id, attribute_name, attribute_value, flag);
}

int Fenix_Data_member_attr_get_c(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                                 int source_rank) {
  return get_attribute<MPI_Count>(group_id, member_id, attribute_name, attribute_value, flag, source_rank);
}

int Fenix_Data_member_attr_set(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag) {
  return set_attribute<int>(group_id, member_id, attribute_name, attribute_value, flag);
}

int Fenix_Data_member_attr_set_c(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag) {
  return set_attribute<MPI_Count>(group_id, member_id, attribute_name, attribute_value, flag);
}

}  // extern "C"

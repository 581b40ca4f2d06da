// SPDX-License-Identifier: BSD-3-Clause
// Members and their attributes.
#include <cxxabi.h>
#include <fenix.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/groups.hpp"
#include "base/hash.hpp"

using namespace fenix_impl;

namespace {

/// Calls a serializer of the application. Whatever it throws becomes an error that the other ranks can be told: an exception
/// of another type would leave the library in the middle of a meeting.
template <class Call>
void call_serializer(Call&& call) {
  try {
    call();
  } catch (const Error&) {
    throw;
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread ends
  } catch (const std::exception& error) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, std::string("the serializer threw: ") + error.what());
  } catch (...) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "the serializer threw an object that is no std::exception");
  }
}

Serializer bound(Fenix_Serialize_file_fn function, void* ctx) {
  if (function == nullptr) return {};
  return [=](std::FILE* file, int direction, void* buffer, std::uint64_t offset, std::uint64_t count) {
    if (offset + count > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT,
                  "the serializer takes int, but the member is larger: use the function with _c");
    }
    call_serializer([&] { function(file, direction, buffer, static_cast<int>(offset), static_cast<int>(count), ctx); });
  };
}

Serializer bound(Fenix_Serialize_file_fn_c function, void* ctx) {
  if (function == nullptr) return {};
  return [=](std::FILE* file, int direction, void* buffer, std::uint64_t offset, std::uint64_t count) {
    call_serializer(
        [&] { function(file, direction, buffer, static_cast<MPI_Count>(offset), static_cast<MPI_Count>(count), ctx); });
  };
}

/// Gets the largest number of elements. With more elements, the number of bytes could wrap around to a small one.
std::uint64_t most_elements(const ElementType& type) { return (std::uint64_t{1} << 60) / type.bytes(); }

/// Arguments that describe a member. check() reports an invalid type, because all ranks learn of the errors found
/// there.
class Description {
 public:
  Description(int member_id, const void* buffer, MPI_Count count, MPI_Datatype datatype)
      : buffer_(buffer), count_(count) {
    info_.id = member_id;
    try {
      info_.type = std::make_shared<const ElementType>(datatype);
    } catch (const MpiError&) {
      throw;
    } catch (const Error& error) {
      type_error_ = error;
    }
  }

  [[nodiscard]] const MemberInfo& info() const { return info_; }
  [[nodiscard]] const void* buffer() const { return buffer_; }
  [[nodiscard]] std::uint64_t count() const { return static_cast<std::uint64_t>(std::max<MPI_Count>(count_, 0)); }

  void check() const {
    if (info_.id < 0 || info_.id >= FENIX_MEMBER_ID_MAX) {
      throw Error(FENIX_ERROR_INVALID_MEMBERID, named("member_id", info_.id) + " is out of range");
    }
    if (count_ < 0) throw Error(FENIX_ERROR_INVALID_ARGUMENT, named("count", count_) + " is negative");
    if (type_error_) throw Error(*type_error_);
    if (count() > most_elements(*info_.type)) {
      throw Error(FENIX_ERROR_NO_MEMORY, named("count", count_) + ": no memory is that large");
    }
  }

 private:
  MemberInfo info_;
  const void* buffer_;
  MPI_Count count_;
  std::optional<Error> type_error_;
};

int create(int group_id, const Description& description, Serializer serializer) {
  Group& group = runtime().working_group(group_id);
  Member& member =
      group.create_member(description.info(), description.buffer(), description.count(), [&] { description.check(); });
  member.set_serializer(std::move(serializer));
  return FENIX_SUCCESS;
}

// ------------------------------------------------------------------------------------------------------------
// attributes

void require_changeable(const Group& group, const Member& member, Fenix_Return_codes code) {
  if (!member.sizes_agreed() && !has_data_of(group.log(), member)) return;
  throw Error(code, named("member_id", member.id()) + " has been stored: its count and datatype are fixed");
}

void check_count(const Group& group, const Member& member, MPI_Count count, Fenix_Return_codes code_if_frozen) {
  if (member.info().resizeable ? count == FENIX_RESIZEABLE : static_cast<std::uint64_t>(count) == member.own_count())
    return;
  require_changeable(group, member, code_if_frozen);
  if (member.info().resizeable) {
    throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, named("member_id", member.id()) + " is FENIX_RESIZEABLE");
  }
  if (static_cast<std::uint64_t>(count) > most_elements(*member.info().type)) {
    throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, named("count", count) + ": no memory is that large");
  }
}

void check_type(const Group& group, const Member& member, const ElementType& type, Fenix_Return_codes code_if_frozen) {
  if (type.hash() != member.info().type->hash()) require_changeable(group, member, code_if_frozen);
}

void set_type(Member& member, std::shared_ptr<const ElementType> type) {
  if (type->hash() != member.info().type->hash()) member.set_type(std::move(type));
}

// Checks everything before anything is changed: an error leaves no partial definition, and all ranks learn of it.
void check_definition(const Group& group, const Description& description) {
  description.check();
  const Member* member = group.find(description.info().id);
  if (member == nullptr) return;
  require_closed(*member);
  check_type(group, *member, *description.info().type, FENIX_ERROR_INVALID_ATTRIBUTE_VALUE);
  check_count(group, *member, static_cast<MPI_Count>(description.count()), FENIX_ERROR_INVALID_ATTRIBUTE_VALUE);
}

int define(int group_id, const Description& description, const std::function<void(Member&)>& set_serializer) {
  Group& group = runtime().working_group(group_id);
  Member* member = group.define_member(description.info(), description.buffer(), description.count(),
                                       [&] { check_definition(group, description); });
  if (member == nullptr) {
    member = group.find(description.info().id);
    set_type(*member, description.info().type);
    member->set_count(description.count());
    member->set_buffer(description.buffer());
  }
  set_serializer(*member);
  return FENIX_SUCCESS;
}

void keep_serializer(Member&) {}

/// Gets an attribute. Count is int, or MPI_Count for the functions with _c.
template <class Count>
int get_attribute(int group_id, int member_id, int name, void* value, int* flag, int source_rank) {
  return ready_entry([&]() -> int {
    if (flag != nullptr) *flag = 0;
    Group& group = runtime().working_group(group_id);
    const Member* member = group.find(member_id);
    const std::array<std::int32_t, 2> same_on_all{member_id, name};
    const auto size = group.ask_rank(
        source_rank, hash_bytes(std::as_bytes(std::span(same_on_all))),
        member != nullptr ? size_of(group.log(), *member) : 0, [&] {
          require_closed(member_of(group, member_id));
          require(value, "attribute_value");
          if (name < FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER || name > FENIX_DATA_MEMBER_ATTRIBUTE_SIZE) {
            throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_NAME, named("attribute_name", name) + " does not exist");
          }
          if (source_rank < 0 || source_rank >= group.ranks().size) {
            throw Error(FENIX_ERROR_INVALID_ARGUMENT, named("source_rank", source_rank) + " is not in the group");
          }
        });
    if (name == FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER) {
      if (source_rank != group.ranks().rank) return FENIX_SUCCESS;
      *static_cast<const void**>(value) = member->buffer();
    } else if (name == FENIX_DATA_MEMBER_ATTRIBUTE_COUNT) {
      if (size > static_cast<std::uint64_t>(std::numeric_limits<Count>::max())) {
        throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, "the count is too large for an int: use the function with _c");
      }
      *static_cast<Count*>(value) = static_cast<Count>(size);
    } else if (name == FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE) {
      *static_cast<MPI_Datatype*>(value) = member->info().type->handle();
    } else {
      *static_cast<Count*>(value) = static_cast<Count>(member->element_bytes());
    }
    if (flag != nullptr) *flag = 1;
    return FENIX_SUCCESS;
  });
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
    if (value == nullptr) throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, "attribute_value is NULL");
    if (name == FENIX_DATA_MEMBER_ATTRIBUTE_BUFFER) {
      member.set_buffer(value);
    } else if (name == FENIX_DATA_MEMBER_ATTRIBUTE_COUNT) {
      const Count count = *static_cast<const Count*>(value);
      if (count < 0)
        throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, named("attribute_value: count", count) + " is negative");
      check_count(group, member, count, FENIX_ERROR_INVALID_LOGIC_CALL);
      member.set_count(static_cast<std::uint64_t>(count));
    } else {
      try {
        auto type = std::make_shared<const ElementType>(*static_cast<const MPI_Datatype*>(value));
        check_type(group, member, *type, FENIX_ERROR_INVALID_LOGIC_CALL);
        set_type(member, std::move(type));
      } catch (const Error& error) {
        if (error.code() != FENIX_ERROR_INVALID_ARGUMENT) throw;
        throw Error(FENIX_ERROR_INVALID_ATTRIBUTE_VALUE, std::string("attribute_value: ") + error.what());
      }
    }
    if (flag != nullptr) *flag = 1;
    return FENIX_SUCCESS;
  });
}

}  // namespace

extern "C" {

int Fenix_Data_member_create_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype) {
  return Fenix_Data_member_fcreate_c(group_id, member_id, buffer, count, datatype, nullptr, nullptr);
}

int Fenix_Data_member_create(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype) {
  return Fenix_Data_member_fcreate_c(group_id, member_id, buffer, count, datatype, nullptr, nullptr);
}

int Fenix_Data_member_fcreate(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void* ctx) {
  return ready_entry([&]() -> int {
    return create(group_id, {member_id, buffer, count, datatype}, bound(serializer, ctx));
  });
}

int Fenix_Data_member_fcreate_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                                Fenix_Serialize_file_fn_c serializer, void* ctx) {
  return ready_entry([&]() -> int {
    return create(group_id, {member_id, buffer, count, datatype}, bound(serializer, ctx));
  });
}

int Fenix_Data_member_define(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype) {
  return Fenix_Data_member_define_c(group_id, member_id, buffer, count, datatype);
}

int Fenix_Data_member_define_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype) {
  return ready_entry([&]() -> int { return define(group_id, {member_id, buffer, count, datatype}, keep_serializer); });
}

int Fenix_Data_member_fdefine(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void* ctx) {
  return ready_entry([&]() -> int {
    return define(group_id, {member_id, buffer, count, datatype},
                  [&](Member& member) { member.set_serializer(bound(serializer, ctx)); });
  });
}

int Fenix_Data_member_fdefine_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                                Fenix_Serialize_file_fn_c serializer, void* ctx) {
  return ready_entry([&]() -> int {
    return define(group_id, {member_id, buffer, count, datatype},
                  [&](Member& member) { member.set_serializer(bound(serializer, ctx)); });
  });
}

int Fenix_Data_member_created(int group_id, int member_id) {
  return ready_entry([&]() -> int {
    return runtime().has_group(group_id) && runtime().group(group_id).find(member_id) != nullptr ? 1 : 0;
  });
}

int Fenix_Data_member_delete(int group_id, int member_id) {
  return ready_entry([&]() -> int {
    Group& group = runtime().attached_group(group_id);
    group.delete_member(closed_member_of(group, member_id));
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_footprint(int group_id, int member_id, MPI_Count* bytes) {
  return ready_entry([&]() -> int {
    const Member& member = member_of(runtime().group(group_id), member_id);
    require(bytes, "bytes");
    *bytes = static_cast<MPI_Count>(member.memory.footprint());
    return FENIX_SUCCESS;
  });
}

int Fenix_Data_member_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag,
                               int source_rank) {
  return get_attribute<int>(group_id, member_id, attribute_name, attribute_value, flag, source_rank);
}

int fenix_detail_own_attr_get(int group_id, int member_id, int attribute_name, void* attribute_value, int* flag) {
  int rank = 0;
  const int code = ready_entry([&]() -> int {
    // The group of all ranks may not exist yet, because its first collective call creates it.
    if (group_id == FENIX_DATA_GROUP_WORLD_ID && !runtime().has_group(group_id)) {
      MPI_Comm_rank(runtime().process().resilient(), &rank);
    } else {
      rank = runtime().group(group_id).ranks().rank;
    }
    return FENIX_SUCCESS;
  });
  if (code != FENIX_SUCCESS) return code;
  return get_attribute<int>(group_id, member_id, attribute_name, attribute_value, flag, rank);
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

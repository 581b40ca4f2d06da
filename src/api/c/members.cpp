// SPDX-License-Identifier: BSD-3-Clause
// Members: creation, definition, deletion.
#include <cxxabi.h>
#include <fenix.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/c/attributes.hpp"
#include "api/c/groups.hpp"

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

  /// Says that the library is to have the memory for the buffer.
  void set_allocated() { info_.allocated = true; }

  void check() const {
    if (info_.id == FENIX_DATA_MEMBER_ALL) {
      throw Error(FENIX_ERROR_INVALID_MEMBERID, named("member_id", info_.id) + " is FENIX_DATA_MEMBER_ALL");
    }
    if (count_ < 0) throw Error(FENIX_ERROR_INVALID_ARGUMENT, named("count", count_) + " is negative");
    if (type_error_) throw Error(*type_error_);
    if (count() > most_elements(*info_.type)) {
      throw Error(FENIX_ERROR_NO_MEMORY, named("count", count_) + ": no memory is that large");
    }
    if (info_.allocated && !info_.type->buffer_bytes(count())) {
      throw Error(FENIX_ERROR_INVALID_ARGUMENT, "datatype: elements begin before the address of the buffer");
    }
  }

 private:
  MemberInfo info_;
  const void* buffer_;
  MPI_Count count_;
  std::optional<Error> type_error_;
};

// Checks everything before anything is changed: an error leaves no partial definition, and all ranks learn of it.
void check_definition(const Group& group, const Description& description) {
  description.check();
  const Member* member = group.find(description.info().id);
  if (member == nullptr) return;
  require_closed(*member);
  check_type(group, *member, *description.info().type);
  check_count(group, *member, static_cast<MPI_Count>(description.count()));
}

/// Sets what a definition says about a member that there is. Local.
void redefine(const Group& group, Member& member, const Description& description) {
  set_type(member, description.info().type);
  set_count(group, member, description.count());
  member.claim(description.buffer());
}

// After a repair with replacements, all ranks know the members that there were. Programs for the current Fenix, where these
// functions are local, then call them on some ranks only.
int create(int group_id, const Description& description, Serializer serializer) {
  Group& group = runtime().working_group(group_id);
  Member* member = group.find(description.info().id);
  if (member != nullptr && member->has_rejoined()) {
    if (member->is_claimed()) throw Error(FENIX_ERROR_MEMBER_EXISTS, name_of(*member) + " exists in the group");
    check_definition(group, description);
    redefine(group, *member, description);
  } else {
    member = &group.definition().create_member(description.info(), description.buffer(), description.count(),
                                               [&] { description.check(); });
  }
  member->set_serializer(std::move(serializer));
  return FENIX_SUCCESS;
}

// The application may have the buffer already.
void check_allocation(const Group& group, const Description& description) {
  check_definition(group, description);
  const Member* member = group.find(description.info().id);
  if (member == nullptr) return;
  if (!member->info().allocated) {
    throw Error(FENIX_ERROR_MEMBER_EXISTS, name_of(*member) + " exists in the group, with a buffer of the application");
  }
}

int allocate(int group_id, Description description, void* baseptr) {
  description.set_allocated();
  Group& group = runtime().working_group(group_id);
  Member* member = group.find(description.info().id);
  // A buffer that there is stays as it is unless all ranks have the memory that they lack.
  Region grown;
  const auto check = [&] {
    require(baseptr, "baseptr");
    check_allocation(group, description);
    if (member != nullptr) grown = group.members().buffer_for(*member, *description.info().type, description.count());
  };
  bool is_new = false;
  if (member != nullptr && member->has_rejoined()) {
    check();
  } else {
    is_new = group.definition().define_member(description.info(), nullptr, description.count(), check) != nullptr;
  }
  member = group.find(description.info().id);
  if (!is_new) {
    redefine(group, *member, description);
    group.members().put_buffer(*member, std::move(grown));
  }
  member->claim(member->allocated.data());
  member->set_serializer({});
  void* const base = member->allocated.data();
  std::memcpy(baseptr, &base, sizeof base);
  if (!is_new && !member->has_rejoined()) group.take_in_definition(*member);
  return FENIX_SUCCESS;
}

int define(int group_id, const Description& description, Serializer serializer) {
  Group& group = runtime().working_group(group_id);
  Member* known = group.find(description.info().id);
  const bool alone = known != nullptr && known->has_rejoined();
  Member* created = nullptr;
  if (alone) {
    check_definition(group, description);
  } else {
    created = group.definition().define_member(description.info(), description.buffer(), description.count(),
                                               [&] { check_definition(group, description); });
  }
  Member& member = created != nullptr ? *created : *known;
  if (created == nullptr) redefine(group, member, description);
  member.set_serializer(std::move(serializer));
  if (created == nullptr && !alone) group.take_in_definition(member);
  return FENIX_SUCCESS;
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
  return Fenix_Data_member_fdefine_c(group_id, member_id, buffer, count, datatype, nullptr, nullptr);
}

int Fenix_Data_member_define_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype) {
  return Fenix_Data_member_fdefine_c(group_id, member_id, buffer, count, datatype, nullptr, nullptr);
}

int Fenix_Data_member_fdefine(int group_id, int member_id, void* buffer, int count, MPI_Datatype datatype,
                              Fenix_Serialize_file_fn serializer, void* ctx) {
  return ready_entry([&]() -> int {
    return define(group_id, {member_id, buffer, count, datatype}, bound(serializer, ctx));
  });
}

int Fenix_Data_member_fdefine_c(int group_id, int member_id, void* buffer, MPI_Count count, MPI_Datatype datatype,
                                Fenix_Serialize_file_fn_c serializer, void* ctx) {
  return ready_entry([&]() -> int {
    return define(group_id, {member_id, buffer, count, datatype}, bound(serializer, ctx));
  });
}

int Fenix_Data_member_allocate(int group_id, int member_id, int count, MPI_Datatype datatype, void* baseptr) {
  return ready_entry([&]() -> int { return allocate(group_id, {member_id, nullptr, count, datatype}, baseptr); });
}

int Fenix_Data_member_allocate_c(int group_id, int member_id, MPI_Count count, MPI_Datatype datatype, void* baseptr) {
  return ready_entry([&]() -> int { return allocate(group_id, {member_id, nullptr, count, datatype}, baseptr); });
}

int Fenix_Data_member_created(int group_id, int member_id) {
  return ready_entry([&]() -> int {
    if (!runtime().has_group(group_id)) return 0;
    const Group& group = runtime().group(group_id);
    const Member* member = group.find(member_id);
    return member != nullptr && is_known_here(group.parameters(), *member) ? 1 : 0;
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

}  // extern "C"

// SPDX-License-Identifier: BSD-3-Clause
// Members and their attributes.
#include <limits>

#include "rows.hpp"

namespace bad_input {
namespace {

constexpr int kBad = FENIX_ERROR_INVALID_ARGUMENT;

struct Creation {
  int id = kNew;
  MPI_Count count = kNewCount;
  MPI_Datatype datatype = MPI_DOUBLE;
};

using Create = std::function<int(const Creation&)>;

enum class Kind { create, define };

// An error makes no member; what an error was not is told as success.
Outcome refused(const Create& create, const Creation& with) {
  Outcome outcome = create(with);
  if (Fenix_Data_member_created(kGroup, kNew) != 0) outcome = {FENIX_SUCCESS};
  return outcome;
}

MPI_Datatype made(int (*make)(MPI_Datatype*)) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  make(&type);
  return type;
}

Outcome with_type(bool wrong, int (*make)(MPI_Datatype*), const Create& create) {
  if (!wrong) return refused(create, {});
  MPI_Datatype type = made(make);
  Outcome outcome = refused(create, {.datatype = type});
  MPI_Type_free(&type);
  return outcome;
}

int uncommitted(MPI_Datatype* type) { return MPI_Type_contiguous(2, MPI_INT, type); }

int without_bytes(MPI_Datatype* type) {
  const int code = MPI_Type_contiguous(0, MPI_INT, type);
  return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
}

int before_its_address(MPI_Datatype* type) {
  const int one = 1;
  const MPI_Aint place = -8;
  const int code = MPI_Type_create_hindexed(1, &one, &place, MPI_DOUBLE, type);
  return code == MPI_SUCCESS ? MPI_Type_commit(type) : code;
}

void add_creation_rows(Rows& rows, const char* function, const Create& create, Kind kind, MPI_Count too_many) {
  const auto add = [&](const char* argument, int code, const char* named, const Creation& wrong) {
    rows.push_back({function, argument, code, named, Told::all,
                    [=](bool is_wrong) { return refused(create, is_wrong ? wrong : Creation{}); }});
  };
  const auto differs = [&](const char* argument, const std::function<Creation()>& creation) {
    rows.push_back({function, argument, FENIX_ERROR_MISMATCH, "different arguments", Told::differs,
                    [=](bool) { return refused(create, creation()); }});
  };
  add("member_id FENIX_DATA_MEMBER_ALL", FENIX_ERROR_INVALID_MEMBERID, "member_id -1", {.id = FENIX_DATA_MEMBER_ALL});
  if (kind == Kind::create) add("member_id that is taken", FENIX_ERROR_MEMBER_EXISTS, "member_id 5", {.id = kMember});
  add("count negative", kBad, "count -2", {.count = -2});
  add("count beyond the memory that there is", FENIX_ERROR_NO_MEMORY, "memory", {.count = too_many});
  add("datatype MPI_DATATYPE_NULL", kBad, "datatype", {.datatype = MPI_DATATYPE_NULL});
  rows.push_back({function, "datatype not committed", kBad, "datatype", Told::all,
                  [=](bool wrong) { return with_type(wrong, uncommitted, create); }});
  rows.push_back({function, "datatype without bytes", kBad, "datatype", Told::all,
                  [=](bool wrong) { return with_type(wrong, without_bytes, create); }});
  differs("member_id that differs between ranks", [] { return Creation{.id = first_of_two_kinds() ? 8 : kNew}; });
  differs("datatype that differs between ranks",
          [] { return Creation{.datatype = first_of_two_kinds() ? MPI_INT : MPI_DOUBLE}; });
}

using Allocate = std::function<int(const Creation&, void* baseptr)>;

void add_allocation_rows(Rows& rows, const char* function, const Allocate& allocate) {
  static void* base = nullptr;
  const Create create = [=](const Creation& with) { return allocate(with, &base); };
  rows.push_back({function, "baseptr NULL", kBad, "baseptr", Told::all, [=](bool wrong) {
                    return refused([&](const Creation& with) { return allocate(with, wrong ? nullptr : &base); }, {});
                  }});
  rows.push_back({function, "datatype with bytes before its address", kBad, "datatype", Told::all,
                  [=](bool wrong) { return with_type(wrong, before_its_address, create); }});
  rows.push_back({function, "count 0 on all ranks", kBad, "count", Told::differs,
                  [=](bool) { return refused(create, {.count = 0}); }});
  rows.push_back({function, "member with a buffer of the application", FENIX_ERROR_MEMBER_EXISTS, "member_id 5",
                  Told::differs, [=](bool) -> Outcome { return allocate({.id = kMember, .count = kCount}, &base); }});
}

void add_definition_rows(Rows& rows, const char* function, const Create& define) {
  constexpr int kFixed = FENIX_ERROR_INVALID_LOGIC_CALL;
  const auto add = [&](const char* argument, const char* named, const Creation& right, const Creation& wrong) {
    rows.push_back({function, argument, kFixed, named, Told::all,
                    [=](bool is_wrong) -> Outcome { return define(is_wrong ? wrong : right); }});
  };
  const Creation stored{.id = kMember, .count = kCount};
  add("count of a member that has been stored", "member_id 5", stored, {.id = kMember, .count = kCount - 1});
  add("datatype of a member that has been stored", "member_id 5", stored,
      {.id = kMember, .count = kCount, .datatype = MPI_INT64_T});
  rows.push_back(
      {function, "member that some ranks have deleted", FENIX_ERROR_MISMATCH, "member_id 7", Told::differs, [=](bool) {
         return with_new_member(buffer, [&]() -> Outcome {
           if (first_of_two_kinds()) (void)Fenix_Data_member_delete(kGroup, kNew);
           return define({});
         });
       }});
}

using Set = int (*)(int, int, int, void*, int*);
using Get = int (*)(int, int, int, void*, int*, int);

template <class Count>
void add_get_rows(Rows& rows, const char* function, Get get) {
  static Count value = 0;
  constexpr int kCountName = FENIX_DATA_MEMBER_ATTRIBUTE_COUNT;
  const auto add = [&](const char* argument, int code, const char* named, Told told, int name, void* to, int source) {
    rows.push_back({function, argument, code, named, told, [=](bool wrong) -> Outcome {
                      return wrong ? get(kGroup, kMember, name, to, nullptr, source)
                                   : get(kGroup, kMember, kCountName, &value, nullptr, 0);
                    }});
  };
  add("attribute_name that does not exist", FENIX_ERROR_INVALID_ATTRIBUTE_NAME, "attribute_name 4711", Told::all, 4711,
      &value, 0);
  add("attribute_value NULL", kBad, "attribute_value", Told::all, kCountName, nullptr, 0);
  add("source_rank negative", kBad, "source_rank -1", Told::all, kCountName, &value, -1);
  add("source_rank beyond the group", kBad, "source_rank 3", Told::all, kCountName, &value, 3);
  rows.push_back({function, "member_id that differs between ranks", FENIX_ERROR_MISMATCH, "different arguments",
                  Told::differs, [=](bool) -> Outcome {
                    return get(kGroup, first_of_two_kinds() ? kGrowing : kMember, kCountName, &value, nullptr, 0);
                  }});
  rows.push_back({function, "attribute_name that differs between ranks", FENIX_ERROR_MISMATCH, "different arguments",
                  Told::differs, [=](bool) -> Outcome {
                    const int name = first_of_two_kinds() ? FENIX_DATA_MEMBER_ATTRIBUTE_SIZE : kCountName;
                    return get(kGroup, kMember, name, &value, nullptr, 0);
                  }});
}

template <class Count>
void add_set_rows(Rows& rows, const char* function, Set set) {
  static Count minus_one = -1;
  static Count seven = 7;
  static MPI_Datatype null = MPI_DATATYPE_NULL;
  static MPI_Datatype other = MPI_INT;
  constexpr int kCountName = FENIX_DATA_MEMBER_ATTRIBUTE_COUNT;
  constexpr int kType = FENIX_DATA_MEMBER_ATTRIBUTE_DATATYPE;
  constexpr int kNoName = FENIX_ERROR_INVALID_ATTRIBUTE_NAME;
  constexpr int kNoValue = FENIX_ERROR_INVALID_ATTRIBUTE_VALUE;
  constexpr int kFrozen = FENIX_ERROR_INVALID_LOGIC_CALL;
  const auto add = [&](const char* argument, int code, const char* named, int member, int name, void* value) {
    rows.push_back({function, argument, code, named, Told::here, [=](bool) {
                      int flag = 7;
                      Outcome outcome = set(kGroup, member, name, value, &flag);
                      if (flag != 0) outcome = {FENIX_SUCCESS};
                      return outcome;
                    }});
  };
  add("attribute_name that does not exist", kNoName, "attribute_name 4711", kMember, 4711, &seven);
  add("attribute_name FENIX_DATA_MEMBER_ATTRIBUTE_SIZE", kNoName, "attribute_name", kMember,
      FENIX_DATA_MEMBER_ATTRIBUTE_SIZE, &seven);
  add("attribute_value NULL for COUNT", kNoValue, "attribute_value", kGrowing, kCountName, nullptr);
  add("attribute_value NULL for DATATYPE", kNoValue, "attribute_value", kGrowing, kType, nullptr);
  add("COUNT negative", kNoValue, "count -1", kGrowing, kCountName, &minus_one);
  add("COUNT of a member that has been stored", kFrozen, "member_id 5", kMember, kCountName, &seven);
  add("DATATYPE MPI_DATATYPE_NULL", kNoValue, "datatype", kGrowing, kType, &null);
  add("DATATYPE of a member that has been stored", kFrozen, "member_id 5", kMember, kType, &other);
}

}  // namespace

void add_member_rows(Rows& rows) {
  constexpr MPI_Count kLarge = std::numeric_limits<int>::max();
  // Its bytes are 8 when counted with 64 bits.
  constexpr MPI_Count kLarger = (MPI_Count{1} << 61) + 1;
  const Create create = [](const Creation& with) {
    return Fenix_Data_member_create(kGroup, with.id, buffer, static_cast<int>(with.count), with.datatype);
  };
  const Create create_c = [](const Creation& with) {
    return Fenix_Data_member_create_c(kGroup, with.id, buffer, with.count, with.datatype);
  };
  const Create fcreate = [](const Creation& with) {
    return Fenix_Data_member_fcreate(kGroup, with.id, buffer, static_cast<int>(with.count), with.datatype, nullptr,
                                     nullptr);
  };
  const Create fcreate_c = [](const Creation& with) {
    return Fenix_Data_member_fcreate_c(kGroup, with.id, buffer, with.count, with.datatype, nullptr, nullptr);
  };
  const Create define = [](const Creation& with) {
    return Fenix_Data_member_define(kGroup, with.id, buffer, static_cast<int>(with.count), with.datatype);
  };
  const Create define_c = [](const Creation& with) {
    return Fenix_Data_member_define_c(kGroup, with.id, buffer, with.count, with.datatype);
  };
  const Create fdefine = [](const Creation& with) {
    return Fenix_Data_member_fdefine(kGroup, with.id, buffer, static_cast<int>(with.count), with.datatype, nullptr,
                                     nullptr);
  };
  const Create fdefine_c = [](const Creation& with) {
    return Fenix_Data_member_fdefine_c(kGroup, with.id, buffer, with.count, with.datatype, nullptr, nullptr);
  };
  add_creation_rows(rows, "Fenix_Data_member_create", create, Kind::create, kLarge);
  add_creation_rows(rows, "Fenix_Data_member_create_c", create_c, Kind::create, kLarger);
  add_creation_rows(rows, "Fenix_Data_member_fcreate", fcreate, Kind::create, kLarge);
  add_creation_rows(rows, "Fenix_Data_member_fcreate_c", fcreate_c, Kind::create, kLarger);
  add_creation_rows(rows, "Fenix_Data_member_define", define, Kind::define, kLarge);
  add_creation_rows(rows, "Fenix_Data_member_define_c", define_c, Kind::define, kLarger);
  add_creation_rows(rows, "Fenix_Data_member_fdefine", fdefine, Kind::define, kLarge);
  add_creation_rows(rows, "Fenix_Data_member_fdefine_c", fdefine_c, Kind::define, kLarger);
  static void* base = nullptr;
  const auto allocate = [](const Creation& with, void* to) {
    return Fenix_Data_member_allocate(kGroup, with.id, static_cast<int>(with.count), with.datatype, to);
  };
  const auto allocate_c = [](const Creation& with, void* to) {
    return Fenix_Data_member_allocate_c(kGroup, with.id, with.count, with.datatype, to);
  };
  add_creation_rows(
      rows, "Fenix_Data_member_allocate", [=](const Creation& with) { return allocate(with, &base); }, Kind::define,
      kLarge);
  add_creation_rows(
      rows, "Fenix_Data_member_allocate_c", [=](const Creation& with) { return allocate_c(with, &base); }, Kind::define,
      kLarger);
  add_allocation_rows(rows, "Fenix_Data_member_allocate", allocate);
  add_allocation_rows(rows, "Fenix_Data_member_allocate_c", allocate_c);
  add_definition_rows(rows, "Fenix_Data_member_define", define);
  add_definition_rows(rows, "Fenix_Data_member_define_c", define_c);
  add_definition_rows(rows, "Fenix_Data_member_fdefine", fdefine);
  add_definition_rows(rows, "Fenix_Data_member_fdefine_c", fdefine_c);
  rows.push_back({"Fenix_Data_member_footprint", "bytes NULL", kBad, "bytes", Told::here,
                  [](bool) { return Fenix_Data_member_footprint(kGroup, kMember, nullptr); }});
}

void add_attribute_rows(Rows& rows) {
  add_get_rows<int>(rows, "Fenix_Data_member_attr_get", Fenix_Data_member_attr_get);
  add_get_rows<MPI_Count>(rows, "Fenix_Data_member_attr_get_c", Fenix_Data_member_attr_get_c);
  add_set_rows<int>(rows, "Fenix_Data_member_attr_set", Fenix_Data_member_attr_set);
  add_set_rows<MPI_Count>(rows, "Fenix_Data_member_attr_set_c", Fenix_Data_member_attr_set_c);
}

}  // namespace bad_input

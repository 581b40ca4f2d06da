// SPDX-License-Identifier: BSD-3-Clause
//
// C++, additions of this library: a handle that owns a group, and members whose elements are in a std::span (C++20).
#ifndef FENIX_CXX_GROUP_HPP
#define FENIX_CXX_GROUP_HPP

#include <exception>
#include <type_traits>

#include "data.hpp"
#include "process.hpp"

#if __cplusplus >= 202002L
#include <complex>
#include <cstddef>
#include <span>
#endif

namespace fenix::data {

/// Owner of a group. The constructor creates the group, or re-creates it after a failure. The destructor deletes the
/// group at the end of the scope, with two exceptions. It does nothing if an exception leaves the scope, as after a
/// failure, because the recovery needs the stored data. It does nothing after Fenix_Finalize. Therefore the handle
/// belongs inside the try block, and is constructed anew in each iteration.
class Group {
 public:
  /// Calls Fenix_Data_group_create. Collective. Throws RuntimeException.
  /// @param id id of the group
  /// @param args the other arguments of Fenix_Data_group_create; flag may be null: see data_lost()
  explicit Group(int id, GroupCreateArgs args = {});
  /// Takes over the group of another handle.
  /// @param other owns nothing afterwards
  Group(Group&& other) noexcept;
  Group& operator=(Group&&) = delete;
  /// Calls Fenix_Data_group_delete, with the exceptions described for the class.
  ~Group() noexcept(false);

  /// Gets the id of the group.
  /// @return the id
  [[nodiscard]] int id() const { return id_; }
  /// Tells whether snapshots existed and were lost.
  /// @return true if Fenix_Data_group_create has set flag to FENIX_ERROR_NODATA_FOUND
  [[nodiscard]] bool data_lost() const { return data_lost_; }
  /// Gives the group away: it is not deleted with this handle.
  /// @return the id of the group
  int release() noexcept;

 private:
  int id_;
  bool owned_ = true;
  bool data_lost_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

#if __cplusplus >= 202002L

namespace detail {
template <class T>
inline constexpr bool unknown_type = false;
}  // namespace detail

/// Gets the MPI datatype of a C++ type: an arithmetic type, std::complex of float, double or long double, or std::byte.
/// Other types do not compile.
/// @tparam T the C++ type
/// @return a predefined datatype, which is not to be freed
template <class T>
MPI_Datatype datatype_of() {
  using Type = std::remove_cv_t<T>;
  // clang-format off
  if constexpr (std::is_same_v<Type, bool>) return MPI_CXX_BOOL;
  else if constexpr (std::is_same_v<Type, char>) return MPI_CHAR;
  else if constexpr (std::is_same_v<Type, signed char>) return MPI_SIGNED_CHAR;
  else if constexpr (std::is_same_v<Type, unsigned char>) return MPI_UNSIGNED_CHAR;
  else if constexpr (std::is_same_v<Type, std::byte>) return MPI_BYTE;
  else if constexpr (std::is_same_v<Type, wchar_t>) return MPI_WCHAR;
  else if constexpr (std::is_same_v<Type, short>) return MPI_SHORT;
  else if constexpr (std::is_same_v<Type, unsigned short>) return MPI_UNSIGNED_SHORT;
  else if constexpr (std::is_same_v<Type, int>) return MPI_INT;
  else if constexpr (std::is_same_v<Type, unsigned>) return MPI_UNSIGNED;
  else if constexpr (std::is_same_v<Type, long>) return MPI_LONG;
  else if constexpr (std::is_same_v<Type, unsigned long>) return MPI_UNSIGNED_LONG;
  else if constexpr (std::is_same_v<Type, long long>) return MPI_LONG_LONG;
  else if constexpr (std::is_same_v<Type, unsigned long long>) return MPI_UNSIGNED_LONG_LONG;
  else if constexpr (std::is_same_v<Type, float>) return MPI_FLOAT;
  else if constexpr (std::is_same_v<Type, double>) return MPI_DOUBLE;
  else if constexpr (std::is_same_v<Type, long double>) return MPI_LONG_DOUBLE;
  else if constexpr (std::is_same_v<Type, std::complex<float>>) return MPI_CXX_FLOAT_COMPLEX;
  else if constexpr (std::is_same_v<Type, std::complex<double>>) return MPI_CXX_DOUBLE_COMPLEX;
  else if constexpr (std::is_same_v<Type, std::complex<long double>>) return MPI_CXX_LONG_DOUBLE_COMPLEX;
  else static_assert(detail::unknown_type<T>, "this type has no MPI datatype: give buffer, count and datatype");
  // clang-format on
}

/// Calls member_create. The elements of the span are the source buffer.
/// @param group_id, member_id as for member_create
/// @param elements buffer, count and datatype; owned by the caller, as the buffer of member_create
/// @return the code of member_create
template <class T, std::size_t N>
int member_create(int group_id, int member_id, std::span<T, N> elements) {
  return member_create(group_id, member_id, elements.data(), static_cast<MPI_Count>(elements.size()), datatype_of<T>());
}

/// Calls member_define. The elements of the span are the source buffer. A program calls it at its start and after each
/// failure.
/// @param group_id, member_id as for member_define
/// @param elements buffer, count and datatype; owned by the caller, as the buffer of member_define
/// @return the code of member_define
template <class T, std::size_t N>
int member_define(int group_id, int member_id, std::span<T, N> elements) {
  return member_define(group_id, member_id, elements.data(), static_cast<MPI_Count>(elements.size()), datatype_of<T>());
}

/// Calls member_allocate. The elements are not constructed: T is a type of numbers.
/// @param group_id, member_id as for member_allocate
/// @param count elements, ≥ 0
/// @param elements gets the buffer; owned by the library, as that of member_allocate
/// @return the code of member_allocate
template <class T>
int member_allocate(int group_id, int member_id, MPI_Count count, std::span<T>& elements) {
  T* base = nullptr;
  const int code = member_allocate(group_id, member_id, count, datatype_of<T>(), &base);
  elements = std::span<T>(base, base == nullptr ? 0 : static_cast<std::size_t>(count));
  return code;
}

/// Calls member_restore, into a span. The datatype is not compared.
/// @param group_id, member_id, time_stamp, data_found as for member_restore
/// @param target room for the last element found
/// @return the code of member_restore
template <class T, std::size_t N>
int member_restore(int group_id, int member_id, std::span<T, N> target, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                   DataSubset& data_found = SUBSET_IGNORE) {
  return member_restore(group_id, member_id, target.data(), static_cast<MPI_Count>(target.size()), time_stamp,
                        data_found);
}

/// Calls member_load, into a span. The datatype is not compared.
/// @param group_id, member_id, time_stamp, data_found as for member_load
/// @param target room for the last element found
/// @return the code of member_load
template <class T, std::size_t N>
int member_load(int group_id, int member_id, std::span<T, N> target, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                DataSubset& data_found = SUBSET_IGNORE) {
  return member_load(group_id, member_id, target.data(), static_cast<MPI_Count>(target.size()), time_stamp, data_found);
}

#endif

}  // namespace fenix::data

#endif

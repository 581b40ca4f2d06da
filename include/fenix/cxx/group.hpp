// SPDX-License-Identifier: BSD-3-Clause
//
// C++, additions of this library: a handle that owns a group, and members whose elements are those of a std::span (C++20).
#ifndef FENIX_CXX_GROUP_HPP
#define FENIX_CXX_GROUP_HPP

#include <exception>
#include <type_traits>

#include <fenix/cxx/data.hpp>
#include <fenix/cxx/process.hpp>

#if __cplusplus >= 202002L
#include <complex>
#include <cstddef>
#include <span>
#endif

namespace fenix::data {

/// Owns a group: created, or taken up again after a failure, by the constructor; deleted at the end of the scope. But not if
/// an exception leaves the scope, as it does after a failure: what is stored is then what the recovery needs. Nor after
/// Fenix_Finalize. So the handle belongs inside the try block, and is made anew in each turn.
class Group {
 public:
  /// Fenix_Data_group_create; collective. Throws Error. args.flag may be null: see data_lost().
  explicit Group(int id, GroupCreateArgs args = {});
  Group(Group&& other) noexcept;
  Group& operator=(Group&&) = delete;
  /// Fenix_Data_group_delete, as said above.
  ~Group() noexcept(false);

  [[nodiscard]] int id() const { return id_; }
  /// Whether snapshots existed and were lost: the FENIX_ERROR_NODATA_FOUND of Fenix_Data_group_create.
  [[nodiscard]] bool data_lost() const { return data_lost_; }
  /// The group outlives this handle. Returns its id.
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

/// The MPI datatype of an arithmetic type, of std::complex<float or double or long double>, or of std::byte. Others do not
/// compile.
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

/// member_create: the elements of the span are the source buffer.
template <class T, std::size_t N>
int member_create(int group_id, int member_id, std::span<T, N> elements) {
  return member_create(group_id, member_id, elements.data(), static_cast<MPI_Count>(elements.size()), datatype_of<T>());
}

/// member_define: the elements of the span are the source buffer. What a program calls at its start and after each failure.
template <class T, std::size_t N>
int member_define(int group_id, int member_id, std::span<T, N> elements) {
  return member_define(group_id, member_id, elements.data(), static_cast<MPI_Count>(elements.size()), datatype_of<T>());
}

/// member_restore into the span, which has to have room for the last element found. The datatype is not compared.
template <class T, std::size_t N>
int member_restore(int group_id, int member_id, std::span<T, N> target, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                   DataSubset& data_found = SUBSET_IGNORE) {
  return member_restore(group_id, member_id, target.data(), static_cast<MPI_Count>(target.size()), time_stamp,
                        data_found);
}

/// member_load into the span.
template <class T, std::size_t N>
int member_load(int group_id, int member_id, std::span<T, N> target, int time_stamp = FENIX_DATA_SNAPSHOT_ALL,
                DataSubset& data_found = SUBSET_IGNORE) {
  return member_load(group_id, member_id, target.data(), static_cast<MPI_Count>(target.size()), time_stamp, data_found);
}

#endif

}  // namespace fenix::data

#endif

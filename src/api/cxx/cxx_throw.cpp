// SPDX-License-Identifier: BSD-3-Clause
#include "api/cxx/cxx_throw.hpp"

#include <fenix.hpp>

#include <string_view>

#include "runtime/runtime.hpp"

namespace fenix_impl {
namespace {

/// Leaves out the folders in which the library was built.
const char* within_sources(const char* file) {
  constexpr std::string_view kFolder = "/src/";
  const std::string_view all(file);
  const auto found = all.rfind(kFolder);
  return found == std::string_view::npos ? file : file + found + 1;
}

}  // namespace

int thrown(int code) {
  if (code >= FENIX_SUCCESS || code == FENIX_ERROR_CANCELLED) return code;
  const auto& [text, place] = last_error();
  throw fenix::RuntimeException(code, text, {within_sources(place.file), place.line, place.function});
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Whether memory that the application has named can be accessed: a page that is not there would end the process.
#pragma once

#include <cstddef>

namespace fenix_impl {

/// Looks at the first and the last of so many bytes; takes a microsecond or two. Changes nothing. True also where the system does
/// not tell.
[[nodiscard]] bool can_read(const void* memory, std::size_t bytes);
[[nodiscard]] bool can_write(void* memory, std::size_t bytes);

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// The one text of a store's folder: ranks and tools that write it in different ways meet at one keeper.
#pragma once

#include <string>

namespace fenix_impl {

/// Returns a path that begins at the root, as far as the current folder is known.
[[nodiscard]] std::string absolute_path(const std::string& path);
/// Returns an absolute path without links and without parts that say nothing; an empty one for an empty one. Waits for the file system.
[[nodiscard]] std::string path_of_store(const std::string& given);

}  // namespace fenix_impl

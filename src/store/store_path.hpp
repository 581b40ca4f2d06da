// SPDX-License-Identifier: BSD-3-Clause
// The one text of a store's folder: ranks and tools that write it in different ways meet at one keeper.
#pragma once

#include <chrono>
#include <string>

namespace fenix_impl {

/// Returns a path that begins at the root, as far as the current folder is known.
[[nodiscard]] std::string absolute_path(const std::string& path);
/// Returns an absolute path without links and without parts that say nothing; an empty one for an empty one. Waits for the file system.
[[nodiscard]] std::string path_of_store(const std::string& given);
/// Does the same, and waits for so long at most: a file system that hangs must not hang a rank (P11). Afterwards the path is the absolute
/// one, and the keeper is the one that gets no answer.
[[nodiscard]] std::string path_of_store(const std::string& given, std::chrono::seconds limit);

}  // namespace fenix_impl

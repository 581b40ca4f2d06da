// SPDX-License-Identifier: BSD-3-Clause
// Small files of the store: a head with a hash of what follows. They are there as a whole or not at all. docs/store-format.md describes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/file_system.hpp"

namespace fenix_impl {

namespace store_format {
constexpr std::uint64_t kMagic = 0x54535F58494E4546U;  // "FENIX_ST"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeadBytes = 64;
}  // namespace store_format

/// Never renumbered.
enum class SealedKind : std::uint32_t {
  plan = 1,
  part = 2,
  manifest = 3,
  current = 4,
  label = 5,
};

/// Returns the bytes of a file. name: of the dataset that it belongs to.
[[nodiscard]] std::vector<std::byte> seal(SealedKind kind, const std::string& name, std::span<const std::byte> body);
/// Returns the body in the bytes of a file, or nullopt if it is of another kind or dataset, or damaged. Any bytes may be given.
[[nodiscard]] std::optional<std::span<const std::byte>> unseal(SealedKind kind, const std::string& name,
                                                               std::span<const std::byte> file);

/// Whether the bytes are those of a sealed file that only a later version of this library can read. Any bytes may be given.
[[nodiscard]] bool is_of_later_version(std::span<const std::byte> file);

/// Writes a file, in place of what has that name, such that it survives the end of the system. temporary: a name in the same folder that
/// nobody else uses.
void write_durably(FileSystem& files, const std::string& folder, const std::string& name, const std::string& temporary,
                   std::span<const std::byte> bytes);
/// Returns the bytes of a file; nullopt if there is none, or if it has more bytes than that.
[[nodiscard]] std::optional<std::vector<std::byte>> read_whole(FileSystem& files, const std::string& path,
                                                               std::uint64_t most = std::uint64_t{1} << 32U);
/// Returns the bytes of a sealed file, or nullopt if there is none; of a large one that is not as long as its head says, the head alone.
[[nodiscard]] std::optional<std::vector<std::byte>> read_sealed(FileSystem& files, const std::string& path);

}  // namespace fenix_impl

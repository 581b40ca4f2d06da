// SPDX-License-Identifier: BSD-3-Clause
#include "messages/options.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "base/environment.hpp"
#include "base/error.hpp"

namespace fenix_impl {
namespace {

std::optional<std::string> value_of(MPI_Info info, const char* key) {
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  if (info == MPI_INFO_NULL) return std::nullopt;
  if (MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found) != MPI_SUCCESS || found == 0) return std::nullopt;
  return value.data();
}

[[noreturn]] void refuse(const char* key, const std::string& value, const std::string& wanted) {
  throw MpiError(MPI_ERR_INFO_VALUE, std::string(key) + " is \"" + value + "\" in info, and has to be " + wanted);
}

template <class T>
void take_number(MPI_Info info, const char* key, T least, T most, T& number) {
  const auto value = value_of(info, key);
  if (!value) return;
  T read = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), read);
  if (error != std::errc() || end != value->data() + value->size() || read < least || read > most) {
    refuse(key, *value, "a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  number = read;
}

void take_choice(MPI_Info info, const char* key, const char* no, const char* yes, bool& chosen) {
  const auto value = value_of(info, key);
  if (!value) return;
  if (*value != no && *value != yes) refuse(key, *value, std::string("\"") + no + "\" or \"" + yes + "\"");
  chosen = *value == yes;
}

/// Returns how many processes of the job are on this node, as the launcher says.
std::uint64_t ranks_of_node() {
  const char* const value = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  std::uint64_t ranks = 1;
  if (value != nullptr) (void)std::from_chars(value, value + std::strlen(value), ranks);
  return std::max<std::uint64_t>(ranks, 1);
}

bool is_first_of_node() {
  const char* const value = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  return value == nullptr || std::strcmp(value, "0") == 0;
}

}  // namespace

PersistOptions persist_options(MPI_Info info) {
  PersistOptions options;
  constexpr std::uint64_t kMostVolume = std::uint64_t{1} << 36U;
  take_number<std::uint64_t>(info, "persist_volume", 1, kMostVolume, options.volume);
  take_number<std::int32_t>(info, "persist_copies", 0, JournalParameters::kMostCopies, options.copies);
  take_number<std::uint32_t>(info, "persist_depth", 1, PersistOptions::kMostDepth, options.depth);
  take_choice(info, "persist_order", "fifo", "lifo", options.newest_first);
  bool fails = false;
  take_choice(info, "persist_missing", "wait", "error", fails);
  options.waits = !fails;
  take_choice(info, "persist_transparent", "false", "true", options.delivers);
  options.folder = value_of(info, "persist_dir").value_or("");
  return options;
}

static_assert(kMostCopiesHeld == JournalParameters::kMostCopies);

PersistOptions persist_options_of_environment() {
  PersistOptions options;
  options.volume = environment::whole("FENIX_PERSIST_VOLUME");
  options.copies = static_cast<std::int32_t>(environment::whole("FENIX_PERSIST_COPIES"));
  return options;
}

SpillOptions spill_options_of_environment() {
  constexpr std::uint64_t kMost = std::uint64_t{16} << 30;
  constexpr std::uint64_t kParts = 4;
  const bool is_chosen = environment::is_set("FENIX_MLOG_SPILL");
  const char* const temporary = std::getenv("TMPDIR");
  SpillOptions options;
  options.folder = temporary != nullptr && *temporary != '\0' ? temporary : "/var/tmp";
  if (is_chosen) options.folder = environment::text("FENIX_MLOG_SPILL");
  if (options.folder == "off") return {};
  struct statfs status {};
  const bool is_usable =
      statfs(options.folder.c_str(), &status) == 0 && access(options.folder.c_str(), W_OK | X_OK) == 0;
  if (is_chosen && !is_usable) {
    throw Error(FENIX_ERROR_INVALID_ARGUMENT, "FENIX_MLOG_SPILL is \"" + options.folder +
                                                  "\", and has to be a folder in which files can be made, or off");
  }
  const bool is_memory = status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
  if (!is_chosen && (!is_usable || is_memory)) return {};
  if (is_first_of_node()) {
    remove_spill_files_of_ended_jobs(options.folder);
    (void)statfs(options.folder.c_str(), &status);
  }
  const std::uint64_t room = std::uint64_t{status.f_bavail} * static_cast<std::uint64_t>(status.f_bsize);
  options.most_bytes = environment::is_set("FENIX_MLOG_SPILL_SIZE") ? environment::whole("FENIX_MLOG_SPILL_SIZE")
                                                                    : std::min(kMost, room / kParts / ranks_of_node());
  return options;
}

LogOptions log_options_of_environment() {
  LogOptions options;
  options.held = persist_options_of_environment();
  if (environment::is_set("FENIX_MLOG_MEMORY")) options.memory = environment::whole("FENIX_MLOG_MEMORY");
  if (environment::is_set("FENIX_MLOG_COPIES")) {
    options.copies = static_cast<std::int32_t>(environment::whole("FENIX_MLOG_COPIES"));
  }
  options.comparing = static_cast<SenderLog::Comparing>(environment::number("FENIX_MLOG_COMPARE"));
  return options;
}

}  // namespace fenix_impl

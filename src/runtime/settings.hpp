// SPDX-License-Identifier: BSD-3-Clause
// The settings that Fenix_set_option and the info of Fenix_Init can change. Any thread may do so at any time.
#pragma once

#include <fenix/codes.h>
#include <mpi.h>

#include <array>
#include <atomic>
#include <string>
#include <vector>

namespace fenix_impl {

class Settings {
 public:
  Settings() = default;
  Settings(const Settings& other) { *this = other; }
  Settings& operator=(const Settings& other);
  ~Settings() = default;

  /// Sets an option. Throws Error(FENIX_ERROR_INVALID_SETTING_NAME or _OPTION).
  void set(int setting, unsigned option);
  /// Sets an option that has not been set.
  void set_default(int setting, unsigned option);
  /// Returns an option. Throws Error(FENIX_ERROR_INVALID_SETTING_NAME).
  [[nodiscard]] unsigned get(int setting) const;
  /// Takes the keys of Fenix_Init. Returns a text for each value that is unknown, which is ignored.
  [[nodiscard]] std::vector<std::string> take(MPI_Info info);

 private:
  std::array<std::atomic<bool>, FENIX_SETTING_NAME_MAXCODE> is_set_{};
  std::array<std::atomic<unsigned>, FENIX_SETTING_NAME_MAXCODE> options_{
      FENIX_RECOVERY_REPAIR,      FENIX_RESUME_JUMP,      FENIX_UNHANDLED_ABORT,    FENIX_CALLBACK_EXCEPTION_RETHROW,
      FENIX_MLOG_RECOVERY_MANUAL, FENIX_SPARE_WAIT_SLEEP, FENIX_SPARE_FINALIZE_EXIT};
};

}  // namespace fenix_impl

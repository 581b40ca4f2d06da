// SPDX-License-Identifier: BSD-3-Clause
//
// Settings that hold within a block, by the names of the current Fenix. An object sets something, and its destructor puts back what there
// was before, also when an exception leaves the block. A jump out of the block (FENIX_RESUME_JUMP) does not come to the destructor.
// After Fenix_Finalize destructors do nothing. All of it is local; the objects can neither be copied nor moved, and belong to one thread.
#ifndef FENIX_UTIL_HPP
#define FENIX_UTIL_HPP

#include <cstddef>

#include "fenix.hpp"

namespace fenix::util {

/// Has a setting of Fenix_set_option in a block.
class ScopedOption {
 public:
  /// Sets it. Throws RuntimeException as set_option does.
  /// @param name   the setting
  /// @param option one of its options
  ScopedOption(SettingName name, unsigned option) : setting(name), old(get_option(name)) { set_option(name, option); }
  ScopedOption(const ScopedOption&) = delete;
  ScopedOption& operator=(const ScopedOption&) = delete;
  ~ScopedOption() {
    if (initialized() && !finalized()) (void)Fenix_set_option(setting, old);
  }

  const SettingName setting;  ///< the setting
  const unsigned old;         ///< its option before
};

/// Says for a block whether calls whose messages are logged go on after a failure: FENIX_MLOG_RECOVERY_MODE. A log has to be active for it.
class ScopedInlineRecovery {
 public:
  /// Sets it. Throws RuntimeException as set_option does.
  /// @param goes_on true: FENIX_MLOG_RECOVERY_INLINE; false: FENIX_MLOG_RECOVERY_MANUAL
  explicit ScopedInlineRecovery(bool goes_on) : mode_(MLOG_RECOVERY_MODE, goes_on ? INLINE : MANUAL) {}

 private:
  ScopedOption mode_;
};

/// Has failures left alone in a block, and returned by the calls that meet them.
class ScopedIgnoreAndReturn {
 public:
  ScopedOption recovery{RECOVERY_MODE, IGNORE};  ///< the setting FENIX_RECOVERY_MODE
  ScopedOption resume{RESUME_MODE, RETURN};      ///< the setting FENIX_RESUME_MODE
};

/// Has another message log active in a block, or none. It needs libfenix_mpi, as all message logging.
class ScopedActiveMlog {
 public:
  /// Makes the log active. Throws RuntimeException as mlog::activate does.
  /// @param mlog_id id of a log, or FENIX_MLOG_NONE
  ScopedActiveMlog(int mlog_id) : old_mlog(mlog::active()), own_(mlog_id) {  // NOLINT(google-explicit-constructor)
    mlog::activate(mlog_id);
  }
  /// Does the same with FENIX_MLOG_NONE.
  ScopedActiveMlog(std::nullptr_t) : ScopedActiveMlog(FENIX_MLOG_NONE) {}  // NOLINT(google-explicit-constructor)
  ScopedActiveMlog(const ScopedActiveMlog&) = delete;
  ScopedActiveMlog& operator=(const ScopedActiveMlog&) = delete;
  /// Makes the log active that was so before, unless the block has ended with another one than it began with. If all ranks have to go back, none is
  /// active any more.
  ~ScopedActiveMlog() {
    if (mlog::active() == own_) (void)Fenix_Mlog_activate(old_mlog);
  }

  const int old_mlog;  ///< the log that was active before, or FENIX_MLOG_NONE

 private:
  const int own_;
};

}  // namespace fenix::util

#endif

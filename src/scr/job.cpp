// SPDX-License-Identifier: BSD-3-Clause
#include "scr/job.hpp"

namespace scr_impl {

bool Job::tell(const std::string& why) const {
  if (settings.talks) say(why);
  return false;
}

bool Job::refuse_together(const std::string& why) const {
  if (comm == MPI_COMM_NULL || is_first()) say(why);
  return false;
}

bool Job::fail(const std::string& what) const {
  const std::string text = what + ": " + Fenix_Error_message();
  return repaired != nullptr ? tell(text) : refuse(text);
}

}  // namespace scr_impl

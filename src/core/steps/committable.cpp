// SPDX-License-Identifier: BSD-3-Clause
#include "core/steps/committable.hpp"

#include "base/error.hpp"

namespace fenix_impl {

void check_committable(const OperationContext& context) {
  context.requests.check_none_pending();
  for (const auto& member : context.members) {
    if (member->is_staging_file()) {
      throw Error(FENIX_ERROR_MEMBER_STAGING, name_of(*member) + " is open: Fenix_Data_member_stage_end first");
    }
    if (!member->working().staged().empty()) {
      throw Error(FENIX_ERROR_INVALID_LOGIC_CALL,
                  name_of(*member) + " has been staged and not stored: store FENIX_DATA_SUBSET_PRESTAGED");
    }
  }
  const auto most = static_cast<std::uint64_t>(FENIX_TIME_STAMP_MAX - context.parameters.start_time_stamp);
  if (context.log.last().value > most) {
    throw Error(FENIX_ERROR_INVALID_TIMESTAMP, "the time stamps of the group are used up");
  }
}

}  // namespace fenix_impl

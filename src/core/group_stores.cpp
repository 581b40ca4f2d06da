// SPDX-License-Identifier: BSD-3-Clause
#include "core/group_stores.hpp"

#include "base/error.hpp"
#include "base/fault.hpp"
#include "core/common/meeting.hpp"
#include "core/operations/agree_on_sizes.hpp"
#include "core/operations/log_growth.hpp"
#include "core/operations/store.hpp"
#include "core/steps/staging.hpp"

namespace fenix_impl {

// Meets with all ranks if sizes have to be agreed on. The meeting checks, too.
bool GroupStores::agree_if_needed(std::span<Member* const> members, const Selection& selection, const Check& check) {
  fault_point("store.begin");
  AgreeOnSizes agreement(context_);
  if (!agreement.is_needed(members)) return false;
  together(context_.attachment.team(), [&] { agreement.run(members, selection, check); });
  return true;
}

void GroupStores::check_storable(std::span<Member* const> members, const Selection& selection, const Check& check) {
  if (check) check();
  for (const Member* member : members) Staging(context_).check_storable(*member, selection);
}

void GroupStores::begin(std::span<Member* const> members, const Selection& selection, const Check& check) {
  if (!agree_if_needed(members, selection, check)) alone([&] { check_storable(members, selection, check); });
}

void GroupStores::store(std::span<Member* const> members, const Selection& selection, const Check& check) {
  begin(members, selection, check);
  alone([&] { StoreOperation(context_).run(members, selection); });
}

void GroupStores::store_to_commit(std::span<Member* const> members, const Selection& selection, const Check& check) {
  const bool agreed = agree_if_needed(members, selection, check);
  const auto store_alone = [&] {
    if (!agreed) check_storable(members, selection, check);
    StoreOperation(context_).run(members, selection);
  };
  const auto store = [&] { alone(store_alone); };
  if (context_.parameters.keeps_all()) {
    run_before_growth(context_, store);
  } else {
    commit_.run_before(store);
  }
}

std::shared_ptr<Request> GroupStores::store_asynchronously(std::span<Member* const> members, const Selection& selection,
                                                           std::uint64_t request_id, const Check& check) {
  begin(members, selection, check);
  try {
    return alone([&] { return StoreOperation(context_).begin(members, selection, request_id); });
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    // The redundancy set's threads wait for this rank's.
    const bool others_wait = context_.attachment.protection().commits_collectively();
    if (!others_wait || error.code() == FENIX_ERROR_TIMEOUT) throw;
    if (error.code() == FENIX_ERROR_NO_MEMORY) {
      context_.attachment.withdraw();
    } else {
      commit_.decline();
    }
    throw;
  }
}

}  // namespace fenix_impl

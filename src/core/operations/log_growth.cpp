// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/log_growth.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "core/common/meeting.hpp"
#include "core/steps/committable.hpp"
#include "core/steps/exposing.hpp"

namespace fenix_impl {

void grow_log_if_full(const OperationContext& context) {
  const CommitLog& log = context.log;
  const auto full =
      meet(context.team(), Operation::commit_room, 0, log.is_full() ? 1 : 0, [&] { check_committable(context); });
  if (full.bits == 0) return;
  const GroupRanks& ranks = context.attachment.ranks();
  Control grown;
  (void)meet(context.team(), Operation::memory, 0, 0, [&] {
    grown = Control(ranks, log.memory().entries() + log.memory().entries() / 2, log.memory().entry_bytes(),
                    context.parameters.commits_in_place(), context.control());
  });
  fault_point("grow.log");
  grown.remote = expose_control(context, grown.region);
  replace_control(context, std::move(grown));
  context.attachment.path().give_back(context.team());
}

void run_before_growth(const OperationContext& context, const std::function<void()>& store) {
  try {
    store();
  } catch (const MpiError&) {
    throw;
  } catch (const Error& error) {
    if (error.code() == FENIX_ERROR_TIMEOUT) throw;
    (void)meet(context.team(), Operation::commit_room, 0, 0, [&] { throw Error(error); });
  }
}

}  // namespace fenix_impl

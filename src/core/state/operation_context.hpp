// SPDX-License-Identifier: BSD-3-Clause
// All that an operation on a group may touch: the parts of the group, which own the data.
#pragma once

#include <functional>

#include "core/common/group_parameters.hpp"
#include "core/log/commit_log.hpp"
#include "core/member/members.hpp"
#include "core/state/attachment.hpp"
#include "core/state/pending_commit.hpp"
#include "core/state/reclaimer.hpp"
#include "core/state/request_queue.hpp"

namespace fenix_impl {

struct OperationContext {
  const GroupParameters& parameters;
  Members& members;
  CommitLog& log;
  Attachment& attachment;
  Reclaimer& reclaimer;
  RequestQueue& requests;
  PendingCommit& pending;
  const std::function<void()>& before_record;

  [[nodiscard]] Team& team() const { return attachment.team(); }
  [[nodiscard]] Protection& protection() const { return attachment.protection(); }
  [[nodiscard]] Control& control() const { return log.memory().control(); }
};

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/client/run_client.hpp"

#include "keeper/request_error.hpp"
#include "store/fields.hpp"

namespace fenix_impl {

RunClient::Begun RunClient::begin(const Check& check) {
  const KeeperAnswer answer = connection_.call_until(KeeperConnection::kTimeToEnd, KeeperOp::begin_run, {}, {}, check);
  if (answer.message.code == KeeperCode::in_use) fail_request("another job uses it on this node");
  const auto begun = decode_body<BegunRun>(answer.message.body);
  if (!begun) fail_damaged_answer();
  return {{begun->store, begun->number, begun->only_reads}, answer.message.text};
}

void RunClient::finish(std::uint32_t run, std::chrono::milliseconds limit, const Check& check) {
  FieldWriter body;
  body.number(run);
  (void)connection_.call_within(limit, KeeperOp::finish_run, body.all(), {}, check);
}

std::optional<HaltConditions> RunClient::halt_conditions(std::chrono::milliseconds limit, const Check& check) {
  const KeeperAnswer answer = connection_.call_within(limit, KeeperOp::get_halt, {}, {}, check);
  if (answer.message.code != KeeperCode::done) return std::nullopt;
  return parse_halt(FieldReader(answer.message.body).text());
}

void RunClient::halt(const HaltConditions& conditions, const Check& check) {
  const KeeperAnswer answer = connection_.call(KeeperOp::halt, encode_text(text_of(conditions)), {}, check);
  if (answer.message.code != KeeperCode::done) fail_request("the reason has more than one line");
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/client/memory_client.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "base/deadline.hpp"
#include "keeper/request_error.hpp"
#include "store/fields.hpp"

namespace fenix_impl {

std::uint64_t MemoryClient::keep_group(const KeptGroupOf& of, std::span<const std::byte> description,
                                       std::span<const int> regions) {
  try {
    const Descriptor file = to_memory_file(description);
    const int number = file.get();
    Message request{KeeperOp::keep_group, 0, KeeperCode::done, {}, encode_body(of)};
    return connection_.with_exchange([&](KeeperExchange& exchange) {
      exchange.tell(request, std::span(&number, 1), regions);
      return exchange.socket().connections();
    });
  } catch (const std::system_error& error) {
    fail_request(error.what());
  }
}

void MemoryClient::drop_group(const KeptGroupOf& of) { connection_.tell(KeeperOp::drop_group, encode_body(of)); }

std::optional<MemoryClient::KeptGroup> MemoryClient::kept_group(const KeptSearch& search,
                                                                std::chrono::milliseconds limit, const Check& check) {
  for (const Deadline deadline(std::min(KeeperConnection::kTimeToEnd, limit));;
       std::this_thread::sleep_for(KeeperConnection::kBetweenQuestions)) {
    const KeeperAnswer answer = connection_.ask(KeeperOp::kept_group, encode_body(search), {}, limit, check);
    if (answer.is_lost) return std::nullopt;
    if (answer.message.code == KeeperCode::in_use && !deadline.passed()) continue;
    if (answer.message.code != KeeperCode::done || answer.files.size() != 1) return std::nullopt;
    auto at = decode_body<KeptGroupAt>(answer.message.body);
    if (!at) fail_damaged_answer();
    return KeptGroup{read_memory_file(answer.files.front()), std::move(*at)};
  }
}

std::vector<KeptGroupOf> MemoryClient::kept_groups(const Check& check) {
  return connection_.list_of<KeptGroupOf>(KeeperOp::list_groups, check);
}

void MemoryClient::drop_snapshots(const Dropped& dropped) {
  connection_.tell(KeeperOp::drop_kept, encode_body(dropped));
}

void MemoryClient::release(std::uint32_t run) {
  FieldWriter body;
  body.number(run);
  connection_.tell(KeeperOp::release, body.all());
}

void MemoryClient::forget(std::uint32_t run) {
  FieldWriter body;
  body.number(run);
  connection_.tell(KeeperOp::forget, body.all());
}

}  // namespace fenix_impl

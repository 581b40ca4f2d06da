// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/message.hpp"

#include "store/fields.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint32_t kMagic = 0x504B4E46;  // "FNKP"

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  FieldWriter fields;
  fields.number(kMagic);
  fields.number(static_cast<std::uint32_t>(message.op));
  fields.number(message.id);
  fields.number(static_cast<std::int32_t>(message.code));
  fields.text(message.text);
  fields.bytes(message.body);
  return fields.take();
}

std::optional<Message> decode_message(std::span<const std::byte> bytes) {
  FieldReader fields(bytes);
  if (fields.number<std::uint32_t>() != kMagic) return std::nullopt;
  Message message;
  const auto op = fields.number<std::uint32_t>();
  message.id = fields.number<std::uint64_t>();
  const auto code = fields.number<std::int32_t>();
  message.text = fields.text();
  const auto body = fields.bytes();
  message.body.assign(body.begin(), body.end());
  const bool is_known = op >= static_cast<std::uint32_t>(KeeperOp::hello) &&
                        op <= static_cast<std::uint32_t>(kLastKeeperOp) && code >= 0 &&
                        code <= static_cast<std::int32_t>(KeeperCode::in_use);
  if (!fields.is_at_end() || !is_known) return std::nullopt;
  message.op = static_cast<KeeperOp>(op);
  message.code = static_cast<KeeperCode>(code);
  return message;
}

}  // namespace fenix_impl

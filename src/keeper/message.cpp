// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/message.hpp"

#include "store/fields.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint32_t kMagic = 0x504B4E46;  // "FNKP"
constexpr std::size_t kLeastListedBytes = 16;

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  FieldWriter fields;
  fields.number(kMagic);
  fields.number(static_cast<std::uint32_t>(message.op));
  fields.number(message.id);
  fields.number(static_cast<std::int32_t>(message.code));
  fields.text(message.text);
  fields.bytes(message.body);
  return fields.all();
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
                        op <= static_cast<std::uint32_t>(KeeperOp::taken) && code >= 0 &&
                        code <= static_cast<std::int32_t>(KeeperCode::failed);
  if (!fields.is_at_end() || !is_known) return std::nullopt;
  message.op = static_cast<KeeperOp>(op);
  message.code = static_cast<KeeperCode>(code);
  return message;
}

std::vector<std::byte> encode(const Hello& body) {
  FieldWriter fields;
  fields.text(body.root);
  fields.number(body.rate);
  fields.number(body.seconds);
  fields.number(body.kept);
  fields.number(body.lease);
  return fields.all();
}

std::optional<Hello> decode_hello(std::span<const std::byte> bytes) {
  FieldReader fields(bytes);
  Hello body;
  body.root = fields.text();
  body.rate = fields.number<std::uint64_t>();
  body.seconds = fields.number<std::uint32_t>();
  body.kept = fields.number<std::uint32_t>();
  body.lease = fields.number<std::uint32_t>();
  return fields.is_at_end() ? std::optional(body) : std::nullopt;
}

std::vector<std::byte> encode(const Search& body) {
  FieldWriter fields;
  fields.number(body.group);
  fields.text(body.label);
  fields.number(static_cast<std::uint32_t>(body.passed_over.size()));
  for (const std::string& name : body.passed_over) fields.text(name);
  fields.number(body.run);
  return fields.all();
}

std::optional<Search> decode_search(std::span<const std::byte> bytes) {
  FieldReader fields(bytes);
  Search body;
  body.group = fields.number<std::int32_t>();
  body.label = fields.text();
  body.passed_over.resize(fields.count(sizeof(std::uint32_t)));
  for (std::string& name : body.passed_over) name = fields.text();
  body.run = fields.number<std::uint32_t>();
  return fields.is_at_end() ? std::optional(body) : std::nullopt;
}

std::vector<std::byte> encode(const Abandoned& body) {
  FieldWriter fields;
  fields.number(body.group);
  fields.number(body.all_groups);
  fields.number(body.generation);
  fields.text(body.name);
  return fields.all();
}

std::optional<Abandoned> decode_abandoned(std::span<const std::byte> bytes) {
  FieldReader fields(bytes);
  Abandoned body;
  body.group = fields.number<std::int32_t>();
  body.all_groups = fields.number<std::uint32_t>();
  body.generation = fields.number<std::uint32_t>();
  body.name = fields.text();
  return fields.is_at_end() ? std::optional(body) : std::nullopt;
}

std::vector<std::byte> encode(const KeptSearch& body) {
  FieldWriter fields;
  fields.number(body.group);
  fields.number(body.rank);
  fields.number(body.ranks);
  return fields.all();
}

std::optional<KeptSearch> decode_kept_search(std::span<const std::byte> bytes) {
  FieldReader fields(bytes);
  KeptSearch body;
  body.group = fields.number<std::int32_t>();
  body.rank = fields.number<std::int32_t>();
  body.ranks = fields.number<std::uint32_t>();
  return fields.is_at_end() ? std::optional(body) : std::nullopt;
}

std::vector<std::byte> encode(const Reading& body) {
  FieldWriter fields;
  fields.text(body.name);
  fields.number(body.rank);
  fields.number(body.member);
  fields.number(body.begin);
  fields.number(body.bytes);
  fields.number(body.offset);
  return fields.all();
}

std::optional<Reading> decode_reading(std::span<const std::byte> bytes) {
  FieldReader fields(bytes);
  Reading body;
  body.name = fields.text();
  body.rank = fields.number<std::int32_t>();
  body.member = fields.number<std::int32_t>();
  body.begin = fields.number<std::uint64_t>();
  body.bytes = fields.number<std::uint64_t>();
  body.offset = fields.number<std::uint64_t>();
  return fields.is_at_end() ? std::optional(body) : std::nullopt;
}

std::vector<std::byte> encode(std::span<const Listed> body) {
  FieldWriter fields;
  fields.number(static_cast<std::uint32_t>(body.size()));
  for (const Listed& each : body) {
    fields.text(each.name);
    fields.text(each.label);
    fields.number(each.missing);
    fields.number(each.current);
  }
  return fields.all();
}

std::optional<std::vector<Listed>> decode_list(std::span<const std::byte> bytes) {
  FieldReader fields(bytes);
  std::vector<Listed> list(fields.count(kLeastListedBytes));
  for (Listed& each : list) {
    each.name = fields.text();
    each.label = fields.text();
    each.missing = fields.number<std::uint32_t>();
    each.current = fields.number<std::uint32_t>();
  }
  return fields.is_at_end() ? std::optional(std::move(list)) : std::nullopt;
}

}  // namespace fenix_impl

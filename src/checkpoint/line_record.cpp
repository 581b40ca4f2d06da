// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/line_record.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "store/fields.hpp"

namespace fenix_impl {
namespace {

/// Number of this description: another library may have written it.
constexpr std::uint32_t kFormat = 1;
constexpr std::size_t kBytesOfAFlow = sizeof(std::uint64_t) + 3 * sizeof(std::int32_t);

void write_flow(FieldWriter& fields, const MessageFlow& flow) {
  fields.number(flow.comm_id);
  fields.number(flow.source);
  fields.number(flow.destination);
  fields.number(flow.tag);
}

MessageFlow read_flow(FieldReader& fields) {
  MessageFlow flow;
  flow.comm_id = fields.number<std::uint64_t>();
  flow.source = fields.number<std::int32_t>();
  flow.destination = fields.number<std::int32_t>();
  flow.tag = fields.number<std::int32_t>();
  return flow;
}

void write_counts(FieldWriter& fields, std::span<const FlowCount> counts) {
  fields.number(static_cast<std::uint32_t>(counts.size()));
  for (const FlowCount& each : counts) {
    write_flow(fields, each.flow);
    fields.number(each.peer);
    fields.number(each.count);
  }
}

std::vector<FlowCount> read_counts(FieldReader& fields) {
  std::vector<FlowCount> counts(fields.count(kBytesOfAFlow + sizeof(std::int32_t) + sizeof(std::uint64_t)));
  for (FlowCount& each : counts) {
    each.flow = read_flow(fields);
    each.peer = fields.number<std::int32_t>();
    each.count = fields.number<std::uint64_t>();
  }
  return counts;
}

void write_log(FieldWriter& fields, const LineRecord& record) {
  fields.number(static_cast<std::uint32_t>(record.late.size()));
  for (const LateMessage& each : record.late) {
    write_flow(fields, each.flow);
    fields.number(each.number);
    fields.bytes(each.bytes);
  }
  fields.number(static_cast<std::uint32_t>(record.trace.flows().size()));
  for (const MessageFlow& each : record.trace.flows()) write_flow(fields, each);
  fields.number(static_cast<std::uint32_t>(record.trace.words().size()));
  for (const std::int64_t each : record.trace.words()) fields.number(each);
}

void read_log(FieldReader& fields, LineRecord& record) {
  for (std::size_t left = fields.count(kBytesOfAFlow + sizeof(std::uint64_t)); left > 0; --left) {
    LateMessage& message = record.late.emplace_back();
    message.flow = read_flow(fields);
    message.number = fields.number<std::uint64_t>();
    const auto bytes = fields.bytes();
    message.bytes.assign(bytes.begin(), bytes.end());
  }
  std::vector<MessageFlow> flows(fields.count(kBytesOfAFlow));
  for (MessageFlow& each : flows) each = read_flow(fields);
  Trace::Words words(fields.count(sizeof(std::int64_t)));
  for (std::int64_t& each : words) each = fields.number<std::int64_t>();
  record.trace = Trace::of(std::move(flows), std::move(words));
}

}  // namespace

std::optional<std::vector<std::byte>> LineRecord::encode(std::size_t most) const {
  FieldWriter fields;
  fields.number(kFormat);
  fields.number(ranks);
  fields.number(static_cast<std::uint8_t>(is_whole ? 1 : 0));
  fields.number(receives);
  write_counts(fields, sent);
  write_counts(fields, received);
  if (is_whole) write_log(fields, *this);
  FieldWriter all;
  all.bytes(fields.all());
  if (all.all().size() > most) return std::nullopt;
  return all.all();
}

LineRecord LineRecord::decode(std::span<const std::byte> bytes) {
  FieldReader all(bytes);
  FieldReader fields(all.bytes());
  LineRecord record;
  const bool is_known = fields.number<std::uint32_t>() == kFormat;
  record.ranks = fields.number<std::int32_t>();
  record.is_whole = fields.number<std::uint8_t>() != 0;
  record.receives = fields.number<std::uint64_t>();
  record.sent = read_counts(fields);
  record.received = read_counts(fields);
  if (is_known && record.is_whole) read_log(fields, record);
  if (!is_known || !fields.is_at_end()) {
    throw Error(FENIX_ERROR_NODATA_FOUND, "the log of a checkpoint is damaged, or of another version");
  }
  return record;
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/client/dataset_client.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

#include "keeper/request_error.hpp"
#include "store/fields.hpp"

namespace fenix_impl {

DatasetClient::Found DatasetClient::find(const Search& search, const Check& check) {
  // It ends when nothing grows any more.
  constexpr std::chrono::hours kLongest{24};
  constexpr std::size_t kShort = kMostDatagramBytes / 2;
  Search asked = search;
  Descriptor list;
  try {
    if (encode_body(asked).size() > kShort) list = to_memory_file(encode_body(std::exchange(asked.passed_over, {})));
  } catch (const std::system_error& error) {
    fail_request(error.what());
  }
  const int file = list.get();
  const KeeperAnswer answer =
      connection_.call_until(kLongest, KeeperOp::find, encode_body(asked), std::span(&file, list ? 1U : 0U), check);
  auto said = decode_body<FoundInStore>(answer.message.body);
  const auto name = said ? DatasetName::parse(said->name) : std::nullopt;
  const bool is_good = said && said->name.empty() == answer.files.empty() && (said->name.empty() || name);
  if (!is_good) fail_damaged_answer();
  Found found{{}, said->is_chosen != 0, std::move(said->unusable)};
  if (name) found.plan = decode_plan(*name, read_memory_file(answer.files.front()));
  return found;
}

bool DatasetClient::verify(const DatasetName& name, std::int32_t rank, const Check& check) {
  constexpr std::uint64_t kAtOnce = std::uint64_t{64} << 20U;
  static_assert(kAtOnce % Extent::kPiece == 0);
  const auto stored = this->rank(name, rank, check);
  if (!stored) return false;
  for (const Extent& extent : stored->extents) {
    for (std::uint64_t at = 0; at < extent.bytes; at += kAtOnce) {
      const Reading reading{name.text(), rank, extent.member, at, std::min(kAtOnce, extent.bytes - at), 0};
      const KeeperAnswer answer = connection_.call(KeeperOp::verify, encode_body(reading), {}, check);
      if (answer.message.code != KeeperCode::done) return false;
    }
  }
  return true;
}

std::optional<StoredRank> DatasetClient::rank(const DatasetName& name, std::int32_t rank, const Check& check) {
  FieldWriter body;
  body.text(name.text());
  body.number(rank);
  const KeeperAnswer answer = connection_.call(KeeperOp::rank, body.all(), {}, check);
  if (answer.message.code != KeeperCode::done || answer.files.size() != 1) return std::nullopt;
  auto part = decode_part(name, 0, read_memory_file(answer.files.front()));
  if (!part || part->ranks.size() != 1) fail_damaged_answer();
  return std::move(part->ranks.front());
}

bool DatasetClient::read(const Reading& reading, int file, const Check& check) {
  const KeeperAnswer answer = connection_.call(KeeperOp::read, encode_body(reading), std::span(&file, 1), check);
  return answer.message.code == KeeperCode::done;
}

std::vector<Listed> DatasetClient::list(const Check& check) {
  return connection_.list_of<Listed>(KeeperOp::list, check);
}

bool DatasetClient::call_about(KeeperOp op, const std::string& name, const Check& check) {
  return connection_.call(op, encode_text(name), {}, check).message.code == KeeperCode::done;
}

bool DatasetClient::remove(const std::string& name, const Check& check) {
  return call_about(KeeperOp::remove, name, check);
}

bool DatasetClient::set_current(const std::string& name, const Check& check) {
  return call_about(KeeperOp::set_current, name, check);
}

bool DatasetClient::is_complete(const DatasetName& name, const Check& check) {
  return call_about(KeeperOp::check, name.text(), check);
}

void DatasetClient::note_taken(const DatasetName& name) { connection_.tell(KeeperOp::taken, encode_text(name.text())); }

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// The requests of a rank that the keeper answers, one by one.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "base/deadline.hpp"
#include "keeper/client.hpp"
#include "store/fields.hpp"

namespace fenix_impl {
namespace {

constexpr std::chrono::milliseconds kTimeToEnd{5000};  // of processes of a job that has ended
constexpr std::chrono::milliseconds kBetweenQuestions{50};

std::vector<std::byte> body_of(const std::string& name) {
  FieldWriter fields;
  fields.text(name);
  return fields.all();
}

}  // namespace

KeeperClient::Run KeeperClient::begin_run(const Check& check) {
  const Answer answer = call_until(kTimeToEnd, KeeperOp::begin_run, {}, check);
  if (answer.message.code == KeeperCode::in_use) fail("another job uses it on this node");
  const auto begun = decode_body<BegunRun>(answer.message.body);
  if (!begun) fail("an answer of the keeper is damaged");
  return {{begun->store, begun->number, begun->only_reads}, answer.message.text};
}

void KeeperClient::join(const StoreRun& run) {
  std::unique_lock lock(mutex_);
  if (hello_.run == run.number && hello_.store == run.store) return;
  hello_.run = run.number;
  hello_.store = run.store;
  const auto hello = encode_body(hello_);
  const bool is_connected = static_cast<bool>(socket_);
  lock.unlock();
  // Otherwise it is said when there is a connection.
  if (is_connected) tell(KeeperOp::hello, hello);
}

// Asks again as long as the keeper says that another process has to end first.
KeeperClient::Answer KeeperClient::call_until(std::chrono::milliseconds limit, KeeperOp op,
                                              const std::vector<std::byte>& body, const Check& check) {
  for (const Deadline deadline(limit);; std::this_thread::sleep_for(kBetweenQuestions)) {
    Answer answer = call(op, body, {}, check);
    if (answer.message.code != KeeperCode::in_use || deadline.passed()) return answer;
    if (check) check();
  }
}

void KeeperClient::finish_run(std::uint32_t run, const Check& check) {
  FieldWriter body;
  body.number(run);
  (void)call(KeeperOp::finish_run, body.all(), {}, check);
}

std::optional<KeeperClient::KeptGroup> KeeperClient::kept_group(const KeptSearch& search,
                                                                std::chrono::milliseconds limit, const Check& check) {
  for (const Deadline deadline(std::min(kTimeToEnd, limit));; std::this_thread::sleep_for(kBetweenQuestions)) {
    const Answer answer = ask(KeeperOp::kept_group, encode_body(search), {}, limit, check);
    if (answer.is_lost) return std::nullopt;
    if (answer.message.code == KeeperCode::in_use && !deadline.passed()) continue;
    if (answer.message.code != KeeperCode::done || answer.files.size() != 1) return std::nullopt;
    auto at = decode_body<KeptGroupAt>(answer.message.body);
    if (!at) fail("an answer of the keeper is damaged");
    return KeptGroup{read_memory_file(answer.files.front()), std::move(*at)};
  }
}

KeeperClient::Found KeeperClient::find(const Search& search, const Check& check) {
  // It ends when nothing grows any more.
  constexpr std::chrono::hours kLongest{24};
  const Answer answer = call_until(kLongest, KeeperOp::find, encode_body(search), check);
  auto said = decode_body<FoundInStore>(answer.message.body);
  const auto name = said ? DatasetName::parse(said->name) : std::nullopt;
  const bool is_good = said && said->name.empty() == answer.files.empty() && (said->name.empty() || name);
  if (!is_good) fail("an answer of the keeper is damaged");
  Found found{{}, said->is_chosen != 0, std::move(said->unusable)};
  if (name) found.plan = decode_plan(*name, read_memory_file(answer.files.front()));
  return found;
}

bool KeeperClient::verify(const DatasetName& name, std::int32_t rank, const Check& check) {
  constexpr std::uint64_t kAtOnce = std::uint64_t{64} << 20U;
  static_assert(kAtOnce % Extent::kPiece == 0);
  const auto stored = this->rank(name, rank, check);
  if (!stored) return false;
  for (const Extent& extent : stored->extents) {
    for (std::uint64_t at = 0; at < extent.bytes; at += kAtOnce) {
      const Reading reading{name.text(), rank, extent.member, at, std::min(kAtOnce, extent.bytes - at), 0};
      const Answer answer = call(KeeperOp::verify, encode_body(reading), {}, check);
      if (answer.message.code != KeeperCode::done) return false;
    }
  }
  return true;
}

void KeeperClient::drop_kept(const Dropped& dropped) { tell(KeeperOp::drop_kept, encode_body(dropped)); }

std::optional<StoredRank> KeeperClient::rank(const DatasetName& name, std::int32_t rank, const Check& check) {
  FieldWriter body;
  body.text(name.text());
  body.number(rank);
  const Answer answer = call(KeeperOp::rank, body.all(), {}, check);
  if (answer.message.code != KeeperCode::done || answer.files.size() != 1) return std::nullopt;
  auto part = decode_part(name, 0, read_memory_file(answer.files.front()));
  if (!part || part->ranks.size() != 1) fail("an answer of the keeper is damaged");
  return std::move(part->ranks.front());
}

bool KeeperClient::read(const Reading& reading, int file, const Check& check) {
  return call(KeeperOp::read, encode_body(reading), std::span(&file, 1), check).message.code == KeeperCode::done;
}

template <class Entry>
std::vector<Entry> KeeperClient::list_of(KeeperOp op, const Check& check) {
  const Answer answer = call(op, {}, {}, check);
  if (answer.files.size() != 1) fail("an answer of the keeper is damaged");
  auto list = decode_body<std::vector<Entry>>(read_memory_file(answer.files.front()));
  if (!list) fail("an answer of the keeper is damaged");
  return std::move(*list);
}

std::vector<Listed> KeeperClient::list(const Check& check) { return list_of<Listed>(KeeperOp::list, check); }

std::vector<KeptGroupOf> KeeperClient::kept_groups(const Check& check) {
  return list_of<KeptGroupOf>(KeeperOp::list_groups, check);
}

bool KeeperClient::call_about(KeeperOp op, const std::string& name, const Check& check) {
  return call(op, body_of(name), {}, check).message.code == KeeperCode::done;
}

bool KeeperClient::remove(const std::string& name, const Check& check) {
  return call_about(KeeperOp::remove, name, check);
}

bool KeeperClient::set_current(const std::string& name, const Check& check) {
  return call_about(KeeperOp::set_current, name, check);
}

std::optional<HaltConditions> KeeperClient::halt_conditions(const Check& check) {
  const Answer answer = call(KeeperOp::get_halt, {}, {}, check);
  if (answer.message.code != KeeperCode::done) return std::nullopt;
  return parse_halt(FieldReader(answer.message.body).text());
}

void KeeperClient::halt(const HaltConditions& conditions, const Check& check) {
  if (!call_about(KeeperOp::halt, text_of(conditions), check)) fail("the reason has more than one line");
}

bool KeeperClient::is_complete(const DatasetName& name, const Check& check) {
  return call_about(KeeperOp::check, name.text(), check);
}

void KeeperClient::note_taken(const DatasetName& name) { tell(KeeperOp::taken, body_of(name.text())); }

}  // namespace fenix_impl

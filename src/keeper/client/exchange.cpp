// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/client/exchange.hpp"

#include <algorithm>

#include "keeper/request_error.hpp"
#include "store/fields.hpp"

namespace fenix_impl {
namespace {

std::vector<int> numbers_of(const std::vector<SharedFile>& files) {
  std::vector<int> numbers;
  for (const SharedFile& each : files) numbers.push_back(each->get());
  return numbers;
}

constexpr const char* kDoesNotRead = "the keeper of this node does not read";
// A keeper that is there tells of its progress within this time.
constexpr std::chrono::seconds kTimeToTell{2};
// On a loaded machine it may come later.
constexpr std::chrono::seconds kLeastSilence{5};

void note_sent(PendingOffer& pending) {
  pending.since = std::chrono::steady_clock::now();
  pending.since_as_lived = LivedClock::now();
}

}  // namespace

// One keeper may end, and the next one not be there yet.
std::uint64_t KeeperExchange::send(Message& request, std::span<const int> files, std::span<const int> regions) {
  request.id = ++last_id_;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const Sent sent = send_once(request, files, regions);
    if (sent == Sent::full) fail_request(kDoesNotRead);
    if (sent == Sent::sent) {
      asked_.emplace(request.id, request.op);
      return request.id;
    }
  }
  fail_request("the keeper of this node has ended");
}

void KeeperExchange::tell(Message& request, std::span<const int> files, std::span<const int> regions) {
  asked_.erase(send(request, files, regions));
}

// A keeper that has got some of the regions, and not what they are for, would take them for those of the next request.
Sent KeeperExchange::send_once(const Message& request, std::span<const int> files, std::span<const int> regions,
                               bool waits) {
  const Sent sent = socket_.send(request, files, regions, waits);
  const bool is_torn = sent == Sent::full && !regions.empty();
  if (sent == Sent::end || is_torn) lose_connection();
  return sent;
}

std::uint64_t KeeperExchange::offer(PendingOffer offered) {
  const std::uint64_t id = send(offered.message, numbers_of(offered.files), numbers_of(offered.regions));
  note_sent(offered);
  pending_.emplace(id, std::move(offered));
  return id;
}

void KeeperExchange::offer_if_room(PendingOffer offered) {
  offered.message.id = ++last_id_;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const Sent sent =
        send_once(offered.message, numbers_of(offered.files), numbers_of(offered.regions), /*waits=*/false);
    if (sent == Sent::sent) full_since_.reset();
    if (sent == Sent::sent) return;
    if (sent == Sent::end) continue;
    const auto now = std::chrono::steady_clock::now();
    if (now - full_since_.value_or(now) > kPatienceWithKeeper) fail_request(kDoesNotRead);
    full_since_ = full_since_.value_or(now);
    return;
  }
  fail_request("the keeper of this node has ended");
}

// Gives the offers that a keeper has not answered to the next one.
void KeeperExchange::send_again() {
  for (auto& [id, pending] : pending_) {
    if (asked_.contains(id) || answers_.contains(id)) continue;
    try {
      if (pending.attempts++ < kMostAttempts &&
          send_once(pending.message, numbers_of(pending.files), numbers_of(pending.regions)) == Sent::sent) {
        asked_.emplace(id, KeeperOp::flush);
        note_sent(pending);
        continue;
      }
    } catch (const Error&) {
      // There is no keeper: the flush has failed.
    }
    answers_[id].message = {KeeperOp::flush, id, KeeperCode::failed, "the keepers of this node have ended", {}};
    give_up(pending);
  }
}

// Other ranks may have offered their data to a keeper that lives, and would wait for this one.
void KeeperExchange::give_up(const PendingOffer& pending) {
  const auto offered = decode_body<Offered>(pending.message.body);
  const auto name = offered ? DatasetName::parse(offered->name) : std::nullopt;
  if (!name) return;
  const Abandoned abandoned{name->group, 0, 0, name->text()};
  try {
    (void)send_once({KeeperOp::abandon, ++last_id_, KeeperCode::done, {}, encode_body(abandoned)}, {}, {});
  } catch (const Error&) {
    // There is no keeper: nobody waits in one.
  }
}

void KeeperExchange::lose_connection() {
  has_lost_offers_ = !pending_.empty();
  has_fallen_silent_ = false;
  socket_.close();
  for (const auto& [id, op] : asked_) {
    if (pending_.contains(id)) continue;
    answers_[id].is_lost = true;
    answers_[id].message = {op, id, KeeperCode::failed, "the keeper of this node has ended", {}};
  }
  asked_.clear();
}

bool KeeperExchange::pump() {
  bool some = false;
  if (std::exchange(has_lost_offers_, false)) send_again();
  // Nothing more is to come when all is answered; a look would cost as much as an answer.
  while (socket_.is_open() && !(some && asked_.empty())) {
    Datagram datagram;
    const Received received = socket_.receive(datagram);
    if (received == Received::nothing) return some;
    auto message = received == Received::message ? decode_message(datagram.bytes) : std::nullopt;
    if (!message) {
      lose_connection();
      return true;
    }
    some = true;
    take(std::move(*message), std::move(datagram.files));
  }
  return some;
}

void KeeperExchange::take(Message message, std::vector<Descriptor> files) {
  has_fallen_silent_ = false;
  heard_ = std::chrono::steady_clock::now();
  heard_as_lived_ = LivedClock::now();
  const std::uint64_t id = message.id;
  if (message.op == KeeperOp::progress) {
    if (pending_.contains(id)) written_[id] = FieldReader(message.body).number<std::uint64_t>();
  } else if (message.op == KeeperOp::keep || message.op == KeeperOp::keep_group) {
    refusal_ = message.text;
  } else if (asked_.erase(id) > 0) {
    answers_[id] = {std::move(message), std::move(files)};
  }
}

std::optional<KeeperAnswer> KeeperExchange::take_answer(std::uint64_t id) {
  if (auto answer = answers_.extract(id)) return std::move(answer.mapped());
  return std::nullopt;
}

void KeeperExchange::forget(std::uint64_t id) {
  asked_.erase(id);
  answers_.erase(id);
}

std::optional<FlushOutcome> KeeperExchange::take_outcome(std::uint64_t flush) {
  if (!answers_.contains(flush)) (void)pump();
  const auto pending = pending_.find(flush);
  if (pending == pending_.end()) return std::nullopt;
  FlushOutcome outcome;
  if (auto answer = take_answer(flush)) {
    outcome = {answer->message.code, std::move(answer->message.text)};
  } else {
    if (!is_silent(pending->second)) return std::nullopt;
    asked_.erase(flush);
    outcome = {KeeperCode::failed, "the keeper of this node does not answer"};
  }
  pending_.erase(pending);
  written_.erase(flush);
  return outcome;
}

// It tells of its progress each second, whatever the file system does: one that does not is stopped. Messages to it say nothing of it. It is
// waited for once: later offers have failed as long as nothing is heard.
bool KeeperExchange::is_silent(const PendingOffer& pending) {
  if (has_fallen_silent_) return true;
  const auto silence = std::chrono::steady_clock::now() - std::max(heard_, pending.since);
  if (silence < std::max(kLeastSilence, std::chrono::seconds(socket_.hello().seconds))) return false;
  // Both may have been stopped. Commits are rare looks: that they have lived so long as well would come late.
  has_fallen_silent_ = LivedClock::now() - std::max(heard_as_lived_, pending.since_as_lived) >= kTimeToTell;
  return has_fallen_silent_;
}

std::uint64_t KeeperExchange::written(std::uint64_t flush) const {
  const auto found = written_.find(flush);
  return found != written_.end() ? found->second : 0;
}

}  // namespace fenix_impl

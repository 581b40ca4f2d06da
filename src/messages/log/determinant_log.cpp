// SPDX-License-Identifier: BSD-3-Clause
#include "messages/log/determinant_log.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>

#include "base/error.hpp"
#include "base/fault.hpp"

namespace fenix_impl {
namespace {

constexpr std::uint64_t kCommOfDeterminants = 0x6465636973696F6EU;  // of entries with determinants
constexpr std::int64_t kIsMatch = -1;                               // in place of a call

const char* name_of(DeterminantKind call) {
  switch (call) {
    case DeterminantKind::test:
      return "MPI_Test";
    case DeterminantKind::testall:
      return "MPI_Testall";
    case DeterminantKind::testany:
      return "MPI_Testany";
    case DeterminantKind::testsome:
      return "MPI_Testsome";
    case DeterminantKind::waitany:
      return "MPI_Waitany";
    case DeterminantKind::waitsome:
      return "MPI_Waitsome";
    case DeterminantKind::get_status:
      return "MPI_Request_get_status";
    case DeterminantKind::probe:
      return "MPI_Probe";
    case DeterminantKind::iprobe:
      return "MPI_Iprobe";
    case DeterminantKind::mprobe:
      return "MPI_Mprobe";
    case DeterminantKind::improbe:
      return "MPI_Improbe";
    case DeterminantKind::need_commit:
      return "Fenix_Data_need_commit";
  }
  return "another call";
}

}  // namespace

Signature DeterminantLog::signature_in(const Journal& journal) { return {kCommOfDeterminants, journal.slot(), 0}; }
Signature DeterminantLog::signature_of_loss(const Journal& journal) { return {kCommOfDeterminants, journal.slot(), 1}; }

// -------------------------------------------------------------------------------------------------------------------- outcomes

std::optional<std::vector<int>> DeterminantLog::next(DeterminantKind call, bool may_be_negative) {
  while (!known_.empty() && known_.front().end() <= position_.outcomes) known_.pop_front();
  if (known_.empty()) return std::nullopt;
  const Run& run = known_.front();
  if (run.first > position_.outcomes) {
    throw Error(FENIX_ERROR_NODATA_FOUND, std::string("the outcome of ") + name_of(call) +
                                              " is in no log any more: its predecessor has stored a state since");
  }
  const bool is_negative = position_.outcomes < run.first + run.negatives;
  if (is_negative ? !may_be_negative : call != run.call) {
    const std::string before =
        is_negative ? "had made a call that found nothing" : std::string("had called ") + name_of(*run.call);
    throw Error(FENIX_ERROR_INVALID_LOGIC_CALL,
                std::string("a replacement does not do what its predecessor did: it calls ") + name_of(call) +
                    ", and that one " + before);
  }
  ++position_.outcomes;
  return is_negative ? std::vector<int>() : run.outcome;
}

DeterminantLog::Run& DeterminantLog::open_run() {
  has_new_ = true;
  if (new_.empty() || new_.back().call) {
    new_.emplace_back();
    new_.back().first = position_.outcomes;
  }
  return new_.back();
}

void DeterminantLog::note(DeterminantKind call, std::span<const int> outcome) {
  Run& run = open_run();
  if (outcome.empty()) {
    ++run.negatives;
  } else {
    run.call = call;
    run.outcome.assign(outcome.begin(), outcome.end());
  }
  ++position_.outcomes;
  fault_point("replay.noted");
}

std::optional<DeterminantLog::Match> DeterminantLog::match_of(std::uint64_t receive) const {
  const auto found = known_matches_.find(receive);
  return found != known_matches_.end() ? std::optional(found->second) : std::nullopt;
}

void DeterminantLog::note_match(std::uint64_t receive, const Match& match) {
  new_matches_[receive] = match;
  has_new_ = true;
  fault_point("replay.matched");
}

// -------------------------------------------------------------------------------------------------------------------- journal

// Words of a run: call, outcomes before, negative ones, length, outcome. Words of a match: -1, receive, source, tag.
void DeterminantLog::write(Journal& journal, const Append& append) {
  if (!has_new()) return;
  // It is there before something is lost: another one that takes its place finds room at any time.
  if (!tells_of_loss_) {
    const Position none;
    tells_of_loss_ = append(signature_of_loss(journal), 1, {sizeof none, std::as_bytes(std::span(&none, 1))},
                            journal.writer().latest_number() + 1);
  }
  std::vector<std::int64_t> words;
  Position end;
  for (const Run& run : new_) {
    const auto call = run.call ? static_cast<std::int64_t>(*run.call) : 0;
    words.insert(words.end(), {call, static_cast<std::int64_t>(run.first), static_cast<std::int64_t>(run.negatives),
                               static_cast<std::int64_t>(run.outcome.size())});
    words.insert(words.end(), run.outcome.begin(), run.outcome.end());
    end.outcomes = run.end();
  }
  for (const auto& [receive, match] : new_matches_) {
    words.insert(words.end(), {kIsMatch, static_cast<std::int64_t>(receive), match.source, match.tag});
    end.receives = receive;
  }
  const auto bytes = std::as_bytes(std::span<const std::int64_t>(words));
  if (append(signature_in(journal), kDepth, {bytes.size(), bytes}, next_number_)) {
    written_.push_back({next_number_, end});
    ++next_number_;
  } else {
    end.move_beyond(lost_);
    say_lost(journal, end);
  }
  new_.clear();
  new_matches_.clear();
  has_new_ = false;
  fault_point("replay.decided");
}

void DeterminantLog::read(std::span<const std::int64_t> words, Position& end) {
  const auto word = [&](std::size_t at) {
    if (at < words.size()) return words[at];
    throw Error(FENIX_ERROR_NODATA_FOUND, "the decisions of a predecessor are damaged");
  };
  for (std::size_t at = 0; at < words.size();) {
    if (words[at] == kIsMatch) {
      const auto receive = static_cast<std::uint64_t>(word(at + 1));
      known_matches_[receive] = {static_cast<int>(word(at + 2)), static_cast<int>(word(at + 3))};
      end.receives = std::max(end.receives, receive);
      at += 4;
      continue;
    }
    Run run;
    if (word(at) != 0) run.call = static_cast<DeterminantKind>(word(at));
    run.first = static_cast<std::uint64_t>(word(at + 1));
    run.negatives = static_cast<std::uint64_t>(word(at + 2));
    const auto length = static_cast<std::size_t>(word(at + 3));
    for (std::size_t i = 0; i < length; ++i) run.outcome.push_back(static_cast<int>(word(at + 4 + i)));
    at += 4 + length;
    end.outcomes = std::max(end.outcomes, run.end());
    known_.push_back(std::move(run));
  }
}

std::optional<DeterminantLog::Position> DeterminantLog::read_loss(const Journal& journal) {
  for (const Entry& each : journal.reader().messages_of(journal.slot(), signature_of_loss(journal))) {
    Position until;
    if (each.head.bytes == sizeof until &&
        journal.reader().read(journal.slot(), each, std::as_writable_bytes(std::span(&until, 1)))) {
      return until;
    }
    throw Error(FENIX_ERROR_NODATA_FOUND, "the decisions of a predecessor are damaged");
  }
  return std::nullopt;
}

bool DeterminantLog::lacks_those_of_predecessor(const Journal& journal, const Position& begin) const {
  return !is_begun() && read_loss(journal).value_or(Position()).is_beyond(begin);
}

// Survivors know what they have written.
void DeterminantLog::reattach(const Journal& journal, const Position& begin,
                              const std::function<std::vector<Older>()>& older) {
  if (is_begun()) return;
  const auto loss = read_loss(journal);
  tells_of_loss_ = loss.has_value();
  lost_ = loss.value_or(Position());
  begin_ = begin;
  const auto take = [this](std::uint64_t number, std::span<const std::byte> payload) {
    // A death may leave an entry in both.
    if (number < next_number_) return;
    std::vector<std::int64_t> words(payload.size() / sizeof(std::int64_t));
    std::memcpy(words.data(), payload.data(), words.size() * sizeof(std::int64_t));
    Position end;
    read(words, end);
    written_.push_back({number, end});
    next_number_ = number + 1;
  };
  if (older) {
    for (const Older& each : older()) take(each.number, each.payload);
    if (!written_.empty()) note_spilled(written_.back().number);
  }
  std::vector<std::byte> payload;
  for (const Entry& each : journal.reader().messages_of(journal.slot(), signature_in(journal))) {
    payload.resize(each.head.bytes);
    if (!journal.reader().read(journal.slot(), each, payload)) {
      throw Error(FENIX_ERROR_NODATA_FOUND, "the decisions of a predecessor are damaged");
    }
    take(each.head.number, payload);
  }
}

void DeterminantLog::say_lost(Journal& journal, const Position& until) {
  journal.writer().append(signature_of_loss(journal), 1, {sizeof until, std::as_bytes(std::span(&until, 1))});
  tells_of_loss_ = true;
  lost_ = until;
}

void DeterminantLog::forget(Journal& journal) {
  if (read_loss(journal).value_or(Position()) != Position()) say_lost(journal, {});
  begin_ = {};
  known_.clear();
  known_matches_.clear();
  new_.clear();
  new_matches_.clear();
  has_new_ = false;
  written_.clear();
  spilled_ = 0;
}

// One entry says for all that are there now that they are of no use without those that go.
bool DeterminantLog::lose(Journal& journal, std::uint64_t number) {
  Position gone;
  auto rest = written_.begin();
  for (; rest != written_.end() && rest->number <= number; ++rest) gone.move_beyond(rest->end);
  const bool is_news = gone.is_beyond(lost_);
  if (is_news) {
    for (auto each = rest; each != written_.end(); ++each) gone.move_beyond(each->end);
    say_lost(journal, gone);
  }
  spilled_ -= std::min(spilled_, static_cast<std::size_t>(rest - written_.begin()));
  written_.erase(written_.begin(), rest);
  return is_news;
}

// Files last as long as the job: a place for each entry would take memory without end.
void DeterminantLog::note_spilled(std::uint64_t number) {
  const auto first = written_.begin() + static_cast<std::ptrdiff_t>(spilled_);
  const auto rest = std::find_if(first, written_.end(), [number](const Written& each) { return each.number > number; });
  if (first == rest) return;
  Written all{std::prev(rest)->number, {}};
  for (auto each = first; each != rest; ++each) all.end.move_beyond(each->end);
  *first = all;
  written_.erase(std::next(first), rest);
  ++spilled_;
}

std::uint64_t DeterminantLog::release(Journal& journal, const Position& position) {
  begin_.move_beyond(position);
  if (lost_ != Position() && !lacks_some()) say_lost(journal, {});
  std::uint64_t number = 0;
  while (!written_.empty() && written_.front().end.outcomes <= position.outcomes &&
         written_.front().end.receives <= position.receives) {
    number = written_.front().number;
    written_.pop_front();
    spilled_ -= spilled_ > 0 ? 1 : 0;
  }
  if (number > 0) journal.ring().release_until(signature_in(journal), number);
  return number;
}

}  // namespace fenix_impl

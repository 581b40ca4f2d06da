// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/trace.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace fenix_impl {
namespace {

/// Words that follow an event, besides the numbers of an outcome.
constexpr std::size_t words_after(std::int64_t event) {
  constexpr std::size_t kWords[] = {0, 1, 2, 2, 1, 3};
  return event > 0 && event < 6 ? kWords[event] : 0;
}

}  // namespace

std::int64_t Trace::index_of(const MessageFlow& flow) {
  const auto [found, is_new] = indices_.try_emplace(flow, static_cast<std::int64_t>(flows_.size()));
  if (is_new) flows_.push_back(flow);
  return found->second;
}

void Trace::note_sent(const MessageFlow& flow) {
  last_ = words_.size();
  words_.insert(words_.end(), {sent, index_of(flow)});
}

void Trace::note_delivered(const MessageFlow& flow, std::uint64_t number) {
  last_ = words_.size();
  words_.insert(words_.end(), {delivered, index_of(flow), static_cast<std::int64_t>(number)});
}

// A program may test a thousand times.
void Trace::note_outcome(DeterminantKind call, std::span<const int> numbers) {
  if (!numbers.empty()) {
    last_ = words_.size();
    words_.insert(words_.end(), {outcome, static_cast<std::int64_t>(call), static_cast<std::int64_t>(numbers.size())});
    words_.insert(words_.end(), numbers.begin(), numbers.end());
    return;
  }
  if (last_ < words_.size() && words_[last_] == negatives) {
    ++words_[last_ + 1];
    return;
  }
  last_ = words_.size();
  words_.insert(words_.end(), {negatives, 1});
}

void Trace::note_match(std::uint64_t receive, int source, int tag) {
  last_ = words_.size();
  words_.insert(words_.end(), {match, static_cast<std::int64_t>(receive), source, tag});
}

void Trace::clear() { *this = {}; }

Trace Trace::of(std::vector<MessageFlow> flows, Words words) {
  Trace trace;
  trace.flows_ = std::move(flows);
  trace.words_ = std::move(words);
  if (!trace.makes_sense()) throw Error(FENIX_ERROR_NODATA_FOUND, "the trace of a checkpoint is damaged");
  return trace;
}

bool Trace::makes_sense() const {
  for (std::size_t at = 0; at < words_.size();) {
    const std::int64_t event = words_[at];
    const std::size_t follow = words_after(event);
    if (follow == 0 || words_.size() - at <= follow) return false;
    const bool has_flow = event == sent || event == delivered;
    if (has_flow && (words_[at + 1] < 0 || static_cast<std::size_t>(words_[at + 1]) >= flows_.size())) return false;
    if (event == negatives && words_[at + 1] <= 0) return false;
    at += 1 + follow;
    if (event != outcome) continue;
    const std::int64_t length = words_[at - 1];
    if (length < 0 || static_cast<std::size_t>(length) > words_.size() - at) return false;
    at += static_cast<std::size_t>(length);
  }
  return true;
}

template <class Visit>
void Trace::for_each(std::size_t end, const Visit& visit) const {
  for (std::size_t at = 0; at < std::min(end, words_.size());) {
    const std::int64_t event = words_[at];
    std::size_t follow = words_after(event);
    if (event == outcome) follow += static_cast<std::size_t>(words_[at + 2]);
    if (!visit(at, event, std::span(words_).subspan(at + 1, follow))) return;
    at += 1 + follow;
  }
}

void Trace::add_sent(std::size_t end, FlowCounts& counts) const {
  for_each(end, [&](std::size_t, std::int64_t event, std::span<const std::int64_t> words) {
    if (event == sent) ++counts[flows_[static_cast<std::size_t>(words[0])]];
    return true;
  });
}

std::size_t Trace::first_without_sender(std::size_t end, const FlowCounts& counts) const {
  std::size_t first = std::min(end, words_.size());
  for_each(end, [&](std::size_t place, std::int64_t event, std::span<const std::int64_t> words) {
    if (event != delivered) return true;
    const MessageFlow& flow = flows_[static_cast<std::size_t>(words[0])];
    if (static_cast<std::uint64_t>(words[1]) <= count_of(counts, flow)) return true;
    first = place;
    return false;
  });
  return first;
}

ForcedOutcomes::ForcedOutcomes(const Trace& trace, std::size_t end) {
  trace.for_each(end, [&](std::size_t, std::int64_t event, std::span<const std::int64_t> words) {
    if (event == Trace::match) {
      matches_[static_cast<std::uint64_t>(words[0])] = {static_cast<int>(words[1]), static_cast<int>(words[2])};
    }
    if (event == Trace::negatives) outcomes_.push_back({static_cast<std::uint64_t>(words[0]), {}, {}});
    if (event == Trace::outcome) {
      Outcome& made = outcomes_.emplace_back();
      made.call = static_cast<DeterminantKind>(words[0]);
      for (const std::int64_t number : words.subspan(2)) made.numbers.push_back(static_cast<int>(number));
    }
    return true;
  });
}

std::optional<std::vector<int>> ForcedOutcomes::next(DeterminantKind call, bool may_be_negative) {
  if (outcomes_.empty()) return std::nullopt;
  Outcome& due = outcomes_.front();
  const bool is_negative = due.negatives > 0;
  if (is_negative ? !may_be_negative : call != due.call) {
    throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "a rank does not do after the restart what it had done before it");
  }
  if (is_negative) {
    if (--due.negatives == 0) outcomes_.pop_front();
    return std::vector<int>();
  }
  std::vector<int> numbers = std::move(due.numbers);
  outcomes_.pop_front();
  return numbers;
}

std::optional<ForcedOutcomes::Match> ForcedOutcomes::match_of(std::uint64_t receive) {
  const auto found = matches_.find(receive);
  if (found == matches_.end()) return std::nullopt;
  const Match match = found->second;
  matches_.erase(found);
  return match;
}

}  // namespace fenix_impl

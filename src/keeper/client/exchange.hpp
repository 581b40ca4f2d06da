// SPDX-License-Identifier: BSD-3-Clause
// The messages between a rank and the keeper of its node: requests without an answer, answers, and offers that a later keeper gets if
// one ends. For one thread at a time; KeeperConnection has the lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/lived_clock.hpp"
#include "keeper/client/client_socket.hpp"
#include "keeper/message.hpp"
#include "store/part.hpp"

namespace fenix_impl {

/// An answer of the keeper.
struct KeeperAnswer {
  Message message;
  std::vector<Descriptor> files;
  bool is_lost = false;  ///< the keeper has ended before
};

/// How a flush has ended.
struct FlushOutcome {
  KeeperCode code = KeeperCode::done;
  std::string text;
};

/// An offer that has not been answered: another keeper is given it again if the first one ends.
struct PendingOffer {
  Message message;
  std::vector<SharedFile> files;
  std::vector<SharedFile> regions;  ///< those that the message has no room for
  int attempts = 1;
  std::chrono::steady_clock::time_point since;  ///< the keeper that has it now has got it
  LivedClock::time_point since_as_lived;
};

/// All that send throw Error(FENIX_ERROR_STORE).
class KeeperExchange {
 public:
  /// Requests are tried so often, each time with another keeper.
  static constexpr int kMostAttempts = 3;

  KeeperExchange(std::string program, Hello hello) : socket_(std::move(program), std::move(hello)) {}

  [[nodiscard]] ClientSocket& socket() { return socket_; }

  /// Sends a request that is answered. Returns its number.
  std::uint64_t send(Message& request, std::span<const int> files, std::span<const int> regions);
  /// Sends one of which the answer counts for nothing.
  void tell(Message& request, std::span<const int> files, std::span<const int> regions);
  /// Takes what has come. Returns false if nothing has.
  bool pump();
  /// Returns the answer to a request, once; nullopt if it has not come.
  [[nodiscard]] std::optional<KeeperAnswer> take_answer(std::uint64_t id);
  /// Forgets a request: an answer that comes later is nobody's.
  void forget(std::uint64_t id);
  /// Returns why the keeper has last refused to keep memory, once; nullopt if it has not.
  [[nodiscard]] std::optional<std::string> take_refusal() { return std::exchange(refusal_, std::nullopt); }

  /// Sends an offer, and remembers it until its outcome is known. Returns its number.
  std::uint64_t offer(PendingOffer offered);
  /// Sends an offer once, if there is room for it. Throws if the keeper has not read for long.
  void offer_if_room(PendingOffer offered);
  [[nodiscard]] bool is_pending(std::uint64_t flush) const { return pending_.contains(flush); }
  /// Returns how a flush has ended, once; nullopt while it has not.
  [[nodiscard]] std::optional<FlushOutcome> take_outcome(std::uint64_t flush);
  /// Returns the bytes that are written of a flush that has not ended.
  [[nodiscard]] std::uint64_t written(std::uint64_t flush) const;

 private:
  [[nodiscard]] Sent send_once(const Message& request, std::span<const int> files, std::span<const int> regions,
                               bool waits = true);
  void send_again();
  void give_up(const PendingOffer& pending);
  void take(Message message, std::vector<Descriptor> files);
  void lose_connection();
  [[nodiscard]] bool is_silent(const PendingOffer& pending);

  ClientSocket socket_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, KeeperOp> asked_;  ///< requests without an answer
  std::map<std::uint64_t, KeeperAnswer> answers_;
  std::map<std::uint64_t, PendingOffer> pending_;  ///< flushes
  bool has_lost_offers_ = false;
  std::map<std::uint64_t, std::uint64_t> written_;  ///< bytes, by flush
  std::chrono::steady_clock::time_point heard_;     ///< time of the latest message of the keeper
  LivedClock::time_point heard_as_lived_;
  bool has_fallen_silent_ = false;  ///< an offer has waited for it in vain, and nothing was heard since
  std::optional<std::chrono::steady_clock::time_point> full_since_;  ///< time since which no offer to keep has had room
  std::optional<std::string> refusal_;
};

}  // namespace fenix_impl

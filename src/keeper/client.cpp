// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "store/fields.hpp"

extern char** environ;

namespace fenix_impl {
namespace {

// Ranks of one user that use the same store on a node meet there. Nodes may share the folder: a name counts within one network namespace of
// one host.
std::string name_for(const std::string& root) {
  utsname host{};
  struct stat network {};
  (void)::uname(&host);
  (void)::stat("/proc/self/ns/net", &network);
  const std::string all = root + "\n" + host.nodename + "\n" + std::to_string(network.st_ino);
  return std::to_string(hash_bytes(std::as_bytes(std::span(all))));
}

/// The environment, without libraries that are to be loaded into programs with MPI.
std::vector<char*> environment_of_keeper() {
  std::vector<char*> all;
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::string_view(*each).rfind("LD_PRELOAD=", 0) != 0) all.push_back(*each);
  }
  all.push_back(nullptr);
  return all;
}

std::vector<int> numbers_of(const std::vector<SharedFile>& files) {
  std::vector<int> numbers;
  for (const SharedFile& each : files) numbers.push_back(each->get());
  return numbers;
}

constexpr int kMostAttempts = 3;
constexpr const char* kDoesNotRead = "the keeper of this node does not read";
constexpr std::chrono::seconds kPatience{10};
// A keeper that is there tells of its progress within this time.
constexpr std::chrono::seconds kTimeToTell{2};

// Other ranks may wait for this one meanwhile.
Deadline::Clock::duration time_to_connect() {
  constexpr int kPart = 4;
  return std::min<Deadline::Clock::duration>(kPatience, Deadline::timeout() / kPart);
}

}  // namespace

void KeeperClient::fail(const std::string& why) { throw Error(FENIX_ERROR_STORE, "the store: " + why); }

KeeperClient::KeeperClient(std::string program, Hello hello)
    : program_(std::move(program)), hello_(std::move(hello)), socket_name_(name_for(hello_.root)) {}

// The keeper has no other descriptors of this process, and none of its standard streams: the launcher waits for their end.
void KeeperClient::start_keeper(const Listener& listener) const {
  constexpr int kListener = 3;
  constexpr int kLock = 4;
  if (program_.empty()) {
    fail(
        "there is no fenix-keeper: it is not beside the library, and not in a folder of PATH. FENIX_KEEPER gives its "
        "path");
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, listener.socket.get(), kListener);
  posix_spawn_file_actions_adddup2(&actions, listener.lock.get(), kLock);
  for (int stream = 0; stream < kListener; ++stream) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, kLock + 1);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string path = program_;
  char* const arguments[] = {path.data(), nullptr};
  const auto variables = environment_of_keeper();
  pid_t child = -1;
  const int result = ::posix_spawn(&child, path.c_str(), &actions, &attributes, arguments, variables.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (result != 0) fail("cannot start " + program_ + ": " + std::strerror(result));
  // It leaves a grandchild, at once. A program that does not is no keeper.
  pid_t ended = 0;
  for (const Deadline deadline(time_to_connect()); ended == 0 && !deadline.passed();) {
    ended = ::waitpid(child, nullptr, WNOHANG);
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (ended != 0) return;
  (void)::kill(child, SIGKILL);
  (void)::waitpid(child, nullptr, 0);
  fail(program_ + " is no keeper: it does not leave its parent");
}

void KeeperClient::connect() {
  if (socket_) return;
  for (const Deadline deadline(time_to_connect()); !deadline.passed();) {
    socket_ = connect_to(socket_name_);
    if (socket_) {
      const Message hello{KeeperOp::hello, 0, KeeperCode::done, {}, encode_body(hello_)};
      if (send_datagram(socket_.get(), encode(hello), {}) == Sent::sent) {
        ++connections_;
        return;
      }
      socket_ = {};
    }
    // The process that gets the name starts the keeper. One that is about to end gives the name up.
    if (const Listener listener = listen_at(socket_name_)) {
      start_keeper(listener);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  fail("no keeper can be reached on this node");
}

// One keeper may end, and the next one not be there yet.
std::uint64_t KeeperClient::send(Message& request, std::span<const int> files, std::span<const int> regions) {
  request.id = ++last_id_;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const Sent sent = send_once(request, files, regions);
    if (sent == Sent::full) fail(kDoesNotRead);
    if (sent == Sent::sent) {
      asked_.emplace(request.id, request.op);
      return request.id;
    }
  }
  fail("the keeper of this node has ended");
}

// A keeper that has got some of the regions, and not what they are for, would take them for those of the next request.
Sent KeeperClient::send_once(const Message& request, std::span<const int> files, std::span<const int> regions,
                             bool waits) {
  try {
    connect();
  } catch (const std::system_error& error) {
    fail(error.what());
  }
  Sent sent = send_regions(regions);
  if (sent == Sent::sent) sent = send_datagram(socket_.get(), encode(request), files, waits);
  const bool is_torn = sent == Sent::full && !regions.empty();
  if (sent == Sent::end || is_torn) lose_connection();
  return sent;
}

Sent KeeperClient::send_regions(std::span<const int> regions) {
  if (regions.empty()) return Sent::sent;
  const std::vector<std::byte> message = encode({KeeperOp::regions, 0, KeeperCode::done, {}, {}});
  Sent sent = Sent::sent;
  for (std::size_t done = 0; sent == Sent::sent && done < regions.size(); done += kMostDatagramFiles) {
    const auto some = regions.subspan(done, std::min(kMostDatagramFiles, regions.size() - done));
    sent = send_datagram(socket_.get(), message, some);
  }
  return sent;
}

// Returns false if there was no room for it. A keeper that does not read for long is told of by an error.
bool KeeperClient::send_kept(Message& request, const Pending& offered) {
  request.id = ++last_id_;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const Sent sent = send_once(request, numbers_of(offered.files), numbers_of(offered.regions), /*waits=*/false);
    if (sent == Sent::sent) full_since_.reset();
    if (sent == Sent::sent) return true;
    if (sent == Sent::end) continue;
    const auto now = std::chrono::steady_clock::now();
    if (now - full_since_.value_or(now) > kPatience) fail(kDoesNotRead);
    full_since_ = full_since_.value_or(now);
    return false;
  }
  fail("the keeper of this node has ended");
}

void KeeperClient::note_sent(Pending& pending) {
  pending.since = std::chrono::steady_clock::now();
  pending.since_as_lived = LivedClock::now();
}

// Gives the offers that a keeper has not answered to the next one.
void KeeperClient::send_again() {
  for (auto& [id, pending] : pending_) {
    if (asked_.count(id) != 0 || answers_.count(id) != 0) continue;
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
void KeeperClient::give_up(const Pending& pending) {
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

void KeeperClient::lose_connection() {
  has_lost_offers_ = !pending_.empty();
  socket_ = {};
  for (const auto& [id, op] : asked_) {
    if (pending_.count(id) != 0) continue;
    answers_[id].is_lost = true;
    answers_[id].message = {op, id, KeeperCode::failed, "the keeper of this node has ended", {}};
  }
  asked_.clear();
}

// Takes what has come. Returns false if nothing has.
bool KeeperClient::pump() {
  bool some = false;
  if (std::exchange(has_lost_offers_, false)) send_again();
  // Nothing more is to come when all is answered; a look would cost as much as an answer.
  while (socket_ && !(some && asked_.empty())) {
    Datagram datagram;
    const Received received = receive_datagram(socket_.get(), datagram);
    if (received == Received::nothing) return some;
    const auto message = received == Received::message ? decode_message(datagram.bytes) : std::nullopt;
    if (!message) {
      lose_connection();
      return true;
    }
    some = true;
    note_heard();
    if (message->op == KeeperOp::progress) {
      if (pending_.count(message->id) != 0) written_[message->id] = FieldReader(message->body).number<std::uint64_t>();
    } else if (message->op == KeeperOp::keep || message->op == KeeperOp::keep_group) {
      refusal_ = message->text;
    } else if (asked_.erase(message->id) > 0) {
      answers_[message->id] = {*message, std::move(datagram.files)};
    }
  }
  return some;
}

// Another keeper can do what one that was killed has not: all requests may be repeated.
KeeperClient::Answer KeeperClient::call(KeeperOp op, std::vector<std::byte> body, std::span<const int> files,
                                        const Check& check) {
  for (int attempt = 1;; ++attempt) {
    Answer answer = ask(op, body, files, std::chrono::seconds(hello_.seconds), check);
    if (answer.is_lost && attempt < kMostAttempts) continue;
    if (answer.message.code == KeeperCode::failed) fail(answer.message.text);
    return answer;
  }
}

KeeperClient::Answer KeeperClient::ask(KeeperOp op, const std::vector<std::byte>& body, std::span<const int> files,
                                       std::chrono::milliseconds limit, const Check& check) {
  std::unique_lock lock(mutex_);
  Message request{op, 0, KeeperCode::done, {}, body};
  const std::uint64_t id = send(request, files, {});
  lock.unlock();
  try {
    return await(id, Deadline(limit), check);
  } catch (...) {
    // An answer that comes later is nobody's.
    lock.lock();
    asked_.erase(id);
    answers_.erase(id);
    throw;
  }
}

KeeperClient::Answer KeeperClient::await(std::uint64_t id, const Deadline& deadline, const Check& check) {
  constexpr int kMilliseconds = 20;
  std::unique_lock lock(mutex_);
  while (true) {
    (void)pump();
    if (auto answer = answers_.extract(id)) return std::move(answer.mapped());
    pollfd watched{socket_.get(), POLLIN, 0};
    lock.unlock();
    if (check) check();
    (void)::poll(&watched, 1, kMilliseconds);
    if (deadline.passed()) fail("no answer in time");
    lock.lock();
  }
}

// One message, if it is short: a commit that is offered must not take much longer than one that is not.
std::uint64_t KeeperClient::offer(KeeperOp op, const DatasetPlan& plan, const RankOffer& offer,
                                  std::span<const SharedFile> regions) {
  constexpr std::size_t kShort = kMostDatagramBytes / 2;
  std::vector<std::byte> content = encode(plan);
  const std::uint64_t plan_bytes = content.size();
  const auto rest = encode(offer);
  content.insert(content.end(), rest.begin(), rest.end());
  Offered offered{plan.writers.at(static_cast<std::size_t>(offer.rank)), plan.name.text(), plan_bytes, {}};
  const std::lock_guard lock(mutex_);
  try {
    Pending pending;
    if (content.size() <= kShort) {
      offered.content.assign(reinterpret_cast<const char*>(content.data()), content.size());
    } else {
      pending.files.push_back(std::make_shared<const Descriptor>(to_memory_file(content)));
    }
    const std::size_t before = regions.size() - std::min(regions.size(), kMostDatagramFiles - pending.files.size());
    pending.regions.assign(regions.begin(), regions.begin() + static_cast<std::ptrdiff_t>(before));
    pending.files.insert(pending.files.end(), regions.begin() + static_cast<std::ptrdiff_t>(before), regions.end());
    pending.message = {op, 0, KeeperCode::done, {}, encode_body(offered)};
    if (op == KeeperOp::keep) {
      (void)send_kept(pending.message, pending);
      return 0;
    }
    const std::uint64_t id = send(pending.message, numbers_of(pending.files), numbers_of(pending.regions));
    note_sent(pending);
    pending_.emplace(id, std::move(pending));
    return id;
  } catch (const std::system_error& error) {
    fail(error.what());
  }
}

std::uint64_t KeeperClient::flush(const DatasetPlan& plan, const RankOffer& offered,
                                  std::span<const SharedFile> regions) {
  const std::uint64_t id = offer(KeeperOp::flush, plan, offered, regions);
  fault_point("flush.offered");
  return id;
}

void KeeperClient::keep(const DatasetPlan& plan, const RankOffer& offered, std::span<const SharedFile> regions) {
  (void)offer(KeeperOp::keep, plan, offered, regions);
}

void KeeperClient::tell(KeeperOp op, std::vector<std::byte> body) {
  const std::lock_guard lock(mutex_);
  Message request{op, 0, KeeperCode::done, {}, std::move(body)};
  asked_.erase(send(request, {}, {}));
}

std::uint64_t KeeperClient::keep_group(const KeptGroupOf& of, std::span<const std::byte> description,
                                       std::span<const int> regions) {
  const std::lock_guard lock(mutex_);
  try {
    const Descriptor file = to_memory_file(description);
    const int number = file.get();
    Message request{KeeperOp::keep_group, 0, KeeperCode::done, {}, encode_body(of)};
    asked_.erase(send(request, std::span(&number, 1), regions));
    return connections_;
  } catch (const std::system_error& error) {
    fail(error.what());
  }
}

void KeeperClient::drop_group(const KeptGroupOf& of) { tell(KeeperOp::drop_group, encode_body(of)); }

std::uint64_t KeeperClient::connection() {
  const std::lock_guard lock(mutex_);
  return connections_;
}

void KeeperClient::look() {
  const std::lock_guard lock(mutex_);
  if (socket_) (void)pump();
}

std::optional<std::string> KeeperClient::refusal() {
  const std::lock_guard lock(mutex_);
  return std::exchange(refusal_, std::nullopt);
}

void KeeperClient::release(std::uint32_t run) {
  FieldWriter body;
  body.number(run);
  tell(KeeperOp::release, body.all());
}

bool KeeperClient::knows(std::uint64_t flush) {
  const std::lock_guard lock(mutex_);
  return pending_.count(flush) != 0;
}

void KeeperClient::abandon(const Abandoned& abandoned) { tell(KeeperOp::abandon, encode_body(abandoned)); }

void KeeperClient::forget(std::uint32_t run) {
  FieldWriter body;
  body.number(run);
  tell(KeeperOp::forget, body.all());
}

void KeeperClient::note_heard() {
  heard_ = std::chrono::steady_clock::now();
  heard_as_lived_ = LivedClock::now();
}

std::optional<KeeperClient::Outcome> KeeperClient::outcome(std::uint64_t flush) {
  const std::lock_guard lock(mutex_);
  if (answers_.count(flush) == 0) (void)pump();
  const auto pending = pending_.find(flush);
  if (pending == pending_.end()) return std::nullopt;
  Outcome outcome;
  if (auto answer = answers_.extract(flush)) {
    outcome = {answer.mapped().message.code, answer.mapped().message.text};
  } else {
    // It tells of its progress each second: one that does not is stopped. Messages to it say nothing of it.
    const auto silence = std::chrono::steady_clock::now() - std::max(heard_, pending->second.since);
    if (silence < kPatience + 2 * std::chrono::seconds(hello_.seconds)) return std::nullopt;
    // Both may have been stopped. Commits are rare looks: that they have lived so long as well would come late.
    const auto lived = LivedClock::now() - std::max(heard_as_lived_, pending->second.since_as_lived);
    if (lived < kTimeToTell) return std::nullopt;
    asked_.erase(flush);
    outcome = {KeeperCode::failed, "the keeper of this node does not answer"};
  }
  pending_.erase(pending);
  written_.erase(flush);
  return outcome;
}

std::uint64_t KeeperClient::written(std::uint64_t flush) {
  const std::lock_guard lock(mutex_);
  (void)pump();
  const auto found = written_.find(flush);
  return found != written_.end() ? found->second : 0;
}

}  // namespace fenix_impl

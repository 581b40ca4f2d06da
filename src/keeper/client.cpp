// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
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

[[noreturn]] void fail(const std::string& why) { throw Error(FENIX_ERROR_STORE, "the store: " + why); }

// Ranks of one user that use the same store on a node meet there.
std::string name_for(const std::string& root) {
  return "fenix-keeper." + std::to_string(::geteuid()) + "." +
         std::to_string(hash_bytes(std::as_bytes(std::span(root))));
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
constexpr std::chrono::seconds kPatience{10};
// A keeper that is there tells of its progress within this time.
constexpr std::chrono::seconds kTimeToTell{2};

// Other ranks may wait for this one meanwhile.
Deadline::Clock::duration time_to_connect() {
  constexpr int kPart = 4;
  return std::min<Deadline::Clock::duration>(kPatience, Deadline::timeout() / kPart);
}

std::vector<std::byte> body_of(const std::string& name) {
  FieldWriter fields;
  fields.text(name);
  return fields.all();
}

}  // namespace

KeeperClient::KeeperClient(std::string program, Hello hello)
    : program_(std::move(program)), hello_(std::move(hello)), socket_name_(name_for(hello_.root)) {}

// The keeper has no other descriptors of this process, and none of its standard streams: the launcher waits for their end.
void KeeperClient::start_keeper(Descriptor listener) const {
  constexpr int kListener = 3;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, listener.get(), kListener);
  for (int stream = 0; stream < kListener; ++stream) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, kListener + 1);
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
      if (send_datagram(socket_.get(), encode(hello), {})) {
        ++connections_;
        return;
      }
      socket_ = {};
    }
    // The process that gets the name starts the keeper. One that is about to end gives the name up.
    if (Descriptor listener = listen_at(socket_name_)) {
      start_keeper(std::move(listener));
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
    if (send_once(request, files, regions)) {
      asked_.emplace(request.id, request.op);
      return request.id;
    }
  }
  fail("the keeper of this node has ended, or does not read");
}

bool KeeperClient::send_once(const Message& request, std::span<const int> files, std::span<const int> regions) {
  try {
    connect();
  } catch (const std::system_error& error) {
    fail(error.what());
  }
  const Message message{KeeperOp::regions, 0, KeeperCode::done, {}, {}};
  bool is_sent = true;
  for (std::size_t sent = 0; is_sent && sent < regions.size(); sent += kMostDatagramFiles) {
    const auto some = regions.subspan(sent, std::min(kMostDatagramFiles, regions.size() - sent));
    is_sent = send_datagram(socket_.get(), encode(message), some);
  }
  if (is_sent && send_datagram(socket_.get(), encode(request), files)) {
    note_heard();
    return true;
  }
  lose_connection();
  return false;
}

// Gives the offers that a keeper has not answered to the next one.
void KeeperClient::send_again() {
  for (auto& [id, pending] : pending_) {
    if (asked_.count(id) != 0 || answers_.count(id) != 0) continue;
    try {
      if (pending.attempts++ < kMostAttempts &&
          send_once(pending.message, numbers_of(pending.files), numbers_of(pending.regions))) {
        asked_.emplace(id, KeeperOp::flush);
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
      written_[message->id] = FieldReader(message->body).number<std::uint64_t>();
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
  constexpr int kMilliseconds = 20;
  std::unique_lock lock(mutex_);
  Message request{op, 0, KeeperCode::done, {}, body};
  const std::uint64_t id = send(request, files, {});
  const Deadline deadline(limit);
  while (true) {
    (void)pump();
    const auto answer = answers_.find(id);
    if (answer != answers_.end()) {
      Answer taken = std::move(answer->second);
      answers_.erase(answer);
      return taken;
    }
    pollfd watched{socket_.get(), POLLIN, 0};
    lock.unlock();
    if (check) check();
    (void)::poll(&watched, 1, kMilliseconds);
    if (deadline.passed()) fail("no answer in time");
    lock.lock();
  }
}

std::uint32_t KeeperClient::begin_run(const Check& check) {
  const Answer answer = call(KeeperOp::begin_run, {}, {}, check);
  return FieldReader(answer.message.body).number<std::uint32_t>();
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
    const std::uint64_t id = send(pending.message, numbers_of(pending.files), numbers_of(pending.regions));
    if (op == KeeperOp::keep) {
      asked_.erase(id);
    } else {
      pending_.emplace(id, std::move(pending));
    }
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

std::optional<KeeperClient::KeptGroup> KeeperClient::kept_group(const KeptSearch& search,
                                                                std::chrono::milliseconds limit, const Check& check) {
  constexpr std::chrono::milliseconds kTimeToEnd{5000};
  constexpr std::chrono::milliseconds kBetween{50};
  for (const Deadline deadline(std::min(kTimeToEnd, limit));; std::this_thread::sleep_for(kBetween)) {
    const Answer answer = ask(KeeperOp::kept_group, encode_body(search), {}, limit, check);
    if (answer.is_lost) return std::nullopt;
    if (answer.message.code == KeeperCode::in_use && !deadline.passed()) continue;
    if (answer.message.code != KeeperCode::done || answer.files.size() != 1) return std::nullopt;
    auto at = decode_body<KeptGroupAt>(answer.message.body);
    if (!at) fail("an answer of the keeper is damaged");
    return KeptGroup{read_memory_file(answer.files.front()), std::move(*at)};
  }
}

std::uint64_t KeeperClient::connection() {
  const std::lock_guard lock(mutex_);
  return connections_;
}

void KeeperClient::abandon(const Abandoned& abandoned) { tell(KeeperOp::abandon, encode_body(abandoned)); }

void KeeperClient::forget(std::uint32_t run) {
  FieldWriter body;
  body.number(run);
  tell(KeeperOp::forget, body.all());
}

void KeeperClient::finish_run(std::uint32_t run, const Check& check) {
  FieldWriter body;
  body.number(run);
  (void)call(KeeperOp::finish_run, body.all(), {}, check);
}

void KeeperClient::note_heard() {
  heard_ = std::chrono::steady_clock::now();
  heard_as_lived_ = LivedClock::now();
}

std::optional<KeeperClient::Outcome> KeeperClient::outcome(std::uint64_t flush) {
  const std::lock_guard lock(mutex_);
  (void)pump();
  const auto answer = answers_.find(flush);
  if (answer == answers_.end()) {
    // It tells of its progress each second: one that does not is stopped.
    const auto silence = std::chrono::steady_clock::now() - heard_;
    if (silence < kPatience + 2 * std::chrono::seconds(hello_.seconds)) return std::nullopt;
    // Both may have been stopped. Commits are rare looks: that they have lived so long as well would come late.
    if (LivedClock::now() - heard_as_lived_ < kTimeToTell) return std::nullopt;
    asked_.erase(flush);
    pending_.erase(flush);
    return Outcome{KeeperCode::failed, "the keeper of this node does not answer"};
  }
  Outcome outcome{answer->second.message.code, answer->second.message.text};
  answers_.erase(answer);
  pending_.erase(flush);
  written_.erase(flush);
  return outcome;
}

std::uint64_t KeeperClient::written(std::uint64_t flush) {
  const std::lock_guard lock(mutex_);
  (void)pump();
  const auto found = written_.find(flush);
  return found != written_.end() ? found->second : 0;
}

std::optional<DatasetPlan> KeeperClient::find(const Search& search, const Check& check) {
  const Answer answer = call(KeeperOp::find, encode_body(search), {}, check);
  if (answer.message.code != KeeperCode::done) return std::nullopt;
  const auto name = DatasetName::parse(FieldReader(answer.message.body).text());
  if (!name || answer.files.size() != 1) fail("an answer of the keeper is damaged");
  return decode_plan(*name, read_memory_file(answer.files.front()));
}

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

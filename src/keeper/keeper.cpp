// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/keeper.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "base/process_state.hpp"
#include "keeper/descriptors_left.hpp"
#include "keeper/received_offer.hpp"
#include "store/fields.hpp"

namespace fenix_impl {

namespace {

// A rank needs to hear only once of all the commits that are not kept.
void refuse(KeeperPeer& peer, const Message& request, const std::string& why) {
  const Message answer{request.op, request.id, KeeperCode::failed, why, {}};
  if (request.op == KeeperOp::flush) return peer.answer(answer);
  peer.tell(answer);
}

}  // namespace

Keeper::Keeper(std::unique_ptr<FileSystem> files, Listener listener, std::chrono::milliseconds for_the_first)
    : files_(std::move(files)),
      listener_(std::move(listener)),
      woken_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      memory_([this](std::uint32_t run, const std::string& line) { reader_.note(settings_.root, run, line); }),
      writer_(*files_),
      reader_(*files_, writer_.under_way()),
      latest_begin_(KeeperThread::Clock::now() + for_the_first) {}

Keeper::~Keeper() = default;

bool Keeper::run() {
  writer_.start([this] { wake(); });
  reader_.start([this] { wake(); });
  const auto awaits_the_first = [this] {
    return !has_served_ && !is_in_a_hurry_ && KeeperThread::Clock::now() < latest_begin_;
  };
  while (!peers_.empty() || has_work() || awaits_the_first()) {
    serve_once();
    flushes_.give_up_waiting();
    is_stuck_ = writer_.look_again(limit());
    flushes_.look_after(is_stuck_, limit());
    write(memory_.take_when_due(peers_.empty(), std::chrono::seconds(settings_.lease), is_in_a_hurry_));
    has_served_ = has_served_ || !peers_.empty();
    const bool is_over = peers_.empty() && (is_stuck_ || reader_.is_stuck(limit()));
    if (has_served_ && is_over) {
      close_listener(listener_);
      return false;
    }
  }
  writer_.stop();
  reader_.stop();
  close_listener(listener_);
  return true;
}

void Keeper::wake() {
  const std::uint64_t one = 1;
  (void)!::write(woken_.get(), &one, sizeof one);
}

void Keeper::hurry() {
  is_in_a_hurry_ = true;
  wake();
}

// Ranks that have gone offer nothing any more.
bool Keeper::has_work() {
  return flushes_.is_writing() || writer_.has_unfinished() || reader_.is_busy() || !memory_.empty();
}

// A rank that offers each commit would spend half of the time of its message on waking this thread.
bool Keeper::takes_a_nap() {
  constexpr std::chrono::milliseconds kNap{2};
  constexpr std::chrono::milliseconds kLongest{100};  // between offers that come often
  if (!latest_offer_ || std::chrono::steady_clock::now() - *latest_offer_ > kLongest) return false;
  std::this_thread::sleep_for(kNap);
  return true;
}

void Keeper::serve_once() {
  // Jobs and unfinished datasets are looked at now and then.
  const bool has_lease = peers_.empty() && !memory_.empty();
  const bool is_idle = has_served_ && flushes_.empty() && !writer_.has_unfinished() && !reader_.is_busy() && !has_lease;
  const bool naps = takes_a_nap();
  const int most_milliseconds = naps || flushes_.has_abandoned() ? 0 : is_idle ? -1 : 250;
  std::vector<pollfd> watched{{listener_.socket.get(), POLLIN, 0}, {woken_.get(), POLLIN, 0}};
  for (const auto& peer : peers_) {
    const bool has_rest = peer->has_rest();
    watched.push_back({peer->socket.get(), static_cast<short>(has_rest ? POLLIN | POLLOUT : POLLIN), 0});
  }
  if (::poll(watched.data(), watched.size(), most_milliseconds) <= 0) return;
  if (watched[1].revents != 0) {
    std::uint64_t count = 0;
    (void)!::read(woken_.get(), &count, sizeof count);
  }
  const auto known = peers_;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const short events = watched[i + 2].revents;
    if ((events & POLLOUT) != 0) known[i]->send_rest();
    if ((events & ~POLLOUT) != 0) receive_from(known[i]);
  }
  if (std::erase_if(peers_, [](const auto& peer) { return peer->has_gone.load(); }) > 0)
    flushes_.give_up_when_all_is_read({0, 1, 0, {}});
  if (watched[0].revents == 0) return;
  if (Descriptor connected = accept_from(listener_.socket)) {
    // The allocation goes on.
    if (peers_.empty()) is_in_a_hurry_ = false;
    peers_.push_back(std::make_shared<KeeperPeer>(std::move(connected)));
  }
}

void Keeper::receive_from(const std::shared_ptr<KeeperPeer>& peer) {
  while (true) {
    Datagram datagram;
    const Received received = receive_datagram(peer->socket.get(), datagram);
    if (received == Received::nothing) return;
    if (received == Received::end) {
      peer->has_gone = true;
      return;
    }
    try {
      handle(peer, std::move(datagram));
    } catch (const std::exception&) {
      // A peer that sends what cannot be understood is of another version, or out of its mind.
      peer->has_gone = true;
      return;
    }
  }
}

void Keeper::handle(const std::shared_ptr<KeeperPeer>& peer, Datagram datagram) {
  const auto request = decode_message(datagram.bytes);
  if (!request) throw std::runtime_error("no message");
  if (takes_the_last(datagram.files)) datagram = {{}, {}, true};
  const bool is_offer = request->op == KeeperOp::keep || request->op == KeeperOp::flush ||
                        request->op == KeeperOp::keep_group || request->op == KeeperOp::regions;
  latest_offer_.reset();
  if (is_offer) latest_offer_ = std::chrono::steady_clock::now();
  carry_out(peer, *request, std::move(datagram));
}

void Keeper::carry_out(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram) {
  switch (request.op) {
    case KeeperOp::hello:
      greet(*peer, request);
      return;
    case KeeperOp::regions:
      peer->lacks_regions = peer->lacks_regions || datagram.lacks_files;
      for (Descriptor& each : datagram.files) peer->regions.push_back(std::move(each));
      return;
    case KeeperOp::abandon:
      if (const auto abandoned = decode_body<Abandoned>(request.body)) flushes_.give_up_when_all_is_read(*abandoned);
      return;
    case KeeperOp::release:
      write(memory_.release(FieldReader(request.body).number<std::uint32_t>()));
      return;
    case KeeperOp::keep:
    case KeeperOp::flush:
      take_offer(peer, request, std::move(datagram));
      return;
    case KeeperOp::remove:
      if (const auto name = DatasetName::parse(FieldReader(request.body).text())) memory_.drop(*name);
      break;
    case KeeperOp::begin_run:
      if (!has_other_run(*peer)) break;
      peer->answer({request.op, request.id, KeeperCode::in_use, {}, {}});
      return;
    default:
      if (memory_.carry_out(peer, request, datagram)) return;
      break;
  }
  reader_.submit(peer, request, std::move(datagram), settings_);
}

// A rank says hello again when it knows its run.
void Keeper::greet(KeeperPeer& peer, const Message& request) {
  const auto hello = decode_body<Hello>(request.body);
  const bool is_same = hello && (settings_.root.empty() || settings_.root == hello->root);
  if (!is_same || hello->seconds == 0) throw std::runtime_error("another store");
  settings_ = *hello;
  peer.run = hello->run;
  memory_.use_store(hello->store);
}

// Ranks that are stopped, or killed and in a hung file system, may be left of a job that has ended. They must not keep the next one from
// its start (P11). If they go on, they can write nothing more: see FlushWriter::write().
bool Keeper::has_other_run(const KeeperPeer& peer) const {
  const auto is_left = [](pid_t pid) { return std::tolower(process_state(pid)) == 't' || is_killed(pid); };
  return std::any_of(peers_.begin(), peers_.end(), [&](const auto& each) {
    const bool is_of_another = each.get() != &peer && each->run != 0 && each->run != peer.run && !each->has_gone;
    return is_of_another && !is_left(process_at(each->socket.get()));
  });
}

void Keeper::take_offer(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram) {
  auto regions = std::exchange(peer->regions, {});
  const bool lacks_files = std::exchange(peer->lacks_regions, false) || datagram.lacks_files;
  const bool is_kept = request.op == KeeperOp::keep;
  if (lacks_files) return refuse(*peer, request, kNoDescriptors);
  if (is_stuck_ && !is_kept) return refuse(*peer, request, "the file system does not answer");
  try {
    ReceivedOffer offered = read_offer(request, std::move(datagram.files), std::move(regions));
    if (is_kept) {
      memory_.keep(std::move(offered));
    } else if (const auto job = flushes_.take(std::move(offered), peer, request.id)) {
      writer_.submit(job, settings_);
    }
  } catch (const std::exception& error) {
    refuse(*peer, request, error.what());
  }
}

void Keeper::write(const NodeMemory::Jobs& jobs) {
  for (const auto& job : jobs) {
    flushes_.add(job);
    writer_.submit(job, settings_);
  }
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/keeper.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <exception>
#include <iterator>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/process_state.hpp"
#include "keeper/pace.hpp"
#include "keeper/requests.hpp"
#include "store/fields.hpp"
#include "store/run_log.hpp"
#include "store/store.hpp"

namespace fenix_impl {

namespace {

constexpr const char* kNoDescriptors =
    "the keeper of this node has no descriptors left: the limit of open files (ulimit -Hn) is too low";

// Some descriptors are left for files: what is in memory could not be written otherwise.
bool takes_the_last(const std::vector<Descriptor>& files) {
  constexpr rlim_t kMostReserved = 64;
  constexpr rlim_t kPart = 4;
  rlimit limit{};
  if (files.empty() || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const rlim_t reserved = std::min(kMostReserved, limit.rlim_cur / kPart);
  return std::any_of(files.begin(), files.end(), [&](const Descriptor& each) {
    return static_cast<rlim_t>(each.get()) >= limit.rlim_cur - reserved;
  });
}

/// Returns the time after which a dataset that does not grow is not being written: pieces of this size are.
KeeperThread::Clock::duration time_without_growth(std::uint64_t rate) {
  constexpr std::uint64_t kPieceBytes = std::uint64_t{16} << 20U;
  constexpr std::chrono::milliseconds kLeast{1500};
  const std::chrono::milliseconds of_rate(rate == 0 ? 0 : kPieceBytes * 1000 / rate);
  return kLeast + std::min<std::chrono::milliseconds>(of_rate, std::chrono::minutes(1));
}

}  // namespace

Keeper::Keeper(std::unique_ptr<FileSystem> files, Listener listener, std::chrono::milliseconds for_the_first)
    : files_(std::move(files)),
      listener_(std::move(listener)),
      woken_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
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
    give_up_waiting();
    look_after_jobs();
    look_after_lease();
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
  const bool is_writing =
      std::any_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job->is_submitted && !job->has_ended(); });
  return is_writing || unfinished_count_ > 0 || reader_.is_busy() || keeps_memory();
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
  const bool has_lease = peers_.empty() && keeps_memory();
  const bool is_idle = has_served_ && jobs_.empty() && unfinished_count_ == 0 && !reader_.is_busy() && !has_lease;
  const bool naps = takes_a_nap();
  const int most_milliseconds = naps || !abandoned_.empty() ? 0 : is_idle ? -1 : 250;
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
    give_up_when_all_is_read({0, 1, 0, {}});
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
      if (const auto abandoned = decode_body<Abandoned>(request.body)) give_up_when_all_is_read(*abandoned);
      return;
    case KeeperOp::forget:
      kept_.forget_until(FieldReader(request.body).number<std::uint32_t>());
      kept_groups_.forget_until(FieldReader(request.body).number<std::uint32_t>());
      return;
    case KeeperOp::release:
      release(FieldReader(request.body).number<std::uint32_t>());
      return;
    case KeeperOp::keep_group:
      take_group(peer, request, std::move(datagram));
      return;
    case KeeperOp::drop_group:
      if (const auto of = decode_body<KeptGroupOf>(request.body)) kept_groups_.drop(*of);
      return;
    case KeeperOp::drop_kept:
      if (const auto dropped = decode_body<Dropped>(request.body)) kept_.drop(*dropped);
      return;
    case KeeperOp::kept_group:
      give_group(peer, request);
      return;
    case KeeperOp::list_groups:
      peer->answer({request.op, request.id, KeeperCode::done, {}, {}}, to_memory_file(encode_body(kept_groups_.all())));
      return;
    case KeeperOp::keep:
    case KeeperOp::flush:
      take_flush(peer, request, std::move(datagram));
      return;
    case KeeperOp::remove:
      // Otherwise memory that is kept would be written once more.
      if (const auto name = DatasetName::parse(FieldReader(request.body).text())) kept_.drop(*name);
      break;
    case KeeperOp::begin_run:
      if (!has_other_run(*peer)) break;
      peer->answer({request.op, request.id, KeeperCode::in_use, {}, {}});
      return;
    default:
      break;
  }
  submit_request(peer, request, std::move(datagram));
}

// A rank says hello again when it knows its run. Memory of a store that was removed must not go into the one that has its place.
void Keeper::greet(KeeperPeer& peer, const Message& request) {
  const auto hello = decode_body<Hello>(request.body);
  const bool is_same = hello && (settings_.root.empty() || settings_.root == hello->root);
  if (!is_same || hello->seconds == 0) throw std::runtime_error("another store");
  settings_ = *hello;
  peer.run = hello->run;
  if (hello->store == 0 || hello->store == store_) return;
  if (std::exchange(store_, hello->store) == 0) return;
  kept_.clear();
  kept_groups_.clear();
}

// Ranks that are stopped, or killed and in a hung file system, may be left of a job that has ended. They must not keep the next one from
// its start (P11). If they go on, they can write nothing more: see write().
bool Keeper::has_other_run(const KeeperPeer& peer) const {
  const auto is_left = [](pid_t pid) { return std::tolower(process_state(pid)) == 't' || is_killed(pid); };
  return std::any_of(peers_.begin(), peers_.end(), [&](const auto& each) {
    const bool is_of_another = each.get() != &peer && each->run != 0 && each->run != peer.run && !each->has_gone;
    return is_of_another && !is_left(process_at(each->socket.get()));
  });
}

void Keeper::submit_request(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram) {
  if (reader_.is_stuck(limit()) || datagram.lacks_files) {
    const char* const why = datagram.lacks_files ? kNoDescriptors : "the file system does not answer";
    peer->answer({request.op, request.id, KeeperCode::failed, why, {}});
    return;
  }
  auto files = std::make_shared<std::vector<Descriptor>>(std::move(datagram.files));
  reader_.submit([this, peer, request, files, settings = settings_] {
    static thread_local std::optional<StoreRequests> requests;
    if (!requests) requests.emplace(*files_, settings.root, under_way_, time_without_growth(settings.rate));
    Descriptor answer_file;
    const Descriptor none;
    const Message answer = requests->run(request, files->empty() ? none : files->front(), answer_file);
    peer->answer(answer, answer_file);
  });
}

// A rank needs to hear only once of all the commits that are not kept.
void Keeper::refuse(KeeperPeer& peer, const Message& request, const std::string& why) {
  const Message answer{request.op, request.id, KeeperCode::failed, why, {}};
  if (request.op == KeeperOp::flush) return peer.answer(answer);
  peer.tell(answer);
}

void Keeper::take_flush(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram) {
  auto& files = datagram.files;
  auto regions = std::exchange(peer->regions, {});
  const bool lacks_files = std::exchange(peer->lacks_regions, false) || datagram.lacks_files;
  const bool is_kept = request.op == KeeperOp::keep;
  const auto refuse = [&](const std::string& why) { Keeper::refuse(*peer, request, why); };
  if (lacks_files) return refuse(kNoDescriptors);
  if (is_stuck_ && !is_kept) return refuse("the file system does not answer");
  try {
    const auto offered = decode_body<Offered>(request.body);
    const auto name = offered ? DatasetName::parse(offered->name) : std::nullopt;
    const bool is_in_file = offered && offered->content.empty();
    if (!name || (is_in_file && files.empty())) return refuse("a request is damaged");
    const std::uint32_t writer = offered->writer;
    const auto in_file = is_in_file ? read_memory_file(files.front()) : std::vector<std::byte>();
    const auto content = is_in_file ? std::span(in_file) : std::as_bytes(std::span(offered->content));
    if (offered->plan_bytes > content.size()) return refuse("a request is damaged");
    const auto plan = decode_plan(*name, content.first(offered->plan_bytes));
    auto offer = decode_offer(content.subspan(offered->plan_bytes));
    if (!plan || !offer) return refuse("a plan or an offer is damaged");
    std::move(files.begin() + (is_in_file ? 1 : 0), files.end(), std::back_inserter(regions));
    if (is_kept) {
      kept_.keep(*plan, writer, std::move(*offer), std::move(regions));
      return;
    }
    if (std::find(given_up_.begin(), given_up_.end(), name->text()) != given_up_.end()) {
      peer->answer({KeeperOp::flush, request.id, KeeperCode::gone, "another rank has given the flush up", {}});
      return;
    }
    auto job = std::find_if(jobs_.begin(), jobs_.end(),
                            [&](const auto& each) { return !each->has_ended() && each->is_for(*plan, writer); });
    if (job == jobs_.end()) job = jobs_.insert(job, std::make_shared<FlushJob>(*plan, writer));
    (*job)->add(std::move(*offer), std::move(regions));
    (*job)->add_waiter(peer, request.id);
    if (!(*job)->is_submitted && (*job)->has_all()) submit(*job);
  } catch (const std::exception& error) {
    refuse(error.what());
  }
}

void Keeper::take_group(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram) {
  auto regions = std::exchange(peer->regions, {});
  const bool lacks_files = std::exchange(peer->lacks_regions, false) || datagram.lacks_files;
  const auto of = decode_body<KeptGroupOf>(request.body);
  if (of && lacks_files) return refuse_group(peer, request, *of);
  if (!of || datagram.files.size() != 1) throw std::runtime_error("no memory of a group");
  kept_groups_.keep({*of, peer, of->run, std::move(datagram.files.front()), std::move(regions)});
}

// Older memory of the rank stays: what is of no use in it is noticed when it is taken.
void Keeper::refuse_group(const std::shared_ptr<KeeperPeer>& peer, const Message& request, const KeptGroupOf& of) {
  peer->answer({request.op, request.id, KeeperCode::failed, kNoDescriptors, {}});
  if (!noted_refusals_.emplace(of.run, of.group, of.rank).second) return;
  reader_.submit([this, of, root = settings_.root] {
    note_in_log(*files_, root, of.run,
                "the memory of group " + std::to_string(of.group) + " on rank " + std::to_string(of.rank) +
                    " is not kept: " + kNoDescriptors);
  });
}

// The next job may begin before the ranks of the last one know that they have to end. Their last writes would damage it.
void Keeper::give_group(const std::shared_ptr<KeeperPeer>& peer, const Message& request) {
  const auto search = decode_body<KeptSearch>(request.body);
  KeptGroups::Kept* const kept = search ? kept_groups_.find(*search) : nullptr;
  if (kept == nullptr) return peer->answer({request.op, request.id, KeeperCode::none, {}, {}});
  if (kept_groups_.is_in_use(*kept, *peer, search->run)) {
    return peer->answer({request.op, request.id, KeeperCode::in_use, {}, {}});
  }
  kept->user = peer;
  kept->run_of_user = search->run;
  KeptGroupAt at{::getpid(), {}};
  for (const Descriptor& each : kept->regions) at.files.push_back(each.get());
  peer->answer({request.op, request.id, KeeperCode::done, {}, encode_body(at)}, kept->description);
}

// Its ranks are the only ones that live: nobody is to come who goes on with the memory.
void Keeper::release(std::uint32_t run) {
  if (run == 0) return;
  for (const auto& job : kept_.take_complete_until(run - 1)) {
    jobs_.push_back(job);
    submit(job);
  }
  kept_groups_.forget_until(run - 1);
}

void Keeper::submit(const std::shared_ptr<FlushJob>& job) {
  job->is_submitted = true;
  under_way_.begin(job->plan().name);
  writer_.submit([this, job, settings = settings_] {
    write(*job, settings);
    under_way_.end(job->plan().name);
  });
}

// A run that was killed may be started again, and takes the memory. If it is not, its last commits are written: all keepers of the job do
// so, and the datasets of which all have a part are complete.
void Keeper::look_after_lease() {
  if (!peers_.empty() || !keeps_memory()) {
    alone_since_.reset();
    return;
  }
  if (!alone_since_) alone_since_ = KeeperThread::Clock::now();
  const bool is_over = KeeperThread::Clock::now() - *alone_since_ >= std::chrono::seconds(settings_.lease);
  if (!is_over && !is_in_a_hurry_) return;
  for (const auto& job : kept_.take_complete()) {
    jobs_.push_back(job);
    submit(job);
  }
  kept_groups_.clear();
}

// In the writer.
void Keeper::write(FlushJob& job, const Hello& settings) {
  fault_point("flush.begin");
  const auto give_up = [&](KeeperCode code, const std::string& why) {
    job.release();
    note_in_log(*files_, settings.root, job.plan().name.run,
                "dataset " + job.plan().name.text() + " is given up: " + why);
    if (job.writer() == 0) make_room(job.plan(), settings);
    job.end(code, why);
  };
  try {
    if (job.is_of_ranks() && Store(*files_, settings.root).has_successor(job.plan().name.run)) {
      return give_up(KeeperCode::failed, "another job uses the store now");
    }
    if (!write_data(job, settings)) {
      return give_up(KeeperCode::gone, "a newer snapshot has overwritten the data, or it is damaged");
    }
    if (job.writer() == 0) {
      unfinished_.push_back({job.plan(), settings, KeeperThread::Clock::now()});
      unfinished_count_ = unfinished_.size();
      finish_datasets();
    }
    job.end(KeeperCode::done);
  } catch (const std::exception& error) {
    give_up(KeeperCode::failed, error.what());
  }
}

/// Returns false if the data was not there any more.
bool Keeper::write_data(FlushJob& job, const Hello& settings) {
  const Pace pace(settings.rate, [this, &job](std::uint64_t bytes) {
    writer_.note_step();
    job.note_written(bytes);
  });
  DatasetWriter writer(*files_, settings.root, job.plan());
  if (job.writer() == 0) writer.write_plan();
  const bool is_whole =
      writer.write_part(job.writer(), job.sources(), [&pace](std::uint64_t bytes) { pace.wrote(bytes); });
  job.release();
  return is_whole;
}

// In the writer. A dataset is complete without its manifest; that only saves readers the way through all parts.
void Keeper::finish_datasets() {
  std::erase_if(unfinished_, [this](const Unfinished& each) {
    const auto& [plan, settings, since] = each;
    try {
      if (DatasetWriter(*files_, settings.root, plan).write_manifest()) {
        note_in_log(*files_, settings.root, plan.name.run, "dataset " + plan.name.text() + " is complete");
        make_room(plan, settings);
        return true;
      }
    } catch (const std::exception& error) {
      log().info("store: {}", error.what());
      return true;
    }
    // A part that has not come by now belongs to a flush that was given up.
    return KeeperThread::Clock::now() - since > std::chrono::seconds(settings.seconds);
  });
  unfinished_count_ = unfinished_.size();
}

// In the writer. Parts of others may still come.
void Keeper::make_room(const DatasetPlan& plan, const Hello& settings) {
  Pruning::Rule rule{plan.name.group, plan.name.run, settings.kept, under_way_.all(), false};
  std::erase(rule.under_way, plan.name);
  for (const Unfinished& each : unfinished_) {
    if (each.plan.name != plan.name) rule.under_way.push_back(each.plan.name);
  }
  try {
    Store store(*files_, settings.root);
    pruning_.run(store, rule);
  } catch (const std::exception& error) {
    log().info("store: {}", error.what());
  }
}

// Offers that other ranks have made before may still be in their sockets.
void Keeper::give_up_when_all_is_read(const Abandoned& abandoned) {
  constexpr int kRounds = 2;
  constexpr std::size_t kMostRemembered = 64;
  // Ranks that notice later that a keeper has ended will offer it here.
  if (!abandoned.name.empty()) given_up_.push_back(abandoned.name);
  if (given_up_.size() > kMostRemembered) given_up_.pop_front();
  abandoned_.push_back(abandoned);
  rounds_to_read_ = kRounds;
}

// A rank that has died offers nothing any more, and the others must not wait for it.
void Keeper::give_up_waiting() {
  if (abandoned_.empty() || --rounds_to_read_ > 0) return;
  for (const auto& job : jobs_) {
    const DatasetName& name = job->plan().name;
    const bool is_given_up = std::any_of(abandoned_.begin(), abandoned_.end(), [&](const Abandoned& each) {
      return each.all_groups != 0 || each.name == name.text() ||
             (each.group == name.group && name.generation < each.generation);
    });
    if (is_given_up && !job->is_submitted) {
      job->end(KeeperCode::gone, "not all ranks of this node have offered their data");
    }
  }
  abandoned_.clear();
}

void Keeper::look_after_jobs() {
  is_stuck_ = writer_.is_stuck(limit());
  under_way_.note_stuck(is_stuck_);
  if (unfinished_count_ > 0 && !writer_.is_busy()) writer_.submit([this] { finish_datasets(); });
  for (const auto& job : jobs_) {
    job->tell_progress();
    const bool is_late = FlushJob::Clock::now() - job->since() > limit();
    if (is_stuck_) {
      job->end(KeeperCode::failed, "the file system does not answer");
    } else if (!job->is_submitted && is_late) {
      job->end(KeeperCode::gone, "a rank of this node has not offered its data");
    }
  }
  std::erase_if(jobs_, [](const auto& job) { return job->has_ended(); });
}

}  // namespace fenix_impl

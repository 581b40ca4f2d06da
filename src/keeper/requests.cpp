// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/requests.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <span>
#include <utility>

#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/scratch.hpp"
#include "keeper/flush_job.hpp"
#include "keeper/local_socket.hpp"
#include "store/fields.hpp"
#include "store/halt.hpp"
#include "store/run_log.hpp"

namespace fenix_impl {
namespace {

Message answer_to(const Message& request, KeeperCode code, std::string text = {}) {
  return {request.op, request.id, code, std::move(text), {}};
}

std::optional<DatasetName> name_in(FieldReader& fields) { return DatasetName::parse(fields.text()); }

/// Says of datasets why they cannot be used: of the first ones by name. The answer is one message, and a path may be long.
std::vector<std::string> describe(std::span<const FoundDataset::Unusable> all) {
  constexpr std::size_t kMostNamed = 10;
  constexpr std::size_t kMostBytes = kMostDatagramBytes / 4;
  std::vector<std::string> said;
  std::size_t bytes = 0;
  for (const auto& each : all.first(std::min(all.size(), kMostNamed))) {
    std::string text = "the dataset " + each.name.text() + " is " + word_of(each.state) + ": " + each.why;
    bytes += text.size();
    if (bytes > kMostBytes) break;
    said.push_back(std::move(text));
  }
  if (said.size() < all.size()) {
    said.push_back(std::to_string(all.size() - said.size()) +
                   " more datasets cannot be used: fenix-index says of each one why");
  }
  return said;
}

}  // namespace

Message StoreRequests::run(const Message& request, const Descriptor& file, Descriptor& answer_file) {
  try {
    return handle(request, file, answer_file);
  } catch (const std::exception& error) {
    return answer_to(request, KeeperCode::failed, error.what());
  }
}

Message StoreRequests::handle(const Message& request, const Descriptor& file, Descriptor& answer_file) {
  switch (request.op) {
    case KeeperOp::begin_run:
    case KeeperOp::finish_run:
      return run_of(request);
    case KeeperOp::find:
      return find(request, file, answer_file);
    case KeeperOp::rank:
    case KeeperOp::read:
    case KeeperOp::verify:
      return data_of(request, file, answer_file);
    case KeeperOp::list:
      return list(request, answer_file);
    case KeeperOp::check:
    case KeeperOp::taken:
    case KeeperOp::remove:
    case KeeperOp::set_current:
      return about_dataset(request);
    case KeeperOp::get_halt:
    case KeeperOp::halt:
      return halt(request);
    default:
      return answer_to(request, KeeperCode::failed, "the keeper does not know this request");
  }
}

// Data that cannot be read is as good as damaged: there may be older data that can.
Message StoreRequests::data_of(const Message& request, const Descriptor& file, Descriptor& answer_file) {
  try {
    if (request.op == KeeperOp::rank) return rank(request, answer_file);
    return request.op == KeeperOp::read ? read(request, file) : verify(request);
  } catch (const StoreError& error) {
    open_name_.reset();
    return answer_to(request, KeeperCode::damaged, error.what());
  }
}

Message StoreRequests::run_of(const Message& request) {
  Message answer = answer_to(request, KeeperCode::done);
  if (request.op == KeeperOp::finish_run) {
    const auto run = FieldReader(request.body).number<std::uint32_t>();
    store_.finish_run(run);
    note_in_log(files_, root_, run, "the program has come to its end");
    return answer;
  }
  make_root();
  const StoreRun run = store_.begin_run();
  const std::string begins = "run " + std::to_string(run.number) + " begins";
  if (run.only_reads == 0) note_in_log(files_, root_, run.number, begins);
  answer.body = encode_body(BegunRun{run.number, run.store, run.only_reads});
  // The user should know of this.
  answer.text = files_.trust_in(root_);
  return answer;
}

// A folder that is there may be read, though no other one can be made beside it.
void StoreRequests::make_root() {
  try {
    files_.make_folder(root_);
  } catch (const StoreError&) {
    if (files_.list(root_).empty()) throw;
  }
  keep_root();
}

// Without the name of the folder all that is in it is lost when the system ends. Others may have made it a moment ago, and not come to this.
// Where nobody may read the folder above, its names are as safe as the system makes them.
void StoreRequests::keep_root() {
  const auto slash = root_.rfind('/');
  try {
    files_.sync_folder(slash == 0 || slash == std::string::npos ? "/" : root_.substr(0, slash));
  } catch (const StoreError& error) {
    log().info("store: {}", error.what());
  }
}

Message StoreRequests::about_dataset(const Message& request) {
  const std::string text = FieldReader(request.body).text();
  const auto name = DatasetName::parse(text);
  if (request.op == KeeperOp::set_current && text.empty()) {
    store_.set_current(std::nullopt);
    return answer_to(request, KeeperCode::done);
  }
  if (!name) return answer_to(request, KeeperCode::none);
  if (request.op == KeeperOp::taken) {
    store_.forget_tries(*name);
  } else if (request.op == KeeperOp::remove) {
    const auto all = store_.datasets();
    if (std::find(all.begin(), all.end(), *name) == all.end()) return answer_to(request, KeeperCode::none);
    store_.remove(*name);
  } else {
    if (!store_.complete(*name)) return answer_to(request, KeeperCode::none);
    if (request.op == KeeperOp::set_current) store_.set_current(name);
  }
  return answer_to(request, KeeperCode::done);
}

Message StoreRequests::halt(const Message& request) {
  const bool asks = request.op == KeeperOp::get_halt;
  const auto conditions = asks ? read_halt(files_, root_) : parse_halt(FieldReader(request.body).text());
  if (!conditions) return answer_to(request, KeeperCode::none);
  if (!asks) {
    write_halt(files_, root_, *conditions);
    note_in_log(files_, root_, conditions->run, "the program asks for its end: " + conditions->reason);
  }
  Message answer = answer_to(request, KeeperCode::done);
  FieldWriter body;
  body.text(text_of(*conditions));
  answer.body = body.all();
  return answer;
}

Message StoreRequests::find(const Message& request, const Descriptor& file, Descriptor& answer_file) {
  auto search = decode_body<Search>(request.body);
  if (search && file) {
    auto list = decode_body<std::vector<std::string>>(read_memory_file(file));
    if (list) search->passed_over = std::move(*list);
  }
  if (!search) return answer_to(request, KeeperCode::failed, "a search is damaged");
  std::vector<DatasetName> passed_over;
  for (const std::string& text : search->passed_over) {
    if (const auto name = DatasetName::parse(text)) passed_over.push_back(*name);
  }
  const FoundDataset found = store_.find(search->group, search->label, passed_over);
  if (is_being_written(found, *search)) return answer_to(request, KeeperCode::in_use);
  fault_point("fetch.found");
  FoundInStore said{{}, found.is_chosen ? 1U : 0U, describe(found.unusable)};
  if (found.plan) {
    said.name = found.plan->name.text();
    answer_file = to_memory_file(encode(*found.plan));
    if (search->begins != 0) note_beginning(*search, found.plan->name);
  }
  Message answer = answer_to(request, found.plan ? KeeperCode::done : KeeperCode::none);
  answer.body = encode_body(said);
  return answer;
}

void StoreRequests::note_beginning(const Search& search, const DatasetName& name) {
  store_.note_try(name, search.run);
  note_in_log(files_, root_, search.run,
              "group " + std::to_string(search.group) + " begins with the dataset " + name.text());
}

// Keepers write the last commits of a run when all its ranks have died: a job that is started at that moment must not begin with an older
// one (P10). This one may not have made the folder yet.
bool StoreRequests::is_being_written(const FoundDataset& found, const Search& search) {
  if (found.is_chosen || !search.label.empty()) return false;
  const auto newest = found.plan ? std::optional(found.plan->name) : std::nullopt;
  if (under_way_.has_newer(search.group, search.run, newest)) return true;
  if (!may_grow(found, search.run)) return false;
  watch_other_groups(search);
  return true;
}

// All are looked at, so that the time without growth runs for all at once.
bool StoreRequests::may_grow(const FoundDataset& found, std::uint32_t run) {
  const auto growing = std::count_if(found.unusable.begin(), found.unusable.end(), [&](const auto& each) {
    const bool may_be = each.state == DatasetState::incomplete && each.name.run < run;
    return may_be && growth_.may_grow(files_, root_, each.name);
  });
  return growing > 0;
}

// A job creates its groups one after the other: the time without growth runs for all of them, too.
void StoreRequests::watch_other_groups(const Search& search) {
  if (std::exchange(watches_for_, search.run) == search.run) return;
  std::set<std::int32_t> groups;
  for (const DatasetName& name : store_.datasets()) groups.insert(name.group);
  groups.erase(search.group);
  for (const std::int32_t group : groups) (void)may_grow(store_.find(group, {}, {}), search.run);
}

bool StoreRequests::open(const DatasetName& name, std::int32_t rank) {
  if (open_name_ != name) {
    open_rank_.reset();
    open_name_.reset();
    open_dataset_ = Dataset::open(files_, root_, name);
    if (!open_dataset_) return false;
    open_name_ = name;
  }
  if (!open_rank_ || open_rank_->stored.rank != rank) open_rank_ = open_dataset_->rank(rank);
  return open_rank_.has_value();
}

// The entry of the rank is sent as a part of one rank.
Message StoreRequests::rank(const Message& request, Descriptor& answer_file) {
  FieldReader fields(request.body);
  const auto name = name_in(fields);
  const auto rank = fields.number<std::int32_t>();
  if (!name || !fields.is_at_end()) return answer_to(request, KeeperCode::none);
  open_name_.reset();  // the files may have changed
  if (!open(*name, rank)) return answer_to(request, KeeperCode::none);
  StoredPart part;
  part.ranks.push_back(open_rank_->stored);
  for (const Extent& each : part.ranks.front().extents) part.data_bytes = each.offset + each.bytes;
  answer_file = to_memory_file(encode(*name, part));
  fault_point("fetch.rank");
  return answer_to(request, KeeperCode::done);
}

Message StoreRequests::read(const Message& request, const Descriptor& file) {
  const auto reading = decode_body<Reading>(request.body);
  const auto name = reading ? DatasetName::parse(reading->name) : std::nullopt;
  if (!name) return answer_to(request, KeeperCode::none);
  if (!open(*name, reading->rank)) return answer_to(request, KeeperCode::none);
  const PeerMemory memory(file, reading->offset, reading->bytes, /*to_be_written=*/true);
  const bool is_sound = open_dataset_->read_part_of(*open_rank_, reading->member, reading->begin, memory.bytes());
  fault_point("fetch.read");
  return answer_to(request, is_sound ? KeeperCode::done : KeeperCode::damaged);
}

Message StoreRequests::verify(const Message& request) {
  constexpr std::uint64_t kBytes = std::uint64_t{8} << 20U;
  const auto reading = decode_body<Reading>(request.body);
  const auto name = reading ? DatasetName::parse(reading->name) : std::nullopt;
  if (!name || !open(*name, reading->rank)) return answer_to(request, KeeperCode::none);
  const Scratch buffer(kBytes);
  for (std::uint64_t at = 0; at < reading->bytes; at += kBytes) {
    const auto piece = buffer.bytes().first(std::min(kBytes, reading->bytes - at));
    if (open_dataset_->read_part_of(*open_rank_, reading->member, reading->begin + at, piece)) continue;
    return answer_to(request, KeeperCode::damaged);
  }
  return answer_to(request, KeeperCode::done);
}

Message StoreRequests::list(const Message& request, Descriptor& answer_file) {
  std::vector<Listed> list;
  const auto current = store_.current();
  for (const DatasetName& name : store_.datasets()) {
    DatasetLook look = store_.look(name);
    if (look.labels.empty()) look.labels.emplace_back();
    for (const std::string& label : look.labels) {
      list.push_back({name.text(), label, look.is_whole() ? 1U : 0U, current == name ? 1U : 0U});
    }
  }
  answer_file = to_memory_file(encode_body(list));
  return answer_to(request, KeeperCode::done);
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Members, memory and attachment of a group. The other parts of the class are in the files group_….cpp.
#include "core/group.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "core/meeting.hpp"

namespace fenix_impl {
namespace {

// Commits without stores may run ahead of the slowest rank by a few epochs before they have to wait for it.
constexpr std::uint32_t kSparePlaces = 7;

// Where all snapshots are kept, this is where it starts.
constexpr std::uint32_t kFirstKept = 3;

void copy_slots(const Region& from, const SlotLayout& old, const Region& to, const SlotLayout& grown) {
  const auto copy = [&](std::size_t source, std::size_t target, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to.bytes().data() + target, from.bytes().data() + source, bytes);
  };
  for (std::uint32_t slot = 0; slot < old.slots(); ++slot) {
    copy(old.own_offset(slot), grown.own_offset(slot), old.own_bytes());
    copy(old.own_offset(slot) + old.own_table(), grown.own_offset(slot) + grown.own_table(),
         hash_blocks(old.own_bytes()) * sizeof(std::uint64_t));
    copy(old.held_offset(slot), grown.held_offset(slot), old.held_bytes());
    copy(old.held_offset(slot) + old.held_table(), grown.held_offset(slot) + grown.held_table(),
         hash_blocks(old.held_bytes()) * sizeof(std::uint64_t));
  }
}

}  // namespace

Group::~Group() {
  detach();
  forget_snapshots();
}

Member* Group::find(std::int32_t member_id) const {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const auto& member) { return member->info.id == member_id; });
  return found == members_.end() ? nullptr : found->get();
}

bool Group::has_data_of(const Member& member) const {
  return !member.working.untouched() || latest_version(member) != nullptr;
}

std::uint64_t Group::size_of(const Member& member) const {
  if (!member.info.resizeable) return member.own_count;
  const MemberVersion* version = latest_version(member);
  return version != nullptr ? version->size : 0;
}

// ------------------------------------------------------------------------------------------------------------- members

void Group::meet_to_create(const MemberInfo& info, const Check& check) {
  // What must be the same on all ranks; a type that is no good is found by check.
  const std::uint64_t type = info.type ? info.type->hash() : 0;
  const std::uint64_t same_on_all[] = {static_cast<std::uint64_t>(info.id), type};
  (void)meet(team(), Operation::member_create, hash_bytes(std::as_bytes(std::span(same_on_all))), 0, [&] {
    check();
    if (find(info.id) != nullptr) {
      throw Error(FENIX_ERROR_MEMBER_EXISTS, "member_id " + std::to_string(info.id) + " exists in the group");
    }
    if (record_bytes(members_.size() + 1, members_.size() + 1) > RecordLog::kPlaceBytes) {
      throw Error(FENIX_ERROR_NO_MEMORY, "the group has as many members as a record can describe");
    }
  });
}

Member& Group::create_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check) {
  return together(team(), [&]() -> Member& {
    meet_to_create(info, check);
    return add_member(info, buffer, count);
  });
}

Member* Group::define_member(const MemberInfo& info, const void* buffer, std::uint64_t count, const Check& check) {
  const auto known = together(team(), [&] {
    return meet(team(), Operation::member_define, static_cast<std::uint64_t>(info.id), find(info.id) != nullptr ? 1 : 0,
                check);
  });
  if (known.least != 0) return nullptr;
  if (known.bits != 0) {
    throw Error(FENIX_ERROR_MISMATCH,
                "member_id " + std::to_string(info.id) + " exists on some ranks and not on others");
  }
  return &create_member(info, buffer, count, [] {});
}

Member& Group::add_member(const MemberInfo& info, const void* buffer, std::uint64_t count) {
  // The thread of asynchronous stores looks at the control region, which is about to get memory.
  for (const auto& known : members_) wait_for_requests_of(*known);
  auto member = std::make_unique<Member>();
  member->info = info;
  // A size that may change is the same constant on all ranks, one that may not is 0 on some at most.
  member->info.resizeable = team().all_of(count == FENIX_RESIZEABLE);
  member->own_count = count;
  learn_counts(std::span(&member, 1));
  member->buffer = buffer;
  member->info.created_after = last_;
  (void)meet(team(), Operation::memory, 0, 0, [&] {
    control_.reserve_records(record_bytes(members_.size() + 1, members_.size() + 1));
    take_member_memory(*member);
    members_.reserve(members_.size() + 1);
  });
  fault_point("member.memory");
  adopt(*member, expose_member(*member, member->region, member->layout));
  prepare(*member);
  deleted_members_.erase(info.id);
  return *members_.emplace_back(std::move(member));
}

// Here, where there is time: after a failure the first writes have to map what they need, and recovery is the sooner done.
void Group::prepare(const Member& member) const {
  member.region.populate(member.layout.end());
  protection_->prepare(member);
}

void Group::delete_member(Member& member) {
  wait_for_requests_of(member);
  deleted_members_.insert(member.info.id);
  retire(member.region);
  drop_member(member.info.id);
}

void Group::meet_to_change(std::uint64_t wanted, const Check& check) {
  // A rank that has deleted a member has others than its peers.
  std::vector<std::uint64_t> same_on_all{wanted};
  for (const auto& member : members_) same_on_all.push_back(static_cast<std::uint64_t>(member->info.id));
  (void)meet(team(), Operation::policy, hash_bytes(std::as_bytes(std::span(same_on_all))), 0, [&] {
    check();
    const bool frozen = !last_.none() || std::any_of(members_.begin(), members_.end(), [](const auto& member) {
      return !member->working.untouched() || member->working.slot || member->working.is_lent;
    });
    if (frozen) throw Error(FENIX_ERROR_INVALID_LOGIC_CALL, "something has been stored or committed in the group");
  });
}

void Group::set_hashing(bool hashing, const Check& check) {
  together(team(), [&] { meet_to_change(hashing ? 1 : 2, check); });
  parameters_.hashing = hashing ? 1 : 0;
}

void Group::set_policy(const Policy& policy, const Check& check) {
  const std::int32_t values[] = {static_cast<std::int32_t>(policy.kind), policy.separation, policy.cohort_size,
                                 policy.losses};
  together(team(), [&] {
    meet_to_change(hash_bytes(std::as_bytes(std::span(values))), check);
    change_policy(policy);
  });
}

void Group::change_policy(const Policy& policy) {
  const Policy before = std::exchange(parameters_.policy, policy);
  auto placement_before = placement_;
  // It knows what it has announced so far.
  auto protection_before = std::move(protection_);
  Control control;
  std::vector<Region> regions;
  std::vector<SlotLayout> layouts;
  std::vector<Exposed> exposed;
  try {
    (void)meet(team(), Operation::memory, 0, 0, [&] { set_placement(placement_.order()); });
    // Before any rank has the new policy for good: whoever dies, its new partners know what it had.
    learn_counts(members_);
    (void)meet(team(), Operation::memory, 0, 0, [&] {
      control = Control(placement_, team_rank_, team_size_, log_places(), control_);
      // The new protection counts announcements from the start.
      control.announced.reset(generation_, {});
      control.finished.reset(generation_, {});
      for (const auto& member : members_) {
        layouts.push_back(wanted_layout(*member, member->counts, member->layout.slots()));
        regions.push_back(grown_region(*member, layouts.back()));
      }
      exposed.reserve(members_.size());
    });
    control.exposure = expose_control(control.region);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      exposed.push_back(expose_member(*members_[i], regions[i], layouts[i]));
    }
  } catch (...) {
    parameters_.policy = before;
    std::swap(placement_, placement_before);
    protection_ = std::move(protection_before);
    throw;
  }
  // Nothing from here on takes memory.
  replace_control(std::move(control));
  for (std::size_t i = 0; i < members_.size(); ++i) {
    adopt(*members_[i], std::move(exposed[i]));
    retire(members_[i]->region);
    members_[i]->region = std::move(regions[i]);
    members_[i]->layout = layouts[i];
  }
}

std::uint64_t Group::ask_rank(int rank, std::uint64_t same_on_all, std::uint64_t mine, const Check& check) {
  return together(team(), [&] {
    (void)meet(team(), Operation::ask_rank, same_on_all, 0, check);
    control_.state(mine);
    team().barrier();
    // Who is asked may have to stay: over windows some reads end only in its calls of MPI.
    std::uint64_t said = 0;
    (void)meet(team(), Operation::ask_rank, 0, 0, [&] { said = control_.statement_of<std::uint64_t>(rank); });
    return said;
  });
}

void Group::arrange_members(std::span<const MemberInfo> order) {
  const auto place = [&](const std::unique_ptr<Member>& member) {
    return std::find_if(order.begin(), order.end(), [&](const MemberInfo& info) { return info.id == member->info.id; });
  };
  std::erase_if(members_, [&](const auto& member) { return place(member) == order.end(); });
  std::sort(members_.begin(), members_.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

// Of ranks that are witnesses now; what is known of others stays.
void Group::learn_counts(std::span<const std::unique_ptr<Member>> members) {
  std::vector<std::uint64_t> mine;
  for (const auto& member : members) {
    mine.push_back(member->counts.try_emplace(team_rank_, member->own_count).first->second);
  }
  for (const auto& [rank, theirs] : team().ask(witnesses(), std::span<const std::uint64_t>(mine))) {
    if (theirs.size() != mine.size()) throw Error(FENIX_ERROR_INTERN, "a rank has another number of members");
    for (std::size_t i = 0; i < theirs.size(); ++i) members[i]->counts[rank] = theirs[i];
  }
}

void Group::adopt_member(const MemberInfo& info, Counts counts, std::uint32_t slots) {
  Member* member = find(info.id);
  if (member == nullptr) {
    member = members_.emplace_back(std::make_unique<Member>()).get();
    member->info = info;
  }
  if (!info.resizeable) member->own_count = counts.at(team_rank_);
  member->counts = std::move(counts);
  member->least_slots = slots;
}

void Group::drop_member(std::int32_t member_id) {
  std::erase_if(members_, [&](const auto& member) { return member->info.id == member_id; });
}

// ---------------------------------------------------------------------------------------------------------- attachment

void Group::cancel_requests() {
  worker_.cancel();
  for (const auto& request : requests_) {
    if (request->pending()) request->end(Request::State::cancelled);
  }
  requests_.clear();
}

void Group::detach() {
  cancel_requests();
  keep_estate();
  protection_.reset();
  control_.exposure.reset();
  if (archive_) archive_->detach();
  for (auto& member : members_) {
    member->exposure.reset();
    member->working = {};
    member->settled = false;
    if (!member->file_is_loading) member->file.reset();
    // What peers have in these slots is not known any more.
    member->forget_slots();
  }
  team_.reset();
  path_.reset();
}

void Group::set_team(std::shared_ptr<Team> team, std::shared_ptr<Path> path, std::vector<int> order) {
  detach();
  team_ = std::move(team);
  path_ = std::move(path);
  team_size_ = team_->size();
  team_rank_ = team_->rank();
  set_placement(std::move(order));
  regions_may_be_touched_ = regions_may_be_touched_ || path_->may_touch_regions_later();
}

void Group::set_placement(std::vector<int> order) {
  placement_ = Placement(parameters_.policy, team_size_, std::move(order));
  protection_ = make_protection({parameters_, placement_, control_, *path_, team_rank_});
}

void Group::retire(Region& region) const {
  if (regions_may_be_touched_) region.leak();
  region = Region();
}

void Group::forget_snapshots() {
  records_.clear();
  last_ = {};
  retire(control_.region);
  control_ = {};
  for (auto& member : members_) {
    retire(member->region);
    member->layout = {};
    member->counts.clear();
    member->stale.clear();
    member->stale_next.clear();
    member->slot_epochs.clear();
  }
}

void Group::archive_snapshots() {
  auto archive = std::make_unique<Archive>(shape_, parameters_.policy, placement_, team_rank_, regions_may_be_touched_);
  for (const auto& member : members_) archive->expect_member(member->info.id);
  archive->take_control(std::move(control_.region), control_.own_log, control_.held_logs);
  for (auto& member : members_) {
    archive->take_member(member->info, std::move(member->region), member->layout, std::move(member->counts));
  }
  archive_ = std::move(archive);
  forget_snapshots();
}

void Group::keep_archive(const Shape& shape, const Placement& placement, std::vector<Epoch> epochs) {
  if (!archive_ || archive_->shape() != shape) archive_ = std::make_unique<Archive>();
  archive_->set_epochs(shape, placement, std::move(epochs));
}

void Group::attach_archive() {
  if (archive_) archive_->attach(team(), *path_);
}

void Group::become_ghost() {
  cancel_requests();
  for (auto& member : members_) retire(member->region);
  members_.clear();
  records_.clear();
  archive_.reset();
  ghost_ = true;
}

// -------------------------------------------------------------------------------------------------------------- memory

std::size_t Group::kept_snapshots() const {
  return keeps_all() ? std::size_t{FENIX_TIME_STAMP_MAX} + 1 : static_cast<std::size_t>(parameters_.depth) + 1;
}

std::uint32_t Group::first_slots() const {
  return (keeps_all() ? kFirstKept : static_cast<std::uint32_t>(kept_snapshots())) + 1;
}

std::uint64_t Group::footprint(const Member& member) {
  constexpr std::uint64_t kMemberPage = 4096;
  return (member.layout.end() + kMemberPage - 1) / kMemberPage * kMemberPage;
}

std::uint32_t Group::log_places() const {
  return control_.own_log.places() > 0 ? control_.own_log.places() : first_slots() - 1 + kSparePlaces;
}

void Group::take_memory(std::uint32_t places) {
  // A change of policy that was cut short may have left one for another policy.
  if (control_.own_log.places() < places || !control_.suits(placement_, team_rank_, team_size_)) {
    Control control(placement_, team_rank_, team_size_, std::max(places, control_.own_log.places()), control_);
    retire(control_.region);
    control_ = std::move(control);
  }
  control_.reserve_records(record_bytes(members_.size(), members_.size()));
  for (auto& member : members_) take_member_memory(*member);
}

SlotLayout Group::wanted_layout(const Member& member, const Counts& counts, std::uint32_t slots) const {
  return {slots, counts.at(team_rank_) * member.element_bytes(), protection_->held_bytes(member, counts)};
}

Region Group::grown_region(const Member& member, const SlotLayout& layout) {
  Region region(layout.end());
  region.reserve(0, layout.end());
  if (member.layout.slots() > 0) copy_slots(member.region, member.layout, region, layout);
  return region;
}

void Group::take_member_memory(Member& member) const {
  const std::uint32_t slots = std::max({member.least_slots, member.layout.slots(), first_slots()});
  const SlotLayout wanted = wanted_layout(member, member.counts, slots);
  if (!member.region.bytes().empty() && member.layout.has_room_for(wanted)) return;
  Region region = grown_region(member, wanted);
  member.add_slots(wanted.slots());
  retire(member.region);
  member.region = std::move(region);
  member.layout = wanted;
}

void Group::expose() {
  control_.exposure = expose_control(control_.region);
  for (auto& member : members_) adopt(*member, expose_member(*member, member->region, member->layout));
}

// Peers write no progress and no records meanwhile: all are here.
void Group::replace_control(Control control) {
  retire(control_.region);
  control_ = std::move(control);
}

std::unique_ptr<Exposure> Group::expose_control(const Region& region) {
  std::unique_ptr<Exposure> exposure;
  (void)meet(team(), Operation::group_attach, 0, 0, [&] { exposure = path_->expose(team(), region); });
  return exposure;
}

Group::Exposed Group::expose_member(const Member& member, const Region& region, const SlotLayout& layout) {
  std::set<int> interested(path_->estate_neighbours(team()));
  for (const int rank : partners()) interested.insert(rank);
  const std::vector<int> peers(interested.begin(), interested.end());
  auto layouts = team().ask(peers, layout);
  layouts[team_rank_] = layout;
  Exposed exposed;
  (void)meet(team(), Operation::member_attach, static_cast<std::uint64_t>(member.info.id), 0, [&] {
    exposed.exposure = path_->expose(team(), region);
    for (const int rank : protection_->neighbours()) exposed.peer_layouts.emplace_back(rank, layouts.at(rank));
    const int kept = exposed.exposure->keeps();
    if (kept >= 0) exposed.kept_layout = layouts.at(kept);
  });
  return exposed;
}

void Group::adopt(Member& member, Exposed exposed) noexcept {
  member.exposure = std::move(exposed.exposure);
  member.peer_layouts = std::move(exposed.peer_layouts);
  member.kept_layout = exposed.kept_layout;
}

// ----------------------------------------------------------------------------------------------------------- snapshots

int Group::time_stamp_of(Epoch epoch) const { return parameters_.start_time_stamp + static_cast<int>(epoch.value) - 1; }

void Group::look_for_failures() const {
  if (!team_) return;
  try {
    team_->check();
  } catch (const Error& error) {
    log().debug("group {}: looking for failures: {}", parameters_.id, error.what());
  }
}

// Of all ranks, as of now; as far as that can be found out.
void Group::find_commits() {
  try {
    if (attached()) ask_others(team_size_);
  } catch (const PeerFailure&) {
    // That is for the next operation to tell.
  } catch (const Error& error) {
    log().debug("group {}: asking for commits: {}", parameters_.id, error.what());
  }
}

std::vector<int> Group::snapshots() {
  std::vector<int> time_stamps;
  if (records_.empty()) {
    if (archive_) {
      for (const Epoch epoch : archive_->epochs()) time_stamps.insert(time_stamps.begin(), time_stamp_of(epoch));
    }
    return time_stamps;
  }
  find_commits();
  // Looked up once: it may move on at any time.
  const Epoch newest = known_on_all();
  for (auto placed = records_.rbegin(); placed != records_.rend(); ++placed) {
    const Record& record = placed->record;
    if (record.epoch > newest || record.deleted || time_stamps.size() == kept_snapshots()) continue;
    time_stamps.push_back(record.time_stamp);
  }
  return time_stamps;
}

}  // namespace fenix_impl

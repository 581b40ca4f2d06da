// SPDX-License-Identifier: BSD-3-Clause
#include "recovery/groups/storage/group_start.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/simd/hash.hpp"
#include "core/common/meeting.hpp"
#include "recovery/groups/storage/loading.hpp"

namespace fenix_impl {
namespace {

/// The number of the node of each rank, counted in the order of their first ranks.
std::vector<std::uint32_t> nodes_of(std::span<const Location> locations) {
  std::map<std::uint64_t, std::uint32_t> numbers;
  std::vector<std::uint32_t> nodes;
  for (const Location& each : locations) {
    nodes.push_back(numbers.try_emplace(each.node, static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  return nodes;
}

}  // namespace

bool GroupStart::has_dataset(Group& group) {
  Team& team = group.attachment().team();
  const StorageGroup& mine = groups_.of(group);
  char is_there = 0;
  (void)meet(team, Operation::fetch, 0, 0, [&] {
    if (team.rank() != 0 || !mine.begun_with) return;
    is_there = store_.keeper().datasets().is_complete(*mine.begun_with, [&team] { team.check(); }) ? 1 : 0;
  });
  team.broadcast(std::as_writable_bytes(std::span(&is_there, 1)), 0);
  return is_there != 0;
}

StoreOfJob GroupStart::for_rejoin(int group_id, Team& team) {
  const auto look = [this, group_id, &team](const StoreRun& run) -> StoreOfJob::Newest {
    store_.adopt_run(run);
    const auto found = store_.keeper().datasets().find({group_id, {}, {}, store_.run(), 0}, [&team] { team.check(); });
    if (!found.plan) return {};
    return {found.plan->name, found.is_chosen};
  };
  return {store_.as_known(), look};
}

GroupStart::Resumed GroupStart::reattach(Group& group, const RejoinResult& formed) {
  StorageGroup& mine = groups_.of(group);
  const bool awaits = formed.awaits_store;
  planner_.begin_anew(group);
  // The job must not begin anew, and write over what is there, only because a file system was slow.
  if (!store_.is_on() && store_.keeper_if_any() && awaits && store_.settings().fetches) (void)store_.keeper();
  if (!store_.is_on()) {
    group.store_link().await_dataset(false);
    return Resumed::no;
  }
  if (mine.generation == Generation{}) mine.every = store_.settings().every;
  mine.generation = group.log().generation();
  mine.quiet_until = {};
  flushing_.begin_generation(group, mine.flushes,
                             nodes_of(group.attachment().team().gather(group.attachment().team().location())));
  if (store_.settings().lease == 0 && !store_.drains()) lease_.release_earlier();
  Resumed resumed = Resumed::no;
  if (formed.kept_run != 0) {
    resumed = go_on_with_memory(group, formed);
  } else if (awaits && store_.settings().fetches && !store_.drains()) {
    // Memory of earlier runs would stand beside what is loaded.
    if (store_.keeps_memory()) lease_.drop_earlier(group);
    // It stays so if the store does not answer, or a rank dies: then it is looked at once more.
    group.store_link().await_dataset(true);
    resumed = load_newest(group, {}, {}).resumed;
  }
  group.store_link().await_dataset(false);
  // A drain that cannot go on with the memory leaves it as it is.
  if (store_.keeps_memory() && (!store_.drains() || resumed == Resumed::yes)) {
    group.store_link().call_before_record([this, &group] { lease_.keep(group); });
    lease_.keep(group);
    group.attachment().team().barrier();
  }
  return resumed;
}

GroupStart::Resumed GroupStart::go_on_with_memory(Group& group, const RejoinResult& formed) {
  StorageGroup& mine = groups_.of(group);
  const GroupParameters& parameters = group.parameters();
  mine.begun_with = DatasetName{parameters.id, parameters.time_stamp_of(group.log().last()), formed.kept_run,
                                formed.kept_generation.value};
  mine.passed_over = {mine.begun_with->text()};
  store_.note_origin(formed.kept_run);
  log().info("group {}: goes on from the memory of run {}, time stamp {}", parameters.id, formed.kept_run,
             mine.begun_with->time_stamp);
  fault_point("keep.taken_over");
  return Resumed::yes;
}

GroupStart::Found GroupStart::find(Group& group, const std::string& label,
                                   const std::vector<std::string>& passed_over) {
  Team& team = group.attachment().team();
  const int id = group.parameters().id;
  std::vector<std::byte> bytes;
  std::string name;
  std::string why;
  char has_unusable = 0;
  if (team.rank() == 0) {
    try {
      const auto found = store_.keeper().datasets().find(
          {id, label, passed_over, store_.run(), store_.only_reads() ? 0U : 1U}, [&team] { team.check(); });
      if (found.plan) {
        name = found.plan->name.text();
        bytes = encode(*found.plan);
      }
      has_unusable = found.unusable.empty() ? 0 : 1;
      for (const std::string& each : found.unusable) log().warn("group {}: {}", id, each);
    } catch (const Error& error) {
      // Without a look at the store nobody knows what is there: the program must not begin anew, and write over it.
      why = error.what();
    }
  }
  std::vector<char> said(name.begin(), name.end());
  std::vector<char> reason(why.begin(), why.end());
  team.broadcast_list(said, 0);
  team.broadcast_list(bytes, 0);
  team.broadcast_list(reason, 0);
  team.broadcast(std::as_writable_bytes(std::span(&has_unusable, 1)), 0);
  if (!reason.empty()) throw Error(FENIX_ERROR_STORE, std::string(reason.begin(), reason.end()));
  const auto parsed = DatasetName::parse({said.begin(), said.end()});
  return {parsed ? decode_plan(*parsed, bytes) : std::nullopt, has_unusable != 0};
}

// Memory of the group goes when it is replaced, and not before: a name that the store does not have changes nothing.
GroupStart::Loaded GroupStart::load_newest(Group& group, const std::string& label,
                                           std::vector<std::string> passed_over) {
  const GroupParameters before = group.parameters();
  bool has_tried = false;
  bool has_changed = false;
  for (Found found = find(group, label, passed_over);; found = find(group, label, passed_over)) {
    has_tried = has_tried || found.plan || found.has_unusable;
    if (!found.plan) break;
    const DatasetName name = found.plan->name;
    passed_over.push_back(name.text());
    Loading loading(group, store_.keeper_if_any());
    const bool is_loaded = loading.run(*found.plan);
    has_changed = has_changed || loading.has_changed();
    if (!is_loaded) continue;
    StorageGroup& mine = groups_.of(group);
    mine.begun_with = name;
    mine.passed_over = std::move(passed_over);
    store_.note_origin(name.run);
    log().info("group {}: goes on from the dataset {}", group.parameters().id, name.text());
    fault_point("fetch.agreed");
    return {Resumed::yes, has_changed};
  }
  if (!has_tried) return {};
  if (has_changed) {
    group.store_link().drop_dataset();
    group.store_link().set_start_time_stamp(before.start_time_stamp);
    Loading(group, store_.keeper_if_any()).begin_anew();
  }
  log().log(warning_of_all(group.ranks().rank), "group {}: no dataset of the store could be used",
            group.parameters().id);
  return {Resumed::unusable, has_changed};
}

int GroupStart::fetch(Group& group, const std::string& label, const Check& check) {
  (void)meet(group.attachment().team(), Operation::fetch, hash_bytes(std::as_bytes(std::span(label))), 0, [&] {
    check();
    (void)store_.keeper();
  });
  return fetch_from(group, label, {});
}

bool GroupStart::end_restart(Group& group, bool is_good) {
  constexpr std::uint64_t kBad = 1;
  StorageGroup& mine = groups_.of(group);
  const auto met = meet(group.attachment().team(), Operation::restart_done, 0, is_good ? 0 : kBad, [&] {
    (void)store_.keeper();
    if (mine.begun_with) return;
    throw Error(FENIX_ERROR_INVALID_LOGIC_CALL,
                "the group does not go on from a dataset of the store, or has committed since");
  });
  if (met.bits == 0) return true;
  (void)fetch_from(group, {}, mine.passed_over);
  return false;
}

int GroupStart::fetch_from(Group& group, const std::string& label, std::vector<std::string> passed_over) {
  StorageGroup& mine = groups_.of(group);
  const auto begun_with = std::exchange(mine.begun_with, std::nullopt);
  group.store_link().await_dataset(true);
  Loaded loaded;
  try {
    loaded = load_newest(group, label, std::move(passed_over));
  } catch (const MpiError&) {
    throw;
  } catch (const Error&) {
    group.store_link().await_dataset(false);
    throw;
  }
  group.store_link().await_dataset(false);
  if (loaded.resumed == Resumed::yes) return mine.begun_with->time_stamp;
  if (!loaded.has_changed) mine.begun_with = begun_with;
  throw Error(FENIX_ERROR_NODATA_FOUND, "the store has no complete dataset of group_id " +
                                            std::to_string(group.parameters().id) +
                                            (label.empty() ? "" : " with the name " + label));
}

}  // namespace fenix_impl

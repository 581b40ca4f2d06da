// SPDX-License-Identifier: BSD-3-Clause
#include "disk.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace fenix_simulation {
namespace {

constexpr std::size_t kSector = 512;
constexpr std::string_view kShared = "/store";

void put(std::vector<std::byte>& data, std::size_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (data.size() < offset + bytes.size()) data.resize(offset + bytes.size());
  std::memcpy(data.data() + offset, bytes.data(), bytes.size());
}

void carry_out(Inode::Names& names, const Inode::Change& change) {
  if (!change.gone.empty()) names.erase(change.gone);
  if (!change.comes.empty()) names[change.comes] = change.what;
}

/// How much of what was not synced has reached the disk.
enum Fate : std::uint64_t { all, none, some_of_it, kFates };

// Sectors are written whole, in any order. The length may be there without them.
void put_sectors(std::vector<std::byte>& data, const Inode::Write& write, Fate fate, const Luck& luck) {
  if (fate == none) return;
  if (fate == some_of_it && luck(2) != 0 && data.size() < write.offset + write.bytes.size())
    data.resize(write.offset + write.bytes.size());
  for (std::size_t done = 0; done < write.bytes.size();) {
    const std::size_t end = (write.offset + done) / kSector * kSector + kSector - write.offset;
    const std::size_t piece = std::min(end, write.bytes.size()) - done;
    const bool is_there = fate == all || luck(2) == 0;
    if (is_there) put(data, write.offset + done, std::span(write.bytes).subspan(done, piece));
    done += piece;
  }
}

void crash_file(Inode& file, int node, const Luck& luck) {
  if (file.writes.empty()) return;
  const auto fate = static_cast<Fate>(luck(kFates));
  for (const Inode::Write& write : file.writes) {
    if (write.node == node) put_sectors(file.durable, write, fate, luck);
  }
  std::erase_if(file.writes, [&](const Inode::Write& write) { return write.node == node; });
  file.data = file.durable;
  for (const Inode::Write& write : file.writes) put(file.data, write.offset, write.bytes);
}

void crash_folder(Inode& folder, int node, const Luck& luck) {
  if (folder.changes.empty()) return;
  const auto fate = static_cast<Fate>(luck(kFates));
  for (const Inode::Change& change : folder.changes) {
    const bool is_there = fate == all || (fate == some_of_it && luck(2) == 0);
    if (change.node == node && is_there) carry_out(folder.durable_names, change);
  }
  std::erase_if(folder.changes, [&](const Inode::Change& change) { return change.node == node; });
  folder.names = folder.durable_names;
  for (const Inode::Change& change : folder.changes) carry_out(folder.names, change);
}

void crash_tree(const InodePtr& inode, int node, const Luck& luck, std::set<std::uint64_t>& seen) {
  if (!seen.insert(inode->number).second) return;
  if (inode->type == Inode::Type::file) crash_file(*inode, node, luck);
  if (inode->type != Inode::Type::folder) return;
  // Files whose names are lost may have other names.
  auto below = inode->names;
  below.insert(inode->durable_names.begin(), inode->durable_names.end());
  crash_folder(*inode, node, luck);
  for (const auto& [name, each] : below) crash_tree(each, node, luck, seen);
  for (const auto& [name, each] : inode->names) crash_tree(each, node, luck, seen);
}

struct Disks {
  Disk shared{true};
  std::map<int, Disk> of_nodes;
  std::uint64_t faults = 0;

  Disks() { shared.make_folder(std::string(kShared), 0700, 0); }
  Disk& of_node(int node) {
    const auto found = of_nodes.find(node);
    if (found != of_nodes.end()) return found->second;
    Disk& made = of_nodes.emplace(node, Disk(false)).first->second;
    constexpr unsigned kForAll = 01777;
    for (const char* folder : {"/tmp", "/dev", "/dev/shm"}) made.make_folder(folder, kForAll, 0);
    return made;
  }
};

Disks* the_disks = nullptr;

}  // namespace

void Inode::write(int node, std::size_t offset, std::span<const std::byte> bytes) {
  put(data, offset, bytes);
  // Files of one node alone go with it.
  if (is_shared) writes.push_back({node, offset, {bytes.begin(), bytes.end()}});
}

void Inode::change(Change change) {
  carry_out(names, change);
  if (is_shared) changes.push_back(std::move(change));
}

void Inode::sync() {
  for (const Write& each : writes) {
    if (!each.is_given_up) put(durable, each.offset, each.bytes);
  }
  std::erase_if(writes, [](const Write& each) { return !each.is_given_up; });
  for (const Change& each : changes) carry_out(durable_names, each);
  changes.clear();
}

Disk::Disk(bool is_shared) : is_shared_(is_shared), root_(make(Inode::Type::folder, 0755, 0)) {}

InodePtr Disk::make(Inode::Type type, unsigned mode, unsigned owner) {
  auto made = std::make_shared<Inode>();
  made->type = type;
  made->mode = mode;
  made->owner = owner;
  made->number = next_number_++;
  made->is_shared = is_shared_;
  return made;
}

InodePtr Disk::make_folder(const std::string& path, unsigned mode, unsigned owner) {
  const Spot spot = find(path);
  const InodePtr made = make(Inode::Type::folder, mode, owner);
  spot.folder->names[spot.name] = spot.folder->durable_names[spot.name] = made;
  return made;
}

Disk::Spot Disk::find(const std::string& path, const InodePtr& from) const {
  if (path.empty()) return {};
  Spot spot{nullptr, {}, from && !path.starts_with('/') ? from : root_};
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    at = end + 1;
    if (name.empty() || name == ".") continue;
    if (!spot.inode || spot.inode->type != Inode::Type::folder) return {};
    spot.folder = spot.inode;
    spot.name = name;
    const auto found = spot.folder->names.find(name);
    spot.inode = found != spot.folder->names.end() ? found->second : nullptr;
  }
  return spot;
}

void Disk::crash(int node, const Luck& luck) {
  std::set<std::uint64_t> seen;
  crash_tree(root_, node, luck, seen);
}

void begin_disks() { the_disks = new Disks; }

void end_disks() {
  delete the_disks;
  the_disks = nullptr;
}

Disk& disk_at(int node, const std::string& path) {
  return path.starts_with(kShared) ? the_disks->shared : the_disks->of_node(node);
}

void lose_node(int node, const Luck& luck) {
  the_disks->shared.crash(node, luck);
  the_disks->of_nodes.erase(node);
}

std::vector<std::string> names_at(int node, const std::string& path) {
  std::vector<std::string> names;
  const auto spot = disk_at(node, path).find(path);
  if (!spot.inode) return names;
  for (const auto& [name, each] : spot.inode->names) names.push_back(name);
  return names;
}

std::uint64_t& disk_faults() { return the_disks->faults; }

}  // namespace fenix_simulation

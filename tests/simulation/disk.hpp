// SPDX-License-Identifier: BSD-3-Clause
// Files and folders, as the system shows them and as a disk has them: all that was not synced may be lost when a node goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace fenix_simulation {

struct Opened;
struct Inode;
using InodePtr = std::shared_ptr<Inode>;

/// A file, a folder, or the name of a socket.
struct Inode {
  enum class Type : std::uint8_t { file, folder, socket };
  /// Bytes that no sync has reached.
  struct Write {
    int node = 0;
    std::size_t offset = 0;
    std::vector<std::byte> bytes;
    bool is_given_up = false;  ///< a sync has failed: later ones do not write it either
  };
  /// A name that no sync of its folder has reached.
  struct Change {
    int node = 0;
    std::string gone;   ///< a name that goes; or empty
    std::string comes;  ///< a name that comes; or empty
    InodePtr what;
  };
  using Names = std::map<std::string, InodePtr>;

  Type type = Type::file;
  std::uint64_t number = 0;
  unsigned mode = 0600;
  unsigned owner = 0;
  bool is_shared = false;  ///< by all nodes
  bool has_name = true;
  std::vector<std::byte> data;
  std::vector<std::byte> durable;
  std::vector<Write> writes;
  Names names;
  Names durable_names;
  std::vector<Change> changes;
  std::weak_ptr<Opened> lock;      ///< who has it
  std::weak_ptr<Opened> listener;  ///< at the name of a socket

  void write(int node, std::size_t offset, std::span<const std::byte> bytes);
  void change(Change change);
  void sync();
};

/// Answers how the parts of a crash end; 0: nothing is lost.
using Luck = std::function<std::uint64_t(std::uint64_t below)>;

class Disk {
 public:
  explicit Disk(bool is_shared);

  /// Where a path leads.
  struct Spot {
    InodePtr folder;  ///< null: there is none
    std::string name;
    InodePtr inode;  ///< null: nothing has this name
  };
  /// from: a folder for relative paths, or null.
  [[nodiscard]] Spot find(const std::string& path, const InodePtr& from = {}) const;
  [[nodiscard]] InodePtr make(Inode::Type type, unsigned mode, unsigned owner);
  InodePtr make_folder(const std::string& path, unsigned mode, unsigned owner);
  /// A node has gone: what it has not synced is lost, in parts.
  void crash(int node, const Luck& luck);

 private:
  bool is_shared_;
  std::uint64_t next_number_ = 1;
  InodePtr root_;
};

/// Disks of a schedule: one for each node, and one that all nodes share.
void begin_disks();
void end_disks();
/// Returns the disk that has a path, for a process of a node.
Disk& disk_at(int node, const std::string& path);
/// Takes the files of a node, and what it had not synced of the shared ones.
void lose_node(int node, const Luck& luck);
/// Returns the names of a folder of a node.
std::vector<std::string> names_at(int node, const std::string& path);
/// Counts requests that the disk has refused, or that took long.
std::uint64_t& disk_faults();

}  // namespace fenix_simulation

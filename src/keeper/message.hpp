// SPDX-License-Identifier: BSD-3-Clause
// The messages between ranks and the keeper of their node. Each request gets one answer, at any time; requests of a connection may be
// answered in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "keeper/body.hpp"

namespace fenix_impl {

enum class KeeperOp : std::uint32_t {
  hello = 1,  ///< the first one: Hello. No answer
  regions,    ///< descriptors of memory that the next flush needs. No answer
  flush,      ///< Offered, with some of the regions as files. Answered when the part of this writer is durable
  keep,       ///< as flush, to be written if all ranks die and no other job takes the memory. Answered if it is refused
  abandon,    ///< Abandoned: flushes for which ranks wait in vain. No answer
  forget,     ///< run, as 32 bits: nobody is to go on from its memory, or from that of an earlier one. No answer
  progress,   ///< from the keeper, without a request: bytes that are written
  begin_run,  ///< answer: BegunRun, and a warning or none; or in_use: ranks of another run are connected
  find,  ///< Search, of which a long list of what is passed over is a file. Answer: FoundInStore, and the plan as a file, if there is one;
         ///< or in_use: a newer one is being written
  rank,  ///< name, rank. Answer: the entry of the rank as a file
  read,  ///< Reading, with the memory as a file
  list,  ///< answer: Listed, one after the other, as a file
  remove,       ///< name
  set_current,  ///< name, or nothing
  finish_run,   ///< run, as 32 bits: it has come to its end
  get_halt,     ///< answer: the text of the wish that a run ends, or none
  halt,         ///< such a text
  check,        ///< name: whether the dataset is complete
  taken,        ///< name: the run that has begun with this dataset has committed
  keep_group,   ///< KeptGroupOf, with a description as a file, after its regions. Answered if it is refused
  drop_group,   ///< KeptGroupOf: this memory is not needed any more. No answer
  kept_group,   ///< KeptSearch. Answer: KeptGroupAt, and the description as a file
  list_groups,  ///< answer: KeptGroupOf for all memory that is kept, one after the other, as a file
  release,  ///< run, as 32 bits: it keeps no memory, and goes on from none. What earlier ones have left is written. No answer
  verify,    ///< Reading: whether the data is what was written. No memory gets it
  drop_kept  ///< Dropped: snapshots that are not needed any more. No answer
};

constexpr KeeperOp kLastKeeperOp = KeeperOp::drop_kept;

/// Outcome of a request, in its answer.
enum class KeeperCode : std::int32_t {
  done = 0,
  none = 1,     ///< there is no such thing
  gone = 2,     ///< data was not there any more when it was to be written
  damaged = 3,  ///< what is in the store is not what was written
  failed = 4,   ///< the file system, or the keeper itself; the text says how
  in_use = 5    ///< by another process, which may end soon
};

struct Message {
  KeeperOp op = KeeperOp::hello;
  std::uint64_t id = 0;  ///< of the request, and of its answer
  KeeperCode code = KeeperCode::done;
  std::string text;  ///< of an error
  std::vector<std::byte> body;

  bool operator==(const Message&) const = default;
};

[[nodiscard]] std::vector<std::byte> encode(const Message& message);
/// Returns nullopt unless the bytes are those of a message. Any bytes may be given.
[[nodiscard]] std::optional<Message> decode_message(std::span<const std::byte> bytes);

// ---------------------------------------------------------------------------------------------------------------- bodies
// Written by encode_body(), and read by decode_body().

struct Hello {
  std::string root;           ///< folder of the store
  std::uint64_t rate = 0;     ///< most bytes per second that this keeper writes; 0: no limit
  std::uint32_t seconds = 0;  ///< after which a file system that does not move counts as failed
  std::uint32_t kept = 0;     ///< newest complete datasets of a group that stay; 0: all
  std::uint32_t lease = 0;    ///< seconds for which memory is kept when all ranks have died; 0: it is not
  std::uint32_t run = 0;      ///< of the rank; 0: it does not know it yet, and says it later
  std::uint64_t store = 0;    ///< id of the store, with the run; memory of another one is of no use

  bool operator==(const Hello&) const = default;
  static void visit(auto& self, auto& visitor) {
    visitor.fields(self.root, self.rate, self.seconds, self.kept, self.lease, self.run, self.store);
  }
};

struct BegunRun {
  std::uint32_t number = 0;
  std::uint64_t store = 0;       ///< id of the store
  std::uint32_t only_reads = 0;  ///< 1: the store takes no new files

  bool operator==(const BegunRun&) const = default;
  static void visit(auto& self, auto& visitor) { visitor.fields(self.number, self.store, self.only_reads); }
};

/// Snapshots of a group that were deleted.
struct Dropped {
  std::int32_t group = 0;
  std::uint32_t run = 0;         ///< and of earlier runs
  std::uint32_t generation = 0;  ///< and of earlier ones
  std::int32_t time_stamp = 0;   ///< -1: all

  bool operator==(const Dropped&) const = default;
  static void visit(auto& self, auto& visitor) {
    visitor.fields(self.group, self.run, self.generation, self.time_stamp);
  }
};

struct Search {
  std::int32_t group = 0;
  std::string label;                     ///< of the user; empty: any
  std::vector<std::string> passed_over;  ///< names of datasets that are of no use
  std::uint32_t run = 0;                 ///< that asks
  std::uint32_t begins = 0;              ///< 1 if it begins with what is found

  bool operator==(const Search&) const = default;
  static void visit(auto& self, auto& visitor) {
    visitor.fields(self.group, self.label, self.passed_over, self.run, self.begins);
  }
};

struct FoundInStore {
  std::string name;                   ///< of the dataset; empty: there is none
  std::uint32_t is_chosen = 0;        ///< 1 if the user has chosen it
  std::vector<std::string> unusable;  ///< what would have come before it, and why it cannot be used: the first ones

  bool operator==(const FoundInStore&) const = default;
  static void visit(auto& self, auto& visitor) { visitor.fields(self.name, self.is_chosen, self.unusable); }
};

/// Offer of a rank for a dataset. Long ones are in a file, the first one of the message: the plan, and then the offer.
struct Offered {
  std::uint32_t writer = 0;
  std::string name;
  std::uint64_t plan_bytes = 0;  ///< the rest is the offer
  std::string content;           ///< both, or nothing if they are in a file

  bool operator==(const Offered&) const = default;
  static void visit(auto& self, auto& visitor) {
    visitor.fields(self.writer, self.name, self.plan_bytes, self.content);
  }
};

/// No rank offers anything more for flushes of a group in generations before this one.
struct Abandoned {
  std::int32_t group = 0;
  std::uint32_t all_groups = 0;  ///< 1: of any group, in any generation
  std::uint32_t generation = 0;
  std::string name;  ///< and nobody completes this dataset; or empty

  bool operator==(const Abandoned&) const = default;
  static void visit(auto& self, auto& visitor) {
    visitor.fields(self.group, self.all_groups, self.generation, self.name);
  }
};

/// Search for the memory of a rank, in a group of so many.
struct KeptSearch {
  std::int32_t group = 0;
  std::int32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint32_t run = 0;  ///< that is to go on with it

  bool operator==(const KeptSearch&) const = default;
  static void visit(auto& self, auto& visitor) { visitor.fields(self.group, self.rank, self.ranks, self.run); }
};

/// The memory of a group on a rank: another process can go on with it as it is.
struct KeptGroupOf {
  std::int32_t group = 0;
  std::int32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint32_t run = 0;
  std::uint32_t generation = 0;

  bool operator==(const KeptGroupOf&) const = default;
  static void visit(auto& self, auto& visitor) {
    visitor.fields(self.group, self.rank, self.ranks, self.run, self.generation);
  }
};

/// The place of its regions: open files of the keeper, in the order in which they came.
struct KeptGroupAt {
  std::int32_t process = 0;
  std::vector<std::int32_t> files;

  bool operator==(const KeptGroupAt&) const = default;
  static void visit(auto& self, auto& visitor) { visitor.fields(self.process, self.files); }
};

struct Reading {
  std::string name;
  std::int32_t rank = 0;
  std::int32_t member = 0;
  std::uint64_t begin = 0;  ///< in the data of the member, a multiple of Extent::kPiece
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  ///< in the file that is to get them

  bool operator==(const Reading&) const = default;
  static void visit(auto& self, auto& visitor) {
    visitor.fields(self.name, self.rank, self.member, self.begin, self.bytes, self.offset);
  }
};

struct Listed {
  std::string name;
  std::string label;           ///< a dataset with several is listed once for each
  std::uint32_t is_whole = 0;  ///< 1 if the dataset is complete
  std::uint32_t current = 0;   ///< 1 if the user has chosen it

  bool operator==(const Listed&) const = default;
  static void visit(auto& self, auto& visitor) { visitor.fields(self.name, self.label, self.is_whole, self.current); }
};

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// The redundancy of members' slots. A policy is an implementation of this: docs/extending.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/common/group_parameters.hpp"
#include "core/log/control.hpp"
#include "core/member/member.hpp"
#include "rma/path.hpp"

namespace fenix_impl {

/// The parts of a group that its protection works with, on this rank. They outlive it.
struct ProtectionContext {
  const GroupParameters& parameters;
  const Placement& placement;
  Control& control;
  Path& path;
  int rank = 0;
};

/// Hashes of blocks that can be computed while their bytes are at hand.
struct BlockHashes {
  std::span<std::uint64_t> table;
  IntervalSet wanted;  ///< blocks all of whose bytes belong to the snapshot
  IntervalSet done;
};

/// A change that a store or a commit has made in a member.
struct Change {
  Member* member = nullptr;
  IntervalSet elements;
  Epoch carried_from;             ///< if not none: nothing was stored, and the version of that commit goes on
  BlockHashes* hashes = nullptr;  ///< to be computed as well, where commits are in place
  bool is_in_buffer = false;      ///< see Member::is_whole_in_buffer()
};

/// A way to wait that suits the thread: returns when ready() is true, and throws when it cannot become so.
using Wait = std::function<void(const char* waited_for, const std::function<bool()>& ready)>;

/// The purpose of an encoding, which has to be the same for all ranks that encode together: the commit of an epoch, or
/// an asynchronous store after it.
struct EncodeFor {
  enum class Call : std::int32_t { commit, asynchronous_store };

  Call call = Call::commit;
  Epoch epoch;
};

/// The half of a protection that the ranks of a redundancy set do together: they encode, and so they commit at the same time.
class CollectiveEncoder {
 public:
  CollectiveEncoder() = default;
  CollectiveEncoder(const CollectiveEncoder&) = delete;
  CollectiveEncoder& operator=(const CollectiveEncoder&) = delete;
  virtual ~CollectiveEncoder() = default;

  /// Encodes changes in working slots. The ranks of the redundancy set do the same at the same time.
  virtual void encode(const EncodeFor& purpose, std::span<const Change> changes, const Wait& wait) = 0;
  /// Tells the others that this rank cannot commit. Called instead of encode().
  virtual void decline(const Wait& wait) = 0;
  /// Tells the others that this rank takes no further part. No thread of it encodes. Local.
  virtual void leave() noexcept = 0;
  /// Whether an encoding has been cut short. This rank and its redundancy set may be out of step then, until the group is taken
  /// up anew.
  [[nodiscard]] virtual bool is_broken() const = 0;
};

/// A slot of a rank that has lost it, with the redundancy in it. Sent to other ranks.
struct LostSlot {
  Epoch epoch;  ///< of a snapshot to which it belongs
  std::int32_t member_id = 0;
  std::uint32_t slot = 0;
};

/// A part of a work that several ranks share.
struct Share {
  int number = 0;
  int of = 1;
};

/// The half of a protection by which ranks make together what another one of their redundancy set has lost.
class SharedDecoder {
 public:
  SharedDecoder() = default;
  SharedDecoder(const SharedDecoder&) = delete;
  SharedDecoder& operator=(const SharedDecoder&) = delete;
  virtual ~SharedDecoder() = default;

  /// Returns the ranks of the redundancy set, this one included.
  [[nodiscard]] virtual std::span<const int> redundancy_set() const = 0;
  /// Returns from how many ranks a lost slot is made.
  [[nodiscard]] virtual int needed() const = 0;
  /// Makes a share of the slot that a rank has lost, and writes it to that rank. sources: by index in the redundancy set, the slots from which
  /// it can be made. False if they do not suffice. Throws Error(FENIX_ERROR_NO_MEMORY) and std::bad_alloc. Local.
  virtual bool make_share(Member& member, int loser, std::uint32_t slot,
                          std::span<const std::optional<std::uint32_t>> sources, const Share& share) = 0;
};

/// The half of a protection that each rank does alone.
class Protection {
 public:
  explicit Protection(const ProtectionContext& context) : context_(context) {}
  Protection(const Protection&) = delete;
  Protection& operator=(const Protection&) = delete;
  virtual ~Protection() = default;

  /// Returns the bytes of redundancy that this rank has in each slot of a member, if slots have room for so many
  /// elements.
  [[nodiscard]] virtual std::uint64_t held_bytes(const Member& member, const Counts& counts) const = 0;
  /// Returns the ranks whose layout of a member's region has to be known.
  [[nodiscard]] virtual std::vector<int> neighbours() const = 0;
  /// Whether the caller's core copies all that is written to other ranks. Otherwise the network works on after the
  /// call.
  [[nodiscard]] bool puts_are_copies() const { return puts_are_copies_; }
  /// Returns the collective half, or null: ranks commit one by one then.
  [[nodiscard]] virtual CollectiveEncoder* encoder() { return nullptr; }
  /// Returns the half by which ranks rebuild together, or null: each rebuilds alone what it has lost.
  [[nodiscard]] virtual SharedDecoder* shared_decoder() { return nullptr; }
  /// Whether the ranks of a redundancy set commit together.
  [[nodiscard]] bool commits_collectively() { return encoder() != nullptr; }
  /// Whether each store takes a slot, even one of no element: the other ranks of a redundancy set count on it. If not, such a
  /// member keeps the slot of the latest snapshot.
  [[nodiscard]] bool stores_always_take_slot() { return encoder() != nullptr; }

  /// Gets the neighbours' slots ready for use. Called for a member that has just been exposed.
  virtual void prepare(const Member& member) const = 0;

  // ------------------------------------------------------------------------------------------------------- store, commit

  // A policy whose ranks encode together does nothing alone: it inherits these.

  /// Returns memory that a store may write to as well as to the own slot, so that nothing else needs to be done for
  /// those bytes. Empty if there is none.
  [[nodiscard]] virtual std::span<std::byte> mirror(const Member&, std::uint32_t /*slot*/, std::size_t /*offset*/,
                                                    std::size_t /*bytes*/) const {
    return {};
  }
  /// Protects bytes of a snapshot as far as this rank can do that alone. They are on their way until flush(), and data has to stay
  /// as it is. offset: in the slot.
  virtual void put(const Member&, std::uint32_t /*slot*/, std::size_t /*offset*/,
                   std::span<const std::byte> /*data*/) const {}
  /// Protects the first entries of a table of hashes in the same way.
  virtual void put_table(const Member&, std::uint32_t /*slot*/, std::span<const std::uint64_t> /*table*/) const {}
  /// Returns when all bytes that were put for the member are in the memory of the other ranks.
  virtual void flush(const Member&) const {}
  /// Whether flush() would return at once.
  [[nodiscard]] virtual bool is_flushed(const Member&) const { return true; }

  // -------------------------------------------------------------------------------------------- after damage, after a death

  /// Repairs the own slot of a version. All ranks have their part of the version. True if the slot is as its record
  /// says now. Works only in groups with hashes: others cannot tell what is wrong.
  virtual bool mend_own(Member& member, const MemberVersion& version, Epoch epoch) = 0;
  /// Makes the redundancy that this rank holds for others in a slot of a snapshot anew. version: of the rank whose copy
  /// it is if holds_copies(), else of this rank.
  virtual bool mend_held(Member& member, const MemberVersion& version, Epoch epoch) = 0;
  /// Makes the own slot of a version on a rank that has nothing of it, and everything else that depends on this rank's
  /// records. Uses only ranks that are not missing. True if the slot is as its record says.
  virtual bool rebuild_own(Member& member, const MemberVersion& version, Epoch epoch, const std::set<int>& missing) = 0;
  /// Whether mend_held() would find nothing to do.
  [[nodiscard]] virtual bool held_is_sound(Member& member, const MemberVersion& version, Epoch epoch) = 0;
  /// Whether mend_held() and held_is_sound() are about versions of the rank whose copies this one has; otherwise about
  /// its own.
  [[nodiscard]] virtual bool holds_copies() const = 0;

 protected:
  const ProtectionContext context_;

 private:
  friend std::unique_ptr<Protection> make_protection(const ProtectionContext& context);
  bool puts_are_copies_ = false;
};

/// Whether the own slot of a version is as its record says, as far as that is known.
[[nodiscard]] bool own_is_sound(const GroupParameters& parameters, const Member& member, const MemberVersion& version);

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// A member of a group on this rank: what it is, its memory, and its part in the snapshot under construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/log/record.hpp"
#include "core/member/member_buffer.hpp"
#include "core/member/member_memory.hpp"
#include "core/member/slot_file.hpp"
#include "core/member/working_slot.hpp"
#include "rma/element_type.hpp"

namespace fenix_impl {

/// The part of a member that is the same on all ranks; sent to ranks that have to learn of it.
struct MemberInfo {
  std::int32_t id = 0;
  bool resizeable = false;
  Epoch created_after;  ///< latest epoch then: what older records say of this id is about a member that was deleted
  std::shared_ptr<const ElementType> type;
  bool allocated = false;  ///< the library has the memory for the buffer

  [[nodiscard]] std::uint32_t element_bytes() const { return type->bytes(); }
};

/// As in Fenix_Serialize_file_fn, with the context bound.
using Serializer =
    std::function<void(std::FILE*, int direction, void* buffer, std::uint64_t offset, std::uint64_t count)>;

/// The purpose of a file that the application has open.
enum class FileUse { staging, loading };

class Member {
 public:
  MemberMemory memory;
  MemberBuffer allocated;  ///< if the library has the memory for the buffer; kept when the other memory is given out

  Member() = default;
  /// count: elements of this rank; 0 if the size may change.
  Member(MemberInfo info, const void* buffer, std::uint64_t count)
      : info_(std::move(info)), own_count_(count), buffer_(buffer), claimed_(true) {}
  /// Makes a member of which a peer has told.
  explicit Member(MemberInfo info) : info_(std::move(info)) {}

  // --------------------------------------------------------------------------------------------------------- attributes

  [[nodiscard]] const MemberInfo& info() const { return info_; }
  [[nodiscard]] std::int32_t id() const { return info_.id; }
  [[nodiscard]] std::uint32_t element_bytes() const { return info_.element_bytes(); }
  /// Returns the elements of this rank; 0 if the size may change.
  [[nodiscard]] std::uint64_t own_count() const { return own_count_; }
  /// Returns the source of stores, which belongs to the application.
  [[nodiscard]] const void* buffer() const { return buffer_; }
  [[nodiscard]] const Serializer& serializer() const { return serializer_; }
  void set_count(std::uint64_t count) { own_count_ = count; }
  /// Sets the count on this rank alone. Whether 0 says that the rank has no elements, or that the size may change, shows in the next
  /// meeting: the member is resizeable if all ranks say 0.
  void redefine_count(std::uint64_t count) {
    own_count_ = count;
    kind_is_open_ = count == 0;
    if (count != 0) info_.resizeable = false;
  }
  /// Whether the size may change, as far as this rank knows.
  [[nodiscard]] bool may_be_resizeable() const { return info_.resizeable || kind_is_open_; }
  [[nodiscard]] bool is_resizeable() const { return info_.resizeable && !kind_is_open_; }
  void set_type(std::shared_ptr<const ElementType> type) { info_.type = std::move(type); }
  void set_buffer(const void* buffer) { buffer_ = buffer; }
  /// Sets the source of stores. From here on, the application knows that the member exists.
  void claim(const void* buffer) {
    buffer_ = buffer;
    claimed_ = true;
  }
  /// Whether all ranks have known the member since the group was taken up with replacements: then it is defined rank by rank.
  [[nodiscard]] bool has_rejoined() const { return has_rejoined_; }
  /// Whether the application of this rank has created the member. On a replacement it has not until it says so.
  [[nodiscard]] bool is_claimed() const { return claimed_; }
  void note_rejoined() { has_rejoined_ = true; }
  /// Notes that the library has created the member, and the application has still to say so.
  void disclaim() { claimed_ = false; }
  void set_serializer(Serializer serializer) { serializer_ = std::move(serializer); }
  /// Says what all ranks agree on.
  void set_resizeable(bool resizeable) {
    info_.resizeable = resizeable;
    kind_is_open_ = false;
  }
  void set_created_after(Epoch epoch) { info_.created_after = epoch; }
  /// Whether attributes have been compared on all ranks, and the memory fits them.
  [[nodiscard]] bool sizes_agreed() const { return sizes_agreed_; }
  void set_sizes_agreed(bool agreed) { sizes_agreed_ = agreed; }
  /// Whether all elements of the snapshot under construction are in the allocated buffer as they are in a slot, so that other ranks
  /// can read them there. For groups that commit in place.
  [[nodiscard]] bool is_whole_in_buffer(int own_rank) const;
  [[nodiscard]] std::uint64_t bytes_of(int rank) const { return memory.counts().at(rank) * element_bytes(); }

  // -------------------------------------------------------------------------------------------------------------- working

  /// To change it takes a MemberAccess: no asynchronous store may be at work on the slot.
  [[nodiscard]] const WorkingSlot& working() const { return working_; }
  /// Notes that slots may differ from any snapshot. The state of asynchronous stores stays.
  void forget_slots() { working_.history().forget_slots(); }
  void add_slots(std::uint32_t slots) { working_.history().add_slots(slots); }
  /// Detaches from peers, and drops the snapshot under construction. Asynchronous stores have been cancelled before.
  void detach();
  /// Gives the region out, and forgets what was stored.
  Region release_memory();

  // ----------------------------------------------------------------------------------------------------------------- file

  /// Whether the application has a file open to stage elements, or to load them.
  [[nodiscard]] bool is_staging_file() const { return has_file(FileUse::staging) && !file_has_ended_; }
  [[nodiscard]] bool is_loading_file() const { return has_file(FileUse::loading) && !file_has_ended_; }
  /// Whether a file has ended that the application had open: it can be closed only.
  [[nodiscard]] bool has_ended_file(FileUse use) const { return has_file(use) && file_has_ended_; }
  /// Closes a file that has ended.
  std::FILE* open_file(std::unique_ptr<SlotFile> file, FileUse use);
  [[nodiscard]] std::unique_ptr<SlotFile> close_file() { return std::move(file_); }
  /// Ends the file that the application has open, if any. The application may go on using the FILE: it only gets errors.
  void end_file();

 private:
  friend class MemberAccess;

  [[nodiscard]] bool has_file(FileUse use) const { return file_ != nullptr && file_use_ == use; }

  MemberInfo info_;
  std::uint64_t own_count_ = 0;
  const void* buffer_ = nullptr;
  Serializer serializer_;
  bool claimed_ = false;
  bool has_rejoined_ = false;
  bool sizes_agreed_ = false;
  bool kind_is_open_ = false;
  WorkingSlot working_;
  std::unique_ptr<SlotFile> file_;
  FileUse file_use_ = FileUse::staging;
  bool file_has_ended_ = false;
};

/// Access to the working slot of a member: no request is pending on it. Only a RequestQueue makes one, after a wait.
class MemberAccess {
 public:
  [[nodiscard]] Member& member() const { return *member_; }
  [[nodiscard]] WorkingSlot& slot() const { return member_->working_; }

 private:
  friend class RequestQueue;
  explicit MemberAccess(Member& member) : member_(&member) {}

  Member* member_;
};

/// Returns the version of a member in a record; null if there is none, or it is of an earlier member with the same id.
[[nodiscard]] const MemberVersion* version_in(const Record& record, const Member& member);

/// Returns the name of a member as error texts have it.
[[nodiscard]] std::string name_of_member(std::int32_t member_id);
[[nodiscard]] inline std::string name_of(const Member& member) { return name_of_member(member.id()); }

}  // namespace fenix_impl

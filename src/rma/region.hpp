// SPDX-License-Identifier: BSD-3-Clause
// Regions: shared memory that other ranks can reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/descriptor.hpp"
#include "base/error.hpp"

namespace fenix_impl {

/// The data by which a process maps a region of another one on its node.
struct RegionAddress {
  std::int32_t pid = 0;
  std::int32_t fd = -1;
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;  ///< random; stands in the region's first bytes too, so that a recycled pid is noticed
};

/// Memory mapped into this process, unmapped at the end.
class Mapping {
 public:
  Mapping() = default;
  /// Maps bytes of the file. Throws Error(FENIX_ERROR_NO_MEMORY). fault: the fault point for that.
  Mapping(int fd, std::size_t bytes, const char* fault);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }
  /// Gives the memory up without unmapping it.
  void leak() noexcept { data_ = nullptr; }
  /// Whether an address is in a mapping of this process, given up or not. Any thread may ask.
  [[nodiscard]] static bool have(const void* address);

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Makes sure that writes to [offset, offset + bytes) of a mapped region meet pages that are mapped. False if that cannot be done here;
/// nothing is lost then but time, later. region: all of it.
bool populate_pages(std::span<std::byte> region, std::size_t offset, std::size_t bytes);

/// Takes memory for [offset, offset + bytes) of a region's file now. Throws Error(FENIX_ERROR_NO_MEMORY).
void reserve_in(const Descriptor& file, std::size_t offset, std::size_t bytes);

/// An anonymous shared memory segment owned by this process. It has no name, so nothing is left of it when its last user
/// is gone, however that ended. Its first kHeaderBytes bytes belong to this class. The memory stays as it is as long as a
/// RegionHold is there, also when the Region has gone.
class Region {
 public:
  static constexpr std::size_t kHeaderBytes = 64;

  Region() = default;
  /// Makes a segment with room for bytes after the header, zero-filled. Throws Error(FENIX_ERROR_NO_MEMORY) and
  /// std::bad_alloc.
  explicit Region(std::size_t bytes);
  Region(Region&&) noexcept = default;
  Region& operator=(Region&&) noexcept = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() = default;

  /// Takes over one that another process of this node has open, with what is in it; its owner has ended. Throws
  /// Error(FENIX_ERROR_NO_MEMORY).
  static Region take_over(const RegionAddress& address);

  /// Makes a region that was taken over this process's alone. Until then its content stays, whatever happens here: the process that has it
  /// open offers it once more if this attempt fails.
  void claim() const {
    if (segment_) segment_->is_offered = false;
  }

  /// Takes the memory of [offset, offset + bytes) now, so that a later write cannot fail for the lack of it.
  /// Throws Error(FENIX_ERROR_NO_MEMORY).
  void reserve(std::size_t offset, std::size_t bytes);

  /// Maps the first bytes, so that the first writes to them do not have to. Takes a while.
  void populate(std::size_t bytes) const {
    if (segment_) (void)populate_pages(segment_->mapping.bytes(), 0, bytes);
  }

  /// The whole segment, header included: offsets of paths count from here.
  [[nodiscard]] std::span<std::byte> bytes() const {
    return segment_ ? segment_->mapping.bytes() : std::span<std::byte>();
  }
  [[nodiscard]] RegionAddress address() const;
  /// Returns the file of the segment, which stays open as long as somebody has it.
  [[nodiscard]] SharedFile file() const { return segment_ ? SharedFile(segment_, &segment_->file) : nullptr; }

 private:
  friend class RegionHold;

  struct Segment {
    Segment() = default;
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    ~Segment();

    Descriptor file;
    std::uint64_t key = 0;
    Mapping mapping;
    bool may_be_touched = false;  // by a transfer that nobody can stop any more
    bool is_offered = false;      // by another process, also to the rank that comes after this one
  };

  std::shared_ptr<Segment> segment_;
};

/// Keeps the memory of a region while transfers of others may touch it. Local.
class RegionHold {
 public:
  RegionHold() = default;
  explicit RegionHold(const Region& region) : segment_(region.segment_) {}
  RegionHold(RegionHold&&) noexcept = default;
  RegionHold& operator=(RegionHold&&) = delete;
  RegionHold(const RegionHold&) = delete;
  RegionHold& operator=(const RegionHold&) = delete;
  /// A transfer may still come in. When nobody uses the region any more, its pages go back to the system, and its addresses stay
  /// taken: what comes in finds memory, and meets nobody else's.
  ~RegionHold() {
    if (segment_) segment_->may_be_touched = true;
  }

  /// Ends it. No transfer can come in any more, as far as this hold is concerned.
  void end() noexcept { segment_.reset(); }

 private:
  std::shared_ptr<Region::Segment> segment_;
};

/// There is no such region: its process has ended, or has given it up.
class RegionIsGone : public Error {
 public:
  using Error::Error;
};

/// Opens a region of another process of this node, without a look at its key. Throws RegionIsGone, and other
/// errors with FENIX_ERROR_NO_MEMORY.
Descriptor open_region(const RegionAddress& address);

/// Takes memory for pages of another process's region that nobody may have written to yet. mapped: all of the region, here. Throws
/// Error(FENIX_ERROR_NO_MEMORY).
void reserve_at_peer(const RegionAddress& address, std::span<std::byte> mapped, std::size_t offset, std::size_t bytes);

/// Maps a region of another process of this node. Throws as open_region().
Mapping map_peer_region(const RegionAddress& address);

/// Whether the process still has the region there, as far as that can be seen. Takes no memory and no descriptor.
bool peer_region_exists(const RegionAddress& address) noexcept;

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
#include "core/protection/shared_decoding.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/fault.hpp"

namespace fenix_impl {
namespace {

// So many bytes are decoded at a time: as many as are fetched together.
constexpr std::size_t kDecodedPiece = std::size_t{512} << 10;
// Pieces that may be on their way while the next one is fetched.
constexpr std::size_t kUnderWay = 8;

// Two ranks do not write to the same cache line.
constexpr std::uint64_t kBytesOfLine = 64;

Interval part_of(std::uint64_t bytes, const Share& share) {
  const std::uint64_t lines = bytes / kBytesOfLine + (bytes % kBytesOfLine != 0 ? 1 : 0);
  const auto begin_of = [&](int number) {
    const std::uint64_t first = lines * static_cast<std::uint64_t>(number) / static_cast<std::uint64_t>(share.of);
    return std::min(bytes, first * kBytesOfLine);
  };
  return {begin_of(share.number), begin_of(share.number + 1)};
}

class ShareWriter {
 public:
  ShareWriter(RemoteRegions& remote, SetSlots& sources, Codec& codec, const LostPlace& place)
      : remote_(remote), sources_(sources), codec_(codec), place_(place) {
    if (fault_fails("rebuild.buffers")) throw Error(out_of_memory());
    if (remote_.direct(place.slot.rank, 0, 1).empty()) buffers_.resize(kUnderWay * kDecodedPiece);
  }

  void write(bool is_parity, const Interval& part) {
    const std::size_t start = is_parity ? place_.slot.parity : place_.slot.elements;
    for (std::uint64_t begin = part.first; begin < part.end; begin += kDecodedPiece) {
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kDecodedPiece, part.end - begin));
      const auto direct = remote_.direct(place_.slot.rank, start + begin, bytes);
      const auto piece = direct.empty() ? next_buffer().first(bytes) : direct;
      sources_.compute(codec_, {place_.index, is_parity, begin}, piece, Stores::cached);
      fault_point("rebuild.share", piece);
      if (direct.empty()) remote_.put(place_.slot.rank, start + begin, piece);
    }
  }

  void flush() { remote_.flush(place_.slot.rank); }

 private:
  std::span<std::byte> next_buffer() {
    if (used_ == kUnderWay) {
      flush();
      used_ = 0;
    }
    return std::span(buffers_).subspan(used_++ * kDecodedPiece, kDecodedPiece);
  }

  RemoteRegions& remote_;
  SetSlots& sources_;
  Codec& codec_;
  const LostPlace& place_;
  std::vector<std::byte> buffers_;
  std::size_t used_ = 0;
};

}  // namespace

bool decode_share(RemoteRegions& remote, SetSlots& sources, int self, const LostPlace& place, const Share& share) {
  const Stripes& stripes = sources.stripes();
  Codec codec(stripes.ranks(), stripes.parity(), sources.available());
  if (!codec.suffices()) return false;
  codec.prefer(self);
  ShareWriter writer(remote, sources, codec, place);
  writer.write(false, part_of(place.slot.element_bytes, share));
  writer.write(true, part_of(place.parity_bytes, share));
  writer.flush();
  return true;
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// Numbers and texts in files of the store: little-endian, one behind the other. Any bytes may be read.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace fenix_impl {

class FieldWriter {
 public:
  FieldWriter() {
    // Most have less: one allocation is enough.
    constexpr std::size_t kUsualBytes = 512;
    bytes_.reserve(kUsualBytes);
  }

  template <std::integral T>
  void number(T value) {
    auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    if constexpr (std::endian::native == std::endian::big) std::reverse(bytes.begin(), bytes.end());
    raw(bytes);
  }
  void raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  /// Writes the number of bytes as 32 bits, and the bytes.
  void bytes(std::span<const std::byte> bytes) {
    number(static_cast<std::uint32_t>(bytes.size()));
    raw(bytes);
  }
  void text(const std::string& text) { bytes(std::as_bytes(std::span(text))); }

  [[nodiscard]] const std::vector<std::byte>& all() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Behind the end of the bytes everything is 0, and is_good() is false.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <std::integral T>
  [[nodiscard]] T number() {
    const auto bytes = take(sizeof(T));
    std::make_unsigned_t<T> value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = static_cast<std::make_unsigned_t<T>>(value << (sizeof(T) > 1 ? 8U : 0U) |
                                                   static_cast<unsigned char>(bytes[i]));
    }
    return static_cast<T>(value);
  }
  [[nodiscard]] std::span<const std::byte> bytes() { return take(number<std::uint32_t>()); }
  [[nodiscard]] std::string text() {
    const auto found = bytes();
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }
  /// Returns a number of things of so many bytes each at least: 0, and is_good() is false, if there cannot be so many.
  [[nodiscard]] std::size_t count(std::size_t least_bytes) {
    const auto wanted = number<std::uint32_t>();
    if (wanted <= rest_.size() / least_bytes) return wanted;
    is_good_ = false;
    return 0;
  }

  [[nodiscard]] bool is_good() const { return is_good_; }
  /// Whether all bytes have been read, and nothing behind them.
  [[nodiscard]] bool is_at_end() const { return is_good_ && rest_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t bytes) {
    if (bytes > rest_.size()) {
      is_good_ = false;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }

  std::span<const std::byte> rest_;
  bool is_good_ = true;
};

}  // namespace fenix_impl

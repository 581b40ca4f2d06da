// SPDX-License-Identifier: BSD-3-Clause
// Bodies of messages: structures that name their fields in one place, visit(), for writing and for reading.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "store/fields.hpp"

namespace fenix_impl {

/// Writes fields, one behind the other. A list has its length before it.
class BodyWriter {
 public:
  void operator()(std::integral auto number) { fields_.number(number); }
  void operator()(const std::string& text) { fields_.text(text); }
  template <class Entry>
  void operator()(const std::vector<Entry>& list) {
    fields_.number(static_cast<std::uint32_t>(list.size()));
    for (const Entry& each : list) (*this)(each);
  }
  template <class Body>
  requires std::is_class_v<Body>
  void operator()(const Body& body) { Body::visit(body, *this); }
  void fields(const auto&... all) { ((*this)(all), ...); }

  [[nodiscard]] std::vector<std::byte> take() { return fields_.take(); }

 private:
  FieldWriter fields_;
};

/// Reads fields. Any bytes may be given.
class BodyReader {
 public:
  explicit BodyReader(std::span<const std::byte> bytes) : fields_(bytes) {}

  template <std::integral T>
  void operator()(T& number) {
    number = fields_.number<T>();
  }
  void operator()(std::string& text) { text = fields_.text(); }
  template <class Entry>
  void operator()(std::vector<Entry>& list) {
    // No entry has fewer bytes.
    list.resize(fields_.count(sizeof(std::uint32_t)));
    for (Entry& each : list) (*this)(each);
  }
  template <class Body>
  requires std::is_class_v<Body>
  void operator()(Body& body) { Body::visit(body, *this); }
  void fields(auto&... all) { ((*this)(all), ...); }

  [[nodiscard]] bool is_at_end() const { return fields_.is_at_end(); }

 private:
  FieldReader fields_;
};

template <class Body>
[[nodiscard]] std::vector<std::byte> encode_body(const Body& body) {
  BodyWriter writer;
  writer(body);
  return writer.take();
}

/// Writes a body that is one text.
[[nodiscard]] inline std::vector<std::byte> encode_text(const std::string& text) {
  FieldWriter fields;
  fields.text(text);
  return fields.take();
}

/// Returns nullopt unless the bytes are those of such a body, and nothing behind it.
template <class Body>
[[nodiscard]] std::optional<Body> decode_body(std::span<const std::byte> bytes) {
  BodyReader reader(bytes);
  Body body;
  reader(body);
  return reader.is_at_end() ? std::optional(std::move(body)) : std::nullopt;
}

}  // namespace fenix_impl

// SPDX-License-Identifier: BSD-3-Clause
// A flow of messages: those between this rank and another one, on one communicator and with one tag.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "base/recent_map.hpp"
#include "interposition/signature.hpp"

namespace fenix_impl {

struct Flow {
  std::uint64_t comm_id = 0;  ///< of the communicator
  std::int32_t peer = 0;      ///< slot of the other rank
  std::int32_t tag = 0;

  auto operator<=>(const Flow&) const = default;

  struct Hash {
    std::size_t operator()(const Flow& flow) const { return HashOfSignature()({flow.comm_id, flow.peer, flow.tag}); }
  };
};

[[nodiscard]] inline Signature signature_of(const Flow& flow) { return {flow.comm_id, flow.peer, flow.tag}; }
[[nodiscard]] inline Flow flow_of(const Signature& signature) {
  return {signature.comm_id, signature.destination, signature.tag};
}

template <class Value>
using ByFlow = RecentMap<Flow, Value, Flow::Hash>;

}  // namespace fenix_impl

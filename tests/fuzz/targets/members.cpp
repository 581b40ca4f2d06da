// SPDX-License-Identifier: BSD-3-Clause
// The list of members that a rank gets which takes a dead one's place. A list that can be read can be written, and reads
// the same again.
#include "base/error.hpp"
#include "core/member/member_codec.hpp"
#include "fuzz/support.hpp"

using namespace fenix_impl;

int LLVMFuzzerInitialize(int*, char***) {
  fuzz::start_mpi();
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const fuzz::Bytes given(bytes.begin(), bytes.end());
  std::vector<MemberInfo> members;
  try {
    members = decode_members(given);
  } catch (const Error& error) {
    fuzz::require(error.code() == FENIX_ERROR_INTERN, "code of what is refused");
    return 0;
  }
  for (const MemberInfo& each : members) fuzz::require(each.element_bytes() > 0, "elements have bytes");
  const auto written = encode_members(members);
  fuzz::require(encode_members(decode_members(written)) == written, "what was written is read again");
  return 0;
}

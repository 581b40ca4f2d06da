// SPDX-License-Identifier: BSD-3-Clause
// The record of a rank for a recovery line, which may be damaged, or be of another version of the library.
#include "checkpoint/line_record.hpp"

#include "base/error.hpp"
#include "fuzz/support.hpp"

using namespace fenix_impl;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const LineRecord record = LineRecord::decode(bytes);
    const Trace& trace = record.trace;
    FlowCounts sent;
    trace.add_sent(trace.words().size(), sent);
    const std::size_t end = trace.first_without_sender(trace.words().size(), sent);
    fuzz::require(end <= trace.words().size(), "a cut lies within the trace");
    ForcedOutcomes forced(trace, end);
    for (std::uint64_t receive = 0; receive < 8; ++receive) (void)forced.match_of(receive);
    for (int i = 0; i < 1000 && forced.next(DeterminantKind::test, true); ++i) {
    }
  } catch (const Error& error) {
    const bool is_expected = error.code() == FENIX_ERROR_NODATA_FOUND || error.code() == FENIX_ERROR_INVALID_LOGIC_CALL;
    fuzz::require(is_expected, "damage has its code");
  }
  return 0;
}

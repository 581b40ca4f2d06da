// SPDX-License-Identifier: BSD-3-Clause
#include "keeper/request_reader.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"
#include "keeper/descriptors_left.hpp"
#include "keeper/requests.hpp"
#include "store/run_log.hpp"

namespace fenix_impl {
namespace {

/// Returns the time after which a dataset that does not grow is not being written: pieces of this size are.
KeeperThread::Clock::duration time_without_growth(std::uint64_t rate) {
  constexpr std::uint64_t kPieceBytes = std::uint64_t{16} << 20U;
  constexpr std::chrono::milliseconds kLeast{1500};
  const std::chrono::milliseconds of_rate(rate == 0 ? 0 : kPieceBytes * 1000 / rate);
  return kLeast + std::min<std::chrono::milliseconds>(of_rate, std::chrono::minutes(1));
}

}  // namespace

void RequestReader::submit(const std::shared_ptr<KeeperPeer>& peer, const Message& request, Datagram datagram,
                           const Hello& settings) {
  if (is_stuck(std::chrono::seconds(settings.seconds)) || datagram.lacks_files) {
    const char* const why = datagram.lacks_files ? kNoDescriptors : "the file system does not answer";
    peer->answer({request.op, request.id, KeeperCode::failed, why, {}});
    return;
  }
  auto files = std::make_shared<std::vector<Descriptor>>(std::move(datagram.files));
  thread_.submit([this, peer, request, files, settings] {
    static thread_local std::optional<StoreRequests> requests;
    if (!requests) requests.emplace(files_, settings.root, under_way_, time_without_growth(settings.rate));
    Descriptor answer_file;
    const Descriptor none;
    const Message answer = requests->run(request, files->empty() ? none : files->front(), answer_file);
    peer->answer(answer, answer_file);
  });
}

void RequestReader::note(const std::string& root, std::uint32_t run, const std::string& line) {
  thread_.submit([this, root, run, line] { note_in_log(files_, root, run, line); });
}

}  // namespace fenix_impl

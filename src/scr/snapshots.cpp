// SPDX-License-Identifier: BSD-3-Clause
#include "scr/snapshots.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "scr/stored.hpp"

namespace scr_impl {

std::optional<PackageHead> Snapshots::head_of(int time_stamp) {
  std::array<std::byte, kHeadBytes> bytes{};
  const int code = Fenix_Data_member_restore(kGroup, kFiles, bytes.data(), static_cast<int>(bytes.size()), time_stamp,
                                             FENIX_DATA_SUBSET_IGNORE);
  return code == FENIX_SUCCESS ? read_head(bytes) : std::nullopt;
}

void Snapshots::note(int time_stamp, const std::string& name) {
  committed_[time_stamp] = name;
  const auto most = static_cast<std::size_t>(std::max(job_.settings.cache_size, 1L)) + 1;
  while (committed_.size() > most) committed_.erase(committed_.begin());
}

bool Snapshots::is_of(int time_stamp, const std::string& name) const {
  const auto known = committed_.find(time_stamp);
  if (known != committed_.end()) return known->second == name;
  // Some ranks may have lost their part.
  const auto head = head_of(time_stamp);
  return job_.is_formed && !agree(job_.comm, !head || head->name != name);
}

std::optional<std::vector<int>> Snapshots::stamps() const {
  std::string text;
  int number = 0;
  if (job_.is_first()) (void)Fenix_Data_group_get_number_of_snapshots(kGroup, &number);
  for (int i = 0; i < number; ++i) {
    int stamp = -1;
    if (Fenix_Data_group_get_snapshot_at_position(kGroup, i, &stamp) == FENIX_SUCCESS)
      text += std::to_string(stamp) + " ";
  }
  if (!broadcast(job_.comm, text)) return std::nullopt;
  std::istringstream list(text);
  std::vector<int> found;
  for (int stamp = 0; list >> stamp;) found.push_back(stamp);
  return found;
}

bool Snapshots::remove(const std::string& name) {
  const auto all = stamps();
  if (!all) return false;
  bool is_any = false;
  for (const int stamp : *all) {
    const bool is_it = is_of(stamp, name);
    if (!job_.is_formed) return false;
    if (!is_it) continue;
    // A rank may have no such snapshot any more.
    (void)Fenix_Data_snapshot_delete(kGroup, stamp);
    committed_.erase(stamp);
    is_any = true;
  }
  return !is_any || Fenix_Data_barrier(kGroup) == FENIX_SUCCESS || job_.fail("removal of a checkpoint from memory");
}

}  // namespace scr_impl

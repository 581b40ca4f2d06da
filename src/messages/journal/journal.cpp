// SPDX-License-Identifier: BSD-3-Clause
#include "messages/journal/journal.hpp"

#include <utility>

namespace fenix_impl {

Journal::Journal(const JournalParameters& parameters, int slot, bool is_new)
    : slot_(slot),
      memory_(parameters),
      team_(parameters),
      writer_(team_, memory_, slot),
      reader_(team_, memory_, writer_.ring(), slot),
      recovery_(team_, memory_, reader_, writer_, slot, is_new) {}

void Journal::attach(Team& team, const std::function<std::shared_ptr<Path>()>& choose, std::vector<int> slots) {
  detach();
  team_.attach(team, choose, std::move(slots), memory_.region());
  writer_.begin_holders();
  recovery_.run(team);
  is_attached_ = true;
}

void Journal::detach() {
  is_attached_ = false;
  reader_.forget();
  team_.detach();
}

}  // namespace fenix_impl

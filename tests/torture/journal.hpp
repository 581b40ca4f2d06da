// SPDX-License-Identifier: BSD-3-Clause
// What this process has done, line by line with the time, in a file that is complete also after SIGKILL.
#pragma once

#include <string>

namespace torture {

/// Opens <folder>/journal.<name>.
void open_journal(const std::string& folder, const std::string& name);
void note(const std::string& event);

}  // namespace torture
